"""Encodings of the memory instruction families: field values to bytes (microcode formats of AMD's ISA documents)."""

# SGPR operand numbers that name "no register" (ISA documents, "Scalar Operands").
NULL = {9: 0x7F, 10: 0x7D, 11: 0x7C, 12: 0x7C}
M0 = {9: 124, 10: 124, 11: 125, 12: 125}


def pack(words, fields):
    value = 0
    for low, content in fields:
        value |= content << low
    return value.to_bytes(4 * words, "little")


def flat(gen, seg, op, mode, vaddr, saddr, imm, data, vdst, lds=False, ret=False, sve_bit=None, scale=False):
    """FLAT, GLOBAL, SCRATCH. `saddr` is an SGPR operand number; `mode` is off, saddr, sv, ss, svs or st.

    `sve_bit` is the position of "scratch VGPR enable" on GPUs of the GFX9 family that have it. `scale` is the bit of
    `scale_offset` on gfx1250.
    """
    seg_number = {"flat": 0, "scratch": 1, "global": 2}[seg]
    none = NULL[gen]
    if mode == "st" and gen == 10:
        s = 0x7F  # RDNA2: 0x7d is "VGPR alone" and 0x7f is "immediate alone"
    elif mode in ("saddr", "addtid", "ss", "svs"):
        s = saddr
    else:
        s = none
    if seg == "flat" and gen in (9, 10):
        s = {9: 0x7F, 10: 0x7D}[gen] if gen == 10 else 0
    sve = int(seg == "scratch" and mode in ("sv", "svs"))
    if mode in ("ss", "st"):
        vaddr = 0
    if gen == 12:
        return pack(3, [(26, 0x3B), (24, seg_number), (14, op), (0, s), (32, vdst), (48, int(scale)), (49, sve),
                        (52, int(ret)), (55, data), (64, vaddr), (72, imm & 0xFFFFFF)])
    if gen == 11:
        return pack(2, [(26, 0x37), (18, op), (16, seg_number), (14, int(ret)), (0, imm & 0x1FFF), (32, vaddr),
                        (40, data), (48, s), (55, sve), (56, vdst)])
    width = 0xFFF if gen == 10 else 0x1FFF
    bit13 = sve if sve_bit else int(lds)
    return pack(2, [(26, 0x37), (18, op), (16, int(ret)), (14, seg_number), (13, bit13), (0, imm & width),
                    (32, vaddr), (40, data), (48, s), (56, vdst)])


def mubuf(gen, op, vaddr, data, srsrc, soffset, imm, offen, idxen, lds=False, ret=False, tfe=False, fmt=1):
    """MUBUF and, on GFX12, both VBUFFER groups: `fmt` is the format. `srsrc` is the number of the first SGPR."""
    if gen == 12:
        return pack(3, [(26, 0x31), (22, int(tfe)), (14, op), (0, soffset), (32, data), (41, srsrc), (52, int(ret)),
                        (55, fmt), (62, offen), (63, idxen), (64, vaddr), (72, imm)])
    if gen == 11:
        return pack(2, [(26, 0x38), (18, op), (14, int(ret)), (0, imm), (32, vaddr), (40, data), (48, srsrc // 4),
                        (53, int(tfe)), (54, offen), (55, idxen), (56, soffset)])
    return pack(2, [(26, 0x38), (18, op & 0x7F), (16, int(lds)), (14, int(ret)), (13, idxen), (12, offen), (0, imm),
                    (32, vaddr), (40, data), (48, srsrc // 4), (55, int(tfe) if gen == 10 else 0), (56, soffset)]
                + ([(25, op >> 7)] if gen == 10 else []))


def mtbuf(gen, op, vaddr, data, srsrc, soffset, imm, offen, idxen, fmt):
    """MTBUF up to GFX11; `fmt` holds the format bits."""
    common = [(26, 0x3A), (0, imm), (32, vaddr), (40, data), (48, srsrc // 4), (56, soffset)]
    if gen == 11:
        return pack(2, common + [(19, fmt & 0x7F), (15, op), (54, offen), (55, idxen)])
    if gen == 10:
        return pack(2, common + [(19, fmt & 0x7F), (16, op & 7), (53, op >> 3), (13, idxen), (12, offen)])
    return pack(2, common + [(19, fmt & 0x7F), (15, op), (13, idxen), (12, offen)])


def smem(gen, op, sbase, sdata, imm, soffset, glc=False, scale=False):
    """SMEM. `imm` and `soffset` are None where the form lacks them; `sbase` is the number of the first SGPR."""
    if gen == 9:
        fields = [(26, 0x30), (18, op), (16, int(glc)), (6, sdata), (0, sbase // 2)]
        if imm is not None:
            fields += [(17, 1), (32, imm & 0x1FFFFF)]
        if soffset is not None:
            fields += [(14, 1), (57, soffset)] if imm is not None else [(32, soffset)]
        return pack(2, fields)
    s = NULL[gen] if soffset is None else soffset
    if gen == 12:
        return pack(2, [(26, 0x3D), (13, op), (6, sdata), (0, sbase // 2), (32, (imm or 0) & 0xFFFFFF), (56, int(scale)),
                        (57, s)])
    return pack(2, [(26, 0x3D), (18, op), (6, sdata), (0, sbase // 2), (32, (imm or 0) & 0x1FFFFF), (57, s)])


def ds(gen, op, addr, data0, data1, vdst, offset0, offset1):
    fields = [(26, 0x36), (0, offset0), (8, offset1), (32, addr), (40, data0), (48, data1), (56, vdst)]
    return pack(2, fields + [(17 if gen == 9 else 18, op)])
