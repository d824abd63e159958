//! Values of paths, and their explanations: `monitor print PATH`, `qlanescope.Print`, `monitor explain PATH`,
//! `qlanescope.Explain`.

use serde_json::Value;

use super::super::Flow;
use super::super::error::{MALFORMED, PacketError};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;
use super::super::threads::Thread;
use super::monitor::{lanes_asked, said};
use super::vendor::{about, frame_of, lanes_of, named, send, value};
use crate::debuginfo::format::Letter;
use crate::report::{Style, explain as explain_report, print as report, spaces};
use crate::session::print::{ParseError, PrintError, Query, no_letter};
use crate::units::LaneSet;

/// Maximum length of a reason in characters: it may quote the path.
const MAX_WORDS: usize = 200;

/// `qlanescope.Print:path:HEX;[thread:ID;][lane:N;][frame:N;][format:LETTER;]`, `lane:all;` and `lane:active;` for several.
pub(crate) fn print(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let of = |key: &[u8]| value(request.args, key);
    let (lane, frame, path, letter) = (of(b"lane"), of(b"frame"), of(b"path"), of(b"format"));
    let named = named(state, request.args, &[b"path", b"thread", b"lane", b"frame", b"format"]);
    let answer = named.and_then(|thread| answer(state, thread, lane, frame, path, letter));
    send(answer, reply)
}

/// `qlanescope.Explain:path:HEX;[thread:ID;][lane:N;][frame:N;]`, `lane:all;` and `lane:active;` for several.
pub(crate) fn explain(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let of = |key: &[u8]| value(request.args, key);
    let (lane, frame, path) = (of(b"lane"), of(b"frame"), of(b"path"));
    let named = named(state, request.args, &[b"path", b"thread", b"lane", b"frame"]);
    let answer = named.and_then(|thread| {
        let (lanes, frame, query) = question(state, thread, lane, frame, path, None)?;
        let explained = state.session.explain(thread.wave, lanes, frame, &query).map_err(refused)?;
        Ok(about(state, thread, explain_report::json(thread.wave, frame, &query.path, &explained)))
    });
    send(answer, reply)
}

/// The answer to a packet; the path is in hex.
pub(super) fn answer(
    state: &State,
    thread: Thread,
    lane: Option<&[u8]>,
    frame: Option<&[u8]>,
    path: Option<&[u8]>,
    letter: Option<&[u8]>,
) -> Result<Value, PacketError> {
    let (lanes, frame, query) = question(state, thread, lane, frame, path, letter)?;
    let printed = state.session.print(thread.wave, lanes, frame, &query).map_err(refused)?;
    Ok(about(state, thread, report::json(&printed)))
}

fn refused(why: PrintError) -> PacketError {
    match why {
        PrintError::ReadError(why) => why.into(),
        PrintError::Path(why) => PacketError::new(MALFORMED, why.to_string()),
    }
}

/// Lanes, frame and path of a packet.
fn question(
    state: &State,
    thread: Thread,
    lane: Option<&[u8]>,
    frame: Option<&[u8]>,
    path: Option<&[u8]>,
    letter: Option<&[u8]>,
) -> Result<(LaneSet, usize, Query), PacketError> {
    let frame = frame_of(frame)?;
    let lanes = lanes_of(state, thread, lane, frame)?;
    let path = path.ok_or(PacketError::malformed("a path is needed, in hex"))?;
    let path = parse::bytes(path).and_then(|bytes| String::from_utf8(bytes).ok());
    let path = path.ok_or(PacketError::malformed("the path is not UTF-8 in hex"))?;
    let letter = letter.map(|letter| {
        let letter = String::from_utf8_lossy(letter);
        Letter::of(&letter).ok_or_else(|| PacketError::new(MALFORMED, no_letter(&letter)))
    });
    Ok((lanes, frame, Query { path, letter: letter.transpose()? }))
}

/// `monitor print [/LETTER] [lane N|all|active] [frame N] PATH`
pub(super) fn monitor(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, String> {
    let (lanes, frame, query) = typed(state, thread, arguments)?;
    let printed = state.session.print(thread.wave, lanes, frame, &query);
    printed.map(|printed| report::text(&printed, Style::Plain)).map_err(|why| wrong(&query.path, why))
}

/// `monitor explain [lane N|all|active] [frame N] PATH`
pub(super) fn monitor_explain(
    state: &mut State,
    thread: Thread,
    arguments: &[&str],
) -> Result<String, String> {
    let (lanes, frame, query) = typed(state, thread, arguments)?;
    let explained = state.session.explain(thread.wave, lanes, frame, &query);
    explained.map(|all| explain_report::text(&all, Style::Plain)).map_err(|why| wrong(&query.path, why))
}

/// A typed line: letter, lanes, frame and path.
pub(super) fn typed(
    state: &State,
    thread: Thread,
    arguments: &[&str],
) -> Result<(LaneSet, usize, Query), String> {
    let (mut letter, mut frame, mut rest) = (None, 0, arguments);
    let mut lanes = None;
    loop {
        rest = match rest {
            [asked, rest @ ..] if asked.starts_with('/') => {
                let asked = asked.trim_start_matches('/');
                letter = Some(Letter::of(asked).ok_or_else(|| no_letter(asked) + ".")?);
                rest
            }
            // A path follows: `lane` and `frame` may be variables, too.
            ["lane", asked, rest @ ..] if !rest.is_empty() => {
                lanes = Some(*asked);
                rest
            }
            ["frame", asked, rest @ ..] if !rest.is_empty() && spaces::number(asked).is_ok() => {
                frame = usize::try_from(said(spaces::number(asked))?).unwrap_or(usize::MAX);
                rest
            }
            _ => break,
        };
    }
    // The active lanes depend on the frame, which may follow.
    let lanes = lanes_asked(state, thread, lanes, frame)?;
    let path = rest.join(" ");
    if path.is_empty() {
        return Err("Say a path: monitor print body.at.x, print/x *p@4, print lane all $v0.".to_owned());
    }
    Ok((lanes, frame, Query { path, letter }))
}

/// The reason of a typed path without an answer.
fn wrong(path: &str, why: PrintError) -> String {
    match why {
        PrintError::ReadError(why) => super::monitor::sentence(&why.to_string()),
        PrintError::Path(why) => wrong_path(path, &why),
    }
}

/// A path with its error below; the column counts in the path as printed.
pub(super) fn wrong_path(path: &str, why: &ParseError) -> String {
    /// Characters on either side of the error; those of a terminal's line.
    const AROUND: usize = 40;
    let at = why.column.saturating_sub(1);
    let skipped = if path.chars().count() > 2 * AROUND { at.saturating_sub(AROUND) } else { 0 };
    let mut shown: String = path.chars().skip(skipped).take(2 * AROUND).collect();
    let is_cut = skipped + shown.chars().count() < path.chars().count();
    let before = if skipped > 0 { "..." } else { "" };
    shown.push_str(if is_cut { "..." } else { "" });
    let spaces = " ".repeat(at - skipped + before.len());
    let words: String = why.to_string().chars().take(MAX_WORDS).collect();
    format!("{before}{shown}\n{spaces}^\nThe path is wrong at {words}.")
}

#[cfg(test)]
#[path = "print_tests.rs"]
mod tests;
