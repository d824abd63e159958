//! `c`, `s`, `vCont` and kin: nothing runs, and the client must learn that without being wedged.
//!
//! Measured: gdb hangs on an empty reply, and its `step` resumes for ever when the same stop is reported again. LLDB
//! ends the session on an error. So gdb is told that the recording has no more history, after words that say why, and
//! stays where it is; LLDB is given the stop again.

use super::super::Flow;
use super::super::fault::Fault;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::State;
use super::stop;

/// What the user reads.
const WORDS: &str = "This is a captured state: nothing can run, and nothing has changed.\n";

/// `vCont?`: without all four gdb refuses to resume in its own words and wedges.
pub(crate) fn actions(_: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    reply.text("vCont;c;C;s;S");
    Ok(Flow::Continue)
}

/// Every request to resume, forward or backward.
///
/// The stop is reported for the wave that the user looks at, so that gdb stays there.
pub(crate) fn refuse(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    reply.console(WORDS);
    state.select(state.selected());
    stop::write(state, state.general, true, reply)?;
    if !state.facade().is_lldb() {
        reply.text("replaylog:end;");
    }
    Ok(Flow::Continue)
}
