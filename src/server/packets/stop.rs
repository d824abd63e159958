//! `?` and its kin: the reasons of the waves' stops.
//!
//! A stop names the faulting wave (its first active lane, if lanes are threads), with the signal of its stop reason in
//! gdb's numbering. For LLDB it also has the cause as text; gdb's stop replies have no such field, and its list of
//! threads has the text.

use serde_json::{Value, json};

use super::super::Flow;
use super::super::error::PacketError;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::messages;
use super::super::state::{State, Stop};
use super::super::threads::Thread;
use super::target_xml::UNKNOWN_ARCHITECTURE;
use super::threads;
use crate::session::{NO_REASON, WaveInfo};
use crate::units::Pc;

/// Maximum number of threads with all names for LLDB, which takes a second for ten thousand and 24 for fifty thousand.
const MAX_NAMED: usize = 20_000;

/// gdb's number of SIGTRAP.
const SIGTRAP: u8 = 5;

/// `?`: the default thread. gdb takes it as its general thread without an `Hg`, and so does the server. After `kill` or
/// `detach` over an extended connection there is no process: `W00`, which gdb reports as a target that does not run.
pub(crate) fn first(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    if state.is_gone {
        reply.text("W00");
        return Ok(Flow::Continue);
    }
    state.show_chosen_lanes()?;
    let thread = state.threads.first();
    state.select(thread)?;
    state.stop = Stop { thread, refused: false };
    let info = state.session.wave(thread.wave)?;
    state.first_with_reason = reason(state, thread, &info).map(|_| thread);
    state.is_at_first_stop = true;
    write(state, thread, reply)?;
    Ok(Flow::Continue)
}

/// LLDB's `qThreadStopInfo ID`
pub(crate) fn of_thread(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let thread = state.named(request.args)?.unwrap_or(state.general);
    write(state, thread, reply)?;
    Ok(Flow::Continue)
}

/// LLDB's `jThreadsInfo`: the stopped thread, and the others if they are few.
///
/// LLDB reads the names of all threads from this packet alone, but it searches the list from the front for each: the
/// time grows with the square of their number.
pub(crate) fn json(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let mut threads = vec![thread_json(state, state.stop.thread)?];
    let all = state.threads.all();
    if all.len() <= MAX_NAMED {
        for thread in all.iter().filter(|thread| **thread != state.stop.thread) {
            threads.push(thread_json(state, *thread)?);
        }
    }
    reply.escaped(Value::Array(threads).to_string().as_bytes());
    Ok(Flow::Continue)
}

/// LLDB's `jThreadExtendedInfo:{"thread":ID}`: nothing beyond the stop reply.
pub(crate) fn extended(_: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    reply.escaped(b"{}");
    Ok(Flow::Continue)
}

/// A stop reply for a thread.
pub(super) fn write(state: &State, thread: Thread, reply: &mut Reply<'_>) -> Result<(), PacketError> {
    let info = state.session.wave(thread.wave)?;
    let reason = reason(state, thread, &info);
    reply.text("T").hex(&[reason.as_ref().map_or(0, |reason| reason.signal)]);
    reply.text("thread:").number(state.number(thread)).text(";");
    if state.facade().is_lldb() {
        let name = messages::marked_name(state, thread, &info);
        reply.text("hexname:").hex(name.as_bytes()).text(";");
        if state.view().is_some_and(|view| view.main().is_some()) {
            reply.text("library:1;");
        }
        if thread == state.stop.thread && state.features.list_threads {
            let stopped = json!([thread_json(state, thread)?]);
            reply.text("threads:");
            threads::write_all(state, reply);
            reply.text(";jstopinfo:").hex(stopped.to_string().as_bytes()).text(";");
        }
        if let Some(reason) = &reason {
            reply.text("reason:exception;description:").hex(reason.words.as_bytes()).text(";");
        }
    }
    expedite_pc(state, thread, &info, reply);
    Ok(())
}

/// The reason of a thread's stop, in the form for clients.
struct Reason {
    signal: u8,
    words: String,
}

/// The reason of a thread's stop. Only the thread of the last reported stop has one: with more, LLDB prints every
/// thread at attach.
///
/// LLDB continues to step over a line until the thread has a stop reason other than the step. The reply to a resume
/// request therefore always has one, with the text that nothing can run.
///
/// The text omits the state of the lane in focus, which the thread's name has: LLDB keeps the reason of a thread while
/// another one steps.
fn reason(state: &State, thread: Thread, info: &WaveInfo) -> Option<Reason> {
    if thread != state.stop.thread {
        return None;
    }
    // LLDB's text before it is "stop reason = ".
    let cause = info
        .cause
        .strip_prefix(NO_REASON)
        .map_or_else(|| info.cause.clone(), |rest| format!("unknown{rest}"));
    if state.lacks_architecture {
        let words = format!("{cause} ({UNKNOWN_ARCHITECTURE})");
        return Some(Reason { signal: if info.signal == 0 { SIGTRAP } else { info.signal }, words });
    }
    if state.stop.refused && state.facade().is_lldb() {
        let words = format!("{cause} (a captured state: nothing can run)");
        return Some(Reason { signal: if info.signal == 0 { SIGTRAP } else { info.signal }, words });
    }
    (info.signal != 0).then_some(Reason { signal: info.signal, words: cause })
}

/// The stop includes the PC, which saves clients a request.
fn expedite_pc(state: &State, thread: Thread, info: &WaveInfo, reply: &mut Reply<'_>) {
    if let (Some(number), Some(pc)) = (state.registers().pc, client_pc(state, thread, info)) {
        reply.number(number as u64).text(":").hex(&pc.0.to_le_bytes()).text(";");
    }
}

/// The client's PC.
fn client_pc(state: &State, thread: Thread, info: &WaveInfo) -> Option<Pc> {
    state.own_pc(thread).ok().flatten().or(info.pc)
}

/// LLDB's JSON for a thread.
fn thread_json(state: &State, thread: Thread) -> Result<Value, PacketError> {
    let info = state.session.wave(thread.wave)?;
    let reason = reason(state, thread, &info);
    let mut json = serde_json::Map::new();
    let mut say = |key: &str, value: Value| json.insert(key.to_owned(), value);
    say("tid", json!(state.number(thread)));
    say("name", json!(messages::marked_name(state, thread, &info)));
    say("signal", json!(reason.as_ref().map_or(0, |reason| reason.signal)));
    say("reason", json!(if reason.is_some() { "exception" } else { "none" }));
    if let Some(reason) = reason {
        say("description", json!(reason.words));
    }
    if let (Some(number), Some(pc)) = (state.registers().pc, client_pc(state, thread, &info)) {
        let digits = faster_hex::hex_string(&pc.0.to_le_bytes());
        say("registers", json!({ number.to_string(): digits }));
    }
    Ok(Value::Object(json))
}
