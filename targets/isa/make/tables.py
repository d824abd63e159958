"""The leaves of LLVM 22's decoder tables: masks, values, opcodes and predicates, in the order in which they are tried."""

import sys
import llvm


def symbols():
    from struct import unpack_from

    d = llvm.member("libLLVMAMDGPUDisassembler.a", "AMDGPUDisassembler.cpp.o")
    (shoff,) = unpack_from("<Q", d, 0x28)
    shent, shnum, shstr = unpack_from("<HHH", d, 0x3A)
    secs = [unpack_from("<IIQQQQIIQQ", d, shoff + i * shent) for i in range(shnum)]
    out = {}
    for s in secs:
        if s[1] == 2:  # SYMTAB
            stro = secs[s[6]][4]
            for o in range(s[4], s[4] + s[5], 24):
                n, info, oth, shn, val, size = unpack_from("<IBBHQQ", d, o)
                e = d.index(b"\0", stro + n)
                name = d[stro + n : e].decode()
                if "DecoderTable" in name and size:
                    i = name.index("DecoderTable")
                    out[name[i:-1]] = d[secs[shn][4] + val : secs[shn][4] + val + size]
    return out


def uleb(b, p):
    r = s = 0
    while True:
        c = b[p]
        p += 1
        r |= (c & 127) << s
        s += 7
        if c < 128:
            return r, p


def walk(b):
    """leaves in order of trial: (constraints, predicates, opcode, decoder)"""
    leaves = []
    width, p0 = uleb(b, 0)
    soft = []
    sys.setrecursionlimit(100000)

    def run(p, end, cons, preds):
        # sequence of ops from p to end
        while p < end:
            op = b[p]
            p += 1
            if op == 1:
                n, p = uleb(b, p)
                run(p, p + n, cons, preds)
                p += n  # alternative, on failure continue after
            elif op == 2:
                st, p = uleb(b, p)
                ln = b[p]
                p += 1
                while True:
                    v, p = uleb(b, p)
                    sz, p = uleb(b, p)
                    if sz == 0:
                        # last case: rest of this scope
                        run(p, end, cons + [(st, ln, v)], preds)
                        return
                    run(p, p + sz, cons + [(st, ln, v)], preds)
                    p += sz
            elif op == 3:
                st, p = uleb(b, p)
                ln = b[p]
                p += 1
                v, p = uleb(b, p)
                cons = cons + [(st, ln, v)]
            elif op == 4:
                i, p = uleb(b, p)
                preds = preds + [i]
            elif op == 5:
                o, p = uleb(b, p)
                d, p = uleb(b, p)
                leaves.append((cons, preds, o, d))
                return
            elif op == 6:
                a, p = uleb(b, p)
                c, p = uleb(b, p)
                soft.append((a, c))
            else:
                raise ValueError((op, p))

    run(p0, len(b), [], [])
    return width, leaves, soft
