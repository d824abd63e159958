#!/usr/bin/env python3
"""Writes the case files of this folder; see README.md. `--check` compares instead of writing; names select files."""

import json
import math
import pathlib
import random
import re
import sys
import zlib

import microcode as enc
import llvm
import model
import values
import writes

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 300_000  # bytes of one case file
M32, M64 = model.M32, model.M64

# Instructions without cases; README.md gives the reason of each group.
LEFT_OUT = re.compile(
    r"ds_gws_|ds_ordered_count|ds_append|ds_consume|ds_bvh_|_src2_|s_prefetch|s_buffer_prefetch|s_dcache_discard"
    r"|s_atc_probe|_block$|s_memtime|s_memrealtime|s_get_waveid|s_icache|ds_barrier|_async_|_prefetch_|tensor_"
)
# gfx1250: no source gives the fields of its buffer resource.
LEFT_OUT_GFX125 = re.compile("buffer_")

OFFSETS = {  # smallest and largest immediate of a family and generation (assembler limits)
    "flat": {9: (0, 4095), 10: (0, 2047), 11: (0, 4095), 12: (-(1 << 23), (1 << 23) - 1)},
    "global": {9: (-4096, 4095), 10: (-2048, 2047), 11: (-4096, 4095), 12: (-(1 << 23), (1 << 23) - 1)},
    "buffer": {9: (0, 4095), 10: (0, 4095), 11: (0, 4095), 12: (0, (1 << 23) - 1)},
    "s_load": {9: (-(1 << 20), (1 << 20) - 1), 10: (-(1 << 20), (1 << 20) - 1), 11: (-(1 << 20), (1 << 20) - 1),
               12: (-(1 << 23), (1 << 23) - 1)},
    "s_buffer": {9: (0, (1 << 20) - 1), 10: (0, (1 << 20) - 1), 11: (0, (1 << 20) - 1), 12: (0, (1 << 23) - 1)},
}


class Rng:
    """Draws from random bits alone, so that the sequence does not depend on the version of Python."""

    def __init__(self, seed):
        self.source = random.Random(seed)

    def below(self, n):
        return self.source.getrandbits(40) % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def pick(self, items):
        return items[self.below(len(items))]

    def chance(self, percent):
        return self.below(100) < percent


def scalar_name(gen, number):
    if number < 102 or gen > 9 and number < 106:
        return f"s{number}"
    if number in (106, 107):
        return ("vcc_lo", "vcc_hi")[number - 106]
    if 108 <= number < 124:
        return f"ttmp{number - 108}"
    if number == enc.M0[gen]:
        return "m0"
    raise ValueError(number)


# ---- Forms: what to encode -----------------------------------------------------------------------------------------


def forms(gpu):
    """All (family, form, opcode, flags) that the probe tries."""
    gen = model.GPUS[gpu]["gen"]
    modes = {"gfx90a": ("sv", "ss"), "gfx1030": ("sv", "ss", "st")}.get(gpu, ("sv", "ss", "svs", "st"))
    ops = range(256) if gen >= 11 else range(128)
    flat_ops = range(256) if gen == 12 else range(128)
    for op in flat_ops:
        for ret in (False, True):
            lds = (False, True) if gpu in ("gfx90a", "gfx1030") and not ret else (False,)
            for flag in lds:
                yield "flat", "off", op, ret, flag
                for mode in ("off", "saddr"):
                    yield "global", mode, op, ret, flag
                if model.is_gfx125(gpu):
                    yield "flat", "saddr", op, ret, flag
                    yield "flat", "saddr+", op, ret, flag
                    yield "global", "saddr+", op, ret, flag
                for mode in modes:
                    if ret:
                        continue
                    yield "scratch", mode, op, ret, flag
                    if model.is_gfx125(gpu) and "v" in mode:
                        yield "scratch", mode + "+", op, ret, flag
    buffer_ops = () if model.is_gfx125(gpu) else ops if gen != 10 else range(256)
    for op in buffer_ops:
        for ret in (False, True):
            for lds in (False, True) if gen in (9, 10) and not ret else (False,):
                for mode in ("off", "offen", "idxen", "bothen"):
                    yield "buffer", mode, op, ret, lds
    if gen < 12:
        for op in range(16):
            for mode in ("off", "offen", "idxen", "bothen"):
                yield "tbuffer", mode, op, False, False
    for op in range(64) if gen == 12 else range(256):
        for ret in (False, True):
            for mode in ("imm", "sgpr", "both"):
                yield "smem", mode, op, ret, False
                if model.is_gfx125(gpu) and mode != "imm":
                    yield "smem", mode + "+", op, ret, False
    for op in range(256):
        # A field that the instruction does not use must be zero: address, data0, data1, vdst.
        for mode in ("a0", "ad", "a01", "a0d", "a01d", "a", "0", "d", ""):
            yield "ds", mode, op, False, False


