"""Texts, operands and implicit registers of words by LLVM's instruction descriptions: `operands.py PROCESSOR WAVE WORDS OUT`.

It needs what scripts/make-isa needs. WORDS has 20 bytes a word. OUT has a line a word: `text<TAB>operands`, or `-` for an invalid word.
"""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "targets" / "isa" / "make"))

from probe import Target, register  # noqa: E402

RECORD = 20


def operand(target, kind, value):
    if kind != 1:
        return str(value)
    file, first, dwords = register(target, value)
    return "-" if file == "none" else f"{file} {first[1] if file == 'special' else first}+{dwords}"


def shape(target, description, operands):
    """The form of `shape` in operands.rs."""
    texts = []
    for at, (kind, value) in enumerate(operands):
        constraints = description["operands"][at][3] if at < len(description["operands"]) else 0
        written = ">" if at < description["written"] else ""
        tied = f" tied {constraints >> 4 & 15}" if constraints & 1 else ""
        texts.append(written + operand(target, kind, value) + tied)
    return ", ".join([*texts, *(f"{verb} {name}" for verb in ("reads", "writes") for name in sorted(set(description[verb])))])


def main(processor, wave, words, out):
    target, descriptions = Target(processor, int(wave)), {}
    with open(words, "rb") as words, open(out, "w") as out:
        while word := words.read(RECORD):
            decoded = target.decode(word, text=True)
            if decoded[0] <= 0:
                out.write("-\n")
                continue
            _, op, _, operands, text = decoded
            if op not in descriptions:
                descriptions[op] = target.description(op)
            out.write(f"{text.removeprefix(chr(9))}\t{shape(target, descriptions[op], operands)}\n")


main(*sys.argv[1:])
