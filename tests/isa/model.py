"""Lane addresses of AMDGPU memory instructions, as a plain model.

The model takes decoded operand fields (register numbers, immediates, flags), never instruction text, and returns the
address of each lane. It shares no code with the crate. Sources of the rules:

* "GFX9", "CDNA", "RDNA2", "RDNA3", "RDNA4": AMD's instruction set documents, chapters on scalar memory, vector
  memory buffers, flat memory and data share. "CDNA4" is that of gfx950.
* "UsageDoc": LLVM's AMDGPUUsage document.
* "KFD": the aperture layout of the Linux driver, kfd_flat_memory.c.

A `Reading` holds one flag for each point on which the sources leave a choice. A caller evaluates a case under each
reading and uses it only where all results agree.
"""

import re
from collections import namedtuple

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1

# Wave size is the usual one of the GPU: 64 for the GFX9 family, 32 from GFX10 (UsageDoc, "Target Features").
GPUS = {
    "gfx90a": {"gen": 9, "cdna": True, "lanes": 64},
    "gfx942": {"gen": 9, "cdna": True, "lanes": 64},
    "gfx950": {"gen": 9, "cdna": True, "lanes": 64},
    "gfx1030": {"gen": 10, "cdna": False, "lanes": 32},
    "gfx1100": {"gen": 11, "cdna": False, "lanes": 32},
    "gfx1201": {"gen": 12, "cdna": False, "lanes": 32},
    "gfx1250": {"gen": 12, "cdna": False, "lanes": 32, "gfx125": True},
}

# KFD: both apertures are 4 GiB long and aligned to 4 GiB, so the high 32 bits decide.
LDS_APERTURE_HIGH = 0x0001_0000
PRIVATE_APERTURE_HIGH = 0x0002_0000

READINGS = (
    "saddr_signed",        # CDNA, gfx1250: VGPR offset of an access with SADDR is signed
    "raw_soffset",         # CDNA: the raw range check counts SOFFSET
    "swizzle_soffset",     # the buffer swizzle includes SOFFSET
    "voffset_saturates",   # a VGPR offset plus the immediate beyond 32 bits does not wrap
    "raw_counts_index",    # the raw range check counts index * stride
    "struct_soffset",      # RDNA: the structured range check counts SOFFSET in the offset
    "check_whole",         # an access of a record is checked by its whole length, not by dword
    "hole_by_base",        # a hole is decided on the base value, not on the sum
    "flat_split_by_sum",   # the aperture is decided on the sum, not on the VGPR value
    "scratch_signed",      # scratch register offsets are signed (RDNA4) or unsigned (RDNA3)
)
Reading = namedtuple("Reading", READINGS)
BASE_READING = Reading(*[False] * len(READINGS))


FAMILY_READINGS = {
    "flat": ("saddr_signed", "hole_by_base", "flat_split_by_sum"),
    "global": ("saddr_signed", "hole_by_base"),
    "scratch": ("scratch_signed",),
    "buffer": ("raw_soffset", "swizzle_soffset", "voffset_saturates", "raw_counts_index", "struct_soffset",
               "check_whole"),
    "ds": (),
}


def readings(gpu, family):
    """All readings that the sources allow beside the base one: each single change, and all changes together."""
    apart = {"saddr_signed": GPUS[gpu]["cdna"] or is_gfx125(gpu), "raw_soffset": GPUS[gpu]["cdna"]}
    names = [n for n in FAMILY_READINGS[family] if apart.get(n, True)]
    for n in names:
        yield BASE_READING._replace(**{n: True})
    yield BASE_READING._replace(**{n: True for n in names})


def is_gfx125(gpu):
    return GPUS[gpu].get("gfx125", False)


class Open(Exception):
    """The sources leave the result of this access open."""


class Unknown(Exception):
    """A register that the address needs is missing."""


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


# ---- What an instruction does: access and bytes per lane, by its name ----------------------------------------------

