"""LLVM's AMDGPU decoder and printer through probe.cpp."""

import ctypes
import re
from ctypes import POINTER, c_char_p, c_int, c_int64, c_uint, c_uint64, c_void_p

import llvm
from names import ANCHORS, NAMES, ROLES

FILE = llvm.probe()
L = ctypes.CDLL(str(FILE))
M64 = (1 << 64) - 1


class Operand(ctypes.Structure):
    _fields_ = [("kind", c_int64), ("value", c_int64)]


class Decoded(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("op", ctypes.c_int32), ("size", ctypes.c_int32), ("count", ctypes.c_int32), ("operands", Operand * 40)]


def declare(name, result, *arguments):
    function = getattr(L, name)
    function.restype, function.argtypes = result, arguments


declare("target", c_void_p, c_char_p, c_char_p)
declare("op_name", c_char_p, c_void_p, c_uint)
declare("reg_name", c_char_p, c_void_p, c_uint)
declare("reg_text", c_char_p, c_uint)
declare("reg_encoding", c_uint, c_void_p, c_uint)
declare("reg_dwords", c_uint, c_void_p, c_uint)
declare("op_named", c_int, c_uint, c_uint)
declare("op_desc", c_int, c_void_p, c_uint, POINTER(c_int64))
declare("decode", c_int, c_void_p, c_char_p, c_int, POINTER(Decoded), c_char_p, c_int)
declare("print", c_int, c_void_p, c_uint, c_int, POINTER(c_int64), c_char_p, c_int)
declare("learn", c_int, c_void_p, c_uint, c_int, c_int, POINTER(c_uint64), POINTER(c_uint64), c_int, c_char_p, POINTER(c_uint64))
declare("enumerate", None, c_void_p, c_uint, c_int, c_int, POINTER(c_uint64), c_int, c_char_p, c_char_p, c_int, POINTER(c_int64))
declare("hook_add", None, c_uint64, c_char_p, c_int)


