//! What a connection begins with.

use super::super::Flow;
use super::super::fault::Fault;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;

/// Bytes of views from which on a pipe is slow.
const SLOW_BYTES: u64 = 1 << 19;

/// `QStartNoAckMode`
pub(crate) fn stop_acks(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    state.features.no_acks = true;
    reply.text("OK");
    Ok(Flow::Continue)
}

/// `qTStatus`: there is no trace to tell of.
///
/// gdb asks this while it attaches, and prints text that comes before the answer: the one place where the user of an
/// unmodified gdb can be told what was attached to.
pub(crate) fn greet(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    if !state.greeted && !state.facade().is_lldb() {
        state.greeted = true;
        let greeting = super::super::say::greeting(state);
        reply.console(&(greeting + &state.take_notes()));
        if let Some(words) = slow_pipe(state) {
            reply.console(&words);
        }
    }
    Ok(Flow::Continue)
}

/// What a pipe costs. gdb 13 looks whether the program at its other end wrote an error, with a system call for each byte that it
/// reads: a megabyte takes 0.2 s to 2 s, and over a socket some milliseconds.
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

/// `qSymbol`: no symbol is wanted from the client.
pub(crate) fn no_symbols(_: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    reply.text("OK");
    Ok(Flow::Continue)
}
