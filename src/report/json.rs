//! Waves, lanes, kernel arguments and variables as JSON. docs/protocol.md documents the shapes.

use serde::{Serialize, Serializer};

use super::absent::AbsentWaves;
use super::expression::{self, Part};
use super::schema::{Hex, Lanes, Marks, Schema};
use crate::notation::is_zero;
use crate::session::{
    Byte, DispatchArguments, InferredBy, KernelArgument, LaneInfo, LaneState, LaneStates, Locals, Scope,
    ValueState, WaveInfo,
};
use crate::units::LaneId;

/// The waves of a dump.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WaveList<L> {
    /// The waves, in the order of the dump.
    pub waves: L,
    /// Waves that the dump lacks.
    #[serde(flatten)]
    pub absent: AbsentWaves,
}

impl<L: Serialize> Schema for WaveList<L> {
    const NAME: &'static str = "waves";
}

/// A wave in a list.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ListedWave {
    /// A wave.
    Wave(Box<Wave>),
    /// A wave that cannot be read.
    Unreadable {
        /// The first thread of the wave.
        thread: Option<u64>,
        /// The reason.
        error: String,
    },
}

/// A wave.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Wave {
    /// The number of the wave's first thread; null: no thread.
    pub thread: Option<u64>,
    /// The numbers of its first and its last thread, if lanes are threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<Option<(u64, u64)>>,
    /// The id in the dump.
    pub id: u32,
    /// `AMDGPU Wave AGENT:QUEUE:DISPATCH:WAVE (X,Y,Z)/NUMBER`.
    pub name: String,
    /// The GPU: `gfx90a`.
    pub architecture: String,
    /// Number of lanes.
    pub lanes: u8,
    /// Id of the agent.
    pub agent: u32,
    /// Id of the queue.
    pub queue: Option<u32>,
    /// Id of the dispatch.
    pub dispatch: Option<u32>,
    /// Symbol of the kernel.
    pub kernel: Option<String>,
    /// The kernel's name in the source, if the symbol is mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_name: Option<String>,
    /// Position of the work-group in the grid.
    pub coord: Option<[u32; 3]>,
    /// Number of the wave in its work-group.
    pub wave_in_group: Option<u32>,
    /// Program counter.
    pub pc: Option<Hex>,
    /// Mask of active lanes.
    pub exec: Option<Hex>,
    /// Names of stop reasons; empty: the wave was running; null: unknown.
    pub stop_reasons: Option<Vec<String>>,
    /// The cause of the stop as text.
    pub cause: String,
    /// The signal of the stop in gdb's numbering; 0: running, or unknown.
    pub signal: u8,
    /// Number of waves that the dump leaves out and that this one stands for. Absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub stands_for: usize,
    /// The wave's marks.
    #[serde(flatten)]
    pub marks: Marks,
}

impl Wave {
    /// A wave under its number for a client whose threads are waves.
    #[must_use]
    pub fn of(info: &WaveInfo) -> Self {
        Self {
            thread: Some(u64::from(info.wave.0) + 1),
            threads: None,
            id: info.id,
            name: info.name.clone(),
            architecture: info.kind.target.name.clone(),
            lanes: info.kind.wave_size.lanes(),
            agent: info.agent,
            queue: info.queue,
            dispatch: info.dispatch,
            kernel: info.kernel.clone(),
            kernel_name: info
                .kernel_name
                .as_deref()
                .filter(|name| info.kernel.as_deref() != Some(name))
                .map(str::to_owned),
            coord: info.workgroup,
            wave_in_group: info.wave_in_group,
            pc: info.pc.map(|pc| Hex(pc.0)),
            exec: info.exec.map(|exec| Hex(exec.0)),
            stop_reasons: info.stop.clone(),
            cause: info.cause.clone(),
            signal: info.signal,
            stands_for: info.stands_for as usize,
            marks: Marks::of(info),
        }
    }
}

/// Kernel arguments of dispatches.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launches {
    /// The dispatches.
    pub dispatches: Vec<Launch>,
}

impl Schema for Launches {
    const NAME: &'static str = "arguments";
}

/// The kernel arguments of a dispatch.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Launch {
    /// Id of the dispatch in the dump.
    pub dispatch: u32,
    /// The kernel's symbol.
    pub kernel: Option<String>,
    /// Address of the arguments in global memory.
    pub kernarg: Option<Hex>,
    /// Bytes of the arguments, by the metadata.
    pub size: Option<u64>,
    /// The arguments, hidden ones last.
    pub arguments: Vec<Argument>,
    /// The reason for missing arguments or bytes.
    pub problem: Option<String>,
}

/// A kernel argument.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Argument {
    /// Name in the source.
    pub name: Option<String>,
    /// Type in the source.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// Offset in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// The way of passing: `by_value`, `global_buffer`, `hidden_block_count_x`.
    pub kind: String,
    /// Address space of the pointee.
    pub address_space: Option<String>,
    /// Whether the runtime adds the argument.
    pub hidden: bool,
    /// Two digits a byte, lowest address first; `xx`: not captured.
    pub bytes: String,
    /// The value as text; null: not captured.
    pub value: Option<String>,
    /// The value, if it is an integer, a finite floating-point number or a truth value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
}

