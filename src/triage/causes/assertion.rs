//! Assertions and traps.
//!
//! `assert` of HIP and of OpenMP calls a function of the device library that prints the text and traps with id 2, as
//! `__builtin_trap` and `abort` do. Only the function's name on the stack tells an assertion.

use super::{bad_pc, place};
use crate::capture::FailedAssertion;
use crate::debuginfo::source_name;
use crate::isa::Control;
use crate::session::{Inspect, Scope, StackFrame, ValueState, WaveInfo};
use crate::triage::listings::{CodeAt, Listings};
use crate::triage::{Assertion, Cause, SourceAt};
use crate::units::{LaneId, LaneSet};

/// Functions that report a failed assertion: HIP and glibc, CUDA, OpenMP, C runtimes of macOS and Windows.
const REPORTERS: [&str; 6] =
    ["__assert_fail", "__assertfail", "__assert_fail_internal", "__assert_rtn", "__assert", "_wassert"];
/// Functions that only trap.
const TRAPPERS: [&str; 3] = ["abort", "__builtin_trap", "trap"];
/// Parameters of the reporters with the condition.
const CONDITIONS: [&str; 5] = ["assertion", "__assertion", "expr", "__message", "_message"];

/// The assertion or trap of a wave.
pub(super) fn describe(session: &dyn Inspect, info: &WaveInfo, code: &mut Listings) -> Cause {
    let found = |condition, at, is_inferred| {
        let lanes = info.exec.unwrap_or_default();
        Cause::Assertion(Assertion { condition, at, is_inferred, lanes, wave: info.wave })
    };
    let frames = session.backtrace(info.wave, None).map(|stack| stack.frames).unwrap_or_default();
    let is_one = |frame: &StackFrame, names: &[&str]| {
        frame.function.as_deref().is_some_and(|function| names.contains(&base_name(function)))
    };
    let reporter = frames.iter().rposition(|frame| is_one(frame, &REPORTERS));
    let Some(reporter) = reporter else {
        let inner = frames.iter().take_while(|frame| is_one(frame, &TRAPPERS)).count();
        let frame = frames.get(inner).or(frames.first());
        let at = place(session, frame);
        return match printed(session, info, &at) {
            // The reporter is inlined.
            Some(one) => found(Some(one.condition), one.at, one.is_inferred),
            None => Cause::Trap { at, id: trap_id(session, info, code) },
        };
    };
    let of_reporter = frames.get(reporter);
    let (at, call) = match frames.get(reporter + 1) {
        Some(caller) => {
            let outer = frames.iter().skip(reporter + 1).find(|frame| !frame.inlined);
            let call = outer.and_then(|frame| bad_pc::call_before(session, info, frame.pc?.0, code));
            (place(session, Some(caller)), call)
        }
        // No unwind information: the reporter may still have its return address.
        None => {
            let call = bad_pc::by_return_address(session, info, code);
            let caller = call.as_ref().and_then(|call| call.place(session));
            let is_other =
                |caller: &SourceAt| of_reporter.is_none_or(|reporter| reporter.function != caller.function);
            match caller.filter(is_other) {
                Some(caller) => (caller, call),
                None => (place(session, of_reporter), None),
            }
        }
    };
    let of_source = || at.text.as_deref().and_then(condition).map(str::to_owned);
    let of_argument = argument(session, info, &frames, reporter);
    let of_call = || {
        let text = call.as_ref()?.string(session, info)?;
        // The compiler may have removed the argument: then the first one is another.
        let is_place = |name: &Option<String>| name.as_ref().is_some_and(|name| text.ends_with(base(name)));
        (!is_place(&at.file) && !is_place(&at.function)).then_some(text)
    };
    if let Some(condition) = of_argument.or_else(of_call) {
        return found(Some(condition), at, false);
    }
    match printed(session, info, &at) {
        Some(one) => found(Some(one.condition), one.at, one.is_inferred),
        None => found(of_source(), at, false),
    }
}

/// An assertion that the program printed.
struct Printed {
    condition: String,
    at: SourceAt,
    /// Whether its function is not that of the wave by name: a function of the program may be inlined.
    is_inferred: bool,
}

