"""Rows of a processor: the fields of each operand, learnt by changing bits of words, and the values of each field."""

import random
import re
from collections import Counter, defaultdict

from images import sizes_by_fields
from leaves import DPP_TURN, ORDER, TABLES, TAIL, fill, reached
from names import NAMES, ROLES
from probe import M64, Target, Words, learn, register
from values import FLOATS, TRIED, linear, tried


def adjacent(bits):
    """Bits in runs: the longest run first, then upwards, so that numbers of registers go up with the values of a field."""
    found = []
    for bit in bits:
        if found and found[-1][-1] + 1 == bit:
            found[-1].append(bit)
        else:
            found.append([bit])
    return tuple(bit for run in sorted(found, key=lambda run: (-len(run), run[0])) for bit in run)


def bits_of(mask, width):
    return [bit for bit in range(width) if mask >> bit & 1]


class Leaf:
    """A leaf of a decoder table, or one of the opcodes into which LLVM's fix-ups turn it by some bits."""

    def __init__(self, table, place, mask, value, width, op, words, is_image=False):
        self.table, self.place, self.mask, self.value, self.width = table, place, mask, value, width
        self.leaf_op = self.op = op
        self.words, self.is_image = words, is_image

    def decode(self, target, word):
        return target.decode(Words.bytes(word, self.width) + TAIL)