WORDS = {"x2": 2, "x3": 3, "x4": 4, "x8": 8, "x16": 16}
BITS = {"8": 1, "16": 2, "32": 4, "64": 8, "96": 12, "128": 16, "256": 32, "512": 64}


def describe(name):
    """(access, bytes) of a mnemonic. Bytes are None where a buffer format decides; access is "none" without memory."""
    if re.match(r"ds_(swizzle|permute|bpermute|nop)", name):
        return "none", None  # RDNA3 12.x: lane exchange through the LDS hardware; no LDS memory is read or written.
    if re.search(r"_(inv|wb|wbl2|wbinv|wbinvl1|wbinvl1_vol|gl0_inv|gl1_inv|invl2)$", name) or "dcache" in name:
        return "none", None
    # GFX9 8.1, RDNA3 9.1: the format of the resource (or the instruction, for tbuffer) gives the memory size.
    if "_format_" in name:
        return ("store" if "_store_" in name else "load"), None
    # Memory atomics. 32 bits unless the name says 64 (_x2 up to GFX10, _b64 and the like from GFX11).
    if "_atomic_" in name:
        if "_atomic_pk_" in name:
            return "atomic", 4
        wide = name.endswith("_x2") or re.search(r"_[bfui]64$", name)
        return "atomic", 8 if wide else 4
    if name.startswith("ds_"):
        return describe_ds(name)
    access = "store" if "_store_" in name else "load"
    tail = re.split(r"_(?:load|store)_", name, maxsplit=1)[1]
    tail = re.sub(r"^(lds|tr|tr\d+|block|monitor)_", "", tail)
    tail = re.sub(r"^addtid_|_addtid$", "", tail)
    tail = re.sub(r"^d16_hi_|^d16_|_d16_hi$|_d16$", "", tail)
    if m := re.fullmatch(r"dword(x\d+)?", tail):
        return access, 4 * (WORDS[m.group(1)] if m.group(1) else 1)
    if re.fullmatch(r"[us]?byte", tail):
        return access, 1
    if re.fullmatch(r"[us]?short", tail):
        return access, 2
    m = re.fullmatch(r"[a-z]+(\d+)", tail)
    if not m:
        raise ValueError(f"no rule for {name}")
    return access, BITS[m.group(1)]


# Last number of each run of formats with the same components, and the bits of those (RDNA2 and RDNA3, tables of buffer
# formats; RDNA4 has those of RDNA3). GFX9 numbers the data formats from 1 (8.1.8, data format).
FORMATS_GFX9 = [8, 16, 16, 32, 32, 32, 32, 32, 32, 32, 64, 64, 96, 128]
FORMATS_GFX10 = [(6, 8), (13, 16), (19, 16), (22, 32), (29, 32), (36, 32), (43, 32), (49, 32), (55, 32), (61, 32),
                 (64, 64), (71, 64), (74, 96), (77, 128)]
FORMATS_GFX11 = [(6, 8), (13, 16), (19, 16), (22, 32), (29, 32), (30, 32), (31, 32), (35, 32), (41, 32), (47, 32),
                 (50, 64), (57, 64), (60, 96), (63, 128)]


