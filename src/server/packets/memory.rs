//! `m`, `x`, `M` and `X`: memory of every address space.
//!
//! A packet names the space in two ways: by a tag in the address (see [`crate::session::address`]), for every client,
//! or by LLDB's `;address_space:N;thread:ID;`. Both lead to one place and one read. A read across the end of captured
//! memory is short, without padding. A write is a change of this client's session, and atomic.

use std::sync::Arc;

use super::super::error::{MALFORMED, NOT_THERE, PacketError};
use super::super::facade::Facade;
use super::super::front::escape::unescape;
use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;
use super::super::threads::Thread;
use super::super::{Flow, MAX_READ};
use super::{code, libraries};
use crate::arch::SpaceScope;
use crate::session::address::{self, Token, decode};
use crate::session::{MemoryAddress, ReadError};
use crate::units::{Address, AddressSpace, WaveId};
use crate::view::{self, Reading, View, Views};

/// `m ADDRESS,LENGTH[;address_space:SPACE;thread:ID;]`
pub(crate) fn read_hex(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let read = read(state, request.args)?;
    if read == 0 {
        // A reply without digits would mean an unknown packet.
        return Err(PacketError::new(NOT_THERE, "nothing was captured there"));
    }
    reply.hex(state.buffer.get(..read).unwrap_or_default());
    Ok(Flow::Continue)
}

/// `x ADDRESS,LENGTH`, same suffixes; `b` and the bytes.
///
/// The `b` announces `binary-upload+`. An LLDB without that feature sends `x0,0` and expects `OK`; it gets `b`, and
/// continues with `m`.
pub(crate) fn read_binary(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    if matches!(parse::range(parse::split(request.args, b';').0), Some((_, 0))) {
        reply.text("b");
        return Ok(Flow::Continue);
    }
    let read = read(state, request.args)?;
    // An answer without bytes ends LLDB's line, and LLDB caches it as such.
    reply.text("b").escaped(state.buffer.get(..read).unwrap_or_default());
    Ok(Flow::Continue)
}

/// `M ADDRESS,LENGTH[;address_space:SPACE;thread:ID;]:HEX`; the suffix may also follow the data.
pub(crate) fn write_hex(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let (head, digits) = data(request.args)?;
    let (digits, after) = parse::split(digits, b';');
    let bytes = parse::bytes(digits).ok_or(PacketError::malformed("not hex digits in pairs"))?;
    write(state, head, after, &bytes, reply)
}

/// `X ADDRESS,LENGTH[;address_space:SPACE;thread:ID;]:BINARY`. gdb sends it without bytes to probe the packet.
pub(crate) fn write_binary(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let (head, binary) = data(request.args)?;
    write(state, head, None, &unescape(binary), reply)
}

/// The parts before and after the `:` of the data: the first `:` without a suffix after it.
fn data(args: &[u8]) -> Result<(&[u8], &[u8]), PacketError> {
    let malformed = PacketError::malformed("not ADDRESS,LENGTH:DATA");
    // `;address_space:3;thread:2;:` has colons of its own, each before a `;`.
    let start = match parse::split(args, b':').0.iter().position(|byte| *byte == b';') {
        Some(_) => args.windows(2).position(|pair| pair == b";:").map(|at| at + 1),
        None => args.iter().position(|byte| *byte == b':'),
    };
    let at = start.ok_or(malformed)?;
    Ok((args.get(..at).unwrap_or_default(), args.get(at + 1..).unwrap_or_default()))
}

fn write(
    state: &mut State,
    head: &[u8],
    after: Option<&[u8]>,
    bytes: &[u8],
    reply: &mut Reply<'_>,
) -> Handled {
    let (range, pairs) = parse::split(head, b';');
    let (address, length) = parse::range(range).ok_or(PacketError::malformed("not ADDRESS,LENGTH"))?;
    if length != bytes.len() as u64 {
        let words = format!("{length} bytes were announced, and {} were sent", bytes.len());
        return Err(PacketError::new(MALFORMED, words));
    }
    if begins_call(state, address, bytes)? {
        state.prepares_call = true;
    } else if let Err(fault) = write_bytes(state, address, pairs.or(after).unwrap_or_default(), bytes) {
        state.refused.note(&fault.words);
        return Err(fault);
    }
    reply.text("OK");
    Ok(Flow::Continue)
}

