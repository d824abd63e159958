//! `c`, `s`, `vCont` and kin: nothing runs, and the client must learn that without being wedged.
//!
//! Measured: gdb hangs on an empty reply, and its `step` resumes for ever when the same stop is reported again. LLDB
//! ends the session on an error. So gdb is told that the recording has no more history, after words that say why, and
//! stays where it is; LLDB is given the stop again.

use super::super::Flow;
use super::super::fault::Fault;
use super::super::front::parse::{self, Thread};
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::{State, Stop};
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
/// The stop is reported for the wave that was to step, else for the one that the user looks at: gdb stays there, and
/// LLDB steps again and again until that very thread has stopped.
pub(crate) fn refuse(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    let lldb = state.facade().is_lldb();
    let wave = match stepped(request.args) {
        Some(thread) => state.wave_of(thread)?,
        None if lldb => state.stop.wave,
        None => state.selected(),
    };
    reply.console(WORDS);
    state.select(wave);
    state.stop = Stop { wave, refused: true };
    stop::write(state, wave, reply)?;
    if !lldb {
        reply.text("replaylog:end;");
    }
    Ok(Flow::Continue)
}

/// The thread that the actions of `vCont` step: `s:3;c`.
fn stepped(actions: &[u8]) -> Option<u64> {
    actions.split(|byte| *byte == b';').find_map(|action| {
        let (what, thread) = parse::split(action, b':');
        let steps = matches!(what.first(), Some(b's' | b'S' | b'r'));
        match parse::thread(thread.filter(|_| steps)?) {
            Some(Thread::Id(id)) => Some(id),
            _ => None,
        }
    })
}
