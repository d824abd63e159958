//! Call stacks as text and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Style;
use crate::notation::{list, plural};
use crate::session::{LaneStack, SourceError, Stack, StackEnd, StackFrame};
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

/// `no unwind information`
fn name(end: &StackEnd) -> String {
    end.name().replace('-', " ")
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
    let mut line = format!("#{:<2} {} ({pc})", frame.level, style.heading(function));
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

/// A call stack.
#[must_use]
pub fn json(stack: &Stack) -> Value {
    json!({
        "thread": stack.wave.0 + 1,
        "lane": stack.lane.map(|lane| lane.0),
        "frames": frames_json(stack),
        "end": end_json(&stack.end),
    })
}

/// The stacks of several lanes of a wave.
#[must_use]
pub fn lanes_json(wave: crate::units::WaveId, stacks: &[LaneStack]) -> Value {
    let each = stacks.iter().map(|LaneStack { lanes, stack }| {
        json!({
            "lanes": lanes.iter().map(|lane| lane.0).collect::<Vec<_>>(),
            "frames": frames_json(stack),
            "end": end_json(&stack.end),
        })
    });
    json!({ "thread": wave.0 + 1, "stacks": each.collect::<Vec<_>>() })
}

pub(super) fn frames_json(stack: &Stack) -> Value {
    let frames = stack.frames.iter().map(|frame| {
        json!({
            "level": frame.level,
            "frame": frame.of_wave,
            "physical": frame.physical,
            "inlined": frame.inlined,
            "function": frame.function,
            "file": frame.file,
            "line": frame.line,
            "column": frame.column,
            "pc": frame.pc.map(|pc| pc.to_string()),
            "cfa": frame.cfa,
            "code_object": frame.code_object,
            "problem": frame.problem.as_ref().map(ToString::to_string),
        })
    });
    frames.collect()
}

pub(super) fn end_json(end: &StackEnd) -> Value {
    json!({ "reason": end.name(), "words": end.to_string() })
}
