//! The packets at the start of a connection.

use super::super::Flow;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;

/// Size of views in bytes above which a pipe is slow.
const SLOW_BYTES: u64 = 1 << 19;

/// `QStartNoAckMode`
pub(crate) fn stop_acks(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    state.features.no_acks = true;
    reply.text("OK");
    Ok(Flow::Continue)
}

/// `qTStatus`: the session has no trace.
///
/// gdb sends this at attach, and prints text before the answer. No other packet can greet the user of an unmodified
/// gdb.
pub(crate) fn greet(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    if !state.greeted && !state.facade().is_lldb() {
        state.greeted = true;
        let greeting = super::super::messages::greeting(state);
        reply.console(&(greeting + &state.take_notes()));
        if let Some(words) = slow_pipe(state) {
            reply.console(&words);
        }
    }
    Ok(Flow::Continue)
}

/// The warning about the cost of a pipe. gdb 13 checks for errors of the program at its other end, with a system call
/// for each byte that it reads: a megabyte takes 0.2 s to 2 s, and over a socket some milliseconds.
fn slow_pipe(state: &State) -> Option<String> {
    let view = state.first_view().filter(|_| state.is_piped)?;
    let bytes = view.objects().iter().map(|object| object.debug_bytes()).fold(0, u64::saturating_add);
    (bytes >= SLOW_BYTES).then(|| {
        let megabytes = bytes as f64 / f64::from(1 << 20);
        format!(
            "Note: gdb reads a pipe byte by byte, {megabytes:.1} MB of debug information at first. \
             `lanescope serve` and `target remote :1234` take a fraction of the time.\n"
        )
    })
}

/// `qSymbol`: the server needs no symbol from the client. `QThreadSuffixSupported`: `;thread:ID;` is accepted in every
/// packet, with or without this request.
pub(crate) fn accept(_: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    reply.text("OK");
    Ok(Flow::Continue)
}
