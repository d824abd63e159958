//! Which steps of a loop use the results of which, and which steps count turns.

use std::collections::BTreeSet;

use super::super::flow::Flow;
use super::Compared;
use super::step::{Copy, Item, Step};
use crate::isa::{Direction, Operation, Source};

/// The steps whose results each step of a loop uses, from this turn or the one before.
pub(super) struct Uses<'f> {
    flow: &'f Flow<'f>,
    values: Vec<BTreeSet<usize>>,
    addresses: Vec<BTreeSet<usize>>,
    /// For each step those that use its result as a value.
    users: Vec<Vec<usize>>,
    /// For each step those that use its result in an address.
    addressed: Vec<Vec<usize>>,
    /// For each branch the steps that it decides on, if an exit depends on them.
    decided: Vec<Vec<usize>>,
}

impl<'f> Uses<'f> {
    /// `None`: too much work.
    pub(super) fn of(steps: &[Step], flow: &'f Flow<'f>) -> Option<Self> {
        let all = |items: fn(&Step) -> &[Item]| -> Option<Vec<BTreeSet<usize>>> {
            let of = |(at, step): (usize, &Step)| -> Option<BTreeSet<usize>> {
                let each = items(step).iter().map(|item| writers(flow, steps, at, item, Skips::Left));
                Some(each.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
            };
            steps.iter().enumerate().map(of).collect()
        };
        let (values, addresses) = (all(|step| &step.reads)?, all(|step| &step.address)?);
        let (users, addressed) = (inverse(&values), inverse(&addresses));
        Some(Self { flow, values, addresses, users, addressed, decided: Vec::new() })
    }

    /// Finds the branches inside a loop that decide on steps on which an exit depends: code of several exits leaves by
    /// one branch, and sets its condition behind others. `None`: too much work.
    pub(super) fn decide(&mut self, body: &[usize], exits: &[usize]) -> Option<()> {
        self.decided = vec![Vec::new(); body.len()];
        let position = |index: &usize| body.binary_search(index).ok();
        let mut open: Vec<usize> = exits.iter().filter_map(position).collect();
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(at) = open.pop() {
            let branches = self.flow.deciding(body, *body.get(at)?)?;
            let branches: Vec<usize> = branches.iter().filter_map(position).collect();
            for branch in &branches {
                self.decided.get_mut(*branch)?.push(at);
            }
            let from: Vec<usize> =
                self.values_from(at).chain(self.addresses_from(at)).chain(branches).collect();
            open.extend(from.into_iter().filter(|from| seen.insert(*from)));
        }
        Some(())
    }

    pub(super) fn values_from(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.values.get(at).into_iter().flatten().copied()
    }

    pub(super) fn addresses_from(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.addresses.get(at).into_iter().flatten().copied()
    }

    /// The steps that depend on some. `by_address`: a loaded value depends on its address. `None`: too much work.
    pub(super) fn after(&self, seeds: BTreeSet<usize>, by_address: bool) -> Option<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = seeds.into_iter().collect();
        while let Some(from) = open.pop() {
            let values = self.users.get(from).map_or(&[][..], Vec::as_slice);
            let addresses = self.addressed.get(from).filter(|_| by_address).map_or(&[][..], Vec::as_slice);
            let decided = self.decided.get(from).map_or(&[][..], Vec::as_slice);
            self.flow.spend(values.len() + addresses.len() + decided.len())?;
            let all = values.iter().chain(addresses).chain(decided).copied();
            open.extend(all.filter(|to| found.insert(*to)));
        }
        Some(found)
    }

