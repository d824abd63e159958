//! Physical frames for a debugger that unwinds by itself: the PC and function of each, and its caller.
//!
//! A wave has one stack. A lane has one of its own if its `DW_AT_LLVM_lane_pc` differs from the wave's PC or if it
//! never entered a function. The 2020 AMDGPU text: "Conceptually the lane only has the call frames that it has a
//! non-undefined DW_AT_LLVM_lane_pc".

use crate::debuginfo::LocationAttribute;
use crate::session::stack::StackEnd;
use crate::session::stack::backtrace::Frames;
use crate::session::stack::unwind::{Code, Unwinder};
use crate::session::waves::positions::Position;
use crate::session::{ReadError, Reader};
use crate::units::{DieOffset, LaneId, Pc, WaveId};

/// Physical frames, innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activations {
    /// The frames, at most the requested number.
    pub frames: Vec<Activation>,
    /// The reason for the stack's end; `None` if the request ended before it.
    pub end: Option<StackEnd>,
}

/// A physical frame: a function's activation with all calls inlined into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The frame's resume address: the PC, or the return address.
    pub pc: Pc,
    /// The code object at `pc`: an index into the capture's list.
    pub code_object: Option<usize>,
    /// The DIE of the function, in `.debug_info`.
    pub function: Option<DieOffset>,
}

/// A physical frame of a lane's or a wave's stack, for the evaluation of variables.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Spot<'w> {
    /// The physical frame of the wave.
    pub(in crate::session) level: usize,
    /// The frame's resume address.
    pub(in crate::session) pc: Pc,
    /// The code for lookups at that address.
    pub(in crate::session) code: Option<Code<'w>>,
}

/// Returns the first frames of the wave's stack, or of the lane's own.
///
/// # Errors
/// [`ReadError::NoSuchWave`], [`ReadError::NoSuchLane`], or the operating system's error for a file.
pub(in crate::session) fn activations(
    reader: &Reader,
    wave: WaveId,
    lane: Option<LaneId>,
    limit: usize,
) -> Result<Activations, ReadError> {
    let mut walk = Unwinder::new(reader, wave)?;
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

/// Whether a lane has a known, non-empty stack of its own that differs from the wave's.
///
/// # Errors
/// The errors of [`activations`].
pub(in crate::session) fn has_own_stack(
    reader: &Reader,
    wave: WaveId,
    lane: LaneId,
) -> Result<bool, ReadError> {
    let mut walk = Unwinder::new(reader, wave)?;
    while walk.step() {}
    // Few functions have an attribute for lane PCs; without one there is nothing to evaluate.
    let says = walk.frames().iter().filter_map(|frame| frame.code).any(|code| {
        let source = code.loaded.source(reader, code.elf);
        source.key().is_some_and(|key| key.simd(None).lane_pc != LocationAttribute::Missing)
    });
    if !says {
        return Ok(false);
    }
    let frames = Frames::along(walk);
    let (own, all) = (frames.spots(Some(lane))?, frames.spots(None)?);
    // A lane that never entered any of the functions has no own frames: it gets the wave's position.
    Ok(!own.is_empty() && (own.len() != all.len() || own.iter().zip(&all).any(|(own, all)| own.pc != all.pc)))
}

impl<'a> Frames<'a> {
    /// The physical frames of the wave, or those of a lane with the lane's position in each; an unknown position is
    /// the wave's.
    pub(in crate::session) fn spots(&self, lane: Option<LaneId>) -> Result<Vec<Spot<'_>>, ReadError> {
        let all = self.walk.frames().iter().enumerate();
        let of_wave = all.map(|(level, frame)| Spot { level, pc: frame.pc, code: frame.code });
        let Some(lane) = lane else { return Ok(of_wave.collect()) };
        let size = self.walk.kind.wave_size;
        if !size.has(lane) {
            return Err(ReadError::NoSuchLane { lane, lanes: size.lanes() });
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
        let source = spot.code.map(|code| code.loaded.source(self.walk.reader, code.elf));
        let function = source.as_ref().and_then(|source| source.key());
        Activation {
            pc: spot.pc,
            code_object: spot.code.map(|code| code.loaded.index()),
            function: function.map(|key| key.die),
        }
    }
}
