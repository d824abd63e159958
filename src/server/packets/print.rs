//! What a path names: `monitor print PATH` and `qlanescope.Print`.

use serde_json::Value;

use super::super::Flow;
use super::super::fault::{Fault, MALFORMED};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;
use super::monitor::{lane_of, said};
use super::vendor::{frame_of, lanes_of, send, value, wave};
use crate::debuginfo::format::Letter;
use crate::report::{Style, print as report, spaces};
use crate::session::Unreadable;
use crate::session::print::{NotPrinted, Query, no_letter};
use crate::units::{LaneSet, WaveId};

/// `qlanescope.Print:path:HEX;[thread:ID;][lane:N;][frame:N;][format:LETTER;]`, `lane:all;` and `lane:active;` for several.
pub(crate) fn print(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    let of = |key: &[u8]| value(request.args, key);
    let (lane, frame, path, letter) = (of(b"lane"), of(b"frame"), of(b"path"), of(b"format"));
    let answer = wave(state, request.args).and_then(|wave| answer(state, wave, lane, frame, path, letter));
    send(answer, reply)
}

/// The answer to a packet; the path is in hex.
pub(super) fn answer(
    state: &State,
    wave: WaveId,
    lane: Option<&[u8]>,
    frame: Option<&[u8]>,
    path: Option<&[u8]>,
    letter: Option<&[u8]>,
) -> Result<Value, Fault> {
    let lanes = match lane {
        Some(b"active") => active(state, wave)?,
        lane => lanes_of(state, wave, lane)?,
    };
    let path = path.ok_or(Fault::malformed("a path is needed, in hex"))?;
    let path = parse::bytes(path).and_then(|bytes| String::from_utf8(bytes).ok());
    let path = path.ok_or(Fault::malformed("the path is not UTF-8 in hex"))?;
    let letter = letter.map(|letter| {
        let letter = String::from_utf8_lossy(letter);
        Letter::of(&letter).ok_or_else(|| Fault::new(MALFORMED, no_letter(&letter)))
    });
    let query = Query { path, letter: letter.transpose()? };
    match state.session.print(wave, lanes, frame_of(frame)?, &query) {
        Ok(printed) => Ok(report::json(&printed)),
        Err(NotPrinted::Unreadable(why)) => Err(why.into()),
        Err(NotPrinted::Path(why)) => Err(Fault::new(MALFORMED, why.to_string())),
    }
}

fn active(state: &State, wave: WaveId) -> Result<LaneSet, Unreadable> {
    let exec = state.session.wave(wave)?.exec;
    exec.ok_or_else(|| Unreadable::NotCaptured { what: "EXEC".to_owned() })
}

/// `monitor print [/LETTER] [lane N|all|active] [frame N] PATH`
pub(super) fn monitor(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    let wave = state.selected();
    let (mut letter, mut frame, mut rest) = (None, 0, arguments);
    let mut lanes = LaneSet::one(state.session.focus(wave));
    loop {
        rest = match rest {
            [asked, rest @ ..] if asked.starts_with('/') => {
                let asked = asked.trim_start_matches('/');
                letter = Some(Letter::of(asked).ok_or_else(|| no_letter(asked) + ".")?);
                rest
            }
            // Where a path follows: `lane` and `frame` may be variables, too.
            ["lane", asked, rest @ ..] if !rest.is_empty() => {
                lanes = match *asked {
                    "all" => said(state.session.wave(wave))?.kind.wave_size.all(),
                    "active" => said(active(state, wave))?,
                    asked => LaneSet::one(lane_of(state, wave, asked)?),
                };
                rest
            }
            ["frame", asked, rest @ ..] if !rest.is_empty() && spaces::number(asked).is_ok() => {
                frame = usize::try_from(said(spaces::number(asked))?).unwrap_or(usize::MAX);
                rest
            }
            _ => break,
        };
    }
    let path = rest.join(" ");
    if path.is_empty() {
        return Err("Say a path: monitor print body.at.x, print/x *p@4, print lane all $v0.".to_owned());
    }
    let query = Query { path: path.clone(), letter };
    match state.session.print(wave, lanes, frame, &query) {
        Ok(printed) => Ok(report::text(&printed, Style::Plain)),
        Err(NotPrinted::Unreadable(why)) => said(Err(why)),
        // The column is one of the path as it is shown here.
        Err(NotPrinted::Path(why)) => {
            Err(format!("{path}\n{}^\nThe path is wrong at {why}.", " ".repeat(why.column.saturating_sub(1))))
        }
    }
}
