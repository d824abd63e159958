//! Rate-limited warnings: a flood of clients must not become a flood of lines.

use std::time::{Duration, Instant};

/// The least time between two lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// Warns at once, and then every ten seconds at most.
#[derive(Debug, Default)]
pub(super) struct Complaint {
    last: Option<Instant>,
    withheld: u64,
}

impl Complaint {
    /// Logs a warning, or counts it for the next one.
    pub(super) fn warn(&mut self, words: &str) {
        if self.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            self.withheld += 1;
            return;
        }
        match self.withheld {
            0 => log::warn!("{words}"),
            more => log::warn!("{words} ({more} more such events since the last warning)"),
        }
        (self.last, self.withheld) = (Some(Instant::now()), 0);
    }
}
