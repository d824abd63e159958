//! Reader of every register and byte, for clients, variables and reports.
//!
//! A client's what-if writes are a layer over it (`changes`). Derived values live no longer than their question (a
//! frame's registers), or [`Reader::generation`], which such a write advances, is in their key.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::arch::{RegId, Register, RegisterValue, Space, SpaceScope, WaveArch};
use crate::capture::Wave;
use crate::debuginfo::Rereads;
use crate::dwarf::Budget;
use crate::session::changes::Layer;
use crate::session::reading::address::{self, GLOBAL};
use crate::session::reading::stored::Block;
use crate::session::reading::touched::Touched;
use crate::session::stack::TextId;
use crate::session::{Dump, Interrupt, MemoryAddress, ReadError};
use crate::units::{Address, AddressSpace, LaneId, WaveId};
use crate::work::{self, Count};

/// Maximum bytes of names in the stacks of an answer, beyond the first bytes of each name.
const MAX_STACK_TEXT: usize = 64 << 20;
/// Bytes added for each stack: names of 512 bytes for 64 frames.
const WAVE_STACK_TEXT: usize = 1 << 15;
/// Bytes of a name that do not count.
const FREE_STACK_TEXT: usize = 1 << 6;

/// Reader of a dump's registers and memory for one client.
#[derive(Debug)]
pub struct Reader {
    dump: Arc<Dump>,
    pub(in crate::session) changes: Layer,
    pub(in crate::session) generation: u64,
    /// The last block of private memory.
    pub(in crate::session) block: Mutex<Block>,
    /// Record of the bytes read, if requested.
    pub(in crate::session) touched: Option<Mutex<Touched>>,
    /// Flag that ends the work from another thread.
    interrupt: Interrupt,
    budget: Counted,
    rereads: Rereads,
    /// Remaining bytes of frames' names for the question.
    stack_text: AtomicUsize,
    /// Keys of the identities of long names.
    text_keys: [RandomState; 2],
}

/// A budget whose used units are counted at its end.
#[derive(Debug, Default)]
struct Counted(Budget);

impl Drop for Counted {
    fn drop(&mut self) {
        work::count(Count::Units, self.0.used());
    }
}

impl Reader {
    /// A reader without changes.
    #[must_use]
    pub fn new(dump: Arc<Dump>) -> Self {
        Self {
            dump,
            changes: Layer::default(),
            generation: 0,
            block: Mutex::default(),
            touched: None,
            interrupt: Interrupt::default(),
            budget: Counted::default(),
            rereads: Rereads::default(),
            stack_text: AtomicUsize::new(MAX_STACK_TEXT),
            text_keys: [RandomState::new(), RandomState::new()],
        }
    }

    /// Creates a reader with a record of the bytes read: [`Self::touched`].
    #[must_use]
    pub fn watching(dump: Arc<Dump>) -> Self {
        Self { touched: Some(Mutex::default()), ..Self::new(dump) }
    }

    /// Adds a flag: once it is set, every read fails.
    #[must_use]
    pub(in crate::session) fn ended_by(self, interrupt: Interrupt) -> Self {
        Self { interrupt, ..self }
    }

    /// Sets the budget of variables' values.
    #[must_use]
    pub fn with_values(self, values: u64) -> Self {
        Self { budget: Counted(Budget::of_values(values)), ..self }
    }

    /// The budget of the question's evaluations; a new reader has that of its first question.
    pub(in crate::session) fn budget(&self) -> &Budget {
        &self.budget.0
    }

    /// The remaining rereads of functions for the question.
    pub(in crate::session) fn rereads(&self) -> &Rereads {
        &self.rereads
    }

    /// A frame's or file's name. After the question's limit for long names: the first bytes and `...`.
    pub(in crate::session) fn stack_text(&self, text: Option<&str>) -> Option<String> {
        let text = text?;
        let short = text.len().min(FREE_STACK_TEXT);
        let cost = text.len() - short;
        let left = self.stack_text.load(Ordering::Relaxed);
        if cost > left {
            let cut = (0..=short).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            return Some(format!("{}...", text.get(..cut).unwrap_or_default()));
        }
        self.stack_text.store(left - cost, Ordering::Relaxed);
        Some(text.to_owned())
    }

