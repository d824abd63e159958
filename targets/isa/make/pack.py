"""Columns of the table file from the rows of all processors (targets/isa/README.md has the layout)."""

import re
import struct

import names
from leaves import ORDER, TABLES, TAIL
from probe import Target, Words
from templates import template, with_addresses

# The first of each group has tables of its own, and LLVM decodes the others as it. LLVM 22 no longer knows gfx940 and gfx941.
PROCESSORS = [
    group.split(",")
    for group in "gfx900,gfx902,gfx909,gfx90c gfx904 gfx906 gfx908 gfx90a gfx942,gfx940,gfx941 gfx950 gfx1010 gfx1011,gfx1012 gfx1013 "
    "gfx1030,gfx1031,gfx1032,gfx1033,gfx1034,gfx1035,gfx1036 gfx1100,gfx1101,gfx1102,gfx1103 gfx1150,gfx1151,gfx1152,gfx1153 "
    "gfx1200,gfx1201 gfx1250 gfx1251".split()
]
MAGIC = b"AMDISA1\0"
NONE = 0xFFFF
# What a run of values holds: crates/isa/src/operand.rs.
WHAT = {what: number for number, what in enumerate(["imm", "const", "lit", "v", "a", "s", "ttmp", "special", "v.l", "v.h", "none", "nsa"])}
# Registers of effects.rs, in order.
IMPLICIT = ["EXEC", "VCC", "SCC", "M0", "MODE", "FLAT_SCR", "ASYNCcnt", "TENSORcnt", "VCC_LO", "VCC_HI", "EXEC_LO", "EXEC_HI"]
ENCODINGS = (
    "other sopp sopk sop1 sop2 sopc smem ds flat global scratch mubuf mtbuf mimg vimage vsample exp vopd vinterp ldsdir vintrp vop3p vop3 vopc "
    "vop2 vop1 gws"
).split()
# Names of numbers: printer, role, mnemonics that have it, how many numbers, and the name in the text.
ENUMERATIONS = [
    ("printHwreg", "s_getreg_b32", 64, r"hwreg\(([A-Z]\w*)\)"),
    ("printSendMsg", "s_sendmsg", 256, r"sendmsg\(([A-Z]\w*)"),
    ("format", "tbuffer_load_", 128, r"( format:\S+)"),
    ("printDim", "image_load", 8, r"( dim:\S+)"),
    ("printExpTgt", "exp", 64, r"(?:exp|export)( \S+)"),
    ("version", "s_version", 256, r"(UC_\w+)"),
]


def variants():
    """Processor and wave size of each table."""
    for processor, *_ in PROCESSORS:
        yield from ((processor, wave) for wave in ((64,) if processor.startswith("gfx9") else (32,) if processor.startswith("gfx125") else (32, 64)))


class Pool(dict):
    """Numbers for different things, in the order of their first use."""

    def __call__(self, thing):
        return self.setdefault(thing, len(self))


def pieces(bits):
    """Bits as runs of (start, length)."""
    found = []
    for bit in bits:
        if found and sum(found[-1]) == bit:
            found[-1] = found[-1][0], found[-1][1] + 1
        else:
            found.append((bit, 1))
    return tuple(found)


def effects(description, is_image):
    """Implicit reads and writes, flags, encoding and modifiers of an opcode."""
    flags, target = description["flags"], description["target"]
    bits = [flags >> bit & 1 for bit in names.DESCRIPTION_FLAGS] + [target >> bit & 1 for bit in names.TARGET_FLAGS]
    has = lambda bit: target >> bit & 1
    encoding = next((name for name, bit in names.ENCODINGS if has(bit)), "other")
    if encoding == "flat":
        encoding = "global" if has(names.GLOBAL) else "scratch" if has(names.SCRATCH) else "flat"
    elif encoding == "mubuf" and has(names.MTBUF):
        encoding = "mtbuf"
    elif encoding == "ds" and has(names.GWS):
        encoding = "gws"
    modifiers = [has(bit) for bit in (names.DPP, names.SDWA, names.PACKED, names.OP_SEL, names.WMMA, names.SWMMAC, names.MAI)] + [is_image]
    joined = lambda bits: sum(bit << place for place, bit in enumerate(bits))
    registers = lambda some: sum(1 << IMPLICIT.index(register) for register in set(some))
    return registers(description["reads"]), registers(description["writes"]), joined(bits), ENCODINGS.index(encoding), joined(modifiers)


