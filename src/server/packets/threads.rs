//! `H`, `T`, `qC` and the lists of threads.

use super::super::Flow;
use super::super::error::PacketError;
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;

/// Bytes of thread ids in one packet of a list.
const PAGE_BYTES: usize = 8192;

/// `Hg ID`, `Hc ID`
pub(crate) fn select(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let Some((operation, thread)) = request.args.split_first() else {
        return Err(PacketError::malformed("H needs an operation"));
    };
    match (operation, parse::thread(thread)) {
        // "Any thread" is the selected one. gdbserver reads "all threads" as any, and so does this server. `Hc` has no
        // effect: nothing resumes.
        (b'g', Some(parse::Thread::Any | parse::Thread::All)) | (b'c', Some(_)) => {}
        (b'g', Some(parse::Thread::Id(id))) => state.look_at(state.thread_of(id)?)?,
        _ => return Err(PacketError::malformed("not Hg or Hc with a thread id")),
    }
    reply.text("OK");
    Ok(Flow::Continue)
}

/// `T ID`
pub(crate) fn is_alive(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    match parse::thread(request.args) {
        Some(parse::Thread::Id(id)) => {
            let thread = state.thread_of(id)?;
            state.has_process()?;
            state.selection.asked(thread, state.threads.all());
        }
        _ => return Err(PacketError::malformed("not a thread id")),
    }
    reply.text("OK");
    Ok(Flow::Continue)
}

/// `qC`
pub(crate) fn current(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    reply.text("QC");
    reply.number(state.number(state.general));
    Ok(Flow::Continue)
}

/// `qfThreadInfo`
pub(crate) fn first_page(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    state.next_thread = 0;
    page(state, reply)
}

/// `qsThreadInfo`
pub(crate) fn next_page(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    page(state, reply)
}

fn page(state: &mut State, reply: &mut Reply<'_>) -> Handled {
    let mut next = state.next_thread;
    let all = if state.is_gone { &[] } else { state.threads.all() };
    while let Some(thread) = all.get(next).filter(|_| reply.body().len() < PAGE_BYTES) {
        reply.text(if next == state.next_thread { "m" } else { "," });
        reply.number(state.number(*thread));
        next += 1;
    }
    if next == state.next_thread {
        reply.text("l");
    }
    state.next_thread = next;
    Ok(Flow::Continue)
}

/// Every thread number in hex, with commas between them: LLDB's `threads` in stop replies.
pub(super) fn write_all(state: &State, reply: &mut Reply<'_>) {
    for (index, thread) in state.threads.all().iter().enumerate() {
        if index > 0 {
            reply.text(",");
        }
        reply.number(state.number(*thread));
    }
}
