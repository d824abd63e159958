//! Scalar instructions except loads and stores: registers that they write, and control flow.
//!
//! Each generation has a fixed set of scalar instructions: a stem that the tables lack is unknown.

use super::DecodeError;
use super::counters::{self, Operation};
use super::effects::{Control, Effects, Write};
use super::facts::Facts;
use super::registers::{RegisterFile, RegisterRange};
use super::text::Line;

/// First words of mnemonics (after `s_`) that write SCC besides a destination, unless they are floating-point.
#[rustfmt::skip]
const WITH_SCC: &[&str] = &[
    "abs", "absdiff", "add", "addc", "addk", "and", "andn1", "andn2", "ashr", "bcnt0", "bcnt1", "bfe", "lshl",
    "lshl1", "lshl2", "lshl3", "lshl4", "lshr", "max", "min", "nand", "nor", "not", "or", "orn1", "orn2",
    "quadmask", "sub", "subb", "wqm", "xnor", "xor",
];
/// First words of mnemonics that write a destination alone.
#[rustfmt::skip]
const WITHOUT_SCC: &[&str] = &[
    "bfm", "bitreplicate", "bitset0", "bitset1", "brev", "ceil", "cls", "clz", "cmov", "cmovk", "cselect",
    "ctz", "cvt", "ff0", "ff1", "flbit", "floor", "fmaak", "fmac", "fmamk", "get", "getpc", "getreg", "maximum",
    "minimum", "mov", "movk", "movrels", "mul", "mulk", "pack", "rndne", "sext", "trunc",
];
/// First words whose instructions use the old value of the destination, or keep a part of it.
const READING_DESTINATION: &[&str] = &["addk", "bitset0", "bitset1", "cmov", "cmovk", "fmac", "mulk"];
/// Mnemonics without any effect that an analysis follows: hints, caches, counters of performance, messages to debuggers.
#[rustfmt::skip]
const WITHOUT_EFFECT: &[&str] = &[
    "s_atc_probe", "s_atc_probe_buffer", "s_buffer_prefetch_data", "s_clause", "s_dcache_discard",
    "s_dcache_discard_x2", "s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb", "s_dcache_wb_vol",
    "s_decperflevel", "s_delay_alu", "s_gl1_inv", "s_icache_inv", "s_incperflevel", "s_inst_prefetch",
    "s_nop", "s_prefetch_data", "s_prefetch_data_pc_rel", "s_prefetch_inst", "s_prefetch_inst_pc_rel",
    "s_set_inst_prefetch_distance", "s_setprio", "s_ttracedata", "s_ttracedata_imm", "s_version", "s_wakeup",
];

/// Whose result comes later, as that of a scalar load.
const LATE: &[&str] = &[
    "s_get_barrier_state",
    "s_get_waveid_in_workgroup",
    "s_memrealtime",
    "s_memtime",
    "s_sendmsg_rtn_b32",
    "s_sendmsg_rtn_b64",
];

const SCC: Write = Write::whole(RegisterRange::new(RegisterFile::Scc, 0, 1));
const MODE: Write = Write::whole(RegisterRange::new(RegisterFile::Mode, 0, 1));
const M0: Write = Write::whole(RegisterRange::new(RegisterFile::M0, 0, 1));
const EXEC: Write = Write::whole(RegisterRange::new(RegisterFile::Exec, 0, 2));
const EXEC_LO: Write = Write::whole(RegisterRange::new(RegisterFile::Exec, 0, 1));
/// Results whose register depends on an index.
const ANY_SGPR: Write = Write::part(RegisterRange::whole(RegisterFile::Scalar));
const ANY_VGPR: Write = Write::part(RegisterRange::whole(RegisterFile::Vector));

/// The effects of a scalar instruction.
pub(super) fn effects(line: &Line<'_>, facts: &Facts) -> Result<Effects, DecodeError> {
    let mnemonic = line.mnemonic;
    if mnemonic.starts_with("s_wait") {
        let waits = counters::waits(line, facts).ok_or(DecodeError::Operands)?;
        return Ok(Effects { waits, ..Effects::default() });
    }
    if WITHOUT_EFFECT.contains(&mnemonic) {
        return Ok(Effects::default());
    }
    if LATE.contains(&mnemonic) {
        let issues = counters::issued(Operation::Scalar, facts);
        return Ok(Effects { writes: destination(line)?, issues, ..Effects::default() });
    }
    // A jump by a register, relative to the next instruction.
    if mnemonic == "s_add_pc_i64" {
        return Err(DecodeError::Mnemonic);
    }
    if let Some(control) = control(mnemonic) {
        let mut effects = Effects { control, ..Effects::default() };
        match mnemonic {
            "s_call_b64" | "s_call_i64" | "s_swappc_b64" | "s_swap_pc_i64" => {
                effects.writes = destination(line)?
            }
            "s_subvector_loop_begin" | "s_subvector_loop_end" => {
                effects.writes = destination(line)?;
                effects.writes.push(EXEC);
            }
            "s_barrier_leave" | "s_barrier_signal_isfirst" => effects.writes = vec![SCC],
            "s_sendmsghalt" => effects.issues = counters::issued(Operation::Scalar, facts),
            _ => {}
        }
        return Ok(effects);
    }
    let stem = mnemonic.strip_prefix("s_").and_then(|rest| rest.split('_').next()).unwrap_or_default();
    let writes = match (mnemonic, stem) {
        ("s_sendmsg", _) => {
            let issues = counters::issued(Operation::Scalar, facts);
            let is_release = line.operand(0).is_some_and(|message| message.contains("DEALLOC_VGPRS"));
            let writes = if is_release { vec![ANY_VGPR] } else { Vec::new() };
            return Ok(Effects { writes, issues, ..Effects::default() });
        }
        ("s_alloc_vgpr", _) | (_, "cmp" | "cmpk" | "bitcmp0" | "bitcmp1") => vec![SCC],
        ("s_round_mode" | "s_denorm_mode" | "s_set_vgpr_msb", _) => vec![MODE],
        ("s_setvskip", _) => vec![MODE, SCC],
        // Index mode changes the destinations of vector instructions up to its end.
        ("s_set_gpr_idx_on" | "s_set_gpr_idx_mode" | "s_set_gpr_idx_idx", _) => vec![M0, MODE, ANY_VGPR],
        ("s_set_gpr_idx_off", _) => vec![MODE, ANY_VGPR],
        ("s_setreg_b32" | "s_setreg_imm32_b32", _) => hardware(line)?,
        (_, "movreld" | "movrelsd") => {
            vec![ANY_SGPR, Write::part(RegisterRange::new(RegisterFile::Vcc, 0, 2))]
        }
        _ => arithmetic(line, stem)?,
    };
    Ok(Effects { writes, ..Effects::default() })
}

