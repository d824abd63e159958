//! Selection of thread and lane: `qlanescope.Find`, `qlanescope.Selected`.

use serde::Serialize;

use super::super::error::{MALFORMED, PacketError};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;
use super::super::threads::Thread;
use super::vendor::{about, named, send, value};
use crate::report::schema::Schema;
use crate::session::work_item;

/// The lane at a place in the grid.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Found {
    /// The lane; null: the place is a wave's.
    lane: Option<u8>,
    /// Whether the thread is a lane.
    is_lane: bool,
}

impl Schema for Found {
    const NAME: &'static str = "find";
}

/// The selected thread.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Selected {}

impl Schema for Selected {
    const NAME: &'static str = "selected";
}

/// `qlanescope.Find:place:HEX;[thread:ID;]`: the thread, wave and lane at a place in the grid, in the dispatch of `thread`.
pub(crate) fn find(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let of = named(state, request.args, &["place", "thread"]);
    let answer = of.and_then(|near| {
        let place = value(request.args, b"place").and_then(parse::bytes);
        let place = place.ok_or(PacketError::malformed("a place in hex digits is needed"))?;
        let refused = |error: work_item::WorkItemError| PacketError::new(MALFORMED, error.to_string());
        let place = String::from_utf8_lossy(&place).parse().map_err(refused)?;
        let (wave, lane) = work_item::find(state.session.as_ref(), near.wave, &place).map_err(refused)?;
        let thread = state.threads.at(wave, lane.unwrap_or_else(|| state.session.focus(wave)));
        let thread = thread.ok_or_else(|| {
            PacketError::new(MALFORMED, format!("no thread is the lane of {place}, which is not active"))
        })?;
        about(state, thread, Found { lane: lane.map(|lane| lane.0), is_lane: thread.lane.is_some() })
    });
    send(answer, reply)
}

/// `qlanescope.Selected:thread:ID;`: the client's selected thread.
pub(crate) fn selected(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let thread = named(state, request.args, &["thread"]).and_then(|thread: Thread| {
        if value(request.args, b"thread").is_none() {
            return Err(PacketError::malformed("a thread is needed"));
        }
        Ok(thread)
    });
    let answer = thread.and_then(|thread| {
        let is_lldb = state.facade().is_lldb();
        if is_lldb {
            // LLDB names its thread to the server only before it reads of it.
            state.select(thread)?;
        } else {
            state.selection.choose(thread);
        }
        state.is_chosen = is_lldb;
        about(state, thread, Selected {})
    });
    send(answer, reply)
}
