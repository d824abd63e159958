//! Processes of a log's reports, by their code objects.
//!
//! A log may hold the reports of several processes: ranks that wrote into one file, or one run after another. Each process has
//! its own code at an address. Where two code objects of a log lie at one address they are of two processes, and so are the
//! waves whose reports name them. A report that names none is of the process of the report before it.

use std::collections::BTreeMap;

use super::read::Log;

/// Processes of waves and code objects.
#[derive(Debug, Default)]
pub(super) struct Processes {
    /// The lines at which the first report of each begins.
    pub(super) lines: Vec<usize>,
    of_wave: Vec<usize>,
    of_object: Vec<Option<usize>>,
}

impl Processes {
    /// Separates the processes of a log's waves and code objects.
    pub(super) fn of(log: &Log) -> Self {
        let mut processes = Self { of_object: vec![None; log.objects.len()], ..Self::default() };
        // Of each process the code objects that it has, which lie apart: by address, the end and the index.
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
        // Reports that name nothing before the first that does are of its process.
        if let (Some(line), Some(wave)) = (processes.lines.first_mut(), log.waves.first()) {
            *line = wave.line;
        }
        processes
    }

    /// Whether there are several.
    pub(super) fn are_several(&self) -> bool {
        self.lines.len() > 1
    }

    /// The process of a wave.
    pub(super) fn of_wave(&self, index: usize) -> usize {
        self.of_wave.get(index).copied().unwrap_or(0)
    }

    /// The process of a code object; `None`: any, no wave's report names it.
    pub(super) fn of_object(&self, index: usize) -> Option<usize> {
        self.of_object.get(index).copied().flatten().filter(|_| self.are_several())
    }
}

/// Whether something lies in a range; `held`: starts with ends, which lie apart.
fn overlaps(held: &BTreeMap<u64, u64>, start: u64, end: u64) -> bool {
    let below = held.range(..end.max(start)).next_back();
    start < end && below.is_some_and(|(_, other)| *other > start)
}

#[cfg(test)]
mod tests;