impl Launch {
    /// The kernel arguments of a dispatch.
    #[must_use]
    pub fn of(of: &DispatchArguments) -> Self {
        Self {
            dispatch: of.dispatch,
            kernel: of.kernel.clone(),
            kernarg: of.kernarg.map(|address| Hex(address.0)),
            size: of.size,
            arguments: of.arguments.iter().map(argument).collect(),
            problem: of.problem.as_ref().map(ToString::to_string),
        }
    }
}

fn argument(of: &KernelArgument) -> Argument {
    Argument {
        name: of.name.clone(),
        type_name: of.type_name.clone(),
        offset: of.offset,
        size: of.size,
        kind: of.kind.clone(),
        address_space: of.address_space.clone(),
        hidden: of.hidden,
        bytes: of.bytes.iter().map(ToString::to_string).collect(),
        value: of.value.clone(),
        number: of.value.as_deref().and_then(Number::of),
    }
}

/// The lanes of a wave.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaneList {
    /// The lanes, ascending.
    pub lanes: Vec<Lane>,
}

impl Schema for LaneList {
    const NAME: &'static str = "lanes";
}

/// A lane.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lane {
    /// Its number.
    pub lane: u8,
    /// `active`, `inactive`, `not_entered` or `unused`; null: unknown.
    pub state: Option<LaneState>,
    /// The work-item's id in its work-group.
    pub local_id: Option<[u32; 3]>,
    /// The work-item's id in the grid.
    pub global_id: Option<[u32; 3]>,
    /// Whether it is the focused lane.
    pub focused: bool,
    /// Its own program counter.
    pub pc: Option<Hex>,
    /// The source of the PC: `exec`, `active_lane`, `lane_pc`, `unknown` or `no_work_item`.
    #[cfg_attr(test, schemars(with = "crate::session::PcSource"))]
    pub pc_from: &'static str,
    /// Its position.
    #[serde(flatten)]
    pub at: Position,
}

/// The source position of a lane.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Position {
    /// The function at the PC.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Source line.
    pub line: Option<u64>,
    /// The physical frame in the wave's stack, 0 innermost.
    pub physical: Option<usize>,
}

impl Position {
    fn of(info: &LaneInfo) -> Self {
        let at = &info.at;
        Self { function: at.function.clone(), file: at.file.clone(), line: at.line, physical: at.physical }
    }
}

/// Lanes of a wave; `focus`: the focused one.
#[must_use]
pub fn lanes(lanes: &[LaneInfo], focus: LaneId) -> LaneList {
    let each = lanes.iter().map(|lane| Lane {
        lane: lane.lane.0,
        state: lane.state,
        local_id: lane.local_id,
        global_id: lane.global_id,
        focused: lane.lane == focus,
        pc: lane.at.pc.map(|pc| Hex(pc.0)),
        pc_from: lane.at.from.name(),
        at: Position::of(lane),
    });
    LaneList { lanes: each.collect() }
}

/// The PC of a lane, with its source or the reason of its absence.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LanePc {
    /// The lane's number.
    pub lane: u8,
    /// `active`, `inactive`, `not_entered` or `unused`; null: unknown.
    pub state: Option<LaneState>,
    /// The lane's own program counter.
    pub pc: Option<Hex>,
    /// The source of the PC, as `pc_from` of a lane.
    #[cfg_attr(test, schemars(with = "crate::session::PcSource"))]
    pub from: &'static str,
    /// The source of the PC as text, or the reason of its absence.
    pub why: String,
    /// Its position.
    #[serde(flatten)]
    pub at: Position,
}

impl Schema for LanePc {
    const NAME: &'static str = "lane-pc";
}

impl LanePc {
    /// The PC of a lane.
    #[must_use]
    pub fn of(of: &LaneInfo) -> Self {
        Self {
            lane: of.lane.0,
            state: of.state,
            pc: of.at.pc.map(|pc| Hex(pc.0)),
            from: of.at.from.name(),
            why: of.at.from.to_string(),
            at: Position::of(of),
        }
    }
}

/// The variables of a frame.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FrameVariables {
    /// The frame's number in the wave's stack, 0 innermost.
    pub frame: usize,
    /// The frame's PC; in a caller the return address.
    pub pc: Hex,
    /// The function, qualified and demangled.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Source line.
    pub line: Option<u64>,
    /// The inferences behind the frame: docs/json.md, "Inferred answers".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inferred: Vec<InferredBy>,
    /// The variables, outermost scope first.
    #[cfg_attr(test, schemars(with = "Vec<Variable>"))]
    pub variables: StreamedVariables,
    /// The reason that the function has lines and no variables, with the remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// Debug information of the function that cannot be read: variables may be missing.
    pub problems: Vec<String>,
}

impl Schema for FrameVariables {
    const NAME: &'static str = "locals";
}

impl FrameVariables {
    /// The variables of a frame, lane by lane.
    #[must_use]
    pub fn of(locals: Locals) -> Self {
        Self {
            frame: locals.frame,
            pc: Hex(locals.pc.0),
            function: locals.function.clone(),
            file: locals.file.clone(),
            line: locals.line,
            inferred: locals.inferred.sources(),
            problems: locals.problems.clone(),
            note: locals.note,
            variables: StreamedVariables(locals),
        }
    }
}

