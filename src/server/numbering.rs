//! The client's own numbers of threads, and the server's knowledge of the client's selected thread.
//!
//! Thread ids of the protocol are fixed; both debuggers have their own numbers. gdb numbers the list of threads from 1.
//! LLDB numbers a thread at its first appearance: first the stopped one at attach, then the others in the order of the
//! list. Texts and typed commands use the client's numbers; packets use the protocol's.

use super::error::{NO_WAVE, PacketError};
use super::state::State;
use super::threads::Thread;

impl State {
    /// The client's number of a thread.
    pub(super) fn shown(&self, thread: Thread) -> u64 {
        let Some(index) = self.threads.index(thread) else { return 0 };
        let index = match self.counts() {
            Counts::AsListed => index,
            Counts::StoppedFirst(first) if index == first => 0,
            Counts::StoppedFirst(first) if index < first => index + 1,
            Counts::StoppedFirst(_) => index,
            Counts::ById => return self.number(thread),
        };
        index as u64 + 1
    }

    /// The thread of a client's number.
    ///
    /// # Errors
    /// The thread does not exist.
    pub(super) fn of_shown(&self, number: u64) -> Result<Thread, PacketError> {
        let place = number.checked_sub(1).and_then(|place| usize::try_from(place).ok());
        let index = match self.counts() {
            Counts::ById => return self.thread_of(number),
            Counts::AsListed => place,
            Counts::StoppedFirst(first) => place.map(|place| match place.checked_sub(1) {
                None => first,
                Some(before) if before < first => before,
                Some(_) => place,
            }),
        };
        let thread = index.and_then(|index| self.threads.all().get(index)).copied();
        thread.ok_or_else(|| PacketError::new(NO_WAVE, format!("no thread {number}")))
    }

    /// Whether [`State::selected`] is the client's selected thread, or the one that the user named for all commands.
    pub(super) fn knows_selected(&self) -> bool {
        if self.threads.all().len() == 1 {
            return true;
        }
        match self.counts() {
            Counts::AsListed => self.selection.is_certain(),
            Counts::StoppedFirst(_) => self.is_chosen,
            // A client that is neither gdb nor LLDB names its thread by `Hg`.
            Counts::ById => true,
        }
    }

    fn counts(&self) -> Counts {
        if self.facade().is_lldb() {
            Counts::StoppedFirst(self.threads.index(self.threads.first()).unwrap_or(0))
        } else if self.is_gdb() {
            Counts::AsListed
        } else {
            Counts::ById
        }
    }
}

/// The client's way to count threads.
enum Counts {
    /// gdb: the position in the list.
    AsListed,
    /// LLDB: the same, except that the thread at this position is first.
    StoppedFirst(usize),
    /// Another client: by the ids of the protocol.
    ById,
}
