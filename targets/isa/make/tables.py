"""The leaves of LLVM 22's decoder tables, in the order in which they are tried (llvm/MC/MCDecoderOps.h)."""

from struct import unpack_from

import llvm

SCOPE, SWITCH, CHECK, PREDICATE, DECODE = 1, 2, 3, 4, 5


def symbols():
    """The tables in the decoder's object file: bytes by name."""
    file = llvm.member("libLLVMAMDGPUDisassembler.a", "AMDGPUDisassembler.cpp.o")
    (start,) = unpack_from("<Q", file, 0x28)
    size, count = unpack_from("<HH", file, 0x3A)
    sections = [unpack_from("<IIQQQQIIQQ", file, start + at * size) for at in range(count)]
    found = {}
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        strings = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, _, _, of, value, length = unpack_from("<IBBHQQ", file, at)
            name = file[strings + name : file.index(b"\0", strings + name)].decode()
            if "DecoderTable" in name and length:
                # A mangled name, which ends with the letter of an internal symbol.
                begin = sections[of][4] + value
                found[name[name.index("DecoderTable") : -1]] = file[begin : begin + length]
    return found


def uleb(code, at):
    value = shift = 0
    while True:
        byte = code[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def walk(code):
    """(width, [(mask, value, opcode)])"""
    leaves = []
    width, first = uleb(code, 0)

    def run(at, end, mask, value):
        while at < end:
            step, at = code[at], at + 1
            if step == SCOPE:
                # An alternative: what follows it is tried where it fails.
                size, at = uleb(code, at)
                run(at, at + size, mask, value)
                at += size
            elif step == SWITCH:
                start, at = uleb(code, at)
                bits, at = code[at], at + 1
                fixed = mask | ((1 << bits) - 1) << start
                while True:
                    case, at = uleb(code, at)
                    size, at = uleb(code, at)
                    if size == 0:  # The last case is the rest of the scope.
                        run(at, end, fixed, value | case << start)
                        return
                    run(at, at + size, fixed, value | case << start)
                    at += size
            elif step == CHECK:
                start, at = uleb(code, at)
                bits, at = code[at], at + 1
                case, at = uleb(code, at)
                mask, value = mask | ((1 << bits) - 1) << start, value | case << start
            elif step == PREDICATE:
                _, at = uleb(code, at)
            elif step == DECODE:
                op, at = uleb(code, at)
                leaves.append((mask, value, op))
                return
            else:
                raise SystemExit(f"make-isa: step {step} of a decoder table is unknown")

    run(first, len(code), 0, 0)
    return width, leaves
