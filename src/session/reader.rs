//! The one reader: every register and every byte that a client, a variable or a report sees comes through here.
//!
//! A client's what-if writes are a layer over it. What is derived from reading lives no longer than the question that
//! asked (a frame's registers), or is keyed by [`Reader::generation`], which such a write advances.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::address::{self, GLOBAL};
use super::{Dump, Place, Unreadable};
use crate::arch::{Kind, RegId, Register, RegisterValue, Space, SpaceScope};
use crate::capture::{MemoryMap, Wave};
use crate::units::{Address, AddressSpace, LaneId, WaveId};

/// Bytes of a lane that are contiguous in private memory's backing layout: the swizzle's element.
pub(super) const SWIZZLE: u64 = 4;

/// The most bytes of backing memory that one swizzled read fetches at a time.
const ROWS_AT_ONCE: u64 = 64;

/// Bytes of a wave's private memory that are read at once and kept: rows of the swizzle hold all lanes, and who asks for
/// one lane mostly asks for the next one too.
const BLOCK: u64 = 4096;

/// Reads registers and memory of a dump for one client.
#[derive(Debug)]
pub struct Reader {
    dump: Arc<Dump>,
    generation: u64,
    /// The last block of private memory.
    block: Mutex<Block>,
}

/// A run of a wave's private memory, as far as it was captured from its start on.
#[derive(Debug, Default)]
struct Block {
    /// Wave, first address and [`Reader::generation`].
    of: Option<(u32, u64, u64)>,
    bytes: Vec<u8>,
}

