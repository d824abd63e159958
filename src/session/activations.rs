//! Physical frames, as a debugger that unwinds by itself walks them: a PC and a function for each, and who calls it.
//!
//! A wave has one stack. A lane has one of its own where `DW_AT_LLVM_lane_pc` says that it is elsewhere than the wave, or
//! that it never entered a function ("Conceptually the lane only has the call frames that it has a non-undefined
//! DW_AT_LLVM_lane_pc", 2020 AMDGPU text).

use super::backtrace::Frames;
use super::positions::Position;
use super::stack::StackEnd;
use super::unwind::{Code, Walk};
use super::{Reader, Unreadable};
use crate::debuginfo::LocationAttribute;
use crate::units::{DieOffset, LaneId, Pc, WaveId};

/// Physical frames, the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activations {
    /// The frames, as many as were asked for.
    pub frames: Vec<Activation>,
    /// Why there are no more; `None` where no more were asked for.
    pub end: Option<StackEnd>,
}

/// A physical frame: a function's activation with all that was inlined into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activation {
    /// Where it goes on: the PC, or the return address.
    pub pc: Pc,
    /// The code object there: an index into the capture's list.
    pub code_object: Option<usize>,
    /// The DIE of the function, in `.debug_info`.
    pub function: Option<DieOffset>,
}

/// A physical frame of a lane's or a wave's stack, as variables are evaluated in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'w> {
    /// The physical frame of the wave.
    pub(super) level: usize,
    /// Where it goes on.
    pub(super) pc: Pc,
    /// The code by which things are looked up there.
    pub(super) code: Option<Code<'w>>,
}

/// The first frames of the wave's stack, or of the lane's own.
///
/// # Errors
/// [`Unreadable::NoSuchWave`], [`Unreadable::NoSuchLane`], or what the operating system says of a file.
pub(super) fn activations(
    reader: &Reader,
    wave: WaveId,
    lane: Option<LaneId>,
    limit: usize,
) -> Result<Activations, Unreadable> {
    let mut walk = Walk::new(reader, wave)?;
    // A lane may have skipped any of the frames.
    let enough = if lane.is_some() { usize::MAX } else { limit };
    while walk.frames().len() < enough && walk.step() {}
    let frames = Frames::along(walk);
    let mut spots = frames.spots(lane)?;
    let end = (spots.len() <= limit).then(|| frames.walk.end().cloned()).flatten();
    spots.truncate(limit);
    let frames = spots.iter().map(|spot| frames.activation(spot)).collect();
    Ok(Activations { frames, end })
}

/// Whether a lane has a stack of its own, that is known, has frames, and is not the wave's.
///
/// # Errors
/// As [`activations`].
pub(super) fn has_own_stack(reader: &Reader, wave: WaveId, lane: LaneId) -> Result<bool, Unreadable> {
    let mut walk = Walk::new(reader, wave)?;
    while walk.step() {}
    // Nearly no function says where its lanes are, and then there is nothing to evaluate.
    let capture = reader.dump().capture();
    let says = walk.frames().iter().filter_map(|frame| frame.code).any(|code| {
        let source = code.loaded.source(capture, code.elf);
        source.function().is_some_and(|(_, at)| at.function.simd.lane_pc != LocationAttribute::Missing)
    });
    if !says {
        return Ok(false);
    }
    let frames = Frames::along(walk);
    let (own, all) = (frames.spots(Some(lane))?, frames.spots(None)?);
    // Of a lane that never entered any of the functions there is nothing to show: it is seen where the wave is.
    Ok(!own.is_empty() && (own.len() != all.len() || own.iter().zip(&all).any(|(own, all)| own.pc != all.pc)))
}

impl<'a> Frames<'a> {
    /// The physical frames of the wave, or those of a lane with where the lane is in each; where nobody can tell that,
    /// where the wave is.
    pub(super) fn spots(&self, lane: Option<LaneId>) -> Result<Vec<Spot<'_>>, Unreadable> {
        let all = self.walk.frames().iter().enumerate();
        let of_wave = all.map(|(level, frame)| Spot { level, pc: frame.pc, code: frame.code });
        let Some(lane) = lane else { return Ok(of_wave.collect()) };
        let size = self.walk.kind.wave_size;
        if !size.has(lane) {
            return Err(Unreadable::NoSuchLane { lane, lanes: size.lanes() });
        }
        let of_lane = of_wave.filter_map(|spot| match self.positions(spot.level, None).of(lane, spot.pc) {
            Position::NotEntered => None,
            Position::Unknown(_) if self.is_left_out(lane, spot.level) => None,
            Position::Unknown(_) => Some(spot),
            Position::At(pc) if pc == spot.pc => Some(spot),
            Position::At(pc) => Some(Spot { pc, code: self.walk.code(pc), ..spot }),
        });
        Ok(of_lane.collect())
    }

    fn activation(&self, spot: &Spot<'_>) -> Activation {
        let capture = self.walk.reader.dump().capture();
        let source = spot.code.map(|code| code.loaded.source(capture, code.elf));
        let function = source.as_ref().and_then(|source| source.key());
        Activation {
            pc: spot.pc,
            code_object: spot.code.map(|code| code.loaded.index()),
            function: function.map(|key| key.die),
        }
    }
}
