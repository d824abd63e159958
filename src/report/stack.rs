//! Call stacks as text and JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::Style;
use super::schema::{Hex, Lanes, Schema};
use crate::notation::{list, plural};
use crate::session::{InferredBy, LaneStack, SourceError, Stack, StackEnd, StackFrame};
use crate::units::LaneSet;

/// A call stack: a line a frame, and a last line if the stack ends before a kernel. For a wave's frame without a PC
/// the text states that PCs differ: several lanes have the stack in common.
#[must_use]
pub fn text(stack: &Stack, style: Style) -> String {
    with_end(stack, &|end| end.to_string(), style)
}

/// [`text`] with the end's name in place of its reason, which repeats in similar stacks.
#[must_use]
pub(crate) fn brief(stack: &Stack, style: Style) -> String {
    with_end(stack, &name, style)
}

/// The reason without its addresses: `no unwind information`.
fn name(end: &StackEnd) -> String {
    match end {
        StackEnd::BadCallerPc { why, .. } => why.to_string(),
        StackEnd::CallerPcUnknown { .. } => "the return address cannot be read".to_owned(),
        StackEnd::CallFrame { .. } => "an error in call frame information".to_owned(),
        StackEnd::Cycle { .. } => "the PC and CFA of an earlier frame".to_owned(),
        StackEnd::NoUnwindInformation { is_undecoded: true, .. } => {
            format!("{}, and the code's processor is unknown", end.name().replace('_', " "))
        }
        StackEnd::NoCodeObject { .. } => "no known code object holds the PC".to_owned(),
        end => end.name().replace('_', " "),
    }
}

fn with_end(stack: &Stack, words: &dyn Fn(&StackEnd) -> String, style: Style) -> String {
    let mut text = String::new();
    let mut said = None;
    for frame in &stack.frames {
        // A problem of several frames is printed once.
        let problem = frame.problem.as_ref().filter(|problem| said != Some(*problem));
        let _ = writeln!(text, "{}", line(frame, problem, stack.lane.is_some(), style));
        said = frame.problem.as_ref();
    }
    if stack.end == StackEnd::NoWorkItem {
        text.push_str("No frames: unused, no work-item of the group or the grid.\n");
        return text;
    }
    if stack.frames.is_empty() && stack.lane.is_some() && stack.end != StackEnd::PcNotCaptured {
        text.push_str("No frames: the lane was not active when any of the functions was called.\n");
    }
    if !stack.end.is_normal() {
        // The words of an end may name the PC of one lane of several.
        let is_common = stack.lane.is_none() && stack.frames.iter().any(|frame| frame.pc.is_none());
        let end = if is_common { name(&stack.end) } else { words(&stack.end) };
        let end = style.folded(&format!("The stack ends here: {end}."));
        let _ = writeln!(text, "{}", style.dim(&end));
    }
    text
}

/// The stacks of several lanes, each under its lanes.
#[must_use]
pub fn lanes_text(stacks: &[LaneStack], style: Style) -> String {
    let mut text = String::new();
    for (index, LaneStack { lanes, stack }) in stacks.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        let _ = writeln!(text, "{gap}{}", style.heading(&lanes_words(*lanes)));
        text.push_str(&self::text(stack, style));
    }
    text
}

/// `#1  outer (0x7f00001016a4) at user_ops.hip:19`
fn line(frame: &StackFrame, problem: Option<&SourceError>, of_lane: bool, style: Style) -> String {
    let function = frame.function.as_deref().unwrap_or("??");
    let no_pc = if of_lane { "the lane's PC is not known" } else { "PCs differ" };
    let pc = frame.pc.map_or(no_pc.to_owned(), |pc| pc.to_string());
    // A line is a better place than an offset.
    let offset = frame.offset.filter(|_| frame.line.is_none() && frame.pc.is_some());
    let offset = offset.map_or_else(String::new, |offset| format!(" <+{offset}>"));
    let mut line = format!("#{:<2} {} ({pc}{offset})", frame.level, style.heading(function));
    match (&frame.file, frame.line) {
        (Some(file), Some(number)) => {
            let _ = write!(line, " at {file}:{number}");
        }
        (Some(file), None) => {
            let _ = write!(line, " in {file}");
        }
        (None, _) => {
            if let Some(object) = &frame.code_object {
                let _ = write!(line, " from {object}");
            }
        }
    }
    let mut notes = Vec::new();
    if frame.inlined {
        notes.push("inlined".to_owned());
    }
    match frame.of_wave {
        Some(number) if of_lane && number != frame.level => notes.push(format!("frame {number} of the wave")),
        None if frame.pc.is_some() => notes.push("elsewhere than the wave".to_owned()),
        _ => {}
    }
    notes.extend(problem.map(ToString::to_string));
    line.push_str(&frame.inferred.suffix());
    if !notes.is_empty() {
        line.push_str(&style.dim(&format!("  [{}]", notes.join("; "))));
    }
    line
}

