//! Several pieces of code for one run of a tool.
//!
//! The pieces follow one another at addresses of the batch, with padding after each. Instructions are relative to their
//! own address, so their texts do not depend on it, and the addresses are translated back.

use super::{ALIGNMENT, Block, DisassembleError, Instruction, MAX_BATCH, MAX_BLOCK, Machine};

/// Zero bytes after each piece, longer than any instruction. `llvm-objdump` 22 crashes on a literal past the section's
/// end. Instructions that reach into the padding are dropped. Zero dwords are instructions of four bytes, so the next
/// piece begins with its first instruction.
pub(super) const PADDING: usize = 32;
/// Address of the first piece if there are several. Branches lead at most 128 KiB below it.
const BASE: u64 = 1 << 32;

/// Pieces of code in one run of bytes.
#[derive(Debug)]
pub(super) struct Batch {
    address: u64,
    code: Vec<u8>,
    pieces: Vec<Piece>,
}

/// A piece of a batch.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Its address in the program.
    address: u64,
    /// Its address in the batch.
    at: u64,
    /// Bytes.
    length: usize,
}

impl Batch {
    /// Joins pieces, whole dwords only, within the bounds.
    pub(super) fn of(pieces: &[(u64, &[u8])]) -> Result<Self, DisassembleError> {
        let base = match pieces {
            [(address, _)] => *address,
            _ => BASE,
        };
        let mut batch = Self { address: base, code: Vec::new(), pieces: Vec::with_capacity(pieces.len()) };
        let mut left = MAX_BATCH;
        for (address, bytes) in pieces {
            if !address.is_multiple_of(ALIGNMENT) {
                return Err(DisassembleError::Unaligned(*address));
            }
            // The padding must stay within the address space.
            let capacity = usize::try_from(u64::MAX - address).unwrap_or(usize::MAX).saturating_sub(PADDING);
            let length = bytes.len().min(MAX_BLOCK).min(capacity).min(left) / 4 * 4;
            left -= length;
            let at = base.saturating_add(batch.code.len() as u64);
            batch.pieces.push(Piece { address: *address, at, length });
            if length > 0 {
                batch.code.extend(bytes.iter().take(length));
                batch.code.resize(batch.code.len() + PADDING, 0);
            }
        }
        Ok(batch)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    pub(super) fn code(&self) -> &[u8] {
        &self.code
    }

    /// The blocks of the pieces. The instructions are in the order of addresses.
    pub(super) fn blocks(self, machine: &Machine, tool: &str, instructions: Vec<Instruction>) -> Vec<Block> {
        let block = |piece: &Piece| {
            let end = piece.at.saturating_add(piece.length as u64);
            let translated = |address: u64| address.wrapping_sub(piece.at).wrapping_add(piece.address);
            let first = instructions.partition_point(|one| one.address < piece.at);
            let of_piece = instructions.iter().skip(first).take_while(|one| one.end() <= end);
            let from = usize::try_from(piece.at - self.address).unwrap_or(usize::MAX);
            let bytes = self.code.get(from..).and_then(|rest| rest.get(..piece.length));
            Block {
                machine: machine.clone(),
                address: piece.address,
                bytes: bytes.unwrap_or_default().to_vec(),
                instructions: of_piece
                    .map(|one| Instruction {
                        address: translated(one.address),
                        target: one.target.map(translated),
                        ..one.clone()
                    })
                    .collect(),
                tool: tool.to_owned(),
            }
        };
        self.pieces.iter().map(block).collect()
    }
}
