//! Waves' words, read ahead of what is made of them.

use std::sync::mpsc::{self, Receiver};
use std::{thread, vec};

use super::block::Block;
use super::memory::CoreMemory;
use super::wave::Words;

/// Below so many waves a thread costs more than it saves.
const WORTH_A_THREAD: usize = 512;

/// Waves whose words are handed over at once: 26 KB.
const BATCH: usize = 128;

/// Batches that wait at the most, so that memory does not go with the number of waves.
const WAITING: usize = 8;

/// The words of waves, in the waves' order.
///
/// A wave's words are one read of the file, in a page of their own, which takes as long as all that is made of them: a
/// thread reads while another one works.
#[derive(Debug)]
pub(super) struct ReadAhead<'m> {
    memory: &'m CoreMemory,
    batches: Receiver<Vec<Words>>,
    batch: vec::IntoIter<Words>,
}

impl<'m> ReadAhead<'m> {
    /// Reads the words of `blocks`, which are `count`, while `work` asks for each of them in turn.
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
                // Where no thread can be had, nothing comes.
                let _ = thread::Builder::new().spawn_scoped(scope, read);
            } else {
                drop(sender);
            }
            work(&mut ahead);
        });
    }

    /// Those of the next block, which is `block`.
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
