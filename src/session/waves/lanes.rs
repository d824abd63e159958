//! Facts about each lane: its state, its position and its work-item.

use crate::capture::{Capture, Wave};
use crate::session::error::PositionError;
use crate::session::stack::backtrace::Frames;
use crate::session::stack::unwind::Unwinder;
use crate::session::{LaneInfo, LanePosition, LaneState, LaneStates, ReadError, Reader};
use crate::units::{LaneId, LaneSet, WaveId};

/// Returns a wave's active lanes, if EXEC was captured.
///
/// # Errors
/// [`ReadError::NoSuchWave`], or the operating system's error for the file.
pub(in crate::session) fn active(reader: &Reader, wave: WaveId) -> Result<Option<LaneSet>, ReadError> {
    let size = reader.wave(wave)?.kind.wave_size;
    Ok(reader.scalar(wave, "exec")?.map(|mask| LaneSet(mask).and(size.all())))
}

/// Returns facts about each lane of a wave.
///
/// # Errors
/// The errors of [`active`].
pub(in crate::session) fn lanes(
    reader: &Reader,
    wave: WaveId,
    focus: LaneId,
) -> Result<Vec<LaneInfo>, ReadError> {
    along(&Frames::of(reader, wave)?, focus)
}

/// [`lanes`] along a whole stack.
///
/// # Errors
/// The errors of [`lanes`].
pub(in crate::session) fn along(frames: &Frames<'_>, focus: LaneId) -> Result<Vec<LaneInfo>, ReadError> {
    let mut states = States::of(frames)?;
    let items = states.items.take();
    let all = frames.walk.kind.wave_size.all();
    Ok(all
        .iter()
        .map(|lane| {
            let place = items.as_ref().map(|items| items.local(lane));
            let is_unused = place == Some(None);
            let state = if is_unused { Some(LaneState::Unused) } else { states.of_used(frames, lane) };
            let at = if is_unused { LanePosition::default() } else { frames.position(lane) };
            let local_id = place.flatten();
            let global_id = local_id.zip(items.as_ref()).map(|(local, items)| items.global(local));
            LaneInfo { lane, state, at, local_id, global_id, focused: lane == focus }
        })
        .collect())
}

/// The states of a wave's lanes in a frame, up to which its stack is unwound; in a caller, at the call.
///
/// # Errors
/// The errors of [`active`], and a missing frame.
pub(in crate::session) fn in_frame(near: &Frames<'_>, frame: usize) -> Result<LaneStates, ReadError> {
    let all = near.walk.kind.wave_size.all();
    let states = States::at(near, frame)?;
    let used = states.used(all);
    // If all lanes are active, callers add nothing: an answer about the innermost frame reads no table.
    let all_active = states.active.as_ref().is_ok_and(|active| used.and(*active) == used);
    let whole = match all_active || near.is_whole() {
        true => None,
        false => Some(Frames::of(near.walk.reader, near.walk.wave)?),
    };
    let frames = whole.as_ref().unwrap_or(near);
    let state = |lane| match used.contains(lane) {
        true => states.of_used(frames, lane),
        false => Some(LaneState::Unused),
    };
    Ok(all.iter().map(state).collect())
}

/// Returns the active lanes in a frame of a wave's stack; see [`in_frame`].
///
/// # Errors
/// The errors of [`in_frame`], and the reason that the lanes are unknown.
pub(in crate::session) fn active_in(
    reader: &Reader,
    wave: WaveId,
    frame: usize,
) -> Result<LaneSet, ReadError> {
    let frames = Frames::near(reader, wave, frame)?;
    let states = States::at(&frames, frame)?;
    let known = states.active.clone().map_err(|why| ReadError::NoActiveLanes { why });
    Ok(states.used(known?))
}

/// The sources of the lanes' states in a frame.
pub(in crate::session) struct States {
    items: Option<WorkItems>,
    /// The active lanes, or the reason that they are unknown.
    active: Result<LaneSet, PositionError>,
    /// The physical frame, and the call inlined there (`None`: the function itself).
    level: usize,
    inlined: Option<usize>,
}

