//! Texts of the effects: written registers, counters, control flow. Expected values are those of AMD's ISA documents and
//! of LLVM's AMDGPU back end.

use super::{access, decoded, effects, instruction, range};
use crate::isa::{
    Control, Counter, DecodeError, Direction, Effects, Family, RegisterFile, RegisterRange, UNKNOWN_MSB, Wait,
};

/// Processor, text and the written registers; `~` marks those whose old value matters.
#[rustfmt::skip]
const WRITES: &[(&str, &str, &str)] = &[
    ("gfx90a", "v_add_u32_e32 v1, v2, v3", "v1"),
    ("gfx90a", "v_add_co_u32_e32 v0, vcc, v1, v2", "v0 vcc"),
    ("gfx90a", "v_addc_co_u32_e64 v0, s[4:5], v1, v2, s[6:7]", "v0 s[4:5]"),
    ("gfx1100", "v_add_co_ci_u32_e64 v1, null, v2, v3, vcc_lo", "v1"),
    ("gfx1100", "v_mad_u64_u32 v[0:1], s2, v3, v4, v[5:6]", "v[0:1] s2"),
    ("gfx1201", "v_mad_co_u64_u32 v[0:1], s2, v3, v4, v[5:6]", "v[0:1] s2"),
    ("gfx90a", "v_div_scale_f64 v[0:1], s[2:3], v[4:5], v[4:5], v[6:7]", "v[0:1] s[2:3]"),
    ("gfx90a", "v_swap_b32 v1, v2", "v1 v2"),
    ("gfx950", "v_permlane32_swap_b32_e32 v1, v2", "~v1 ~v2"),
    ("gfx1100", "v_dual_add_f32 v1, v2, v3 :: v_dual_mov_b32 v4, v5", "v1 v4"),
    ("gfx1100", "v_dual_fmac_f32 v1, v2, v3 :: v_dual_mov_b32 v4, v5", "~v1 v4"),
    ("gfx90a", "v_cmp_eq_u32_e32 vcc, v1, v2", "vcc"),
    ("gfx90a", "v_cmp_eq_u32_e64 s[2:3], v1, v2", "s[2:3]"),
    ("gfx1030", "v_cmp_eq_u32_e32 vcc_lo, v1, v2", "vcc_lo"),
    ("gfx90a", "v_cmpx_eq_u32_e64 s[2:3], v1, v2", "s[2:3] exec"),
    ("gfx1030", "v_cmpx_eq_u32_e64 v1, v2", "exec"),
    ("gfx90a", "s_and_saveexec_b64 s[2:3], vcc", "s[2:3] exec scc"),
    ("gfx1030", "s_andn1_wrexec_b32 s2, s3", "s2 exec_lo scc"),
    ("gfx90a", "s_mov_b64 exec, -1", "exec"),
    ("gfx1030", "s_mov_b32 exec_lo, s3", "exec_lo"),
    ("gfx90a", "s_add_u32 s0, s1, s2", "s0 scc"),
    ("gfx90a", "s_bfe_u32 s0, s1, 0x10010", "s0 scc"),
    ("gfx90a", "s_mul_i32 s0, s1, s2", "s0"),
    ("gfx90a", "s_mul_hi_u32 s0, s1, s2", "s0"),
    ("gfx1201", "s_add_nc_u64 s[0:1], s[2:3], s[4:5]", "s[0:1]"),
    ("gfx1201", "s_mul_u64 s[0:1], s[2:3], s[4:5]", "s[0:1]"),
    ("gfx1201", "s_add_f32 s0, s1, s2", "s0"),
    ("gfx1201", "s_cmp_lt_f32 s1, s2", "scc"),
    ("gfx90a", "s_cmp_lg_u32 s1, s2", "scc"),
    ("gfx90a", "s_bitcmp1_b32 s1, 3", "scc"),
    ("gfx90a", "s_cselect_b32 s0, s1, s2", "s0"),
    ("gfx90a", "s_cmov_b32 s0, s1", "~s0"),
    ("gfx90a", "s_bitset1_b32 s0, 31", "~s0"),
    ("gfx90a", "s_addk_i32 s0, 0x10", "~s0 scc"),
    ("gfx90a", "s_mulk_i32 s0, 0x10", "~s0"),
    ("gfx90a", "s_getpc_b64 s[0:1]", "s[0:1]"),
    ("gfx90a", "s_mov_b32 m0, s1", "m0"),
    ("gfx90a", "s_mov_b32 flat_scratch_lo, s1", "flat_scratch_lo"),
    ("gfx1030", "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s1", "~flat_scratch_hi"),
    ("gfx1201", "s_setreg_b32 hwreg(HW_REG_WAVE_SCRATCH_BASE_HI), s1", "~flat_scratch_hi"),
    ("gfx1201", "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 4), 3", "~mode"),
    ("gfx1030", "s_denorm_mode 15", "mode"),
    ("gfx1030", "s_getreg_b32 s0, hwreg(HW_REG_MODE)", "s0"),
    ("gfx1201", "s_barrier_signal_isfirst -1", "scc"),
    ("gfx90a", "v_readfirstlane_b32 s3, v1", "s3"),
    ("gfx90a", "v_readlane_b32 s3, v1, 5", "s3"),
    ("gfx90a", "v_writelane_b32 v3, s1, 5", "~v3"),
    ("gfx90a", "v_fmac_f32_e32 v1, v2, v3", "~v1"),
    ("gfx90a", "v_mac_f32_e32 v1, v2, v3", "~v1"),
    ("gfx90a", "v_dot2c_f32_f16_e32 v1, v2, v3", "~v1"),
    ("gfx90a", "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf", "~v1"),
    ("gfx90a", "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xa bank_mask:0xf bound_ctrl:1", "~v1"),
    ("gfx90a", "v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", "v1"),
    ("gfx90a", "v_add_u32_sdwa v1, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:DWORD", "~v1"),
    ("gfx1100", "v_mov_b16_e32 v1.h, v2.l", "~v1"),
    ("gfx90a", "v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]", "a[0:31]"),
    ("gfx942", "v_smfmac_f32_16x16x32_f16 a[0:3], v[2:3], v[4:7], v1", "~a[0:3]"),
    ("gfx90a", "v_accvgpr_write_b32 a1, v2", "a1"),
    ("gfx90a", "v_nop", ""),
    ("gfx90a", "global_load_dwordx2 v[0:1], v[0:1], off", "v[0:1]"),
    ("gfx90a", "global_load_short_d16_hi v1, v[2:3], off", "~v1"),
    ("gfx90a", "global_store_dword v[0:1], v2, off", ""),
    ("gfx90a", "global_load_dword v[2:3], off lds", ""),
    ("gfx942", "global_load_lds_dword v[2:3], off", ""),
    ("gfx90a", "global_atomic_add v1, v[2:3], v4, off glc", "v1"),
    ("gfx90a", "global_atomic_add v[2:3], v4, off", ""),
    ("gfx90a", "flat_atomic_cmpswap_x2 v[0:1], v[2:3], v[4:7] glc", "v[0:1]"),
    ("gfx90a", "buffer_atomic_cmpswap_x2 v[0:3], off, s[0:3], 0 glc", "v[0:1]"),
    ("gfx90a", "buffer_atomic_add v1, off, s[0:3], 0", ""),
    ("gfx942", "buffer_atomic_add v1, off, s[0:3], 0 sc0", "v1"),
    ("gfx942", "buffer_atomic_add v1, off, s[0:3], 0 sc1", ""),
    ("gfx1201", "buffer_atomic_add_u32 v1, off, s[0:3], null th:TH_ATOMIC_RETURN", "v1"),
    ("gfx1201", "buffer_atomic_add_u32 v1, off, s[0:3], null th:TH_ATOMIC_NT", ""),
    ("gfx1201", "buffer_atomic_add_u32 v1, off, s[0:3], null th:TH_ATOMIC_0x5", "v1"),
    ("gfx90a", "s_load_dwordx2 s[0:1], s[0:1], 0x0", "s[0:1]"),
    ("gfx900", "s_store_dword s1, s[2:3], 0x10", ""),
    ("gfx900", "s_atomic_cmpswap s[0:1], s[2:3], 0x10 glc", "s0"),
    ("gfx90a", "ds_read2_b32 v[0:1], v2 offset1:1", "v[0:1]"),
    ("gfx90a", "ds_read_u8_d16_hi v0, v2", "~v0"),
    ("gfx90a", "ds_add_rtn_u32 v0, v1, v2", "v0"),
    ("gfx90a", "ds_add_u32 v1, v2", ""),
    ("gfx90a", "ds_append v5", "v5"),
    ("gfx90a", "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,1)", "v0"),
    ("gfx1100", "ds_bvh_stack_rtn_b32 v1, v0, v2, v[3:6]", "v1 v0"),
    ("gfx1030", "image_load v[0:2], v[3:4], s[0:7] dmask:0x3 dim:SQ_RSRC_IMG_2D tfe", "v[0:2]"),
    ("gfx1030", "image_store v[0:1], v[3:4], s[0:7] dmask:0x3 dim:SQ_RSRC_IMG_2D", ""),
    ("gfx1030", "image_sample v[0:1], [v2, v9], s[0:7], s[8:11] dmask:0x3 dim:SQ_RSRC_IMG_2D", "v[0:1]"),
    ("gfx1100", "s_sendmsg_rtn_b32 s2, sendmsg(MSG_RTN_GET_DOORBELL)", "s2"),
    ("gfx1201", "s_load_b32 null, s[2:3], 0x0", ""),
    ("gfx90a", "s_swappc_b64 s[30:31], s[4:5]", "s[30:31]"),
];

