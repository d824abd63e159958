//! How long a writer is waited for: in all, not each time, so that one who trickles is given up as one who stops is.

use std::time::Duration;

/// Bytes a second that a writer may take its time for. Disks and pipes are far above; who is below, on the whole, stalls.
pub(super) const SLOW: u64 = 4 << 20;

/// Time that was spent waiting, beyond what the bytes that came may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    limit: Duration,
    spent: Duration,
}

impl Waiting {
    /// Nothing was waited for yet.
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, spent: Duration::ZERO }
    }

    /// How much longer is waited.
    pub(super) fn left(&self) -> Duration {
        self.limit.saturating_sub(self.spent)
    }

    /// So long nothing was there to be read.
    pub(super) fn waited(&mut self, time: Duration) {
        self.spent = self.spent.saturating_add(time);
    }

    /// So many bytes came, which pay for waiting that was; never for waiting that is to be.
    pub(super) fn came(&mut self, bytes: u64) {
        let nanoseconds = u128::from(bytes) * 1_000_000_000 / u128::from(SLOW);
        let paid = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        self.spent = self.spent.saturating_sub(paid);
    }
}

#[cfg(test)]
mod tests {
    //! Times are told, not taken.

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);
    const SECOND: Duration = Duration::from_secs(1);

    /// How long a writer is borne that sends so many bytes after each pause.
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
        // A disk at 50 MB/s in pieces of a pipe, and a device that is copied in pieces of 256 MiB with pauses of seconds.
        assert_eq!(borne(Duration::from_micros(1300), 64 << 10), None);
        assert_eq!(borne(4 * SECOND, 256 << 20), None);
        assert_eq!(borne(SECOND, SLOW), None);
        // Half of what is slow: two seconds for each that is paid.
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
