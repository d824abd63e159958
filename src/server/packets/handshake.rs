//! Hello and goodbye: what is said once per connection.

use super::super::Flow;
use super::super::fault::Fault;
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;

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
        reply.console(&super::super::say::greeting(state));
    }
    Ok(Flow::Continue)
}

/// `qSymbol`: no symbol is wanted from the client.
pub(crate) fn no_symbols(_: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    reply.text("OK");
    Ok(Flow::Continue)
}

/// `k`: the connection ends. gdb wants no reply; LLDB takes anything but an exit for a mistake.
pub(crate) fn kill(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    if !request.args.is_empty() {
        return Err(Fault::malformed("`k` takes no arguments"));
    }
    if state.facade().is_lldb() {
        reply.text("X09");
    }
    Ok(Flow::Close)
}

/// `vKill;PID`: the dump lives on, the connection ends. There is one process, so its id says nothing.
pub(crate) fn kill_process(
    _: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, Fault> {
    parse::number(request.args).ok_or(Fault::malformed("not vKill;PID"))?;
    reply.text("OK");
    Ok(Flow::Close)
}

/// `D` or `D;PID`: the connection ends.
pub(crate) fn detach(_: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    let is_sound = match request.args.split_first() {
        None => true,
        Some((separator, pid)) => *separator == b';' && parse::number(pid).is_some(),
    };
    if !is_sound {
        return Err(Fault::malformed("not D or D;PID"));
    }
    reply.text("OK");
    Ok(Flow::Close)
}
