//! The storage of a place's bytes, and reads from it: captured memory below a client's changes.

use std::sync::PoisonError;

use crate::arch::{SWIZZLE_BYTES, SpaceScope, WaveArch};
use crate::capture::{MemoryMap, Wave, copy, joined};
use crate::session::changes::{Owner, Run};
use crate::session::reading::address::GLOBAL;
use crate::session::reading::reader::Reader;
use crate::session::{MemoryAddress, ReadError};
use crate::units::{Address, LaneId, WaveId};

/// Maximum number of a lane's bytes in one swizzled read, which also fetches all other lanes' bytes between them.
const LANE_BYTES_AT_ONCE: u64 = 256;

/// Bytes of a wave's private memory per cached read. Rows of the swizzle hold all lanes, and clients mostly read lane
/// after lane.
const BLOCK: u64 = 4096;

/// Captured bytes of a wave's private memory, from a start to the first missing byte.
#[derive(Debug, Default)]
pub(in crate::session) struct Block {
    /// The owner, and the first address.
    of: Option<(Owner, u64)>,
    bytes: Vec<u8>,
}

/// The storage of a place's bytes.
#[derive(Clone, Copy)]
pub(in crate::session) enum Storage<'a> {
    /// Captured memory of one owner, at an address of it.
    Linear(Linear<'a>, u64),
    /// Global memory for an agent: the map first, then the fixed contents of code objects.
    Global(u64, Option<usize>),
    /// Private memory of one lane, swizzled into the wave's.
    Swizzled(Linear<'a>, Swizzle<'a>, u64),
}

/// Captured memory with its owner.
#[derive(Clone, Copy)]
pub(in crate::session) struct Linear<'a> {
    pub(in crate::session) owner: Owner,
    pub(in crate::session) map: &'a MemoryMap,
    /// Size of the owner's memory in bytes, captured or not, if known.
    pub(in crate::session) size: Option<u64>,
}

/// A lane among the lanes of its wave's private memory.
#[derive(Clone, Copy)]
pub(in crate::session) struct Swizzle<'a> {
    kind: &'a WaveArch,
    lane: LaneId,
}

impl Swizzle<'_> {
    /// The address of a lane's byte in the wave's private memory; `None` if there is none: addresses of 32 bits
    /// always have one.
    pub(in crate::session) fn backing(self, address: u64) -> Option<u64> {
        self.kind.private_wave(self.lane, Address(address)).map(|at| at.0)
    }

    /// The lane's first address whose byte is at or after a place in the wave's private memory; `None` if 64 bits
    /// have none.
    fn address_from(self, backing: u64) -> Option<u64> {
        let row = u64::from(self.kind.wave_size.lanes()) * SWIZZLE_BYTES;
        let column = u64::from(self.lane.0) * SWIZZLE_BYTES;
        let behind = backing.saturating_sub(column);
        let within = (behind % row).min(SWIZZLE_BYTES);
        (behind / row).checked_mul(SWIZZLE_BYTES)?.checked_add(within)
    }

    /// The end of the row that holds that byte of all lanes.
    fn row_end(self, address: u64) -> u64 {
        let last = LaneId(self.kind.wave_size.lanes() - 1);
        self.kind.private_wave(last, Address(address | 3)).map_or(u64::MAX, |at| at.0.saturating_add(1))
    }
}

impl Reader {
    pub(in crate::session) fn read_stored(
        &self,
        place: MemoryAddress,
        buffer: &mut [u8],
    ) -> Result<std::io::Result<usize>, ReadError> {
        self.goes_on()?;
        Ok(match self.storage(place)? {
            Storage::Linear(memory, address) => {
                if let Owner::Wave(wave) = memory.owner {
                    self.note(|touched| touched.private(wave, address.saturating_add(buffer.len() as u64)));
                }
                self.read_linear(memory, address, buffer)
            }
            Storage::Global(address, agent) => {
                self.note(|touched| touched.global(address, buffer.len() as u64));
                self.layered(Owner::Global, address, buffer, |at, buffer| self.read_global(at, agent, buffer))
            }
            Storage::Swizzled(memory, swizzle, address) => {
                if let (Owner::Wave(wave), Some(more)) = (memory.owner, buffer.len().checked_sub(1)) {
                    // All lanes of the last row: they are read together.
                    let last = address.saturating_add(more as u64);
                    self.note(|touched| touched.private(wave, swizzle.row_end(last)));
                }
                self.read_swizzled(memory, swizzle, address, buffer)
            }
        })
    }

    fn read_linear(&self, memory: Linear<'_>, address: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let capture = self.dump().capture();
        self.layered(memory.owner, address, buffer, |at, buffer| capture.read(memory.map, at, buffer))
    }