/// Variables, each built while it is written: the values of thousands of variables in 64 lanes take a thousand times
/// their text.
#[derive(Debug)]
pub struct StreamedVariables(Locals);

impl Serialize for StreamedVariables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.variables.iter().map(|of| Variable::of(of, &self.0)))
    }
}

/// A variable in some lanes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// `argument`, `local`, `static` or `global`.
    pub scope: Scope,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// The line of its declaration.
    pub line: Option<u64>,
    /// Its value in each lane.
    pub lanes: Vec<LaneValue>,
}

impl Variable {
    fn of(variable: &crate::session::Variable, of: &Locals) -> Self {
        Self {
            name: variable.name.clone(),
            scope: variable.scope,
            type_name: variable.type_name.clone(),
            size: variable.size,
            line: variable.line,
            lanes: variable.lanes.iter().map(|lane| LaneValue::of(lane, &of.states)).collect(),
        }
    }
}

/// A value in a lane.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaneValue {
    /// The lane's number.
    pub lane: u8,
    /// The state of the lane in the frame: `active`, `inactive`, `not_entered` or `unused`; null: unknown.
    pub lane_state: Option<LaneState>,
    /// The state; `unavailable`: not captured.
    #[cfg_attr(test, schemars(extend("enum" = ["ok", "optimized_out", "unavailable", "error"])))]
    pub state: &'static str,
    /// The value in gdb's notation.
    pub value: Option<String>,
    /// The value, if it is an integer, a finite floating-point number or a truth value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<Number>,
    /// The reason for a missing value.
    pub why: Option<String>,
    /// The location as text.
    pub location: Option<String>,
    /// The parts of the location.
    pub parts: Option<Vec<Part>>,
    /// Whether the location was read as a compiler's idiom means it, not as the specification does.
    pub legacy: bool,
    /// The inferences behind the value: docs/json.md, "Inferred answers".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inferred: Vec<InferredBy>,
    /// Two digits a byte, lowest address first; `xx`: not captured.
    pub bytes: Option<String>,
    /// Inactive lanes whose data the value contains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<LaneMark>,
}

/// Lanes of one state.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaneMark {
    /// The lanes.
    pub lanes: Lanes,
    /// Their state.
    pub lane_state: LaneState,
}

impl LaneValue {
    pub(super) fn of(lane: &crate::session::LaneValue, states: &LaneStates) -> Self {
        let (state, value, why) = match &lane.state {
            ValueState::Value(value) => ("ok", Some(value.to_string()), None),
            ValueState::OptimizedOut(why) => ("optimized_out", None, Some(why.to_string())),
            ValueState::Unavailable(why) => ("unavailable", None, Some(why.to_string())),
            ValueState::Error(why) => ("error", None, Some(why.to_string())),
        };
        let marks = super::text::marks(lane.of, states);
        let mark = |(lanes, state): &(_, LaneState)| LaneMark { lanes: Lanes(*lanes), lane_state: *state };
        Self {
            lane: lane.lane.0,
            lane_state: states.of(lane.lane),
            state,
            number: value.as_deref().and_then(Number::of),
            value,
            why,
            location: lane.location(),
            parts: lane.place().map(|place| expression::parts(&place, lane.lane)),
            legacy: lane.provenance().idiom.is_some(),
            inferred: lane.inferred.sources(),
            bytes: byte_text(&lane.bytes),
            marks: marks.iter().map(mark).collect(),
        }
    }
}

/// Two digits a byte (see [`Byte`]'s words); `None` without bytes.
fn byte_text(bytes: &[Byte]) -> Option<String> {
    (!bytes.is_empty()).then(|| bytes.iter().flat_map(|byte| byte.digits()).collect())
}

/// A value as a JSON number or truth value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Number {
    /// A truth value.
    Truth(bool),
    /// A signed integer.
    Signed(i64),
    /// An integer above the signed ones.
    Unsigned(u64),
    /// A floating-point number.
    Float(f64),
}

impl Number {
    /// The number that gdb's notation of a value begins with: `-3`, `65 'A'`, `1.5`, `true`. `None`: it is not a number,
    /// as a pointer, an enumerator or `inf`; or JSON has no exact form for it.
    pub(crate) fn of(value: &str) -> Option<Self> {
        let (number, rest) = value.split_once(' ').unwrap_or((value, ""));
        let is_character = rest.is_empty() || rest.starts_with(['\'', 'u', 'U', 'L']);
        if !is_character {
            return None;
        }
        if let "true" | "false" = number {
            return Some(Self::Truth(number == "true"));
        }
        if !number.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
            return None;
        }
        let signed = number.parse().map(Self::Signed);
        let integer = signed.or_else(|_| number.parse().map(Self::Unsigned)).ok();
        let is_integer = number.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        let float = || number.parse().ok().filter(|float: &f64| float.is_finite() && !is_integer);
        integer.or_else(|| float().map(Self::Float))
    }
}
