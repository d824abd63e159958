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
    pub(super) fn warn(&mut self, now: Instant, words: &str) {
        if let Some(text) = self.due(now, words) {
            log::warn!("{text}");
        }
    }

    /// The warning to log now.
    fn due(&mut self, now: Instant, words: &str) -> Option<String> {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) < INTERVAL) {
            self.withheld += 1;
            return None;
        }
        let text = match self.withheld {
            0 => words.to_owned(),
            more => format!("{words} ({more} more such events since the last warning)"),
        };
        (self.last, self.withheld) = (Some(now), 0);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    #[test]
    fn a_flood_is_one_line_in_ten_seconds() {
        let (mut complaint, start) = (Complaint::default(), Clock::default().now());
        let mut lines = |second| complaint.due(start + Duration::from_secs(second), "a client is lost");
        let first = (0..40).filter_map(|_| lines(0)).collect::<Vec<_>>();
        assert_eq!(first, ["a client is lost"]);
        assert_eq!(lines(9), None);
        assert_eq!(lines(10).unwrap(), "a client is lost (40 more such events since the last warning)");
        assert_eq!(lines(21).unwrap(), "a client is lost");
    }
}