/// Instructions that change the flow of control, or stop the wave.
fn control(mnemonic: &str) -> Option<Control> {
    Some(match mnemonic {
        "s_branch" => Control::Branch,
        "s_call_b64" | "s_call_i64" | "s_swappc_b64" | "s_swap_pc_i64" => Control::Call,
        "s_setpc_b64" | "s_set_pc_i64" | "s_rfe_b64" | "s_rfe_restore_b64" | "s_rfe_i64" => Control::Return,
        "s_endpgm" | "s_endpgm_saved" | "s_endpgm_ordered_ps_done" | "s_code_end" => Control::End,
        "s_trap" => Control::Trap,
        "s_sethalt" | "s_sendmsghalt" => Control::Halt,
        "s_sleep" | "s_sleep_var" => Control::Sleep,
        "s_barrier" => Control::Barrier,
        "s_barrier_wait" => Control::BarrierWait,
        "s_barrier_signal" | "s_barrier_signal_isfirst" => Control::BarrierSignal,
        "s_barrier_init" | "s_barrier_join" | "s_barrier_leave" => Control::BarrierMembership,
        "s_subvector_loop_begin" | "s_subvector_loop_end" => Control::ConditionalBranch,
        // Forks save a part of the wave's lanes for later.
        "s_cbranch_g_fork" | "s_cbranch_i_fork" | "s_cbranch_join" => return None,
        _ if mnemonic.starts_with("s_cbranch_") => Control::ConditionalBranch,
        _ => return None,
    })
}

/// Instructions with a destination and perhaps SCC and EXEC.
fn arithmetic(line: &Line<'_>, stem: &str) -> Result<Vec<Write>, DecodeError> {
    let is_float = line.mnemonic.ends_with("_f16") || line.mnemonic.ends_with("_f32");
    // 64-bit sums of GFX12 have no carry.
    let has_scc = WITH_SCC.contains(&stem) && !is_float && !line.mnemonic.contains("_nc_");
    if !WITH_SCC.contains(&stem) && !WITHOUT_SCC.contains(&stem) {
        return Err(DecodeError::Mnemonic);
    }
    let mut writes = destination(line)?;
    for write in &mut writes {
        write.keeps_old = READING_DESTINATION.contains(&stem);
    }
    if line.mnemonic.contains("_saveexec_") || line.mnemonic.contains("_wrexec_") {
        writes.push(if line.mnemonic.ends_with("_b32") { EXEC_LO } else { EXEC });
    }
    if has_scc {
        writes.push(SCC);
    }
    Ok(writes)
}

/// The first operand as a destination.
fn destination(line: &Line<'_>) -> Result<Vec<Write>, DecodeError> {
    let first = line.operand(0).ok_or(DecodeError::Operands)?;
    if first == "null" {
        return Ok(Vec::new());
    }
    RegisterRange::parse(first).map(|range| vec![Write::whole(range)]).ok_or(DecodeError::Operands)
}

/// The hardware register that `s_setreg` writes: `hwreg(HW_REG_MODE, 0, 4)`.
fn hardware(line: &Line<'_>) -> Result<Vec<Write>, DecodeError> {
    let first = line.operand(0).ok_or(DecodeError::Operands)?;
    let name = first.strip_prefix("hwreg(").and_then(|rest| rest.split([',', ')']).next());
    let name = name.and_then(|name| name.trim().strip_prefix("HW_REG_"));
    let part = |file, first| Write::part(RegisterRange::new(file, first, 1));
    // GFX12 prefixes the names of a wave's registers.
    Ok(match name.map(|name| name.strip_prefix("WAVE_").unwrap_or(name)) {
        Some("MODE") => vec![part(RegisterFile::Mode, 0)],
        Some("FLAT_SCR_LO" | "SCRATCH_BASE_LO") => vec![part(RegisterFile::FlatScratch, 0)],
        Some("FLAT_SCR_HI" | "SCRATCH_BASE_HI") => vec![part(RegisterFile::FlatScratch, 1)],
        Some("XNACK_MASK") => vec![part(RegisterFile::XnackMask, 0)],
        Some(_) => vec![part(RegisterFile::Hardware, 0)],
        // A number without a name may be any of them.
        None => {
            [RegisterFile::Mode, RegisterFile::FlatScratch, RegisterFile::XnackMask, RegisterFile::Hardware]
                .map(|file| Write::part(RegisterRange::whole(file)))
                .to_vec()
        }
    })
}