/// `Lane 3:`, `Lanes 0-3, 8:`
fn lanes_words(lanes: LaneSet) -> String {
    let noun = plural(lanes.count(), "Lane", "Lanes");
    format!("{noun} {}:", list(lanes.iter().map(|lane| lane.0)))
}

/// The call stack of a wave or a lane.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WaveStack {
    /// The lane; null: the wave as a whole.
    pub lane: Option<u8>,
    /// The stack.
    #[serde(flatten)]
    pub stack: CallStack,
}

impl Schema for WaveStack {
    const NAME: &'static str = "backtrace";
}

/// The call stacks of lanes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaneStacks {
    /// The stacks, equal ones once.
    pub stacks: Vec<StackOfLanes>,
}

impl Schema for LaneStacks {
    const NAME: &'static str = "backtraces";
}

/// A call stack of some lanes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StackOfLanes {
    /// The lanes.
    pub lanes: Lanes,
    /// The stack.
    #[serde(flatten)]
    pub stack: CallStack,
}

/// A call stack.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CallStack {
    /// The frames, innermost first.
    pub frames: Vec<Frame>,
    /// The end of the stack.
    pub end: End,
}

/// A frame.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Frame {
    /// Index in this stack, 0 innermost.
    pub level: usize,
    /// Number in the wave's stack, for questions about variables; null: the lane is at another position.
    pub frame: Option<usize>,
    /// Physical frame, 0 innermost: inlined calls share the one of the function that contains them.
    pub physical: usize,
    /// Whether the call was inlined.
    pub inlined: bool,
    /// The function.
    pub function: Option<String>,
    /// The symbol of code of a target region of OpenMP, which `function` names by the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Source file; in an outer frame, of the call.
    pub file: Option<String>,
    /// Source line.
    pub line: Option<u64>,
    /// Source column.
    pub column: Option<u64>,
    /// Bytes from the start of the ELF symbol, if only that names the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The PC; in a caller the return address; for a lane its own, null if unknown.
    pub pc: Option<Hex>,
    /// The canonical frame address as text.
    pub cfa: Option<String>,
    /// The code object's name.
    pub code_object: Option<String>,
    /// The reason for missing data.
    pub problem: Option<String>,
    /// The inferences behind the frame: docs/json.md, "Inferred answers".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inferred: Vec<InferredBy>,
}

/// The end of a stack.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct End {
    /// The reason: `outermost`, or a name of docs/protocol.md.
    #[cfg_attr(test, schemars(with = "StackEnd"))]
    pub reason: &'static str,
    /// The reason as text.
    pub words: String,
}

impl WaveStack {
    /// The call stack of a wave or a lane.
    #[must_use]
    pub fn of(stack: &Stack) -> Self {
        Self { lane: stack.lane.map(|lane| lane.0), stack: CallStack::of(stack) }
    }
}

impl LaneStacks {
    /// The call stacks of lanes.
    #[must_use]
    pub fn of(stacks: &[LaneStack]) -> Self {
        let each =
            stacks.iter().map(|of| StackOfLanes { lanes: Lanes(of.lanes), stack: CallStack::of(&of.stack) });
        Self { stacks: each.collect() }
    }
}

impl CallStack {
    /// A call stack.
    #[must_use]
    pub fn of(stack: &Stack) -> Self {
        let frame = |frame: &StackFrame| Frame {
            level: frame.level,
            frame: frame.of_wave,
            physical: frame.physical,
            inlined: frame.inlined,
            function: frame.function.clone(),
            symbol: frame.symbol.clone(),
            file: frame.file.clone(),
            line: frame.line,
            column: frame.column,
            offset: frame.offset,
            pc: frame.pc.map(|pc| Hex(pc.0)),
            cfa: frame.cfa.clone(),
            code_object: frame.code_object.clone(),
            problem: frame.problem.as_ref().map(ToString::to_string),
            inferred: frame.inferred.sources(),
        };
        let end = End { reason: stack.end.name(), words: stack.end.to_string() };
        Self { frames: stack.frames.iter().map(frame).collect(), end }
    }
}
