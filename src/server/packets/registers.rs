//! `p`, `g`, `P`, `G`: registers of a thread by the facade's numbers.
//!
//! They are the wave's, whichever of its lanes the thread is; but for the PC of a lane that has a stack of its own, the
//! token in `rsp`, and `lane`.
//!
//! `g` is short: only what a list of threads needs. Clients fetch the rest one by one when they show it.

use super::super::Flow;
use super::super::fault::{Fault, MALFORMED, NOT_THERE};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::registers::{Slot, Source};
use super::super::state::State;
use super::super::threads::Thread;
use crate::units::LaneId;

/// `p NUMBER[;thread:ID;]`
pub(crate) fn read_one(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, Fault> {
    let (number, pairs) = parse::split(request.args, b';');
    let number = parse::number(number).ok_or(Fault::malformed("not a register number"))?;
    let thread = state.named_in(pairs.unwrap_or_default())?.unwrap_or(state.general);
    let slot = state.registers().slot(number);
    let slot = slot.ok_or_else(|| Fault::new(MALFORMED, format!("no register {number}")))?;
    write(state, thread, slot, reply)?;
    Ok(Flow::Continue)
}

/// `g[;thread:ID;]`
pub(crate) fn read_short(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, Fault> {
    let thread = state.named_in(request.args)?.unwrap_or(state.general);
    for slot in state.registers().short() {
        write(state, thread, slot, reply)?;
    }
    Ok(Flow::Continue)
}

/// `P NUMBER=VALUE` of the lane in focus; what else is written is gdbstub's.
pub(crate) fn focus(state: &mut State, request: Request<'_>) -> Result<bool, Fault> {
    let (written, pairs) = parse::split(request.args, b';');
    let (number, value) = parse::split(written, b'=');
    let slot = parse::number(number).and_then(|number| state.registers().slot(number));
    if slot.is_none_or(|slot| slot.source != Source::Lane) {
        return Ok(false);
    }
    let thread = state.named_in(pairs.unwrap_or_default())?.unwrap_or(state.general);
    let bytes = value.and_then(parse::bytes).ok_or(Fault::malformed("not NUMBER=VALUE"))?;
    let lanes = state.session.kind().wave_size.lanes();
    let lane = match bytes.split_first() {
        Some((lane, rest)) if rest.iter().all(|byte| *byte == 0) && *lane < lanes => LaneId(*lane),
        _ => return Err(Fault::new(MALFORMED, format!("no such lane in a {lanes}-lane wave"))),
    };
    state.set_focus(thread, lane)?;
    Ok(true)
}

/// `P`, `G`: what gdbstub refused is refused in words. Never with the empty reply: gdb takes that for success.
pub(crate) fn refuse_write(
    state: &mut State,
    request: Request<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Fault> {
    if request.body.first() == Some(&b'P') && focus(state, request)? {
        reply.clear();
        reply.text("OK");
        return Ok(());
    }
    if reply.body() == b"OK" { Ok(()) } else { Err(Fault::read_only()) }
}

/// Writes a register; nothing of it where any part is not known, because clients know no halves: gdb gives up on a
/// value that has digits and `x`.
///
/// gdb takes `xx` for "not known". LLDB reads it as the byte 0xcc and shows that: it gets an error instead.
pub(super) fn write(state: &State, thread: Thread, slot: &Slot, reply: &mut Reply<'_>) -> Result<(), Fault> {
    let is_pc = Some(slot.number) == state.registers().pc;
    if is_pc && let Some(pc) = state.own_pc(thread)? {
        reply.hex(&pc.0.to_le_bytes());
        return Ok(());
    }
    if slot.source == Source::Lane {
        state.lane_was_read.set(true);
        reply.hex(&u32::from(state.lane(thread).0).to_le_bytes());
        return Ok(());
    }
    if slot.source == Source::StackPointer
        && let Some(token) = state.stack_pointer(thread)?
    {
        reply.hex(&token.to_le_bytes());
        return Ok(());
    }
    if let Source::Wave(id) = slot.source {
        let value = state.session.register(thread.wave, id)?;
        if value.is_whole() {
            reply.hex(value.bytes());
            return Ok(());
        }
    }
    if state.facade().is_lldb() {
        return Err(Fault::new(NOT_THERE, "the register was not captured, or not all of it"));
    }
    reply.unknown(slot.bytes);
    Ok(())
}
