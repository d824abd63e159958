//! Which thread the user looks at: what `monitor` commands and our own packets are about when they do not say.
//!
//! `Hg` does not tell. gdb moves it for its own needs (after `info threads` it stands at the last thread that was
//! listed) and sends it only when it has something to read, so that `thread 3` with everything cached sends none. What
//! `thread 3` does send is `T3`, to see whether the thread is alive. So does `thread apply all` for each thread, the
//! last one first, after it read the list of threads; when it has been through all of them the user is where they were
//! before. A user who goes through the threads the same way asks something in between, and that ends the walk.
//! Clients that are not gdb say it with `Hg`.

use super::threads::Thread;

/// What is known of the user's selection.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    thread: Thread,
    /// Whether gdb can have no other thread selected: `thread N` and `thread apply N` send the same packet, and after the latter
    /// gdb goes back without a packet.
    is_certain: bool,
    /// Whether the list of threads was the last thing that was read.
    listed: bool,
    walk: Option<Walk>,
}

/// A walk over all threads, from the end of the list to its beginning, as `thread apply all` does.
#[derive(Clone, Debug)]
struct Walk {
    /// The thread that was selected before it.
    before: Thread,
    /// Index of the thread that comes next.
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

    /// The user or the server chose it in so many words.
    pub(super) fn choose(&mut self, thread: Thread) {
        *self = Self::new(thread);
    }

    /// gdb read the list of threads.
    pub(super) fn listed(&mut self) {
        self.listed = true;
    }

    /// gdb asked whether that thread is alive.
    pub(super) fn asked(&mut self, thread: Thread, threads: &[Thread]) {
        let listed = std::mem::take(&mut self.listed);
        let last = threads.len().saturating_sub(1);
        let walk = match self.walk.take() {
            Some(walk) if threads.get(walk.next) == Some(&thread) => Some(walk),
            _ if listed && threads.last() == Some(&thread) => Some(Walk { before: self.thread, next: last }),
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

    /// The user asked something about the thread: if this was a walk, it was theirs.
    pub(super) fn used(&mut self) {
        self.walk = None;
    }
}

#[cfg(test)]
#[path = "selection_tests.rs"]
mod tests;