#[test]
fn instructions_write_registers() {
    for (processor, text, expected) in WRITES {
        let writes = effects(processor, text).writes;
        let expected: Vec<_> = expected
            .split_whitespace()
            .map(|name| (range(name.trim_start_matches('~')), name.starts_with('~')))
            .collect();
        let found: Vec<_> = writes.iter().map(|write| (write.range, write.keeps_old)).collect();
        assert_eq!(found, expected, "{processor}: {text}");
    }
}

/// CDNA 3 ISA, matrix instructions: EXEC is ignored. `v_writelane_b32` writes its lane in any case.
#[test]
fn some_vector_instructions_ignore_exec() {
    let ignores = |text: &str| effects("gfx942", text).writes[0].ignores_exec;
    assert!(!ignores("v_add_u32_e32 v1, v2, v3"));
    assert!(!ignores("global_load_dword v1, v[2:3], off"));
    assert!(ignores("v_writelane_b32 v3, s1, 5"));
    assert!(ignores("v_mfma_f32_32x32x1_2b_f32 a[0:31], v0, v1, a[0:31]"));
    assert!(ignores("v_readlane_b32 s1, v1, 5"));
    assert!(ignores("v_cmp_eq_u32_e32 vcc, v1, v2"));
}

#[test]
fn operations_increment_counters() {
    use Counter::{Bvh, Ds, Exp, Km, Lgkm, Load, Sample, Store, Vm, Vs};
    let cases: &[(&str, &str, &[Counter])] = &[
        ("gfx90a", "global_load_dword v1, v[2:3], off", &[Vm]),
        ("gfx90a", "global_store_dword v[2:3], v1, off", &[Vm]),
        ("gfx1030", "global_store_dword v[2:3], v1, off", &[Vs]),
        ("gfx1100", "global_atomic_add_u32 v[2:3], v1, off", &[Vs]),
        ("gfx1100", "global_atomic_add_u32 v0, v[2:3], v1, off glc", &[Vm]),
        ("gfx1201", "global_load_b32 v1, v[2:3], off", &[Load]),
        ("gfx1201", "scratch_store_b32 off, v1, s32", &[Store]),
        ("gfx90a", "flat_load_dword v1, v[2:3]", &[Vm, Lgkm]),
        ("gfx90a", "flat_store_dword v[2:3], v1", &[Vm, Lgkm]),
        ("gfx1100", "flat_store_b32 v[2:3], v1", &[Vs, Lgkm]),
        ("gfx1201", "flat_load_b32 v1, v[2:3]", &[Load, Ds]),
        ("gfx1201", "flat_store_b32 v[2:3], v1", &[Store, Ds]),
        ("gfx90a", "s_load_dword s1, s[2:3], 0x0", &[Lgkm]),
        ("gfx1201", "s_load_b32 s1, s[2:3], 0x0", &[Km]),
        ("gfx90a", "ds_read_b32 v1, v2", &[Lgkm]),
        ("gfx1201", "ds_load_b32 v1, v2", &[Ds]),
        ("gfx900", "ds_add_u32 v1, v2 gds", &[Lgkm, Exp]),
        ("gfx1030", "image_sample v[0:1], [v2, v9], s[0:7], s[8:11] dmask:0x3 dim:SQ_RSRC_IMG_2D", &[Vm]),
        ("gfx1201", "image_sample v[0:1], [v2, v9], s[0:7], s[8:11] dmask:0x3 dim:SQ_RSRC_IMG_2D", &[Sample]),
        (
            "gfx1201",
            "image_bvh_intersect_ray v[4:7], [v9, v10, v[11:13], v[14:16], v[17:19]], s[4:7]",
            &[Bvh],
        ),
        ("gfx1201", "image_load v[0:1], [v3, v4], s[0:7] dmask:0x3 dim:SQ_RSRC_IMG_2D", &[Load]),
        ("gfx90a", "buffer_load_dword off, s[4:7], s1 lds", &[Vm]),
        ("gfx900", "exp mrt0 v0, v0, v0, v0 done vm", &[Exp]),
        ("gfx1100", "lds_direct_load v1 wait_vdst:1", &[Exp]),
        ("gfx90a", "s_sendmsg sendmsg(MSG_INTERRUPT)", &[Lgkm]),
        ("gfx90a", "s_memtime s[0:1]", &[Lgkm]),
        ("gfx1201", "global_inv scope:SCOPE_SYS", &[Load]),
        ("gfx1201", "global_wb scope:SCOPE_SYS", &[Store]),
        ("gfx942", "buffer_inv sc1", &[]),
        ("gfx90a", "v_add_u32_e32 v1, v2, v3", &[]),
        ("gfx90a", "s_barrier", &[]),
    ];
    for (processor, text, expected) in cases {
        assert_eq!(effects(processor, text).issues, *expected, "{processor}: {text}");
    }
}

