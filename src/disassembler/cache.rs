//! Cache of decoded instructions: a client's `x/10i` requests one instruction ten times.
//!
//! Blocks are found by processor and address, and valid only for their bytes: a client's what-if writes change them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Instruction, Machine};

/// Maximum number of kept blocks.
pub const MAX_KEPT: usize = 256;
/// Maximum bytes of code of all kept blocks; their text takes about twenty times that.
const MAX_KEPT_CODE: usize = 1 << 20;

/// A run of decoded code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The processor.
    pub machine: Machine,
    /// Address of the first byte.
    pub address: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its instructions in address order.
    pub instructions: Vec<Instruction>,
    /// The program that decoded it: `llvm-objdump-22`.
    pub tool: String,
}

impl Block {
    /// Returns the instructions from the one that begins at `address`; `None` without such an instruction.
    #[must_use]
    pub fn from(&self, address: u64) -> Option<&[Instruction]> {
        let at = self.instructions.binary_search_by_key(&address, |instruction| instruction.address).ok()?;
        self.instructions.get(at..)
    }

    /// Returns the bytes of one of its instructions.
    #[must_use]
    pub fn bytes_of(&self, instruction: &Instruction) -> &[u8] {
        let from = instruction.address.checked_sub(self.address).and_then(|from| usize::try_from(from).ok());
        let bytes = from.and_then(|from| self.bytes.get(from..)?.get(..usize::from(instruction.size)));
        bytes.unwrap_or_default()
    }
}

/// Blocks, the most recently used first.
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

    /// Keeps a block and drops the one at the same address, whose bytes differ.
    pub(super) fn keep(&self, block: Block) -> Arc<Block> {
        let block = Arc::new(block);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|other| other.machine != block.machine || other.from(block.address).is_none());
        kept.push_front(Arc::clone(&block));
        kept.truncate(MAX_KEPT);
        let mut code = 0usize;
        kept.retain(|block| {
            code = code.saturating_add(block.bytes.len());
            code <= MAX_KEPT_CODE
        });
        block
    }
}
