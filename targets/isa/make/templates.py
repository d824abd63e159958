"""How LLVM prints an opcode: its mnemonic, and the order of texts and printers with their operands."""

from rows import *


def tracer(t, op, ops):
    """(mnemonic, second mnemonic, items): items are ('text', s) or (printer, operand, extra)."""
    ops = [(1, v) if k == 1 else (2, v) for k, v in ops]
    z = [(1, v) if k == 1 else (2, 0) for k, v in ops]
    hook()

    def p(o):
        q = t.print(op, o)
        return q and re.sub(r"\x01(print(?:OpSel|OpSelHi|NegLo|NegHi)\x03)\d+", "\x01\\g<1>0", q)

    s0 = p(z)
    vis = []
    for k, (kind, _) in enumerate(ops):
        if kind == 2:
            o = list(z)
            o[k] = (2, 1)
            if p(o) != s0:
                vis.append(k)
    a = list(z)
    for k in vis:
        a[k] = (2, 1)
    s = p(a)
    spans = []
    for k in vis:
        o = list(a)
        o[k] = (2, 0)
        q = p(o)
        n = len(s) - len(q)
        i = len(os.path.commonprefix([s, q]))
        if n <= 0:
            raise ValueError((t.name(op), s, q))
        while i > 0 and s[i] != " " and s[i - 1] == s[i + n - 1]:
            i -= 1
        spans.append((i, n, k))
    spans.sort()
    unhook()
    hook(["printDefaultVccOperand", "printRegOperand"])
    sv = t.print(op, ops) or ""
    unhook()
    D = "\x01printDefaultVccOperand\x03%d\x03\x02"
    sv = re.sub(r"\x01Q\x03[^\x02]*\x02", "Q", sv)
    sv = re.sub(r", \x01R\x03[^\x02]*\x02", D % 0, sv)
    sv = re.sub(r"\x01R\x03[^\x02]*\x02, ", D % 1, sv)
    if t.name(op).startswith("EXP"):
        sv = ""
    hook(["printRegularOperand"])
    sr = t.print(op, ops)
    unhook()
    out = []
    pos = 0
    for i, n, k in spans + [(len(s), 0, -1)]:
        for part in re.split(r"(\x01[^\x02]*\x02)", s[pos:i]):
            if not part:
                continue
            if part[0] == "\x01":
                f, n_, e = part[1:-1].split("\x03")
                out.append((f, int(n_), e))
            else:
                out.append(("text", part))
        if k >= 0:
            out.append(("printNamedBit", k, s[i : i + n].strip()))
        pos = i + n
    assert out[0][0] == "text"
    m = re.match(r"\s*([a-z0-9_]+)", out[0][1])
    mn = m[1]
    rest = out[0][1][m.end() :]
    base = re.sub(r"_(e32|e64|sdwa|dpp|e64_dpp)$", "", mn) if mn.startswith("v_") else mn
    rest = mn[len(base) :] + rest
    out[0] = ("text", rest)
    if not rest:
        out.pop(0)
    second = None
    res = []
    for x in out:
        if x[0] == "text" and " :: " in x[1]:
            m = re.fullmatch(r"(.*) :: (v_dual_\w+) ?(.*)", x[1])
            second = m[2]
            if m[1]:
                res.append(("text", m[1]))
            res.append(("second", 0, ""))
            if m[3]:
                res.append(("text", m[3]))
        elif x[0] == "printVOPDst" and x[1] == 0:
            m = re.match(r"\s*" + re.escape(mn) + r"(\w*) ", sr)
            res.append((x[0], 0, m[1]))
        else:
            res.append(x)
    # implied vcc
    for m in re.finditer(r"\x01printDefaultVccOperand\x03(\d+)\x03\x02", sv or ""):
        before = sv[: m.start()].count(", ")
        first = m[1] == "1"
        n = 0
        for j, x in enumerate(res):
            if x[0] == "text":
                n += x[1].count(", ")
            elif n == before and x[0] in (
                "printOperand",
                "printVOPDst",
                "printRegularOperand",
                "printOperandAndFPInputMods",
                "printOperandAndIntInputMods",
                "printVINTRPDst",
            ):
                res.insert(j if first else j + 1, ("vcc_first" if first else "vcc", 0, ""))
                break
        else:
            raise ValueError((t.name(op), sv, res))
        if first and x[0] == "printVOPDst":
            raise ValueError((t.name(op), sv))
    if t.desc(op)["ts"] >> 18 & 1:
        so = next(k for k, n in t.named(op).items() if n == 5)
        j = next(j for j, x in enumerate(res) if x[0] == "printOperand" and x[1] == so)
        res.insert(j + 1, ("format", next(k for k, n in t.named(op).items() if n == 54), ""))
    return base, second, tuple(res)
