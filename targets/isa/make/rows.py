"""Rows of a processor: the fields of each operand, learnt by changing bits of words, and the values of each field."""

import itertools
import time
from leaves import *

L.reg_text.restype = C.c_char_p
L.reg_text.argtypes = [C.c_uint]
L.learn.argtypes = [P, C.c_uint, C.c_int, C.c_int, C.POINTER(C.c_uint64), C.POINTER(C.c_uint64), C.c_int, C.c_char_p, C.POINTER(C.c_uint64)]
L.enumerate.argtypes = [
    P,
    C.c_uint,
    C.c_int,
    C.c_int,
    C.POINTER(C.c_uint64),
    C.c_int,
    C.c_char_p,
    C.c_char_p,
    C.c_int,
    C.POINTER(C.c_int64),
]
ORDER = "GFX1250128 GFX1196 GFX11_FAKE1696 GFX125096 GFX1250_FAKE1696 GFX1296 GFX12_FAKE1696 GFX12W6496 GFX940128 GFX10_B64 GFX80_UNPACKED64 GFX95064 GFX9_DL64 GFX94064 GFX90A64 GFX864 GFX964 GFX1064 GFX125064 GFX1250_FAKE1664 GFX1264 GFX12_FAKE1664 GFX1164 GFX11_FAKE1664 GFX11W6464 GFX12W6464 GFX832 AMDGPU32 GFX932 GFX90A32 GFX95032 GFX10_B32 GFX1032 GFX125032 GFX1250_FAKE1632 GFX1132 GFX11_FAKE1632 GFX1232 GFX12_FAKE1632".split()
ROLES = {
    0: "vdst",
    1: "src0",
    2: "vdata",
    3: "vaddr",
    4: "srsrc",
    5: "soffset",
    6: "offset",
    7: "cpol",
    8: "vdata_in",
    9: "swz",
    10: "saddr",
    11: "addr",
    12: "data0",
    13: "gds",
    14: "data1",
    15: "data1",
    16: "waitvdst",
    17: "waitvmvsrc",
    18: "attr",
    19: "attrchan",
    20: "offset0",
    21: "offset1",
    22: "vdst_in",
    23: "tgt",
    24: "src1",
    25: "src2",
    26: "src3",
    27: "vm",
    28: "compr",
    29: "en",
    30: "src0_modifiers",
    31: "clamp",
    32: "omod",
    33: "op_sel",
    44: "idx",
    48: "sdst",
    49: "simm16",
    50: "sdata",
    51: "sbase",
    53: "imm",
    54: "format",
    55: "vaddr0",
    56: "vaddr1",
    57: "vaddr2",
    58: "vaddr3",
    59: "r128",
    60: "old",
    61: "dpp_ctrl",
    62: "row_mask",
    63: "bank_mask",
    64: "bound_ctrl",
    65: "src1_modifiers",
    66: "dst_sel",
    67: "dst_unused",
    68: "src0_sel",
    69: "src1_sel",
    70: "src2_modifiers",
    71: "bitop3",
    72: "byte_sel",
    73: "scale_sel",
    74: "op_sel_hi",
    75: "neg_lo",
    76: "neg_hi",
    77: "wait_exp",
    78: "high",
    79: "cbsz",
    80: "abid",
    81: "blgp",
    82: "scale_src0",
    83: "scale_src1",
    84: "vdst1",
    85: "fi",
    86: "vdst1",
    87: "index_key_16bit",
    88: "index_key_8bit",
    89: "matrix_a_reuse",
    90: "matrix_b_reuse",
    92: "index_key_32bit",
    93: "matrix_a_fmt",
    94: "matrix_b_fmt",
    95: "matrix_a_scale",
    96: "matrix_b_scale",
    97: "matrix_a_scale_fmt",
    98: "matrix_b_scale_fmt",
    99: "srsrc",
    100: "dmask",
    101: "dim",
    102: "a16",
    103: "tfe",
    104: "unorm",
    105: "lwe",
    106: "da",
    107: "vaddr4",
    108: "vaddr5",
    109: "vaddr6",
    110: "vaddr7",
    111: "vaddr8",
    112: "vaddr9",
    113: "vaddr10",
    114: "vaddr11",
    115: "ray_origin_out",
    116: "ray_dir_out",
    117: "ssamp",
    118: "d16",
    119: "ssamp",
    120: "dpp8",
    121: "vdstX",
    122: "vdstY",
    123: "src0X_modifiers",
    124: "src0X",
    125: "vsrc1X_modifiers",
    126: "vsrc1X",
    127: "src0Y_modifiers",
    128: "src0Y",
    129: "vsrc1Y_modifiers",
    130: "vsrc1Y",
    131: "vsrc2Y",
    132: "src2Y",
    133: "vsrc2Y_modifiers",
    134: "vsrc2X",
    135: "src2X",
    136: "immX",
    137: "vsrc2X_modifiers",
}
REG = {}
FILES = {"v": 1, "a": 2, "s": 3, "ttmp": 4}