    /// The identity of a name that [`Self::stack_text`] may cut; `None` if it is short.
    pub(in crate::session) fn text_id(&self, text: &str) -> Option<TextId> {
        let is_long = text.len() > FREE_STACK_TEXT;
        is_long.then(|| self.text_keys.each_ref().map(|key| key.hash_one(text)))
    }

    /// Starts work on the stack of a wave.
    pub(in crate::session) fn next_wave(&self, wave: WaveId) {
        self.budget.0.add_wave(wave.0);
        let left = self.stack_text.load(Ordering::Relaxed);
        self.stack_text.store(left.saturating_add(WAVE_STACK_TEXT), Ordering::Relaxed);
    }

    /// Starts another question.
    pub(in crate::session) fn next_question(&self) {
        self.budget.0.restart();
        self.rereads.restart();
        self.stack_text.store(MAX_STACK_TEXT, Ordering::Relaxed);
    }

    /// Fails once the work has to end. All loops over waves and memory call it.
    pub(in crate::session) fn goes_on(&self) -> Result<(), ReadError> {
        if self.interrupt.is_set() { Err(ReadError::Interrupted) } else { Ok(()) }
    }

    /// The bytes read so far; empty without a record.
    #[must_use]
    pub fn touched(&self) -> Touched {
        let lock = |touched: &Mutex<Touched>| touched.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.touched.as_ref().map(lock).unwrap_or_default()
    }

    /// Number of pages of global memory read so far.
    pub(in crate::session) fn touched_pages(&self) -> u64 {
        let pages = |touched: &Mutex<Touched>| touched.lock().unwrap_or_else(PoisonError::into_inner).pages();
        self.touched.as_ref().map_or(0, pages)
    }

