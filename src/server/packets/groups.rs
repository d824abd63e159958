//! Waves and lanes by call stack, and the position of one lane: `monitor groups`, `qlanescope.Groups`,
//! `qlanescope.LanePc`.

use serde_json::Value;

use super::super::Flow;
use super::super::error::PacketError;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;
use super::super::threads::Thread;
use super::monitor::said;
use super::vendor::{about, lanes_of, named, only, send, value};
use crate::report::{Style, groups as report, json};
use crate::session::{GroupBy, Grouping, Member, ReadError};

/// `qlanescope.Groups[:lanes:1;][by:function|line|pc;]`
pub(crate) fn groups(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let lanes = match value(request.args, b"lanes") {
        None | Some(b"0") => Ok(false),
        Some(b"1") => Ok(true),
        Some(_) => Err(PacketError::malformed("lanes: 0 or 1")),
    };
    let args = only(request.args, &[b"lanes", b"by"]).and(lanes);
    let answer = args.and_then(|lanes| answer(state, lanes, value(request.args, b"by")));
    send(answer, reply)
}

/// `qlanescope.LanePc[:thread:ID;][lane:N;]`
pub(crate) fn lane_pc(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let lane = value(request.args, b"lane");
    let of = named(state, request.args, &[b"thread", b"lane"]);
    let answer = of.and_then(|thread| lane_pc_json(state, thread, lane));
    send(answer, reply)
}

/// The answer to a packet.
pub(super) fn answer(state: &State, lanes: bool, by: Option<&[u8]>) -> Result<Value, PacketError> {
    let by = by.map(|name| GroupBy::named(&String::from_utf8_lossy(name)));
    let by = by.map(|by| by.ok_or(PacketError::malformed("by: function, line or pc"))).transpose()?;
    let grouping = Grouping { by: by.unwrap_or_default(), lanes };
    Ok(report::json_with(&state.session.groups(grouping)?, &|member| threads(state, member)))
}

/// The numbers of the threads that are the wave of a group, or its lanes of the group.
fn threads(state: &State, member: &Member) -> Vec<u64> {
    if !state.threads.are_counted() {
        return vec![state.number(Thread::wave(member.wave))];
    }
    let Some((first, last)) = state.threads.of_wave(member.wave) else { return Vec::new() };
    let of_group = |number: &u64| match (state.threads.get(*number), member.lanes) {
        (Some(Thread { lane: Some(lane), .. }), Some(lanes)) => lanes.contains(lane),
        _ => true,
    };
    (first..=last).filter(of_group).collect()
}

fn lane_pc_json(state: &State, thread: Thread, lane: Option<&[u8]>) -> Result<Value, PacketError> {
    if matches!(lane, Some(b"all" | b"active")) {
        return Err(PacketError::malformed("one lane has a PC: qlanescope.Lanes answers for all"));
    }
    let asked = lanes_of(state, thread, lane, 0)?;
    let lanes = state.session.lanes(thread.wave)?;
    let found = lanes.iter().find(|info| asked.contains(info.lane));
    let missing = ReadError::NotCaptured { what: "the lane".to_owned() };
    Ok(about(state, thread, json::lane_pc(thread.wave, found.ok_or(missing)?)))
}

/// `monitor groups [lanes] [function|line|pc]`
pub(super) fn monitor(state: &mut State, _: Thread, arguments: &[&str]) -> Result<String, String> {
    let mut grouping = Grouping::default();
    for argument in arguments {
        match (*argument, GroupBy::named(argument)) {
            ("lanes", _) => grouping.lanes = true,
            (_, Some(by)) => grouping.by = by,
            _ => return Err("Say lanes, and function, line or pc: monitor groups lanes function.".to_owned()),
        }
    }
    let groups = said(state.session.groups(grouping))?;
    // If threads are lanes, a wave has no number except the one in its lanes' names.
    let number = |member: &Member| match state.threads.are_counted() {
        true => u64::from(member.id),
        false => state.shown(Thread::wave(member.wave)),
    };
    Ok(report::text(&groups, &number, Style::Plain))
}