def regtext(t, r):
    if r in REG:
        return REG[r]
    if r == 0:
        x = ("none", 0, 0)
    else:
        s = L.reg_text(r).decode()
        m = re.fullmatch(r"(v|a|s|ttmp)(?:(\d+)|\[(\d+):(\d+)\])(\.[lh])?", s)
        if m:
            n = int(m[2] or m[3])
            w = int(m[4]) - n + 1 if m[4] else 1
            x = (m[1] + (m[5] or ""), n, w)
        else:
            x = ("special", (s, L.reg_encoding(t.p, r) & 0x3FF), 1)
    REG[r] = x
    return x


LIT32 = int.from_bytes(TAIL[:4], "little")
LIT64 = int.from_bytes(TAIL[:8], "little")


def literal(val):
    val &= M64
    for mode, x in enumerate((LIT32, LIT32 | 0xFFFFFFFF00000000, LIT32 << 32, LIT64)):
        if val == x:
            return mode


def element(t, kind, val, extra):
    "extra: bytes after the word that the decoder took"
    if kind <= 0:
        return None
    if kind == 1:
        return regtext(t, val)
    if extra or kind == 4:
        m = literal(val)
        if m is not None:
            return ("lit", m, extra)
    if kind == 4:
        return ("lit", 9, val)
    return ("imm", val, 0)


def runs(els):
    """[(first, count, what, width, step, base)]"""
    out = []
    i = 0
    n = len(els)
    while i < n:
        e = els[i]
        if e is None:
            i += 1
            continue
        j = i + 1
        if e[0] in ("special", "lit", "none"):
            while j < n and els[j] == e:
                j += 1
            out.append((i, j - i, e[0], e[2], 0, e[1], 0))
            i = j
            continue
        best = (i + 1, 0, 0)
        for sh in (0, 1, 2):
            q = i + (1 << sh)
            step = els[q][1] - e[1] if q < n and els[q] and els[q][0] == e[0] and els[q][2] == e[2] else 0
            if abs(step) > 100:
                step = 0
            if sh and (i & ((1 << sh) - 1) or e[0] == "imm"):
                continue
            j = i + 1
            while j < n and els[j] and els[j][0] == e[0] and els[j][2] == e[2] and els[j][1] == e[1] + step * ((j - i) >> sh):
                j += 1
            if j > best[0]:
                best = (j, step, sh)
        j, step, sh = best
        out.append((i, j - i, e[0], e[2], step if j - i > 1 else 0, e[1], sh))
        i = j
    # adjacent short runs of constants become one sequence
    res = []
    for r in out:
        if (
            r[2] == "imm"
            and r[1] <= 2
            and not -(2**31) <= r[5] < 2**31
            or (r[2] == "imm" and r[1] <= 2 and (r[0] >= 200 or abs(r[5]) > 0x2000))
        ):
            seq = tuple(els[r[0] + k][1] for k in range(r[1]))
            if res and res[-1][2] == "const" and res[-1][0] + res[-1][1] == r[0]:
                p = res[-1]
                res[-1] = (p[0], p[1] + r[1], "const", 0, 1, p[5] + seq, 0)
            else:
                res.append((r[0], r[1], "const", 0, 1, seq, 0))
        else:
            res.append(r)
    return tuple(res)


