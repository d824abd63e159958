//! Waves of a small dump that stand for waves that it leaves out.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Basis;
use crate::capture::Capture;
use crate::units::WaveId;

/// The waves that stand for others, and those that no wave stands for.
#[derive(Debug, Default)]
pub(super) struct StandIns {
    /// Number of waves that are left out, by the wave that stands for them.
    stands_for: HashMap<WaveId, u32>,
    /// Waves that are left out, and that no wave stands for.
    pub(super) missing: Vec<WaveId>,
    /// Indexes of dispatches without other absent waves, as far as the capture shows.
    pub(super) whole_dispatches: BTreeSet<usize>,
}

impl StandIns {
    /// `chosen`: the waves that are kept.
    pub(super) fn of(capture: &Capture, basis: &Basis, chosen: &[WaveId]) -> Self {
        let kept: HashSet<WaveId> = chosen.iter().copied().collect();
        let mut found = Self::default();
        let mut left_out: BTreeSet<WaveId> =
            (0..).map(WaveId).zip(&capture.waves).map(|(id, _)| id).filter(|id| !kept.contains(id)).collect();
        for class in &basis.classes {
            let Some(first) = class.iter().find(|wave| kept.contains(wave)) else { continue };
            for wave in class.iter().filter(|wave| left_out.remove(wave)) {
                let more = capture.left_out.of(*wave).saturating_add(1);
                let count = found.stands_for.entry(*first).or_default();
                *count = count.saturating_add(more);
            }
        }
        let dispatch = |wave: &WaveId| {
            let group = capture.workgroup_of(capture.wave(*wave)?)?;
            group.dispatch
        };
        let lacking: HashSet<usize> = left_out.iter().filter_map(dispatch).collect();
        let is_whole = |index: &usize| {
            let is_partial = |id: u32| basis.partial.contains(&id);
            // A dump whose waves were not analysed has the claims of its origin alone.
            let is_known = !basis.classes.is_empty() || capture.left_out.whole_dispatches.contains(index);
            let id = capture.dispatches.get(*index).map(|dispatch| dispatch.id);
            is_known && !lacking.contains(index) && id.is_some_and(|id| !is_partial(id))
        };
        found.whole_dispatches = chosen.iter().filter_map(dispatch).filter(is_whole).collect();
        found.missing = left_out.into_iter().collect();
        found
    }

    /// Number of waves that a wave stands for.
    pub(super) fn of_wave(&self, wave: WaveId) -> u32 {
        self.stands_for.get(&wave).copied().unwrap_or(0)
    }
}
