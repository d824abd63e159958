//! The bytes of a GPU's code as they go to debuggers that would disassemble them as x86-64.
//!
//! gdb reads code for its disassembler through a cache of lines: 64 bytes, on a boundary of 64. Where it does not get a line it
//! asks for the few bytes that it needs next. Everything else (`x/8xb $pc`, `p`, `dump`) it reads as it is asked for, without
//! that cache. So a line of code is refused, and the bytes of that line that are asked for in the next packet are
//! [`HIDDEN_CODE`], which gdb prints as `(bad)`. Who wants just such a line asks twice and gets it. A client that asks for
//! instructions by `qlanescope.Disassemble` prints those: it reads the bytes.
//!
//! LLDB 22 reads code for its disassembler and for `memory read` alike, so that all of it is hidden.

use super::super::facade::Facade;
use super::super::fault::{Fault, NOT_THERE};
use super::super::registers::Source;
use super::super::state::State;
use crate::session::Place;
use crate::session::address::{self, Token, decode};
use crate::view::HIDDEN_CODE;

/// gdb's line of code, in bytes.
const LINE: u64 = 64;
/// Bytes of the largest number: a read of so many is no line.
const SCALAR: u64 = 8;
/// The page around a PC is code, where no code object says what is.
const PAGE: u64 = 4096;

/// How a client reads code.
#[derive(Debug, Default)]
pub(crate) struct CodeReads {
    /// The line that the packet in work is refused.
    refused: Option<u64>,
    /// The line that the packet before it was refused.
    before: Option<u64>,
    /// Whether the client asks for instructions.
    pub(super) asks_for_instructions: bool,
}

impl CodeReads {
    /// A packet begins.
    pub(crate) fn next_packet(&mut self) {
        self.before = self.refused.take();
    }
}

/// Hides what is code of the bytes that were read into the state's buffer from a place on.
///
/// # Errors
/// gdb reads a line for its disassembler.
pub(super) fn hide(
    state: &mut State,
    address: u64,
    length: u64,
    place: Place,
    read: usize,
) -> Result<(), Fault> {
    if place.space != address::GLOBAL || !matches!(decode(address), Token::Plain(_)) {
        return Ok(());
    }
    match state.facade() {
        Facade::Lldb => {
            hide_code(state, address, read);
            Ok(())
        }
        Facade::Gdb if !state.code.asks_for_instructions => hide_line(state, address, length, read),
        Facade::Gdb | Facade::AmdgcnGdb | Facade::AmdgcnLldb => Ok(()),
    }
}

/// Hides all code among the bytes read.
fn hide_code(state: &mut State, address: u64, read: usize) {
    let end = address.saturating_add(read as u64);
    let mut at = address;
    while at < end {
        let (is_code, last) = run(state, at);
        let next = last.saturating_add(1).min(end);
        let bytes = state.buffer.get_mut((at - address) as usize..(next - address) as usize);
        if let Some(bytes) = bytes.filter(|_| is_code) {
            bytes.fill(HIDDEN_CODE);
        }
        at = next;
    }
}

/// Refuses a line of gdb's code cache, and hides what is read of it in the next packet.
fn hide_line(state: &mut State, address: u64, length: u64, read: usize) -> Result<(), Fault> {
    let line = address - address % LINE;
    let end = address.saturating_add(length);
    let was_refused = state.code.before == Some(line);
    let may_be_line = address == line && (SCALAR + 1..=LINE).contains(&length);
    if !may_be_line && !was_refused {
        return Ok(());
    }
    let (is_code, last) = run(state, address);
    // The map of memory may end within a line.
    let is_line = may_be_line && (length == LINE || last.checked_add(1) == Some(end));
    if is_line && is_code && !was_refused {
        state.code.refused = Some(line);
        return Err(Fault::new(NOT_THERE, "a GPU's code is not x86-64: `monitor disassemble` lists it"));
    }
    if was_refused && !is_line && end <= line.saturating_add(LINE) {
        hide_code(state, address, read);
    }
    Ok(())
}

/// Whether an address is code, and the last one for which the same is known.
fn run(state: &State, at: u64) -> (bool, u64) {
    let wave = state.general.wave;
    let region = state.session.region(at, wave);
    if region.code {
        return (true, region.last);
    }
    let Some(pc) = pc(state) else { return (false, region.last) };
    let first = pc - pc % PAGE;
    let last = first + (PAGE - 1);
    let is_outside = !state.session.region(pc, wave).code;
    if is_outside && (first..=last).contains(&at) {
        (true, region.last.min(last))
    } else if is_outside && at < first {
        (false, region.last.min(first - 1))
    } else {
        (false, region.last)
    }
}

/// The selected wave's PC, if it was captured.
fn pc(state: &State) -> Option<u64> {
    let map = state.registers();
    let Source::Wave(id) = map.slot(map.pc? as u64)?.source else { return None };
    let value = state.session.register(state.general.wave, id).ok()?;
    let bytes = value.is_whole().then(|| value.bytes())?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