def merged(data, order):
    """Rows of equal words and fields of all variants: (row, values for wave32, values for wave64, variants)."""
    found = {}
    for number, variant in enumerate(order):
        for row in data[variant]:
            fields = tuple((role, pieces(bits), is_written, constraints, type_) for role, bits, _, is_written, constraints, type_ in row["operands"])
            key = ORDER.index(row["table"]), row["place"], row["mask"], row["value"], row["width"], row["op"], fields, row["image"]
            found.setdefault(key, (row, {}))[1][number] = tuple(values for _, _, values, *_ in row["operands"])
    result = []
    for key, (row, values) in found.items():
        groups = {}
        for number, own in values.items():
            processor, wave = order[number]
            other = values.get(order.index((processor, 96 - wave)) if (processor, 96 - wave) in order else None, own)
            groups.setdefault((own, other) if wave == 32 else (other, own), []).append(number)
        result += [(key, row, *both, frozenset(numbers)) for both, numbers in sorted(groups.items(), key=lambda group: -len(group[1]))]
    result.sort(key=lambda one: (*one[0][:2], one[0][3], sorted(one[4]), repr(one[0])))
    return result


def more_addresses(target, row):
    """Addresses of an image instruction that its leaf has and its opcode has not: other fields change the opcode."""
    leaf = target.name(TABLES[row["table"]][1][row["place"]][2])
    match = re.search(r"_V\d+_V(\d+)_(nsa|gfx12)", leaf) if row["is_image"] else None
    known = sum(role.startswith("vaddr") for role, *_ in row["operands"])
    for place in range(known, int(match[1]) if match else 0):
        if match[2] == "nsa":
            bits, values = (), ("runs", 0, ((0, 1, "nsa", 1, 0, place - 1, 0),))
        else:
            bits, values = tuple(range(64 + 8 * place, 72 + 8 * place)), ("runs", 8, ((0, 256, "v", 1, 1, 0, 0),))
        yield f"vaddr{place}", bits, values, False, 0, row["operands"][0][5]


def enumerations(data, order, printed):
    """The names that numbers of operands have, by enumeration and variant."""
    result = []
    for printer, mnemonic, count, pattern in ENUMERATIONS:
        for variant in order:
            target, texts = Target(*variant), []
            has = lambda row: printed[row["op"]][0].startswith(mnemonic) and any(item[0] == printer for item in printed[row["op"]][2])
            row = next((row for row in data[variant] if has(row)), None)
            if row:
                operand = next(item[1] for item in printed[row["op"]][2] if item[0] == printer)
                operands = target.decode(Words.bytes(row["base"], row["width"]) + TAIL)[3]
                texts = [number_name(target, row, printer, operands, operand, number, pattern) for number in range(count)]
            while texts and not texts[-1]:
                texts.pop()
            result.append(tuple(texts))
    return result


def number_name(target, row, printer, operands, operand, number, pattern):
    """The name of a number; "" if it has none."""

    def text(value):
        some = [(1 if kind == 1 else 2, old) for kind, old in operands]
        some[operand] = (2, value)
        return target.print(row["op"], some) or ""

    if printer == "version":
        # An expression, which only the decoder makes.
        decoded = target.decode(Words.bytes(row["base"] & ~0xFFFF | number, row["width"]) + TAIL, True)
        texts = [decoded[4] if decoded[0] > 0 else ""]
    elif printer == "printHwreg":
        texts = [text(number | 31 << 11)]
    elif printer == "printSendMsg":
        # Some messages have a name beside an operation only.
        texts = [text(number | operation << 4) for operation in range(8)]
    else:
        texts = [text(number)]
    return next((match[1] for match in map(re.compile(pattern).search, texts) if match), "")


