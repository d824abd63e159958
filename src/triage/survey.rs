//! The waves of a dump by the cause of their stop.

#[cfg(test)]
pub(super) mod tests;

use std::collections::HashMap;

use super::listings::CodeAt;
use super::registers::WaveRegisters;
use super::reports::may_concern;
use super::{OtherFault, Stops};
use crate::arch::StopKind;
use crate::capture::Fault;
use crate::isa::{ReadRegister as _, RegisterFile};
use crate::session::{Inspect, WaveInfo};
use crate::units::{LaneId, Pc, WaveId};

/// Waves of one session, GPU, dispatch, PC and kind of stop.
pub(super) struct Group<'a> {
    /// The session that serves them.
    pub(super) session: &'a dyn Inspect,
    /// Their PC. `None`: not captured.
    pub(super) pc: Option<Pc>,
    /// The dump's id of their GPU.
    pub(super) agent: u32,
    /// The dispatch. `None`: unknown.
    pub(super) dispatch: Option<u32>,
    /// The cause of the stop.
    pub(super) stop: Stop,
    /// The first of the stop reasons. `None`: none, or unknown.
    pub(super) kind: Option<StopKind>,
    /// The waves in the dump's order; at least one.
    pub(super) waves: Vec<WaveId>,
    /// Number of further waves that the dump leaves out.
    pub(super) left_out: usize,
}

/// The cause of a wave's stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Stop {
    /// An access to memory.
    Memory,
    /// Another fault.
    OtherFault,
    /// A halt without a reason; a report may have the reason.
    Halted,
    /// Not known.
    Unknown,
    /// It was running, or a debugger stopped it.
    Running,
}

/// The waves of a dump.
pub(super) struct Survey<'a> {
    /// Groups in the dump's order of their first waves.
    pub(super) groups: Vec<Group<'a>>,
}

impl<'a> Survey<'a> {
    /// Groups the waves of sessions, or one wave alone.
    pub(super) fn of(sessions: &[&'a dyn Inspect], only: Option<WaveId>) -> Self {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut known: HashMap<_, usize> = HashMap::new();
        for (index, session) in sessions.iter().copied().enumerate() {
            for wave in session.waves().iter().copied().filter(|wave| only.is_none_or(|only| only == *wave)) {
                let Ok(info) = session.wave(wave) else { continue };
                let kinds = info.stop_kinds();
                let stop = Stop::of(kinds.as_deref());
                let kind = kinds.and_then(|kinds| kinds.first().copied());
                let more = if only.is_none() { info.stands_for as usize } else { 0 };
                let WaveInfo { pc, agent, dispatch, .. } = info;
                let place = known.entry((index, agent, dispatch, pc, stop, kind)).or_insert_with(|| {
                    let (waves, left_out) = (Vec::new(), 0);
                    groups.push(Group { session, pc, agent, dispatch, stop, kind, waves, left_out });
                    groups.len() - 1
                });
                if let Some(group) = groups.get_mut(*place) {
                    group.waves.push(wave);
                    group.left_out += more;
                }
            }
        }
        Self { groups }
    }

    /// The most telling stop that has waves.
    pub(super) fn stop(&self) -> Option<Stop> {
        self.groups.iter().map(|group| group.stop).min()
    }

    /// The groups of the most telling stop that has waves: an access to memory, another fault, a halt, an unknown cause.
    /// Waves that were running count if nothing else is there.
    pub(super) fn stopped(&self) -> Vec<&Group<'a>> {
        let stop = self.stop();
        let mut groups: Vec<&Group<'a>> =
            self.groups.iter().filter(|group| Some(group.stop) == stop).collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.count()));
        groups
    }

    /// The waves that stopped for another fault than that of a wave: another reason, GPU or dispatch.
    pub(super) fn others(&self, described: WaveId) -> Vec<OtherFault> {
        let faulted = || self.groups.iter().filter(|group| group.stop <= Stop::Halted);
        let Some(own) = faulted().find(|group| group.waves.contains(&described)) else { return Vec::new() };
        let mut others: Vec<OtherFault> = Vec::new();
        let mut known = HashMap::new();
        for group in faulted().filter(|group| group.fault() != own.fault()) {
            let index = *known.entry(group.fault()).or_insert(others.len());
            match others.get_mut(index) {
                Some(other) => other.waves.extend(&group.waves),
                None => others.push(OtherFault { waves: group.waves.clone() }),
            }
        }
        others
    }

    /// Number of waves by cause, and the PCs of the faulted ones.
    pub(super) fn stops(&self) -> Stops {
        let count = |of: &[Stop]| {
            let groups = self.groups.iter().filter(|group| of.contains(&group.stop));
            groups.map(Group::count).sum::<usize>()
        };
        let faulted = count(&[Stop::Memory, Stop::OtherFault, Stop::Halted]);
        let mut pcs: Vec<(Pc, usize)> = Vec::new();
        let mut known: HashMap<Pc, usize> = HashMap::new();
        for group in self.groups.iter().filter(|group| group.stop <= Stop::Halted) {
            let Some(pc) = group.pc else { continue };
            let index = *known.entry(pc).or_insert_with(|| {
                pcs.push((pc, 0));
                pcs.len() - 1
            });
            if let Some((_, count)) = pcs.get_mut(index) {
                *count += group.count();
            }
        }
        pcs.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let bystanders = if faulted > 0 { count(&[Stop::Running]) } else { 0 };
        let chosen = self.stopped().first().and_then(|group| group.waves.first().copied());
        let asked = self.groups.iter().map(Group::count).sum();
        let absent = self.groups.iter().map(|group| group.left_out).sum();
        let unknown = count(&[Stop::Unknown]);
        Stops { faulted, bystanders, unknown, asked, absent, pcs, chosen, ..Stops::default() }
    }
}