def kind_of(t, op, any_, w, bases, bits, k, mi, prune=False, fixed_literal=False, flat=0):
    if len(bits) <= 10:
        els = [None] * (1 << len(bits))
        for base in bases[:4]:
            out = (C.c_int64 * (3 << len(bits)))()
            L.enumerate(t.p, op, any_, w, w2(base), len(bits), bytes(bits), TAIL, mi, out)
            els = [e or element(t, out[3 * v], out[3 * v + 1], out[3 * v + 2] - w // 8) for v, e in enumerate(els)]
        if flat:
            els = [e and (e[0], e[1], flat) for e in els]
        # the literal of the word itself
        if fixed_literal and len(bits) >= 9:
            for v, e in enumerate(els):
                if v & 0x1FF == 0xFF and e and e[0] == "imm":
                    els[v] = ("lit", 0, 0)
        keep = [b for b in range(len(bits)) if any(els[v] != els[v ^ 1 << b] for v in range(1 << len(bits)))]
        if len(keep) < len(bits) and prune:
            els = [els[sum((v >> j & 1) << b for j, b in enumerate(keep))] for v in range(1 << len(keep))]
            return ("runs", len(keep), runs(els)), tuple(bits[b] for b in keep)
        r = ("runs", len(bits), runs(els))
        return (r, bits) if prune else r
    for base in bases[:4]:
        r = linear(t, op, any_, w, base, bits, k)
        if r:
            return r


def linear(t, op, any_, w, base, bits, k):
    # linear: weights of single bits
    def at(word):
        r = t.dec(word.to_bytes(w // 8, "little") + TAIL)
        return r[3][k][1] if r[0] > 0 and (any_ or r[1] == op) and k < len(r[3]) and r[3][k][0] in (2, 4) else None

    z = base
    for b in bits:
        z &= ~(1 << b)
    c = at(z)
    if c is None:
        c = 0
    ws = []
    for b in bits:
        x = at(z | 1 << b)
        if x is None:
            return None
        ws.append((x - c) & M64)
    if not ws[0]:
        return None
    sh = ws[0].bit_length() - 1
    signed = ws[-1] != (1 << sh << len(bits) - 1)
    for i, x in enumerate(ws):
        e = 1 << sh << i
        if i == len(bits) - 1 and signed:
            e = -e
        # LLVM reads 0x80 of a literal as an inline constant
        if x != e & M64 and not (x == 0 and e == 128):
            return None
    return ("lin", len(bits), signed, sh, c)


import struct

FLOATS = (
    {int.from_bytes(struct.pack("<" + f, x), "little") for f in "efd" for x in (0.5, -0.5, 1, -1, 2, -2, 4, -4)}
    | {int.from_bytes(struct.pack("<f", x), "little") >> 16 for x in (0.5, -0.5, 1, -1, 2, -2, 4, -4)}
    | {0x3118, 0x3E22, 0x3E22F983, 0x3FC45F306DC9C882}
)


def order_bits(bits):
    p = []
    for b in bits:
        if p and p[-1][-1] + 1 == b:
            p[-1].append(b)
        else:
            p.append([b])
    return tuple(b for q in sorted(p, key=lambda q: (-len(q), q[0])) for b in q)


IMGBAD = {}


def image_sizes(t, tn, m, v, w, op, leaf, bases, ops, names):
    "dwords of the data for each dmask, d16 and tfe; number of addresses and dwords of the last one for each dim and a16"

    def put(x, role, val):
        if role not in names:
            return x if val == 0 else None
        bits = ops[names[role]][1]
        for i, b in enumerate(bits):
            x = x & ~(1 << b) | (val >> i & 1) << b
        return x if val >> len(bits) == 0 else None

    def sizes(x):
        if x is None or x & m != v:
            return None
        r = t.dec(x.to_bytes(w // 8, "little") + bytes(16))
        if r[0] <= 0:
            return None
        nm = {ROLES[n]: k for k, n in t.named(r[1]).items()}
        va = [regtext(t, r[3][k][1])[2] for k in sorted(k for n, k in nm.items() if re.fullmatch(r"vaddr\d*", n))]
        vd = nm.get("vdata", nm.get("vdst"))
        return regtext(t, r[3][vd][1])[2] if vd is not None else 1, len(va), va[-1] if va else 0

    for base in bases:
        for role in names:
            if re.fullmatch("vdata|vdst|vaddr[0-9]*", role):
                base = put(base, role, 0) or base
        S = {}
        for i in range(64):
            x = put(base, "dmask", i & 15)
            x = x and put(x, "d16", i >> 4 & 1)
            x = x and put(x, "tfe", i >> 5)
            for a in range(16):
                y = x and put(x, "dim", a & 7)
                y = y and put(y, "a16", a >> 3)
                S[i, a] = sizes(y)
        if any(S.values()):
            break
    else:
        return None
    U = collections.Counter(S.values()).most_common(1)[0][0]
    lm = re.search(r"_V(\d+)(?:_V(\d+))?", t.name(leaf))
    cand = [z for z in S.values() if z and lm and z[0] == int(lm[1]) and (z[1] == int(lm[2] or 0) if z[1] > 1 else z[2] == int(lm[2] or 0))]
    U = cand[0] if cand else None
    data = []
    addr = []
    for i in range(64):
        c = collections.Counter(z[0] for a in range(16) for z in [S[i, a]] if z and z != U)
        data.append(c.most_common(1)[0][0] if c else U[0] if U and any(S[i, a] for a in range(16)) else 0)
    for a in range(16):
        c = collections.Counter(z[1:] for i in range(64) for z in [S[i, a]] if z and z != U)
        addr.append(c.most_common(1)[0][0] if c else U[1:] if U and any(S[i, a] for i in range(64)) else (0, 0))
    if U:
        ga = any(x != U[1:] and x[0] for x in addr)
        fa = any(x != U[0] and x for x in data)
        for i in range(64):
            if ga and all(S[i, a] in (U, None) for a in range(16)):
                data[i] = 0
        for a in range(16):
            if fa and all(S[i, a] in (U, None) for i in range(64)):
                addr[a] = (0, 0)
    bad = sum(1 for (i, a), z in S.items() if z and z != ((data[i],) + addr[a] if data[i] and addr[a][0] else U))
    if bad:
        IMGBAD[t.name(leaf)] = bad
    return tuple(data), tuple(addr)


def variant(cpu, wave):
    t0 = time.time()
    feat = (
        ""
        if family(cpu) == 9 or cpu.startswith("gfx125")
        else ("+wavefrontsize64,-wavefrontsize32" if wave == 64 else "+wavefrontsize32,-wavefrontsize64")
    )
    t = T(cpu, feat)
    reached, missed, _ = leaves(t, cpu)
    rnd = random.Random(5)
    leafops = {op for tn, (w, lv, _) in W.items() for _, _, op, _ in lv}
    # all leaves that decode to something new: operations that the C++ changes by some bits
    rows = []
    problems = collections.Counter()
    cache = {}
    todo = []
    for tn, i, m, v, w, op, ok in reached:
        name = t.name(op)
        image = name.startswith("IMAGE")
        extra = set()
        bitset = 0
        if not image:
            for b in range(w):
                if m >> b & 1:
                    continue
                for base in ok[:3]:
                    r = t.dec((base ^ 1 << b).to_bytes(w // 8, "little") + TAIL)
                    if r[0] > 0 and r[1] != op and r[1] not in leafops and not t.name(r[1]).startswith("IMAGE"):
                        bitset |= 1 << b
        if bitset:
            # bits that matter only beside others
            for k in range(60):
                word = (fills(rnd, cpu, w, k) & ~m) | v
                r = t.dec(word.to_bytes(w // 8, "little") + TAIL)
                if r[0] <= 0 or r[1] in leafops and r[1] != op:
                    continue
                for b in range(w):
                    if (m | bitset) >> b & 1:
                        continue
                    q = t.dec((word ^ 1 << b).to_bytes(w // 8, "little") + TAIL)
                    if q[0] > 0 and q[1] != r[1] and q[1] not in leafops - {op}:
                        bitset |= 1 << b
            bl = [b for b in range(w) if bitset >> b & 1]
            for combo in range(1 << len(bl)):
                x = 0
                for j, b in enumerate(bl):
                    if combo >> j & 1:
                        x |= 1 << b
                oks = {}
                for k in range(40):
                    word = ((fills(rnd, cpu, w, k) & ~m) | v) & ~bitset | x
                    r = t.dec(word.to_bytes(w // 8, "little") + TAIL)
                    if r[0] > 0 and (r[1] == op or r[1] not in leafops):
                        oks.setdefault(r[1], []).append(word)
                for o, ws in oks.items():
                    todo.append((tn, i, m | bitset, v | x, w, o, ws[:6], False))
            problems["split"] += 1
        else:
            todo.append((tn, i, m, v, w, op, ok, image))
    group = collections.defaultdict(int)
    leafbits = collections.defaultdict(int)
    splits = {(x[0], x[1]) for x, n in collections.Counter((x[0], x[1]) for x in todo).items() if n > 1 for x in [x]}
    for second in (0, 1):
        for tn, i, m, v, w, op, ok, image in todo:
            leaf = op
            if image:
                op = t.dec(ok[0].to_bytes(w // 8, "little") + TAIL)[1]
            d = t.desc(op)
            named = {k: n for k, n in t.named(op).items()}
            bases = list(ok)
            for k in range(12):
                word = (fills(rnd, cpu, w, 10 + k) & ~m) | v
                r = t.dec(word.to_bytes(w // 8, "little") + TAIL)
                if r[0] > 0 and (r[1] == op):
                    bases.append(word)

            def plain(x):
                r = t.dec(x.to_bytes(w // 8, "little") + TAIL)
                return r[0] > 0 and all(
                    q[0] != 4
                    and not (
                        q[0] == 2
                        and ROLES.get(named.get(k), "").lstrip("v").startswith(("src", "addr"))
                        and not (-16 <= q[1] <= 64 or q[1] & M64 in FLOATS)
                    )
                    for k, q in enumerate(r[3])
                )

            if family(cpu) == 12:
                bases = [x for x in bases if plain(x)] or bases[:1]
            bases = bases[:10]
            arr = (C.c_uint64 * (2 * len(bases)))(*[z for x in bases for z in (x & M64, x >> 64)])
            masks = (C.c_uint64 * 278)()
            L.learn(t.p, op, 1 if image else 0, w, w2(m), arr, len(bases), TAIL, masks)
            if (tn, i) in splits:
                for k in range(40):
                    leafbits[tn, i, k] |= (masks[2 * k] | masks[2 * k + 1] << 64) & ~m
                    masks[2 * k] |= leafbits[tn, i, k] & ~m & M64
                    masks[2 * k + 1] |= leafbits[tn, i, k] >> 64 & ~(m >> 64)
            for k in range(len(d["ops"])):
                dd = d["ops"][k]
                gk = (w, d["ts"], k, named.get(k), dd[0], dd[2], image)
                mi = named.get(k, 137) if image else k
                mk = masks[2 * mi] | masks[2 * mi + 1] << 64
                if not second:
                    group[gk] |= mk
                elif group[gk] & ~m != mk and bin(group[gk] & ~m).count("1") <= 10 and mk:
                    for x in (group[gk] & ~m,):
                        masks[2 * mi] = x & M64
                        masks[2 * mi + 1] = x >> 64
            if not second:
                continue
            # a base without literals
            base = None
            for x in bases:
                r = t.dec(x.to_bytes(w // 8, "little") + TAIL)
                if base is None or r[2] == w // 8:
                    base = x
                    br = r
                if r[2] == w // 8:
                    break
            owned = 0
            for k in range(138):
                owned |= masks[2 * k] | masks[2 * k + 1] << 64
            if "dpp8" in t.name(op):
                owned |= 0x1FF if w == 64 else 0x1FF << 32
            kept = masks[276] | masks[277] << 64
            for b in range(w):
                if not (m | owned | kept) >> b & 1 and len(bases) > 2 and len({x >> b & 1 for x in bases}) == 1:
                    m |= 1 << b
                    v |= base & 1 << b
            ops = []
            for k in range(len(br[3])):
                mi = named.get(k, 137) if image else k
                mk = masks[2 * mi] | masks[2 * mi + 1] << 64
                bits = order_bits(b for b in range(w) if mk >> b & 1)
                role = ROLES.get(named.get(k), "")
                if role == "fi" and "dpp8" in t.name(op):
                    bits = tuple(range(0, 9) if w == 64 else range(32, 41))
                ext = ()
                if bits and br[3][k][0] == 1 and not image:
                    e = bits[0] - 1
                    while e >= 0 and len(ext) < 2 and not (m | owned) >> e & 1:
                        ext = (e,) + ext
                        e -= 1
                    if len(bits) + len(ext) > 10:
                        ext = ()
                dd = d["ops"][k] if k < len(d["ops"]) else (-1, 0, 0, 0)
                kk = None
                key = (
                    (tn, i, op) if (tn, i) in splits else t.name(leaf) if image and br[3][k][0] == 1 else 0,
                    w,
                    bits,
                    ext,
                    dd[0],
                    dd[2],
                    dd[1],
                    role,
                    d["ts"],
                    br[3][k] if not bits else None,
                    k < d["defs"],
                    "t16" in t.name(op),
                    image,
                    (op, v) if br[3][k][0] == 2 and len(bits) <= 8 or not role else 0,
                )
                if key in cache:
                    kk, bits = cache[key]
                else:
                    reg = br[3][k][0] == 1
                    own = any(ROLES.get(n, "").startswith("imm") for n in named.values())
                    lm = re.search(r"_V(\d+)(?:_V(\d+))?", t.name(leaf)) if image and reg else None
                    n = lm and (
                        lm[1]
                        if role in ("vdata", "vdst", "vdata_in")
                        else (
                            lm[2]
                            if role == "vaddr" or role == "vaddr0" and "nsa" not in t.name(leaf) and not tn.startswith("GFX12")
                            else 1 if role.startswith("vaddr") else None
                        )
                    )
                    by_name = image and k in named and (not reg or n is not None)
                    kk = kind_of(
                        t,
                        op,
                        by_name,
                        w,
                        [base] + bases,
                        bits,
                        k,
                        mi if by_name else k,
                        len(bits) <= 10,
                        own,
                        int(n or 0),
                    )
                    if kk and len(bits) <= 10:
                        kk, nb = kk
                    else:
                        nb = bits
                    bits = nb
                    if kk and ext and kk[0] == "runs" and any(q[2] == "s" for q in kk[2]):
                        k2 = kind_of(t, op, 0, w, [base] + bases, ext + bits, k, k)
                        n = 1 << len(ext)

                        def cover(kd, d):
                            return {z for q in kd[2] for z in range(q[0] // d, (q[0] + q[1] - 1) // d + 1)}, sum(q[1] for q in kd[2])

                        a1, c1 = cover(k2, n)
                        a2, c2 = cover(kk, 1)
                        if c1 != c2 * n:
                            kk, bits = k2, ext + bits
                    cache[key] = kk, bits
                if kk is None:
                    problems[t.name(op) + " " + role + str(bits)] += 1
                tied = next((dd[3] >> 16 + 0 & 0xF for _ in (0,) if dd[3] & 1), -1)
                ops.append((role, bits, kk, k < d["defs"], dd[3], dd[2]))
            img = None
            if image:
                names = {ROLES[n]: k for k, n in named.items()}
                for k, (role, bits, kk, isdef, cons, ty) in enumerate(ops):
                    mm = re.fullmatch(r"vaddr(\d+)", role)
                    if mm and int(mm[1]) > 0 and not bits and br[3][k][0] == 1:
                        x = regtext(t, br[3][k][1])
                        if x[1] == TAIL[int(mm[1]) - 1]:
                            ops[k] = (role, (), ("runs", 0, ((0, 1, "nsa", x[2], 0, int(mm[1]) - 1, 0),)), isdef, cons, ty)
                if "dmask" in names:
                    img = image_sizes(t, tn, m, v, w, op, leaf, bases, ops, names)
            rows.append(dict(img=img, table=tn, idx=i, m=m, v=v, w=w, op=op, ops=ops, image=image, base=base))
    order = {n: i for i, n in enumerate(ORDER)}
    rows.sort(key=lambda r: (order[r["table"]], r["idx"]))
    print(
        cpu,
        wave,
        "rows",
        len(rows),
        "kinds",
        len({o[2] for r in rows for o in r["ops"]}),
        "oplists",
        len({tuple(o[:5] for o in r["ops"]) for r in rows}),
        "problems",
        sum(problems.values()),
        problems.most_common(12),
        "image sizes",
        len(IMGBAD),
        list(IMGBAD.items())[:4],
        f"{time.time()-t0:.1f}s",
        flush=True,
    )
    return rows
