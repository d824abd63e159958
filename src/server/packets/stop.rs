//! `?` and its kin: why the waves stopped.
//!
//! The faulting wave is named, with the signal of its stop reason in gdb's numbering. LLDB is given the cause in words
//! as well; gdb has no place for words in a stop reply and shows them in its list of threads.

use serde_json::{Value, json};

use super::super::Flow;
use super::super::fault::Fault;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::state::{State, thread_number};
use super::threads;
use crate::session::WaveInfo;
use crate::units::WaveId;

/// The most waves of which LLDB is told all names: it takes a second for ten
/// thousand and 24 for fifty thousand.
const MOST_NAMED: usize = 20_000;

/// `?`: the wave to look at first. gdb takes it as its general thread without an `Hg`, and so do we.
pub(crate) fn first(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    state.select(state.session.first_wave());
    write(state, state.general, true, reply)?;
    Ok(Flow::Continue)
}

/// LLDB's `qThreadStopInfo ID`
pub(crate) fn of_thread(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, Fault> {
    let wave = state.named(request.args)?.unwrap_or(state.general);
    write(state, wave, wave == state.session.first_wave(), reply)?;
    Ok(Flow::Continue)
}

/// LLDB's `jThreadsInfo`: the stopped thread, and the others where they are few.
///
/// It is the one place that LLDB takes the names of all threads from, but it looks each of them up in the list from the
/// front: the time for that grows with the square of their number.
pub(crate) fn json(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Result<Flow, Fault> {
    let stopped = state.session.first_wave();
    let mut threads = vec![thread_json(state, stopped, true)?];
    if state.waves.len() <= MOST_NAMED {
        for wave in state.waves.iter().filter(|wave| **wave != stopped) {
            threads.push(thread_json(state, *wave, false)?);
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

/// A stop reply for a wave. `main`: the one stop that the client is told of; only that one carries a reason, else
/// LLDB prints every thread on attaching.
pub(super) fn write(state: &State, wave: WaveId, main: bool, reply: &mut Reply<'_>) -> Result<(), Fault> {
    let info = state.session.wave(wave)?;
    let signal = if main { info.signal } else { 0 };
    reply.text("T").hex(&[signal]).text("thread:");
    reply.number(thread_number(wave));
    reply.text(";");
    if state.facade().is_lldb() {
        reply.text("hexname:").hex(info.name.as_bytes()).text(";");
        if main && state.features.list_threads {
            let stopped = json!([thread_json(state, wave, true)?]);
            reply.text("threads:");
            threads::write_all(state, reply);
            reply.text(";jstopinfo:").hex(stopped.to_string().as_bytes()).text(";");
        }
        if main && signal != 0 {
            reply.text("reason:exception;description:").hex(info.cause.as_bytes()).text(";");
        }
    }
    expedite_pc(state, &info, reply);
    Ok(())
}

/// The PC comes with the stop, so that no client asks for it.
fn expedite_pc(state: &State, info: &WaveInfo, reply: &mut Reply<'_>) {
    if let (Some(number), Some(pc)) = (state.registers().pc, info.pc) {
        reply.number(number as u64).text(":").hex(&pc.0.to_le_bytes()).text(";");
    }
}

/// LLDB's JSON for a thread; `main` as in [`write`].
fn thread_json(state: &State, wave: WaveId, main: bool) -> Result<Value, Fault> {
    let info = state.session.wave(wave)?;
    let signal = if main { info.signal } else { 0 };
    let mut thread = json!({
        "tid": thread_number(wave),
        "name": info.name,
        "signal": signal,
        "reason": if signal == 0 { "none" } else { "exception" },
    });
    if signal != 0 {
        thread["description"] = json!(info.cause);
    }
    if let (Some(number), Some(pc)) = (state.registers().pc, info.pc) {
        let mut digits = String::new();
        faster_hex::hex_append(&pc.0.to_le_bytes(), &mut digits);
        thread["registers"] = json!({ number.to_string(): digits });
    }
    Ok(thread)
}
