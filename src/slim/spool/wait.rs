//! Bounds the total waiting time for a writer, not each wait: a slow trickle ends like a stall.

use std::time::Duration;

/// The minimum rate of a writer in bytes a second, far below disks and pipes; a lower mean rate is a stall.
pub(super) const SLOW: u64 = 4 << 20;

/// Time spent waiting, beyond the time that the received bytes allow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    limit: Duration,
    spent: Duration,
}

impl Waiting {
    /// The state before any waiting.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, spent: Duration::ZERO }
    }

    pub(super) fn left(&self) -> Duration {
        self.limit.saturating_sub(self.spent)
    }

    /// Adds time without available bytes.
    pub(super) fn waited(&mut self, time: Duration) {
        self.spent = self.spent.saturating_add(time);
    }

    /// Adds received bytes, which pay for past waiting only, never for future waiting.
    pub(super) fn came(&mut self, bytes: u64) {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(SLOW);
        let paid = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        self.spent = self.spent.saturating_sub(paid);
    }
}

#[cfg(test)]
mod tests {
    //! The tests use given times, no clock.

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);
    const SECOND: Duration = Duration::from_secs(1);

    /// The time until the limit ends a writer that sends `bytes` after each pause.
    fn borne(pause: Duration, bytes: u64) -> Option<Duration> {
        let (mut waiting, mut time) = (Waiting::new(LIMIT), Duration::ZERO);
        for _ in 0..1_000_000 {
            if waiting.left() < pause {
                return Some(time + waiting.left());
            }
            waiting.waited(pause);
            time += pause;
            waiting.came(bytes);
        }
        None
    }

    #[test]
    fn a_byte_now_and_then_is_no_progress() {
        assert_eq!(borne(LIMIT, 1), Some(LIMIT + Duration::from_nanos(1_000_000_000 / SLOW)));
        for pause in [59 * SECOND, SECOND, Duration::from_millis(1)] {
            let time = borne(pause, 1).unwrap();
            assert!(time >= LIMIT && time < LIMIT + SECOND, "{pause:?}: {time:?}");
        }
    }

    #[test]
    fn who_delivers_steadily_is_never_given_up() {
        // A disk at 50 MB/s in pieces of a pipe, and a device copied in pieces of 256 MiB with pauses of seconds.
        assert_eq!(borne(Duration::from_micros(1300), 64 << 10), None);
        assert_eq!(borne(4 * SECOND, 256 << 20), None);
        assert_eq!(borne(SECOND, SLOW), None);
        // Half of the minimum rate: two seconds of waiting for each paid second.
        assert_eq!(borne(SECOND, SLOW / 2), Some(120 * SECOND - SECOND / 2));
    }

    #[test]
    fn what_came_fast_pays_for_no_stall_to_come() {
        let mut waiting = Waiting::new(LIMIT);
        waiting.came(u64::MAX);
        assert_eq!(waiting.left(), LIMIT);
        waiting.waited(20 * SECOND);
        waiting.came(10 * SLOW);
        assert_eq!(waiting.left(), 50 * SECOND);
        waiting.waited(Duration::MAX);
        assert_eq!(waiting.left(), Duration::ZERO);
    }
}
