//! Effects of an instruction: its access to memory, the registers that it writes, counters, and the flow of control.
//!
//! Directions of operands and registers without an operand are those of LLVM's tables. What the tables lack stands here,
//! by mnemonic: tests/llvm.rs has the reasons.

use amdgpu_isa::{File, Implicit, Operand, Role};

use super::access::Access;
use super::copies::{self, RegisterCopy};
use super::counters::{self, Counter, Wait};
use super::registers::{RegisterFile, RegisterRange};
use super::{DecodeError, Instruction, memory};

/// Effects of an instruction, as far as an analysis of memory accesses follows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Its access to memory.
    pub access: Option<Access>,
    /// The registers that it writes. If it increments a counter, the values arrive later: until a wait proves the
    /// arrival, the registers hold old or new values.
    pub writes: Vec<Write>,
    /// The copies of registers that it makes.
    pub copies: Vec<RegisterCopy>,
    /// The counters that it increments.
    pub issues: &'static [Counter],
    /// The counters that it waits for.
    pub waits: Vec<Wait>,
    /// Its effect on the flow of control.
    pub control: Control,
}

/// Registers that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The registers.
    pub range: RegisterRange,
    /// The result contains a part of the old value or depends on it. Vector instructions that obey EXEC keep the
    /// values of inactive lanes besides.
    pub keeps_old: bool,
    /// It writes inactive lanes, too; true of all registers without lanes.
    pub ignores_exec: bool,
}

impl Write {
    /// A write of registers without lanes.
    const fn whole(file: RegisterFile, count: u16) -> Self {
        Self { range: RegisterRange::new(file, 0, count), keeps_old: false, ignores_exec: true }
    }

    /// A write of a part of the range, or of unknown registers of it.
    const fn part(range: RegisterRange) -> Self {
        Self { range, keeps_old: true, ignores_exec: true }
    }
}

/// The effect of an instruction on the flow of control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// The next instruction follows.
    #[default]
    Next,
    /// A branch that is always taken; [`Instruction::target`](super::Instruction::target) has the target.
    Branch,
    /// A branch that is taken on a condition.
    ConditionalBranch,
    /// A call; the callee may write every register that the calling convention allows.
    Call,
    /// A jump to the address in a register: a return or a tail call.
    Return,
    /// The end of the wave.
    End,
    /// A trap.
    Trap,
    /// A halt of the wave by itself.
    Halt,
    /// Sleep for a time.
    Sleep,
    /// Signals and waits for the barrier of the work-group.
    Barrier,
    /// Signals a barrier and continues.
    BarrierSignal,
    /// Waits for a barrier.
    BarrierWait,
    /// Changes which barrier a wave belongs to.
    BarrierMembership,
}

/// The condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchCondition {
    /// SCC, VCC or EXEC.
    pub file: RegisterFile,
    /// The branch is taken if SCC is 1, or if a lane is in the mask; otherwise if SCC is 0, or if no lane is.
    pub is_set: bool,
}

/// Jumps whose targets, or ends whose lanes, registers choose: any effect is possible.
const UNKNOWN: [&str; 5] =
    ["s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join", "s_setkill", "s_add_pc_i64"];
/// Scalar instructions that use the old value of the destination, beside those with tied operands.
const READING_DESTINATION: [&str; 3] = ["s_bitset0", "s_bitset1", "s_cmov"];
/// Vector instructions that ignore EXEC, beside those that do not read it in the tables.
const ALL_LANES: [&str; 5] = ["v_mfma", "v_smfmac", "v_swmmac", "v_wmma", "v_writelane"];

const EXEC: Write = Write::whole(RegisterFile::Exec, 2);
const MODE: Write = Write::whole(RegisterFile::Mode, 1);
/// Results whose register depends on an index.
const ANY_SGPR: Write = Write::part(RegisterRange::whole(RegisterFile::Scalar));
const ANY_VGPR: Write = Write::part(RegisterRange::whole(RegisterFile::Vector));

impl Instruction {
    /// Its effects.
    ///
    /// # Errors
    /// The effects are unknown: any are possible.
    pub fn effects(&self) -> Result<&Effects, DecodeError> {
        let known = self.known.effects.get_or_init(|| self.decode_effects().map(Box::new));
        known.as_ref().map(Box::as_ref).map_err(|error| *error)
    }

    /// Its effect on the flow of control; `None`: unknown. Cheaper than all effects, some of which may be unknown.
    #[must_use]
    pub fn control(&self) -> Option<Control> {
        let name = self.code()?.0.mnemonic()?;
        (!UNKNOWN.contains(&name)).then(|| control(name))
    }

