//! The bytes of a GPU's code as they go to debuggers that would disassemble them as x86-64. Each byte is true, or refused.
//!
//! gdb reads code for its disassembler through a cache of lines: 64 bytes, on a boundary of 64. Where it does not get a line it
//! asks at once for the few bytes that it needs next. Everything else (`x/8xb $pc`, `p`, `dump`) it reads as it is asked for,
//! without that cache. So a line of code is refused, and so is a read of an instruction's size in that line in the next packet. A
//! client that asks for instructions by `qlanescope.Disassemble` prints those: it reads the bytes.
//!
//! gdb also reads the beginning of a function whose frames no call frame information describes, to find out what its prologue has
//! done, and `step` and `bt` fail where it cannot. It asks for 18 bytes there, and then for one, each time after the line.
//!
//! LLDB 22 reads code for its disassembler and for `memory read` alike, so that it gets none.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::super::facade::Facade;
use super::super::fault::{Fault, NOT_THERE};
use super::super::registers::Source;
use super::super::state::State;
use crate::session::address::{self, Token, decode};
use crate::session::{Place, Region};
use crate::units::WaveId;

/// gdb's line of code, in bytes.
const LINE: u64 = 64;
/// Bytes of the largest number: a read of so many is no line.
const SCALAR: u64 = 8;
/// The most that gdb reads for one instruction of x86-64 after it did not get the line.
const INSTRUCTION: u64 = 16;
/// What gdb 13 reads of a prologue first (`amd64_analyze_stack_align`).
const PROLOGUE: u64 = 18;
/// The page around a PC is code, where no code object says what is.
const PAGE: u64 = 4096;

/// How a client reads code.
#[derive(Debug, Default)]
pub(crate) struct CodeReads {
    /// The line that the packet in work is refused.
    refused: Option<u64>,
    /// The line that the packet before it was refused.
    before: Option<u64>,
    /// The function whose prologue gdb reads in the packet in work.
    prologue: Option<u64>,
    /// The one whose prologue it read in the packet before it.
    prologue_before: Option<u64>,
    /// Whether the client asks for instructions.
    pub(super) asks_for_instructions: bool,
    /// The pages around captured PCs that are in no code object.
    pages: OnceCell<BTreeSet<u64>>,
}

impl CodeReads {
    /// A packet begins.
    pub(crate) fn next_packet(&mut self) {
        self.before = self.refused.take();
        self.prologue_before = self.prologue.take();
    }
}

/// How many of the bytes that were read from a place on the client gets.
///
/// # Errors
/// It gets none: they are code, and the client would disassemble them.
pub(super) fn told(
    state: &mut State,
    address: u64,
    length: u64,
    place: Place,
    read: usize,
) -> Result<usize, Fault> {
    let is_hidden = match state.facade() {
        _ if place.space != address::GLOBAL || !matches!(decode(address), Token::Plain(_)) => false,
        Facade::Lldb => return before_code(state, address, read),
        Facade::Gdb => !state.code.asks_for_instructions && is_for_disassembler(state, address, length),
        Facade::AmdgcnGdb | Facade::AmdgcnLldb => false,
    };
    if is_hidden { Err(refusal()) } else { Ok(read) }
}

fn refusal() -> Fault {
    Fault::new(NOT_THERE, "a GPU's code is not x86-64: `monitor disassemble` lists it")
}

/// The bytes read before the first of code.
fn before_code(state: &State, address: u64, read: usize) -> Result<usize, Fault> {
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
pub(super) fn is_code(state: &State, place: Place) -> bool {
    place.space == address::GLOBAL && run(state, place.address.0).is_code
}

/// Whether gdb reads for its disassembler: a line of its code cache, or what it asks for instead of a line that was refused.
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

/// Addresses that are code, or are not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Which.
    pub(super) is_code: bool,
    /// The first address.
    pub(super) start: u64,
    /// The last one.
    pub(super) last: u64,
}

/// The run of addresses that an address is in, within its region.
pub(super) fn run(state: &State, at: u64) -> Run {
    let wave = state.general.wave;
    let Region { start, last, code, .. } = state.session.region(at, wave);
    if code {
        return Run { is_code: true, start, last };
    }
    let pages = state.code.pages.get_or_init(|| pages(state));
    // A what-if write may have moved it.
    let own = pc(state, wave).filter(|pc| !state.session.region(*pc, wave).code).map(|pc| pc - pc % PAGE);
    let page = at - at % PAGE;
    if own == Some(page) || pages.contains(&page) {
        return Run { is_code: true, start: start.max(page), last: last.min(page + (PAGE - 1)) };
    }
    let before = pages.range(..page).next_back().copied().max(own.filter(|own| *own < page));
    let after = pages.range(page..).next().copied().into_iter().chain(own.filter(|own| *own > page)).min();
    Run {
        is_code: false,
        start: before.map_or(start, |before| start.max(before + PAGE)),
        last: after.map_or(last, |after| last.min(after - 1)),
    }
}

/// The pages around the PCs of all served waves that no code object holds.
fn pages(state: &State) -> BTreeSet<u64> {
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
