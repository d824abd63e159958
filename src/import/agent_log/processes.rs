//! Processes of a log's reports, by their code objects.
//!
//! A log may hold the reports of several processes: ranks with one output file, or consecutive runs. Code addresses are
//! per process: two code objects at one address belong to two processes, and so do the waves whose reports name them. A
//! report without a code object belongs to the process of the previous report.

use std::collections::BTreeMap;

use super::read::Log;

/// Processes of waves and code objects.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// Line of the first report of each process.
    pub(super) lines: Vec<usize>,
    of_wave: Vec<usize>,
    of_object: Vec<Option<usize>>,
}

impl Processes {
    /// Separates the processes of a log's waves and code objects.
    pub(super) fn of(log: &Log) -> Self {
        let mut processes = Self { of_object: vec![None; log.objects.len()], ..Self::default() };
        // Disjoint code objects of each process: end and index by address.
        let mut memory: Vec<BTreeMap<u64, u64>> = Vec::new();
        let mut current = None;
        for wave in &log.waves {
            let known = wave.objects.iter().find_map(|index| *processes.of_object.get(*index)?);
            let mut process = known.or(current);
            for index in &wave.objects {
                let Some(object) = log.objects.get(*index) else { continue };
                let Some(place) = processes.of_object.get_mut(*index).filter(|place| place.is_none()) else {
                    continue;
                };
                let held = process.and_then(|process| memory.get(process));
                if held.is_none_or(|held| overlaps(held, object.start, object.end)) {
                    process = None;
                }
                let process = *process.get_or_insert_with(|| {
                    memory.push(BTreeMap::new());
                    processes.lines.push(wave.line);
                    memory.len() - 1
                });
                *place = Some(process);
                if let Some(held) = memory.get_mut(process).filter(|_| object.start < object.end) {
                    held.insert(object.start, object.end);
                }
            }
            current = process.or(current);
            processes.of_wave.push(current.unwrap_or(0));
        }
        // Reports before the first one with a code object belong to its process.
        if let (Some(line), Some(wave)) = (processes.lines.first_mut(), log.waves.first()) {
            *line = wave.line;
        }
        processes
    }

    /// Whether the log has several processes.
    pub(super) fn are_several(&self) -> bool {
        self.lines.len() > 1
    }

    /// The process of a wave.
    pub(super) fn of_wave(&self, index: usize) -> usize {
        self.of_wave.get(index).copied().unwrap_or(0)
    }

    /// The process of a code object; `None`: any process, since no wave's report names it.
    pub(super) fn of_object(&self, index: usize) -> Option<usize> {
        self.of_object.get(index).copied().flatten().filter(|_| self.are_several())
    }
}

/// Whether a range contains code; `held`: disjoint ranges, start to end.
fn overlaps(held: &BTreeMap<u64, u64>, start: u64, end: u64) -> bool {
    let below = held.range(..end.max(start)).next_back();
    start < end && below.is_some_and(|(_, other)| *other > start)
}

#[cfg(test)]
mod tests;