#[test]
fn waits_name_counters() {
    type Case<'a> = (&'a str, &'a str, &'a [(Counter, u16)]);
    use Counter::{Bvh, Ds, Exp, Km, Lgkm, Load, Sample, Store, Vm, Vs};
    let all = [(Load, 0), (Store, 0), (Sample, 0), (Bvh, 0), (Ds, 0), (Km, 0), (Exp, 0)];
    let cases: &[Case] = &[
        ("gfx90a", "s_waitcnt vmcnt(0) lgkmcnt(0)", &[(Vm, 0), (Lgkm, 0)]),
        ("gfx90a", "s_waitcnt vmcnt(63) expcnt(7) lgkmcnt(15)", &[(Vm, 63), (Exp, 7), (Lgkm, 15)]),
        ("gfx1100", "s_waitcnt_vscnt null, 0x0", &[(Vs, 0)]),
        ("gfx1030", "s_waitcnt_vmcnt null, 0x3f", &[(Vm, 63)]),
        // The sum with a register's value.
        ("gfx1030", "s_waitcnt_vscnt s3, 0x0", &[]),
        ("gfx1100", "s_waitcnt_depctr depctr_vm_vsrc(0)", &[]),
        ("gfx1201", "s_wait_loadcnt 0x3", &[(Load, 3)]),
        ("gfx1201", "s_wait_kmcnt 0x0", &[(Km, 0)]),
        ("gfx1201", "s_wait_loadcnt_dscnt 0x102", &[(Load, 1), (Ds, 2)]),
        ("gfx1201", "s_wait_storecnt_dscnt 0x3f00", &[(Store, 63), (Ds, 0)]),
        ("gfx1201", "s_wait_alu depctr_va_vcc(0)", &[]),
        ("gfx1201", "s_wait_idle", &all),
        ("gfx1100", "s_wait_idle", &[(Vm, 0), (Vs, 0), (Lgkm, 0), (Exp, 0)]),
        ("gfx1201", "s_waitcnt vmcnt(0)", &all),
        ("gfx1201", "s_nop 0", &[]),
    ];
    for (processor, text, expected) in cases {
        let found: Vec<_> = effects(processor, text)
            .waits
            .iter()
            .map(|Wait { counter, at_most }| (*counter, *at_most))
            .collect();
        assert_eq!(found, *expected, "{processor}: {text}");
    }
}