    fn decode_effects(&self) -> Result<Effects, DecodeError> {
        let (code, facts) = self.code().ok_or(DecodeError::Mnemonic)?;
        if self.has_unknown_vectors() {
            return Err(DecodeError::VectorNumbers);
        }
        let name = self.mnemonic();
        let control = self.control().ok_or(DecodeError::Mnemonic)?;
        let access = memory::access(code, facts)?;
        let issues =
            counters::operation(code, access.as_ref()).map_or(&[][..], |of| counters::issued(of, facts));
        Ok(Effects {
            writes: writes(code, name, access.as_ref()),
            copies: copies::copies(self),
            issues,
            waits: counters::waits(code, facts),
            control,
            access,
        })
    }

    /// The registers on whose values its results depend; EXEC of vector instructions and M0 are left out. `effects`: its own.
    #[must_use]
    pub fn reads(&self, effects: &Effects) -> Vec<RegisterRange> {
        let Some((code, _)) = self.code() else { return Vec::new() };
        // A tied operand is a destination whose old value counts only if it is kept.
        let operands = code.operands().filter(|of| !of.is_written && of.tied.is_none());
        let mut found: Vec<RegisterRange> =
            operands.filter_map(|of| RegisterRange::of(of.register()?)).collect();
        found.extend(effects.writes.iter().filter(|write| write.keeps_old).map(|write| write.range));
        found.extend(effects.access.iter().filter(|of| of.is_atomic()).flat_map(|of| &of.data));
        let Some(tables) = code.effects() else { return found };
        let lanes = if code.is_wave64() { 2 } else { 1 };
        let is_scalar = self.mnemonic().starts_with("s_");
        for (of, file, count) in [
            (Implicit::SCC, RegisterFile::Scc, 1),
            (Implicit::VCC, RegisterFile::Vcc, lanes),
            (Implicit::EXEC, RegisterFile::Exec, lanes),
        ] {
            if tables.reads.contains(of) && (is_scalar || of != Implicit::EXEC) {
                found.push(RegisterRange::new(file, 0, count));
            }
        }
        found
    }

    /// Whether it reads a clock from a hardware register.
    #[must_use]
    pub fn reads_clock(&self) -> bool {
        let name = self.code().filter(|_| self.mnemonic() == "s_getreg_b32");
        name.and_then(|(code, _)| code.hardware_register()).is_some_and(|name| name.contains("SHADER_CYCLES"))
    }

    /// The condition of a branch; `None`: no branch, or one by the state of debuggers.
    #[must_use]
    pub fn branch_condition(&self) -> Option<BranchCondition> {
        let (file, is_set) = match self.mnemonic().strip_prefix("s_cbranch_")? {
            "scc0" => (RegisterFile::Scc, false),
            "scc1" => (RegisterFile::Scc, true),
            "vccz" => (RegisterFile::Vcc, false),
            "vccnz" => (RegisterFile::Vcc, true),
            "execz" => (RegisterFile::Exec, false),
            "execnz" => (RegisterFile::Exec, true),
            _ => return None,
        };
        Some(BranchCondition { file, is_set })
    }

    /// The number that is an operand of it: that of a trap or barrier, or bits of a register. `None`: a register has it, or
    /// there is none.
    #[must_use]
    pub fn immediate(&self) -> Option<u16> {
        let number = |of: Operand| of.number().map(|number| number as u16);
        self.code()?.0.operands().find_map(number)
    }
}

/// Instructions that change the flow of control, or stop the wave.
fn control(name: &str) -> Control {
    match name {
        _ if !name.starts_with("s_") => Control::Next,
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
        _ if name.starts_with("s_cbranch_") => Control::ConditionalBranch,
        _ => Control::Next,
    }
}

