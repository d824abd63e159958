//! Code bytes for debuggers that would disassemble them as x86-64. A packet has true bytes or an error; lldb's file of
//! the view has other bytes (docs/clients.md).
//!
//! gdb's disassembler reads code through a cache of lines: 64 bytes, on a boundary of 64. After an error for a line it
//! requests only the few bytes that it needs next. All other reads (`x/8xb $pc`, `p`, `dump`) bypass that cache. The
//! server therefore rejects a line of code, and in the next packet a read of an instruction's size in that line. A
//! client that requests instructions by `qlanescope.Disassemble` prints those and gets the bytes.
//!
//! gdb also reads the beginning of a function without call frame information, to analyse its prologue; without it
//! `step` and `bt` fail. It requests 18 bytes there, and then one, each time after the line.
//!
//! LLDB 22 reads code for its disassembler and for `memory read` in the same way, so it gets no code.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::error::{NOT_THERE, PacketError};
use super::super::facade::Facade;
use super::super::registers::Source;
use super::super::state::State;
use crate::session::address::{self, Token, decode};
use crate::session::{MemoryAddress, Region};
use crate::units::WaveId;

/// gdb's line of code, in bytes.
const LINE: u64 = 64;
/// Bytes of the largest number: a read of at most this size is not a line.
const SCALAR: u64 = 8;
/// Maximum bytes that gdb reads for one instruction of x86-64 after a refused line.
const INSTRUCTION: u64 = 16;
/// gdb 13's first read of a prologue (`amd64_analyze_stack_align`).
const PROLOGUE: u64 = 18;
/// Size of a page; the page around a PC is code if no code object describes it.
const PAGE: u64 = 4096;

/// A client's pattern of code reads.
#[derive(Debug, Default)]
pub(crate) struct CodeReads {
    /// The line rejected in the current packet.
    refused: Option<u64>,
    /// The line rejected in the previous packet.
    before: Option<u64>,
    /// The function whose prologue gdb reads in the current packet.
    prologue: Option<u64>,
    /// The function whose prologue it read in the previous packet.
    prologue_before: Option<u64>,
    /// Whether the client requests instructions.
    pub(super) asks_for_instructions: bool,
    /// The pages around PCs outside of all code objects, for one generation of the session.
    pages: RefCell<Option<(u64, Arc<BTreeSet<u64>>)>>,
}

impl CodeReads {
    /// Begins a packet.
    pub(crate) fn next_packet(&mut self) {
        self.before = self.refused.take();
        self.prologue_before = self.prologue.take();
    }
}

/// The number of bytes for the client, of those read from an address on.
///
/// # Errors
/// There are none: they are code, and the client would disassemble them.
pub(super) fn reported(
    state: &mut State,
    address: u64,
    length: u64,
    place: MemoryAddress,
    read: usize,
) -> Result<usize, PacketError> {
    let is_hidden = match state.facade() {
        _ if place.space != address::GLOBAL || !matches!(decode(address), Token::Plain(_)) => false,
        Facade::Lldb => return before_code(state, address, read),
        Facade::Gdb => !state.code.asks_for_instructions && is_for_disassembler(state, address, length),
        Facade::AmdgcnGdb | Facade::AmdgcnLldb => false,
    };
    if is_hidden { Err(refusal()) } else { Ok(read) }
}

fn refusal() -> PacketError {
    PacketError::new(NOT_THERE, "a GPU's code is not x86-64: `monitor disassemble` lists it")
}

/// The number of bytes read before the first byte of code.
fn before_code(state: &State, address: u64, read: usize) -> Result<usize, PacketError> {
    let end = address.saturating_add(read as u64);
    let mut at = address;
    while at < end {
        let Run { is_code, last, .. } = run(state, at);
        if is_code {
            break;
        }
        at = last.saturating_add(1).min(end);
    }
    let told = (at - address) as usize;
    if told == 0 && read > 0 { Err(refusal()) } else { Ok(told) }
}

/// Whether an address of the captured memory is code.
pub(super) fn is_code(state: &State, place: MemoryAddress) -> bool {
    place.space == address::GLOBAL && run(state, place.address.0).is_code
}

/// Whether gdb reads for its disassembler: a line of its code cache, or the read after a rejected line.
fn is_for_disassembler(state: &mut State, address: u64, length: u64) -> bool {
    let line = address - address % LINE;
    let end = address.saturating_add(length);
    let was_refused = state.code.before == Some(line);
    let may_be_line = address == line && (SCALAR + 1..=LINE).contains(&length);
    if !may_be_line && !was_refused {
        return false;
    }
    let Run { is_code, last, .. } = run(state, address);
    // The map of memory may end within a line.
    let is_line = may_be_line && (length == LINE || last.checked_add(1) == Some(end));
    let prologue = state.code.prologue_before;
    if is_line && is_code && !was_refused {
        state.code.refused = Some(line);
        state.code.prologue = prologue.filter(|function| function - function % LINE == line);
        return true;
    }
    if is_line || !is_code || !was_refused {
        return false;
    }
    if length == PROLOGUE || prologue == Some(address) {
        state.code.prologue = Some(address).filter(|_| length > 1);
        return false;
    }
    length <= INSTRUCTION && end <= line.saturating_add(LINE)
}

/// A range of addresses that all are, or all are not, code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Whether they are code.
    pub(super) is_code: bool,
    /// The first address.
    pub(super) start: u64,
    /// The last one.
    pub(super) last: u64,
}

/// The run of an address within its region.
pub(super) fn run(state: &State, at: u64) -> Run {
    let wave = state.general.wave;
    let Region { start, last, code, .. } = state.session.region(at, wave);
    if code {
        return Run { is_code: true, start, last };
    }
    let pages = pages(state);
    let page = at - at % PAGE;
    if pages.contains(&page) {
        return Run { is_code: true, start: start.max(page), last: last.min(page + (PAGE - 1)) };
    }
    let before = pages.range(..page).next_back();
    let after = pages.range(page..).next();
    Run {
        is_code: false,
        start: before.map_or(start, |before| start.max(before + PAGE)),
        last: after.map_or(last, |after| last.min(after - 1)),
    }
}

/// The pages around the PCs of all served waves outside of all code objects. A what-if write may move a PC.
fn pages(state: &State) -> Arc<BTreeSet<u64>> {
    let generation = state.session.generation();
    if let Some((of, pages)) = &*state.code.pages.borrow()
        && *of == generation
    {
        return Arc::clone(pages);
    }
    let pages = Arc::new(read_pages(state));
    *state.code.pages.borrow_mut() = Some((generation, Arc::clone(&pages)));
    pages
}

fn read_pages(state: &State) -> BTreeSet<u64> {
    let pcs = state.waves.iter().filter_map(|wave| pc(state, *wave));
    let mut pages: BTreeMap<u64, u64> = pcs.map(|pc| (pc - pc % PAGE, pc)).collect();
    pages.retain(|_, pc| !state.session.region(*pc, state.general.wave).code);
    pages.into_keys().collect()
}

/// A wave's PC, if it is known.
fn pc(state: &State, wave: WaveId) -> Option<u64> {
    let map = state.registers();
    let Source::Wave(id) = map.slot(map.pc? as u64)?.source else { return None };
    let value = state.session.register(wave, id).ok()?;
    let bytes = value.is_whole().then(|| value.bytes())?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
