//! `p`, `g`, `P`, `G`: registers of a thread by the facade's numbers.
//!
//! They are the wave's, for any of its lanes. Exceptions are the PC of a lane with a stack of its own, the token in
//! `rsp`, and `lane`.
//!
//! `g` is short: only the registers that a list of threads needs. Clients request the others one by one on demand. A
//! write is a change of this client's session, never of the capture.

use std::sync::Arc;

use super::super::Flow;
use super::super::error::{MALFORMED, NOT_THERE, PacketError, READ_ONLY};
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::registers::{Slot, Source};
use super::super::state::State;
use super::super::threads::Thread;
use crate::arch::RegId;
use crate::session::address;
use crate::units::{LaneId, WaveId};

/// `p NUMBER[;thread:ID;]`
pub(crate) fn read_one(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let (number, pairs) = parse::split(request.args, b';');
    let number = parse::number(number).ok_or(PacketError::malformed("not a register number"))?;
    let thread = state.named_in(pairs.unwrap_or_default())?.unwrap_or(state.general);
    let slot = state.registers().slot(number);
    let slot = slot.ok_or_else(|| PacketError::new(MALFORMED, format!("no register {number}")))?.clone();
    if Some(slot.number) == state.registers().pc {
        state.pc_is_read(thread)?;
    }
    write(state, thread, &slot, reply)?;
    Ok(Flow::Continue)
}

/// `g[;thread:ID;]`
pub(crate) fn read_short(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let thread = state.named_in(request.args)?.unwrap_or(state.general);
    state.pc_is_read(thread)?;
    for slot in state.registers().short() {
        write(state, thread, slot, reply)?;
    }
    Ok(Flow::Continue)
}

/// `P NUMBER=VALUE[;thread:ID;]`. The reply is never empty, which gdb would read as success.
pub(crate) fn write_one(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let (register, pairs) = parse::split(request.args, b';');
    let (number, value) = parse::split(register, b'=');
    let number = parse::number(number).ok_or(PacketError::malformed("not a register number"))?;
    let value = value.filter(|value| !value.is_empty()).and_then(parse::bytes);
    let value = value.ok_or(PacketError::malformed("not NUMBER=VALUE in hex digits"))?;
    let thread = state.named_in(pairs.unwrap_or_default())?.unwrap_or(state.general);
    let slot = state.registers().slot(number).cloned();
    let slot = slot.ok_or_else(|| PacketError::new(MALFORMED, format!("no register {number}")))?;
    let id = match slot.source {
        Source::Wave(id) => id,
        Source::Lane => {
            focus(state, thread, &value)?;
            reply.text("OK");
            return Ok(Flow::Continue);
        }
        Source::Absent { .. } if std::mem::take(&mut state.prepares_call) => {
            return Err(PacketError::new(
                READ_ONLY,
                "no function can be called: nothing runs in a captured state",
            ));
        }
        Source::StackPointer | Source::Absent { .. } => return Err(absent(&slot)),
    };
    fits(&slot, &value)?;
    let is_pc = Some(slot.number) == state.registers().pc;
    if is_pc && state.own_pc(thread)?.is_some() {
        let lane = state.shown_lane(thread);
        let words = format!("the PC here is that of lane {lane}, which is inactive: focus an active lane");
        return Err(PacketError::new(READ_ONLY, words));
    }
    is_seen(state, thread.wave, &slot)?;
    is_pc_of_program(state, &slot, &value)?;
    store(state, thread, &[(id, &value)])?;
    reply.text("OK");
    Ok(Flow::Continue)
}

/// Writes registers of a thread's wave.
fn store(state: &mut State, thread: Thread, writes: &[(RegId, &[u8])]) -> Result<(), PacketError> {
    let map = Arc::clone(state.registers());
    let pc = map.pc.and_then(|pc| map.slot(pc as u64)).map(|slot| &slot.source);
    for (id, value) in writes {
        state.session.write_register(thread.wave, *id, value)?;
        if pc == Some(&Source::Wave(*id)) {
            state.was_written(thread, true);
        }
    }
    state.forget_list();
    Ok(())
}