#[test]
fn control_flow_is_named() {
    let cases = [
        ("gfx90a", "s_nop 0", Control::Next),
        ("gfx90a", "s_branch 12", Control::Branch),
        ("gfx90a", "s_cbranch_execz 65520", Control::ConditionalBranch),
        ("gfx90a", "s_cbranch_cdbgsys 4", Control::ConditionalBranch),
        ("gfx1030", "s_subvector_loop_end s1, 4", Control::ConditionalBranch),
        ("gfx90a", "s_swappc_b64 s[30:31], s[4:5]", Control::Call),
        ("gfx90a", "s_call_b64 s[30:31], 12", Control::Call),
        ("gfx90a", "s_setpc_b64 s[30:31]", Control::Return),
        ("gfx90a", "s_endpgm", Control::End),
        ("gfx1030", "s_code_end", Control::End),
        ("gfx90a", "s_trap 2", Control::Trap),
        ("gfx90a", "s_sethalt 5", Control::Halt),
        ("gfx90a", "s_sleep 10", Control::Sleep),
        ("gfx1201", "s_sleep_var s1", Control::Sleep),
        ("gfx90a", "s_barrier", Control::Barrier),
        ("gfx1201", "s_barrier_signal -1", Control::BarrierSignal),
        ("gfx1201", "s_barrier_wait 0xffff", Control::BarrierWait),
        ("gfx1201", "s_barrier_join m0", Control::BarrierMembership),
    ];
    for (processor, text, expected) in cases {
        assert_eq!(effects(processor, text).control, expected, "{text}");
    }
}

