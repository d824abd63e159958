//! The contents of a report. Absent data is `None` or has a state of its own, never zero.

use serde::Serialize;
use serde_json::Value;

pub use crate::report::schema::Hex;
use crate::signature::Signature;

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
}

/// The cause of a crash or hang.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FaultReport {
    /// The sentence, without a full stop.
    pub sentence: String,
    /// The kind of the cause, as in `lanescope triage --json`. `None`: no cause was found.
    pub cause: Option<String>,
    /// `exact`, `likely`, `possible` or `proven`. `None`: the cause is the reason of a stop, or there is none.
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
    /// The instructions around the PC. `None`: no PC, or no tool decodes them.
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
    /// Its address is bad, and the lane may have been inactive at the access.
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
    /// `argument`, `local`, `static` or `global`.
    pub scope: &'static str,
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

/// Memory around an address: global memory, or the LDS of a work-group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemoryPicture {
    /// The first bad address.
    pub address: Hex,
    /// `global`, or the name of another segment; `local`: the addresses are offsets in the LDS of a work-group.
    pub space: String,
    /// The accesses near it.
    pub accesses: Vec<AccessAt>,
    /// Number of further accesses.
    pub accesses_left_out: usize,
    /// Listed memory around it, in order of its addresses.
    pub spans: Vec<MemorySpan>,
    /// Whether memory outside of the listed one is known to be unmapped.
    pub is_map_whole: bool,
    /// The bytes around the address. `None`: none is captured, or left out.
    pub bytes: Option<ByteWindow>,
}

impl MemoryPicture {
    /// Whether it is the LDS of a work-group.
    pub(super) fn is_lds(&self) -> bool {
        self.space == "local"
    }
}

/// The access of a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AccessAt {
    /// The lane. `None`: a scalar access.
    pub lane: Option<u8>,
    /// The first byte.
    pub address: Hex,
    /// Number of bytes. `None`: unknown.
    pub bytes: Option<u16>,
}

/// Memory that the capture lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemorySpan {
    /// The first byte.
    pub start: Hex,
    /// The last byte.
    pub last: Hex,
    /// The name, if it has one.
    pub name: Option<String>,
    /// Whether it is code.
    pub is_code: bool,
    /// The pointer that leads there, if the analysis found one.
    pub pointer: Option<String>,
}

/// Bytes of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ByteWindow {
    /// The address of the first byte.
    pub start: Hex,
    /// The bytes; `None`: not captured.
    pub bytes: Vec<Option<u8>>,
}

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
    /// Whether one of them faulted.
    pub faulted: bool,
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
    /// Whether it stopped for a fault.
    pub faulted: bool,
    /// Its state in a hang: `at_barrier`. `None`: the analysis has no states.
    pub wait: Option<&'static str>,
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
    /// `error`, `warning` or `note`.
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
