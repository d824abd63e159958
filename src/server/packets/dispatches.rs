//! Kernel launches: `monitor dispatches`, `qlanescope.Dispatches`.

use super::super::Flow;
use super::super::fault::Fault;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;
use super::monitor::said;
use super::vendor::{only, send};
use crate::report::{Style, dispatches as report};

/// `qlanescope.Dispatches`
pub(crate) fn dispatches(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, Fault> {
    let answer = only(request.args, &[]);
    let answer =
        answer.map(|()| report::json(&state.session.dispatches(), &|wave| state.threads.of_wave(wave)));
    send(answer, reply)
}

/// `monitor dispatches`
pub(super) fn monitor(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    if !arguments.is_empty() {
        return Err(
            "`monitor dispatches` takes no argument; `monitor arguments DISPATCH` shows those of one."
                .to_owned(),
        );
    }
    let current = said(state.session.wave(state.selected().wave))?.dispatch;
    Ok(report::text(&state.session.dispatches(), current, Style::Plain))
}
