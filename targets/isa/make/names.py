"""LLVM's internal numbers that no header names: of operands (OpName), of operand types and of target flags, with anchors."""

# OpName, as getNamedOperandIdx takes it. Two names that mean the same to a user share one role.
ROLES = dict(
    enumerate(
        "vdst src0 vdata vaddr srsrc soffset offset cpol vdata_in swz saddr addr data0 gds data1 data1 waitvdst waitvmvsrc attr attrchan "
        "offset0 offset1 vdst_in tgt src1 src2 src3 vm compr en src0_modifiers clamp omod op_sel".split()
    )
)
ROLES |= {44: "idx", 48: "sdst", 49: "simm16", 50: "sdata", 51: "sbase", 53: "imm", 54: "format"}
ROLES |= dict(
    enumerate(
        "vaddr0 vaddr1 vaddr2 vaddr3 r128 old dpp_ctrl row_mask bank_mask bound_ctrl src1_modifiers dst_sel dst_unused src0_sel src1_sel "
        "src2_modifiers bitop3 byte_sel scale_sel op_sel_hi neg_lo neg_hi wait_exp high cbsz abid blgp scale_src0 scale_src1 vdst1 fi vdst1 "
        "index_key_16bit index_key_8bit matrix_a_reuse matrix_b_reuse".split(),
        55,
    )
)
ROLES |= dict(
    enumerate(
        "index_key_32bit matrix_a_fmt matrix_b_fmt matrix_a_scale matrix_b_scale matrix_a_scale_fmt matrix_b_scale_fmt srsrc dmask dim a16 tfe "
        "unorm lwe da vaddr4 vaddr5 vaddr6 vaddr7 vaddr8 vaddr9 vaddr10 vaddr11 ray_origin_out ray_dir_out ssamp d16 ssamp dpp8 vdstX vdstY "
        "src0X_modifiers src0X vsrc1X_modifiers vsrc1X src0Y_modifiers src0Y vsrc1Y_modifiers vsrc1Y vsrc2Y src2Y vsrc2Y_modifiers vsrc2X src2X "
        "immX vsrc2X_modifiers".split(),
        92,
    )
)
NAMES = 138

# Opcodes whose operands must have these roles, in this order: another numbering fails here.
ANCHORS = {
    "V_ADD_F32_e64_vi": "vdst src0_modifiers src0 src1_modifiers src1 clamp omod",
    "S_LOAD_DWORD_IMM_vi": "sdst sbase offset cpol",
    "BUFFER_LOAD_DWORD_OFFEN_vi": "vdata vaddr srsrc soffset offset cpol swz",
    "GLOBAL_LOAD_DWORD_SADDR_vi": "vdst saddr vaddr offset cpol",
    "IMAGE_SAMPLE_V1_V1_gfx11": "vdata vaddr0 srsrc ssamp dmask dim unorm cpol r128 a16 tfe lwe d16",
    "V_ADD_F32_dpp_gfx11": "vdst old src0_modifiers src0 src1_modifiers src1 dpp_ctrl row_mask bank_mask bound_ctrl fi",
    "V_DUAL_ADD_F32_e32_X_ADD_F32_e32_gfx11": "vdstX vdstY src0X vsrc1X src0Y vsrc1Y",
}

# The type of an operand's numbers (crates/isa/src/text/immediate.rs) by MCOI's and SIDefines' operand types.
TYPES = {0: 0, 4: 0, 1: 1, 2: 11} | dict(enumerate((1, 2, 3, 1, 4, 5, 6, 7, 8, 8, 10, 9, 1, 1, 3, 1, 2, 5, 6, 1, 4, 10, 7, 8, 1), 13))
TYPES |= {41: 1, 42: 1, 43: 4}

# Bits of TSFlags.
ENCODINGS = [
    ("sopp", 6), ("sopk", 5), ("sop1", 2), ("sop2", 3), ("sopc", 4), ("smem", 19), ("ds", 25), ("flat", 24), ("mubuf", 17), ("mtbuf", 18),
    ("mimg", 20), ("vimage", 21), ("vsample", 22), ("exp", 23), ("vopd", 30), ("vinterp", 29), ("ldsdir", 28), ("vintrp", 13), ("vop3p", 12),
    ("vop3", 10), ("vopc", 9), ("vop2", 8), ("vop1", 7),
]  # fmt: skip
GLOBAL, SCRATCH, GWS, MTBUF = 51, 56, 62, 18
DPP, SDWA, PACKED, OP_SEL, WMMA, SWMMAC, MAI = 15, 14, 49, 42, 59, 63, 54
# Flags of effects.rs, in order: bits of MCInstrDesc's flags, then of TSFlags.
DESCRIPTION_FLAGS = (19, 20, 10, 11, 7, 5, 8, 9)
TARGET_FLAGS = (57, 58, 33, 34, 37, 32, 41, 60)


# Encodings whose opcodes have no names of operands: roles by the number of operands that the encoding has.
SOP1, VINTRP = 2, 13
UNNAMED = {
    (SOP1, 2): ("sdst", "src0"),
    (VINTRP, 4): ("vdst", "src0", "attr", "attrchan"),
    (VINTRP, 5): ("vdst", "vdst_in", "src0", "attr", "attrchan"),
}


def roles(description, operands):
    """Roles of operands of which none has a name."""
    bit = next((bit for bit in (SOP1, VINTRP) if description["target"] >> bit & 1), None)
    if bit == SOP1 and len(operands) == 1:
        return ("sdst" if operands[0][3] else "src0",)
    return UNNAMED.get((bit, len(operands)))