def format_bytes(gpu, number):
    """Bytes of an element of the format in a tbuffer instruction (7 bits); None for a reserved one."""
    gen = GPUS[gpu]["gen"]
    if gen == 9:
        data = number & 15
        return FORMATS_GFX9[data - 1] // 8 if 1 <= data <= len(FORMATS_GFX9) else None
    runs = FORMATS_GFX10 if gen == 10 else FORMATS_GFX11
    return next((bits // 8 for last, bits in runs if 1 <= number <= last), None)


def describe_ds(name):
    """DS: the type at the end of the name is that of one element; 2-address forms access two elements."""
    if name in ("ds_append", "ds_consume"):
        return "atomic", 4
    if m := re.match(r"ds_read_b(\d+)_tr_b\d+$", name):
        return "load", BITS[m.group(1)]  # CDNA4 11.4: each lane reads so many bits, and lanes exchange the elements.
    base = re.sub(r"_addtid|_d16_hi|_d16", "", name)
    if base.startswith("ds_pk_"):
        return "atomic", 4
    size = BITS[re.search(r"_[a-z]+(\d+)$", base).group(1)]
    if re.match(r"ds_(read|load)", base):
        return "load", size
    if re.match(r"ds_(write|store)(?!xchg)", base):
        return "store", size
    return "atomic", size


# ---- Registers -----------------------------------------------------------------------------------------------------


class State:
    """Registers of one wave. Scalars are integers, vectors are functions of the lane; a missing one raises Unknown."""

    def __init__(self, scalars, vectors, flat_scratch):
        self.scalars, self.vectors, self.flat_scratch_base = scalars, vectors, flat_scratch

    def s(self, name):
        if name not in self.scalars:
            raise Unknown(name)
        return self.scalars[name]

    def s64(self, pair):
        return self.s(pair[0]) | self.s(pair[1]) << 32

    def v(self, number, lane):
        if number not in self.vectors:
            raise Unknown(f"v{number}")
        return self.vectors[number](lane)


Lane = namedtuple("Lane", "address space second offset dropped partial")


def lane_of(address, space, second=None, offset=None, dropped=False, partial=()):
    return Lane(address, space, second, offset, dropped, tuple(partial))


def is_hole(address):
    # RDNA4 11.3, GFX9 9: an address whose bits 63:47 differ is outside each aperture.
    high = address >> 47
    return high not in (0, (1 << 17) - 1)


def swizzle_private(base, offset, lane, lanes):
    if base is None:
        return None
    # UsageDoc "Private", ROCdbgapi: dwords of the lanes interleave: one dword of each lane, then the next dword.
    return (base + (offset // 4) * lanes * 4 + lane * 4 + offset % 4) & M64


# ---- Families ------------------------------------------------------------------------------------------------------


def flat(gpu, f, st, lane, rd):
    """flat_*: VGPR pair plus immediate; the aperture test uses the VGPR value (RDNA3 11.2, RDNA4 11.2, 11.3)."""
    if f["mode"] == "saddr":
        # LLVM, gfx1250 (flat.ll, "SADDR"): SGPR[63:0] + VGPR[31:0] + immediate, as of a global access.
        scalar = st.s64(f["saddr"])
        base = (scalar + lane_offset(f, st, lane, rd)) & M64
        if scalar >> 32 != base >> 32:
            raise Open("base and sum in different apertures")
    else:
        base = st.v(f["vaddr"], lane) | st.v(f["vaddr"] + 1, lane) << 32
    total = (base + f["imm"]) & M64
    tested = total if rd.flat_split_by_sum else base
    if is_gfx125(gpu) and tested >> 32 in (LDS_APERTURE_HIGH, PRIVATE_APERTURE_HIGH):
        raise Open("the place of the apertures on gfx1250")
    if tested >> 32 == LDS_APERTURE_HIGH:
        # LDS offset is the low part plus the immediate. The width of the sum (17 bits on RDNA4) is not modelled.
        offset = (base & M32) + f["imm"]
        if not 0 <= offset < 0x10000:
            raise Open("LDS offset outside 64 KiB")
        return lane_of(offset, "lds")
    if tested >> 32 == PRIVATE_APERTURE_HIGH:
        offset = (base & M32) + f["imm"]
        if not 0 <= offset < 1 << 31:
            raise Open("private offset outside 2 GiB")
        lanes = GPUS[gpu]["lanes"]
        return lane_of(swizzle_private(st.flat_scratch_base, offset, lane, lanes), "private", offset=offset)
    return global_lane(gpu, base if rd.hole_by_base else total, total)


def global_lane(gpu, tested, address):
    if is_hole(tested):
        if is_gfx125(gpu):
            raise Open("holes of an address space of 57 bits")
        return lane_of(address, "hole")
    return lane_of(address, "global")


def lane_offset(f, st, lane, rd):
    """The VGPR beside a scalar base; `scale_offset` multiplies it by the bytes of the access (LLVM, gfx1250)."""
    v = st.v(f["vaddr"], lane)
    return (signed(v, 32) if rd.saddr_signed else v) * scale_of(f)


def scale_of(f):
    return describe(f["name"])[1] if f.get("scale") else 1


def global_(gpu, f, st, lane, rd):
    """global_*: no aperture test (RDNA3 11.2)."""
    if f["mode"] == "off":
        # GFX9 9, RDNA3 11.2: VGPR[63:0] + immediate.
        base = st.v(f["vaddr"], lane) | st.v(f["vaddr"] + 1, lane) << 32
        total = base + f["imm"]
    elif f["mode"] == "addtid":
        # RDNA2 10, RDNA3 11.2: SGPR[63:0] + immediate + lane * 4.
        base = st.s64(f["saddr"])
        total = base + f["imm"] + 4 * lane
    else:
        # RDNA3 11.2, RDNA4 11.2: SGPR[63:0] + VGPR[31:0] (unsigned) + immediate.
        base = st.s64(f["saddr"])
        total = base + lane_offset(f, st, lane, rd) + f["imm"]
    total &= M64
    return global_lane(gpu, base if rd.hole_by_base else total, total)


def scratch(gpu, f, st, lane, rd):
    """scratch_*: scratch base + swizzle(VGPR + SGPR + immediate); the sum must not be negative (RDNA3, RDNA4 11.2)."""
    parts = []  # value and factor
    if f["mode"] in ("sv", "svs"):
        parts.append((st.v(f["vaddr"], lane), scale_of(f)))
    if f["mode"] in ("ss", "svs"):
        parts.append((st.s(f["saddr"][0]), 1))
    # RDNA4 11.2 names the registers signed; the older documents do not, so values of 2 GiB and more stay out there.
    sign = GPUS[gpu]["gen"] == 12 or rd.scratch_signed
    offset = sum((signed(p, 32) if sign else p) * scale for p, scale in parts) + f["imm"]
    if not 0 <= offset < 1 << 31:
        raise Open("scratch offset outside 2 GiB")
    lanes = GPUS[gpu]["lanes"]
    return lane_of(swizzle_private(st.flat_scratch_base, offset, lane, lanes), "private", offset=offset)


def descriptor(gpu, words, formatted):
    """Fields of a buffer resource (GFX9 8.1.8, RDNA2 8.1.8, RDNA3 9.1.8, RDNA4 9.1.8)."""
    value = sum(w << 32 * i for i, w in enumerate(words))
    bits = lambda hi, lo: value >> lo & (1 << (hi - lo + 1)) - 1
    gen = GPUS[gpu]["gen"]
    d = {
        "base": bits(47, 0),
        "stride": bits(61, 48),
        "records": bits(95, 64),
        "index_stride": 8 << bits(118, 117),  # word 3, bits 22:21
        "add_tid": bits(119, 119),
        "type": bits(127, 126),
        "oob": bits(125, 124) if gen >= 10 else None,
        "null": value == 0,
    }
    if gen >= 11:
        # RDNA3: 0 no swizzle, 1 elements of 4 bytes, 3 elements of 16 bytes.
        d["element"] = {0: 0, 1: 4, 3: 16}.get(bits(63, 62))
        if d["element"] is None:
            raise Open("swizzle mode 2")
    else:
        d["element"] = 4 if bits(63, 63) else 0
    if gen == 9 and d["add_tid"] and not formatted:
        # GFX9: with ADD_TID_ENABLE the data format bits extend the stride to 18 bits.
        d["stride"] |= bits(114, 111) << 14
    if d["type"] != 0:
        raise Open("resource type")
    return d


def buffer(gpu, f, st, lane, rd):
    """buffer_*, tbuffer_* (GFX9 8.1.5, RDNA2 8.1.5, RDNA3 9.1.5, RDNA4 9.1.5: buffer addressing and range checks)."""
    formatted = "_format_" in f["name"]
    d = descriptor(gpu, [st.s(n) for n in f["srsrc"]], formatted)
    soffset = f["soffset"] if isinstance(f["soffset"], int) else st.s(f["soffset"])
    reg = f["vaddr"]
    index = 0
    if f["idxen"]:
        index = st.v(reg, lane)  # With both enables the pair is (index, offset).
        reg += 1
    if d["add_tid"]:
        index += lane
    voffset = st.v(reg, lane) if f["offen"] else 0
    if index > M32:
        raise Open("index beyond 32 bits")
    # The sum is one of 32 bits; UsageDoc ("relaxed buffer OOB mode") describes a check that saturates instead.
    offset = voffset + f["imm"] if rd.voffset_saturates else (voffset + f["imm"]) & M32
    element = d["element"]
    if element:
        # Swizzled: index_stride records are interleaved by elements.
        inner = offset + soffset if rd.swizzle_soffset else offset
        outer = 0 if rd.swizzle_soffset else soffset
        stride, group = d["stride"], d["index_stride"]
        address = d["base"] + outer
        address += ((index // group) * stride + inner // element * element) * group
        address += index % group * element + inner % element
    else:
        address = d["base"] + soffset + offset + index * d["stride"]
    if address >= 1 << 47:
        raise Open("address beyond 47 bits")
    out = out_of_range(gpu, f, d, rd, index, offset, soffset, formatted)
    partial = [] if all(out) else [i for i, o in enumerate(out) if o]
    return lane_of(address, "global", dropped=all(out), partial=partial)


def out_of_range(gpu, f, d, rd, index, offset, soffset, formatted):
    """For each dword of the access: is it out of range? A dword out of range is not loaded or stored."""
    access, size = describe(f["name"])
    if d["null"]:
        return [True]
    # Unformatted loads and stores are checked for each dword, formats and atomics as a whole (RDNA3 9.1.5.4).
    if size is None:
        pieces = [(0, 16 if rd.check_whole else 1)]  # the format decides the length: both extremes must agree
    elif access == "atomic" or size < 4:
        pieces = [(0, size)]
    else:
        pieces = [(4 * i, 4) for i in range(size // 4)]
    if rd.check_whole and access != "atomic" and size and size > 4 and d["oob"] in (0,):
        pieces = [(0, size)] * len(pieces)
    out = []
    for at, length in pieces:
        position = offset + at
        if GPUS[gpu]["cdna"]:
            if d["add_tid"] and d["element"]:
                out.append(False)  # GFX9 8.1.5: a scratch resource is not checked.
            elif f["idxen"] and d["stride"]:
                out.append(index >= d["records"])
            elif f["idxen"]:
                raise Open("index without stride")
            else:
                last = position + (length - 1 if rd.check_whole else 0)
                last += soffset if rd.raw_soffset else 0
                last += index * d["stride"] if rd.raw_counts_index else 0
                out.append(last >= d["records"])
            continue
        # RDNA2 8.1.5, RDNA3 9.1.5.4, RDNA4 9.1.5.4: OOB_SELECT.
        if d["oob"] == 0:
            inside = position + (soffset if rd.struct_soffset else 0)
            out.append(index >= d["records"] or inside + length > d["stride"])
        elif d["oob"] == 1:
            out.append(index >= d["records"])
        elif d["oob"] == 2:
            out.append(d["records"] == 0)
        else:
            if d["element"]:
                raise Open("raw check of a swizzled resource")
            if soffset > d["records"]:
                raise Open("soffset beyond the records of a raw buffer")
            end = position + length + (index * d["stride"] if rd.raw_counts_index else 0)
            out.append(end > d["records"] - soffset)
    return out


def ds(gpu, f, st, lane, rd):
    """ds_*: offset in the LDS allocation of the work-group (RDNA3 12, GFX9 10)."""
    name = f["name"]
    if "_addtid_" in name:
        # GFX9, RDNA3: LDS base + immediate + M0[15:0] + lane * 4.
        address = f["imm"] + (st.s("m0") & 0xFFFF) + 4 * lane
        return in_lds(address)
    base = st.v(f["vaddr"], lane)
    if is_two_address(name):
        # Both offsets count elements; the st64 and stride64 forms count 64 elements.
        element = describe(name)[1] * (64 if "64_" in name.split("_b")[0] + "_" else 1)
        return in_lds(base + f["offset0"] * element)._replace(second=in_lds(base + f["offset1"] * element).address)
    return in_lds(base + f["imm"])


def is_two_address(name):
    return bool(re.match(r"ds_(read2|write2|wrxchg2|load_2addr|store_2addr|storexchg_2addr)", name))


def in_lds(address):
    if address >= 1 << 17:
        raise Open("LDS offset that the hardware can wrap")
    return lane_of(address, "lds")


def lds_target(gpu, f, st, lane):
    """LDS offset that a load to LDS fills (GFX9 8.1.9, CDNA3 9.1.9): M0[15:0] + immediate + lane * 4.

    Loads of 12 and 16 bytes fill lane * 16 (CDNA4 9.1.9).
    """
    address = (st.s("m0") & 0xFFFF) + f["imm"] + (16 if (describe(f["name"])[1] or 4) > 8 else 4) * lane
    if address < 0:
        raise Open("negative LDS offset")
    return address


def scalar(gpu, f, st):
    """s_load*, s_store*, s_atomic*, s_scratch_*, s_buffer_*: (address, dropped) (GFX9 7, RDNA2 7, RDNA3 8, RDNA4 8)."""
    name = f["name"]
    # All parts count bytes; the two low bits of each part are ignored. RDNA4 loads of 8 and 16 bits keep them.
    low = 0 if re.search(r"_[ui](8|16)$", name) else 3
    register = 0
    if f["soffset"] is not None:
        register = st.s(f["soffset"]) * scale_of(f)
    # Undefined in the documents, also with zero in the place of the register. For a negative constant LLVM 22 changes the
    # base instead.
    if f["imm"] + register < 0:
        raise Open("negative sum of offsets")
    if not low and name.endswith("16") and (st.s(f["sbase"][0]) | f["imm"] | register) & 1:
        raise Open("odd part of a 16-bit scalar load")
    if "_scratch_" in name:
        # GFX9 7.2: s_scratch accesses count the register in units of 64 bytes.
        register *= 64
    if "_buffer_" in name:
        d = descriptor(gpu, [st.s(n) for n in f["sbase"]], True)
        if d["element"] or d["add_tid"]:
            raise Open("scalar access with a swizzled resource")
        offset = (f["imm"] & ~low) + (register & ~low)
        access, size = describe(name)
        limit = max(d["stride"], 1) * d["records"]
        out = {offset + at >= limit for at in range(0, size, min(size, 4))} | {offset + size > limit}
        if len(out) > 1:
            raise Open("scalar access across the end of the buffer")
        return d["base"] + offset & M64, out.pop()
    return (st.s64(f["sbase"]) & ~low) + (f["imm"] & ~low) + (register & ~low) & M64, False


FAMILIES = {"flat": flat, "global": global_, "scratch": scratch, "buffer": buffer, "ds": ds}


def lanes_of(gpu, f, st, rd, active):
    """One `Lane` for each active lane, None for a lane whose address needs a missing register."""
    result = {}
    for lane in range(GPUS[gpu]["lanes"]):
        if not active >> lane & 1:
            continue
        try:
            result[lane] = FAMILIES[f["family"]](gpu, f, st, lane, rd)
        except Unknown:
            result[lane] = None
    return result