def random_fields(rng, gpu, form, plain):
    """Operand fields of a form: the encoded bytes and what the model needs. `plain` gives small even numbers."""
    family, mode, op, ret, lds = form
    # A plus: with `scale_offset`.
    scale, mode = mode.endswith("+"), mode.rstrip("+")
    gen = model.GPUS[gpu]["gen"]
    even = lambda top: 2 * rng.below(top // 2)
    vaddr, data, vdst = (2, 12, 20) if plain else (even(250), even(240), even(240))
    if not plain and rng.chance(10):
        vdst = vaddr
    f = {"family": family, "mode": mode, "lds": lds, "scale": scale}

    def imm(kind):
        low, high = OFFSETS[kind][gen]
        if plain:
            return 0
        return rng.pick([0, 4, 8, 16, high, rng.between(low, high), rng.between(max(low, -64), 64),
                         rng.between(low, -1) if low < 0 else high - 3])

    def sgpr(align, extra=True):
        if plain:
            return 8
        if extra and rng.chance(12):
            return rng.pick([106] if align == 2 else [106, 107, 108, 115, enc.M0[gen]]) if align < 4 \
                else rng.pick([108, 112])
        return align * rng.below(100 // align)

    if family in ("flat", "global", "scratch"):
        f["imm"] = imm("flat" if family == "flat" else "global")
        if family == "scratch":
            s = sgpr(1)
            f["saddr"] = [scalar_name(gen, s)]
        else:
            s = sgpr(2)
            f["saddr"] = [scalar_name(gen, s), scalar_name(gen, s + 1)]
        f["vaddr"] = vaddr
        code = enc.flat(gen, family, op, mode, vaddr, s, f["imm"], data, vdst, lds, ret,
                        13 if gpu in ("gfx942", "gfx950") else None, scale)
    elif family in ("buffer", "tbuffer"):
        f["imm"] = imm("buffer")
        f["offen"], f["idxen"] = int(mode in ("offen", "bothen")), int(mode in ("idxen", "bothen"))
        f["vaddr"] = vaddr if f["offen"] or f["idxen"] else 0
        srsrc = sgpr(4)
        f["srsrc"] = [scalar_name(gen, srsrc + i) for i in range(4)]
        if plain or rng.chance(40):
            number, f["soffset"] = (128, 0) if gen < 12 else (enc.NULL[12], 0)
        elif gen < 12 and rng.chance(12):
            f["soffset"] = rng.between(1, 64)
            number = 128 + f["soffset"]
        else:
            number = sgpr(1)
            f["soffset"] = scalar_name(gen, number)
        if family == "buffer":
            tfe = not plain and not lds and rng.chance(8) and gen > 9
            # From 128 on, GFX12 has the instructions with a format.
            f["format"] = rng.between(1, 127) if gen == 12 and op >= 128 and not plain else 1
            code = enc.mubuf(gen, op, f["vaddr"], data, srsrc, number, f["imm"], f["offen"], f["idxen"], lds, ret, tfe,
                             f["format"])
        else:
            fmt = f["format"] = 0x24 if plain else rng.between(1, 127)
            code = enc.mtbuf(gen, op, f["vaddr"], data, srsrc, number, f["imm"], f["offen"], f["idxen"], fmt)
        f["family"] = "buffer"
    elif family == "smem":
        sbase = sgpr(4)
        f["sbase_number"] = sbase
        # The family of the immediate depends on the opcode, so the value stays in the range of both.
        low, high = OFFSETS["s_load"][gen]
        f["imm"] = 16 if plain else rng.pick([0, 4, 16, 64, high, high - 3, rng.between(0, high), rng.between(0, 4096),
                                             rng.between(low, -1), -4, -8])
        number = sgpr(1)
        f["soffset"] = scalar_name(gen, number)
        if mode == "imm":
            f["soffset"] = None
        if mode == "sgpr":
            f["imm"] = 0
        code = enc.smem(gen, op, sbase, 16 if plain else 4 * rng.below(22), None if mode == "sgpr" else f["imm"],
                        None if mode == "imm" else number, ret, scale)
    else:
        o0, o1 = (0, 0) if plain else rng.pick(
            [(0, 0), (rng.below(256), rng.below(256)), (rng.below(256), 0), (255, 255), (4 * rng.below(64), 1), (0, 1)])
        f.update(vaddr=vaddr, imm=o0 | o1 << 8, offset0=o0, offset1=o1)
        data1 = even(240) if not plain else 16
        code = enc.ds(gen, op, vaddr * ("a" in mode), data * ("0" in mode),
                      data1 * ("1" in mode), vdst * ("d" in mode), o0, o1)
    if model.GPUS[gpu]["cdna"] and family != "smem" and not plain and not lds and rng.chance(10):
        # Data in accumulation registers.
        code = (int.from_bytes(code, "little") | 1 << (25 if family == "ds" else 55)).to_bytes(8, "little")
    return code, f


def confirm(gen, f, inst):
    """Compares the fields with the operands that LLVM decoded. Raises where an operand of the address differs."""
    ops = [o.split(":", 1) for o in inst.operands]
    regs = {o[1] for o in ops if o[0] == "Reg"}
    imms = {int(o[1]) for o in ops if o[0] == "Imm"}
    name = inst.opcode
    need = []
    if f["family"] in ("flat", "global", "scratch"):
        mode = f["mode"]
        if f["family"] in ("flat", "global") and mode == "saddr":
            assert "SADDR" in name, name
        if f["family"] == "scratch":
            kind = "svs" if "_SVS" in name else "st" if "_ST_" in name else "ss" if "_SADDR" in name else "sv"
            assert kind == mode, (name, mode)
        if mode in ("sv", "svs", "saddr"):
            need.append(f"VGPR{f['vaddr']}")
        if mode == "off":
            need.append(f"VGPR{f['vaddr']}_VGPR{f['vaddr'] + 1}")
        bits = {9: 13, 10: 12, 11: 13, 12: 24}[gen]  # the decoder can leave the field unsigned
        assert f["imm"] in {model.signed(i, bits) if f["imm"] < 0 else i for i in imms}, (inst, f["imm"])
    elif f["family"] == "buffer":
        assert ("OFFEN" in name or "BOTHEN" in name) == bool(f["offen"]), name
        assert ("IDXEN" in name or "BOTHEN" in name) == bool(f["idxen"]), name
        if f["offen"] or f["idxen"]:
            need.append(f"VGPR{f['vaddr']}" + (f"_VGPR{f['vaddr'] + 1}" if f["offen"] and f["idxen"] else ""))
        assert f["imm"] in imms, (inst, f["imm"])
        if isinstance(f["soffset"], int) and gen < 12:
            assert f["soffset"] in imms
    elif f["family"] == "smem":
        assert f["mode"] == "sgpr" or f["imm"] in imms or f["imm"] & 0x1FFFFF in imms \
            or f["imm"] & 0xFFFFFF in imms, (inst, f["imm"])
    elif not re.search("ADDTID|NOP|SWIZZLE|PERMUTE", name):
        need.append(f"VGPR{f['vaddr']}")
        assert {f["offset0"], f["offset1"]} <= imms or f["imm"] in imms, inst
    if "ADDTID" in name:
        need = []
    if f["family"] != "ds":
        groups = {"buffer": ["srsrc", "soffset"], "smem": ["sbase", "soffset"]}.get(f["family"], [])
        if f["mode"] in ("saddr", "ss", "svs", "addtid"):
            groups = ["saddr"]
        for group in groups:
            value = [f[group]] if isinstance(f[group], str) else f[group] or []
            if isinstance(value, list) and all(re.fullmatch(r"s\d+", r) for r in value) and value:
                need.append("_".join(f"SGPR{r[1:]}" for r in value))
    for reg in need:
        assert reg in regs, (inst, reg)


# ---- State: register contents --------------------------------------------------------------------------------------


class Vector:
    """A VGPR in compact form: base + step * lane modulo 2^32, with exceptions."""

    def __init__(self, base, step=0, exceptions=None):
        self.base, self.step, self.exceptions = base & M32, step & M32, exceptions or {}

    def __call__(self, lane):
        return self.exceptions.get(lane, (self.base + self.step * lane) & M32)

    def json(self):
        form = [hex(self.base)]
        if self.step or self.exceptions:
            form.append(hex(self.step))
        if self.exceptions:
            form.append({str(k): hex(v) for k, v in sorted(self.exceptions.items())})
        return form


def pointer(rng):
    return rng.pick([
        0x7F00_0000_0000 + rng.below(1 << 38), 0x7F12_3456_0000 + rng.below(1 << 16),
        0x5500_0000_0000 + rng.below(1 << 40),
        rng.below(1 << 24), 0, 0x1_0000_0000 * rng.below(1 << 15) + 0xFFFF_FFF0, M64 - rng.below(64),
        0xFFFF_8000_0000_0000 + rng.below(1 << 32), 0x7FFF_FFFF_0000 + rng.below(1 << 14)])


def odd_pointer(rng):
    """A pointer that no allocation has: an aperture or a hole."""
    return rng.pick([model.LDS_APERTURE_HIGH << 32 | rng.below(1 << 15),
                     model.PRIVATE_APERTURE_HIGH << 32 | rng.below(1 << 16),
                     0x1234_5678_0000_0000 + rng.below(1 << 40), 0x8000_0000_0000 + rng.below(1 << 20),
                     0xDEAD_BEEF_DEAD_BEEF, 0xBEBE_BEBE_BEBE_BEBE, 0xFFFF_7FFF_0000_0000 + rng.below(1 << 30)])


def vector_pair(rng, lanes):
    if rng.chance(15):  # all lanes in one aperture
        high = rng.pick([model.LDS_APERTURE_HIGH, model.PRIVATE_APERTURE_HIGH])
        return Vector(4 * rng.below(4096), rng.pick([0, 4, 8, 1])), Vector(high)
    p = pointer(rng) if rng.chance(70) else odd_pointer(rng)
    low = Vector(p, rng.pick([0, 4, 8, 16, 256, 4096, rng.below(1 << 20), -4]))
    high = Vector(p >> 32)
    for _ in range(rng.below(4) if rng.chance(50) else 0):
        lane, other = rng.below(lanes), rng.pick([pointer, odd_pointer])(rng)
        low.exceptions[lane], high.exceptions[lane] = other & M32, other >> 32
    return low, high


def resource(rng, gen, name):
    """Four words of a buffer resource."""
    base = rng.pick([0x7F00_0000_0000 + 16 * rng.below(1 << 32), 0x5000_0000 + 16 * rng.below(1 << 20)])
    stride = rng.pick([0, 0, 4, 16, 64, 12, 4 * rng.below(64), 256])
    records = rng.pick([4 * rng.below(1024), 64, 32, 4096, 1 << 20, 0xFFFF_FFFF, 1 << 30, 0, rng.below(100)])
    word1, word3 = base >> 32 & 0xFFFF | stride << 16, rng.below(4) << 21
    if rng.chance(3):
        return [0, 0, 0, 0]
    if not name.startswith("s_"):
        if rng.chance(35):
            stride = 16 * (stride // 16)
            word1 = base >> 32 & 0xFFFF | stride << 16 | (rng.pick([1 << 30, 3 << 30]) if gen >= 11 else 1 << 31)
        if rng.chance(20):
            word3 |= 1 << 23
            if gen == 9 and rng.chance(50):
                word3 |= rng.below(4) << 15
    if gen >= 10:
        word3 |= rng.below(4) << 28 | rng.between(1, 60) << 12
    elif not word3 >> 23 & 1:
        word3 |= 4 << 15 | rng.below(8) << 12
    return [base & M32, word1, records, word3]


def random_state(rng, gpu, f):
    """Registers that an instruction reads: named scalars, numbered vectors, scratch base."""
    gen, lanes = model.GPUS[gpu]["gen"], model.GPUS[gpu]["lanes"]
    scalars, vectors, base = {}, {}, None
    family, name = f["family"], f["name"]
    put64 = lambda pair, value: scalars.update({pair[0]: value & M32, pair[1]: value >> 32})
    if family in ("flat", "global") and f["mode"] == "off":
        low, high = vector_pair(rng, lanes)
        vectors.update({f["vaddr"]: low, f["vaddr"] + 1: high})
        base = 0x7E00_0000_0000 + 0x1000 * rng.below(1 << 24) if family == "flat" else None
    elif family in ("flat", "global"):
        put64(f["saddr"], pointer(rng) if rng.chance(80) else odd_pointer(rng))
        if f["mode"] != "addtid":
            top = 31 if model.GPUS[gpu]["cdna"] or model.is_gfx125(gpu) else 32
            if f["scale"]:
                top = 24
            v = Vector(rng.pick([0, rng.below(1 << 16), rng.below(1 << top), (1 << top) - 4096]),
                       rng.pick([0, 4, 8, 16, rng.below(1 << 12)]))
            for _ in range(rng.below(3)):
                v.exceptions[rng.below(lanes)] = rng.below(1 << top)
            vectors[f["vaddr"]] = v
    elif family == "scratch":
        base = 0x7E00_0000_0000 + 0x1000 * rng.below(1 << 24)
        total = rng.between(max(0, f["imm"]), max(0, f["imm"]) + (1 << rng.between(3, 22)))
        rest = total - f["imm"]  # the registers add up to this
        if f["mode"] == "svs":
            s = rng.below(rest + 1) if gen < 12 or rng.chance(60) else rest + rng.below(1 << 16)
            scalars[f["saddr"][0]] = s
            rest -= s
        elif f["mode"] == "ss":
            scalars[f["saddr"][0]] = rest
        if f["mode"] in ("sv", "svs"):
            vectors[f["vaddr"]] = Vector(rest // model.scale_of(f), rng.pick([0, 1, 4, 8, 64]))
    elif family == "buffer":
        words = resource(rng, gen, name)
        edge = f["offen"] and not f["idxen"] and "_dwordx" in name or re.search("_b(64|96|128)$", name)
        edge = edge and rng.chance(30)
        if edge:  # a raw buffer that ends inside of the range of the lanes
            records = f["imm"] + 4 * rng.between(1, 4 * lanes)
            words = [words[0], words[1] & 0xFFFF, records, 3 << 28 if gen > 9 else 4 << 15]
        for n, w in zip(f["srsrc"], words):
            scalars[n] = w
        if not isinstance(f["soffset"], int):
            if f["soffset"] in scalars:
                raise model.Open("register twice")
            scalars[f["soffset"]] = rng.pick([0, 16, 64, 256, 4 * rng.below(1024), rng.below(1 << 20)])
            if edge:
                scalars[f["soffset"]] = 0
        at = f["vaddr"]
        if edge and f["offen"] and not f["idxen"]:
            vectors[at] = Vector(4 * rng.below(8), rng.pick([4, 8, 16]))
            at = None
        elif f["idxen"]:
            vectors[at] = Vector(rng.pick([0, 0, 5, rng.below(64), 1000]), rng.pick([0, 1, 1, 2, 7]))
            if rng.chance(30):
                vectors[at].exceptions[rng.below(lanes)] = rng.pick([M32, 1 << 20, 1 << 31])
            at += 1
        if f["offen"] and at is not None:
            vectors[at] = Vector(rng.pick([0, 0, 4, 4 * rng.below(256), rng.below(1 << 16)]),
                                 rng.pick([0, 4, 4, 8, 16, 1]))
            if rng.chance(30):
                vectors[at].exceptions[rng.below(lanes)] = rng.pick([1 << 31, 1 << 24, rng.below(1 << 30)])
    elif family == "smem":
        if "_buffer_" in name:
            for n, w in zip(f["sbase"], resource(rng, gen, name)):
                scalars[n] = w
        else:
            p = pointer(rng) if rng.chance(75) else odd_pointer(rng)
            put64(f["sbase"], p if rng.chance(20) else p & ~3)
        if f["soffset"] is not None:
            if f["soffset"] in scalars:
                raise model.Open("register twice")
            scalars[f["soffset"]] = rng.pick([0, 8, 64, 4 * rng.below(4096), rng.below(1 << 20), 1 << 31, 1 << 22])
    else:
        if model.describe(name)[0] == "none":
            pass
        elif "_addtid_" not in name:
            vectors[f["vaddr"]] = Vector(rng.pick([0, 4 * rng.below(4096), rng.below(1 << 16)]),
                                        rng.pick([0, 4, 4, 8, 16, 33]))
            for _ in range(rng.below(3)):
                vectors[f["vaddr"]].exceptions[rng.below(lanes)] = rng.below(1 << 16)
    if f["lds"] or "_lds_" in name or "_addtid_" in name and family == "ds":
        if "m0" in scalars:
            raise model.Open("register twice")
        scalars["m0"] = 4 * rng.below(4096)
    if rng.chance(4):  # a capture without one of the registers
        keys = sorted(scalars) + sorted(vectors) + (["flat_scratch"] if base is not None else [])
        if keys:
            gone = rng.pick(keys)
            scalars.pop(gone, None)
            vectors.pop(gone, None)
            base = None if gone == "flat_scratch" else base
    return scalars, vectors, base


def random_exec(rng, lanes):
    full = (1 << lanes) - 1
    return rng.pick([full, full, full, rng.source.getrandbits(lanes), 1 << rng.below(lanes), full >> rng.below(lanes),
                     full & 0x5555_5555_5555_5555, 0 if rng.chance(20) else full])


# ---- Cases ---------------------------------------------------------------------------------------------------------


def runs(values):
    """[first lane, count, first value, step] over all lanes; the value is null where it is unknown."""
    out = []
    for lane, value in enumerate(values):
        if out:
            first, count, start, step = out[-1]
            if start is None and value is None or start is not None and value is not None and (
                    abs(value - start) < 1 << 40 if count == 1 else value == start + step * count):
                out[-1] = [first, count + 1, start, value - start if count == 1 and value is not None else step]
                continue
        out.append([lane, 1, value, 0])
    return [[a, n, v if v is None else hex(v), s] for a, n, v, s in out]


def mask(lanes, test):
    return hex(sum(1 << lane for lane, value in enumerate(lanes) if value is not None and test(value)))


def evaluate(gpu, f, scalars, vectors, base, allowed):
    """The result fields of a case. Raises Open where the readings disagree or the text is too long."""
    lanes = model.GPUS[gpu]["lanes"]
    state = model.State(scalars, vectors, base)
    name = f["name"]
    if f["family"] == "smem":
        try:
            address, dropped = model.scalar(gpu, f, state)
        except model.Unknown:
            return {"scalar": None}
        return {"scalar": hex(address), **({"dropped": "0x1"} if dropped else {})}
    every = (1 << lanes) - 1
    result = model.lanes_of(gpu, f, state, model.BASE_READING, every)
    got = [result[lane] for lane in range(lanes)]
    at = lambda get: runs([None if g is None else get(g) for g in got])
    out = {"addresses": at(lambda g: g.address)}
    if model.is_two_address(name):
        out["addresses2"] = at(lambda g: g.second)
    spaces = {g.space for g in got if g}
    if f["family"] == "scratch" or "private" in spaces:
        out["offsets"] = at(lambda g: g.offset)
    for space in ("lds", "private", "hole"):
        if f["family"] in ("flat", "global") and space in spaces:
            out[space] = mask(got, lambda g: g.space == space)
    if any(g and g.dropped for g in got):
        out["dropped"] = mask(got, lambda g: g.dropped)
    partial = {}
    for lane, g in enumerate(got):
        if g and g.partial:
            partial.setdefault(",".join(map(str, g.partial)), []).append(lane)
    if partial:
        out["partial"] = [[[int(p) for p in k.split(",")], hex(sum(1 << l for l in v))] for k, v in partial.items()]
    if f["lds"] or "_lds_" in name:
        try:
            out["lds_addresses"] = runs([model.lds_target(gpu, f, state, lane) for lane in range(lanes)])
        except model.Unknown:
            out["lds_addresses"] = runs([None] * lanes)
    if len(json.dumps(out)) > allowed and "partial" not in out:
        raise model.Open("length")
    if any(result != model.lanes_of(gpu, f, state, rd, every) for rd in model.readings(gpu, f["family"])):
        raise model.Open("readings")
    return out


def make_case(rng, gpu, f, text):
    """One case, or None where no state was found on which the sources agree."""
    lanes = model.GPUS[gpu]["lanes"]
    access, size = model.describe(f["name"])
    if f["name"].startswith("tbuffer_"):
        size = model.format_bytes(gpu, f["format"])
    space = {"ds": "lds", "scratch": "private", "flat": "flat"}.get(f["family"], "global")
    allowed = 1200 if rng.chance(4) else 285  # long cases are useful but few
    for attempt in range(80):
        if attempt == 40:
            allowed = 2000
        try:
            scalars, vectors, base = ({}, {}, None) if access == "none" else random_state(rng, gpu, f)
            result = {} if access == "none" else evaluate(gpu, f, scalars, vectors, base, allowed - 120)
        except model.Open:
            continue
        active = random_exec(rng, lanes)
        case = {"text": text} if active == (1 << lanes) - 1 else {"text": text, "exec": hex(active)}
        if access == "none":
            return {**case, "access": "none"}
        m0 = scalars.pop("m0", None)
        case["registers"] = {k: hex(v) for k, v in scalars.items()}
        case["registers"].update({f"v{k}": v.json() for k, v in vectors.items()})
        if m0 is not None:
            case["m0"] = hex(m0)
        if base is not None:
            case["flat_scratch"] = hex(base)
        case.update(access=access, size=size, space=space, **result)
        if len(json.dumps(case)) < allowed or "partial" in case:
            return case
    return None


def complete(gpu, f, inst):
    """Adds the mnemonic and what depends on it. Returns False for an instruction or form without cases."""
    name = inst.text.split(" ")[0]
    f["name"], gen = name, model.GPUS[gpu]["gen"]
    if LEFT_OUT.search(name) or model.is_gfx125(gpu) and LEFT_OUT_GFX125.search(name):
        return False
    if f.get("scale") and (model.describe(name)[0] == "none" or "_tr" in name or "_addtid" in name):
        return False  # the unit of the offset is that of an element
    if f.get("scale") and "scale_offset" not in inst.text:
        return False
    if f["family"] == "global" and "_addtid" in name:
        if f["mode"] == "off":
            return False  # LLVM accepts the form; the documents give an SGPR base only
        f["mode"] = "addtid"
    if f["family"] == "smem":
        if model.describe(name)[0] == "none":
            return True
        first = f["sbase_number"]
        count = 4 if "_buffer_" in name else 2
        f["sbase"] = [scalar_name(gen, first + i) for i in range(count)]
        if "_buffer_" in name and f["imm"] < 0:
            return False
    return True


def collect(gpu, note):
    gen = model.GPUS[gpu]["gen"]
    rng = Rng(zlib.crc32(gpu.encode()))
    probes = {}
    for form in forms(gpu):
        code, f = random_fields(rng, gpu, form, True)
        probes.setdefault(code, (form, f))
    found = {}
    skipped = set()
    for code, inst in llvm.disassemble(gpu, list(probes)).items():
        form, f = probes[code]
        if complete(gpu, f, inst):
            key = (inst.opcode, "lds" if form[0] == "ds" else form[1], form[4])
            if key not in found or form[0] == "ds" and len(form[1]) > len(found[key][0][1]):
                found[key] = (form, inst)
        else:
            skipped.add(inst.text.split(" ")[0])
    # Several random operand sets of each form; the disassembler says which are valid.
    wanted = {}
    for key, (form, inst) in sorted(found.items()):
        for _ in range(8):
            code, f = random_fields(rng, gpu, form, False)
            wanted.setdefault(code, (key, f))
    texts = llvm.disassemble(gpu, list(wanted))
    candidates = {}
    for code, (key, f) in wanted.items():
        inst = texts.get(code)
        if inst is None or not complete(gpu, f, inst):
            continue
        # A zero offset or another register can select another opcode of the same form.
        key = (inst.opcode.replace("_agpr", ""), *key[1:])
        if model.describe(f["name"])[0] != "none":
            confirm(gen, f, inst)
        candidates.setdefault(key, []).append((f, inst))
    note.update(opcodes=sorted({k[0] for k in found}), skipped=sorted(skipped),
                missing=sorted(k for k in found if k not in candidates))
    return candidates, found


def check_description(tables, inst, f):
    """Compares access and size with LLVM's tables: loads and stores by flag, data width by register operand."""
    access, size = model.describe(f["name"])
    _, _, _, _, loads, stores = tables.desc(inst.number)
    if access == "none":
        return
    expect = {"load": (True, False), "store": (False, True), "atomic": (True, True)}[access]
    if not f["lds"] and "_lds_" not in f["name"]:
        assert (loads, stores) == expect, (inst, access)
    if size is None or size < 4 or f["lds"] or "_lds_" in f["name"] or " tfe" in inst.text:
        return
    registers = [o[4:] for o in inst.operands if o.startswith("Reg:")]
    file = "[ST]" if f["family"] == "smem" else "[VA]GPR"
    widths = {4 * (r.count("_") + 1) for r in registers if re.match(file, r)}
    if f["family"] == "smem":
        widths = {w for r, w in ((r, 4 * (len(re.findall(r"\d+", r)))) for r in registers) if w}
    factor = 2 if model.is_two_address(f["name"]) and "write" not in f["name"] and "store_" not in f["name"] else 1
    if "cmpswap" in f["name"]:
        factor = 2  # data and compare value; the buffer form returns into the same pair
    assert size * factor in widths or "VCC" in registers, (inst, size, widths)


def spread(items):
    """The same items in an order without runs of neighbours."""
    step = next(s for s in range(97, 997) if math.gcd(s, len(items)) == 1)
    return [items[i * step % len(items)] for i in range(len(items))]


def build(gpu, tables, note):
    candidates, found = collect(gpu, note)
    rng = Rng(zlib.crc32(gpu.encode()) ^ 0x5EED)
    lines, used, failed, written = [], 0, set(), set()
    mnemonics = {}
    for key in sorted(candidates):
        mnemonics.setdefault(candidates[key][0][0]["name"], []).append(key)

    def add(key, turn):
        nonlocal used
        if used > LIMIT - 250:
            return False
        options = candidates[key]
        for step in range(len(options)):
            f, inst = options[(turn + step) % len(options)]
            check_description(tables, inst, f)
            case = make_case(rng, gpu, f, inst.text)
            if case is None:
                continue
            line = json.dumps(case, separators=(",", ":")) + "\n"
            if used + len(line) > LIMIT:
                return False
            used += len(line)
            written.add(key)
            lines.append((f["family"], f["name"], len(lines), line))
            return True
        failed.add(key)
        return True

    # Each mnemonic once, then each form (opcode) once, then more operands of all forms.
    first = [keys[0] for _, keys in sorted(mnemonics.items())]
    # GFX9: one form of each scalar atomic is enough; the forms of s_load_dword and its like cover the operands.
    rest = [key for name, keys in sorted(mnemonics.items()) for key in keys[1:] if not re.match("s_.*atomic", name)]
    order = first + rest
    for turn in range(40):
        # A step that is coprime to the length spreads the cases that still fit over all forms.
        if not all([add(key, turn) for key in (order if turn == 0 else spread(order))]):
            break
    note.update(forms=len(candidates), forms_written=len(written), cases=len(lines),
                mnemonics=len({l[1] for l in lines}), bytes=used,
                without=sorted(set(mnemonics) - {l[1] for l in lines}), failed=sorted(failed))
    return "".join(l[3] for l in sorted(lines))


def main():
    check = "--check" in sys.argv
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")] or [*model.GPUS, "writes", "values"]
    tables = llvm.Tables()
    bad = False
    for name in chosen:
        note = {}
        if name == "values":
            content = values.build(note)
        else:
            content = writes.build(tables, note) if name == "writes" else build(name, tables, note)
        path = HERE / f"{name}.jsonl"
        if check:
            same = path.exists() and path.read_text() == content
            bad |= not same
            print(f"{path.name}: {'same' if same else 'DIFFERENT'}")
        else:
            path.write_text(content)
            print(path.name, json.dumps({k: v for k, v in note.items() if k != "opcodes"}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
