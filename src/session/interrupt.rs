//! Interruption of a session's work from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that a session checks at every wave and every read of memory. It cannot be cleared.
///
/// Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Makes every later read of the session fail with [`ReadError::Interrupted`](super::ReadError::Interrupted).
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the session must stop.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
