"""Sizes of the registers of image instructions, which depend on other fields."""

import re
from collections import Counter

from names import ROLES
from probe import Words, register


def sizes_by_fields(target, leaf, operands):
    """Dwords of the data by dmask, d16 and tfe; number of addresses and dwords of the last one by dim and a16; 0 where LLVM keeps the sizes
    of the encoding. None if the instruction has no dmask."""
    names = {ROLES[name]: at for at, name in leaf.named.items()}
    if "dmask" not in names:
        return None

    def put(word, role, value):
        if word is None or role not in names:
            return None if value else word
        bits = operands[names[role]][1]
        for place, bit in enumerate(bits):
            word = word & ~(1 << bit) | (value >> place & 1) << bit
        return word if value >> len(bits) == 0 else None

    def sizes(word):
        if word is None or word & leaf.mask != leaf.value:
            return None
        decoded = target.decode(Words.bytes(word, leaf.width) + bytes(16))
        if decoded[0] <= 0:
            return None
        places = {ROLES[name]: at for at, name in target.named(decoded[1]).items()}
        dwords = lambda at: register(target, decoded[3][at][1])[2]
        addresses = sorted(at for role, at in places.items() if re.fullmatch(r"vaddr\d*", role))
        data = places.get("vdata", places.get("vdst"))
        return 1 if data is None else dwords(data), len(addresses), dwords(addresses[-1]) if addresses else 0

    for base in leaf.bases:
        for role in names:
            if re.fullmatch("vdata|vdst|vaddr[0-9]*", role):
                base = put(base, role, 0) or base
        found = {}
        for data in range(64):
            word = put(put(put(base, "dmask", data & 15), "d16", data >> 4 & 1), "tfe", data >> 5)
            for address in range(16):
                found[data, address] = sizes(put(put(word, "dim", address & 7), "a16", address >> 3))
        if any(found.values()):
            break
    else:
        return None
    return separate(target.name(leaf.leaf_op), found)


def separate(name, found):
    """The sizes of data and of addresses apart: LLVM changes both, or neither where no opcode has them."""
    match = re.search(r"_V(\d+)(?:_V(\d+))?", name)
    # The addresses are one run, or registers of one dword each.
    of_leaf = lambda one: match and one[0] == int(match[1]) and one[1] * one[2] == int(match[2] or 0) and min(one[1:]) <= 1
    kept = next((one for one in found.values() if one and of_leaf(one)), None)
    most = lambda some: Counter(some).most_common(1)[0][0] if some else None
    data, addresses = [], []
    for one in range(64):
        row = [found[one, address] for address in range(16)]
        size = most([sizes[0] for sizes in row if sizes and sizes != kept])
        data.append(size or (kept[0] if kept and any(row) else 0))
    for one in range(16):
        row = [found[number, one] for number in range(64)]
        size = most([sizes[1:] for sizes in row if sizes and sizes != kept])
        addresses.append(size or (kept[1:] if kept and any(row) else (0, 0)))
    if kept:
        address_changes = any(size != kept[1:] and size[0] for size in addresses)
        data_changes = any(size not in (0, kept[0]) for size in data)
        for one in range(64):
            if address_changes and all(found[one, address] in (kept, None) for address in range(16)):
                data[one] = 0
        for one in range(16):
            if data_changes and all(found[number, one] in (kept, None) for number in range(64)):
                addresses[one] = (0, 0)
    return tuple(data), tuple(addresses)
