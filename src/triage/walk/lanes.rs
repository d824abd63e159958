//! EXEC before each instruction of a past: the lanes in which a vector instruction wrote its result.
//!
//! EXEC is known at the PC. Instructions that write it give its value before and after them, or bounds. The lane whose
//! address is wanted was active at the access; this tells more about EXEC at other instructions, for this lane alone.

use std::cell::RefCell;

use super::Node;
use super::look::EXEC;
use super::recover::{First, Past};
use crate::isa::{ExecBefore, ExecChange, RegisterFile, RegisterRange};
use crate::units::{LaneId, LaneSet, WaveSize};

/// Bounds of EXEC before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    /// The lanes that were certainly active.
    least: LaneSet,
    /// The lanes that may have been active.
    most: LaneSet,
}

impl Lanes {
    pub(super) fn unknown(all: LaneSet) -> Self {
        Self { least: LaneSet::EMPTY, most: all }
    }

    fn known(lanes: LaneSet) -> Self {
        Self { least: lanes, most: lanes }
    }

    /// The lanes, if they are known.
    pub(super) fn exact(self) -> Option<LaneSet> {
        (self.least == self.most).then_some(self.least)
    }

    /// Whether a lane was active; `None`: unknown, or the path is impossible for it.
    fn has(self, lane: LaneId) -> Option<bool> {
        let is_certain = self.least.contains(lane);
        (is_certain == self.most.contains(lane)).then_some(is_certain)
    }

    fn meet(self, other: Self) -> Self {
        Self { least: self.least.or(other.least), most: self.most.and(other.most) }
    }
}

/// Instructions with the same EXEC, the last one included, which writes it or precedes the PC.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
}

impl Past<'_, '_> {
    /// Finds EXEC before each instruction. `access`: the index of the access.
    pub(super) fn find_exec(&mut self, access: usize) {
        let runs = self.runs();
        let all = self.registers.arch().wave_size.all();
        let at_pc = self.registers.exec().map(|lanes| Lanes::known(lanes.and(all)));
        let known = if self.first == First::Pc { runs.first() } else { runs.last() };
        if let Some((run, lanes)) = known.zip(at_pc) {
            note(&self.exec, *run, lanes);
        }
        for run in runs.iter().filter(|run| (run.start..run.end).any(|at| self.is_empty(at))) {
            note(&self.exec, *run, Lanes::known(LaneSet::EMPTY));
        }
        self.sweep(&runs, &self.exec, true);
        // For each lane by itself: it was active at the access. Behind the PC it stays in the loop.
        let assumed = match self.first {
            First::Pc => vec![Lanes::known(all); self.nodes.len() + 1],
            First::Unknown | First::Start => self.exec.borrow().clone(),
        };
        let assumed = RefCell::new(assumed);
        if let Some(run) = runs.iter().find(|run| (run.start..=run.end).contains(&access)) {
            let most = self.lanes(access).map_or(all, |lanes| lanes.most);
            note(&assumed, *run, Lanes { least: most, most: all });
        }
        if self.first != First::Pc {
            self.sweep(&runs, &assumed, false);
        }
        self.assumed = assumed.into_inner();
        self.group_lanes(&runs);
        self.forget();
    }

    /// EXEC before an instruction.
    pub(super) fn lanes(&self, index: usize) -> Option<Lanes> {
        self.exec.borrow().get(index).copied()
    }

    /// Whether a lane was active at an instruction; `None`: unknown.
    pub(super) fn is_active(&self, at: usize, lane: LaneId) -> Option<bool> {
        match self.focus.get() == Some(lane) {
            true => self.assumed.get(at)?.has(lane),
            false => self.lanes(at)?.has(lane),
        }
    }

    fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        let mut start = 0;
        for at in 0..self.nodes.len() {
            let effects = self.effects(at).map(|(_, effects)| effects);
            if effects.is_none_or(|of| of.writes.iter().any(|write| write.range.overlaps(EXEC))) {
                runs.push(Run { start, end: at });
                start = at + 1;
            }
        }
        runs.push(Run { start, end: self.nodes.len() });
        runs
    }

    /// Bounds from run to run, backwards and forwards. `computes`: EXEC is also computed from values that survived.
    fn sweep(&self, runs: &[Run], bounds: &RefCell<Vec<Lanes>>, computes: bool) {
        let at = |index: usize| bounds.borrow().get(index).copied();
        for (index, run) in runs.iter().enumerate().rev() {
            if let Some(after) = runs.get(index + 1).and_then(|next| at(next.start)) {
                self.learn(bounds, *run, self.before(run.end, after), computes);
            }
            if computes {
                self.compute(*run);
            }
        }
        for pair in runs.windows(2) {
            let [run, next] = pair else { continue };
            if let (Some(before), Some((one, _))) = (at(run.end), self.effects(run.end)) {
                let (least, most) = match one.exec_change() {
                    ExecChange::Narrows => (LaneSet::EMPTY, before.most),
                    ExecChange::Widens => (before.least, self.all()),
                    ExecChange::Other => (LaneSet::EMPTY, self.all()),
                };
                self.learn(bounds, *next, Lanes { least, most }, computes);
            }
            if computes {
                self.compute(*next);
            }
        }
    }

    fn compute(&self, run: Run) {
        if run.start == 0 || self.lanes(run.start).is_none_or(|lanes| lanes.exact().is_some()) {
            return;
        }
        if let Some(lanes) = self.exec(run.start) {
            self.learn(&self.exec, run, Lanes::known(lanes), true);
        }
    }

    /// Notes a bound. Values that were unknown without it may be known now.
    fn learn(&self, bounds: &RefCell<Vec<Lanes>>, run: Run, lanes: Lanes, has_values: bool) {
        if note(bounds, run, lanes) && has_values {
            self.forget();
        }
    }

    /// EXEC before an instruction that writes it.
    fn before(&self, at: usize, after: Lanes) -> Lanes {
        let Some((one, _)) = self.effects(at) else { return Lanes::unknown(self.all()) };
        let by_change = match one.exec_change() {
            ExecChange::Narrows => Lanes { least: after.least, most: self.all() },
            ExecChange::Widens => Lanes { least: LaneSet::EMPTY, most: after.most },
            ExecChange::Other => Lanes::unknown(self.all()),
        };
        let by_mask = match one.exec_before() {
            ExecBefore::Saved(range) => self.mask(range, at + 1).map(Lanes::known),
            ExecBefore::WithinOr(range) => {
                self.mask(range, at).map(|mask| Lanes { most: after.most.or(mask), ..after })
            }
            ExecBefore::Xor(range) => self.mask(range, at).map(|mask| {
                let flipped = |of: LaneSet, other: LaneSet| of.without(mask).or(mask.without(other));
                Lanes { least: flipped(after.least, after.most), most: flipped(after.most, after.least) }
            }),
            ExecBefore::Within | ExecBefore::Unknown => None,
        };
        by_mask.map_or(by_change, |lanes| lanes.meet(by_change))
    }

    /// The lanes of a mask before an instruction.
    fn mask(&self, range: RegisterRange, index: usize) -> Option<LaneSet> {
        let is_wide = self.registers.arch().wave_size == WaveSize::W64;
        let part = |dword| {
            let number = range.first.checked_add(dword)?;
            self.dword(range.file, number, LaneId::default(), index).map(u64::from)
        };
        (range.count == if is_wide { 2 } else { 1 }).then_some(())?;
        let high = if is_wide { part(1)? } else { 0 };
        Some(LaneSet(part(0)? | high << 32))
    }

    fn all(&self) -> LaneSet {
        self.registers.arch().wave_size.all()
    }

    /// Whether a branch shows that no lane was active: the path continues where only such waves go.
    fn is_empty(&self, at: usize) -> bool {
        let (Some((one, _)), Some(node)) = (self.effects(at), self.nodes.get(at)) else { return false };
        let Some(branch) = one.branch_condition().filter(|of| of.file == RegisterFile::Exec) else {
            return false;
        };
        let Some(follows) = self.nodes.get(at + 1).or(self.pc.as_ref()) else { return false };
        let is_next = *follows == Node { index: node.index + 1, ..*node };
        let is_target = self.walk.decoded(*follows).is_some_and(|of| Some(of.address) == one.target);
        match is_target {
            true => !branch.is_set && !is_next,
            false => branch.is_set && is_next,
        }
    }

    /// Finds for each lane the first one with the same EXEC at all instructions.
    fn group_lanes(&mut self, runs: &[Run]) {
        let mut groups: Vec<u8> = vec![0; usize::from(self.registers.arch().wave_size.lanes())];
        for run in runs {
            for lanes in [self.lanes(run.start), self.assumed.get(run.start).copied()].into_iter().flatten() {
                // By the group before, and whether the lane is within each bound.
                let mut first = [[None; 4]; 64];
                for (lane, group) in (0u8..).zip(&mut groups) {
                    let of = LaneId(lane);
                    let bounds =
                        usize::from(lanes.least.contains(of)) | usize::from(lanes.most.contains(of)) << 1;
                    let known = first.get_mut(usize::from(*group)).and_then(|of| of.get_mut(bounds));
                    *group = known.map_or(lane, |known| *known.get_or_insert(lane));
                }
            }
        }
        self.groups = groups;
    }
}

/// Notes a further bound of EXEC in a run; returns whether it tells more.
fn note(bounds: &RefCell<Vec<Lanes>>, run: Run, lanes: Lanes) -> bool {
    let mut is_new = false;
    for of in bounds.borrow_mut().iter_mut().take(run.end + 1).skip(run.start) {
        let met = of.meet(lanes);
        is_new |= met != *of;
        *of = met;
    }
    is_new
}
