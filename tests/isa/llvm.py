"""LLVM 22 as an oracle: disassembly, instruction operands and the static instruction tables."""

import ctypes
import re
import subprocess
from collections import namedtuple

MC = "llvm-mc-22"
Inst = namedtuple("Inst", "text encoding number opcode operands")


def run(gpu, source, extra):
    command = [MC, "-triple=amdgcn-amd-amdhsa", f"-mcpu={gpu}", "--show-inst", "--show-encoding", *extra]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False).stdout


def parse(output):
    found = []
    for line in output.splitlines():
        if m := re.match(r"\t(\S.*?)\s*; encoding: \[(0x[^\]]*)\]", line):
            found.append([m.group(1), bytes(int(b, 16) for b in m.group(2).split(",")), 0, "", []])
        if m := re.search(r"<MCInst #(\d+) (\w+)", line):
            found[-1][2], found[-1][3] = int(m.group(1)), m.group(2)
        if found:
            found[-1][4].extend(re.findall(r"<MCOperand (\w+:[^>]*)", line))
    return [Inst(re.sub(r"\s+", " ", i[0]), i[1], i[2], i[3], tuple(i[4])) for i in found]


def disassemble(gpu, encodings):
    """Maps the bytes of each valid encoding to its `Inst`. The text must assemble back to the same opcode.

    The bytes can differ in fields that the instruction does not use.
    """
    # The printed bytes lack unused fields, so a marker, s_mov_b32 s0, INDEX, precedes each encoding.
    marker = 0xBE8003FF if gpu.startswith("gfx10") else 0xBE8000FF
    line = lambda data: "[" + ",".join(f"0x{b:02x}" for b in data) + "]\n"
    source = "".join(line(marker.to_bytes(4, "little") + (1000 + i).to_bytes(4, "little")) + line(e)
                     for i, e in enumerate(encodings))
    groups, current = {}, None
    for inst in parse(run(gpu, source, ["--disassemble"])):
        if m := re.fullmatch(r"s_mov_b32 s0, (0x[0-9a-f]+)", inst.text):
            current = groups.setdefault(encodings[int(m.group(1), 16) - 1000], [])
        else:
            current.append(inst)
    found = {e: g[0] for e, g in groups.items() if len(g) == 1 and len(g[0].encoding) == len(e)}
    found = {e: i for e, i in found.items() if "/*" not in i.text}
    back = assemble(gpu, [i.text for i in found.values()])
    return {e: i for e, i in found.items() if i.text in back and back[i.text].opcode == i.opcode}


def assemble(gpu, texts):
    """Maps each text that assembles to its `Inst`. Line numbers do not survive errors, so the text is the key."""
    kept = {}
    for inst in parse(run(gpu, "\n".join(texts) + "\n", [])):
        kept[inst.text] = inst
    return kept


class Tables:
    """Static instruction and register tables (llvm::MCInstrInfo, llvm::MCRegisterInfo) of libLLVM 22."""

    def __init__(self):
        lib = ctypes.CDLL("libLLVM.so.22.1")
        for name in ("LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTargetMC"):
            getattr(lib, name)()
        lib.LLVMGetTargetFromName.restype = ctypes.c_void_p
        target = ctypes.cast(lib.LLVMGetTargetFromName(b"amdgcn"), ctypes.POINTER(ctypes.c_uint64))
        # llvm::Target: constructor of MCInstrInfo at word 8, of MCRegisterInfo at word 10.
        info = ctypes.cast(ctypes.CFUNCTYPE(ctypes.c_uint64)(target[8])(), ctypes.POINTER(ctypes.c_uint64))
        self.last, self.names = info[0], info[2]
        self.indices = ctypes.cast(info[1], ctypes.POINTER(ctypes.c_uint32))
        self.count = info[5] & 0xFFFFFFFF
        # The constructor takes a triple and does not read it.
        self.blank = ctypes.create_string_buffer(256)
        make = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(target[10])
        registers = ctypes.cast(make(ctypes.addressof(self.blank)), ctypes.POINTER(ctypes.c_uint64))
        self.descs, self.strings = registers[1], registers[9]

    def register(self, number):
        """Name of a register: the first word of its 24-byte MCRegisterDesc is an offset into the name table."""
        offset = int.from_bytes(ctypes.string_at(self.descs + 24 * number, 4), "little")
        return ctypes.string_at(self.strings + offset).decode()

    def opcode(self, number):
        return ctypes.string_at(self.names + self.indices[number]).decode()

    def desc(self, number):
        """(name, operand count, explicit definitions, implicit definitions, loads, stores) of an opcode."""
        at = self.last - 32 * number
        raw = ctypes.string_at(at, 32)
        u16 = lambda o: int.from_bytes(raw[o:o + 2], "little")
        assert u16(0) == number, "layout of MCInstrDesc"
        # Implicit operands follow the descriptor of opcode 0: uses first, then definitions.
        base = self.last + 32 + 2 * u16(12) + 2 * raw[8]
        implicit = [self.register(int.from_bytes(ctypes.string_at(base + 2 * i, 2), "little")) for i in range(raw[9])]
        flags = int.from_bytes(raw[16:24], "little")
        return self.opcode(number), u16(2), raw[4], implicit, bool(flags >> 19 & 1), bool(flags >> 20 & 1)