class Variant:
    """A processor with a wave size."""

    def __init__(self, processor, wave):
        self.processor, self.target, self.numbers = processor, Target(processor, wave), random.Random(5)
        self.table_ops = {op for _, leaves in TABLES.values() for _, _, op in leaves}
        # Of leaves that LLVM's fix-ups turn into several opcodes, the bits of operands of each.
        self.split_bits = defaultdict(int)
        # Bits of operands of equal class, type, name and place: what one opcode's words did not show, another's do.
        self.shared_bits = defaultdict(int)
        self.known = {}

    def fill(self, leaf, turn):
        return fill(self.numbers, self.processor, leaf.width, turn) & ~leaf.mask | leaf.value

    def leaves(self):
        found, splits = [], set()
        for arguments in reached(self.target, self.processor):
            leaf = Leaf(*arguments)
            leaf.is_image = self.target.name(leaf.op).startswith("IMAGE")
            parts = None if leaf.is_image else self.split(leaf)
            if parts and len(parts) > 1:
                splits.add((leaf.table, leaf.place))
            found += parts or [leaf]
        return found, splits

    def split(self, leaf):
        """The opcodes into which fix-ups turn a leaf, each with the bits that decide: formats of matrices."""
        is_made = lambda op: op not in self.table_ops and not self.target.name(op).startswith("IMAGE")
        deciding = 0
        for bit in range(leaf.width):
            if leaf.mask >> bit & 1:
                continue
            for word in leaf.words[:3]:
                decoded = leaf.decode(self.target, word ^ 1 << bit)
                if decoded[0] > 0 and decoded[1] != leaf.op and is_made(decoded[1]):
                    deciding |= 1 << bit
        if not deciding:
            return None
        # Bits that decide only beside others.
        of_table = self.table_ops - {leaf.op}
        for turn in range(60):
            word = self.fill(leaf, turn)
            decoded = leaf.decode(self.target, word)
            if decoded[0] <= 0 or decoded[1] in of_table:
                continue
            for bit in range(leaf.width):
                if (leaf.mask | deciding) >> bit & 1:
                    continue
                other = leaf.decode(self.target, word ^ 1 << bit)
                if other[0] > 0 and other[1] != decoded[1] and other[1] not in of_table:
                    deciding |= 1 << bit
        parts, bits = [], bits_of(deciding, leaf.width)
        for choice in range(1 << len(bits)):
            chosen = sum(1 << bit for place, bit in enumerate(bits) if choice >> place & 1)
            words = {}
            for turn in range(40):
                word = self.fill(leaf, turn) & ~deciding | chosen
                decoded = leaf.decode(self.target, word)
                if decoded[0] > 0 and decoded[1] not in of_table:
                    words.setdefault(decoded[1], []).append(word)
            for op, some in words.items():
                parts.append(Leaf(leaf.table, leaf.place, leaf.mask | deciding, leaf.value | chosen, leaf.width, op, some[:6]))
        return parts

    def bases(self, leaf):
        """Valid words of a leaf, without literals where literals could be parts of the word."""
        words = list(leaf.words)
        first = DPP_TURN if "dpp" in self.target.name(leaf.op) else 10
        for turn in range(first, first + 30):
            word = self.fill(leaf, turn)
            decoded = leaf.decode(self.target, word)
            if decoded[0] > 0 and decoded[1] == leaf.op:
                words.append(word)

        def is_plain(word):
            decoded = leaf.decode(self.target, word)
            if decoded[0] <= 0:
                return False
            for at, (kind, value) in enumerate(decoded[3]):
                is_source = ROLES.get(leaf.named.get(at), "").lstrip("v").startswith(("src", "addr"))
                if kind == 4 or kind == 2 and is_source and not (-16 <= value <= 64 or value & M64 in FLOATS):
                    return False
            return True

        return ([word for word in words if is_plain(word)] or words[:1])[:20]

    def name_of(self, leaf, at):
        """What `learn` numbers an operand of a leaf by: its name in an image instruction, else its place."""
        return leaf.named.get(at, NAMES - 1) if leaf.is_image else at

    def vectors(self, leaf):
        """Words with the top bit of each source, where no base has it: of a vector register, another bit may select the half."""
        found = []
        for top in {1 << bits.bit_length() - 1 for bits in leaf.bits if bits.bit_count() > 8}:
            if not any(word & top for word in leaf.bases):
                words = (word | top for word in leaf.bases)
                found += [word for word in words if leaf.decode(self.target, word)[:2] in ((1, leaf.op), (3, leaf.op))][:1]
        return found

    def learn(self, leaf, is_split):
        """Bases, bits of each operand, and bits that can be flipped. Bits of other opcodes are not yet among them."""
        if leaf.is_image:
            leaf.op = leaf.decode(self.target, leaf.words[0])[1]
        leaf.description, leaf.named = self.target.description(leaf.op), self.target.named(leaf.op)
        leaf.bases = self.bases(leaf)
        known = lambda: learn(self.target, leaf.op, leaf.is_image, leaf.width, leaf.mask, leaf.bases, TAIL)
        leaf.bits, leaf.free = known()
        if more := self.vectors(leaf):
            leaf.bases += more
            leaf.bits, leaf.free = known()
        if is_split:
            for at in range(40):
                key = leaf.table, leaf.place, at
                self.split_bits[key] |= leaf.bits[at] & ~leaf.mask
                leaf.bits[at] |= self.split_bits[key] & ~leaf.mask
        for at, operand in enumerate(leaf.description["operands"]):
            self.shared_bits[self.sharing(leaf, at, operand)] |= leaf.bits[self.name_of(leaf, at)]

    def sharing(self, leaf, at, operand):
        return leaf.width, leaf.description["target"], at, leaf.named.get(at), operand[0], operand[2], leaf.is_image

    def complete(self, leaf, is_split):
        """Adds the bits that other opcodes have shown."""
        if is_split:
            for at in range(40):
                leaf.bits[at] |= self.split_bits[leaf.table, leaf.place, at] & ~leaf.mask
        for at, operand in enumerate(leaf.description["operands"]):
            name, shared = self.name_of(leaf, at), self.shared_bits[self.sharing(leaf, at, operand)] & ~leaf.mask
            # A field of registers may have more bits here than matter to this opcode.
            most = TRIED + 2 if operand[2] == 2 or operand[2] >= 13 else TRIED
            if leaf.bits[name] and shared != leaf.bits[name] and shared.bit_count() <= most:
                leaf.bits[name] = shared

    def constrain(self, leaf):
        """Adds bits to the mask of which no other state is valid."""
        owned = 0
        for bits in leaf.bits:
            owned |= bits
        if "dpp8" in self.target.name(leaf.op):
            owned |= 0x1FF if leaf.width == 64 else 0x1FF << 32
        if len(leaf.bases) > 2:
            for bit in range(leaf.width):
                if not (leaf.mask | owned | leaf.free) >> bit & 1 and len({word >> bit & 1 for word in leaf.bases}) == 1:
                    leaf.mask |= 1 << bit
                    leaf.value |= leaf.bases[0] & 1 << bit
        return owned

    def operands(self, leaf, is_split):
        """[(role, bits, values, is written, constraints, type)]"""
        base, decoded = None, None
        for word in leaf.bases:
            found = leaf.decode(self.target, word)
            if base is None or found[2] == leaf.width // 8:
                base, decoded = word, found
            if found[2] == leaf.width // 8:
                break
        leaf.base, leaf.decoded = base, decoded
        owned = self.constrain(leaf)
        result = []
        for at, (kind, value) in enumerate(decoded[3]):
            operand = leaf.description["operands"][at] if at < len(leaf.description["operands"]) else (-1, 0, 0, 0)
            role = ROLES.get(leaf.named.get(at), "")
            bits = adjacent(bits_of(leaf.bits[self.name_of(leaf, at)], leaf.width))
            if role == "fi" and "dpp8" in self.target.name(leaf.op):
                # Two values of the first source select DPP8: they differ in two bits.
                bits = tuple(range(0, 9) if leaf.width == 64 else range(32, 41))
            is_written = at < leaf.description["written"]
            bits, values = self.values(leaf, is_split, at, role, bits, operand, kind, value, is_written, owned)
            result.append((role, bits, values, is_written, operand[3], operand[2]))
        return result

    def below(self, leaf, bits, kind, owned):
        """Free bits below those of a register: of runs that begin at an even number they decide about some values only."""
        found = ()
        if bits and kind == 1 and not leaf.is_image:
            bit = bits[0] - 1
            while bit >= 0 and len(found) < 2 and not (leaf.mask | owned) >> bit & 1:
                found, bit = (bit, *found), bit - 1
        return found if len(bits) + len(found) <= TRIED else ()

    def image_dwords(self, leaf, role):
        """The size that a leaf of images has for a register: other fields change it. None for registers of one size."""
        match = re.search(r"_V(\d+)(?:_V(\d+))?", self.target.name(leaf.leaf_op))
        if not match:
            return None
        if role in ("vdata", "vdst", "vdata_in"):
            return int(match[1])
        is_run = role == "vaddr" or role == "vaddr0" and "nsa" not in self.target.name(leaf.leaf_op) and not leaf.table.startswith("GFX12")
        if is_run:
            return match[2] and int(match[2])
        return 1 if role.startswith("vaddr") else None

    def values(self, leaf, is_split, at, role, bits, operand, kind, value, is_written, owned):
        """The bits that matter, and what their values hold. Equal operands of other opcodes are not tried again."""
        name, extra = self.target.name(leaf.op), self.below(leaf, bits, kind, owned)
        own = (leaf.table, leaf.place, leaf.op) if is_split else self.target.name(leaf.leaf_op) if leaf.is_image and kind == 1 else 0
        alone = (leaf.op, leaf.value) if kind == 2 and len(bits) <= 8 or role in ("", "soffset") else 0
        constant = (kind, value) if not bits else None
        key = (own, leaf.width, bits, extra, operand[:3], role, leaf.description["target"], constant, is_written, "t16" in name, leaf.is_image, alone)
        if key in self.known:
            return self.known[key]
        bases = [leaf.base, *leaf.bases]
        dwords = self.image_dwords(leaf, role) if leaf.is_image and kind == 1 else None
        by_name = leaf.is_image and at in leaf.named and (kind != 1 or dwords is not None)
        arguments = self.target, leaf.op, by_name, leaf.width, bases
        # Bits of other opcodes may not matter for a register of this one.
        if len(bits) <= (TRIED + 2 if kind == 1 else TRIED):
            has_k = any(ROLES.get(other, "").startswith("imm") for other in leaf.named.values())
            number = self.name_of(leaf, at) if by_name else at
            values, bits = tried(*arguments, bits, number, has_k, dwords or 0)
            if extra and any(run[2] == "s" for run in values[2]):
                more, more_bits = tried(self.target, leaf.op, False, leaf.width, bases, extra + bits, at)
                if set(more_bits) & set(extra):
                    values, bits = more, more_bits
        else:
            values = linear(*arguments, bits, at)
        if values is None or values[0] == "runs" and len(bits) > TRIED:
            raise SystemExit(f"make-isa: {self.processor}: the values of {role} of {name} in bits {bits} are no number")
        self.known[key] = bits, values
        return bits, values

    def addresses(self, leaf, operands):
        """Marks the addresses of an image instruction that are bytes behind its word."""
        for at, (role, bits, *rest) in enumerate(operands):
            match = re.fullmatch(r"vaddr(\d+)", role)
            kind, value = leaf.decoded[3][at]
            if match and match[1] != "0" and not bits and kind == 1:
                _, first, dwords = register(self.target, value)
                place = int(match[1]) - 1
                if first == TAIL[place]:
                    # Other fields decide about the size of the last one.
                    dwords = 1 if any(role == "dmask" for role, *_ in operands) else dwords
                    operands[at] = (role, (), ("runs", 0, ((0, 1, "nsa", dwords, 0, place, 0),)), *rest[1:])

    def rows(self):
        leaves, splits = self.leaves()
        for leaf in leaves:
            self.learn(leaf, (leaf.table, leaf.place) in splits)
        result = []
        for leaf in leaves:
            is_split = (leaf.table, leaf.place) in splits
            self.complete(leaf, is_split)
            operands, image = self.operands(leaf, is_split), None
            if leaf.is_image:
                self.addresses(leaf, operands)
                image = sizes_by_fields(self.target, leaf, operands)
            result.append(
                {"table": leaf.table, "place": leaf.place, "mask": leaf.mask, "value": leaf.value, "width": leaf.width, "op": leaf.op}
                | {"operands": operands, "is_image": leaf.is_image, "image": image, "base": leaf.base}
            )
        result.sort(key=lambda row: (ORDER.index(row["table"]), row["place"]))
        sizes = Counter(row["width"] for row in result)
        print(f"{self.processor}: {len(result)} rows {dict(sizes)}, {len(self.known)} fields", flush=True)
        return result
