"""Registers that instructions write, from LLVM's instruction tables: explicit and implicit definitions."""

import json
import pathlib
import re

import llvm
import model

# One instruction a line, of each class. A line that a GPU's assembler rejects is absent for that GPU.
LINES = (pathlib.Path(__file__).parent / "writes.txt").read_text().splitlines()


def names(register, wave32):
    """The 32-bit registers of an LLVM register name, as gdb and the disassembler write them."""
    register = re.sub(r"_(gfx\w+|vi|ci|si|LO16|HI16)$", "", register)
    if register.startswith("SGPR_NULL"):
        return []
    if m := re.fullmatch(r"((?:VGPR|SGPR|AGPR|TTMP)\d+_?)+", register):
        kind = {"VGPR": "v", "SGPR": "s", "AGPR": "a", "TTMP": "ttmp"}
        return [kind[k] + n for k, n in re.findall(r"(VGPR|SGPR|AGPR|TTMP)(\d+)", register)]
    if register in ("VCC", "EXEC", "FLAT_SCR"):
        name = {"FLAT_SCR": "flat_scratch"}.get(register, register.lower())
        return [f"{name}_lo"] if wave32 else [f"{name}_lo", f"{name}_hi"]
    return [register.lower().replace("flat_scr_", "flat_scratch_")]


def build(tables, note):
    lines, kept = [], set()
    for gpu, facts in model.GPUS.items():
        for inst in llvm.assemble(gpu, LINES).values():
            name, operands, defs, implicit, _, _ = tables.desc(inst.number)
            assert name == inst.opcode and operands >= len(inst.operands) - 1, (inst, name, operands)
            written = []
            for operand in inst.operands[:defs]:
                assert operand.startswith("Reg:"), inst
                written += names(operand[4:], False)
            for register in implicit:
                written += names(register, facts["lanes"] == 32)
            record = {"gpu": gpu, "text": inst.text, "writes": sorted(set(written))}
            lines.append(json.dumps(record, separators=(",", ":")))
            kept.add(inst.opcode.rsplit("_", 1)[0])
    note.update(lines=len(lines), opcodes=len(kept), source=len(LINES))
    return "\n".join(lines) + "\n"
