//! Contents of a wave and of the dump: stacks, variables, registers, memory, arguments of kernels, code objects.

use std::fmt::Write as _;

use super::super::super::state::State;
use super::super::super::threads::Thread;
use super::super::memory::read_place;
use super::super::target_xml;
use super::threads::{heading, lanes_asked};
use super::{said, sentence};
use crate::arch::{RegId, WaveArch};
use crate::report::{Style, evaluation, spaces, stack, text};
use crate::session::{EvaluateError, Expression, LaneStack, Question, Want, problem_notice};
use crate::units::LaneSet;

/// The longest run of memory that one command prints.
const MAX_BYTES: u64 = 4096;

/// `[LANE|all|active] [frame N]`
fn lane_and_frame<'a>(name: &str, arguments: &[&'a str]) -> Result<(Option<&'a str>, usize), String> {
    let (lane, frame) = match arguments {
        [] => (None, None),
        ["frame", frame] => (None, Some(*frame)),
        [lane] => (Some(*lane), None),
        [lane, "frame", frame] => (Some(*lane), Some(*frame)),
        _ => return Err(format!("Say a lane and a frame: monitor {name} 3 frame 1.")),
    };
    let frame = frame.map_or(Ok(0), |frame| said(spaces::number(frame)))?;
    Ok((lane, usize::try_from(frame).unwrap_or(usize::MAX)))
}

