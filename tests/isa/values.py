"""Values that instructions compute, by the interpreter that runs the fixtures (tests/fixtures/models/machine.py)."""

import json
import pathlib
import random
import re
import sys

import llvm
import model

HERE = pathlib.Path(__file__).parent
sys.path.append(str(HERE.parent / "fixtures" / "models"))
from machine import Memory, Wave  # noqa: E402

# One instruction a line. A line that a GPU's assembler rejects is absent for that GPU.
LINES = (HERE / "values.txt").read_text().splitlines()
LANES = 2
ADDRESS, BASE = 0x100, 0x7F0000100000
CORNERS = [0, 1, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x800000, 0xFFFFFF80]
CARRIES = re.compile(r"v_mad_")  # unused by addresses
CONDITIONS = re.compile(r"v_cmp_|v_(?!mad)\w+_co_|s_(add|addc|sub|subb)_u32|s_(add|sub)_co_(ci_)?u32|s_cmp_")


class Code:
    instructions = ()
    path = pathlib.Path("values.txt")


class Instruction:
    def __init__(self, text, size):
        self.mnemonic, _, self.operands = text.partition(" ")
        self.text, self.address, self.next = text, ADDRESS, ADDRESS + size

    def __repr__(self):
        return self.text


def named(text):
    """The dwords of the registers in a text: (file, number)."""
    found = set()
    for file, one, first, last in re.findall(r"\b([vsa])(?:(\d+)|\[(\d+):(\d+)\])", text):
        found |= {(file, int(one))} if one else {(file, n) for n in range(int(first), int(last) + 1)}
    return sorted(found)


def execute(rng, gpu, inst):
    """One case: registers before the instruction, and the written ones after it."""
    lanes = model.GPUS[gpu]["lanes"]

    def value():
        return rng.choice(CORNERS) if rng.random() < 0.3 else rng.getrandbits(32) >> rng.choice([0, 0, 8, 20])

    wave = Wave(Code, gpu, lanes, BASE, Memory(), bytearray(), 0, lambda name, lane: 0)
    wave.exec, wave.vcc, wave.scc = rng.choice([1, 2, 3]), rng.getrandbits(2), rng.getrandbits(1)
    before = {"exec": wave.exec, "vcc": wave.vcc, "scc": wave.scc}
    for file, number in named(inst.text):
        if file == "s":
            wave.s[number] = before[f"s{number}"] = value()
        else:
            row = {"v": wave.v, "a": wave.a}[file][number]
            row[:LANES] = before[f"{file}{number}"] = [value() for _ in range(LANES)]
    wave.step(Instruction(inst.text, len(inst.encoding)))
    after = {}
    for file, number in sorted(wave.touched):
        if file == "s" and CARRIES.match(inst.text):
            continue
        if file == "s":
            after[f"s{number}"] = wave.s[number]
        else:
            row = {"v": wave.v, "a": wave.a}[file][number]
            after[f"{file}{number}"] = [row[lane] if before["exec"] >> lane & 1 else None for lane in range(LANES)]
    if wave.exec != before["exec"]:
        after["exec"] = wave.exec
    if CONDITIONS.match(inst.text):
        # The mask of a vector instruction, by lane.
        mask = re.match(r"v_cmp\w+ (\w+)|\S+ \S+, (\w+)", inst.text)
        name = mask.group(1) or mask.group(2)
        if inst.text.startswith("s_"):
            after["condition"] = [wave.scc]
        elif name != "null":
            bits = wave.vcc if name.startswith("vcc") else wave._scalar(f"s{re.search(r'[0-9]+', inst.text[mask.start(1 if mask.group(1) else 2):]).group()}", 32)
            after["condition"] = [bits >> lane & 1 if before["exec"] >> lane & 1 else None for lane in range(LANES)]
            for file, number in named(inst.text[: inst.text.index(",", inst.text.index(name))]):
                if file == "s":
                    after.pop(f"s{number}", None)
    return {"before": before, "next": BASE + ADDRESS + len(inst.encoding), "after": after}


def build(note):
    """Four cases of each text, on the GPUs that have it by turns."""
    by_text = {}
    for gpu in model.GPUS:
        for text, inst in llvm.assemble(gpu, LINES).items():
            by_text.setdefault(text, []).append((gpu, inst))
    lines = []
    for text, found in by_text.items():
        rng = random.Random(text)
        for turn in range(4):
            gpu, inst = found[turn % len(found)]
            lines.append(json.dumps({"gpu": gpu, "text": text} | execute(rng, gpu, inst), separators=(",", ":")))
    note.update(cases=len(lines), texts=len(by_text))
    return "\n".join(lines) + "\n"
