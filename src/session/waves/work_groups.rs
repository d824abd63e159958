//! Work-groups for lists.

use std::collections::HashMap;

use crate::session::Dump;
use crate::units::WaveId;

/// A work-group's entry in a list; `None`: not captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkGroupInfo {
    /// The dump's id.
    pub id: u32,
    /// Its position in the grid, in work-groups.
    pub position: Option<[u32; 3]>,
    /// The dump's id of its dispatch.
    pub dispatch: Option<u32>,
    /// Its served waves, in the dump's order; at least one.
    pub waves: Vec<WaveId>,
    /// Number of waves that its launch started, by the sizes of grid and group.
    pub launched: Option<u32>,
    /// Whether `waves` has all its waves that had not ended. `false`: unknown, or waves are missing.
    pub has_all_waves: bool,
}

/// The work-groups with served waves, in the dump's order.
pub(in crate::session) fn all(dump: &Dump, served: &[WaveId]) -> Vec<WorkGroupInfo> {
    let capture = dump.capture();
    let mut of: HashMap<usize, Vec<WaveId>> = HashMap::new();
    let group_of = |wave: WaveId| capture.wave(wave).and_then(|wave| wave.workgroup);
    for wave in served {
        if let Some(group) = group_of(*wave) {
            of.entry(group).or_default().push(*wave);
        }
    }
    let mut captured: HashMap<usize, usize> = HashMap::new();
    for group in capture.waves.iter().filter_map(|wave| wave.workgroup) {
        *captured.entry(group).or_default() += 1;
    }
    let each = capture.workgroups.iter().enumerate().filter_map(|(index, group)| {
        let waves = of.remove(&index)?;
        let dispatch = group.dispatch.and_then(|dispatch| capture.dispatches.get(dispatch));
        let lanes = capture.wave(*waves.first()?)?.kind.wave_size.lanes();
        let launched =
            dispatch.zip(group.position).and_then(|(dispatch, at)| dispatch.waves_of_group(at, lanes));
        let are_all_served = captured.get(&index) == Some(&waves.len());
        Some(WorkGroupInfo {
            id: group.id,
            position: group.position,
            dispatch: dispatch.map(|dispatch| dispatch.id),
            launched: launched.and_then(|count| u32::try_from(count).ok()),
            has_all_waves: group.has_all_waves && are_all_served,
            waves,
        })
    });
    each.collect()
}