pub(super) fn locals(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, String> {
    let (lane, frame) = lane_and_frame("locals", arguments)?;
    let lanes = lanes_asked(state, thread, lane, frame)?;
    let locals = said(state.session.locals(thread.wave, lanes, frame))?;
    Ok(text::locals(&locals, Style::Plain))
}

pub(super) fn backtrace(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, String> {
    let wave = thread.wave;
    let (lane, first) = lane_and_frame("backtrace", arguments)?;
    let lanes = lane.map(|_| lanes_asked(state, thread, lane, 0)).transpose()?;
    Ok(match (lane, lanes) {
        (Some("all" | "active"), Some(lanes)) => {
            let stacks = said(state.session.lane_stacks(wave, lanes))?;
            stack::lanes_text(&said(LaneStack::from_frame(stacks, first))?, Style::Plain)
        }
        (_, lanes) => {
            // A thread that is a lane has that lane's stack.
            let lane = lanes.and_then(LaneSet::first).or(thread.lane);
            let found = said(state.session.backtrace(wave, lane))?;
            stack::text(&said(found.from_frame(first))?, Style::Plain)
        }
    })
}

pub(super) fn eval(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, String> {
    let (mut value, mut size, mut rest) = (false, None, arguments);
    loop {
        rest = match rest {
            ["--value", rest @ ..] => {
                value = true;
                rest
            }
            ["--size"] => return Err("Say how many bytes: monitor eval --size 4 DW_OP_lit16.".to_owned()),
            ["--size", number, rest @ ..] => {
                size = Some(said(spaces::number(number))?);
                rest
            }
            _ => break,
        };
    }
    let text = rest.join(" ");
    if text.is_empty() {
        return Err("Say an expression: monitor eval DW_OP_regx VGPR3.".to_owned());
    }
    let want = if value { Want::Value } else { Want::Location { size, legacy: false } };
    let expression = Expression::Text(text.clone());
    let question = Question { expression, dialect: None, want, explain: false };
    let lanes = LaneSet::one(state.lane(thread));
    match state.session.evaluate(thread.wave, lanes, &question) {
        Ok(found) => Ok(evaluation::text(&found, Style::Plain)),
        Err(EvaluateError::Text(error)) => Err(sentence_above(&evaluation::misread(&text, &error))),
        Err(error) => Err(sentence(&error.to_string())),
    }
}

/// The same as [`sentence`] for text with further lines.
fn sentence_above(words: &str) -> String {
    match words.split_once('\n') {
        Some((first, rest)) => format!("{}\n{rest}", sentence(first)),
        None => sentence(words),
    }
}

pub(super) fn register(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, String> {
    if arguments.is_empty() {
        return Err("Say which registers: monitor register v0 exec, s0-s7 or scalar.".to_owned());
    }
    let kind = state.session.kind();
    let mut answer = String::new();
    let mut chosen = Vec::new();
    for name in arguments {
        let found = registers_of(state, &kind, name.trim_start_matches('$'))?;
        if found.is_empty() {
            let _ = writeln!(answer, "No register of the group {name} was captured.");
        }
        chosen.extend(found);
    }
    for register in chosen.into_iter().filter_map(|id| kind.register(id)) {
        let name = &register.name;
        let value = said(state.session.register(thread.wave, register.id))?;
        match text::register(&kind, register, &value) {
            Some(line) => answer.push_str(&line),
            None => {
                let _ = writeln!(answer, "{name:<14}not captured");
            }
        }
    }
    Ok(answer)
}

/// The registers of a name, a range or a group.
fn registers_of(state: &State, kind: &WaveArch, name: &str) -> Result<Vec<RegId>, String> {
    if let Some(class) = target_xml::class(name) {
        let is_member = |id: &RegId| kind.register(*id).is_some_and(|register| register.class == class);
        return Ok(state.session.described().into_iter().filter(is_member).collect());
    }
    if name.contains('-') {
        let (first, count) = said(kind.range(name))?;
        return Ok((first.0..first.0.saturating_add(count)).map(RegId).collect());
    }
    let found = kind.named(name);
    let register = found.ok_or_else(|| format!("{} has no register {name}.", kind.target.name))?;
    Ok(vec![register.id])
}

pub(super) fn memory(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, String> {
    let &[space, address, length] = arguments else {
        return Err("Say a space, an address and a length: monitor memory private_lane 0x10 16.".to_owned());
    };
    let lane = Some(state.lane(thread));
    let place = said(spaces::parse_place(state.session.as_ref(), thread.wave, lane, space, address))?;
    let asked = said(spaces::number(length))?;
    let length = asked.min(MAX_BYTES);
    let read = read_place(state, place, length).map_err(|fault| sentence(&fault.words))?;
    let name = spaces::place_name(state.session.as_ref(), place);
    let prefix = name.split_once('#').map_or(String::new(), |(space, _)| format!("{space}#"));
    let mut answer = text::memory(&prefix, place.address.0, state.buffer.get(..read).unwrap_or_default());
    if (read as u64) < length {
        let _ = writeln!(answer, "Captured up to here: {read} of {asked} bytes.");
    } else if length < asked {
        let _ = writeln!(answer, "The first {length} of {asked} bytes.");
    }
    Ok(answer)
}

/// Without an argument the answer is about the wave, and begins with its name.
pub(super) fn arguments(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, String> {
    let (asked, heading) = match arguments.first() {
        Some(&"all") => (None, String::new()),
        Some(id) => (Some(said(spaces::number(id))?), String::new()),
        None => {
            let heading = heading(state, thread)?;
            let Some(id) = said(state.session.wave(thread.wave))?.dispatch else {
                let words = "The dispatch of this wave is not known; try `monitor arguments all`.";
                return Err(heading + words);
            };
            (Some(u64::from(id)), heading)
        }
    };
    let all = state.session.arguments();
    let mut shown = all.iter().filter(|one| asked.is_none_or(|id| u64::from(one.dispatch) == id)).peekable();
    if shown.peek().is_none() {
        let id = asked.map_or_else(String::new, |id| format!(" {id}"));
        return Err(format!("The dump has no dispatch{id}."));
    }
    let shown: String = shown.map(|one| text::arguments(one, Style::Plain)).collect();
    Ok(heading + &shown)
}

pub(super) fn objects(state: &State) -> String {
    let objects = state.session.code_objects();
    if objects.is_empty() {
        return "No code object was captured.\n".to_owned();
    }
    let mut answer = String::new();
    for object in objects {
        let end = object.size.map(|size| format!("-{:#x}", object.address.0.saturating_add(size)));
        let _ = write!(answer, "{}{}  {}", object.address, end.unwrap_or_default(), object.name);
        if let Some(problem) = object.problem() {
            let _ = write!(answer, "  ({problem})");
        }
        answer.push('\n');
    }
    answer
}

/// Maximum number of listed problems.
pub(super) const MAX_PROBLEMS: usize = 64;

pub(super) fn notices(state: &State) -> String {
    let (mut lines, problems) = (state.notices(), state.session.problems());
    // The dump's problems are listed here one by one, and not in a sentence.
    let summary = problem_notice(&problems);
    lines.retain(|line| Some(line) != summary.as_ref());
    lines.extend(problems.iter().take(MAX_PROBLEMS).map(|problem| format!("problem: {problem}")));
    if let Some(more @ 1..) = problems.len().checked_sub(MAX_PROBLEMS) {
        lines.push(format!("and {more} more problems, which `lanescope info` lists"));
    }
    if lines.is_empty() { "Nothing to note.\n".to_owned() } else { Style::Plain.folded(&lines.join("\n")) }
}
