//! Memory that the variables of waves reach: their own, and the targets of their pointers, step by step.
//!
//! Step 0 is every read for the questions about a wave: its stack, its lanes, the variables of every frame for every
//! lane, the arguments of its kernel. A watching reader ([`Reader::watching`]) records them: the recorded memory gives
//! the same answers again. Each further step follows the pointers in the types of the reached objects: kernel arguments
//! first, breadth first, each object once. Memory is hostile: steps, pointers, pages and time are bounded.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::variables::locals_along;
use super::{Byte, MemoryAddress, ReadError, Reader};
use crate::debuginfo::{DebugInfo, TypeId};
use crate::session::dispatches::arguments;
use crate::session::dispatches::arguments::Raw;
use crate::session::reading::address::{GENERIC, GLOBAL};
use crate::session::stack::backtrace;
use crate::session::variables::pointers::{Found, PointerAt, Pointers};
use crate::session::waves::lanes;
use crate::units::{Address, LaneId, WaveId};

/// Maximum number of bytes of one object that are read for its pointers and kept: a larger object is cut off there.
pub const MAX_OBJECT: u64 = 1 << 20;

/// The limits of following pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Pointer steps: 0 keeps the variables themselves, 1 also their targets.
    pub steps: u32,
    /// Pages of global memory in all.
    pub pages: u64,
    /// Number of pointers to follow.
    pub pointers: u64,
    /// Values of variables, one for each lane, beyond those that each wave adds: the reader's
    /// ([`Reader::with_values`]).
    pub values: u64,
    /// Time for variables and for pointers; stacks do not count.
    pub time: Duration,
}

/// A limit that was reached: memory beyond it was not visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The number of steps; there were pointers left.
    Steps,
    /// The number of pages.
    Pages,
    /// The number of pointers.
    Pointers,
    /// The time.
    Time,
    /// The number of values of variables.
    Values,
    /// The number of reads of large functions that do not fit memory together.
    Functions,
    /// An object's size, or the number of pointers in one.
    Object,
}

/// The result. The memory itself is the reader's record ([`Reader::touched`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Steps that reached memory.
    pub steps: u32,
    /// Pointers to captured memory.
    pub followed: u64,
    /// Pointers to memory that was not captured.
    pub dangling: u64,
    /// Limits that were reached, each once.
    pub limits: Vec<Limit>,
}

/// Asks all questions of a client about those waves, and follows the pointers in the answers.
///
/// `progress` gets the number of finished waves, or of followed pointers, from time to time.
///
/// # Errors
/// [`ReadError::NoSuchWave`], or the operating system's error for a file. A frame without an answer is no error.
pub fn reach(
    reader: &Reader,
    waves: &[WaveId],
    bounds: &Bounds,
    progress: &mut dyn FnMut(u64),
) -> Result<Reach, ReadError> {
    let mut search = Search {
        reader,
        bounds,
        until: Instant::now() + bounds.time,
        pointers: Pointers::default(),
        seen: HashSet::new(),
        next: Vec::new(),
        reach: Reach::default(),
        visited: 0,
    };
    search.arguments(waves)?;
    for (count, wave) in (1..).zip(waves) {
        search.variables(*wave)?;
        progress(count);
    }
    search.follow(progress);
    Ok(search.reach)
}

/// The target of a pointer.
struct Target {
    place: MemoryAddress,
    debug: Arc<DebugInfo>,
    type_id: TypeId,
    size: u64,
}

/// The identity of a target; private memory and LDS belong to a wave.
type Identity = (u64, Address, Option<(WaveId, Option<LaneId>)>, Option<(usize, TypeId)>);

struct Search<'r> {
    reader: &'r Reader,
    bounds: &'r Bounds,
    until: Instant,
    pointers: Pointers,
    seen: HashSet<Identity>,
    /// The targets of the next step.
    next: Vec<Target>,
    reach: Reach,
    /// Number of visited pointers.
    visited: u64,
}

