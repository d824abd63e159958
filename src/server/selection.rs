//! Which wave the user looks at: what `monitor` commands and our own packets are about when they do not say.
//!
//! `Hg` does not tell. gdb moves it for its own needs (after `info threads` it stands at the last thread that was
//! listed) and sends it only when it has something to read, so that `thread 3` with everything cached sends none. What
//! `thread 3` does send is `T3`, to see whether the thread is alive. So does `thread apply all` for each thread, the
//! last one first, after it read the list of threads; when it has been through all of them the user is where they were
//! before. A user who goes through the threads the same way asks something in between, and that ends the walk.
//! Clients that are not gdb say it with `Hg`.

use crate::units::WaveId;

/// What is known of the user's selection.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    wave: WaveId,
    /// Whether the list of threads was the last thing that was read.
    listed: bool,
    walk: Option<Walk>,
}

/// A walk over all threads, from the end of the list to its beginning, as `thread apply all` does.
#[derive(Clone, Debug)]
struct Walk {
    /// The wave that was selected before it.
    before: WaveId,
    /// Index of the wave that comes next.
    next: usize,
}

impl Selection {
    /// The wave that a stop names.
    pub(super) fn new(wave: WaveId) -> Self {
        Self { wave, listed: false, walk: None }
    }

    /// The wave.
    pub(super) fn wave(&self) -> WaveId {
        self.wave
    }

    /// The user or the server chose it in so many words.
    pub(super) fn choose(&mut self, wave: WaveId) {
        *self = Self::new(wave);
    }

    /// gdb read the list of threads.
    pub(super) fn listed(&mut self) {
        self.listed = true;
    }

    /// gdb asked whether that wave is alive.
    pub(super) fn asked(&mut self, wave: WaveId, waves: &[WaveId]) {
        let listed = std::mem::take(&mut self.listed);
        let last = waves.len().saturating_sub(1);
        let walk = match self.walk.take() {
            Some(walk) if waves.get(walk.next) == Some(&wave) => Some(walk),
            _ if listed && waves.last() == Some(&wave) => Some(Walk { before: self.wave, next: last }),
            _ => None,
        };
        self.wave = wave;
        if let Some(mut walk) = walk {
            match walk.next.checked_sub(1) {
                Some(next) => {
                    walk.next = next;
                    self.walk = Some(walk);
                }
                None => self.wave = walk.before,
            }
        }
    }

    /// The user asked something about the wave: if this was a walk, it was theirs.
    pub(super) fn used(&mut self) {
        self.walk = None;
    }
}

#[cfg(test)]
#[path = "selection_tests.rs"]
mod tests;
