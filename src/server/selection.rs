//! The user's selected thread: the subject of `monitor` commands and of our own packets that name none.
//!
//! `Hg` does not reveal it. gdb moves it for its own needs (after `info threads` it stays at the last listed thread)
//! and sends it only before a read, so that `thread 3` with everything cached sends none. `thread 3` does send `T3`,
//! to check whether the thread is alive. `thread apply all` sends that too for each thread, the last one first, after
//! it read the list of threads; at the end the earlier thread is selected again. A user who selects all threads in
//! the same order sends other packets in between, and that ends the walk. Clients other than gdb report the selection
//! with `Hg`.

use super::threads::Thread;

/// The state of the user's selection.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    thread: Thread,
    /// Whether gdb can have no other thread selected: `thread N` and `thread apply N` send the same packet, and after
    /// the latter gdb goes back without a packet.
    is_certain: bool,
    /// Whether the list of threads was the last read.
    listed: bool,
    walk: Option<ThreadCursor>,
}

/// A walk over all threads, from the end of the list to its beginning, by `thread apply all`.
#[derive(Clone, Debug)]
struct ThreadCursor {
    /// The thread that was selected before it.
    before: Thread,
    /// Index of the next thread.
    next: usize,
}

impl Selection {
    /// The thread that a stop names.
    pub(super) fn new(thread: Thread) -> Self {
        Self { thread, is_certain: true, listed: false, walk: None }
    }

    /// The thread.
    pub(super) fn thread(&self) -> Thread {
        self.thread
    }

    /// Whether gdb has that thread selected without doubt.
    pub(super) fn is_certain(&self) -> bool {
        self.is_certain
    }

    /// The user or the server selected the thread explicitly.
    pub(super) fn choose(&mut self, thread: Thread) {
        *self = Self::new(thread);
    }

    /// gdb read the list of threads.
    pub(super) fn listed(&mut self) {
        self.listed = true;
    }

    /// gdb checked whether that thread is alive.
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

    /// The user sent a command about the thread: an apparent walk was the user's own selection.
    pub(super) fn used(&mut self) {
        self.walk = None;
    }
}

#[cfg(test)]
#[path = "selection_tests.rs"]
mod tests;
