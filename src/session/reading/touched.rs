//! Record of the captured memory that a reader read: the sources of its answers.

use std::collections::{BTreeMap, HashMap};

use crate::units::WaveId;

/// Bytes of a page, the unit of the record: a user's next read is often close to the last one.
pub const PAGE: u64 = 4096;

/// Memory that was read or requested, captured or not.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// Runs of pages by first page, with the last one; they neither overlap nor touch.
    runs: BTreeMap<u64, u64>,
    pages: u64,
    private: HashMap<WaveId, u64>,
}

impl Touched {
    /// Records the pages of `length` bytes of global memory.
    pub(in crate::session) fn global(&mut self, address: u64, length: u64) {
        let Some(more) = length.checked_sub(1) else { return };
        let (mut first, mut last) = (address / PAGE, address.saturating_add(more) / PAGE);
        let below = self.runs.range(..=first).next_back();
        if let Some((start, end)) = below.filter(|(_, end)| end.saturating_add(1) >= first) {
            if *end >= last {
                return;
            }
            first = *start;
        }
        while let Some((start, end)) = self.runs.range(first..=last.saturating_add(1)).next() {
            let (start, end) = (*start, *end);
            last = last.max(end);
            self.pages -= end - start + 1;
            self.runs.remove(&start);
        }
        self.pages += last - first + 1;
        self.runs.insert(first, last);
    }

    /// Records private memory of a wave up to an end address, in the backing layout.
    pub(in crate::session) fn private(&mut self, wave: WaveId, end: u64) {
        let known = self.private.entry(wave).or_default();
        *known = end.max(*known);
    }

    /// Number of recorded pages of global memory.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Runs of global memory by first and last address, in order.
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.runs
            .iter()
            .map(|(first, last)| (first * PAGE, last.saturating_mul(PAGE).saturating_add(PAGE - 1)))
    }

    /// The end of the recorded private memory of a wave, in the backing layout.
    #[must_use]
    pub fn private_end(&self, wave: WaveId) -> u64 {
        self.private.get(&wave).copied().unwrap_or(0)
    }
}