/// The assertion that the program printed for a line; of an unknown line its only one.
fn printed(session: &dyn Inspect, info: &WaveInfo, at: &SourceAt) -> Option<Printed> {
    let faults = session.faults();
    let mut printed = faults.iter().filter_map(|fault| fault.assertion.as_ref());
    if let (Some(file), Some(line)) = (&at.file, at.line) {
        let is_it = |one: &&FailedAssertion| {
            one.line == Some(line) && one.file.as_deref().map(base) == Some(base(file))
        };
        let condition = printed.find(is_it)?.condition.clone();
        return Some(Printed { condition, at: at.clone(), is_inferred: false });
    }
    let one = printed.next().filter(|_| printed.next().is_none())?;
    let kernel = info.kernel.as_deref().map(source_name);
    // The text has the return type before the name.
    let function = one.function.as_deref().map(|function| {
        base_name(function).rsplit(char::is_whitespace).next().unwrap_or_default().to_owned()
    });
    let names = [kernel.as_deref(), at.function.as_deref()];
    let is_own =
        function.is_some_and(|function| names.into_iter().flatten().any(|own| base_name(own) == function));
    let (function, file) = (one.function.clone(), one.file.clone());
    let place = SourceAt { function, file, line: one.line, ..SourceAt::default() };
    let at = if one.line.is_some() { place } else { at.clone() };
    Some(Printed { condition: one.condition.clone(), at, is_inferred: !is_own })
}

/// The last part of a path.
fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The name without namespaces, parameters and suffixes of clones.
fn base_name(function: &str) -> &str {
    let name = function.split(['(', '<', '.']).next().unwrap_or(function);
    name.rsplit("::").next().unwrap_or(name)
}

/// The condition in an argument of the reporting function or of one that it calls.
fn argument(
    session: &dyn Inspect,
    info: &WaveInfo,
    frames: &[StackFrame],
    reporter: usize,
) -> Option<String> {
    let lane = info.exec.and_then(LaneSet::first).unwrap_or(LaneId(0));
    frames.iter().take(reporter + 1).rev().filter_map(|frame| frame.of_wave).find_map(|frame| {
        let locals = session.locals(info.wave, LaneSet::one(lane), frame).ok()?;
        let is_condition = |name: &str| CONDITIONS.contains(&name);
        let found =
            locals.variables.iter().filter(|one| one.scope == Scope::Argument && is_condition(&one.name));
        found.into_iter().find_map(|one| match &one.lanes.first()?.state {
            ValueState::Value(text) => quoted(text),
            _ => None,
        })
    })
}

/// The string behind a pointer as a debugger prints it: `0x7f00 "i < n"`.
pub(super) fn quoted(value: &str) -> Option<String> {
    let (_, rest) = value.split_once('"')?;
    let (text, _) = rest.rsplit_once('"')?;
    (!text.is_empty()).then(|| text.replace("\\\"", "\""))
}

/// The operand of the only `assert` in a source line. Strings and characters may hold parentheses.
pub(super) fn condition(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("assert")?;
    let rest = rest.trim_start().strip_prefix('(')?;
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    if before.ends_with(is_word) || rest.contains("assert") {
        return None;
    }
    let (mut depth, mut quote, mut is_escaped) = (1usize, None, false);
    for (at, letter) in rest.char_indices() {
        match (letter, quote) {
            _ if is_escaped => is_escaped = false,
            ('\\', Some(_)) => is_escaped = true,
            (letter, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(letter),
            ('(', None) => depth += 1,
            (')', None) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return rest.get(..at).map(str::trim).filter(|text| !text.is_empty());
        }
    }
    None
}

/// The number of the trap at the PC, or directly before it.
fn trap_id(session: &dyn Inspect, info: &WaveInfo, code: &mut Listings) -> Option<u8> {
    let pc = info.pc?.0;
    let listing = code.around(CodeAt { session, wave: info.wave, address: pc })?.ok()?;
    let at = listing.index(pc)?;
    let each = [Some(at), at.checked_sub(1)].into_iter().flatten();
    each.filter_map(|index| listing.instructions.get(index)).find_map(|one| {
        let is_trap = one.control() == Some(Control::Trap);
        u8::try_from(one.immediate().filter(|_| is_trap)?).ok()
    })
}