fn write_bytes(state: &mut State, address: u64, pairs: &[u8], bytes: &[u8]) -> Result<(), PacketError> {
    match meant(state, address, pairs)? {
        Meant::Window { views, grown, address, wave } => {
            let view = grown.as_deref().unwrap_or_else(|| views.get());
            view::write(view, &mut *state.session, address, wave, bytes)?;
        }
        Meant::MemoryAddress(place) if !bytes.is_empty() && state.view().is_some() => {
            let bytes = state.typed.written(&*state.session, place, bytes)?;
            state.session.write(place, &bytes)?;
        }
        Meant::MemoryAddress(place) if !bytes.is_empty() => state.session.write(place, bytes)?,
        Meant::MemoryAddress(_) => {}
    }
    Ok(())
}

/// Whether a write is the first of gdb's preparation of a call: one INT3 of x86-64 below the stack.
///
/// gdb prints no text of a rejected write. It prints that of a rejected register, and continues with the registers of
/// the arguments.
fn begins_call(state: &State, address: u64, bytes: &[u8]) -> Result<bool, PacketError> {
    const INT3: [u8; 1] = [0xcc];
    /// More than the red zone of 128 bytes (System V ABI for AMD64, 3.2.2), which gdb skips.
    const BELOW: u64 = 256;
    if state.facade() != Facade::Gdb || bytes != INT3 {
        return Ok(false);
    }
    let stack = state.stack_pointer(state.general)?;
    Ok(stack.is_some_and(|stack| (stack.saturating_sub(BELOW)..stack).contains(&address)))
}

/// Reads into the state's buffer; returns the number of bytes.
fn read(state: &mut State, args: &[u8]) -> Result<usize, PacketError> {
    let (range, pairs) = parse::split(args, b';');
    let (address, length) = parse::range(range).ok_or(PacketError::malformed("not ADDRESS,LENGTH"))?;
    libraries::note_read(state, address, length);
    match meant(state, address, pairs.unwrap_or_default())? {
        Meant::MemoryAddress(place) => {
            let is_rest = state.short_line.take() == Some((address, length));
            let told = read_place(state, place, length)
                .and_then(|read| code::reported(state, address, length, place, read));
            let read = match told {
                Err(_) if is_rest && (!state.session.exists(place) || code::is_code(state, place)) => {
                    return Ok(0);
                }
                told => told?,
            };
            if state.facade().is_lldb() && is_line(address, length) && (read as u64) < length {
                state.short_line = Some((address + read as u64, length - read as u64));
            }
            if state.view().is_some() {
                let bytes = state.buffer.get_mut(..read).unwrap_or_default();
                state.typed.show(&*state.session, place, bytes);
            }
            Ok(read)
        }
        Meant::Window { views, grown, address, wave } => {
            let view = grown.as_deref().unwrap_or_else(|| views.get());
            let reading = if state.facade().is_lldb() { Reading::Lines } else { Reading::Exact };
            let into = state.buffer.get_mut(..length.min(MAX_READ as u64) as usize).unwrap_or_default();
            if into.is_empty() {
                return Err(PacketError::malformed("no length"));
            }
            match view::read(view, &*state.session, &state.typed, address, wave, reading, into) {
                Ok(0) => Err(PacketError::new(NOT_THERE, "nothing is known there")),
                read => Ok(read?),
            }
        }
    }
}

/// Whether LLDB requests a line of its cache.
///
/// lldb 22 requests the rest of a short line at once. An error there fails the read that needed the line, and the next
/// read of the line succeeds with the bytes so far. At the end of memory the answer therefore has no bytes and is not
/// an error. It is an error if memory continues outside of the capture.
fn is_line(address: u64, length: u64) -> bool {
    const LINE: u64 = 512;
    length == LINE && address.is_multiple_of(LINE)
}