fn writes(code: &amdgpu_isa::Instruction, name: &str, access: Option<&Access>) -> Vec<Write> {
    let begins = |names: &[&str]| names.iter().any(|of| name.starts_with(of));
    // The tables lack the index, or the hardware register.
    match name {
        _ if begins(&["v_movreld", "v_movrelsd", "v_swaprel"]) => return vec![ANY_VGPR],
        _ if begins(&["s_movreld", "s_movrelsd"]) => {
            return vec![ANY_SGPR, Write::part(RegisterRange::new(RegisterFile::Vcc, 0, 2))];
        }
        // Index mode changes the destinations of vector instructions up to its end.
        "s_set_gpr_idx_off" => return vec![MODE, ANY_VGPR],
        _ if begins(&["s_set_gpr_idx"]) => return vec![Write::whole(RegisterFile::M0, 1), MODE, ANY_VGPR],
        "s_sendmsg" if code.to_string().contains("DEALLOC_VGPRS") => return vec![ANY_VGPR],
        "s_setvskip" => return vec![MODE, Write::whole(RegisterFile::Scc, 1)],
        "s_set_vgpr_msb" => return vec![MODE],
        _ if begins(&["s_setreg"]) => return hardware(code),
        _ => {}
    }
    let is_atomic_store = access.is_some_and(|access| !access.has_result());
    let ignores_exec = begins(&ALL_LANES);
    let mut writes = Vec::new();
    for at in code.operand_infos().filter(|of| of.is_written && !is_atomic_store).map(|of| of.number) {
        let Some(operand) = code.operand(at) else { continue };
        let register = operand.register().and_then(|of| Some((of, RegisterRange::of(of)?)));
        let Some((register, range)) = register else { continue };
        let is_vector = range.file.is_vector();
        let keeps_old = match access {
            // M0 leaves out registers of a block.
            Some(access) => name.contains("d16") || access.is_block,
            None if !is_vector => begins(&READING_DESTINATION) || is_tied(code, at),
            None => is_tied(code, at) || keeps_part(code, name, register.file),
        };
        let range = match access {
            Some(access) if access.is_atomic() && name.contains("cmpswap") && has_data(operand) => {
                range.first_half()
            }
            _ => range,
        };
        writes.push(Write { range, keeps_old, ignores_exec: ignores_exec || !is_vector });
    }
    let Some(effects) = code.effects() else { return writes };
    let narrow = if name.ends_with("_b32") && name.starts_with("s_") { 1 } else { 2 };
    let lanes = if code.is_wave64() { 2 } else { 1 };
    for (of, file, count) in [
        (Implicit::VCC, RegisterFile::Vcc, lanes),
        (Implicit::EXEC, RegisterFile::Exec, narrow),
        (Implicit::SCC, RegisterFile::Scc, 1),
        (Implicit::M0, RegisterFile::M0, 1),
        (Implicit::MODE, RegisterFile::Mode, 1),
    ] {
        if effects.writes.contains(of) {
            writes.push(Write::whole(file, count));
        }
    }
    if begins(&["s_subvector_loop"]) {
        writes.push(EXEC);
    }
    writes
}

/// Whether the result of an atomic replaces its data.
fn has_data(operand: Operand) -> bool {
    const DATA: [Role; 3] = [Role::named("vdata"), Role::named("sdst"), Role::named("sdata")];
    DATA.contains(&operand.role)
}

/// Whether an instruction reads the old value of a result.
fn is_tied(code: &amdgpu_isa::Instruction, at: usize) -> bool {
    const OLD: Role = Role::named("old");
    let is_swap = code.mnemonic().is_some_and(|name| name.starts_with("v_swap_"));
    !is_swap && code.operand_infos().any(|of| of.tied.map(usize::from) == Some(at) && of.role != OLD)
}

/// Whether a part of each lane's old value can remain: results of 16 bits, and lanes without a source.
fn keeps_part(code: &amdgpu_isa::Instruction, name: &str, file: File) -> bool {
    let result = name.split('_').find(|word| {
        let digits = word.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
        digits.len() < word.len() && !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    });
    let is_half = matches!(result, Some("b16" | "f16" | "i16" | "u16" | "bf16" | "b8" | "fp8" | "bf8"));
    let number = |role: Role| code.operand_of(role).and_then(|of| of.number());
    const MASKS: [Role; 2] = [Role::named("row_mask"), Role::named("bank_mask")];
    let is_dpp = code.effects().is_some_and(|effects| effects.is_dpp());
    let is_shuffled = is_dpp
        && (number(const { Role::named("bound_ctrl") }).unwrap_or(0) == 0
            || MASKS.into_iter().any(|mask| number(mask) != Some(15)));
    is_half && !name.contains("_pk_")
        || matches!(file, File::VgprLow | File::VgprHigh)
        || is_shuffled
        || number(const { Role::named("dst_unused") }) == Some(2)
}

/// The hardware register that `s_setreg` writes.
fn hardware(code: &amdgpu_isa::Instruction) -> Vec<Write> {
    let part = |file, first| Write::part(RegisterRange::new(file, first, 1));
    let name = code.hardware_register().and_then(|name| name.strip_prefix("HW_REG_"));
    // GFX12 prefixes the names of a wave's registers.
    match name.map(|name| name.strip_prefix("WAVE_").unwrap_or(name)) {
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
    }
}
