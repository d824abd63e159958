//! Cache of decoded instructions: `x/10i` asks ten times.
//!
//! Found by processor and address, and only as good as its bytes: a client's what-if writes change them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Instruction, Machine};

/// Blocks that are kept: each is at most 64 KiB of code, and some twenty times as much text.
pub const MAX_KEPT: usize = 16;

/// Code that was decoded in one go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The processor.
    pub machine: Machine,
    /// Where it lies.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its instructions, one after the other.
    pub instructions: Vec<Instruction>,
    /// The program that decoded it: `llvm-objdump-22`.
    pub tool: String,
}

impl Block {
    /// The instructions from the one that begins at an address on; `None` where none does.
    #[must_use]
    pub fn from(&self, address: u64) -> Option<&[Instruction]> {
        let at = self.instructions.binary_search_by_key(&address, |instruction| instruction.address).ok()?;
        self.instructions.get(at..)
    }
}

/// Blocks, the one used last at the front.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<VecDeque<Arc<Block>>>);

impl Kept {
    pub(super) fn at(&self, machine: &Machine, address: u64) -> Option<Arc<Block>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |block: &Arc<Block>| block.machine == *machine && block.from(address).is_some();
        let index = kept.iter().position(is_it)?;
        let block = kept.remove(index)?;
        kept.push_front(Arc::clone(&block));
        Some(block)
    }

    /// Keeps a block in place of those of the same address: their bytes were others.
    pub(super) fn keep(&self, block: Block) -> Arc<Block> {
        let block = Arc::new(block);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|other| other.machine != block.machine || other.from(block.address).is_none());
        kept.push_front(Arc::clone(&block));
        kept.truncate(MAX_KEPT);
        block
    }
}