/// Reads into the state's buffer from a place on; returns the number of bytes.
pub(super) fn read_place(state: &mut State, place: MemoryAddress, length: u64) -> Result<usize, PacketError> {
    // No read wraps around the address space, and an empty reply would mean "not supported".
    let length = length.min((u64::MAX - place.address.0).saturating_add(1)).min(MAX_READ as u64);
    let buffer = state.buffer.get_mut(..length as usize).unwrap_or_default();
    if buffer.is_empty() {
        return Err(PacketError::malformed("no length"));
    }
    match state.session.read(place, buffer)? {
        0 => Err(PacketError::new(NOT_THERE, "nothing was captured there")),
        read => Ok(read.min(length as usize)),
    }
}

/// The meaning of an address with its suffix.
enum Meant {
    /// Memory of the dump.
    MemoryAddress(MemoryAddress),
    /// A window of the view, for a client with a selected wave; `grown`: the view after the additions of what-if
    /// changes.
    Window { views: Arc<Views>, grown: Option<Arc<View>>, address: u64, wave: WaveId },
}

fn meant(state: &State, address: u64, pairs: &[u8]) -> Result<Meant, PacketError> {
    let thread = state.named_in(pairs)?.unwrap_or(state.general);
    if let Some((_, space)) = parse::pairs(pairs).find(|(key, _)| *key == b"address_space") {
        let space = parse::number(space).ok_or(PacketError::malformed("not an address space"))?;
        return Ok(Meant::MemoryAddress(in_space(state, AddressSpace(space), address, thread)));
    }
    if let Token::Window { .. } = decode(address) {
        let views = state.views.clone().filter(|_| state.view().is_some());
        let views =
            views.ok_or_else(|| PacketError::new(NOT_THERE, "there are no windows without a view"))?;
        let grown = state.grown.shared();
        return Ok(Meant::Window { views, grown, address: of_lane(address, thread), wave: thread.wave });
    }
    Ok(Meant::MemoryAddress(place_at(state, address, thread)?))
}

/// The meaning of an address for a client with a selected thread.
///
/// LLDB caches memory by address. An address in an aperture is a different place for each wave and lane: LLDB would
/// print one's bytes for another. LLDB gets no such memory if the view has pointers with wave and lane.
pub(super) fn place_at(state: &State, address: u64, thread: Thread) -> Result<MemoryAddress, ReadError> {
    let place = state.session.place(of_lane(address, thread), thread.wave)?;
    let is_plain = matches!(decode(address), Token::Plain(_));
    if is_plain && place.space != address::GLOBAL && state.facade().is_lldb() && state.view().is_some() {
        let what = format!(
            "{address:#x} is a place in each wave and lane, and LLDB does not say of which; `monitor print` follows such \
             pointers: it"
        );
        return Err(ReadError::NotCaptured { what });
    }
    Ok(match (decode(address), thread.lane) {
        (Token::Plain(_), Some(lane)) => MemoryAddress { lane: Some(lane), ..place },
        _ => place,
    })
}

/// The same address, with the thread's lane in place of "the focused lane" of its wave: a thread that is a lane has no
/// other.
fn of_lane(address: u64, thread: Thread) -> u64 {
    let Thread { wave, lane: Some(lane) } = thread else { return address };
    let own = |named: Option<WaveId>| named.is_none_or(|named| named == wave);
    let explicit = match decode(address) {
        Token::Space { space, wave: named, lane: None, offset } if own(named) => {
            address::encode(space, Some(wave), Some(lane), offset)
        }
        Token::Window { wave: named, lane: None, offset } if own(named) => {
            address::window(wave, Some(lane), offset)
        }
        _ => None,
    };
    explicit.unwrap_or(address)
}

/// The place of an address in a space, for a client with a selected thread; the session checks its existence.
fn in_space(state: &State, space: AddressSpace, address: u64, thread: Thread) -> MemoryAddress {
    let scope = state.session.kind().target.space(space).map(|space| space.scope);
    let lane = match scope {
        Some(SpaceScope::LaneN(lane)) => lane,
        _ => state.shown_lane(thread),
    };
    MemoryAddress { space, address: Address(address), wave: Some(thread.wave), lane: Some(lane) }
}