#[test]
fn accesses_have_family_direction_and_size() {
    use Direction::{Atomic, Load, Store};
    let (returning, silent) = (Atomic { returns: true }, Atomic { returns: false });
    let cases = [
        ("gfx90a", "global_load_ubyte v1, v[2:3], off", Family::Global, Load, Some(1), "v1"),
        ("gfx90a", "global_load_sbyte_d16_hi v1, v[2:3], off", Family::Global, Load, Some(1), "v1"),
        ("gfx1100", "global_load_d16_hi_u8 v1, v[2:3], off", Family::Global, Load, Some(1), "v1"),
        ("gfx1100", "global_store_d16_hi_b16 v[2:3], v1, off", Family::Global, Store, Some(2), "v1"),
        ("gfx90a", "flat_store_short v[2:3], v1", Family::Flat, Store, Some(2), "v1"),
        ("gfx90a", "global_store_dwordx3 v[2:3], v[4:6], off", Family::Global, Store, Some(12), "v[4:6]"),
        ("gfx1201", "global_load_b128 v[0:3], v4, s[0:1]", Family::Global, Load, Some(16), "v[0:3]"),
        ("gfx90a", "global_load_dwordx4 a[0:3], v4, s[0:1]", Family::Global, Load, Some(16), "a[0:3]"),
        ("gfx90a", "global_atomic_add v[2:3], v4, off", Family::Global, silent, Some(4), "v4"),
        (
            "gfx90a",
            "global_atomic_add_x2 v[0:1], v[2:3], v[4:5], off glc",
            Family::Global,
            returning,
            Some(8),
            "v[4:5]",
        ),
        ("gfx90a", "global_atomic_pk_add_f16 v[2:3], v4, off", Family::Global, silent, Some(4), "v4"),
        (
            "gfx1100",
            "global_atomic_cmpswap_b64 v[2:3], v[4:7], off",
            Family::Global,
            silent,
            Some(8),
            "v[4:7]",
        ),
        ("gfx90a", "scratch_load_dword v1, off, s32", Family::Scratch, Load, Some(4), "v1"),
        ("gfx90a", "buffer_store_byte v1, v2, s[4:7], 0 offen", Family::Buffer, Store, Some(1), "v1"),
        (
            "gfx90a",
            "buffer_load_format_xyzw v[0:3], v2, s[4:7], 0 idxen",
            Family::Buffer,
            Load,
            None,
            "v[0:3]",
        ),
        (
            "gfx1030",
            "tbuffer_load_format_x v1, off, s[4:7], 0 format:[BUF_FMT_16_16_FLOAT]",
            Family::TypedBuffer,
            Load,
            Some(4),
            "v1",
        ),
        (
            "gfx90a",
            "tbuffer_load_format_xy v[0:1], off, s[4:7], 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT]",
            Family::TypedBuffer,
            Load,
            Some(8),
            "v[0:1]",
        ),
        ("gfx90a", "s_load_dwordx16 s[0:15], s[2:3], 0x0", Family::Scalar, Load, Some(64), "s[0:15]"),
        ("gfx1201", "s_load_u16 s1, s[2:3], 0x0", Family::Scalar, Load, Some(2), "s1"),
        (
            "gfx1201",
            "s_buffer_load_b96 s[8:10], s[4:7], 0x0",
            Family::ScalarBuffer,
            Load,
            Some(12),
            "s[8:10]",
        ),
        (
            "gfx900",
            "s_buffer_atomic_add_x2 s[0:1], s[4:7], 0x0",
            Family::ScalarBuffer,
            silent,
            Some(8),
            "s[0:1]",
        ),
        ("gfx90a", "ds_write_b8_d16_hi v1, v2", Family::Lds, Store, Some(1), "v2"),
        ("gfx90a", "ds_read2st64_b64 v[0:3], v4 offset1:1", Family::Lds, Load, Some(8), "v[0:3]"),
        ("gfx1100", "ds_load_2addr_stride64_b32 v[0:1], v4 offset1:1", Family::Lds, Load, Some(4), "v[0:1]"),
        (
            "gfx90a",
            "ds_cmpst_rtn_b64 v[0:1], v2, v[4:5], v[6:7]",
            Family::Lds,
            returning,
            Some(8),
            "v[4:5] v[6:7]",
        ),
        ("gfx90a", "ds_write2_b32 v0, v1, v2 offset1:1", Family::Lds, Store, Some(4), "v1 v2"),
        ("gfx950", "ds_read_b64_tr_b16 v[0:1], v2", Family::Lds, Load, Some(8), "v[0:1]"),
        ("gfx900", "ds_add_u32 v1, v2 gds", Family::Gds, silent, Some(4), "v2"),
        (
            "gfx1030",
            "image_atomic_add v1, v2, s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_1D glc",
            Family::Image,
            returning,
            None,
            "v1",
        ),
    ];
    for (processor, text, family, direction, bytes, data) in cases {
        let access = access(processor, text);
        assert_eq!((access.family, access.direction, access.bytes), (family, direction, bytes), "{text}");
        let data: Vec<_> = data.split(' ').map(range).collect();
        assert_eq!(access.data, data, "{text}");
    }
}