impl States {
    /// The sources for the innermost function.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], or the operating system's error for the file.
    pub(in crate::session) fn of(frames: &Frames<'_>) -> Result<Self, ReadError> {
        Ok(Self { inlined: None, ..Self::at(frames, 0)? })
    }

    /// The sources for a frame of the wave's stack.
    fn at(frames: &Frames<'_>, frame: usize) -> Result<Self, ReadError> {
        let Unwinder { reader, wave, .. } = frames.walk;
        let items = WorkItems::of(reader.dump().capture(), reader.wave(wave)?);
        if frames.walk.frames().is_empty() {
            // Without a PC there are no frames, but EXEC may still be captured.
            let active = active(reader, wave)?.ok_or(PositionError::NoExec);
            return Ok(Self { items, active, level: 0, inlined: None });
        }
        let none = || ReadError::NoSuchFrame { frame, last: frames.count().saturating_sub(1) };
        let (level, inlined) = frames.located(frame).ok_or_else(none)?;
        let active = frames.active(level, inlined).lanes;
        Ok(Self { items, active, level, inlined: Some(inlined) })
    }

    /// The lanes with a work-item; all of them if sizes and positions are unknown.
    pub(in crate::session) fn used(&self, all: LaneSet) -> LaneSet {
        let Some(items) = &self.items else { return all };
        all.iter().filter(|lane| items.local(*lane).is_some()).collect()
    }

    /// The state of a lane with a work-item, if known.
    pub(in crate::session) fn of_used(&self, frames: &Frames<'_>, lane: LaneId) -> Option<LaneState> {
        match &self.active {
            Ok(active) if active.contains(lane) => Some(LaneState::Active),
            _ if frames.is_outside(lane, self.level, self.inlined) => Some(LaneState::NotEntered),
            Ok(_) => Some(LaneState::Inactive),
            Err(_) => None,
        }
    }
}

/// The work-items of a wave's work-group: lanes number them x first, then y, then z.
struct WorkItems {
    /// Work-items of this group; smaller than the dispatch's at the edge of the grid.
    size: [u64; 3],
    /// Global id of the group's first work-item.
    origin: [u64; 3],
    /// Flat id of the wave's lane 0.
    first: u64,
}

impl WorkItems {
    fn of(capture: &Capture, wave: &Wave) -> Option<Self> {
        let group = capture.workgroup_of(wave)?;
        let dispatch = capture.dispatch_of(wave)?;
        let (grid, full, position) = (dispatch.grid?, dispatch.workgroup?, group.position?);
        let lanes = u64::from(wave.kind.wave_size.lanes());
        let first = u64::from(wave.wave_in_group?) * lanes;
        let axis = |grid: u32, full: u32, position: u32| {
            let origin = u64::from(full) * u64::from(position);
            (u64::from(grid).saturating_sub(origin).min(u64::from(full)), origin)
        };
        let x = axis(grid[0], full[0], position[0]);
        let y = axis(grid[1], full[1], position[1]);
        let z = axis(grid[2], full[2], position[2]);
        if [x.0, y.0, z.0].contains(&0) {
            // A work-group outside of the grid: position and grid contradict each other, and both are unknown.
            return None;
        }
        Some(Self { size: [x.0, y.0, z.0], origin: [x.1, y.1, z.1], first })
    }

    /// The lane's work-item id in its group; `None` if the group has no such work-item.
    fn local(&self, lane: LaneId) -> Option<[u32; 3]> {
        let [x, y, z] = self.size;
        let flat = self.first + u64::from(lane.0);
        if x == 0 || y == 0 || flat / x / y >= z {
            return None;
        }
        let id = [flat % x, flat / x % y, flat / x / y];
        Some(id.map(|part| u32::try_from(part).unwrap_or(u32::MAX)))
    }

    fn global(&self, local: [u32; 3]) -> [u32; 3] {
        let sum = |origin: u64, local: u32| u32::try_from(origin + u64::from(local)).unwrap_or(u32::MAX);
        let [x, y, z] = self.origin;
        [sum(x, local[0]), sum(y, local[1]), sum(z, local[2])]
    }
}