impl Stop {
    fn of(kinds: Option<&[StopKind]>) -> Self {
        match kinds {
            None => Self::Unknown,
            Some(kinds) if kinds.contains(&StopKind::Memory) => Self::Memory,
            Some([StopKind::Fatal]) => Self::Halted,
            Some(kinds) if kinds.iter().any(|kind| kind.is_fault()) => Self::OtherFault,
            Some(_) => Self::Running,
        }
    }
}

impl<'a> Group<'a> {
    /// The facts of its first wave.
    pub(super) fn info(&self) -> Option<WaveInfo> {
        self.session.wave(*self.waves.first()?).ok()
    }

    /// Whether a report may be of the stop of its waves.
    pub(super) fn may_have(&self, fault: &Fault) -> bool {
        self.info().is_some_and(|info| may_concern(fault, &info))
    }

    /// Number of its waves, also of those that the dump leaves out.
    pub(super) fn count(&self) -> usize {
        self.waves.len() + self.left_out
    }

    /// Whether waves that the dump leaves out may have an access on a reported page.
    pub(super) fn is_unsearched(&self) -> bool {
        self.left_out > 0 && self.session.has_new_reports()
    }

    /// The fault that stopped its waves: equal for waves of one cause, GPU and dispatch.
    pub(super) fn fault(&self) -> (Stop, Option<StopKind>, u32, Option<u32>) {
        (self.stop, self.kind, self.agent, self.dispatch)
    }

    /// The address in the registers of the return address (AMDGPUUsage, "Calling Convention": SGPRs 30 and 31).
    pub(super) fn return_address(&self) -> Option<u64> {
        let registers = WaveRegisters::new(self.session, self.waves.first().copied()?);
        let dword = |index| registers.dword(RegisterFile::Scalar, index, LaneId::default()).map(u64::from);
        Some(dword(30)? | dword(31)? << 32)
    }

    /// The code at its PC.
    pub(super) fn code(&self) -> Option<CodeAt<'a>> {
        let (session, wave) = (self.session, self.waves.first().copied()?);
        Some(CodeAt { session, wave, address: self.pc?.0 })
    }
}
