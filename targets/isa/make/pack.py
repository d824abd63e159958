"""Columns of the table file from the rows of all processors."""

from templates import *

TYPES = {
    0: 0,
    4: 0,
    1: 1,
    2: 1,
    13: 1,
    14: 2,
    15: 3,
    16: 1,
    17: 4,
    18: 5,
    19: 6,
    20: 7,
    21: 8,
    22: 9,
    23: 10,
    24: 1,
    25: 1,
    26: 1,
    27: 3,
    28: 1,
    29: 2,
    30: 5,
    31: 6,
    32: 1,
    33: 4,
    34: 10,
    35: 7,
    36: 8,
    37: 1,
    41: 1,
    42: 1,
    43: 4,
}
# what a run holds
WHAT = {"imm": 0, "const": 1, "lit": 2, "v": 3, "a": 4, "s": 5, "ttmp": 6, "special": 7, "v.l": 8, "v.h": 9, "none": 10, "nsa": 11}
PRINTERS = []
PROCESSORS = "gfx900,gfx902,gfx909,gfx90c gfx904 gfx906 gfx908 gfx90a gfx942,gfx940,gfx941 gfx950 gfx1010 gfx1011,gfx1012 gfx1013 gfx1030,gfx1031,gfx1032,gfx1033,gfx1034,gfx1035,gfx1036 gfx1100,gfx1101,gfx1102,gfx1103 gfx1150,gfx1151,gfx1152,gfx1153 gfx1200,gfx1201 gfx1250 gfx1251"
# The first of each group has tables of its own, and LLVM decodes the others as it. LLVM 22 no longer knows gfx940 and gfx941.
BASES = [group.split(",")[0] for group in PROCESSORS.split()]
IMPLICIT = ["EXEC", "VCC", "SCC", "M0", "MODE", "FLAT_SCR", "ASYNCcnt", "TENSORcnt", "VCC_LO", "VCC_HI", "EXEC_LO", "EXEC_HI"]


class Pool:
    def __init__(s):
        s.d = {}
        s.l = []

    def __call__(s, x):
        if x not in s.d:
            s.d[x] = len(s.l)
            s.l.append(x)
        return s.d[x]


def flags(d):
    f, ts = d["flags"], d["ts"]
    b = lambda n: f >> n & 1
    out = 0
    for i, n in enumerate((19, 20, 10, 11, 7, 5, 8, 9)):
        out |= b(n) << i  # load store branch indirect call return barrier terminator
    for i, n in enumerate((57, 58, 33, 34, 37, 32, 41, 60)):
        out |= (ts >> n & 1) << (8 + i)  # atomic no return, atomic return, 33.., see README
    return out


def encoding(name, ts):
    b = lambda n: ts >> n & 1
    order = [
        ("sopp", 6),
        ("sopk", 5),
        ("sop1", 2),
        ("sop2", 3),
        ("sopc", 4),
        ("smem", 19),
        ("ds", 25),
        ("flat", 24),
        ("mubuf", 17),
        ("mtbuf", 18),
        ("mimg", 20),
        ("vimage", 21),
        ("vsample", 22),
        ("exp", 23),
        ("vopd", 30),
        ("vinterp", 29),
        ("ldsdir", 28),
        ("vintrp", 13),
        ("vop3p", 12),
        ("vop3", 10),
        ("vopc", 9),
        ("vop2", 8),
        ("vop1", 7),
    ]
    for n, k in order:
        if b(k):
            if n == "flat":
                return "global" if b(51) else "scratch" if b(56) else "flat"
            if n == "mtbuf":
                return n
            if n == "mubuf" and b(18):
                return "mtbuf"
            if n == "ds" and b(62):
                return "gws"
            return n
    return "other"


ENC = [
    "other",
    "sopp",
    "sopk",
    "sop1",
    "sop2",
    "sopc",
    "smem",
    "ds",
    "flat",
    "global",
    "scratch",
    "mubuf",
    "mtbuf",
    "mimg",
    "vimage",
    "vsample",
    "exp",
    "vopd",
    "vinterp",
    "ldsdir",
    "vintrp",
    "vop3p",
    "vop3",
    "vopc",
    "vop2",
    "vop1",
    "gws",
]


def modifiers(ts):
    b = lambda n: ts >> n & 1
    return b(15) | b(14) << 1 | b(49) << 2 | b(42) << 3 | b(59) << 4 | b(63) << 5 | b(54) << 6  # dpp sdwa packed op_sel wmma swmmac mai