/// Where the bytes of a place are kept.
enum Storage<'a> {
    /// Addresses are those of the map.
    Linear(&'a MemoryMap, u64),
    /// Global memory as an agent sees it: the map first, then what code objects hold for certain.
    Global(u64, Option<usize>),
    /// Private memory of one lane, swizzled into the wave's.
    Swizzled(&'a Wave, LaneId, u64),
}

impl Reader {
    /// A reader without changes.
    #[must_use]
    pub fn new(dump: Arc<Dump>) -> Self {
        Self { dump, generation: 0, block: Mutex::default() }
    }

    /// The dump.
    #[must_use]
    pub fn dump(&self) -> &Arc<Dump> {
        &self.dump
    }

    /// Advances whenever something that was read may read differently now.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The wave of that ordinal.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchWave`].
    pub fn wave(&self, wave: WaveId) -> Result<&Wave, Unreadable> {
        self.dump.capture().wave(wave).ok_or(Unreadable::NoSuchWave(wave))
    }

    /// A wave's register; an alias (vcc in the last SGPRs) that was not captured itself is read from its slots.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchWave`], or what the operating system says of the file.
    pub fn register(&self, wave: WaveId, register: RegId) -> Result<RegisterValue, Unreadable> {
        let wave = self.wave(wave)?;
        let fail = |error: std::io::Error| Unreadable::Io {
            what: format!("register {}", wave.kind.register(register).name),
            error: error.to_string(),
        };
        let capture = self.dump.capture();
        let mut value = capture.register(wave, register).map_err(fail)?;
        if value.known() == 0
            && let Some(slots) = alias_slots(wave, wave.kind.register(register))
        {
            for (index, slot) in (0u16..).zip(slots) {
                if let Some(dword) = capture.register(wave, slot).map_err(fail)?.dword(0) {
                    value.set_dword(index, dword);
                }
            }
        }
        Ok(value)
    }

    /// A scalar register of that name, where the kind has it and all of it was captured.
    ///
    /// # Errors
    /// As [`Self::register`].
    pub fn scalar(&self, wave: WaveId, name: &str) -> Result<Option<u64>, Unreadable> {
        let kind: &Kind = &self.wave(wave)?.kind;
        match kind.named(name) {
            Some(register) => Ok(self.register(wave, register.id)?.scalar()),
            None => Ok(None),
        }
    }

    /// Reads memory from a place on, as far as it was captured without a gap; at least one byte.
    ///
    /// # Errors
    /// Why not even the first byte can be read.
    pub fn read(&self, place: Place, buffer: &mut [u8]) -> Result<usize, Unreadable> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let fail =
            |error: std::io::Error| Unreadable::Io { what: self.describe(place), error: error.to_string() };
        let count = self.read_stored(place, buffer)?.map_err(fail)?;
        if count == 0 { Err(Unreadable::NotCaptured { what: self.describe(place) }) } else { Ok(count) }
    }

    /// The same without words for what is not there: 0 where the first byte was not captured.
    pub(super) fn read_if_captured(&self, place: Place, buffer: &mut [u8]) -> usize {
        match self.read_stored(place, buffer) {
            Ok(Ok(count)) => count,
            Ok(Err(error)) => {
                log::warn!("cannot read {}: {error}", self.describe(place));
                0
            }
            Err(_) => 0,
        }
    }

    fn read_stored(&self, place: Place, buffer: &mut [u8]) -> Result<std::io::Result<usize>, Unreadable> {
        let capture = self.dump.capture();
        Ok(match self.storage(place)? {
            Storage::Linear(map, address) => capture.read(map, address, buffer),
            Storage::Global(address, agent) => self.read_global(address, agent, buffer),
            Storage::Swizzled(wave, lane, address) => self.read_swizzled(wave, lane, address, buffer),
        })
    }

    /// The concrete place that a generic address names: local or private through the agent's apertures, else global.
    ///
    /// # Errors
    /// [`Unreadable::Needs`] where the place needs a wave to tell the apertures.
    pub fn generic(&self, place: Place) -> Result<Place, Unreadable> {
        let wave = self.needed_wave(place, "generic")?;
        let captured = self.wave(wave)?;
        let apertures = self.dump.capture().agent_of(captured).map(|agent| &agent.apertures);
        let none = HashMap::new();
        let found = captured.kind.target.resolve_generic(place.address, apertures.unwrap_or(&none));
        if let Some((space, address)) = found {
            return Ok(Place { space: space.id, address, ..place });
        }
        Ok(Place { space: GLOBAL, ..place })
    }

    /// Bases of the apertures that a wave's generic addresses see, by space.
    pub(super) fn apertures(&self, wave: WaveId) -> Vec<(AddressSpace, u64)> {
        let capture = self.dump.capture();
        let agent = capture.wave(wave).and_then(|wave| capture.agent_of(wave));
        let spaces = agent.iter().flat_map(|agent| &agent.target.spaces);
        let base = |space: &Space| {
            let given = agent.and_then(|agent| agent.apertures.get(&space.id).copied());
            Some((space.id, given.or(space.aperture)?.0))
        };
        spaces.filter_map(base).collect()
    }

    /// A place in words: `private_lane[3]#0x40 of wave 2`.
    #[must_use]
    pub fn describe(&self, place: Place) -> String {
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

    /// The address space of a place, as the wave's target knows it.
    ///
    /// # Errors
    /// [`Unreadable::NoSuchSpace`].
    pub fn space(&self, place: Place) -> Result<&Space, Unreadable> {
        let capture = self.dump.capture();
        let wave = place.wave.and_then(|wave| capture.wave(wave)).or(capture.waves.first());
        let target = wave.map(|wave| &wave.kind.target);
        target.and_then(|target| target.space(place.space)).ok_or_else(|| {
            let name = target.map_or_else(|| "any target".to_owned(), |target| target.name.clone());
            Unreadable::NoSuchSpace(place.space, name)
        })
    }

    fn storage(&self, place: Place) -> Result<Storage<'_>, Unreadable> {
        let agent = place.wave.and_then(|wave| self.dump.capture().wave(wave)).map(|wave| wave.agent);
        if place.space == GLOBAL {
            return Ok(Storage::Global(place.address.0, agent));
        }
        let space = self.space(place)?;
        let not_captured = || Unreadable::NotCaptured { what: self.describe(place) };
        let wide = space.address_bits > 32;
        if !wide && place.address.0 > u64::from(u32::MAX) {
            return Err(not_captured());
        }
        match space.scope {
            SpaceScope::Global => Ok(Storage::Global(place.address.0, agent)),
            SpaceScope::Generic => self.storage(self.generic(place)?),
            SpaceScope::Agent => Err(not_captured()),
            SpaceScope::WorkGroup => {
                let wave = self.wave(self.needed_wave(place, &space.name)?)?;
                let group = self.dump.capture().workgroup_of(wave).ok_or_else(not_captured)?;
                Ok(Storage::Linear(&group.lds, place.address.0))
            }
            SpaceScope::Wave => {
                let wave = self.wave(self.needed_wave(place, &space.name)?)?;
                Ok(Storage::Linear(&wave.private, place.address.0))
            }
            SpaceScope::Lane | SpaceScope::LaneN(_) => {
                let wave = self.wave(self.needed_wave(place, &space.name)?)?;
                let lane = match space.scope {
                    SpaceScope::LaneN(lane) => lane,
                    _ => place
                        .lane
                        .ok_or_else(|| Unreadable::Needs { space: space.name.clone(), needs: "lane" })?,
                };
                if !wave.kind.wave_size.has(lane) {
                    return Err(Unreadable::NoSuchLane { lane, lanes: wave.kind.wave_size.lanes() });
                }
                Ok(Storage::Swizzled(wave, lane, place.address.0))
            }
        }
    }

    fn needed_wave(&self, place: Place, space: &str) -> Result<WaveId, Unreadable> {
        place.wave.ok_or_else(|| Unreadable::Needs { space: space.to_owned(), needs: "wave" })
    }

    /// Global memory as captured; where it was not, what a loaded code object holds and cannot have changed.
    fn read_global(&self, address: u64, agent: Option<usize>, buffer: &mut [u8]) -> std::io::Result<usize> {
        let capture = self.dump.capture();
        let mut done = 0;
        while done < buffer.len() {
            let Some(at) = address.checked_add(done as u64) else { break };
            // A code object may lie between two captured segments, or bridge them: never read past the next segment.
            let limit = capture
                .global
                .next(at)
                .map_or(usize::MAX, |next| usize::try_from(next.address - at).unwrap_or(usize::MAX));
            let mut got = match capture.read(&capture.global, at, &mut buffer[done..]) {
                Ok(got) => got,
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            };
            if got == 0 {
                let end = buffer.len().min(done.saturating_add(limit));
                got = self.dump.objects().read(capture, at, agent, &mut buffer[done..end]);
            }
            if got == 0 {
                break;
            }
            done += got;
        }
        Ok(done)
    }

    /// The wave's private memory as it is stored, from the block that is kept where that has all of it.
    fn read_private(&self, wave: &Wave, start: u64, out: &mut [u8]) -> std::io::Result<usize> {
        let capture = self.dump.capture();
        let (first, within) = (start - start % BLOCK, (start % BLOCK) as usize);
        // A block is put in whole, so that a thread that died while it held the lock left a sound one.
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        let of = Some((wave.id, first, self.generation));
        if block.of != of {
            let mut bytes = vec![0; BLOCK as usize];
            // What cannot be read is read again below, and reported there.
            let got = capture.read(&wave.private, first, &mut bytes).unwrap_or(0);
            bytes.truncate(got);
            *block = Block { of, bytes };
        }
        match block.bytes.get(within..within.saturating_add(out.len())) {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                Ok(out.len())
            }
            None => capture.read(&wave.private, start, out),
        }
    }

    /// Byte `a` of lane `l` lies at `(a / 4) * lanes * 4 + l * 4 + a % 4` of the wave's private memory.
    fn read_swizzled(
        &self,
        wave: &Wave,
        lane: LaneId,
        address: u64,
        out: &mut [u8],
    ) -> std::io::Result<usize> {
        let row = u64::from(wave.kind.wave_size.lanes()) * SWIZZLE;
        let column = u64::from(lane.0) * SWIZZLE;
        let mut done = 0;
        let mut rows = Vec::new();
        while done < out.len() {
            let at = address + done as u64;
            let first = at / SWIZZLE;
            let last = (at + (out.len() - done - 1) as u64) / SWIZZLE;
            let count = (last - first + 1).min(ROWS_AT_ONCE);
            // The rows hold every lane; ours is read out of them, from the first byte wanted on.
            let start = first * row + column + at % SWIZZLE;
            let span = (count - 1) * row + SWIZZLE - at % SWIZZLE;
            rows.resize(usize::try_from(span).unwrap_or(0), 0);
            let capture = self.dump.capture();
            let mut got = match self.read_private(wave, start, &mut rows) {
                Ok(got) => got,
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            };
            let mut index = 0;
            while index < count && done < out.len() {
                let within = (address + done as u64) % SWIZZLE;
                let offset = (first + index) * row + column + within - start;
                let want = usize::try_from(SWIZZLE - within).unwrap_or(0).min(out.len() - done);
                let offset = usize::try_from(offset).unwrap_or(usize::MAX);
                if offset.saturating_add(want) > got {
                    // Another lane's bytes are missing in between; ours may be there.
                    let alone =
                        capture.read(&wave.private, start + offset as u64, &mut out[done..done + want])?;
                    if alone < want {
                        return Ok(done + alone);
                    }
                    got = got.min(offset);
                } else {
                    out[done..done + want].copy_from_slice(&rows[offset..offset + want]);
                }
                done += want;
                index += 1;
            }
        }
        Ok(done)
    }
}