#[test]
fn unknown_texts_are_errors() {
    for text in [
        "",
        "s_frobnicate_b32 s0, s1",
        "ds_frobnicate v0, v1",
        ".long 0xffffffff",
        "<unknown>",
        "s_cbranch_g_fork s[0:1], s[2:3]",
        "global_load_dword v1",
        "global_load_dword v1, v2, off",
        "buffer_load_dword v1, v[2:3], s[4:7], 0 idxen",
        "s_add_u32 banana, s1, s2",
        "s_waitcnt later(0)",
        "v_add_co_ci_u32_e32 v1, vcc_lo, v2, v3, vcc_lo",
    ] {
        assert_eq!(decoded("gfx90a", text), Err(DecodeError::Mnemonic), "{text}");
    }
    // Whether it returns a value is not in the text.
    let cascade = "buffer_atomic_add_u32 v1, off, s[0:3], s0 th:TH_ATOMIC_CASCADE_RT scope:SCOPE_SYS";
    assert_eq!(decoded("gfx1201", cascade), Err(DecodeError::Mnemonic));
}

/// LLVM 22, SOPInstructions.td and VOP1Instructions.td of gfx1250; registers as llvm-objdump prints them.
#[test]
fn gfx125_names_registers_by_comments_and_jumps_by_other_mnemonics() {
    let vector = |first, count| vec![RegisterRange::new(RegisterFile::Vector, first, count)];
    let written = |text: &str| -> Vec<RegisterRange> {
        effects("gfx1250", text).writes.iter().map(|write| write.range).collect()
    };
    assert_eq!(written("v_add_f32_e32 v44 /*v300*/, v1 /*v257*/, v2"), vector(300, 1));
    assert_eq!(written("global_load_b128 v[4:7] /*v[260:263]*/, v0, s[4:5] scale_offset"), vector(260, 4));
    let dual = "v_dual_add_f32 v1 /*v257*/, v2, v3 /*v259*/ :: v_dual_mov_b32 v0 /*v256*/, v9";
    assert_eq!(written(dual), [vector(257, 1), vector(256, 1)].concat());
    let named = |text| instruction("gfx1250", text).named_registers().map(|of| of.first).collect::<Vec<_>>();
    assert_eq!(named("v_fma_f32 v44 /*v300*/, v1, v2 /*v770*/, -v3 /*v515*/"), [300, 1, 770, 515]);
    assert_eq!(written("s_set_vgpr_msb 0x4004"), [RegisterRange::new(RegisterFile::Mode, 0, 1)]);
    assert_eq!(written("s_swap_pc_i64 s[30:31], s[4:5]"), [RegisterRange::new(RegisterFile::Scalar, 30, 2)]);
    assert_eq!(effects("gfx1250", "s_swap_pc_i64 s[30:31], s[4:5]").control, Control::Call);
    assert_eq!(effects("gfx1250", "s_set_pc_i64 s[30:31]").control, Control::Return);
    assert_eq!(written("s_get_pc_i64 s[2:3]"), [RegisterRange::new(RegisterFile::Scalar, 2, 2)]);
    assert_eq!(effects("gfx1250", "s_wait_xcnt 0x0"), Effects::default());
    assert_eq!(decoded("gfx1250", "s_add_pc_i64 s[2:3]"), Err(DecodeError::Mnemonic));
    let unknown = format!("v_mov_b32_e32 v1, v2 ; {UNKNOWN_MSB}");
    assert_eq!(decoded("gfx1250", &unknown), Err(DecodeError::VectorNumbers));
}

