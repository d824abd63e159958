//! Effects of an instruction.

use super::access::Access;
use super::copies::RegisterCopy;
use super::counters::{Counter, Wait};
use super::registers::RegisterRange;

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
    pub(super) const fn whole(range: RegisterRange) -> Self {
        Self { range, keeps_old: false, ignores_exec: true }
    }

    /// A write of a part of the range, or of unknown registers of it.
    pub(super) const fn part(range: RegisterRange) -> Self {
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