def pack(data):
    "The file of the rows of all processors: {(processor, wave): rows}"
    V = list(data)
    strings = Pool()
    masks = Pool()
    bitsp = Pool()
    kinds = Pool()
    consts = Pool()
    specials = Pool()
    operands = Pool()
    lists = Pool()
    templates = Pool()
    mnems = Pool()
    effects = Pool()
    sets = Pool()
    roles = Pool()
    images = Pool()
    idata = Pool()
    iaddr = Pool()
    forms = Pool()
    highs = Pool()
    printers = Pool()
    roles("")
    merged = {}
    tr = {}

    def pieces(bits):
        p = []
        for b in bits:
            if p and p[-1][0] + p[-1][1] == b:
                p[-1][1] += 1
            else:
                p.append([b, 1])
        return tuple(map(tuple, p))

    # kinds of wave64 beside those of wave32
    for vi, v in enumerate(V):
        t = T(
            *(
                v[0],
                (
                    ""
                    if family(v[0]) == 9 or v[0].startswith("gfx125")
                    else ("+wavefrontsize64,-wavefrontsize32" if v[1] == 64 else "+wavefrontsize32,-wavefrontsize64")
                ),
            )
        )
        for r in data[v]:
            op = r["op"]
            d = t.desc(op)
            if (op) not in tr:
                dd = t.dec(r["base"].to_bytes(r["w"] // 8, "little") + TAIL)
                tr[op] = tracer(t, op, dd[3]), t.name(op)
            key = (
                ORDER.index(r["table"]),
                r["idx"],
                r["m"],
                r["v"],
                r["w"],
                op,
                tuple((o[0], pieces(o[1]), o[3], o[4], o[5], len(o[1])) for o in r["ops"]),
            )
            e = merged.setdefault(key + (r["img"],), {"v": {}, "d": d, "image": r["image"]})
            e["v"][vi] = tuple(o[2] for o in r["ops"])
    print("rows by fields", len(merged))
    # split rows of equal fields by kinds: wave64 of a processor may differ by a kind's alternative
    rows = []
    pairs = {(a, b) for a, (c, w) in enumerate(V) for b, (c2, w2) in enumerate(V) if c == c2 and w == 32 and w2 == 64}
    for key, e in merged.items():
        groups = {}
        for vi, ks in e["v"].items():
            c, w = V[vi]
            mate = next((b for a, b in pairs if a == vi), None) if w == 32 else next((a for a, b in pairs if b == vi), None)
            if mate in e["v"]:
                k32, k64 = (ks, e["v"][mate]) if w == 32 else (e["v"][mate], ks)
            else:
                k32 = k64 = ks
            groups.setdefault((k32, k64), set()).add(vi)
        # a processor of one wave size takes whichever alternative fits
        for (k32, k64), vs in sorted(groups.items(), key=lambda g: -len(g[1])):
            rows.append((key, e, k32, k64, frozenset(vs)))
    rows.sort(key=lambda r: (r[0][0], r[0][1], r[0][3], sorted(r[4]), repr(r[0])))
    print("rows", len(rows))

    def kind(k):
        if k is None:
            return (0, 0, ())
        if k[0] == "lin":
            c = k[4]
            c = c - (1 << 64) if c >> 63 else c
            return (1 | (2 if k[2] else 0), k[1] | k[3] << 8, ((0, 0, "imm", 0, 0, c, 0),))
        rs = []
        for first, count, what, width, step, base, sh in k[2]:
            if what == "const":
                base = consts(base)
            elif what == "special":
                base = specials(base)
            elif what == "lit":
                width = min(width, 8) if isinstance(width, int) else 0
            elif what == "imm":
                width = 0
            if what == "imm" and not -(2**31) <= base < 2**31:
                what = "const"
                base = consts((base,))
            rs.append((first, count, what, width, step, base, sh))
        return (0, k[1], tuple(rs))

    R = []
    for key, e, k32, k64, vs in rows:
        ti, idx, m, v, w, op, ops, img = key
        (base, second, items), name = tr[op]
        d = e["d"]
        ol = []
        tied = [(x[3] >> 4 & 0xF) if x[3] & 1 else None for x in ops]
        for o, a, b in zip(ops, k32, k64):
            role, pc, isdef, cons, ty, nb = o
            ol.append(
                operands(
                    (
                        roles(role),
                        bitsp(pc),
                        kinds(kind(a)),
                        kinds(kind(b)),
                        TYPES.get(ty, 15),
                        (1 if isdef else 0) | (cons & 1) << 1 | ((cons >> 4 & 0xF) if cons & 1 else 0) << 4,
                    )
                )
            )
        if base == "s_version":
            items = tuple(("version",) + x[1:] if x[0] != "text" else x for x in items)
        if e["image"]:
            its = []
            state = 0
            for x in items:
                if x[0] == "text" and x[1].endswith("["):
                    its.append(("text", x[1][:-1])) if x[1][:-1] else None
                    state = 1
                elif state == 1 and x[0] == "printOperand":
                    its.append(("addresses", x[1], ""))
                    state = 2
                elif state == 2 and x[0] == "text" and x[1].startswith("]"):
                    its.append(("text", x[1][1:])) if x[1][1:] else None
                    state = 0
                elif state == 2:
                    pass
                else:
                    its.append(x)
            items = tuple(its)
        tpl = templates(tuple((printers(x[0]), x[1] if x[0] != "text" else 0, strings(x[2] if x[0] != "text" else x[1])) for x in items))
        eff = effects(
            (
                sum(1 << IMPLICIT.index(r) for r in set(d["uses"])),
                sum(1 << IMPLICIT.index(r) for r in set(d["idefs"])),
                flags(d),
                ENC.index(encoding(name, d["ts"])),
                modifiers(d["ts"]) | (128 if e["image"] else 0),
            )
        )
        bm = 0
        for x in vs:
            bm |= 1 << x
        R.append(
            (
                masks((w, m)),
                v,
                forms(
                    (
                        lists(tuple(ol)),
                        tpl,
                        eff,
                        images((idata(bytes(img[0])), iaddr(bytes(z for a in img[1] for z in a)))) if img else 0xFFFF,
                    )
                ),
                mnems((base, second or "")),
                sets(bm),
                highs(v >> 32),
            )
        )
    # names that numbers of an operand have
    enums = []
    for what, role, sample, count in (
        ("printHwreg", "simm16", "s_getreg_b32", 64),
        ("printSendMsg", "simm16", "s_sendmsg", 256),
        ("format", "format", "tbuffer_load_", 128),
        ("printDim", "dim", "image_load", 8),
        ("printExpTgt", "tgt", "exp", 64),
        ("version", "simm16", "s_version", 256),
    ):
        for v in V:
            t = T(v[0], "")
            r = next((r for r in data[v] if tr[r["op"]][0][0].startswith(sample) and any(x[0] == what for x in tr[r["op"]][0][2])), None)
            e = []
            if what == "version":
                r = next((r for r in data[v] if tr[r["op"]][0][0] == "s_version"), None)
                for x in range(count if r else 0):
                    dd = t.dec((r["base"] & ~0xFFFF | x).to_bytes(4, "little") + TAIL, True)
                    m = re.search(r"(UC_\w+)", dd[4]) if dd[0] > 0 else None
                    e.append(m[1] if m else "")
                while e and not e[-1]:
                    e.pop()
            elif r:
                k = next(x[1] for x in tr[r["op"]][0][2] if x[0] == what)
                dd = t.dec(r["base"].to_bytes(r["w"] // 8, "little") + TAIL)
                for x in range(count):
                    ops = [(1, b) if a == 1 else (2, b) for a, b in dd[3]]
                    ops[k] = (2, x if what != "printHwreg" else x | 31 << 11)
                    s = t.print(r["op"], ops) or ""
                    if what == "printSendMsg" and "(MSG" not in s:
                        for o in range(1, 8):
                            ops[k] = (2, x | o << 4)
                            s = t.print(r["op"], ops) or ""
                            if "(MSG" in s:
                                break
                    m = re.search(
                        {
                            "printHwreg": r"hwreg\(([A-Z]\w*)\)",
                            "printSendMsg": r"sendmsg\(([A-Z]\w*)",
                            "format": r"( format:\S+)",
                            "printDim": r"( dim:\S+)",
                            "printExpTgt": r"(?:exp|export)( \S+)",
                        }[what],
                        s,
                    )
                    e.append(m[1] if m else "")
                while e and not e[-1]:
                    e.pop()
            enums.append(tuple(e))
    for e in enums:
        for x in e:
            strings(x)
    names = sorted({n for a in mnems.l for n in a if n})
    nid = {n: i for i, n in enumerate(names)}
    u16 = lambda l: struct.pack(f"<{len(l)}H", *l)
    u32 = lambda l: struct.pack(f"<{len(l)}I", *[x & 0xFFFFFFFF for x in l])
    u8 = lambda l: bytes(l)

    def offsets(seq):  # start of each and the end
        o = [0]
        for s in seq:
            o.append(o[-1] + len(s))
        return o

    sec = []

    def text(l):
        bs = [x.encode() for x in l]
        sec.append(u32(offsets(bs)))
        sec.append(b"".join(bs))

    text(names)
    text(strings.l)
    text(roles.l)
    text(printers.l)
    text([s for s, _ in specials.l])
    sec.append(u16([e for _, e in specials.l]))
    text([f"{c}" for c, w in V])
    sec.append(u8([w for c, w in V]))
    sec.append(u8([w for w, m in masks.l]))
    sec.append(u32([m >> s & 0xFFFFFFFF for w, m in masks.l for s in (0, 32, 64, 96)]))
    sec.append(u16(offsets(bitsp.l)))
    sec.append(u8([x for p in bitsp.l for q in p for x in q]))
    sec.append(u16([a for k in kinds.l for a in (k[0], k[1])]))
    sec.append(u16(offsets([k[2] for k in kinds.l])))
    runs_ = [r for k in kinds.l for r in k[2]]
    sec.append(u16([x for r in runs_ for x in (r[0], r[1] & 0xFFFF)]))
    sec.append(bytes(x & 0xFF for r in runs_ for x in (WHAT[r[2]], r[3], r[4], r[6])))
    sec.append(u32([r[5] for r in runs_]))
    flat = [x for c in consts.l for x in c]
    co = offsets(consts.l)
    sec.append(u16(co))
    sec.append(struct.pack(f"<{len(flat)}q", *[x - (1 << 64) if x >> 63 == 1 else x for x in flat]))
    sec.append(u8([x for o in operands.l for x in (o[0], o[4], o[5], 0)]))
    sec.append(u16([x for o in operands.l for x in (o[1], o[2], o[3])]))
    sec.append(u16(offsets(lists.l)))
    sec.append(u16([x for l in lists.l for x in l]))
    sec.append(u16(offsets(templates.l)))
    sec.append(u8([x for l in templates.l for i in l for x in i[:2]]))
    sec.append(u16([i[2] for l in templates.l for i in l]))
    sec.append(u16([nid[x] if x else 0xFFFF for m in mnems.l for x in m]))
    sec.append(u32([x for e in effects.l for x in (e[0] | e[1] << 16, e[2] | e[3] << 16 | e[4] << 24)]))
    sec.append(u32([x >> s & 0xFFFFFFFF for x in sets.l for s in (0, 32)]))
    sec.append(u16([x for f in forms.l for x in f]))
    sec.append(u32([x >> s & 0xFFFFFFFF for x in highs.l for s in (0, 32, 64)]))
    sec.append(u16([r[0] for r in R]))
    sec.append(u32([r[1] & 0xFFFFFFFF for r in R]))
    for k in (5, 2, 3):
        sec.append(u16([r[k] for r in R]))
    sec.append(u8([r[4] for r in R]))
    procs = []
    for line in PROCESSORS.split():
        base, *more = line.split(",")
        procs += [(p, base) for p in [base] + more]
    procs.sort()
    text([p for p, _ in procs])
    sec.append(u8([V.index((b, w)) if (b, w) in V else 255 for _, b in procs for w in (32, 64)]))
    sec.append(u16([x for i in images.l for x in i]))
    sec.append(b"".join(idata.l))
    sec.append(b"".join(iaddr.l))
    sec.append(u16(offsets(enums)))
    sec.append(u16([strings(x) for e in enums for x in e]))
    assert max(map(len, (forms.l, highs.l, kinds.l, lists.l, R))) < 65536 and len(sets.l) < 256
    # offset and length of each section
    blob = b"AMDISA1\0" + struct.pack("<I", len(sec))
    pos = len(blob) + 8 * len(sec)
    table = b""
    body = b""
    for s in sec:
        body += bytes(-(pos + len(body)) % 4)
        table += struct.pack("<II", pos + len(body), len(s))
        body += s
    blob += table + body
    import zlib, lzma

    print(
        f"rows {len(R)} masks {len(masks.l)} lists {len(lists.l)} operands {len(operands.l)} kinds {len(kinds.l)} runs {len(runs_)} templates {len(templates.l)} items {sum(map(len,templates.l))} names {len(names)} effects {len(effects.l)} sets {len(sets.l)} strings {len(strings.l)}; {len(blob)} bytes, zlib {len(zlib.compress(blob,9))}, xz {len(lzma.compress(blob))}"
    )
    return blob
