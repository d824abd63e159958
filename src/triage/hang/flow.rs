//! Flow of control in a listing: successors, loops around a PC, and paths that lead to it.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::state::CodePosition;
use crate::isa::Control;
use crate::triage::listings::{Decoded, Listing};

/// Maximum number of instructions of a loop that counts as one: polling loops are short.
const MAX_LOOP: usize = 512;
/// Maximum number of ways back in a listing.
const MAX_BACK: usize = 4096;
/// Maximum number of instructions on the paths to a PC that are searched for a signal.
const MAX_PATHS: usize = 4096;
/// Maximum number of loops around a PC.
const MAX_LOOPS: usize = 8;

/// The flow of control in a listing. Instructions are indexes.
#[derive(Debug)]
pub(super) struct Flow<'a> {
    pub(super) listing: &'a Listing,
    next: Vec<Next>,
    before: Vec<Vec<usize>>,
    loops: OnceCell<Vec<Loop>>,
    work: &'a Cell<usize>,
}

/// A loop: its instructions in order, and the place of a wave in it, which the caller finds.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) body: Vec<usize>,
    pub(super) place: OnceCell<Option<CodePosition>>,
}

/// The successors of an instruction.
#[derive(Clone, Debug, Default)]
struct Next {
    within: Vec<usize>,
    /// Whether the wave may end, wait for others, or leave the listing there.
    leaves: bool,
}

impl<'a> Flow<'a> {
    /// `work`: the steps left for the analysis of loops.
    pub(super) fn new(listing: &'a Listing, work: &'a Cell<usize>) -> Self {
        let next: Vec<Next> = (0..listing.instructions.len()).map(|at| Next::of(listing, at)).collect();
        let mut before = vec![Vec::new(); next.len()];
        for (at, next) in next.iter().enumerate() {
            for to in &next.within {
                if let Some(before) = before.get_mut(*to) {
                    before.push(at);
                }
            }
        }
        Self { listing, next, before, loops: OnceCell::new(), work }
    }

    /// Takes steps from those that are left; `None`: too few are.
    pub(super) fn spend(&self, steps: usize) -> Option<()> {
        let left = self.work.get().checked_sub(steps);
        self.work.set(left.unwrap_or(0));
        left.map(drop)
    }

