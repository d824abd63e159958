//! All waves of a dump, its launches, code objects and problems.

use serde::Serialize;

use super::{FrameRow, Hex};
use crate::notation::is_zero;
use crate::triage::WaveState;

/// A work-group that waits at a barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Barrier {
    /// The work-group's id in the dump.
    pub workgroup: u32,
    /// Its position in the grid.
    pub position: Option<[u32; 3]>,
    /// Ids of waves at the barrier.
    pub waiting: Vec<u32>,
    /// Ids of live waves that have not arrived.
    pub missing: Vec<u32>,
    /// The places of the missing waves.
    pub missing_at: Vec<String>,
    /// Number of waves that ended. `None`: unknown.
    pub ended: Option<u32>,
    /// Number of waves that are neither captured nor known to have ended. `None`: unknown.
    pub not_captured: Option<u32>,
}

/// Waves with one call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StackGroup {
    /// Number of waves.
    pub count: usize,
    /// Whether one of them is known to have faulted.
    pub faulted: bool,
    /// Number of those without a captured stop reason: each of them may have faulted.
    pub unknown_stops: usize,
    /// Causes of the stops with the number of waves, the most common first.
    pub causes: Vec<(String, usize)>,
    /// Ids of the waves: `1, 3-5`.
    pub waves: String,
    /// The frames of the first of them.
    pub frames: Vec<FrameRow>,
    /// Number of further frames.
    pub frames_left_out: usize,
    /// The reason for an incomplete stack.
    pub end: Option<String>,
}

/// A wave of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WaveRow {
    /// The dump's id.
    pub id: u32,
    /// The cause of its stop in words.
    pub state: String,
    /// Whether it is known to have stopped for a fault.
    pub faulted: bool,
    /// Whether its stop reason was not captured: it may have faulted.
    pub unknown_stop: bool,
    /// Its state in a hang. `None`: the analysis has no states.
    pub wait: Option<WaveState>,
    /// The PC. `None`: not captured.
    pub pc: Option<Hex>,
    /// Number of active lanes. `None`: EXEC is not captured.
    pub active: Option<u32>,
    /// Number of lanes.
    pub lanes: u8,
    /// The dispatch's id.
    pub dispatch: Option<u32>,
    /// The work-group's position.
    pub workgroup: Option<[u32; 3]>,
    /// The number in the work-group.
    pub wave_in_group: Option<u32>,
    /// The kernel, cut behind 48 bytes.
    pub kernel: Option<String>,
    /// Index of its stack in `stacks`. `None`: left out.
    pub stack: Option<usize>,
    /// The function of the innermost frame, cut behind 48 bytes.
    pub function: Option<String>,
    /// The file and line of the innermost frame: `saxpy.hip:54`.
    pub place: Option<String>,
    /// Whether its values may be wrong.
    pub unconfirmed: bool,
}

/// A kernel launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launch {
    /// The dump's id.
    pub id: u32,
    /// The kernel.
    pub kernel: Option<String>,
    /// Work-items in the grid.
    pub grid: Option<[u32; 3]>,
    /// Work-items in a full work-group.
    pub workgroup: Option<[u32; 3]>,
    /// LDS bytes of a work-group.
    pub lds: Option<u64>,
    /// Private bytes of a work-item.
    pub private: Option<u64>,
    /// Number of captured waves.
    pub waves: usize,
    /// Number of further waves that the dump leaves out. Absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub waves_left_out: usize,
    /// The arguments of the source.
    pub arguments: Vec<ArgumentRow>,
    /// The reason for missing arguments.
    pub problem: Option<String>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArgumentRow {
    /// The name.
    pub name: Option<String>,
    /// The type.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// The offset in the segment of the arguments.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
    /// Whether the value was captured.
    pub captured: bool,
    /// The value. `None`: not captured, or left out.
    pub value: Option<String>,
}

/// A loaded code object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ObjectRow {
    /// The name.
    pub name: String,
    /// The load address.
    pub address: Hex,
    /// Bytes of its image. `None`: unknown.
    pub size: Option<u64>,
    /// The build id in hex. `None`: it has none, or its bytes are not available.
    pub build_id: Option<String>,
    /// The reason for missing variables.
    pub problem: Option<String>,
}

/// A problem of the dump.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProblemRow {
    /// The severity.
    #[cfg_attr(test, schemars(extend("enum" = ["error", "warning", "note"])))]
    pub severity: &'static str,
    /// The text.
    pub text: String,
}

/// A kind of data in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Content {
    /// The data: `values of 22 variables in 64 lanes of wave 1`.
    pub text: String,
    /// Whether it is in the report; `false`: left out on request.
    pub is_included: bool,
    /// Whether it is data of the program, which may be secret.
    pub is_data: bool,
}
