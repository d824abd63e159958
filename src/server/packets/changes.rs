//! The user's what-if changes: `monitor set PATH = VALUE`, `monitor changes`, `monitor reset`.

use super::super::state::State;
use super::super::threads::Thread;
use super::monitor::{CommandError, words};
use super::questions;
use crate::questions::{ArgumentError, Form, PRINT, Question, QuestionError};
use crate::report::lanes::Detail;
use crate::report::{Style, changes as report, print};
use crate::session::print::Query;
use crate::session::{ChangeError, Dropped, Reset};

/// Maximum number of listed dwords of registers, and of listed runs of memory.
const MAX_LISTED: usize = 64;

/// The words of `monitor set`: the path has the value after it.
const SET: Question = Question { name: "set", example: "set lane all $v0 = 0", ..PRINT };

/// `monitor changes`
pub(super) fn list(state: &mut State, _: Thread, _: &[&str]) -> Result<String, CommandError> {
    Ok(report::text(&state.session.changes(MAX_LISTED)?))
}

/// `monitor reset [all|registers|memory]`
pub(super) fn reset(state: &mut State, _: Thread, arguments: &[&str]) -> Result<String, CommandError> {
    let what = match arguments {
        [] | ["all"] => Reset::All,
        ["registers"] => Reset::Registers,
        ["memory"] => Reset::Memory,
        [word, ..] => {
            let (names, text) = (&["all", "registers", "memory"], (*word).to_owned());
            let error = ArgumentError::Choice { names, text }.into();
            return Err(CommandError::Argument { error, example: "reset registers" });
        }
    };
    let dropped = state.session.reset(what);
    state.forget_list();
    // A client has read nothing that changed now.
    let advice = if dropped == Dropped::default() { "" } else { stale(state) };
    Ok(format!("{}\n{advice}", report::dropped(what, dropped)))
}

/// `monitor set [lane LANES] [frame N] PATH = VALUE`
pub(super) fn set(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, CommandError> {
    let wave = thread.wave;
    let usage =
        "The target or the value is missing. Try `monitor set x = 5` or `monitor set lane all $v0 = 0`.";
    let arguments = match words::arguments(&SET, arguments) {
        Err(CommandError::Argument { error: QuestionError::Argument(ArgumentError::Needed(_)), .. }) => {
            return Err(CommandError::Usage(usage));
        }
        arguments => arguments?,
    };
    let text = arguments.text("path").unwrap_or_default().to_owned();
    let Some((path, value)) = halves(&text).filter(|_| !arguments.has("format")) else {
        return Err(CommandError::Usage(usage));
    };
    let asked = questions::asked(state, Some(thread), arguments, Form::Text(Style::Plain), 0);
    let frame = asked.frame();
    let lanes = asked.lanes(frame).map_err(|error| words::wrong(&SET, error))?;
    let set = state.session.assign(wave, lanes, frame, path, value);
    state.forget_list();
    set.map_err(|why| match why {
        ChangeError::Path(error) => QuestionError::Path { path: path.to_owned(), error }.into(),
        error => CommandError::Change(error),
    })?;
    // A stack that the new value changes may lack the frame.
    let shown = state.session.print(wave, lanes, frame, &Query { path: path.to_owned(), letter: None });
    let shown = shown.map(|printed| print::text(&printed, Detail::Rules, Style::Plain));
    let shown = shown.unwrap_or_else(|_| format!("{path} is set.\n"));
    Ok(format!("{shown}{}", stale(state)))
}

/// The two sides of the `=` outside of quotes.
fn halves(text: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let at = text.char_indices().find(|(at, c)| {
        let escaped = text.get(..*at).is_some_and(|before| before.ends_with('\\'));
        quoted ^= *c == '\'' && !escaped;
        *c == '=' && !quoted
    });
    let (at, _) = at?;
    let (path, value) = (text.get(..at)?.trim(), text.get(at + 1..)?.trim());
    (!path.is_empty() && !value.is_empty()).then_some((path, value))
}

/// The warning that the client may show stale values, and the command that makes it read anew.
fn stale(state: &State) -> &'static str {
    if state.facade().is_lldb() {
        "lldb keeps what it has read: `thread step-inst` runs nothing here, and makes it read anew."
    } else {
        "gdb keeps what it has read: `maint flush register-cache` and `maint flush dcache` make it read anew."
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
