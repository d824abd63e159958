"""LLVM's AMDGPU decoder and printer through probe.cpp."""

import ctypes as C, subprocess, re, struct, sys, random, pickle, os, collections
import llvm

SO = llvm.probe()
L = C.CDLL(str(SO))
P = C.c_void_p


class Op(C.Structure):
    _fields_ = [("kind", C.c_int64), ("value", C.c_int64)]


class Decoded(C.Structure):
    _fields_ = [("status", C.c_int32), ("op", C.c_int32), ("size", C.c_int32), ("n", C.c_int32), ("ops", Op * 40)]


L.target.restype = P
L.target.argtypes = [C.c_char_p] * 2
for f in ("op_name", "reg_name", "op_mnemonic"):
    getattr(L, f).restype = C.c_char_p
    getattr(L, f).argtypes = [P, C.c_uint]
L.reg_encoding.argtypes = [P, C.c_uint]
L.reg_count.argtypes = [P]
L.decode.argtypes = [P, C.c_char_p, C.c_int, C.POINTER(Decoded), C.c_char_p, C.c_int]
L.op_desc.argtypes = [P, C.c_uint, C.POINTER(C.c_int64)]
L.print.argtypes = [P, C.c_uint, C.c_int, C.POINTER(C.c_int64), C.c_char_p, C.c_int]
L.learn.argtypes = [P, C.c_uint, C.c_int, C.POINTER(C.c_uint64), C.POINTER(C.c_uint64), C.c_int, C.c_char_p, C.POINTER(C.c_uint64)]
L.enumerate.argtypes = [P, C.c_uint, C.c_int, C.POINTER(C.c_uint64), C.c_int, C.c_char_p, C.c_char_p, C.c_int, C.POINTER(C.c_int64)]
L.enumerate.restype = None
L.hook_add.argtypes = [C.c_uint64, C.c_char_p, C.c_int]
L.hook_add.restype = None
M64 = (1 << 64) - 1


def w2(x):
    return (C.c_uint64 * 2)(x & M64, x >> 64)


def symbols():
    out = subprocess.run(["llvm-nm-22", "--defined-only", str(SO)], capture_output=True, text=True).stdout
    s = {}
    for l in out.splitlines():
        a, t, n = l.split()
        if "AMDGPUInstPrinter" in n:
            s[n] = int(a, 16)
    base = C.cast(L.target, P).value - int([l.split()[0] for l in out.splitlines() if l.endswith(" T target")][0], 16)
    return {n: a + base for n, a in s.items()}


SYM = symbols()


class T:
    def __init__(s, cpu, feat=""):
        s.p = L.target(cpu.encode(), feat.encode())
        s.d = Decoded()
        s.big = (C.c_int64 * 4000)()
        s.t = C.create_string_buffer(2000)

    def dec(s, b, text=False):
        st = L.decode(s.p, b, len(b), s.d, s.t, 2000 if text else 0)
        if st <= 0:
            return (st,)
        d = s.d
        return st, d.op, d.size, tuple((d.ops[i].kind, d.ops[i].value) for i in range(d.n)), s.t.value.decode() if text else None

    def desc(s, op):
        o = s.big
        L.op_desc(s.p, op, o)
        n, nd, size, fl, ts, iu, idf = o[0:7]
        k = 7
        ops = []
        for _ in range(n):
            ops.append(tuple(o[k : k + 4]))
            k += 4
        return dict(
            n=n,
            defs=nd,
            size=size,
            flags=fl & M64,
            ts=ts & M64,
            ops=ops,
            uses=[s.reg(r) for r in o[k : k + iu]],
            idefs=[s.reg(r) for r in o[k + iu : k + iu + idf]],
        )

    def reg(s, r):
        return L.reg_name(s.p, r).decode()

    def name(s, op):
        return L.op_name(s.p, op).decode()

    def mnem(s, op):
        return L.op_mnemonic(s.p, op).decode()

    def named(s, op):
        return {L.op_named(op, n): n for n in range(138) if L.op_named(op, n) >= 0}

    def print(s, op, ops):
        b = (C.c_int64 * (2 * len(ops) + 2))()
        for i, (k, v) in enumerate(ops):
            b[2 * i] = k
            b[2 * i + 1] = v
        r = L.print(s.p, op, len(ops), b, s.t, 2000)
        return s.t.value.decode("latin1") if r >= 0 else None


FORMS = {"printNamedBit": 1, "printNamedInt": 2, "printIfSet": 3}


def hook(names=None):
    L.hooks_clear()
    for n, a in SYM.items():
        m = re.match(r"_ZN4llvm17AMDGPUInstPrinter(\d+)(print\w+)", n)
        if not m:
            continue
        f = m.group(2)[: int(m.group(1))]
        if f in ("printInst", "printInstruction"):
            continue
        if names and f not in names:
            continue
        form = FORMS.get(f, 0)
        if names and f == "printRegOperand":
            f = "R" if "MCRegisterERN" in n else "Q"
        elif f == "printRegOperand":
            continue
        if f == "printIfSet" and n.endswith("c"):
            form = 4
        if "MCInstEmj" in n:
            form = 5
        if f == "printDefaultVccOperand":
            form = 9
        if f.startswith("printImmediate") or f in ("printRegName", "printScope", "printTH", "printLiteral64"):
            continue
        L.hook_add(a, f.encode(), form)
    L.hooks_set(1)


def unhook():
    L.hooks_clear()
