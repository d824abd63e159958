//! Reads waves' words in advance on a thread.

use std::sync::mpsc::{self, Receiver};
use std::{thread, vec};

use super::block::Block;
use super::memory::CoreMemory;
use super::wave::Words;

/// Minimum number of waves for a thread; for fewer it costs more than it saves.
const WORTH_A_THREAD: usize = 512;

/// Number of waves in one batch: 26 KB.
const BATCH: usize = 128;

/// Maximum number of waiting batches, so that memory does not grow with the number of waves.
const WAITING: usize = 8;

/// The words of waves, in the waves' order.
///
/// A wave's words need one read of the file, in a page of their own. The read takes as long as their evaluation: one
/// thread reads while another one evaluates.
#[derive(Debug)]
pub(super) struct ReadAhead<'m> {
    memory: &'m CoreMemory,
    batches: Receiver<Vec<Words>>,
    batch: vec::IntoIter<Words>,
}

impl<'m> ReadAhead<'m> {
    /// Reads the words of `count` blocks while `work` requests them in order.
    pub(super) fn read<'b>(
        memory: &'m CoreMemory,
        count: usize,
        blocks: impl Iterator<Item = &'b Block> + Send,
        work: impl FnOnce(&mut Self),
    ) {
        thread::scope(|scope| {
            let (sender, batches) = mpsc::sync_channel(WAITING);
            let mut ahead = Self { memory, batches, batch: Vec::new().into_iter() };
            if count >= WORTH_A_THREAD {
                let mut blocks = blocks.fuse();
                let read = move || {
                    loop {
                        let batch: Vec<&Block> = blocks.by_ref().take(BATCH).collect();
                        if batch.is_empty() || sender.send(Words::read_all(memory, &batch)).is_err() {
                            return;
                        }
                    }
                };
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
            match self.batches.recv() {
                Ok(batch) => self.batch = batch.into_iter(),
                Err(_) => return Words::read(self.memory, block),
            }
        }
    }
}

#[cfg(test)]
#[path = "tests/read_ahead.rs"]
mod tests;
