//! The cause of a crash or hang: the suspected accesses to memory with their evidence, best first, or the other cause.
//!
//! Input: sessions over a dump, one for each served kind of waves. Output: [`Triage`], which `page` renders as text and
//! `json` as `lanescope.triage/1`. Statements have a [`Confidence`] and typed reasons; missing data excludes nothing.

mod access;
mod accessed;
mod analysis;
mod basis;
mod cause;
mod causes;
mod faulted;
mod hang;
pub mod json;
mod judge;
mod listings;
mod map;
mod missing;
pub mod page;
mod patterns;
mod places;
mod rank;
mod registers;
mod reports;
mod scene;
mod source;
mod steps;
mod summary;
mod survey;
mod walk;

pub use access::{
    AccessFrame, AddressOf, Confidence, DeclaredBounds, Evidence, IndexRule, InnerIndex, Neighbour, Pattern,
    PatternOf, Suspect, Term, UnknownAddressCause, UnknownLanes, Variable,
};
pub(crate) use analysis::needs_states;
pub use analysis::{Question, triage};
pub use basis::basis;
pub use cause::{Arithmetic, Assertion, Cause, Foreign, QueueError};
pub use faulted::{FaultedAt, faulted, faulted_lines};
pub use hang::{GroupWait, Hang, NameInference, PolledValue, WaitPlace, WaveState, WaveWait};
pub(crate) use map::{Map, Span};
pub(crate) use missing::no_stop_reasons;
pub use missing::{Limit, MissingData};
pub use page::sentence;
pub(crate) use reports::may_concern;
pub use scene::Scene;
pub use source::describe;
pub use steps::Step;
pub use summary::{stops, summary};

use crate::capture::{Fault, FaultAddress};
use crate::session::WaveInfo;
use crate::units::{Pc, WaveId};

/// The result of an analysis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triage {
    /// The cause. `None`: no wave is known to have stopped for a fault, no fault is reported, and no hang is visible.
    pub cause: Option<Cause>,
    /// The reported faults.
    pub faults: Vec<Fault>,
    /// The suspected accesses, best first.
    pub suspects: Vec<Suspect>,
    /// Number of further suspects, without their facts.
    pub further: usize,
    /// Number of those without a known address.
    pub further_unknown: usize,
    /// Waves that stopped for the reported cause, and the rest.
    pub waves: Stops,
    /// States of waves and work-groups, if no wave faulted or the question asks for them.
    pub hang: Option<Hang>,
    /// Data that the analysis lacks, with its effect.
    pub missing: Vec<MissingData>,
}

impl Triage {
    /// The place of the fault in the source. An access whose addresses are all good is no cause.
    #[must_use]
    pub fn place(&self) -> Option<&SourceAt> {
        match self.cause.as_ref()? {
            Cause::Memory => self.suspects.first().filter(|of| !of.is_good()).map(|of| &of.at),
            cause => cause.place(),
        }
    }

    /// The same for a capture that is truncated; `why`: the sentence about its file.
    #[must_use]
    pub(crate) fn of_truncated(mut self, why: Option<String>) -> Self {
        self.missing.splice(0..0, why.map(MissingData::Truncated));
        self
    }

    /// Whether the capture is truncated.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.missing.iter().any(|one| matches!(one, MissingData::Truncated(_)))
    }

    /// The first reported page of a fault of memory: the address in sentences and pictures. `of`: the page's wave; reports
    /// that cannot be of its stop are ignored. Without a wave reports of others are.
    #[must_use]
    pub fn reported_page(&self, of: Option<&WaveInfo>) -> Option<FaultAddress> {
        let concerns = |fault: &&Fault| of.map_or(fault.is_of_waves(), |info| may_concern(fault, info));
        self.faults.iter().filter(concerns).find_map(Fault::page)
    }
}

/// The waves of a dump by the cause of their stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stops {
    /// Number of waves that stopped for a fault.
    pub faulted: usize,
    /// Number of waves without a fault of their own, if another wave faulted.
    pub bystanders: usize,
    /// Number of waves with an unknown stop reason.
    pub unknown: usize,
    /// Number of waves that the question is about.
    pub asked: usize,
    /// Those of them that the dump leaves out, and that others stand for.
    pub absent: usize,
    /// Reasons for waves of the process that the dump lacks, and that no wave stands for.
    pub uncounted: Vec<String>,
    /// PCs of the faulted waves with the number of waves, the most frequent first.
    pub pcs: Vec<(Pc, usize)>,
    /// The wave that the page describes.
    pub chosen: Option<WaveId>,
    /// Faults of waves beside that of the chosen one: another stop reason, GPU or dispatch.
    pub others: Vec<OtherFault>,
    /// Number of waves of the dump that faulted and that no session of the question serves.
    pub left_out: usize,
}

impl Stops {
    /// ` of the dump`, if the process has more waves.
    fn of_dump(&self) -> &'static str {
        if self.uncounted.is_empty() { "" } else { " of the dump" }
    }
}

/// Waves that stopped for another fault than the described one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherFault {
    /// The waves of one stop reason, GPU and dispatch, at least one.
    pub waves: Vec<WaveId>,
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceAt {
    /// The function, demangled.
    pub function: Option<String>,
    /// The file, as the debug information names it.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u64>,
    /// The text of the line, if the capture has the source.
    pub text: Option<String>,
    /// Whether the line table has no line, and this one is that of a neighbour.
    pub is_inferred: bool,
}
