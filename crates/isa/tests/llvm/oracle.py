"""Sizes and texts of words by libLLVM 22's C API: `oracle.py PROCESSOR WAVE WORDS OUT`.

WORDS has 20 bytes a word. OUT has a line a word: `size<TAB>text`, `-` for an invalid word, `!` where LLVM crashes: each crash ends a child
process, and the next child goes on behind the word.
"""

import ctypes
import mmap
import os
import resource
import sys

# Bytes of a word, of the answer to one, and words of one child process: a process with much shared memory forks slowly.
RECORD, SLOT, CHUNK = 20, 1024, 10_000


def disassembler(processor, wave):
    library = ctypes.CDLL("libLLVM.so.22.1")
    for part in ("TargetInfo", "Target", "TargetMC", "Disassembler"):
        getattr(library, f"LLVMInitializeAMDGPU{part}")()
    create = library.LLVMCreateDisasmCPUFeatures
    create.restype = ctypes.c_void_p
    create.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    features = "" if processor.startswith(("gfx9", "gfx125")) else f"+wavefrontsize{wave},-wavefrontsize{96 - wave}"
    context = create(b"amdgcn-amd-amdhsa", processor.encode(), features.encode(), None, 0, None, None)
    decode = library.LLVMDisasmInstruction
    decode.restype = ctypes.c_size_t
    decode.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]
    return lambda word, text: decode(context, word, len(word), 0, text, SLOT - 8)


def answers(decode, words):
    """The answers to a few words."""
    count = len(words) // RECORD
    shared = mmap.mmap(-1, 8 + SLOT * count)
    at = 0
    while at < count:
        child = os.fork()
        if child == 0:
            text = ctypes.create_string_buffer(SLOT - 8)
            for i in range(at, count):
                shared[0:8] = i.to_bytes(8, "little")
                size = decode(words[RECORD * i : RECORD * (i + 1)], text)
                slot = f"{size}\t".encode() + text.value.removeprefix(b"\t") if size else b"-"
                shared[8 + SLOT * i : 8 + SLOT * i + len(slot)] = slot
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status == 0:
            break
        crashed = int.from_bytes(shared[0:8], "little")
        shared[8 + SLOT * crashed : 9 + SLOT * crashed] = b"!"
        at = crashed + 1
    for i in range(count):
        slot = shared[8 + SLOT * i : 8 + SLOT * (i + 1)]
        yield slot[: slot.index(0)]


def main(processor, wave, words, out):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    decode = disassembler(processor, int(wave))
    with open(words, "rb") as words, open(out, "wb") as out:
        while some := words.read(RECORD * CHUNK):
            out.writelines(answer + b"\n" for answer in answers(decode, some))


main(*sys.argv[1:])
