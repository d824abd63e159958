//! Which wave the user looks at: what `monitor` commands and our own packets are about when they do not say.
//!
//! `Hg` does not tell. gdb moves it for its own needs (after `info threads` it stands at the last thread that was
//! listed) and sends it only when it has something to read, so that `thread 3` with everything cached sends none. What
//! `thread 3` does send is `T3`, to see whether the thread is alive. So do `thread apply all` for each thread, after it
//! read the list of threads; when it has been through all of them the user is where they were before. Clients that
//! are not gdb say it with `Hg`.

use crate::units::WaveId;

/// What is known of the user's selection.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    wave: WaveId,
    /// Whether the list of threads was the last thing that was read.
    listed: bool,
    walk: Option<Walk>,
}

/// A walk over all threads, from one end of the list to the other.
#[derive(Clone, Debug)]
struct Walk {
    /// The wave that was selected before it.
    before: WaveId,
    /// Index of the wave that comes next.
    next: usize,
    /// Whether it goes down, as `thread apply all` does unless it is told `-ascending`.
    down: bool,
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
            _ if !listed => None,
            _ if waves.last() == Some(&wave) => Some(Walk { before: self.wave, next: last, down: true }),
            _ if waves.first() == Some(&wave) => Some(Walk { before: self.wave, next: 0, down: false }),
            _ => None,
        };
        self.wave = wave;
        if let Some(mut walk) = walk {
            if walk.next == if walk.down { 0 } else { last } {
                self.wave = walk.before;
            } else {
                walk.next = if walk.down { walk.next - 1 } else { walk.next + 1 };
                self.walk = Some(walk);
            }
        }
    }
}

#[cfg(test)]
#[path = "selection_tests.rs"]
mod tests;
