//! Dispatches and work-groups of a log, by the kernel's entry and by valid trap temporaries.
//!
//! A log names neither queues nor dispatches. Waves with the same kernel entry and packet are assigned to one dispatch;
//! two waves with the same place in it belong to two dispatches.

//!
//! Trap temporaries hold launch facts only if they were set up; AMD's library returns 0 for other waves. A work-group,
//! place and packet of 0 are absent unless another fact confirms them ([`Launches`]).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::read::Log;
use super::wave::{Kernel, RawWave};
use crate::arch::Target;
use crate::arch::save_area::Launch;
use crate::import::text::{Kept, launch};

/// Position of a wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupPosition {
    /// Index of its work-group.
    pub(super) workgroup: usize,
    pub(super) wave_in_group: Option<u32>,
}

/// A dispatch: the facts that its waves share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupDispatch {
    pub(super) agent: usize,
    /// Index of its first wave in the log.
    pub(super) first: usize,
}

/// A work-group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) dispatch: usize,
    pub(super) position: Option<[u32; 3]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct DispatchKey {
    agent: usize,
    entry: Option<u64>,
    /// Index of the packet in its queue; in old runtimes a part of its address.
    packet: Option<u32>,
    kernargs: Option<u64>,
    /// Ordinal among dispatches with otherwise equal keys.
    nth: u32,
}

/// Dispatches and work-groups, in the order of their first waves.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) dispatches: Vec<GroupDispatch>,
    pub(super) groups: Vec<Group>,
    /// Pairs of a work-group and a wave in it.
    pub(super) members: Vec<(usize, usize)>,
    by_key: HashMap<DispatchKey, usize>,
    by_position: HashMap<(usize, [u32; 3]), usize>,
    /// Number of waves that claimed each place of an apparent dispatch.
    claims: HashMap<(DispatchKey, [u32; 3], u32), u32>,
    /// Number of waves that claimed a taken place.
    pub(super) clashes: usize,
}

/// Launch facts in the trap temporaries of a log's waves.
#[derive(Debug, Default)]
pub(super) struct Launches {
    each: Vec<Option<Launch>>,
    /// Number of waves whose relevant trap temporaries are 0, which proves nothing, and the line of the first.
    pub(super) unset: Option<(usize, usize)>,
}

impl Launches {
    /// Collects the launch facts of all waves; `targets`: the target of each wave.
    pub(super) fn of(log: &Log, targets: &[Option<Arc<Target>>]) -> Self {
        let mut launches = Self::default();
        // Targets for which another wave proves that the runtime also sets trap temporaries up for the first packet.
        let mut vouched: HashSet<*const Target> = HashSet::new();
        for (wave, target) in log.waves.iter().zip(targets) {
            let launch = target.as_ref().and_then(|target| read(&log.kept, wave, target));
            if let (Some(launch), Some(target)) = (launch, target)
                && !is_zero(&launch)
                && launch.packet.unwrap_or(0) == 0
            {
                vouched.insert(Arc::as_ptr(target));
            }
            launches.each.push(launch);
        }
        for ((wave, target), place) in log.waves.iter().zip(targets).zip(&mut launches.each) {
            let (Some(launch), Some(target)) = (*place, target) else { continue };
            let always = target.save_area.as_ref().is_some_and(|area| area.ttmps.always);
            // The agent reads a kernel's entry from the dispatch, and finds the dispatch by trap temporaries.
            let is_told = matches!(wave.entry, Kernel::At(..));
            let vouches = always || vouched.contains(&Arc::as_ptr(target));
            if !is_zero(&launch) || is_told || (vouches && !are_all_zero(&log.kept, wave)) {
                continue;
            }
            *place = None;
            let (count, line) = launches.unset.unwrap_or((0, wave.line));
            launches.unset = Some((count + 1, line));
        }
        launches
    }

    /// Launch facts of a wave.
    pub(super) fn get(&self, index: usize) -> Option<Launch> {
        self.each.get(index).copied().flatten()
    }
}

fn read(kept: &Kept, wave: &RawWave, target: &Target) -> Option<Launch> {
    // The agent reports waves whose trap temporaries were not set up.
    let said = (wave.entry != Kernel::NotAvailable).then_some(target.save_area.as_ref()).flatten();
    launch(&said?.ttmps, kept, &wave.values)
}

/// Whether a launch has the values of trap temporaries that were not set up.
fn is_zero(launch: &Launch) -> bool {
    launch.group == [0; 3] && launch.wave_in_group == 0 && launch.packet.unwrap_or(0) == 0
}

/// Whether all bits of the wave's trap temporaries are 0.
fn are_all_zero(kept: &Kept, wave: &RawWave) -> bool {
    let mut ttmps = wave.values.iter().filter(|value| kept.text(value.name).starts_with("ttmp"));
    ttmps.all(|value| kept.dword(value, 0).unwrap_or(0) == 0)
}

impl Groups {
    /// The work-group of a wave. `None`: it is unknown, and no part of the wave needs one.
    pub(super) fn place(
        &mut self,
        wave: &RawWave,
        index: usize,
        agent: usize,
        launch: Option<Launch>,
    ) -> Option<GroupPosition> {
        let entry = match wave.entry {
            Kernel::At(entry, _) => Some(entry),
            _ => None,
        };
        let packet = launch.and_then(|launch| launch.packet);
        let mut key = DispatchKey { agent, entry, packet, kernargs: wave.kernargs, nth: 0 };
        let Some(launch) = launch else {
            if entry.is_none() && wave.local.is_empty() {
                return None;
            }
            // LDS belongs to a work-group: each wave that prints LDS gets a work-group of its own.
            let dispatch = self.dispatch(key, index);
            let workgroup = self.groups.len();
            self.groups.push(Group { dispatch, position: None });
            self.members.push((workgroup, index));
            return Some(GroupPosition { workgroup, wave_in_group: None });
        };
        let (position, slot) = (launch.group, launch.wave_in_group);
        let claims = self.claims.entry((key.clone(), position, slot)).or_insert(0);
        key.nth = *claims;
        *claims = claims.saturating_add(1);
        self.clashes += usize::from(key.nth > 0);
        let dispatch = self.dispatch(key, index);
        let groups = &mut self.groups;
        let workgroup = *self.by_position.entry((dispatch, position)).or_insert_with(|| {
            groups.push(Group { dispatch, position: Some(position) });
            groups.len() - 1
        });
        self.members.push((workgroup, index));
        Some(GroupPosition { workgroup, wave_in_group: Some(slot) })
    }

    fn dispatch(&mut self, key: DispatchKey, first: usize) -> usize {
        let dispatches = &mut self.dispatches;
        let agent = key.agent;
        *self.by_key.entry(key).or_insert_with(|| {
            dispatches.push(GroupDispatch { agent, first });
            dispatches.len() - 1
        })
    }
}
