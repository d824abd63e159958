//! Writing an object of a frame by its DWARF location: all its parts or none.
//!
//! Registers of a caller's frame are written to their current place, by call frame information.

use super::ChangeError;
use super::batch::Batch;
use crate::arch::{DwarfRegError, RegId, SpaceScope};
use crate::dwarf::write::{Plan, Run, Store, Target};
use crate::dwarf::{Frame, Location, MemoryAt, Storage};
use crate::session::reading::reader::Reader;
use crate::session::stack::unwind::{PhysicalFrame, Unwinder};
use crate::session::{MemoryAddress, ReadError, variables};
use crate::units::{BitSize, DwarfReg, LaneId, WaveId};

/// Collects the values to write, without writing them.
struct Draft<'r> {
    reader: &'r Reader,
    wave: WaveId,
    lane: LaneId,
    batch: Batch,
    /// Whether two parts have different values for one bit. Names do not show that: vcc and SGPRs share storage.
    contradicts: bool,
}

/// The reason that a part of an object cannot be written.
#[derive(Debug, thiserror::Error)]
enum DraftError {
    #[error("a register as the caller had it at the call, which is nowhere now")]
    AtCall,
    #[error(transparent)]
    Register(#[from] DwarfRegError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl Draft<'_> {
    fn place(&self, at: MemoryAt) -> MemoryAddress {
        let lane = Some(at.lane.unwrap_or(self.lane));
        MemoryAddress { space: at.space, address: at.address, wave: Some(self.wave), lane }
    }

    fn register(&self, number: DwarfReg) -> Result<RegId, DraftError> {
        Ok(self.reader.wave(self.wave)?.kind.dwarf(number)?.id)
    }

    fn add(&self, batch: &mut Batch, run: &Run) -> Result<bool, DraftError> {
        Ok(match run.to {
            Target::Register { frame: Frame::Caller, .. } => return Err(DraftError::AtCall),
            Target::Register { register, first, .. } => {
                let register = self.register(register)?;
                self.reader.add_register(batch, self.wave, register, first, &run.bytes, &run.mask)?
            }
            Target::Memory(at) => self.reader.add_memory(batch, self.place(at), &run.bytes, &run.mask)?,
        })
    }
}

impl Store for Draft<'_> {
    type Error = DraftError;

    fn check(&self, run: &Run) -> Result<(), DraftError> {
        let mut alone = Batch::default();
        self.add(&mut alone, run)?;
        Ok(self.reader.check(&alone)?)
    }

    fn write(&mut self, run: &Run) {
        let mut batch = std::mem::take(&mut self.batch);
        // The check has passed: no write fails here.
        match self.add(&mut batch, run) {
            Ok(contradicts) => self.contradicts |= contradicts,
            Err(why) => log::error!("a part that was checked is refused: {why}; please report this"),
        }
        self.batch = batch;
    }

    /// Maps private memory to its backing layout, and generic addresses to their target space.
    fn identity(&self, at: MemoryAt) -> MemoryAt {
        let mut place = self.place(at);
        if let Ok(found) = self.reader.generic(place)
            && (place.space == crate::session::reading::address::GENERIC
                || place.space == crate::session::reading::address::GLOBAL)
        {
            place = found;
        }
        let (Ok(space), Ok(wave)) = (self.reader.space(place), self.reader.wave(self.wave)) else {
            return at;
        };
        let lane = match space.scope {
            SpaceScope::Lane => place.lane,
            SpaceScope::LaneN(lane) => Some(lane),
            _ => None,
        };
        let Some(lane) = lane else {
            return MemoryAt { space: place.space, lane: None, address: place.address };
        };
        // A place outside of the wave's memory overlaps nothing.
        let Some(address) = wave.kind.private_wave(lane, place.address) else { return at };
        let wave_space = wave.kind.target.spaces.iter().find(|space| space.scope == SpaceScope::Wave);
        let space = wave_space.map_or(place.space, |space| space.id);
        MemoryAt { space, lane: None, address }
    }
}

/// Returns the batch that gives the object at a location of a frame these bytes.
///
/// # Errors
/// [`ChangeError`].
pub(in crate::session) fn draft(
    level: PhysicalFrame<'_>,
    lane: LaneId,
    location: &Location,
    size: BitSize,
    bytes: &[u8],
) -> Result<Batch, ChangeError> {
    let (reader, wave) = (level.walk().reader, level.walk().wave);
    let whole = location.at(lane);
    let why = match &whole.storage {
        Storage::Implicit(_) => Some("a constant that the compiler folded"),
        Storage::ImplicitPointer(_) => Some("a pointer that exists only in the debug information"),
        Storage::Undefined(_) => Some("optimized out"),
        _ => None,
    };
    let nowhere = |why| ChangeError::Nowhere { what: "the object".to_owned(), why };
    if let Some(why) = why {
        return Err(nowhere(why));
    }
    let settled = level.settled(&whole, lane, size).map_err(ChangeError::Location)?;
    match &settled.storage {
        Storage::Implicit(_) => return Err(nowhere("a value that call frame information computes")),
        Storage::Undefined(_) => return Err(nowhere("in a register that the callee did not save")),
        _ => {}
    }
    let plan = Plan::new(&settled, Some(lane), size, bytes)?;
    let mut draft = Draft { reader, wave, lane, batch: Batch::default(), contradicts: false };
    plan.apply(&mut draft)?;
    if draft.contradicts {
        return Err(nowhere("in registers that share storage, and would need two values there"));
    }
    Ok(draft.batch)
}

/// Writes the bits of an object, given as `size.div_ceil(8)` bytes, to a location of one lane of a frame; frames have
/// the numbers of [`backtrace`](super::super::Stacks::backtrace). A location with registers at their current place
/// (`LaneValue::place`) belongs to frame 0.
///
/// # Errors
/// [`ChangeError`]; nothing was written.
pub fn write_location(
    reader: &mut Reader,
    wave: WaveId,
    lane: LaneId,
    frame: usize,
    location: &Location,
    size: BitSize,
    bytes: &[u8],
) -> Result<(), ChangeError> {
    let batch = {
        let of = reader.wave(wave)?;
        if !of.kind.wave_size.has(lane) {
            return Err(ReadError::NoSuchLane { lane, lanes: of.kind.wave_size.lanes() }.into());
        }
        let mut walk = Unwinder::new(reader, wave)?;
        // A wave without a PC still has registers and memory.
        let level = match frame {
            0 => 0,
            frame => variables::find(&mut walk, frame)?.0,
        };
        draft(walk.level(level), lane, location, size, bytes)?
    };
    reader.commit(&batch)
}
