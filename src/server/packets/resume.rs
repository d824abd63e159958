//! `c`, `s`, `vCont` and kin: nothing runs, and the reply must report that without a hang of the client.
//!
//! Measured: gdb hangs on an empty reply, and its `step` resumes for ever when the same stop is reported again. The end
//! of a recording (`replaylog:end`) ends `step`. With a breakpoint at the PC, however, gdb 13 first steps off it, never
//! detects the end of this step, and hangs later. A stop for no signal (`T00`) ends everything, like an external
//! signal. LLDB ends the session on an error, so it gets the stop again. Both print the text.

use super::super::Flow;
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::messages;
use super::super::state::{State, Stop};
use super::super::threads::Thread;
use super::super::view_update;
use super::stop;
use crate::session::RegisterChange;
use crate::units::WaveId;

/// Maximum number of changed dwords to search for a PC.
const MAX_CHANGES: usize = 4096;

/// The text for the user.
const WORDS: &str = "This is a captured state: nothing can run.\n";

/// `vCont?`: without all four actions gdb refuses to resume with a message of its own, and hangs.
pub(crate) fn actions(_: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    reply.text("vCont;c;C;s;S");
    Ok(Flow::Continue)
}

/// Every request to resume, forward or backward.
///
/// The stop names the thread of the request (stepped, or run alone), else the selected one. gdb stays there, and LLDB
/// repeats the step until that thread has stopped.
pub(crate) fn refuse(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    state.has_process()?;
    let lldb = state.facade().is_lldb();
    let thread = match singled_out(request.args) {
        Some(number) => state.thread_of(number)?,
        None if lldb => state.stop.thread,
        None => state.selected(),
    };
    let has_new_files = view_update::grow(state) || state.missing.are_missed;
    let selected = selected_by_lldb(state, request.args, thread).filter(|_| lldb).unwrap_or(thread);
    state.select(selected)?;
    state.stop = Stop { thread, refused: true };
    // gdb loads them, prints nothing, and resumes once more.
    if has_new_files && !lldb {
        reply.text("T05library:;thread:").number(state.number(thread)).text(";");
        return Ok(Flow::Continue);
    }
    let moved = state.show_chosen_lanes()?;
    let inactive = inactive_lane(state, thread);
    let lanes = new_lanes(state, &moved);
    let changed_pc = changed_pc(state, thread);
    let refused = state.refused.line();
    let (grown, notes) = (state.grown.words(), state.take_notes());
    reply.console(&format!("{WORDS}{changed_pc}{inactive}{lanes}{grown}{refused}{notes}"));
    if lldb {
        stop::write(state, thread, reply)?;
        if has_new_files {
            reply.text("library:;");
        }
    } else {
        reply.text("T00thread:").number(state.number(thread)).text(";");
    }
    Ok(Flow::Continue)
}

/// The thread that LLDB selects after it steps one off a breakpoint, before `continue`: the first one of its list with
/// a stop reason. It keeps the reasons of threads that do not run. `None`: any other stop.
///
/// A `thread step-inst` at a breakpoint sends the same packets, after which lldb returns to the stepped thread.
fn selected_by_lldb(state: &mut State, actions: &[u8], thread: Thread) -> Option<Thread> {
    let kept = state.first_with_reason.filter(|_| !all_run(actions));
    let first = kept.into_iter().chain([thread]).min_by_key(|thread| state.shown(*thread));
    state.first_with_reason = first;
    first.filter(|_| state.has_removed_breakpoint)
}

/// The notice that the client shows other lanes than before.
fn new_lanes(state: &State, waves: &[WaveId]) -> String {
    let client = state.client();
    match waves {
        [] => String::new(),
        [wave] => {
            let thread = Thread { wave: *wave, lane: None };
            let (lane, number) = (state.lane(thread), state.shown(thread));
            format!("{client} shows lane {lane} of thread {number} from this stop on.\n")
        }
        _ => format!("{client} shows other lanes of {} threads from this stop on.\n", waves.len()),
    }
}

/// The notice that a what-if write has moved the PC; `jump` does so before it resumes.
fn changed_pc(state: &State, thread: Thread) -> &'static str {
    let changes = state.session.changes(MAX_CHANGES);
    let is_pc = |change: &RegisterChange| change.wave == thread.wave && change.name == "pc";
    if changes.is_ok_and(|changes| changes.registers.iter().any(is_pc)) {
        "The PC is not the captured one: a what-if write changed it. `monitor reset` drops all changes.\n"
    } else {
        ""
    }
}

/// The notice that the variables of the lane in focus may differ from the source's meaning. LLDB prints it in the
/// reason of the stop.
fn inactive_lane(state: &State, thread: Thread) -> String {
    let info = state.session.wave(thread.wave).ok().filter(|_| !state.facade().is_lldb());
    let mark = info.and_then(|info| messages::lane_mark(state, thread, &info));
    mark.map_or_else(String::new, |mark| {
        format!("The lane in focus is not active ({mark}): its variables may be stale.\n")
    })
}

/// The thread that the actions of `vCont` step, `s:3;c`, or run alone: `c:3`, by which LLDB steps over a line with a
/// breakpoint at its end.
fn singled_out(actions: &[u8]) -> Option<u64> {
    let each = || actions.split(|byte| *byte == b';').map(|action| parse::split(action, b':'));
    let first = |kinds: &[u8]| {
        each().find_map(|(what, thread)| {
            let thread = thread.filter(|_| what.first().is_some_and(|kind| kinds.contains(kind)))?;
            match parse::thread(thread) {
                Some(parse::Thread::Id(id)) => Some(id),
                _ => None,
            }
        })
    };
    first(b"sSr").or_else(|| first(b"cC").filter(|_| !all_run(actions)))
}

/// Whether an action is for all threads without one of their own.
fn all_run(actions: &[u8]) -> bool {
    actions.split(|byte| *byte == b';').any(|action| !action.contains(&b':'))
}
