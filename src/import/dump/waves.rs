//! `[[wave]]`: a wave's kind, owner, stop reasons, and captured parts.

use std::collections::HashSet;
use std::sync::Arc;

use super::build::{Builder, limit};
use super::key::Key;
use super::manifest;
use super::pieces::{Bounds, memory_map};
use super::read::Ids;
use super::registers::WaveKind;
use super::shape::Field;
use crate::arch::Target;
use crate::capture::Wave;
use crate::units::{WaveId, WaveSize};

impl<'m, 'de> Builder<'m, 'de> {
    pub(super) fn waves(&mut self) {
        let (manifest, before) = (self.manifest, self.problems.count());
        let table = Key::Root.name("wave");
        let mut ids = Ids::new("wave");
        let mut taken = HashSet::new();
        let entries = self.problems.entries(&Key::Root, "wave", &manifest.wave);
        let count = match &manifest.wave {
            Field::Given(all) => all.len(),
            Field::Absent => 0,
            Field::Wrong(_) => 1,
        };
        self.capture.waves.reserve_exact(entries.len());
        for (index, entry) in entries {
            let key = table.index(index);
            self.problems.extra(&key, &entry.extra);
            let Some(id) = ids.declare(&mut self.problems, &key, &entry.id) else { continue };
            let Some(wave) = self.wave(&key, id, entry) else { continue };
            if let (Some(workgroup), Some(place)) = (wave.workgroup, wave.wave_in_group)
                && !taken.insert((workgroup, place))
            {
                let what = format_args!("{place} is the place of an earlier wave of the work-group, too");
                self.problems.report(key.name("wave_in_group"), what, "one wave at each place");
            }
            if let (Some(more @ 1..), Ok(ordinal)) = (
                self.problems.small(&key, "stands_for", &entry.stands_for),
                u32::try_from(self.capture.waves.len()),
            ) {
                self.capture.left_out.stands_for.insert(WaveId(ordinal), more);
            }
            self.capture.waves.push(wave);
        }
        if self.capture.waves.len() < count {
            // The work-groups of rejected waves are unknown.
            self.capture.workgroups.iter_mut().for_each(|group| group.has_all_waves = false);
            self.capture.left_out.whole_dispatches.clear();
            self.problems.hides_waves_from(before);
        }
        if self.capture.waves.is_empty() {
            self.problems.explain_no_waves_from(before);
        }
    }

    fn wave(&mut self, key: &Key<'_>, id: u32, entry: &'m manifest::Wave<'de>) -> Option<Wave> {
        let (agent, workgroup) = self.owner(key, entry)?;
        let target = Arc::clone(&self.capture.agents.get(agent)?.target);
        let size = self.wave_size(key, &target, &entry.wave_size)?;
        let (kind, index) = self.kind(agent, size)?;
        let wave_in_group = self.problems.small(key, "wave_in_group", &entry.wave_in_group);
        let wave_in_group = wave_in_group.filter(|place| self.in_group(key, workgroup, size, *place));
        let stop = self.stop(key, &target, &entry.stop);
        let sgpr_count = self.problems.number(key, "sgpr_count", &entry.sgpr_count).and_then(|count| {
            let most = target.sgpr_count;
            let fits = u16::try_from(count).ok().filter(|count| *count <= most);
            if fits.is_none() {
                let expected = format_args!("at most the {most} of {}", target.name);
                self.problems.report(key.name("sgpr_count"), format_args!("{count}, ignored"), expected);
            }
            fits
        });
        let wave_kind = WaveKind { kind: &kind, index };
        let registers = self.layouts.registers(&mut self.problems, &mut self.sources, key, wave_kind, entry);
        let private_size = self.problems.number(key, "private_size", &entry.private_size);
        let end = private_size.map(|size| (size, "private_size"));
        let bounds =
            Bounds { address_required: false, end: end.or_else(|| limit(Some(&target), "private_wave")) };
        let private =
            memory_map(&mut self.problems, &mut self.sources, key, "private", &entry.private, bounds);
        Some(Wave {
            id,
            label: self.problems.text(key, "label", &entry.label).map(Into::into),
            kind,
            agent,
            workgroup,
            wave_in_group,
            stop,
            sgpr_count,
            registers,
            private,
            private_size,
            unconfirmed: self.problems.text(key, "unconfirmed", &entry.unconfirmed).map(Into::into),
            unchecked: self.problems.text(key, "unchecked", &entry.unchecked).map(Into::into),
        })
    }