/// `G VALUES[;thread:ID;]`: the contents of `g`, or its beginning up to some register.
///
/// A client sends zeros for a register that it knows as unavailable: they are ignored.
pub(crate) fn write_short(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let (values, pairs) = parse::split(request.args, b';');
    let values = Some(values).filter(|values| !values.is_empty()).and_then(parse::bytes);
    let values = values.ok_or(PacketError::malformed("not values in hex digits"))?;
    let thread = state.named_in(pairs.unwrap_or_default())?.unwrap_or(state.general);
    let map = Arc::clone(state.registers());
    let mut rest = values.as_slice();
    let mut writes = Vec::new();
    for slot in map.short() {
        if rest.is_empty() {
            break;
        }
        let Some((value, after)) = rest.split_at_checked(slot.bytes) else {
            return Err(PacketError::malformed("the values end within a register"));
        };
        rest = after;
        let Source::Wave(id) = slot.source else { continue };
        // A lane with its own PC has that PC, not the wave's.
        if Some(slot.number) == map.pc && state.own_pc(thread)?.is_some() {
            continue;
        }
        let unknown = !state.session.register(thread.wave, id)?.is_whole();
        if unknown && value.iter().all(|byte| *byte == 0) {
            continue;
        }
        is_seen(state, thread.wave, slot)?;
        is_pc_of_program(state, slot, value)?;
        writes.push((id, value));
    }
    if !rest.is_empty() {
        return Err(PacketError::malformed("more values than `g` has"));
    }
    store(state, thread, &writes)?;
    reply.text("OK");
    Ok(Flow::Continue)
}

/// Sets the focus to the lane that a client writes to the register.
fn focus(state: &mut State, thread: Thread, value: &[u8]) -> Result<(), PacketError> {
    let lanes = state.session.kind().wave_size.lanes();
    let lane = match value.split_first() {
        Some((lane, rest)) if rest.iter().all(|byte| *byte == 0) && *lane < lanes => LaneId(*lane),
        _ => return Err(PacketError::new(MALFORMED, format!("no such lane in a {lanes}-lane wave"))),
    };
    // gdb drops its frames after the write; LLDB does so after some writes only.
    state.choose_lane(thread, lane, !state.facade().is_lldb())?;
    state.was_written(thread, false);
    Ok(())
}

/// A register of the facade alone.
fn absent(slot: &Slot) -> PacketError {
    let name = match slot.source {
        Source::StackPointer => {
            let words = "the stack pointer encodes the wave, lane and frame, and cannot be written";
            return PacketError::new(READ_ONLY, words);
        }
        Source::Absent { name, .. } if !name.is_empty() => name.to_owned(),
        _ => format!("register {}", slot.number),
    };
    PacketError::new(READ_ONLY, format!("the wave has no {name}: there is nothing to write"))
}

fn fits(slot: &Slot, value: &[u8]) -> Result<(), PacketError> {
    if value.len() == slot.bytes {
        return Ok(());
    }
    let words = format!("register {} takes {} bytes, not {}", slot.number, slot.bytes, value.len());
    Err(PacketError::new(MALFORMED, words))
}

/// Rejects a PC that is the client's address of an object. Other registers of 8 bytes are masks of lanes, and numbers.
fn is_pc_of_program(state: &State, slot: &Slot, value: &[u8]) -> Result<(), PacketError> {
    let Ok(value) = <[u8; 8]>::try_from(value) else { return Ok(()) };
    let value = u64::from_le_bytes(value);
    if Some(slot.number) != state.registers().pc || address::object(value).is_none() {
        return Ok(());
    }
    let words = format!("{value:#x} is the address of an object as debuggers see it, and no address of code");
    Err(PacketError::new(MALFORMED, words))
}

/// Rejects a vector that gdb has not read: to set one lane it sends the whole vector, with zeros for missing lanes and
/// for captured ones.
fn is_seen(state: &State, wave: WaveId, slot: &Slot) -> Result<(), PacketError> {
    let Source::Wave(id) = slot.source else { return Ok(()) };
    let kind = state.session.kind();
    let Some(register) = kind.register(id).filter(|register| register.is_vector()) else { return Ok(()) };
    if state.facade().is_lldb() || state.session.register(wave, id)?.is_whole() {
        return Ok(());
    }
    let name = &register.name;
    let words = format!(
        "not all lanes of {name} were captured, and gdb would write zeros to the others: set one lane (`monitor help set`)"
    );
    Err(PacketError::new(READ_ONLY, words))
}

/// Writes a register as unavailable if any part of it is unknown. Clients cannot represent half registers: gdb rejects
/// a value with digits and `x`.
///
/// gdb reads `xx` as "not known". LLDB reads it as the byte 0xcc and prints that: it gets an error instead.
pub(super) fn write(
    state: &State,
    thread: Thread,
    slot: &Slot,
    reply: &mut Reply<'_>,
) -> Result<(), PacketError> {
    let is_pc = Some(slot.number) == state.registers().pc;
    if is_pc && let Some(pc) = state.own_pc(thread)? {
        reply.hex(&pc.0.to_le_bytes());
        return Ok(());
    }
    if slot.source == Source::Lane {
        let lane = u32::from(state.shown_lane(thread).0).to_le_bytes();
        reply.hex(lane.get(..slot.bytes).unwrap_or(&lane));
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
        return Err(PacketError::new(NOT_THERE, "the register was not captured, or not all of it"));
    }
    reply.unknown(slot.bytes);
    Ok(())
}
