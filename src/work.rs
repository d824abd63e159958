//! Counts of work on input, the same on every machine: the tests of hostile files compare them with limits, where a clock
//! would depend on other work. With `LANESCOPE_STATS=1` a command prints them as its last line of standard error.
//!
//! A thread counts for itself, and adds its counts to those of the process when it ends.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The kinds of counted work.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// DIEs of code objects whose abbreviation was read.
    Dies,
    /// Rows of line tables.
    Rows,
    /// Units of expressions and call frame instructions: [`Budget::used`](crate::dwarf::Budget::used).
    Units,
    /// Steps of searches: instructions visited, ranges compared.
    Steps,
    /// Reads of files of captures.
    Reads,
    /// Bytes that those reads and the readers of texts passed.
    Bytes,
}

/// Their names, in the same order.
const NAMES: [&str; 6] = ["dies", "rows", "units", "steps", "reads", "bytes"];

/// The sums of ended threads.
static ENDED: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];

#[derive(Default)]
struct OfThread([Cell<u64>; NAMES.len()]);

impl Drop for OfThread {
    fn drop(&mut self) {
        for (sum, own) in ENDED.iter().zip(&self.0) {
            sum.fetch_add(own.get(), Ordering::Relaxed);
        }
    }
}

thread_local! {
    static OWN: OfThread = OfThread::default();
}

/// Adds to a count of this thread.
pub(crate) fn count(work: Count, amount: u64) {
    // A thread that ends has no counts any more.
    let _ = OWN.try_with(|own| {
        if let Some(count) = own.0.get(work as usize) {
            count.set(count.get().saturating_add(amount));
        }
    });
}

/// Counts a read of a capture's file.
pub(crate) fn count_read(bytes: usize) {
    count(Count::Reads, 1);
    count(Count::Bytes, bytes as u64);
}

/// The count of this thread so far.
#[must_use]
pub fn done(work: Count) -> u64 {
    OWN.with(|own| own.0.get(work as usize).map_or(0, Cell::get))
}

/// `work: dies 12, rows 0, ...` of the process, if `LANESCOPE_STATS` asks for it. Threads that still run are not in it.
pub(crate) fn stats() -> Option<String> {
    std::env::var_os("LANESCOPE_STATS")?;
    let counts: Vec<String> = OWN.with(|own| {
        let sums = ENDED
            .iter()
            .zip(&own.0)
            .map(|(ended, own)| ended.load(Ordering::Relaxed).saturating_add(own.get()));
        NAMES.iter().zip(sums).map(|(name, sum)| format!("{name} {sum}")).collect()
    });
    Some(format!("work: {}", counts.join(", ")))
}