    /// The agent, and the work-group if known.
    fn owner(&mut self, key: &Key<'_>, entry: &manifest::Wave<'_>) -> Option<(usize, Option<usize>)> {
        let problems = &mut self.problems;
        let workgroup = self.workgroups.resolve(problems, key, "workgroup", &entry.workgroup);
        let own = self.agents.resolve(problems, key, "agent", &entry.agent);
        let of_group = workgroup.and_then(|workgroup| self.agent_of(workgroup));
        match (of_group, own) {
            (Some(agent), Some(own)) if agent != own => {
                let id = self.capture.agents.get(agent).map(|agent| agent.id).unwrap_or_default();
                let expected = format_args!("agent {id}, on which its work-group runs");
                self.problems.report(
                    key.name("agent"),
                    "not the work-group's; the work-group counts",
                    expected,
                );
                Some((agent, workgroup))
            }
            (Some(agent), _) => Some((agent, workgroup)),
            (None, Some(agent)) => {
                let Some(group) = workgroup else { return Some((agent, None)) };
                // A work-group runs on one agent, even if its queue is unknown.
                let first = *self.group_agents.entry(group).or_insert(agent);
                if first != agent {
                    let id = self.capture.agents.get(first).map(|agent| agent.id).unwrap_or_default();
                    let what = "not that of an earlier wave of the work-group, which it leaves";
                    self.problems.report(key.name("agent"), what, format_args!("agent {id}"));
                }
                Some((agent, workgroup.filter(|_| first == agent)))
            }
            (None, None) if workgroup.is_some() => {
                let what = "the agent of its work-group is unknown; the wave is left out";
                self.problems.report(key, what, "agent, or a work-group of a dispatch or queue");
                None
            }
            (None, None) => {
                let what = "neither a work-group nor an agent is known; the wave is left out";
                self.problems.report(key, what, "workgroup or agent");
                None
            }
        }
    }

    fn wave_size(&mut self, key: &Key<'_>, target: &Target, field: &Field<u64>) -> Option<WaveSize> {
        let sizes = || {
            let sizes: Vec<_> = target.wave_sizes.iter().map(|size| size.lanes().to_string()).collect();
            sizes.join(" or ")
        };
        if !field.is_given() {
            if let [size] = target.wave_sizes.as_slice() {
                return Some(*size);
            }
            let what =
                format_args!("is missing, and {} has more than one; the wave is left out", target.name);
            self.problems.report(key.name("wave_size"), what, sizes());
            return None;
        }
        let lanes = self.problems.number(key, "wave_size", field)?;
        let size = WaveSize::from_lanes(lanes).filter(|size| target.wave_sizes.contains(size));
        if size.is_none() {
            let what = format_args!("{lanes}; the wave is left out");
            self.problems.report(key.name("wave_size"), what, format_args!("{} on {}", sizes(), target.name));
        }
        size
    }

    fn in_group(&mut self, key: &Key<'_>, workgroup: Option<usize>, size: WaveSize, place: u32) -> bool {
        let dispatch = workgroup
            .and_then(|index| self.capture.workgroups.get(index))
            .and_then(|workgroup| self.capture.dispatches.get(workgroup.dispatch?));
        let Some(sizes) = dispatch.and_then(|dispatch| dispatch.workgroup) else { return true };
        // The product of three u32 fits in a u128.
        let items: u128 = sizes.iter().map(|size| u128::from(*size)).product();
        let waves = items.div_ceil(u128::from(size.lanes()));
        let inside = u128::from(place) < waves;
        if !inside {
            let expected = format_args!("less than the {waves} waves of a work-group");
            self.problems.report(key.name("wave_in_group"), format_args!("{place}, ignored"), expected);
        }
        inside
    }

    fn stop(
        &mut self,
        key: &Key<'_>,
        target: &Target,
        field: &Field<Vec<Field<super::shape::Text<'_>>>>,
    ) -> Option<Vec<usize>> {
        let names = self.problems.given(key, "stop", field)?;
        let list = key.name("stop");
        let mut reasons = Vec::with_capacity(names.len());
        let mut lost = false;
        for (index, name) in names.iter().enumerate() {
            let (found, why) = match name {
                Field::Given(name) => match target.reason_index(&name.0) {
                    Some(reason) => {
                        reasons.push(reason);
                        continue;
                    }
                    None => (super::shape::quoted(&name.0), "is no stop reason"),
                },
                Field::Absent => ("null".to_owned(), "is no name"),
                Field::Wrong(found) => (found.to_string(), "is no name"),
            };
            lost = true;
            let known: Vec<_> = target.stop_reasons.iter().map(|reason| reason.name.as_str()).collect();
            let expected = format_args!("one of {}", known.join(", "));
            self.problems.report(
                list.index(index),
                format_args!("{found} {why} of {}", target.name),
                expected,
            );
        }
        // An empty list stands for a running wave; here the state is unknown.
        (!lost || !reasons.is_empty()).then_some(reasons)
    }
}
