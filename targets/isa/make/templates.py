"""How LLVM prints an opcode: its mnemonic, and the order of texts and printers with their operands."""

import os
import re

from names import MTBUF, ROLES
from probe import hook, unhook

MARK = re.compile("\x01([^\x02]*)\x02")
VCC = "\x01printDefaultVccOperand\x03%d\x03\x02"
# Printers of operands, behind or before which an implied vcc can stand.
OPERANDS = ("printOperand", "printVOPDst", "printRegularOperand", "printOperandAndFPInputMods", "printOperandAndIntInputMods", "printVINTRPDst")
# Their operand is not the one that they print: it is undefined.
WITHOUT_OPERAND = re.compile("\x01(print(?:OpSel|OpSelHi|NegLo|NegHi)\x03)\\d+")


def marked(target, op, operands):
    """The text with a mark in place of each printer. A printer that the compiler inlined prints itself: nothing, as all numbers are 0."""
    text = target.print(op, operands)
    return WITHOUT_OPERAND.sub("\x01\\g<1>0", text) if text is not None else None


def inlined(target, op, registers):
    """(text, spans): the text where all inlined printers print, which are named bits, and (start, length, operand) of each."""
    zeros = [(kind, value if kind == 1 else 0) for kind, value in registers]
    change = lambda operands, at, value: [*operands[:at], (2, value), *operands[at + 1 :]]
    text = marked(target, op, zeros)
    shown = [at for at, (kind, _) in enumerate(zeros) if kind == 2 and marked(target, op, change(zeros, at, 1)) != text]
    operands = zeros
    for at in shown:
        operands = change(operands, at, 1)
    text, spans = marked(target, op, operands), []
    for at in shown:
        without = marked(target, op, change(operands, at, 0))
        length, start = len(text) - len(without), len(os.path.commonprefix([text, without]))
        if length <= 0:
            raise SystemExit(f"make-isa: {target.name(op)}: operand {at} takes text away: {text!r}")
        # A named bit begins with a space.
        while start > 0 and text[start] != " " and text[start - 1] == text[start + length - 1]:
            start -= 1
        spans.append((start, length, at))
    return text, sorted(spans)


def items(text, spans):
    """[(printer, operand, text)]"""
    found, at = [], 0
    for start, length, operand in [*spans, (len(text), 0, None)]:
        last = at
        for mark in MARK.finditer(text, at, start):
            if mark.start() > last:
                found.append(("text", 0, text[last : mark.start()]))
            printer, number, extra = mark[1].split("\x03")
            found.append((printer, int(number), extra))
            last = mark.end()
        if start > last:
            found.append(("text", 0, text[last:start]))
        if operand is not None:
            found.append(("printNamedBit", operand, text[start : start + length].strip()))
        at = start + length
    return found


def with_vcc(target, op, operands, found):
    """Adds an implied vcc: LLVM's printers of operands print it. Only registers and vcc itself are marked here."""
    hook(["printDefaultVccOperand", "printRegOperand"])
    text = target.print(op, operands) or ""
    unhook()
    text = re.sub("\x01Q\x03[^\x02]*\x02", "Q", text)
    text = re.sub(", \x01R\x03[^\x02]*\x02", VCC % 0, text)
    text = re.sub("\x01R\x03[^\x02]*\x02, ", VCC % 1, text)
    if target.name(op).startswith("EXP"):
        return found
    for mark in re.finditer("\x01printDefaultVccOperand\x03(\\d+)\x03\x02", text):
        is_first, commas, place = mark[1] == "1", text[: mark.start()].count(", "), 0
        for at, (printer, _, extra) in enumerate(found):
            if printer == "text":
                place += extra.count(", ")
            elif place == commas and printer in OPERANDS:
                found.insert(at if is_first else at + 1, ("vcc_first" if is_first else "vcc", 0, ""))
                break
        else:
            raise SystemExit(f"make-isa: {target.name(op)}: no place of vcc in {text!r}")
    return found


def template(target, op, operands):
    """(mnemonic, second mnemonic of a pair, items); the mnemonics are without the suffix of their encoding."""
    operands = [(1 if kind == 1 else 2, value) for kind, value in operands]
    hook()
    found = items(*inlined(target, op, operands))
    unhook()
    hook(["printRegularOperand"])
    regular = target.print(op, operands)
    unhook()
    match = re.match(r"\s*([a-z0-9_]+)", found[0][2])
    name, rest = match[1], found[0][2][match.end() :]
    base = re.sub(r"_(e32|e64|sdwa|dpp|e64_dpp)$", "", name) if name.startswith("v_") else name
    rest = name[len(base) :] + rest
    found[:1] = [("text", 0, rest)] if rest else []
    result, second = [], None
    for printer, operand, extra in found:
        pair = printer == "text" and re.fullmatch(r"(.*) :: (v_dual_\w+) ?(.*)", extra)
        if pair:
            second = pair[2]
            result += [("text", 0, text) for text in [pair[1]] if text] + [("second", 0, "")] + [("text", 0, text) for text in [pair[3]] if text]
        elif printer == "printVOPDst" and operand == 0:
            # The suffix depends on the opcode, not on its operands.
            result.append((printer, 0, re.match(r"\s*" + re.escape(name) + r"(\w*) ", regular)[1]))
        else:
            result.append((printer, operand, extra))
    result = with_vcc(target, op, operands, result)
    if target.description(op)["target"] >> MTBUF & 1:
        places = {ROLES.get(number): at for at, number in target.named(op).items()}
        at = result.index(("printOperand", places["soffset"], ""))
        result.insert(at + 1, ("format", places["format"], ""))
    if base == "s_version":
        result = [("version" if printer != "text" else printer, operand, extra) for printer, operand, extra in result]
    return base, second, tuple(result)


def with_addresses(found, roles):
    """Replaces the list of addresses of an image instruction by one item: other fields change its length."""
    result, is_inside, is_list = [], False, "vaddr1" in roles
    for printer, operand, extra in found:
        is_address = printer != "text" and roles[operand] in ("vaddr", "vaddr0")
        if printer == "text" and extra.endswith("["):
            is_inside = True
            result += [("text", 0, extra[:-1])] if extra[:-1] else []
        elif is_inside and printer == "text" and extra.startswith("]"):
            is_inside = False
            result += [("text", 0, extra[1:])] if extra[1:] else []
        elif is_address and (is_inside or is_list):
            result.append(("addresses", operand, ""))
        elif not is_inside:
            result.append((printer, operand, extra))
    return tuple(result)