impl Search<'_> {
    /// The arguments of the waves' dispatches, each dispatch once.
    fn arguments(&mut self, waves: &[WaveId]) -> Result<(), ReadError> {
        let mut seen = HashSet::new();
        for id in waves {
            let wave = self.reader.wave(*id)?;
            let capture = self.reader.dump().capture();
            let index = capture.workgroup_of(wave).and_then(|group| group.dispatch);
            let dispatch =
                index.filter(|index| seen.insert(*index)).and_then(|index| capture.dispatches.get(index));
            let Some(dispatch) = dispatch else { continue };
            let mut found = Vec::new();
            arguments::of(self.reader, dispatch, &mut |raw: &Raw<'_>| {
                let bytes = raw.argument.bytes.clone();
                let is_buffer = !raw.argument.hidden && raw.argument.kind == "global_buffer";
                found.push((raw.typed.map(|(debug, id)| (Arc::clone(debug), id)), bytes, is_buffer));
            });
            for (typed, bytes, is_buffer) in found {
                match typed {
                    Some((debug, type_id)) => self.object(&debug, type_id, &bytes, *id, LaneId(0)),
                    // For a kernel without debug information only the metadata shows which arguments are pointers.
                    None if is_buffer => {
                        if let Some(address) = number(&bytes) {
                            let place = MemoryAddress {
                                space: GLOBAL,
                                address: Address(address),
                                wave: Some(*id),
                                lane: None,
                            };
                            self.target(place, None);
                        }
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// All answers about a wave.
    fn variables(&mut self, wave: WaveId) -> Result<(), ReadError> {
        let captured = self.reader.wave(wave)?;
        let all = captured.kind.wave_size.all();
        let frames = backtrace::Frames::of(self.reader, wave)?;
        lanes::along(&frames, LaneId(0))?;
        frames.of_wave();
        backtrace::lane_stacks_along(&frames, all)?;
        for frame in 0..frames.count() {
            if Instant::now() >= self.until {
                self.hit(Limit::Time);
                break;
            }
            let mut found = Vec::new();
            // A frame without debug information has no variables and no pointers.
            let locals = locals_along(&frames, all, frame, &mut |debug, type_id, variable| {
                for value in &variable.lanes {
                    found.push((Arc::clone(debug), type_id, value.bytes.clone(), value.lane));
                }
            });
            if locals.is_ok_and(|locals| locals.left_out > 0) {
                self.hit(Limit::Values);
            }
            if self.reader.rereads().is_spent() {
                self.hit(Limit::Functions);
            }
            for (debug, type_id, bytes, lane) in found {
                self.object(&debug, type_id, &bytes, wave, lane);
            }
        }
        Ok(())
    }

    /// Collects the pointers of an object with these bytes.
    fn object(
        &mut self,
        debug: &Arc<DebugInfo>,
        type_id: TypeId,
        bytes: &[Byte],
        wave: WaveId,
        lane: LaneId,
    ) {
        let Found { list, is_whole, .. } = self.pointers.of(debug, type_id);
        if !is_whole {
            self.hit(Limit::Object);
        }
        for pointer in list.iter() {
            let at = usize::try_from(pointer.offset).unwrap_or(usize::MAX);
            let part = bytes.get(at..at.saturating_add(usize::from(pointer.bytes)));
            let Some(address) = part.and_then(number) else { continue };
            self.pointer(debug, pointer, address, wave, lane);
        }
    }

    fn pointer(&mut self, debug: &Arc<DebugInfo>, at: &PointerAt, address: u64, wave: WaveId, lane: LaneId) {
        let place =
            MemoryAddress { space: at.space, address: Address(address), wave: Some(wave), lane: Some(lane) };
        // An address without a space is generic, or global if no aperture holds it.
        let place = match at.space {
            GLOBAL | GENERIC => self.reader.generic(place).ok(),
            _ => self.reader.space(place).is_ok().then_some(place),
        };
        let to = at.to.map(|(to, size)| (Arc::clone(debug), to, size));
        if let Some(place) = place.filter(|_| address != 0) {
            self.target(place, to);
        }
    }

    /// Adds a pointer's target to the next step.
    fn target(&mut self, place: MemoryAddress, to: Option<(Arc<DebugInfo>, TypeId, u64)>) {
        if self.bounds.steps == 0 {
            return self.hit(Limit::Steps);
        }
        let owner = place.wave.filter(|_| place.space != GLOBAL).map(|wave| (wave, place.lane));
        let typed = to.as_ref().map(|(debug, id, _)| (Arc::as_ptr(debug) as usize, *id));
        if self.seen.contains(&(place.space.0, place.address, owner, typed)) {
            return;
        }
        if self.visited >= self.bounds.pointers {
            return self.hit(Limit::Pointers);
        }
        self.visited += 1;
        self.seen.insert((place.space.0, place.address, owner, typed));
        match to {
            Some((debug, type_id, size)) => self.next.push(Target { place, debug, type_id, size }),
            None => {
                // A target without a type has no further pointers, but counts as a step.
                if self.read(place, 1).is_some() {
                    self.reach.steps = self.reach.steps.max(1);
                }
            }
        }
    }

    /// Reads an object up to the first missing byte, which records its pages; `None` if the limit of pages is
    /// reached.
    fn read(&mut self, place: MemoryAddress, size: u64) -> Option<Vec<u8>> {
        let is_full = self.reader.touched_pages() >= self.bounds.pages;
        if is_full && place.space == GLOBAL {
            self.hit(Limit::Pages);
            return None;
        }
        let mut bytes = vec![0; usize::try_from(size.min(MAX_OBJECT)).unwrap_or(0)];
        if size > MAX_OBJECT {
            self.hit(Limit::Object);
        }
        let got = self.reader.read_if_captured(place, &mut bytes);
        bytes.truncate(got);
        if got == 0 {
            self.reach.dangling += 1;
            return None;
        }
        self.reach.followed += 1;
        Some(bytes)
    }

    fn follow(&mut self, progress: &mut dyn FnMut(u64)) {
        for step in 1..=self.bounds.steps {
            let level = std::mem::take(&mut self.next);
            if level.is_empty() {
                return;
            }
            self.reach.steps = step;
            let is_last = step == self.bounds.steps;
            for target in level {
                if Instant::now() >= self.until {
                    return self.hit(Limit::Time);
                }
                progress(self.visited);
                let Some(bytes) = self.read(target.place, target.size.max(1)) else { continue };
                let list = self.pointers.of(&target.debug, target.type_id).list;
                if is_last {
                    if !list.is_empty() {
                        self.hit(Limit::Steps);
                    }
                    continue;
                }
                let bytes: Vec<Byte> = bytes.into_iter().map(Byte::Known).collect();
                let (wave, lane) =
                    (target.place.wave.unwrap_or_default(), target.place.lane.unwrap_or_default());
                self.object(&target.debug, target.type_id, &bytes, wave, lane);
            }
        }
    }

    fn hit(&mut self, limit: Limit) {
        if !self.reach.limits.contains(&limit) {
            self.reach.limits.push(limit);
        }
    }
}

/// A number from bytes that are all known.
fn number(bytes: &[Byte]) -> Option<u64> {
    let mut wide = [0; 8];
    for (to, from) in wide.get_mut(..bytes.len())?.iter_mut().zip(bytes) {
        let Byte::Known(byte) = from else { return None };
        *to = *byte;
    }
    Some(u64::from_le_bytes(wide))
}