class File:
    """The sections, in order."""

    def __init__(self):
        self.sections = []

    def numbers(self, form, numbers):
        wrap = {"B": 0xFF, "H": 0xFFFF, "I": 0xFFFFFFFF, "q": None}[form]
        numbers = [number & wrap if wrap else number - (1 << 64) if number >> 63 == 1 else number for number in numbers]
        self.sections.append(struct.pack(f"<{len(numbers)}{form}", *numbers))

    def starts(self, form, things):
        """The start of each of some sequences, and the end."""
        starts = [0]
        for thing in things:
            starts.append(starts[-1] + len(thing))
        self.numbers(form, starts)

    def texts(self, texts):
        self.starts("I", [text.encode() for text in texts])
        self.sections.append("".join(texts).encode())

    def bytes(self):
        head = MAGIC + struct.pack("<I", len(self.sections))
        body, table, start = b"", b"", len(head) + 8 * len(self.sections)
        for section in self.sections:
            body += bytes(-(start + len(body)) % 4)
            table += struct.pack("<II", start + len(body), len(section))
            body += section
        return head + table + body


def pack(data):
    """The file of the rows of all variants: {(processor, wave): rows}."""
    order = list(data)
    strings, masks, fields, kinds, constants, specials, operands, lists = (Pool() for _ in range(8))
    templates, mnemonics, all_effects, sets, roles, printers, images, image_data, image_addresses, forms, highs = (Pool() for _ in range(11))
    printed, descriptions = {}, {}
    for variant in order:
        target = Target(*variant)
        for row in data[variant]:
            if not any(role for role, *_ in row["operands"]):
                found = names.roles(target.description(row["op"]), row["operands"])
                row["operands"] = [(role, *rest) for role, (_, *rest) in zip(found, row["operands"])] if found else row["operands"]
            more = list(more_addresses(target, row))
            place = 1 + max((at for at, (role, *_) in enumerate(row["operands"]) if more and role.startswith("vaddr")), default=-1)
            row["operands"] = [*row["operands"][:place], *more, *row["operands"][place:]]
            row["moved"] = place, len(more)
            if row["op"] not in printed:
                decoded = target.decode(Words.bytes(row["base"], row["width"]) + TAIL)
                printed[row["op"]], descriptions[row["op"]] = template(target, row["op"], decoded[3]), target.description(row["op"])

    def kind(values):
        if values[0] == "lin":
            _, bits, is_signed, shift, constant = values
            return 1 | is_signed << 1, bits | shift << 8, ((0, 0, "imm", 0, 0, constant - (1 << 64) if constant >> 63 else constant, 0),)
        runs = []
        for first, count, what, dwords, step, base, shift in values[2]:
            if what == "imm" and not -(2**31) <= base < 2**31:
                what, base = "const", (base,)
            if what == "lit" and base == 9:
                # LLVM reads bits of the word itself as a literal.
                dwords = base = 0
            if what in ("const", "special"):
                base = (constants if what == "const" else specials)(base)
            runs.append((first, count, what, 0 if what == "imm" else dwords, step, base, shift))
        return 0, values[1], tuple(runs)

    def flags(is_written, constraints):
        # Bit 0 of LLVM's constraints: tied; bits 4 to 7: the operand to which.
        return is_written | (constraints & 1) << 1 | (constraints >> 4 & 15 if constraints & 1 else 0) << 4

    roles("")
    rows = []
    for key, row, values32, values64, numbers in merged(data, order):
        _, _, mask, value, width, op, operand_fields, image = key
        base, second, items = printed[op]
        place, count = row["moved"]
        items = [(printer, operand + count if operand >= place else operand, extra) for printer, operand, extra in items]
        if row["is_image"]:
            items = with_addresses(items, [role for role, *_ in operand_fields])
        some = tuple(
            operands((roles(role), fields(bits), kinds(kind(a)), kinds(kind(b)), names.TYPES.get(type_, 15), flags(is_written, constraints)))
            for (role, bits, is_written, constraints, type_), a, b in zip(operand_fields, values32, values64)
        )
        shown = templates(tuple((printers(printer), operand, strings(extra)) for printer, operand, extra in items))
        effect = all_effects(effects(descriptions[op], row["is_image"]))
        sizes = NONE
        if image:
            sizes = images((image_data(bytes(image[0])), image_addresses(bytes(number for pair in image[1] for number in pair))))
        form = forms((lists(some), shown, effect, sizes))
        members = sum(1 << number for number in numbers)
        rows.append((masks((width, mask)), value & 0xFFFFFFFF, highs(value >> 32), form, mnemonics((base, second or "")), sets(members)))
    named = enumerations(data, order, printed)
    for texts in named:
        list(map(strings, texts))

    file = File()
    all_names = sorted({name for pair in mnemonics for name in pair if name})
    flat = lambda things: [number for thing in things for number in thing]
    words = lambda number, count: [number >> 32 * at for at in range(count)]
    for texts in (all_names, strings, roles, printers, [text for text, _ in specials]):
        file.texts(texts)
    file.numbers("H", [number for _, number in specials])
    file.texts([processor for processor, _ in order])
    file.numbers("B", [wave for _, wave in order])
    file.numbers("B", [width for width, _ in masks])
    file.numbers("I", flat(words(mask, 4) for _, mask in masks))
    file.starts("H", fields)
    file.numbers("B", flat(flat(fields)))
    file.numbers("H", flat(one[:2] for one in kinds))
    file.starts("H", [runs for _, _, runs in kinds])
    runs = flat(runs for _, _, runs in kinds)
    file.numbers("H", flat(run[:2] for run in runs))
    file.numbers("B", flat((WHAT[run[2]], run[3], run[4], run[6]) for run in runs))
    file.numbers("I", [run[5] for run in runs])
    file.starts("H", constants)
    file.numbers("q", flat(constants))
    file.numbers("B", flat((role, type_, flags, 0) for role, _, _, _, type_, flags in operands))
    file.numbers("H", flat(one[1:4] for one in operands))
    file.starts("H", lists)
    file.numbers("H", flat(lists))
    file.starts("H", templates)
    file.numbers("B", flat(item[:2] for item in flat(templates)))
    file.numbers("H", [item[2] for item in flat(templates)])
    number = {name: place for place, name in enumerate(all_names)}
    file.numbers("H", [number.get(name, NONE) for pair in mnemonics for name in pair])
    file.numbers(
        "I", flat((reads | writes << 16, flags | encoding << 16 | modifiers << 24) for reads, writes, flags, encoding, modifiers in all_effects)
    )
    file.numbers("I", flat(words(members, 2) for members in sets))
    file.numbers("H", flat(forms))
    file.numbers("I", flat(words(high, 3) for high in highs))
    for column, form in ((0, "H"), (1, "I"), (2, "H"), (3, "H"), (4, "H"), (5, "B")):
        file.numbers(form, [row[column] for row in rows])
    processors = sorted((name, group[0]) for group in PROCESSORS for name in group)
    file.texts([name for name, _ in processors])
    file.numbers("B", [order.index((base, wave)) if (base, wave) in order else 0xFF for _, base in processors for wave in (32, 64)])
    file.numbers("H", flat(images))
    file.sections += [b"".join(image_data), b"".join(image_addresses)]
    file.starts("H", named)
    file.numbers("H", [strings(text) for text in flat(named)])
    if max(map(len, (forms, highs, kinds, lists, rows))) >= NONE or len(sets) > 256:
        raise SystemExit("make-isa: more entries than a column has numbers")
    print(f"{len(rows)} rows, {len(forms)} forms, {len(kinds)} kinds, {len(all_names)} names, {len(file.bytes())} bytes", flush=True)
    return file.bytes()