    /// The other operand of a comparison, if one is the loaded value itself, and the comparison of the value with it.
    pub(super) fn compared(
        &self,
        steps: &[Step],
        load: usize,
        comparison: usize,
    ) -> Option<(Compared, Option<&'static str>)> {
        let mut copies = BTreeSet::from([load]);
        let mut open = vec![load];
        while let Some(from) = open.pop() {
            let users = self.users.get(from).map_or(&[][..], Vec::as_slice);
            self.flow.spend(users.len())?;
            let is_copy = |to: &usize| steps.get(*to).is_some_and(Step::is_copy);
            open.extend(users.iter().copied().filter(is_copy).filter(|to| copies.insert(*to)));
        }
        let one = self.flow.at(steps.get(comparison)?.index)?;
        let compare = one.computations().find(|of| matches!(of.operation, Operation::Compare(..)))?;
        let [first, second, _] = compare.sources;
        let from =
            |of: Source| writers(self.flow, steps, comparison, &Item::Registers(of.named()?), Skips::Left);
        let is_loaded = |of: Source| {
            let from = from(of).unwrap_or_default();
            !from.is_empty() && from.iter().all(|from| copies.contains(from))
        };
        let (other, is_swapped) = match (is_loaded(first), is_loaded(second)) {
            (true, false) => (second, false),
            (false, true) => (first, true),
            _ => return None,
        };
        let relation = match compare.operation {
            Operation::Compare(relation, _) => relation.sign(is_swapped),
            _ => None,
        };
        if let Some(value) = other.constant() {
            return Some((Compared::Constant(value), relation));
        }
        let other = match from(other)?.as_slice() {
            [] => Some(Compared::Register(other.named()?)),
            [from] if matches!(steps.get(*from)?.copies, Copy::Moves) => {
                self.moved(steps.get(*from)?).map(Compared::Constant)
            }
            _ => None,
        };
        Some((other?, relation))
    }

    /// The constant that a step moves to a register.
    fn moved(&self, step: &Step) -> Option<i64> {
        let mut all = self.flow.at(step.index)?.computations();
        all.find_map(|of| of.sources.first()?.constant().filter(|_| of.operation == Operation::Move))
    }

    /// The steps of the loop that write the data of an atomic last. `None`: too much work.
    fn data(&self, steps: &[Step], at: usize, skips: Skips) -> Option<Vec<usize>> {
        let one = steps.get(at).and_then(|step| self.flow.at(step.index));
        let access = one.and_then(|one| one.effects().ok()).and_then(|effects| effects.access.as_ref());
        let atomic = access.filter(|access| matches!(access.direction, Direction::Atomic { .. }));
        let data = atomic.map_or(&[][..], |access| &access.data);
        let each = data.iter().map(|range| writers(self.flow, steps, at, &Item::Registers(*range), skips));
        Some(each.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Whether a step is an atomic whose data is a constant zero of the loop: a load. `None`: too much work.
    fn adds_zero(&self, steps: &[Step], at: usize) -> Option<bool> {
        // The result may replace the data.
        let is_zero = |from: &usize| steps.get(*from).and_then(|step| self.moved(step)) == Some(0);
        let from = self.data(steps, at, Skips::Left)?;
        Some(!from.is_empty() && from.iter().all(is_zero))
    }

    /// Whether the result of a step changes from turn to turn by itself. `None`: too much work.
    fn counts(&self, steps: &[Step], at: usize) -> Option<bool> {
        let is_counter = steps.get(at).is_some_and(|step| step.is_counter);
        Some(is_counter && !self.adds_zero(steps, at)?)
    }

    /// The atomics that return a value and may change memory in each turn: additions, and those whose data the loop
    /// computes or loads. Others, as the exchange of a lock, change nothing the second time. `None`: too much work.
    pub(super) fn changing(&self, steps: &[Step]) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for at in (0..steps.len()).filter(|at| steps.get(*at).is_some_and(|step| step.load.is_some())) {
            if self.counts(steps, at)? {
                found.push(at);
                continue;
            }
            let mut open = self.data(steps, at, Skips::Left)?;
            let mut seen: BTreeSet<usize> = open.iter().copied().chain([at]).collect();
            while let Some((from, of)) = open.pop().and_then(|from| Some((from, steps.get(from)?))) {
                if from != at && (of.is_arithmetic || of.load.is_some()) {
                    found.push(at);
                    break;
                }
                let before = self.values_from(from).filter(|from| seen.insert(*from));
                open.extend(before.collect::<Vec<_>>());
            }
        }
        Some(found)
    }

    /// The atomics whose data the loop makes of other loaded values, and these loads: an exchange that fails although it
    /// expects the value just loaded means that another thread succeeded. `None`: too much work.
    pub(super) fn updates(&self, steps: &[Step]) -> Option<BTreeSet<usize>> {
        let mut found = BTreeSet::new();
        for at in (0..steps.len()).filter(|at| steps.get(*at).is_some_and(|step| step.load.is_some())) {
            let mut open = self.data(steps, at, Skips::Taken)?;
            let mut seen: BTreeSet<usize> = open.iter().copied().collect();
            while let Some(from) = open.pop() {
                let Some(step) = steps.get(from) else { continue };
                if step.load.is_some() {
                    // Its own result, which unoptimised code writes back if it fails, may be replaced by a constant.
                    found.extend([at, from].into_iter().filter(|_| from != at));
                    continue;
                }
                for item in &step.reads {
                    let before = writers(self.flow, steps, from, item, Skips::Taken)?;
                    open.extend(before.into_iter().filter(|from| seen.insert(*from)));
                }
            }
        }
        Some(found)
    }

    /// Steps whose results change from turn to turn by themselves, and all that depends on them.
    pub(super) fn counters(&self, steps: &[Step]) -> Option<BTreeSet<usize>> {
        let mut seeds = BTreeSet::new();
        for (at, step) in steps.iter().enumerate() {
            let depends = |by_address| Some(self.after(BTreeSet::from([at]), by_address)?.contains(&at));
            if self.counts(steps, at)?
                || step.is_arithmetic && depends(false)?
                || step.load.is_some() && depends(true)?
            {
                seeds.insert(at);
            }
        }
        let after = self.after(seeds.clone(), true)?;
        Some(seeds.union(&after).copied().collect())
    }
}

/// For each step those that have it in their set.
fn inverse(sets: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); sets.len()];
    for (at, set) in sets.iter().enumerate() {
        for from in set {
            if let Some(users) = found.get_mut(*from) {
                users.push(at);
            }
        }
    }
    found
}

