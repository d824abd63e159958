//! Work-groups of umr's waves, by their trap temporaries.
//!
//! umr prints trap temporaries of waves with a trap handler, even if they were not set up. They count under three
//! conditions: the hardware always sets them up (`always` of a target's `[save_area.ttmps]`), the wave is no graphics
//! wave, not all are 0. They hold neither queues nor dispatches.

use std::collections::{BTreeMap, HashMap};

use super::wave::UmrWave;
use crate::arch::Target;
use crate::arch::save_area::Launch;
use crate::capture::{Capture, MemoryMap, WorkGroup};
use crate::import::text::{Kept, launch, missing, ttmp};

/// Work-groups in the order of their first waves.
#[derive(Debug, Default)]
pub(super) struct Groups {
    positions: Vec<[u32; 3]>,
    by_key: HashMap<(usize, Option<u32>, [u32; 3], u32), usize>,
    /// Number of waves at a place of a dispatch: each further one is of another dispatch.
    claims: HashMap<(usize, Launch), u32>,
    /// Waves of a GPU whose target lacks `[save_area.ttmps]`.
    untold: usize,
    /// Number of waves without required trap temporaries, by the missing ones.
    missing: BTreeMap<Vec<u8>, usize>,
    /// Numbers of waves for the other reasons: unconfirmed trap temporaries, all of them 0, graphics waves.
    unsure: usize,
    empty: usize,
    graphics: usize,
}

impl Groups {
    /// The index of a wave's work-group and its place there; `None`: umr does not show them.
    pub(super) fn place(
        &mut self,
        raw: &UmrWave,
        kept: &Kept,
        target: &Target,
        agent: usize,
    ) -> Option<(usize, u32)> {
        let ttmps = target.save_area.as_ref().map(|area| &area.ttmps);
        let Some(ttmps) = ttmps else {
            self.untold += 1;
            return None;
        };
        let Some(launch) = launch(ttmps, kept, &raw.values) else {
            *self.missing.entry(missing(ttmps, kept, &raw.values)).or_insert(0) += 1;
            return None;
        };
        let absent = ttmps.absent.and_then(|bit| ttmp(kept, &raw.values, bit));
        if raw.graphics {
            self.graphics += 1;
            return None;
        }
        if !raw.has_ttmps {
            self.empty += 1;
            return None;
        }
        if !ttmps.always || absent == Some(1) {
            self.unsure += 1;
            return None;
        }
        let claims = self.claims.entry((agent, launch)).or_insert(0);
        let nth = *claims;
        *claims = claims.saturating_add(1);
        let key = (agent, launch.packet, launch.group, nth);
        let positions = &mut self.positions;
        let group = *self.by_key.entry(key).or_insert_with(|| {
            positions.push(launch.group);
            positions.len() - 1
        });
        Some((group, launch.wave_in_group))
    }

    /// Adds the work-groups to the capture.
    pub(super) fn report(&self, capture: &mut Capture) {
        let groups = (1u32..).zip(&self.positions).map(|(id, position)| WorkGroup {
            id,
            queue: None,
            dispatch: None,
            position: Some(*position),
            lds_size: None,
            has_all_waves: false,
            lds: MemoryMap::default(),
        });
        capture.workgroups.extend(groups);
    }

    /// The reason that waves have no work-group; `None`: all have one.
    pub(super) fn why(&self) -> Option<String> {
        let missing = self.missing.iter().map(|(missing, count)| {
            let names: Vec<String> = missing.iter().map(|number| format!("ttmp{number}")).collect();
            let (names, are) = match names.split_last() {
                Some((last, before)) if !before.is_empty() => {
                    (format!("{} and {last}", before.join(", ")), "are")
                }
                _ => (names.concat(), "is"),
            };
            (*count, format!("{names}, which would hold them, {are} not captured"))
        });
        let others = [
            (self.untold, "no target defines their place in trap temporaries"),
            (
                self.unsure,
                "trap temporaries hold them only if a runtime set these up, which umr does not report",
            ),
            (self.empty, "all trap temporaries are 0, which proves nothing"),
            (self.graphics, "trap temporaries of graphics hold other data"),
        ];
        let others = others.into_iter().map(|(count, why)| (count, why.to_owned()));
        let causes = missing.chain(others).filter(|(count, _)| *count > 0).map(|(count, why)| match count {
            1 => format!("1 wave: {why}"),
            count => format!("{count} waves: {why}"),
        });
        let causes: Vec<String> = causes.collect();
        (!causes.is_empty()).then(|| format!("Work-groups are not known of {}", causes.join("; ")))
    }
}
