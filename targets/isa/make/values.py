"""The values of an operand's field: which registers, numbers and literals the decoder makes of them."""

import struct

from leaves import TAIL, family  # noqa: F401
from probe import M64, Words, enumerate_field, register

LITERALS = (
    int.from_bytes(TAIL[:4], "little"),
    int.from_bytes(TAIL[:4], "little") | 0xFFFFFFFF << 32,
    int.from_bytes(TAIL[:4], "little") << 32,
    int.from_bytes(TAIL[:8], "little"),
)
# The largest field whose values are all tried.
TRIED = 10
NUMBERS = [0.5, -0.5, 1, -1, 2, -2, 4, -4]
FLOATS = {int.from_bytes(struct.pack("<" + form, number), "little") for form in "efd" for number in NUMBERS}
FLOATS |= {int.from_bytes(struct.pack("<f", number), "little") >> 16 for number in NUMBERS}
FLOATS |= {0x3118, 0x3E22, 0x3E22F983, 0x3FC45F306DC9C882}


def element(target, kind, value, extra):
    """What an operand holds; `extra` is the number of bytes behind the word that the decoder took. None if it is invalid."""
    if kind <= 0:
        return None
    if kind == 1:
        return register(target, value)
    form = LITERALS.index(value & M64) if value & M64 in LITERALS else None
    if (extra or kind == 4) and form is not None:
        return "lit", form, extra
    return ("lit", 9, value) if kind == 4 else ("imm", value, 0)


def joined(one, other):
    """What a value of a field holds, by two words. A number that differs is no constant: LLVM reads bits of the word itself as a literal."""
    if one and other and one != other and one[0] == other[0] == "imm":
        return "lit", 9, one[1]
    return one or other


def longest_run(elements, start):
    """(end, step, shift) of the longest run whose numbers go up by one step every 1, 2 or 4 values."""
    what, number, dwords = elements[start]
    same = lambda at: at < len(elements) and elements[at] and elements[at][0] == what and elements[at][2] == dwords
    best = (start + 1, 0, 0)
    for shift in (0, 1, 2):
        step = elements[start + (1 << shift)][1] - number if same(start + (1 << shift)) else 0
        if abs(step) > 100:
            step = 0
        if shift and (start % (1 << shift) or what == "imm"):
            continue
        end = start + 1
        while same(end) and elements[end][1] == number + step * ((end - start) >> shift):
            end += 1
        if end > best[0]:
            best = (end, step, shift)
    return best


def runs(elements):
    """[(first value, count, what, dwords, step, base, shift)]; short runs of numbers that are no field become sequences of constants."""
    found, at = [], 0
    while at < len(elements):
        if elements[at] is None:
            at += 1
            continue
        what, number, dwords = elements[at]
        if what in ("special", "lit", "none"):
            end = at + 1
            while end < len(elements) and elements[end] == elements[at]:
                end += 1
            found.append((at, end - at, what, dwords, 0, number, 0))
        else:
            end, step, shift = longest_run(elements, at)
            found.append((at, end - at, what, dwords, step if end - at > 1 else 0, number, shift))
        at = end
    result = []
    for run in found:
        first, count, what, _, _, base, _ = run
        is_constant = what == "imm" and count <= 2 and (first >= 200 or abs(base) > 0x2000)
        if not is_constant:
            result.append(run)
            continue
        sequence = tuple(elements[first + place][1] for place in range(count))
        if result and result[-1][2] == "const" and result[-1][0] + result[-1][1] == first:
            before = result.pop()
            first, count, sequence = before[0], before[1] + count, before[5] + sequence
        result.append((first, count, "const", 0, 1, sequence, 0))
    return tuple(result)


def tried(target, op, by_name, width, bases, bits, operand, has_k=False, dwords=0):
    """What each value of a field holds: ("runs", bits, runs), with the bits that matter.

    Where one base gives no operand, another may: a value can make the word another instruction. `has_k`: the word holds a literal
    itself, which a source can name. `dwords` replaces the sizes of registers, which other fields decide.
    """
    elements = [None] * (1 << len(bits))
    for base in bases[:4]:
        values = enumerate_field(target, op, by_name, width, base, bits, TAIL, operand)
        elements = [joined(old, element(target, kind, value, size - width // 8)) for old, (kind, value, size) in zip(elements, values)]
    # A number of no register: LLVM decodes it and crashes when it prints it.
    elements = [None if one and one[0] == "none" and bits else one for one in elements]
    if dwords:
        elements = [one and (one[0], one[1], dwords) for one in elements]
    if has_k and len(bits) >= 9:
        elements = [("lit", 0, 0) if value & 0x1FF == 0xFF and one and one[0] == "imm" else one for value, one in enumerate(elements)]
    kept = [bit for bit in range(len(bits)) if any(elements[value] != elements[value ^ 1 << bit] for value in range(1 << len(bits)))]
    if len(kept) < len(bits):
        spread = lambda value: sum((value >> place & 1) << bit for place, bit in enumerate(kept))
        elements = [elements[spread(value)] for value in range(1 << len(kept))]
    return ("runs", len(kept), runs(elements)), tuple(bits[bit] for bit in kept)


def linear(target, op, by_name, width, bases, bits, operand):
    """A field too large to try: ("lin", bits, signed, shift, constant), from the weight of each bit."""
    for base in bases[:4]:
        clear = base
        for bit in bits:
            clear &= ~(1 << bit)

        def number(word):
            found = target.decode(Words.bytes(word, width) + TAIL)
            if found[0] > 0 and (by_name or found[1] == op) and operand < len(found[3]) and found[3][operand][0] in (2, 4):
                return found[3][operand][1]
            return None

        constant = number(clear) or 0
        weights = [number(clear | 1 << bit) for bit in bits]
        if None in weights:
            continue
        weights = [(weight - constant) & M64 for weight in weights]
        if not weights[0]:
            continue
        shift = weights[0].bit_length() - 1
        is_signed = weights[-1] != 1 << shift << len(bits) - 1
        expected = [1 << shift << place for place in range(len(bits))]
        if is_signed:
            expected[-1] = -expected[-1] & M64
        # LLVM reads 0x80 of some numbers as the inline constant 0.
        if all(weight == wanted or (weight, wanted) == (0, 128) for weight, wanted in zip(weights, expected)):
            return "lin", len(bits), is_signed, shift, constant
    return None
