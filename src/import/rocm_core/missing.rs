//! What is missing of a queue's waves, said once for each reason.

use std::collections::BTreeMap;

use super::dispatch;
use super::scratch::NoScratch;
use crate::import::problem::Problems;

/// What is missing of a queue's waves: how many lack it for each reason, so that a reason is said once.
#[derive(Debug, Default)]
pub(super) struct Missing {
    pub(super) words: Option<(u32, u64)>,
    pub(super) dispatch: BTreeMap<dispatch::Unknown, (u32, u32)>,
    pub(super) scratch: BTreeMap<NoScratch, (u32, u32)>,
    pub(super) unallotted: Option<(u32, u32)>,
    pub(super) launch: Option<(u32, u32)>,
    pub(super) outside: Option<(u32, u32)>,
    pub(super) group: Option<(u32, u32)>,
    pub(super) faulty: Option<(u32, u32)>,
}

/// Counts one more, and keeps the first.
pub(super) fn count<T>(slot: &mut Option<(u32, T)>, first: T) {
    match slot {
        Some((count, _)) => *count += 1,
        None => *slot = Some((1, first)),
    }
}

impl Missing {
    /// Says all of it.
    pub(super) fn report(&self, key: &str, problems: &mut Problems) {
        let waves = |(count, first): (u32, u32)| match count {
            1 => format!("wave {first}"),
            count => format!("{count} waves, the first of them {first}"),
        };
        if let Some((count, at)) = self.words {
            let what = format!(
                "hardware registers and trap temporaries of {count} waves were not captured whole, those of the first at {at:#x}"
            );
            problems.report(key, what, "memory that holds them: they say where a wave is and why it stopped");
        }
        for (why, (count, first)) in &self.dispatch {
            let what = format!("no dispatch for {}: {}", waves((*count, *first)), why.words());
            problems.report(key, what, "a packet of the ring");
        }
        for (why, (count, first)) in &self.scratch {
            let what = format!("no private memory for {}: {}", waves((*count, *first)), why.words());
            problems.report(key, what, "scratch memory that is known to be the wave's");
        }
        let said = [
            (
                self.unallotted,
                "private memory of",
                "was not allotted by the control stack",
                "SCRATCH_EN in its record",
            ),
            (
                self.launch,
                "no dispatch for",
                "their trap temporaries were not set up",
                "ttmp_setup in the runtime information",
            ),
            (
                self.outside,
                "no place for",
                "what its trap temporaries say is outside of its dispatch",
                "a work-group of the grid",
            ),
            (self.group, "no work-group for", "none was opened before", "a first wave before others"),
            (
                self.faulty,
                "flags of a fault in",
                "was not stopped: no stop reason is told",
                "a wave that the trap handler stopped",
            ),
        ];
        for (found, before, after, expected) in said {
            if let Some(found) = found {
                problems.report(key, format!("{before} {}: {after}", waves(found)), expected);
            }
        }
    }
}