/// The literal of `v_fmamk` and `v_madmk` is a factor, that of `v_fmaak` and `v_madak` the addend (AMD's ISA documents).
#[test]
fn literals_of_fused_multiplications_are_at_their_places() {
    use crate::isa::Source::{self, Constant};
    const LITERAL: Source = Constant(0x42c8_0000);
    let vector = |number| Source::Register(RegisterRange::new(RegisterFile::Vector, number, 1));
    let factor = [vector(2), LITERAL, vector(3)];
    let addend = [vector(2), vector(3), LITERAL];
    for (processor, text, half, expected) in [
        ("gfx900", "v_madmk_f32 v1, v2, 0x42c80000, v3", 0, factor),
        ("gfx900", "v_madak_f32 v1, v2, v3, 0x42c80000", 0, addend),
        ("gfx1030", "v_fmamk_f32 v1, v2, 0x42c80000, v3", 0, factor),
        ("gfx1100", "v_fmaak_f32 v1, v2, v3, 0x42c80000", 0, addend),
        ("gfx1100", "v_dual_fmamk_f32 v1, v2, 0x42c80000, v3 :: v_dual_mov_b32 v4, v5", 0, factor),
        ("gfx1100", "v_dual_mov_b32 v4, v5 :: v_dual_fmaak_f32 v1, v2, v3, 0x42c80000", 1, addend),
    ] {
        let found: Vec<Source> =
            instruction(processor, text).inputs(half).iter().map(|input| input.source).collect();
        assert_eq!(found, expected, "{processor}: {text}");
    }
}
