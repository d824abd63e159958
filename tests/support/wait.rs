//! Waits until a state is reached: the only clock of the tests (`suite/layering/clocks.rs`).

use std::fmt::Display;
use std::time::{Duration, Instant};

/// The end of every wait: only a hang takes this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Asks again until the state is reached.
pub(crate) fn until<T>(awaited: impl Display, state: impl FnMut() -> Option<T>) -> T {
    patiently(state).unwrap_or_else(|| panic!("not after {} s: {awaited}", PATIENCE.as_secs()))
}

/// Asks again until the state is reached; `None`: it is not reached.
pub(crate) fn patiently<T>(mut state: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(reached) = state() {
            return Some(reached);
        }
        std::thread::sleep(Duration::from_millis(3));
    }
    None
}
