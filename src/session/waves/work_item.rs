//! Work-items and waves by their positions in the grid, in the notation of lists of waves and lanes.
//!
//! | text | names |
//! |---|---|
//! | `(X,Y,Z)` | the work-item of that id in the grid |
//! | `(X,Y,Z)[X,Y,Z]` | the work-item of a work-group, by its id in it |
//! | `(X,Y,Z)/N` | wave N of a work-group |
//!
//! Missing coordinates at the end are 0, and the first parentheses are optional: `X,Y,Z/N`.

use std::fmt;
use std::str::FromStr;

use crate::session::{DispatchInfo, WaveInfo, Waves};
use crate::units::{LaneId, WaveId};

/// A work-item or a wave by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridPlace {
    /// A work-item by its id in the grid.
    WorkItem([u32; 3]),
    /// A work-item by its work-group and its id in it.
    InGroup {
        /// The work-group's position in the grid.
        group: [u32; 3],
        /// The work-item's id in the work-group.
        local: [u32; 3],
    },
    /// A wave by its work-group.
    Wave {
        /// The work-group's position in the grid.
        group: [u32; 3],
        /// The wave's number in the work-group; `None`: the first served one.
        number: Option<u32>,
    },
}

/// Reasons that a position names nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkItemError {
    /// The text is no position.
    #[error(
        "`{0}` is no place in a grid; expected (X,Y,Z) or (X,Y,Z)[X,Y,Z] for a work-item, (X,Y,Z)/N for a wave"
    )]
    Syntax(String),
    /// No served wave has it.
    #[error("no served wave has {place}{why}")]
    Missing {
        /// The position.
        place: GridPlace,
        /// The known reason, after a colon; empty: unknown.
        why: String,
    },
    /// Waves of several dispatches have it.
    #[error("{place} is in several waves ({waves}): name a wave of its dispatch first")]
    Several {
        /// The position.
        place: GridPlace,
        /// Names of the first of these waves.
        waves: String,
    },
}

/// Maximum number of waves that a message names.
const MAX_NAMED: usize = 4;

impl fmt::Display for GridPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
        match *self {
            Self::WorkItem(item) => write!(f, "work-item ({})", id(item)),
            Self::InGroup { group, local } => write!(f, "work-item ({})[{}]", id(group), id(local)),
            Self::Wave { group, number: Some(number) } => write!(f, "place ({})/{number}", id(group)),
            Self::Wave { group, number: None } => write!(f, "work-group ({})", id(group)),
        }
    }
}

impl FromStr for GridPlace {
    type Err = WorkItemError;

    fn from_str(text: &str) -> Result<Self, WorkItemError> {
        let wrong = || WorkItemError::Syntax(text.chars().take(80).collect());
        let written = text.trim();
        let (first, rest) = match written.strip_prefix('(') {
            Some(inner) => inner.split_once(')').ok_or_else(wrong)?,
            None => written.split_at(written.find(['/', '[']).unwrap_or(written.len())),
        };
        let first = coordinates(first).ok_or_else(wrong)?;
        let rest = rest.trim();
        if rest.is_empty() {
            return Ok(Self::WorkItem(first));
        }
        if let Some(number) = rest.strip_prefix('/') {
            let number = number.trim().parse().map_err(|_| wrong())?;
            return Ok(Self::Wave { group: first, number: Some(number) });
        }
        let local = rest.strip_prefix('[').and_then(|rest| coordinates(rest.strip_suffix(']')?));
        Ok(Self::InGroup { group: first, local: local.ok_or_else(wrong)? })
    }
}

/// Whether a word is a position in the grid rather than a number.
#[must_use]
pub fn is_place(word: &str) -> bool {
    word.contains(['(', ',', '['])
}

/// `5`, `5,1` or `5,1,0`; `None`: not one to three numbers.
#[must_use]
pub fn coordinates(text: &str) -> Option<[u32; 3]> {
    let mut found = [0; 3];
    let mut parts = text.split(',');
    for (index, place) in found.iter_mut().enumerate() {
        match parts.next() {
            Some(part) => *place = part.trim().parse().ok()?,
            None if index > 0 => break,
            None => return None,
        }
    }
    parts.next().is_none().then_some(found)
}

