//! States of waves and work-groups in a hang: what each wave waits for, who is missing at a barrier, and the proof of a
//! deadlock.
//!
//! `state` classifies a wave by its PC and status, `flow` and `spin` read the code around the PC, `polled` reads the
//! values of a loop, and `groups` compares the waves of a work-group. docs/triage.md has the rules.

mod analysis;
mod flow;
mod groups;
mod polled;
mod spin;
mod state;
#[cfg(test)]
mod tests;

pub(super) use analysis::{hang, partly_captured};

use std::fmt;
use std::sync::Arc;

use crate::notation::names;

use crate::session::Inferred;
use crate::units::{LaneSet, Pc, WaveId};

/// The waits of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hang {
    /// Work-groups with waiting waves, in the dump's order.
    pub groups: Vec<GroupWait>,
    /// The states of all waves.
    pub waves: Vec<WaveWait>,
    /// Number of waves by state for each dispatch (the dump's id; `None`: unknown), in the order of the dump.
    pub counts: Vec<(Option<u32>, WaveState, usize)>,
    /// Whether all live waves of a dispatch spin, or wait at a barrier for such a wave; always true of a deadlock.
    /// One capture does not separate a spin from slow progress.
    pub is_hang: bool,
    /// Whether some waves can never continue, by proof; `false`: not proven.
    pub is_deadlock: bool,
    /// The proof, a sentence for each step.
    pub proof: Vec<String>,
    /// Whether a limit of the analysis left loops, PCs or polled values out.
    pub is_cut: bool,
}

/// The state of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaveState {
    /// At a barrier of its work-group.
    AtBarrier,
    /// In a loop that polls memory, or in one without an exit.
    Spinning,
    /// At a wait for memory operations.
    WaitingMemory,
    /// Asleep.
    Sleeping,
    /// Halted by the trap handler or a debugger.
    Halted,
    /// Stopped by a fault.
    Faulted,
    /// At its end.
    Ended,
    /// None of these.
    Running,
    /// Its PC or the code there is not captured, or its processor is unknown.
    Unknown,
}

names!(WaveState {
    Self::AtBarrier => "at_barrier",
    Self::Spinning => "spinning",
    Self::WaitingMemory => "waiting_memory",
    Self::Sleeping => "sleeping",
    Self::Halted => "halted",
    Self::Faulted => "faulted",
    Self::Ended => "ended",
    Self::Running => "running",
    Self::Unknown => "unknown",
});

impl WaveState {
    /// Whether the wave does not go on by itself, as far as its code shows: the signature of a hang has its place.
    pub(crate) fn is_halted_or_waiting(self) -> bool {
        !matches!(self, Self::Ended | Self::Running | Self::Unknown)
    }
}

/// The waits of a work-group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupWait {
    /// The work-group's id in the dump.
    pub workgroup: u32,
    /// Its position in the grid.
    pub position: Option<[u32; 3]>,
    /// Waves at a barrier.
    pub waiting: Vec<WaveId>,
    /// Live waves that have not arrived.
    pub missing: Vec<WaveId>,
    /// Live waves that signalled the barrier and do not wait at it.
    pub signalled: Vec<WaveId>,
    /// Number of waves that ended; `None`: unknown.
    pub ended: Option<u32>,
    /// Number of waves that are neither captured nor known to have ended; `None`: unknown.
    pub not_captured: Option<u32>,
    /// Whether a wave that never arrives is proven to be missing.
    pub is_deadlock: bool,
}

impl GroupWait {
    /// The waves at the barrier and those that they may wait for.
    pub(super) fn waves(&self) -> Vec<WaveId> {
        [&self.waiting, &self.missing, &self.signalled].map(Clone::clone).concat()
    }

    /// Whether waves wait for others.
    pub(super) fn is_blocked(&self) -> bool {
        !self.waiting.is_empty() && !self.missing.is_empty()
    }
}

impl Hang {
    /// Keeps the state of one wave, and the waits of its work-group.
    pub(super) fn keep(&mut self, wave: WaveId) {
        self.groups.retain(|group| group.waves().contains(&wave));
        self.waves.retain(|wait| wait.wave == wave);
        let states: Vec<WaveState> = self.waves.iter().map(|wait| wait.state).collect();
        if !states.iter().any(|state| matches!(state, WaveState::AtBarrier | WaveState::Spinning)) {
            (self.is_hang, self.is_deadlock) = (false, false);
            self.proof.clear();
        }
    }
}

/// The state of a wave, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveWait {
    /// The wave.
    pub wave: WaveId,
    /// The state.
    pub state: WaveState,
    /// Its place in the code, which waves of one PC share.
    pub at: Arc<WaitPlace>,
    /// The values that the loop reads.
    pub polls: Vec<PolledValue>,
}

/// The place of a wave in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WaitPlace {
    /// Its PC, if captured.
    pub pc: Option<Pc>,
    /// The function with the file and lines of its loop, or the line of its PC.
    pub function: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// The lines of the loop, or the line of the PC.
    pub lines: Vec<u64>,
    /// Whether the loop polls memory.
    pub is_polling: bool,
}

/// A value that a loop polls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledValue {
    /// Its address in global memory, or in LDS.
    pub address: u64,
    /// Whether the address is in LDS.
    pub is_lds: bool,
    /// Number of bytes.
    pub bytes: u16,
    /// The captured value; `None`: not captured.
    pub value: Option<u64>,
    /// The number that the loop compares it with, if known.
    pub compared: Option<u64>,
    /// The comparison of the value with that number: `==`, `!=`, `<`, `<=`, `>` or `>=`, if known.
    pub comparison: Option<&'static str>,
    /// The lanes that poll it; empty for a scalar load.
    pub lanes: LaneSet,
    /// The variable or the expression that names it.
    pub name: Option<String>,
    /// The inference behind the name.
    pub inferred: Option<NameInference>,
}

/// The inference behind the name of a polled value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameInference {
    /// The debug information has no location of the variable: it is the only one of that size that the line names.
    Line,
    /// The values alone lead to the expression.
    Values,
    /// The place of the variable is inferred.
    Place(Inferred),
}

/// `inferred: by the line`
impl fmt::Display for NameInference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line => f.write_str("inferred: by the line"),
            Self::Values => f.write_str("inferred: by values"),
            Self::Place(inferred) => inferred.fmt(f),
        }
    }
}
