//! Proof that a memory operation has completed, by the waits that a wave executed after it.
//!
//! `cnt(N)` proves all but the last N operations of a counter, if the counter counts in the order of issue. AMD's ISA
//! documents, "Data Dependency Resolution": scalar memory, flat accesses and images complete out of order, so for these
//! only a wait for 0 proves anything.

use crate::isa::{Access, Counter, Effects, Family};

const COUNTERS: [Counter; 10] = [
    Counter::Vm,
    Counter::Vs,
    Counter::Lgkm,
    Counter::Exp,
    Counter::Load,
    Counter::Store,
    Counter::Sample,
    Counter::Bvh,
    Counter::Ds,
    Counter::Km,
];

/// The waits between an instruction and the PC, seen backwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    of: [Pending; COUNTERS.len()],
}

/// The earlier operations that the waits for one counter prove complete. Distances are instructions from the wait to the PC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pending {
    /// The farthest wait for 0.
    zero: Option<usize>,
    /// Number of earlier operations in order that may be outstanding, with the wait's distance.
    ordered: Option<(u16, usize)>,
}

impl Waits {
    /// The distance of the wait that proves the completion of an operation before this point. `None`: nothing does.
    pub(super) fn proof(&self, effects: &Effects) -> Option<usize> {
        let proof = |counter: &Counter| {
            let pending = self.of.get(index(*counter)?)?;
            let ordered = pending.ordered.filter(|(left, _)| *left == 0 && is_ordered(*counter, effects));
            pending.zero.max(ordered.map(|(_, distance)| distance))
        };
        // All counters of the operation: the last one completes it.
        let proofs: Option<Vec<usize>> = effects.issues.iter().map(proof).collect();
        proofs?.into_iter().min()
    }

    /// The state before an instruction at a distance from the PC.
    #[must_use]
    pub(super) fn before(mut self, effects: &Effects, distance: usize) -> Self {
        for counter in effects.issues {
            let pending = index(*counter).and_then(|index| self.of.get_mut(index));
            if let Some((left, _)) = pending.and_then(|pending| pending.ordered.as_mut())
                && is_ordered(*counter, effects)
            {
                *left = left.saturating_sub(1);
            }
        }
        for wait in &effects.waits {
            let Some(pending) = index(wait.counter).and_then(|index| self.of.get_mut(index)) else {
                continue;
            };
            if wait.at_most == 0 {
                pending.zero = Some(distance);
            } else if pending.ordered.is_none_or(|(left, _)| wait.at_most <= left) {
                pending.ordered = Some((wait.at_most, distance));
            }
        }
        self
    }
}

fn index(counter: Counter) -> Option<usize> {
    COUNTERS.iter().position(|known| *known == counter)
}

/// Whether an operation completes in the order of issue, among the operations of a counter.
fn is_ordered(counter: Counter, effects: &Effects) -> bool {
    let family = effects.access.as_ref().map(|access: &Access| access.family);
    match counter {
        Counter::Lgkm | Counter::Km | Counter::Exp => false,
        Counter::Vm | Counter::Vs | Counter::Load | Counter::Store | Counter::Sample | Counter::Bvh => {
            !matches!(family, Some(Family::Flat | Family::Image) | None)
        }
        Counter::Ds => family == Some(Family::Lds),
    }
}
