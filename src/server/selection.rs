//! The user's selected thread: the subject of `monitor` commands and of our own packets that name none.
//!
//! `Hg` does not reveal it. gdb moves it for its own needs (after `info threads` it stays at the last listed thread).
//! gdb sends it only before a read: `thread 3` with everything cached sends none. `thread 3` does send `T3`, to check
//! whether the thread is alive. `thread apply all` sends that too for each thread, the last one first, after it read
//! the list of threads; at the end the earlier thread is selected again. A user who selects all threads in the same
//! order sends other packets in between, which end the sequence.

use super::threads::Thread;

/// The state of the user's selection.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    thread: Thread,
    /// Whether gdb's selected thread is certain: `thread N` and `thread apply N` send the same packet, and after the
    /// latter gdb returns without a packet.
    is_certain: bool,
    /// Whether the list of threads was the last read.
    listed: bool,
    walk: Option<ThreadCursor>,
}

/// A sequence over all threads, from the end of the list to its beginning, by `thread apply all`.
#[derive(Clone, Debug)]
struct ThreadCursor {
    /// The selected thread before the sequence.
    before: Thread,
    /// Index of the next thread.
    next: usize,
}

impl Selection {
    /// The selection of a stop's thread.
    pub(super) fn new(thread: Thread) -> Self {
        Self { thread, is_certain: true, listed: false, walk: None }
    }

    /// The thread.
    pub(super) fn thread(&self) -> Thread {
        self.thread
    }

    /// Whether gdb has certainly selected that thread.
    pub(super) fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// Records the explicit selection by the user or the server.
    pub(super) fn choose(&mut self, thread: Thread) {
        *self = Self::new(thread);
    }

    /// Records that gdb read the list of threads.
    pub(super) fn listed(&mut self) {
        self.listed = true;
    }

    /// Records that gdb checked whether a thread is alive.
    pub(super) fn asked(&mut self, thread: Thread, threads: &[Thread]) {
        let listed = std::mem::take(&mut self.listed);
        let last = threads.len().saturating_sub(1);
        let walk = match self.walk.take() {
            Some(walk) if threads.get(walk.next) == Some(&thread) => Some(walk),
            _ if listed && threads.last() == Some(&thread) => {
                Some(ThreadCursor { before: self.thread, next: last })
            }
            _ => None,
        };
        self.is_certain &= self.thread == thread && walk.is_none();
        self.thread = thread;
        if let Some(mut walk) = walk {
            match walk.next.checked_sub(1) {
                Some(next) => {
                    walk.next = next;
                    self.walk = Some(walk);
                }
                None => self.thread = walk.before,
            }
        }
    }

    /// Records a user's command about the thread: the apparent sequence was the user's own selection.
    pub(super) fn used(&mut self) {
        self.walk = None;
    }
}

#[cfg(test)]
#[path = "selection_tests.rs"]
mod tests;
