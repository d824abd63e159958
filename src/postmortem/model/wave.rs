//! The wave of the fault, lane by lane.

use serde::Serialize;

use super::Hex;
use crate::session::Scope;

/// A wave lane by lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShownWave {
    /// The dump's id.
    pub id: u32,
    /// `AMDGPU Wave 1:1:1:4 (0,0,0)/3`
    pub name: String,
    /// The cause of its stop in words.
    pub state: String,
    /// GPU and wave size: `gfx90a:wave64`.
    pub kind: String,
    /// The PC. `None`: not captured.
    pub pc: Option<Hex>,
    /// Reasons to doubt its values.
    pub doubts: Vec<String>,
    /// The lanes, from 0.
    pub lanes: Vec<LaneCell>,
    /// The call stack, the innermost frame first.
    pub stack: Vec<FrameRow>,
    /// The reason for an incomplete stack.
    pub stack_end: Option<String>,
    /// Number of the frame of the variables, the source and the instructions.
    pub frame: usize,
    /// The variables of the frame; those that the line names come first.
    pub variables: Vec<VariableStrip>,
    /// Number of further variables.
    pub variables_left_out: usize,
    /// The reason for missing variables.
    pub variables_problem: Option<String>,
    /// The source around the line. `None`: not captured.
    pub source: Option<SourceView>,
    /// The instructions around the PC. `None`: no PC, or the processor is unknown.
    pub code: Option<CodeView>,
    /// The reason for missing instructions.
    pub code_problem: Option<String>,
}

/// A lane of a wave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaneCell {
    /// The lane.
    pub lane: u8,
    /// Its state.
    pub state: LaneMark,
    /// The work-item's id in the grid, if known.
    pub work_item: Option<[u32; 3]>,
    /// The line of its own position, if known.
    pub line: Option<u64>,
}

/// The state of a lane in the strip of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LaneMark {
    /// Its address is bad, or it failed.
    Faulting,
    /// Its address is bad; another access may be the cause, or the lane may have been inactive at it.
    PossiblyFaulting,
    /// Its address at the access is unknown.
    UnknownAddress,
    /// Active.
    Active,
    /// Inactive.
    Inactive,
    /// Outside of the function.
    NotEntered,
    /// Without a work-item.
    Unused,
    /// Neither EXEC nor the debug information gives the state.
    Unknown,
}

/// A frame of a call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FrameRow {
    /// Its number, 0 innermost.
    pub level: usize,
    /// The function.
    pub function: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u64>,
    /// The PC, or the return address.
    pub pc: Option<Hex>,
    /// Whether it is an inlined call.
    pub inlined: bool,
    /// The code object.
    pub code_object: Option<String>,
    /// The inferences behind it: `inferred: caller by code`. `None`: nothing is inferred.
    pub inferred: Option<String>,
}

/// A variable over the lanes of a wave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VariableStrip {
    /// The name.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The inferences behind the values: `inferred: kernel's frame at 0`. `None`: nothing is inferred.
    pub inferred: Option<String>,
    /// The kind of its declaration.
    pub scope: Scope,
    /// Whether the line of the fault names it.
    pub is_on_line: bool,
    /// Values by their rules; values of inactive lanes apart.
    pub rules: Vec<ValueRule>,
    /// The lanes, from 0.
    pub lanes: Vec<ValueCell>,
}

/// Lanes whose values follow one rule, or lack for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValueRule {
    /// The lanes: `0-24, 26`.
    pub lanes: String,
    /// The state of their values.
    pub state: ValueMark,
    /// The rule, or the reason: `1000..1024 (+1)`. `None`: left out.
    pub text: Option<String>,
}

/// A value in a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValueCell {
    /// Its state.
    pub state: ValueMark,
    /// The quarter of its rank among the distinct values of the active lanes, 0 lowest; for pictures.
    #[serde(skip)]
    pub shade: u8,
    /// The value, cut behind 256 bytes. `None`: no value, or left out.
    pub value: Option<String>,
}

/// The state of a value in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ValueMark {
    /// Equal in most active lanes.
    Constant,
    /// Linear in the lane.
    Linear,
    /// Against the rule of the other active lanes.
    Outlier,
    /// Without a rule that most active lanes share.
    Varied,
    /// In an inactive lane: it may be foreign data.
    Inactive,
    /// Not captured.
    NotCaptured,
    /// Optimized out.
    OptimizedOut,
    /// Its description cannot be evaluated.
    Error,
    /// The lane has no work-item.
    Unused,
    /// Left out on request.
    LeftOut,
}

/// Lines of a captured source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceView {
    /// The file.
    pub file: String,
    /// The lines.
    pub lines: Vec<SourceLine>,
}

/// A line of source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceLine {
    /// The number.
    pub number: u64,
    /// The text.
    pub text: String,
    /// Whether the frame is at the line.
    pub is_current: bool,
    /// Number of waves whose innermost frame is at the line.
    pub waves: usize,
}

/// Instructions around a PC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CodeView {
    /// The function.
    pub function: Option<String>,
    /// The processor by LLVM's name.
    pub processor: String,
    /// The decoder.
    pub tool: Option<String>,
    /// The instructions.
    pub instructions: Vec<InstructionRow>,
    /// Messages for missing parts.
    pub problems: Vec<String>,
}

/// An instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InstructionRow {
    /// The address.
    pub address: Hex,
    /// Bytes from the start of its function.
    pub offset: Option<u64>,
    /// The text, with the branch target.
    pub text: String,
    /// The file of the line.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u64>,
    /// Whether the frame resumes here.
    pub is_pc: bool,
    /// Whether it is the suspected access.
    pub is_access: bool,
    /// The lanes that resume here: `0-24`.
    pub lanes: Option<String>,
}