/// The SGPRs that an alias register lives in for this wave: its last allocated slots, lowest first.
///
/// `None` where the register is no alias, or its slots have no names of their own.
pub(super) fn alias_slots(wave: &Wave, register: &Register) -> Option<Vec<RegId>> {
    let alias = register.alias?;
    let target = &wave.kind.target;
    let first = alias.first(target.sgpr_alias_limit, wave.sgpr_count.unwrap_or(target.sgpr_count))?;
    let named = |slot: u16| wave.kind.named(&format!("s{slot}")).map(|register| register.id);
    (first..first + alias.count).map(named).collect()
}

/// What an address that a client sent means to a client that looks at `wave` with the focus on `lane`.
///
/// # Errors
/// [`Unreadable::NoSuchSpace`], [`Unreadable::NoSuchWave`], [`Unreadable::NoSuchLane`].
pub(super) fn resolve(reader: &Reader, at: u64, wave: WaveId, lane: LaneId) -> Result<Place, Unreadable> {
    match address::decode(at) {
        address::Token::Plain(address) => {
            let place = Place { space: address::GENERIC, address, wave: Some(wave), lane: Some(lane) };
            reader.generic(place)
        }
        address::Token::Space { space, wave: named, lane: of, offset } => {
            let wave = named.unwrap_or(wave);
            let size = reader.wave(wave)?.kind.wave_size;
            let lane = of.unwrap_or(lane);
            if !size.has(lane) {
                return Err(Unreadable::NoSuchLane { lane, lanes: size.lanes() });
            }
            let place =
                Place { space, address: Address(u64::from(offset)), wave: Some(wave), lane: Some(lane) };
            reader.space(place)?;
            Ok(place)
        }
        address::Token::Window { .. } | address::Token::Nothing(_) => Err(Unreadable::NoSuchSpace(
            crate::units::AddressSpace(at >> 56),
            reader.wave(wave)?.kind.target.name.clone(),
        )),
    }
}
