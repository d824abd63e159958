//! Kernel launches: `monitor dispatches`, `qlanescope.Dispatches`.

use super::super::Flow;
use super::super::error::PacketError;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;
use super::super::threads::Thread;
use super::monitor::said;
use super::vendor::{only, send};
use crate::report::{Style, dispatches as report};

/// `qlanescope.Dispatches`
pub(crate) fn dispatches(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, PacketError> {
    let answer = only(request.args, &[]);
    let answer =
        answer.map(|()| report::json(&state.session.dispatches(), &|wave| state.threads.of_wave(wave)));
    send(answer, reply)
}

/// `monitor dispatches`
pub(super) fn monitor(state: &mut State, thread: Thread, _: &[&str]) -> Result<String, String> {
    let current = said(state.session.wave(thread.wave))?.dispatch;
    Ok(report::text(&state.session.dispatches(), current, Style::Plain))
}
