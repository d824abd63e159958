//! Instructions: `monitor disassemble`, `qlanescope.Disassemble`.

use serde_json::Value;

use super::super::Flow;
use super::super::error::{MALFORMED, PacketError};
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;
use super::super::threads::Thread;
use super::monitor::{lane_of, said};
use super::vendor::{self, about, frame_of, named, number_of, send, value};
use crate::report::{Style, disassembly, spaces};
use crate::session::Instructions;

/// `qlanescope.Disassemble[:address:N;][count:N;][around:N;][thread:ID;][lane:N;][frame:N;]`
pub(crate) fn disassemble(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let keys: &[&[u8]] = &[b"address", b"count", b"around", b"thread", b"lane", b"frame"];
    state.code.asks_for_instructions = true;
    let of = named(state, request.args, keys);
    send(of.and_then(|thread| answer(state, thread, request.args)), reply)
}

fn answer(state: &State, thread: Thread, args: &[u8]) -> Result<Value, PacketError> {
    let count = |key| Ok::<_, PacketError>(number_of(args, key)?.map(index));
    let lane = value(args, b"lane").map(vendor::lane_of).transpose()?;
    let asked = Instructions {
        lane: lane.or(thread.lane),
        frame: frame_of(value(args, b"frame"))?,
        address: number_of(args, b"address")?,
        count: count(b"count")?,
        around: count(b"around")?,
    };
    one_of(&asked).map_err(|words| PacketError::new(MALFORMED, words))?;
    let found = state.session.disassemble(thread.wave, &asked)?;
    Ok(about(state, thread, disassembly::json(&found)))
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn one_of(asked: &Instructions) -> Result<(), String> {
    match (asked.count, asked.around) {
        (Some(_), Some(_)) => Err("either count or around".to_owned()),
        (Some(0), None) => Err("a count of 0 is nothing".to_owned()),
        _ => Ok(()),
    }
}

/// `monitor disassemble [ADDRESS] [count N] [around N] [lane N] [frame N]`
pub(super) fn monitor(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, String> {
    const USAGE: &str =
        "Say an address, and count, around, lane or frame: monitor disassemble 0x7f0000001000 count 8.";
    let mut asked = Instructions { lane: thread.lane, ..Instructions::default() };
    let mut words = arguments.iter();
    let lane = Some(state.lane(thread));
    let address = |word: &str| said(spaces::address(state.session.as_ref(), thread.wave, lane, word));
    while let Some(word) = words.next() {
        // The options of the command line and of gdb: --count 8, /s.
        let name = word.trim_start_matches('-');
        let mut number = || said(spaces::number(words.next().ok_or_else(|| USAGE.to_owned())?));
        match name {
            "count" => asked.count = Some(index(number()?)),
            "around" => asked.around = Some(index(number()?)),
            "frame" => asked.frame = index(number()?),
            "address" => asked.address = Some(address(words.next().ok_or(USAGE)?)?),
            "lane" => {
                let lane = words.next().ok_or(USAGE)?;
                asked.lane = Some(lane_of(state, thread.wave, lane)?);
            }
            "/s" => {}
            _ if asked.address.is_none() && (word.starts_with('$') || spaces::number(word).is_ok()) => {
                asked.address = Some(address(word)?);
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    one_of(&asked).map_err(|words| super::monitor::sentence(&words))?;
    let found = said(state.session.disassemble(thread.wave, &asked))?;
    Ok(disassembly::text(&found, Style::Plain))
}
