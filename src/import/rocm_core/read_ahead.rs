//! Reads waves' words in advance on a thread.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::{thread, vec};

use super::block::Block;
use super::memory::CoreMemory;
use super::wave::Words;

/// Minimum number of waves for a thread; for fewer it costs more than it saves.
const WORTH_A_THREAD: usize = 512;

/// Number of waves in one batch: 26 KB.
const BATCH: usize = 128;

/// Maximum number of waiting batches of a reader, so that memory does not grow with the number of waves.
const WAITING: usize = 8;

/// A batch's number, and its words.
type Numbered = (usize, Vec<Words>);

/// The words of waves, in the waves' order.
///
/// A wave's words need one read of the file, in a page of their own. The read takes as long as their evaluation: one
/// thread reads while another one evaluates. The evaluating thread reads, too, instead of waiting for the other one.
#[derive(Debug)]
pub(super) struct ReadAhead<'m, 'b> {
    unread: &'m Unread<'m, 'b>,
    batches: Receiver<Numbered>,
    /// Batches that are read before an earlier one.
    early: BTreeMap<usize, Vec<Words>>,
    /// Number of the next batch.
    next: usize,
    batch: vec::IntoIter<Words>,
}

/// The blocks whose words are to be read; each batch has one reader.
#[derive(Debug)]
struct Unread<'m, 'b> {
    memory: &'m CoreMemory,
    blocks: Vec<&'b Block>,
    /// Number of the first batch without a reader.
    first: AtomicUsize,
}

impl Unread<'_, '_> {
    /// Reads the first batch without a reader; `None`: all have one.
    fn read(&self) -> Option<Numbered> {
        let number = self.first.fetch_add(1, Ordering::Relaxed);
        let blocks = self.blocks.chunks(BATCH).nth(number)?;
        Some((number, Words::read_all(self.memory, blocks)))
    }
}

impl<'b> ReadAhead<'_, 'b> {
    /// Reads the words of blocks while `work` requests them in order.
    pub(super) fn read(
        memory: &CoreMemory,
        blocks: impl Iterator<Item = &'b Block>,
        work: impl FnOnce(&mut ReadAhead<'_, 'b>),
    ) {
        let unread = Unread { memory, blocks: blocks.collect(), first: AtomicUsize::new(0) };
        thread::scope(|scope| {
            let (sender, batches) = mpsc::sync_channel(WAITING);
            let unread = &unread;
            let mut ahead =
                ReadAhead { unread, batches, early: BTreeMap::new(), next: 0, batch: Vec::new().into_iter() };
            if unread.blocks.len() >= WORTH_A_THREAD {
                let read = move || while unread.read().is_some_and(|batch| sender.send(batch).is_ok()) {};
                // Without a thread the channel stays empty.
                let _ = thread::Builder::new().spawn_scoped(scope, read);
            } else {
                drop(sender);
            }
            work(&mut ahead);
        });
    }

    /// The words of the next block, which must be `block`.
    pub(super) fn next(&mut self, block: &Block) -> Words {
        loop {
            if let Some(words) = self.batch.next() {
                return words;
            }
            match self.batch() {
                Some(batch) => self.batch = batch.into_iter(),
                None => return Words::read(self.unread.memory, block),
            }
        }
    }

    /// The next batch; `None`: its reader has ended without it.
    fn batch(&mut self) -> Option<Vec<Words>> {
        loop {
            self.early.extend(self.batches.try_iter());
            if let Some(batch) = self.early.remove(&self.next) {
                self.next += 1;
                return Some(batch);
            }
            let own = if self.early.len() < WAITING { self.unread.read() } else { None };
            let (number, batch) = match own {
                Some(own) => own,
                None => self.batches.recv().ok()?,
            };
            self.early.insert(number, batch);
        }
    }
}

#[cfg(test)]
#[path = "tests/read_ahead.rs"]
mod tests;