/// Returns the served wave, and for a work-item the lane, at a position: in the dispatch of `near`, else in the only
/// other one that has it.
///
/// # Errors
/// No served wave has it, or waves of several dispatches do.
pub fn find(
    session: &dyn Waves,
    near: WaveId,
    place: &GridPlace,
) -> Result<(WaveId, Option<LaneId>), WorkItemError> {
    let dispatches = session.dispatches();
    let dispatch = |info: &WaveInfo| {
        let id = info.dispatch?;
        dispatches.iter().find(|one| one.id == id && Some(one.queue) == info.queue && one.agent == info.agent)
    };
    let mut found: Vec<(WaveInfo, Option<LaneId>)> = Vec::new();
    for wave in session.waves().iter() {
        let Ok(info) = session.wave(*wave) else { continue };
        if let Some(lane) = lane_in(session, &info, dispatch(&info), place) {
            found.push((info, lane));
        }
    }
    if matches!(place, GridPlace::Wave { number: None, .. }) {
        // Any wave of the work-group matches: this takes the first one of each dispatch.
        found.sort_by_key(|(info, _)| info.wave_in_group);
        let mut seen: Vec<(u32, Option<u32>, Option<u32>)> = Vec::new();
        found.retain(|(info, _)| {
            let of = (info.agent, info.queue, info.dispatch);
            let is_new = !seen.contains(&of);
            seen.push(of);
            is_new
        });
    }
    let near = session.wave(near).ok();
    let is_near = |info: &WaveInfo| {
        let of = |info: &WaveInfo| (info.agent, info.queue, info.dispatch);
        near.as_ref().is_some_and(|near| of(near) == of(info))
    };
    if found.iter().any(|(info, _)| is_near(info)) {
        found.retain(|(info, _)| is_near(info));
    }
    match found.as_slice() {
        [(info, lane)] => Ok((info.wave, *lane)),
        [] => {
            let why = near.as_ref().and_then(dispatch).map_or_else(String::new, |of| outside(of, place));
            Err(WorkItemError::Missing { place: *place, why })
        }
        several => {
            let names: Vec<&str> =
                several.iter().take(MAX_NAMED).map(|(info, _)| info.name.as_str()).collect();
            let more = if several.len() > MAX_NAMED { ", ..." } else { "" };
            Err(WorkItemError::Several { place: *place, waves: names.join(", ") + more })
        }
    }
}

/// The lane at a position in a wave; `Some(None)` for a wave's position; `None` for a position outside of this wave.
fn lane_in(
    session: &dyn Waves,
    info: &WaveInfo,
    dispatch: Option<&DispatchInfo>,
    place: &GridPlace,
) -> Option<Option<LaneId>> {
    let group = match *place {
        GridPlace::Wave { group, .. } | GridPlace::InGroup { group, .. } => group,
        GridPlace::WorkItem(item) => {
            let size = dispatch?.workgroup?;
            let mut group = [0; 3];
            for ((group, item), size) in group.iter_mut().zip(item).zip(size) {
                *group = item.checked_div(size)?;
            }
            group
        }
    };
    if info.workgroup != Some(group) {
        return None;
    }
    let lanes = || session.lanes(info.wave).unwrap_or_default();
    match *place {
        GridPlace::Wave { number, .. } => (number.is_none() || info.wave_in_group == number).then_some(None),
        GridPlace::InGroup { local, .. } => {
            lanes().iter().find(|lane| lane.local_id == Some(local)).map(|lane| Some(lane.lane))
        }
        GridPlace::WorkItem(item) => {
            lanes().iter().find(|lane| lane.global_id == Some(item)).map(|lane| Some(lane.lane))
        }
    }
}

/// The reason that a position is outside of a dispatch's grid or work-groups.
fn outside(dispatch: &DispatchInfo, place: &GridPlace) -> String {
    let beyond = |at: [u32; 3], size: [u32; 3]| at.iter().zip(size).any(|(at, size)| *at >= size);
    let list = |[x, y, z]: [u32; 3]| format!("[{x},{y},{z}]");
    match (*place, dispatch.grid, dispatch.workgroup) {
        (GridPlace::WorkItem(item), Some(grid), _) if beyond(item, grid) => {
            format!(": the grid of {} is {}", dispatch.name, list(grid))
        }
        (GridPlace::InGroup { local, .. }, _, Some(size)) if beyond(local, size) => {
            format!(": the work-groups of {} are {}", dispatch.name, list(size))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
#[path = "work_item_tests.rs"]
mod tests;