    /// Reads changed bytes from the layer, and the others with `captured`.
    fn layered(
        &self,
        owner: Owner,
        address: u64,
        buffer: &mut [u8],
        captured: impl Fn(u64, &mut [u8]) -> std::io::Result<usize>,
    ) -> std::io::Result<usize> {
        let changed = self.changes.memory();
        if !changed.touches(owner) {
            return captured(address, buffer);
        }
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) = address.checked_add(done as u64) else { break };
            match changed.run(owner, at, rest.len()) {
                Run::Changed(bytes) => {
                    done += copy(bytes, rest);
                }
                Run::Captured(length) => {
                    let got = match captured(at, rest.get_mut(..length).unwrap_or_default()) {
                        Ok(got) => got,
                        Err(error) if done == 0 => return Err(error),
                        Err(_) => break,
                    };
                    done += got;
                    if got < length {
                        break;
                    }
                }
            }
        }
        Ok(done)
    }

    pub(in crate::session) fn storage(&self, place: MemoryAddress) -> Result<Storage<'_>, ReadError> {
        let agent = place.wave.and_then(|wave| self.dump().capture().wave(wave)).map(|wave| wave.agent);
        if place.space == GLOBAL {
            return Ok(Storage::Global(place.address.0, agent));
        }
        let space = self.space(place)?;
        let not_captured = || ReadError::NotCaptured { what: self.describe(place) };
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
                let memory = self.lds(wave).ok_or_else(not_captured)?;
                Ok(Storage::Linear(memory, place.address.0))
            }
            SpaceScope::Wave => {
                let id = self.needed_wave(place, &space.name)?;
                Ok(Storage::Linear(private(id, self.wave(id)?), place.address.0))
            }
            SpaceScope::Lane | SpaceScope::LaneN(_) => {
                let id = self.needed_wave(place, &space.name)?;
                let wave = self.wave(id)?;
                let lane = match space.scope {
                    SpaceScope::LaneN(lane) => lane,
                    _ => place
                        .lane
                        .ok_or_else(|| ReadError::Needs { space: space.name.clone(), needs: "lane" })?,
                };
                if !wave.kind.wave_size.has(lane) {
                    return Err(ReadError::NoSuchLane { lane, lanes: wave.kind.wave_size.lanes() });
                }
                let swizzle = Swizzle { kind: &wave.kind, lane };
                Ok(Storage::Swizzled(private(id, wave), swizzle, place.address.0))
            }
        }
    }

    /// LDS of a wave's work-group, if known.
    pub(in crate::session) fn lds(&self, wave: &Wave) -> Option<Linear<'_>> {
        let index = wave.workgroup?;
        let group = self.dump().capture().workgroups.get(index)?;
        Some(Linear { owner: Owner::Group(index), map: &group.lds, size: group.lds_size })
    }

    /// The readable runs of an owner's memory, in order: first and last.
    pub(in crate::session) fn runs(&self, memory: Linear<'_>) -> Vec<(u64, u64)> {
        let captured = memory.map.segments().iter().map(|segment| (segment.address, segment.last()));
        // A dword may lie across two adjacent runs.
        joined(captured.chain(self.changes.memory().runs(memory.owner)).collect())
    }

    /// Captured global memory; in its gaps, the fixed contents of loaded code objects.
    pub(in crate::session) fn read_global(
        &self,
        address: u64,
        agent: Option<usize>,
        buffer: &mut [u8],
    ) -> std::io::Result<usize> {
        let capture = self.dump().capture();
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(at) = address.checked_add(done as u64) else { break };
            // A code object may lie between two captured segments, or bridge them: never read past the next segment.
            let limit = capture
                .global
                .next(at)
                .map_or(usize::MAX, |next| usize::try_from(next.address - at).unwrap_or(usize::MAX));
            let mut got = match capture.read(&capture.global, at, rest) {
                Ok(got) => got,
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            };
            if got == 0 {
                let within = limit.min(rest.len());
                let rest = rest.get_mut(..within).unwrap_or_default();
                got = self.dump().objects().read(capture, at, agent, rest);
            }
            if got == 0 {
                break;
            }
            done += got;
        }
        Ok(done)
    }

    /// Number of missing bytes from an unreadable byte on: up to the next one that may be readable.
    pub(in crate::session) fn missing(&self, place: MemoryAddress) -> u64 {
        let to_end = |address: u64| (u64::MAX - address).saturating_add(1);
        let is_generic = self.space(place).is_ok_and(|space| space.scope == SpaceScope::Generic);
        let missing = match self.storage(place) {
            Ok(Storage::Linear(memory, address)) => self.missing_in(memory.owner, memory.map, address),
            Ok(Storage::Global(address, agent)) => {
                let capture = self.dump().capture();
                let (piece, _) = self.dump().objects().piece(capture, address, agent);
                let missing = self.missing_in(Owner::Global, &capture.global, address);
                missing.min((piece.last - address).saturating_add(1))
            }
            Ok(Storage::Swizzled(memory, swizzle, address)) => {
                let next = swizzle.backing(address).and_then(|at| {
                    swizzle.address_from(at.saturating_add(self.missing_in(memory.owner, memory.map, at)))
                });
                next.map_or_else(|| to_end(address), |next| next.saturating_sub(address))
            }
            // No byte of the space is readable.
            Err(_) => to_end(place.address.0),
        };
        // Past an aperture's end the addresses name other memory.
        let end = if is_generic { place.address.0 | u64::from(u32::MAX) } else { u64::MAX };
        missing.min((end - place.address.0).saturating_add(1)).max(1)
    }

    /// [`Self::missing`] for an owner's memory.
    fn missing_in(&self, owner: Owner, map: &MemoryMap, address: u64) -> u64 {
        let captured = match map.find(address) {
            // The file is truncated, or the read fails: bytes after this block may be readable.
            Some(segment) => {
                let offset = segment.extent.offset.saturating_add(address - segment.address);
                (BLOCK - offset % BLOCK).min((segment.last() - address).saturating_add(1))
            }
            None => map.next(address).map_or(u64::MAX, |next| next.address - address),
        };
        let changed = self.changes.memory().next(owner, address);
        captured.min(changed.map_or(u64::MAX, |next| next - address))
    }

    /// Captured private memory of a wave, from the cached block if that covers the read.
    fn read_private(&self, memory: Linear<'_>, start: u64, out: &mut [u8]) -> std::io::Result<usize> {
        let capture = self.dump().capture();
        let (first, within) = (start - start % BLOCK, (start % BLOCK) as usize);
        // A block is stored whole, so that a panic of a thread with the lock leaves a valid one.
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        let of = Some((memory.owner, first));
        if block.of != of {
            let mut bytes = vec![0; BLOCK as usize];
            // The read below repeats and reports a failure.
            let got = capture.read(memory.map, first, &mut bytes).unwrap_or(0);
            bytes.truncate(got);
            *block = Block { of, bytes };
        }
        match block.bytes.get(within..within.saturating_add(out.len())) {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                Ok(out.len())
            }
            None => capture.read(memory.map, start, out),
        }
    }

    fn read_swizzled(
        &self,
        memory: Linear<'_>,
        swizzle: Swizzle<'_>,
        address: u64,
        out: &mut [u8],
    ) -> std::io::Result<usize> {
        let captured = |at, buffer: &mut [u8]| self.read_private(memory, at, buffer);
        // A dword of a lane, the most frequent read, lies in one piece.
        if let Some(start) = swizzle.backing(address)
            && swizzle.kind.private_run(Address(address)) >= out.len() as u64
        {
            return self.layered(memory.owner, start, out, captured);
        }
        let mut done = 0;
        let mut rows = Vec::new();
        while let Some(more) = out.len().checked_sub(done + 1) {
            let Some(at) = address.checked_add(done as u64) else { break };
            let last = at.saturating_add((LANE_BYTES_AT_ONCE - 1).min(more as u64));
            // The rows hold every lane; this takes one lane's bytes out of them, from the first to the last.
            let Some((start, end)) = swizzle.backing(at).zip(swizzle.backing(last)) else { break };
            rows.resize(usize::try_from(end - start + 1).unwrap_or(0), 0);
            let mut got = match self.layered(memory.owner, start, &mut rows, captured) {
                Ok(got) => got,
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            };
            while let Some(here) = address.checked_add(done as u64).filter(|here| *here <= last)
                && let Some(backing) = swizzle.backing(here)
            {
                let side_by_side = swizzle.kind.private_run(Address(here)).min(last - here + 1);
                let want = usize::try_from(side_by_side).unwrap_or(0);
                let Some(part) = out.get_mut(done..done + want) else { break };
                let offset = usize::try_from(backing - start).unwrap_or(usize::MAX);
                match rows.get(..got).and_then(|rows| rows.get(offset..offset.checked_add(want)?)) {
                    Some(bytes) => done += copy(bytes, part),
                    None => {
                        // Another lane's bytes are missing in between; this lane's may be captured.
                        let alone = self.read_linear(memory, backing, part)?;
                        done += alone;
                        if alone < want {
                            return Ok(done);
                        }
                        got = got.min(offset);
                    }
                }
            }
        }
        Ok(done)
    }
}

/// A wave's private memory.
pub(in crate::session) fn private(id: WaveId, wave: &Wave) -> Linear<'_> {
    Linear { owner: Owner::Wave(id), map: &wave.private, size: wave.private_size }
}