/// The ways over code that lanes skip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skips {
    /// The lanes of interest take part in all code of the loop, except where a branch selects another way for the wave.
    Left,
    /// A branch over code without active lanes is a way: lanes keep their values on it.
    Taken,
}

/// The steps of the loop that write an item last before a step, on any way to it. `None`: too much work.
pub(super) fn writers(
    flow: &Flow<'_>,
    steps: &[Step],
    at: usize,
    item: &Item,
    skips: Skips,
) -> Option<Vec<usize>> {
    let position = |index: usize| steps.binary_search_by_key(&index, |step| step.index).ok();
    let is_skip = |from: usize, to: usize| {
        let is_branch = flow.at(from).is_some_and(|one| one.mnemonic() == "s_cbranch_execz");
        is_branch && to != from + 1 && position(from + 1).is_some()
    };
    let before = |at: usize| {
        let to = steps.get(at).map(|step| step.index);
        let before = to.map_or(&[][..], |to| flow.before(to));
        let is_way = move |from: &&usize| skips == Skips::Taken || !to.is_some_and(|to| is_skip(**from, to));
        before.iter().filter(is_way).filter_map(|index| position(*index))
    };
    let mut found = Vec::new();
    for part in item.parts() {
        let mut open: Vec<usize> = before(at).collect();
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(from) = open.pop() {
            flow.spend(1)?;
            let writes = steps.get(from).map_or(&[][..], |step| &step.writes);
            let mut overlapping = writes.iter().filter(|write| write.item.overlaps(&part)).peekable();
            if overlapping.peek().is_some() {
                found.push(from);
            }
            if !overlapping.any(|write| write.is_whole) {
                open.extend(before(from).filter(|from| seen.insert(*from)));
            }
        }
    }
    Some(found)
}
