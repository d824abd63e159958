//! `?` and its kin: why the waves stopped.
//!
//! The faulting wave is named, with the signal of its stop reason in gdb's numbering. LLDB is given the cause in words
//! as well; gdb has no place for words in a stop reply and shows them in its list of threads.

use serde_json::{Value, json};

use super::super::Flow;
use super::super::fault::Fault;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::{State, Stop, thread_number};
use super::threads;
use crate::session::WaveInfo;
use crate::units::{Pc, WaveId};

/// The most waves of which LLDB is told all names: it takes a second for ten
/// thousand and 24 for fifty thousand.
const MOST_NAMED: usize = 20_000;

/// gdb's number of SIGTRAP.
const SIGTRAP: u8 = 5;

/// `?`: the wave to look at first. gdb takes it as its general thread without an `Hg`, and so do we.
pub(crate) fn first(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    let wave = state.session.first_wave();
    state.select(wave);
    state.stop = Stop { wave, refused: false };
    write(state, wave, reply)?;
    Ok(Flow::Continue)
}

/// LLDB's `qThreadStopInfo ID`
pub(crate) fn of_thread(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, Fault> {
    let wave = state.named(request.args)?.unwrap_or(state.general);
    write(state, wave, reply)?;
    Ok(Flow::Continue)
}

/// LLDB's `jThreadsInfo`: the stopped thread, and the others where they are few.
///
/// It is the one place that LLDB takes the names of all threads from, but it looks each of them up in the list from the
/// front: the time for that grows with the square of their number.
pub(crate) fn json(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    let mut threads = vec![thread_json(state, state.stop.wave)?];
    if state.waves.len() <= MOST_NAMED {
        for wave in state.waves.iter().filter(|wave| **wave != state.stop.wave) {
            threads.push(thread_json(state, *wave)?);
        }
    }
    reply.escaped(Value::Array(threads).to_string().as_bytes());
    Ok(Flow::Continue)
}

/// LLDB's `jThreadExtendedInfo:{"thread":ID}`: nothing to say beyond the stop reply.
pub(crate) fn extended(_: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    reply.escaped(b"{}");
    Ok(Flow::Continue)
}

/// A stop reply for a wave.
pub(super) fn write(state: &State, wave: WaveId, reply: &mut Reply<'_>) -> Result<(), Fault> {
    let info = state.session.wave(wave)?;
    let reason = reason(state, &info);
    reply.text("T").hex(&[reason.as_ref().map_or(0, |reason| reason.signal)]);
    reply.text("thread:").number(thread_number(wave)).text(";");
    if state.facade().is_lldb() {
        reply.text("hexname:").hex(info.name.as_bytes()).text(";");
        if state.view().is_some_and(|view| view.main().is_some()) {
            reply.text("library:1;");
        }
        if wave == state.stop.wave && state.features.list_threads {
            let stopped = json!([thread_json(state, wave)?]);
            reply.text("threads:");
            threads::write_all(state, reply);
            reply.text(";jstopinfo:").hex(stopped.to_string().as_bytes()).text(";");
        }
        if let Some(reason) = &reason {
            reply.text("reason:exception;description:").hex(reason.words.as_bytes()).text(";");
        }
    }
    expedite_pc(state, &info, reply);
    Ok(())
}

/// Why a thread stopped, as clients are told.
struct Reason {
    signal: u8,
    words: String,
}

/// The reason of a wave's stop. Only the wave whose stop the client was told of has one: given more, LLDB prints every
/// thread on attaching.
///
/// LLDB goes on stepping over a line until the thread has a reason to stop that is not the step. So after a request to
/// resume there always is one, and it says so.
fn reason(state: &State, info: &WaveInfo) -> Option<Reason> {
    if info.wave != state.stop.wave {
        return None;
    }
    if state.stop.refused && state.facade().is_lldb() {
        let words = format!("{} (a captured state: nothing can run)", info.cause);
        return Some(Reason { signal: if info.signal == 0 { SIGTRAP } else { info.signal }, words });
    }
    (info.signal != 0).then(|| Reason { signal: info.signal, words: info.cause.clone() })
}

/// The PC comes with the stop, so that no client asks for it.
fn expedite_pc(state: &State, info: &WaveInfo, reply: &mut Reply<'_>) {
    if let (Some(number), Some(pc)) = (state.registers().pc, client_pc(state, info)) {
        reply.number(number as u64).text(":").hex(&pc.0.to_le_bytes()).text(";");
    }
}

/// The PC that a client sees.
fn client_pc(state: &State, info: &WaveInfo) -> Option<Pc> {
    state.own_pc(info.wave).ok().flatten().or(info.pc)
}

/// LLDB's JSON for a thread.
fn thread_json(state: &State, wave: WaveId) -> Result<Value, Fault> {
    let info = state.session.wave(wave)?;
    let reason = reason(state, &info);
    let mut thread = serde_json::Map::new();
    let mut say = |key: &str, value: Value| thread.insert(key.to_owned(), value);
    say("tid", json!(thread_number(wave)));
    say("name", json!(info.name));
    say("signal", json!(reason.as_ref().map_or(0, |reason| reason.signal)));
    say("reason", json!(if reason.is_some() { "exception" } else { "none" }));
    if let Some(reason) = reason {
        say("description", json!(reason.words));
    }
    if let (Some(number), Some(pc)) = (state.registers().pc, client_pc(state, &info)) {
        let digits = faster_hex::hex_string(&pc.0.to_le_bytes());
        say("registers", json!({ number.to_string(): digits }));
    }
    Ok(Value::Object(thread))
}
