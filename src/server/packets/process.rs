//! The only process: the captured state, which exists from the beginning and cannot end.
//!
//! gdb manual, "Packets": with `target extended-remote` (`!`) the connection stays after `kill` and `detach`, and `run` and
//! `attach` bring the process back. Other clients close the connection themselves.

use super::super::Flow;
use super::super::error::{NO_WAVE, PacketError, READ_ONLY};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;
use super::stop;

/// The process for `qProcessInfo`.
const PID: u64 = 1;

/// `!`: the connection outlives the process.
pub(crate) fn extend(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    state.is_extended = true;
    reply.text("OK");
    Ok(Flow::Continue)
}

/// `vRun;FILE;ARGUMENTS`: the captured state, for any program name. gdb resumes at once, and reads that nothing runs.
pub(crate) fn run(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    // gdb sends `vKill` before it restarts the process of an inferior. Another inferior of gdb would take the threads
    // of the first one.
    if state.is_gdb() && !state.is_gone {
        state.note(
            "The captured state is one process, of another inferior: `kill inferiors N` there comes first.\n",
        );
        return Err(PacketError::new(READ_ONLY, "the captured state is one process, of another inferior"));
    }
    state.is_gone = false;
    stop::first(state, request, reply)
}

/// `vAttach;PID`: the captured state. gdb 13 does not print the reason of a rejection.
pub(crate) fn attach(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    match parse::number(request.args) {
        Some(PID) => run(state, request, reply),
        Some(pid) => {
            state.note("The captured state is process 1: `attach 1` or `run`.\n");
            Err(PacketError::new(NO_WAVE, format!("no process {pid}: the captured state is process {PID}")))
        }
        None => Err(PacketError::malformed("not vAttach;PID")),
    }
}

/// `k`: the connection ends. gdb expects no reply; LLDB reports any reply except an exit as an error.
pub(crate) fn kill(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    if !request.args.is_empty() {
        return Err(PacketError::malformed("`k` takes no arguments"));
    }
    if state.facade().is_lldb() {
        reply.text("X09");
    }
    Ok(leave(state))
}

/// `vKill;PID`: the dump stays. The session has one process, so its id is ignored.
pub(crate) fn kill_process(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    parse::number(request.args).ok_or(PacketError::malformed("not vKill;PID"))?;
    reply.text("OK");
    Ok(leave(state))
}

/// `D` or `D;PID`
pub(crate) fn detach(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let is_sound = match request.args.split_first() {
        None => true,
        Some((separator, pid)) => *separator == b';' && parse::number(pid).is_some(),
    };
    if !is_sound {
        return Err(PacketError::malformed("not D or D;PID"));
    }
    reply.text("OK");
    Ok(leave(state))
}

/// Removes the client's process. The connection ends unless the client keeps it.
fn leave(state: &mut State) -> Flow {
    state.is_gone = true;
    if state.is_extended { Flow::Continue } else { Flow::Close }
}