class Words:
    """Words of up to 128 bits."""

    @staticmethod
    def bytes(word, width):
        return word.to_bytes(width // 8, "little")

    @staticmethod
    def halves(*words):
        return (c_uint64 * (2 * len(words)))(*(half for word in words for half in (word & M64, word >> 64)))


class Target:
    """A processor with a wave size."""

    def __init__(self, processor, wave=0):
        features = f"+wavefrontsize{wave},-wavefrontsize{96 - wave}" if wave and not processor.startswith(("gfx9", "gfx125")) else ""
        self.handle = L.target(processor.encode(), features.encode())
        self.decoded, self.numbers, self.text = Decoded(), (c_int64 * 4000)(), ctypes.create_string_buffer(2000)

    def decode(self, code, text=False):
        """(status, opcode, size, operands as (kind, value), text); only the status, not above 0, of an invalid word."""
        status = L.decode(self.handle, code, len(code), self.decoded, self.text, 2000 if text else 0)
        if status <= 0:
            return (status,)
        found = self.decoded
        operands = tuple((found.operands[at].kind, found.operands[at].value) for at in range(found.count))
        return status, found.op, found.size, operands, self.text.value.decode() if text else None

    def description(self, op):
        """LLVM's description of an opcode: operands are (class, flags, type, constraints)."""
        L.op_desc(self.handle, op, self.numbers)
        count, written, _, flags, target_flags, uses, writes = self.numbers[0:7]
        at = 7 + 4 * count
        return {
            "operands": [tuple(self.numbers[start : start + 4]) for start in range(7, at, 4)],
            "written": written,
            "flags": flags & M64,
            "target": target_flags & M64,
            "reads": [self.register(number) for number in self.numbers[at : at + uses]],
            "writes": [self.register(number) for number in self.numbers[at + uses : at + uses + writes]],
        }

    def register(self, number):
        return L.reg_name(self.handle, number).decode()

    def name(self, op):
        return L.op_name(self.handle, op).decode()

    def named(self, op):
        """The number of each operand's name."""
        names = ((L.op_named(op, name), name) for name in range(NAMES))
        found = {at: name for at, name in names if at >= 0}
        expected = ANCHORS.get(self.name(op))
        if expected and [ROLES.get(found.get(at)) for at in range(len(expected.split()))] != expected.split():
            raise SystemExit(f"make-isa: {self.name(op)} has operands {[ROLES.get(found.get(at)) for at in sorted(found)]}, expected {expected}")
        return found

    def print(self, op, operands):
        """The text of an opcode with operands, with marks of the hooks; None if LLVM crashes."""
        numbers = (c_int64 * (2 * len(operands) + 2))(*(number for operand in operands for number in operand))
        length = L.print(self.handle, op, len(operands), numbers, self.text, 2000)
        return self.text.value.decode("latin1") if length >= 0 else None


registers = {}


def register(target, number):
    """(file, first number, dwords) of one of LLVM's registers, or ("special", (name, encoding), dwords)."""
    if number not in registers:
        text = L.reg_text(number).decode() if number else ""
        match = re.fullmatch(r"(v|a|s|ttmp)(?:(\d+)|\[(\d+):(\d+)\])(\.[lh])?", text)
        if match:
            first = int(match[2] or match[3])
            registers[number] = match[1] + (match[5] or ""), first, int(match[4]) - first + 1 if match[4] else 1
        elif number:
            encoding = L.reg_encoding(target.handle, number) & 0x3FF
            registers[number] = "special", (text, encoding), L.reg_dwords(target.handle, number)
        else:
            registers[number] = "none", 0, 0
    return registers[number]


def learn(target, op, by_name, width, mask, bases, tail):
    """Bits on which each operand depends, by its number or the number of its name, and the bits that can be flipped."""
    masks = (c_uint64 * (2 * NAMES + 2))()
    L.learn(target.handle, op, by_name, width, Words.halves(mask), Words.halves(*bases), len(bases), tail, masks)
    bits = [masks[at] | masks[at + 1] << 64 for at in range(0, 2 * NAMES + 2, 2)]
    return bits[:NAMES], bits[NAMES]


def enumerate_field(target, op, by_name, width, base, bits, tail, operand):
    """(kind, value, size) of an operand for each value of some bits."""
    out = (c_int64 * (3 << len(bits)))()
    L.enumerate(target.handle, op, by_name, width, Words.halves(base), len(bits), bytes(bits), tail, operand, out)
    return zip(out[0::3], out[1::3], out[2::3])


# How a trap finds the printer's arguments (probe.cpp).
FORMS = {"printNamedBit": 1, "printNamedInt": 2, "printIfSet": 3, "printDefaultVccOperand": 9}
INNER = ("printInst", "printInstruction", "printRegName", "printScope", "printTH", "printLiteral64")


def symbols():
    """Addresses of the printers."""
    lines = [line.split() for line in llvm.run("llvm-nm-22", "--defined-only", FILE).decode().splitlines()]
    [target] = [int(line[0], 16) for line in lines if line[1:] == ["T", "target"]]
    base = ctypes.cast(L.target, c_void_p).value - target
    return {name: int(address, 16) + base for address, _, name in lines if "AMDGPUInstPrinter" in name}


SYMBOLS = symbols()


def hook(only=()):
    """Puts traps in place of LLVM's printers, or of some of them. `R` and `Q` are the printers of registers without and with an operand."""
    L.hooks_clear()
    for symbol, address in SYMBOLS.items():
        match = re.match(r"_ZN4llvm17AMDGPUInstPrinter(\d+)(print\w+)", symbol)
        if not match:
            continue
        name = match[2][: int(match[1])]
        if name in INNER or name.startswith("printImmediate") or (only and name not in only):
            continue
        form = FORMS.get(name, 5 if "MCInstEmj" in symbol else 0)
        if name == "printIfSet" and symbol.endswith("c"):
            form = 4
        if name == "printRegOperand":
            if not only:
                continue
            name = "R" if "MCRegisterERN" in symbol else "Q"
        L.hook_add(address, name.encode(), form)
    L.hooks_set(1)


def unhook():
    L.hooks_clear()