    pub(in crate::session) fn note(&self, note: impl FnOnce(&mut Touched)) {
        if let Some(touched) = &self.touched {
            note(&mut touched.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// The dump.
    #[must_use]
    pub fn dump(&self) -> &Arc<Dump> {
        &self.dump
    }

    /// A number that advances with every write and reset: earlier reads may be outdated.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The wave of that ordinal.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], [`ReadError::Interrupted`].
    pub fn wave(&self, wave: WaveId) -> Result<&Wave, ReadError> {
        self.goes_on()?;
        self.dump.capture().wave(wave).ok_or(ReadError::NoSuchWave(wave))
    }

    /// A wave with one of its registers.
    pub(in crate::session) fn described(
        &self,
        id: WaveId,
        register: RegId,
    ) -> Result<(&Wave, &Register), ReadError> {
        let wave = self.wave(id)?;
        let none = || ReadError::NoSuchRegister { wave: id, index: register.0 };
        Ok((wave, wave.kind.register(register).ok_or_else(none)?))
    }

    /// A wave's register. An alias (vcc in the last SGPRs) that was not captured itself has the value of its slots.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], [`ReadError::NoSuchRegister`], or the operating system's error for the file.
    pub fn register(&self, id: WaveId, register: RegId) -> Result<RegisterValue, ReadError> {
        let mut value = self.captured_register(id, register)?;
        if self.changes.touches(id) {
            let (wave, known) = self.described(id, register)?;
            let slots = alias_slots(wave, known);
            for index in 0..value.dwords() {
                let (of, at) = match &slots {
                    Some(slots) => (slots.get(usize::from(index)).copied().unwrap_or(register), 0),
                    None => (register, index),
                };
                if let Some(dword) = self.changes.dword(id, of, at) {
                    value.set_dword(index, dword);
                }
            }
        }
        Ok(value)
    }

    /// The captured value of a register.
    pub(in crate::session) fn captured_register(
        &self,
        wave: WaveId,
        register: RegId,
    ) -> Result<RegisterValue, ReadError> {
        let (wave, known) = self.described(wave, register)?;
        let fail = |error: std::io::Error| ReadError::Io {
            what: format!("register {}", known.name),
            error: error.to_string(),
        };
        let capture = self.dump.capture();
        let mut value = capture.register(wave, register).map_err(fail)?;
        if value.known() == 0
            && let Some(slots) = alias_slots(wave, known)
        {
            for (index, slot) in (0u16..).zip(slots) {
                if let Some(dword) = capture.register(wave, slot).map_err(fail)?.dword(0) {
                    value.set_dword(index, dword);
                }
            }
        }
        Ok(value)
    }

    /// A scalar register by name; `None` if the kind lacks it or a part of it was not captured.
    ///
    /// # Errors
    /// The errors of [`Self::register`].
    pub fn scalar(&self, wave: WaveId, name: &str) -> Result<Option<u64>, ReadError> {
        let kind: &WaveArch = &self.wave(wave)?.kind;
        match kind.named(name) {
            Some(register) => Ok(self.register(wave, register.id)?.scalar()),
            None => Ok(None),
        }
    }

    /// Reads memory from a place up to the first missing byte; at least one byte.
    ///
    /// # Errors
    /// The reason that the first byte is unreadable.
    pub fn read(&self, place: MemoryAddress, buffer: &mut [u8]) -> Result<usize, ReadError> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let fail =
            |error: std::io::Error| ReadError::Io { what: self.describe(place), error: error.to_string() };
        let count = self.read_stored(place, buffer)?.map_err(fail)?;
        if count > 0 {
            return Ok(count);
        }
        let what = self.describe(place);
        Err(match self.lacks_private(place) {
            true => ReadError::NoPrivateMemory { what },
            false => ReadError::NotCaptured { what },
        })
    }

    /// Whether a place is in the private memory of a wave that never had any.
    pub(in crate::session) fn lacks_private(&self, place: MemoryAddress) -> bool {
        let Ok(place) = (match self.space(place).map(|space| space.scope) {
            Ok(SpaceScope::Generic) => self.generic(place),
            _ => Ok(place),
        }) else {
            return false;
        };
        let is_private = self.space(place).is_ok_and(|space| {
            matches!(space.scope, SpaceScope::Wave | SpaceScope::Lane | SpaceScope::LaneN(_))
        });
        let wave = place.wave.and_then(|wave| self.dump.capture().wave(wave));
        is_private && wave.is_some_and(|wave| wave.private_size == Some(0))
    }

    /// [`Self::read`] without reasons for missing memory: 0 if the first byte was not captured.
    pub(in crate::session) fn read_if_captured(&self, place: MemoryAddress, buffer: &mut [u8]) -> usize {
        match self.read_stored(place, buffer) {
            Ok(Ok(count)) => count,
            Ok(Err(error)) => {
                log::warn!("cannot read {}: {error}", self.describe(place));
                0
            }
            Err(_) => 0,
        }
    }

    /// The concrete place of a generic address: local or private through the agent's apertures, else global.
    ///
    /// # Errors
    /// [`ReadError::Needs`] if the place needs a wave for the apertures.
    pub fn generic(&self, place: MemoryAddress) -> Result<MemoryAddress, ReadError> {
        let wave = self.needed_wave(place, "generic")?;
        let captured = self.wave(wave)?;
        let apertures = self.dump.capture().agent_of(captured).map(|agent| &agent.apertures);
        let none = HashMap::new();
        let found = captured.kind.target.resolve_generic(place.address, apertures.unwrap_or(&none));
        if let Some((space, address)) = found {
            return Ok(MemoryAddress { space: space.id, address, ..place });
        }
        Ok(MemoryAddress { space: GLOBAL, ..place })
    }

    /// Bases of the apertures for a wave's generic addresses, by space.
    pub(in crate::session) fn apertures(&self, wave: WaveId) -> Vec<(AddressSpace, u64)> {
        let capture = self.dump.capture();
        let agent = capture.wave(wave).and_then(|wave| capture.agent_of(wave));
        let spaces = agent.iter().flat_map(|agent| &agent.target.spaces);
        let base = |space: &Space| {
            let agent = agent?;
            Some((space.id, agent.target.aperture(space, &agent.apertures)?.0))
        };
        spaces.filter_map(base).collect()
    }

    /// A place as text: `private_lane[3]#0x40 of wave 2`.
    #[must_use]
    pub fn describe(&self, place: MemoryAddress) -> String {
        let space = self.space(place).ok();
        let Some(space) = space.filter(|space| space.scope != SpaceScope::Global) else {
            return format!("global memory at {}", place.address);
        };
        let lane = match (space.scope, place.lane) {
            (SpaceScope::Lane, Some(lane)) => format!("[{lane}]"),
            _ => String::new(),
        };
        let wave = place.wave.and_then(|wave| self.dump.capture().wave(wave));
        let owner = wave.map_or(String::new(), |wave| format!(" of wave {}", wave.id));
        format!("{}{lane}#{}{owner}", space.name, place.address)
    }

    /// The address space of a place, in the wave's target.
    ///
    /// # Errors
    /// [`ReadError::NoSuchSpace`].
    pub fn space(&self, place: MemoryAddress) -> Result<&Space, ReadError> {
        let capture = self.dump.capture();
        let wave = place.wave.and_then(|wave| capture.wave(wave)).or(capture.waves.first());
        let target = wave.map(|wave| &wave.kind.target);
        target.and_then(|target| target.space(place.space)).ok_or_else(|| {
            let name = target.map_or_else(|| "any target".to_owned(), |target| target.name.clone());
            ReadError::NoSuchSpace(place.space, name)
        })
    }

    pub(in crate::session) fn needed_wave(
        &self,
        place: MemoryAddress,
        space: &str,
    ) -> Result<WaveId, ReadError> {
        place.wave.ok_or_else(|| ReadError::Needs { space: space.to_owned(), needs: "wave" })
    }
}

/// The SGPRs of an alias register: the wave's last allocated slots, lowest first; `None` if the register is no alias or
/// its slots have no names of their own.
pub(in crate::session) fn alias_slots(wave: &Wave, register: &Register) -> Option<Vec<RegId>> {
    let alias = register.alias?;
    let target = &wave.kind.target;
    let first = alias.first(target.sgpr_alias_limit, wave.sgpr_count.unwrap_or(target.sgpr_count))?;
    let named = |slot: u16| wave.kind.named(&format!("s{slot}")).map(|register| register.id);
    (first..).take(usize::from(alias.count)).map(named).collect()
}

/// The place of a client's address; the client's focus is on `wave` and `lane`.
///
/// # Errors
/// [`ReadError::NoSuchSpace`], [`ReadError::NoSuchWave`], [`ReadError::NoSuchLane`].
pub(in crate::session) fn resolve(
    reader: &Reader,
    at: u64,
    wave: WaveId,
    lane: LaneId,
) -> Result<MemoryAddress, ReadError> {
    match address::decode(at) {
        address::Token::Plain(address) => {
            let place =
                MemoryAddress { space: address::GENERIC, address, wave: Some(wave), lane: Some(lane) };
            reader.generic(place)
        }
        address::Token::Space { space, wave: named, lane: of, offset } => {
            let wave = named.unwrap_or(wave);
            let size = reader.wave(wave)?.kind.wave_size;
            let lane = of.unwrap_or(lane);
            if !size.has(lane) {
                return Err(ReadError::NoSuchLane { lane, lanes: size.lanes() });
            }
            let place = MemoryAddress {
                space,
                address: Address(u64::from(offset)),
                wave: Some(wave),
                lane: Some(lane),
            };
            reader.space(place)?;
            Ok(place)
        }
        address::Token::Window { .. } | address::Token::Nothing(_) => Err(ReadError::NoSuchSpace(
            crate::units::AddressSpace(at >> 56),
            reader.wave(wave)?.kind.target.name.clone(),
        )),
    }
}