    pub(super) fn at(&self, index: usize) -> Option<&'a Decoded> {
        self.listing.instructions.get(index)
    }

    pub(super) fn control(&self, index: usize) -> Option<Control> {
        Some(self.at(index)?.effects().ok()?.control)
    }

    /// The instruction that ends at an instruction's start.
    pub(super) fn previous(&self, index: usize) -> Option<usize> {
        let previous = index.checked_sub(1)?;
        let (before, after) = (self.at(previous)?, self.at(index)?);
        (before.end() == after.address).then_some(previous)
    }

    /// The instruction before, if no branch leads to this one.
    pub(super) fn only_previous(&self, index: usize) -> Option<usize> {
        let previous = self.previous(index)?;
        (self.before.get(index)?.as_slice() == [previous]).then_some(previous)
    }

    /// The instructions that a wave at this one can reach, if it can neither end, nor wait for other waves, nor leave
    /// them: a loop without an exit. `None`: it can, or the listing does not show it.
    pub(super) fn endless(&self, start: usize) -> Option<Vec<usize>> {
        let mut seen = BTreeSet::from([start]);
        let mut open = VecDeque::from([start]);
        while let Some(at) = open.pop_front() {
            self.spend(1)?;
            let next = self.next.get(at).filter(|next| !next.leaves && seen.len() <= MAX_LOOP)?;
            open.extend(next.within.iter().filter(|to| seen.insert(**to)));
        }
        Some(seen.into_iter().collect())
    }

    /// The loops with an instruction, the smallest first; each as its instructions in order. A loop is the target of ways
    /// back, and all instructions that lead to their origins without passing the target.
    pub(super) fn loops(&self, of: usize) -> impl Iterator<Item = &Loop> {
        let all = self.loops.get_or_init(|| self.all_loops());
        let is_around = move |one: &&Loop| self.spend(1).is_some() && one.body.binary_search(&of).is_ok();
        all.iter().filter(is_around).take(MAX_LOOPS)
    }

    /// The loops of a listing, the smallest first.
    fn all_loops(&self) -> Vec<Loop> {
        let mut ends: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (start, end) in self.back().into_iter().take(MAX_BACK) {
            ends.entry(start).or_default().push(end);
        }
        let bodies = ends.into_iter().filter_map(|(start, ends)| self.body(start, ends));
        let mut found: Vec<Loop> = bodies.map(|body| Loop { body, place: OnceCell::new() }).collect();
        found.sort_by_key(|one| one.body.len());
        found
    }

    /// The ways back of a search in depth from the first instruction, each as target and origin. The head of a loop is
    /// not always its first instruction: LLVM enters loops of several exits behind the test of an exit.
    fn back(&self) -> Vec<(usize, usize)> {
        // `None`: not seen; `true`: on the way from the first instruction.
        let mut seen: Vec<Option<bool>> = vec![None; self.next.len()];
        let (mut found, mut way) = (Vec::new(), Vec::new());
        for first in 0..seen.len() {
            let mut open = vec![first];
            while let Some(at) = open.pop() {
                let Some(state) = seen.get_mut(at) else { continue };
                if way.last() == Some(&at) && *state == Some(true) {
                    way.pop();
                    *state = Some(false);
                }
                if state.is_some() {
                    continue;
                }
                *state = Some(true);
                way.push(at);
                open.push(at);
                for to in self.within(at) {
                    match seen.get(*to) {
                        Some(None) => open.push(*to),
                        Some(Some(true)) => found.push((*to, at)),
                        _ => {}
                    }
                }
            }
        }
        found
    }

    /// The loop of the ways back to a target; `None`: it is too large, or its target is not the only entry.
    fn body(&self, start: usize, ends: Vec<usize>) -> Option<Vec<usize>> {
        let mut seen: BTreeSet<usize> = ends.iter().copied().chain([start]).collect();
        let mut open = ends;
        while let Some(at) = open.pop().filter(|_| seen.len() <= MAX_LOOP) {
            self.spend(1)?;
            if at != start {
                let before = self.before.get(at)?;
                open.extend(before.iter().filter(|from| seen.insert(**from)));
            }
        }
        let is_entered = start != 0 && seen.contains(&0);
        (seen.len() <= MAX_LOOP && !is_entered).then(|| seen.into_iter().collect())
    }

    /// The instructions of the listing that may precede one.
    pub(super) fn before(&self, index: usize) -> &[usize] {
        self.before.get(index).map_or(&[], Vec::as_slice)
    }

    /// The instructions of the listing that may follow one.
    pub(super) fn within(&self, index: usize) -> &[usize] {
        self.next.get(index).map_or(&[], |next| &next.within)
    }

    /// The conditional branches on which an instruction of a loop depends: from one of their sides a way leads out of
    /// the loop without it, from the other none does. Exits are left out. `None`: too much work.
    pub(super) fn deciding(&self, body: &[usize], index: usize) -> Option<Vec<usize>> {
        self.spend(body.len())?;
        let is_inside = |at: &usize| body.binary_search(at).is_ok();
        let is_exit = |at: usize| self.leaves(at) || !self.within(at).iter().all(is_inside);
        let mut open: Vec<usize> = body.iter().copied().filter(|at| *at != index && is_exit(*at)).collect();
        // The instructions from which a way leads out without the one.
        let mut avoiding: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(at) = open.pop() {
            self.spend(1)?;
            let before =
                self.before.get(at)?.iter().copied().filter(|from| *from != index && is_inside(from));
            open.extend(before.filter(|from| avoiding.insert(*from)));
        }
        let decides = |at: &usize| {
            let sides = self.within(*at);
            let is_branch = self.control(*at) == Some(Control::ConditionalBranch) && !is_exit(*at);
            let avoids = |to: &usize| avoiding.contains(to);
            is_branch && *at != index && sides.iter().any(avoids) && !sides.iter().all(avoids)
        };
        Some(body.iter().copied().filter(decides).collect())
    }

    /// The conditional branches of a loop with a way out.
    pub(super) fn exits(&self, body: &[usize]) -> Vec<usize> {
        let leaves = |at: &usize| {
            let next = self.next.get(*at);
            next.is_some_and(|next| {
                next.leaves || next.within.iter().any(|to| body.binary_search(to).is_err())
            })
        };
        let is_conditional = |at: &usize| self.control(*at) == Some(Control::ConditionalBranch);
        body.iter().copied().filter(|at| is_conditional(at) && leaves(at)).collect()
    }

    /// Whether the wave may end there, wait for other waves, or leave the listing.
    pub(super) fn leaves(&self, index: usize) -> bool {
        self.next.get(index).is_none_or(|next| next.leaves)
    }

    /// Whether a conditional branch stays in a loop if it is taken; `None`: neither way or both ways do.
    pub(super) fn stays_if_taken(&self, branch: usize, body: &[usize]) -> Option<bool> {
        let target = self.listing.index(self.at(branch)?.target?)?;
        let is_inside = |at: usize| body.binary_search(&at).is_ok();
        let (taken, next) = (is_inside(target), is_inside(branch + 1));
        (taken != next).then_some(taken)
    }

    /// Whether a wave at an instruction has signalled its work-group's barrier without having waited for it: on all paths, on none, or
    /// `None` on some, or where the paths are unknown.
    pub(super) fn has_signalled(&self, start: usize) -> Option<bool> {
        let (mut seen, mut open) = (BTreeSet::from([start]), vec![start]);
        let (mut with, mut without) = (false, false);
        while let Some(at) = open.pop() {
            self.spend(1)?;
            let before = self.before.get(at).filter(|_| seen.len() <= MAX_PATHS)?;
            // The first instruction: the entry, or the listing does not show the paths to it.
            without |= at == 0 || self.previous(at).is_none();
            for from in before {
                let is_of_group = self.at(*from).and_then(of_group);
                match self.control(*from) {
                    Some(Control::BarrierSignal | Control::BarrierWait) if is_of_group == Some(false) => {
                        open.extend(seen.insert(*from).then_some(*from));
                    }
                    Some(Control::BarrierSignal) if is_of_group.is_none() => return None,
                    Some(Control::BarrierSignal) => with = true,
                    Some(Control::BarrierWait | Control::Barrier) => without = true,
                    Some(Control::Call | Control::BarrierMembership) | None => return None,
                    Some(_) => open.extend(seen.insert(*from).then_some(*from)),
                }
            }
        }
        (with != without).then_some(with)
    }
}

/// The number of the work-group's barrier: -1.
const GROUP: u16 = u16::MAX;

/// Whether a signal or wait is one for the barrier of the work-group, number -1. `None`: a register has the number.
pub(super) fn of_group(one: &Decoded) -> Option<bool> {
    one.immediate().map(|number| number == GROUP)
}

impl Next {
    fn of(listing: &Listing, at: usize) -> Self {
        let Some(decoded) = listing.instructions.get(at) else { return Self::default() };
        let control = decoded.effects().ok().map(|effects| effects.control);
        let follows = |one: &&Decoded| decoded.end() == one.address;
        let next = listing.instructions.get(at + 1).filter(follows).map(|_| at + 1);
        let target = decoded.target.and_then(|target| listing.index(target));
        let (ways, leaves) = match control {
            Some(Control::Next | Control::Sleep) => (vec![next], false),
            Some(Control::Branch) => (vec![target], false),
            Some(Control::ConditionalBranch) => (vec![target, next], false),
            Some(Control::Return | Control::End) => (Vec::new(), true),
            _ => (vec![next], true),
        };
        let leaves = leaves || ways.contains(&None);
        Self { within: ways.into_iter().flatten().collect(), leaves }
    }
}
