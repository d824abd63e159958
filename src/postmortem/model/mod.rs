//! The contents of a report. Absent data is `None` or has a state of its own, never zero.
//!
//! `wave` has the wave of the fault, `memory` the memory around its addresses, `dump` all waves and the dump.

mod dump;
mod memory;
mod wave;

use serde::Serialize;
use serde_json::Value;

pub use crate::report::schema::Hex;
use crate::signature::Signature;

pub use dump::{ArgumentRow, Barrier, Content, Launch, ObjectRow, ProblemRow, StackGroup, WaveRow};
pub use memory::{AccessAt, ByteWindow, MemoryPicture, MemorySpan};
pub use wave::{
    CodeView, FrameRow, InstructionRow, LaneCell, LaneMark, ShownWave, SourceLine, SourceView, ValueCell,
    ValueMark, ValueRule, VariableStrip,
};

/// The name and version of the schema. A member is never removed or changed within a version.
pub const SCHEMA: &str = "lanescope.report/1";

/// The contents of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Model {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of lanescope.
    pub lanescope: &'static str,
    /// The dump's origin.
    pub dump: About,
    /// The cause of the crash or hang, with its evidence.
    pub fault: FaultReport,
    /// The signatures of the waves, the most frequent first.
    pub signatures: Vec<Signature>,
    /// The wave of the fault, lane by lane. `None`: the dump has no waves.
    pub wave: Option<ShownWave>,
    /// Memory around the addresses of the fault.
    pub memory: Vec<MemoryPicture>,
    /// Work-groups that wait at barriers.
    pub barriers: Vec<Barrier>,
    /// Number of further work-groups.
    pub barriers_left_out: usize,
    /// Waves by call stack, faults first, then the most common.
    pub stacks: Vec<StackGroup>,
    /// Number of further groups.
    pub stacks_left_out: usize,
    /// All waves, in the dump's order.
    pub waves: Vec<WaveRow>,
    /// Number of further waves.
    pub waves_left_out: usize,
    /// Kernel launches with their arguments.
    pub dispatches: Vec<Launch>,
    /// Number of further kernel launches.
    pub dispatches_left_out: usize,
    /// Loaded code objects.
    pub code_objects: Vec<ObjectRow>,
    /// Number of further code objects.
    pub code_objects_left_out: usize,
    /// Problems of the dump, and notes of its writer.
    pub problems: Vec<ProblemRow>,
    /// Number of further problems.
    pub problems_left_out: usize,
    /// Data that the analysis lacks, with instructions to add it.
    pub missing: Vec<String>,
    /// The kinds of data that the report contains, and those that it leaves out.
    pub contents: Vec<Content>,
    /// Commands to type next.
    pub next: Vec<String>,
    /// The analysis: `lanescope.triage/1`. `None`: left out with the values, or because it is large.
    pub analysis: Option<Value>,
}

/// The dump's origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct About {
    /// The dump's name.
    pub name: String,
    /// The format with its version: `lanescope dump 1`.
    pub format: String,
    /// The writing program.
    pub producer: Option<String>,
    /// Time of the capture.
    pub created: Option<String>,
    /// Host of the capture, with `--with-paths` alone.
    pub host: Option<String>,
    /// The captured command, with `--with-paths` alone.
    pub command: Option<String>,
    /// A note of the writer.
    pub note: Option<String>,
    /// GPUs: `gfx90a`.
    pub gpus: Vec<String>,
    /// Kinds of waves with their numbers: `8 waves of gfx90a:wave64`.
    pub kinds: Vec<String>,
    /// Number of waves.
    pub waves: usize,
    /// Number of waves that stopped for a fault.
    pub faulted: usize,
    /// Number of waves without a captured stop reason: each of them may have faulted.
    pub unknown_stops: usize,
}

/// The cause of a crash or hang.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FaultReport {
    /// The sentence, without a full stop.
    pub sentence: String,
    /// The kind of the cause, as in `lanescope triage --json`. `None`: no cause was found.
    pub cause: Option<String>,
    /// The certainty of the cause. `None`: the cause is the reason of a stop, or there is none.
    #[cfg_attr(test, schemars(extend("enum" = [Some("exact"), Some("likely"), Some("possible"), Some("proven"), None::<&str>])))]
    pub certainty: Option<&'static str>,
    /// The line of the source with its number, if captured.
    pub source_line: Option<String>,
    /// The evidence by label, as on the page of `lanescope triage`.
    pub evidence: Vec<Evidence>,
}

/// Texts of one kind of evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evidence {
    /// `Access`, `Address`, `Because`.
    pub label: String,
    /// The texts.
    pub texts: Vec<String>,
}
