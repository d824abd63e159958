"""The leaves of LLVM's decoder tables that a processor reaches, by decoding words of each."""

import random
import re

import tables
from probe import Words

# What follows a word: a literal with its top bit set, then bytes that all differ.
TAIL = bytes.fromhex("443322f18877665508070605040302011d2c3b4a")
TABLES = {name.removeprefix("DecoderTable"): tables.walk(code) for name, code in tables.symbols().items()}
# The order in which AMDGPUDisassembler::getInstruction tries the tables: long words first.
ORDER = (
    "GFX1250128 GFX1196 GFX11_FAKE1696 GFX125096 GFX1250_FAKE1696 GFX1296 GFX12_FAKE1696 GFX12W6496 GFX940128 GFX10_B64 GFX80_UNPACKED64 "
    "GFX95064 GFX9_DL64 GFX94064 GFX90A64 GFX864 GFX964 GFX1064 GFX125064 GFX1250_FAKE1664 GFX1264 GFX12_FAKE1664 GFX1164 GFX11_FAKE1664 "
    "GFX11W6464 GFX12W6464 GFX832 AMDGPU32 GFX932 GFX90A32 GFX95032 GFX10_B32 GFX1032 GFX125032 GFX1250_FAKE1632 GFX1132 GFX11_FAKE1632 "
    "GFX1232 GFX12_FAKE1632"
).split()
if unknown := set(TABLES) ^ set(ORDER):
    raise SystemExit(f"make-isa: decoder tables differ from those of 22.1.x: {sorted(unknown)}")


def family(processor):
    return 9 if processor.startswith("gfx9") else int(processor[3:5])


def is_of(processor, table):
    """Whether a table can be one of the processor's."""
    if table.startswith(("AMDGPU", "GFX9_DL")):
        return True
    if table.startswith("GFX1250"):
        return processor in ("gfx1250", "gfx1251")
    of = next((number for number in (10, 11, 12) if table.startswith(f"GFX{number}")), 9)
    return of == family(processor)


# The first turn of `fill` whose words all select DPP, for leaves that other words do not reach.
DPP_TURN = 70


def fill(numbers, processor, width, turn):
    """Bits for the free fields of a word: zeros and small patterns, then random ones, of which some select DPP."""
    full = (1 << width) - 1
    if turn < 3:
        word = (0, 0x0101010101010101_0101010101010101 & full, 0x0080_0080_0080 & full)[turn]
    else:
        word = numbers.getrandbits(width)
        word &= numbers.getrandbits(width) if turn % 3 else full
        word &= numbers.getrandbits(width) if turn % 3 == 1 else full
    if width == 64 and family(processor) == 9:
        # A literal of a 64-bit encoding makes LLVM crash.
        for start, bits in ((32, 9), (41, 9), (50, 9), (56, 8)):
            if word >> start & ((1 << bits) - 1) == 0xFF:
                word ^= 1 << start
    if 20 <= turn < 30:
        word = word & ~0x1FF | (0xE9 if turn & 1 else 0x1E9)
    if 30 <= turn < 40 and width >= 64:
        word = word & ~(0x1FF << 32) | (0xE9, 0xEA, 0xFA)[turn % 3] << 32
    if turn >= DPP_TURN:
        place = 0 if width == 64 else 32
        word = word & ~(0x1FF << place) | (0xE9, 0xEA, 0xFA)[turn % 3] << place
    return word


def stem(name):
    """An image opcode's name without the sizes of its registers."""
    return re.sub(r"_V\d+.*", "", name)


def reached(target, processor):
    """[(table, place, mask, value, width, opcode, words)] of the leaves that decode words to their opcode.

    An image instruction may always become one with other sizes: then its words are those of the one with most operands.
    """
    numbers, found = random.Random(7), []
    for table, (width, leaves) in TABLES.items():
        if not is_of(processor, table):
            continue
        for place, (mask, value, op) in enumerate(leaves):
            words, others = [], {}
            name = target.name(op)
            for turn in range(DPP_TURN + 90 if "dpp" in name else DPP_TURN):
                word = fill(numbers, processor, width, turn) & ~mask | value
                if family(processor) == 9 and word >> 26 & 0x3F in (0x38, 0x3A) and word >> 56 & 0xFF > 0xF8:
                    word ^= 1 << 61
                decoded = target.decode(Words.bytes(word, width) + TAIL)
                if decoded[0] > 0 and decoded[1] == op:
                    words.append(word)
                elif decoded[0] > 0 and name.startswith("IMAGE") and stem(target.name(decoded[1])) == stem(name):
                    others.setdefault(decoded[1], []).append(word)
                if len(words) >= 4:
                    break
            if not words and others:
                words = max(others.items(), key=lambda other: (len(target.description(other[0])["operands"]), len(other[1])))[1]
            if words:
                found.append((table, place, mask, value, width, op, words))
    return found
