"""Which leaves a processor reaches, by decoding words of each."""

from probe import *
import tables

SY = tables.symbols()
W = {n[len("DecoderTable") :]: tables.walk(b) for n, b in SY.items()}


def fixed(cons):
    m = v = 0
    for s, l, x in cons:
        m |= ((1 << l) - 1) << s
        v |= x << s
    return m, v


# What follows a word: a literal with its top bit set, then bytes that all differ
TAIL = bytes.fromhex("443322f18877665508070605040302011d2c3b4a")


def family(cpu):
    return 9 if cpu[:4] == "gfx9" else int(cpu[3:5])


def use(cpu, t):
    f = family(cpu)
    if t.startswith("AMDGPU") or t.startswith("GFX9_DL"):
        return True
    if t.startswith("GFX1250"):
        return cpu in ("gfx1250", "gfx1251")
    if t.startswith("GFX10"):
        return f == 10
    if t.startswith("GFX11"):
        return f == 11
    if t.startswith("GFX12"):
        return f == 12
    return f == 9


def fills(rnd, cpu, w, k):
    full = (1 << w) - 1
    r = (
        (0, 0x0101010101010101_0101010101010101 & full, 0x0080_0080_0080 & full)[k]
        if k < 3
        else rnd.getrandbits(w) & (rnd.getrandbits(w) if k % 3 else full) & (rnd.getrandbits(w) if k % 3 == 1 else full)
    )
    if w == 64 and family(cpu) == 9:
        for sh, ln in ((32, 9), (41, 9), (50, 9), (56, 8)):
            if r >> sh & ((1 << ln) - 1) == 0xFF:
                r ^= 1 << sh
    if 20 <= k < 30:
        r = (r & ~0x1FF) | (0xE9 if k & 1 else 0x1E9)
    if 30 <= k < 40 and w >= 64:
        r = (r & ~(0x1FF << 32)) | ((0xE9, 0xEA, 0xFA)[k % 3] << 32)
    return r


def leaves(t, cpu):
    rnd = random.Random(7)
    out = []
    pt = set()
    miss = []
    hits = collections.defaultdict(collections.Counter)
    for tn, (w, lv, _) in W.items():
        if not use(cpu, tn):
            continue
        for i, (cons, preds, op, di) in enumerate(lv):
            m, v = fixed(cons)
            ok = []
            alt = {}
            image = t.name(op).startswith("IMAGE")
            stem = re.sub(r"_V\d+.*", "", t.name(op))
            for k in range(70):
                word = (fills(rnd, cpu, w, k) & ~m) | v
                if family(cpu) == 9 and (word >> 26) & 0x3F in (0x38, 0x3A) and (word >> 56) & 0xFF > 0xF8:
                    word ^= 1 << 61
                r = t.dec(word.to_bytes(w // 8, "little") + TAIL)
                if r[0] > 0:
                    hits[tn, i][r[1]] += 1
                    if r[1] == op:
                        ok.append(word)
                    elif image and re.sub(r"_V\d+.*", "", t.name(r[1])) == stem:
                        alt.setdefault(r[1], []).append(word)
                if len(ok) >= 4:
                    break
            if not ok and alt:
                op_, ok = max(alt.items(), key=lambda q: (t.desc(q[0])["n"], len(q[1])))
                out.append((tn, i, m, v, w, op, ok))
                pt.update(preds)
            elif ok:
                out.append((tn, i, m, v, w, op, ok))
                pt.update(preds)
            else:
                miss.append((tn, i, m, v, w, op, preds))
    return out, [x + (hits[x[0], x[1]],) for x in miss if set(x[6]) <= pt], pt
