//! The work that is left for all accesses of one answer.

use std::cell::Cell;

use crate::work;

/// Maximum number of instructions that the searches before all PCs visit. Beyond it any path is possible.
const MAX_VISITS: usize = 1 << 20;
/// Maximum number of steps for overwritten registers: an instruction that is computed, or a store that is compared with
/// a load. Beyond it such registers are unknown.
const MAX_STEPS: usize = 1 << 21;

/// The work that is left.
#[derive(Debug)]
pub(in crate::triage) struct Work {
    visits: Cell<usize>,
    steps: Cell<usize>,
    is_cut: Cell<bool>,
}

impl Default for Work {
    fn default() -> Self {
        Self { visits: Cell::new(MAX_VISITS), steps: Cell::new(MAX_STEPS), is_cut: Cell::new(false) }
    }
}

impl Work {
    /// Number of instructions that searches may still visit.
    pub(super) fn visits(&self) -> usize {
        self.visits.get()
    }

    /// Takes visits; none are left after more than there are.
    pub(super) fn visited(&self, visits: usize) {
        self.visits.set(self.visits.get().saturating_sub(visits));
    }

    /// Whether no visits are left.
    pub(in crate::triage) fn has_cut_paths(&self) -> bool {
        self.visits.get() == 0
    }

    /// Takes steps for a register; `None`: too few are left.
    pub(super) fn spend(&self, steps: usize) -> Option<()> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or(0));
        if left.is_none() {
            self.cut_registers();
        }
        left.map(drop)
    }

    /// Notes that an overwritten register stays unknown.
    pub(super) fn cut_registers(&self) {
        self.is_cut.set(true);
    }

    /// Whether overwritten registers stay unknown because too few steps were left.
    pub(in crate::triage) fn has_cut_registers(&self) -> bool {
        self.is_cut.get()
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let spent = (MAX_VISITS - self.visits.get()).saturating_add(MAX_STEPS - self.steps.get());
        work::count(work::Count::Steps, spent as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::Work;

    /// Registers that need more steps than the answer has left are unknown, and the answer reports it.
    #[test]
    fn an_answer_has_one_limit_of_steps() {
        let work = Work::default();
        assert_eq!(work.spend(1000), Some(()));
        assert!(!work.has_cut_registers());
        assert_eq!(work.spend(usize::MAX), None);
        assert!(work.has_cut_registers());
        assert_eq!(work.spend(1), None, "later accesses get none of it");
        assert!(!work.has_cut_paths());
        work.visited(usize::MAX);
        assert!(work.has_cut_paths());
    }
}
