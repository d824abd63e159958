//! Changed bytes of memory, sparse.

use std::collections::BTreeMap;

use super::{Owner, PIECE};

/// Adjacent bytes; `changed` has a set bit for each valid one, at least one.
#[derive(Clone, Debug)]
struct Piece {
    bytes: [u8; PIECE as usize],
    changed: u64,
}

const _: () = assert!(PIECE == u64::BITS as u64);

/// Changed bytes by owner and address.
#[derive(Debug, Default)]
pub(in crate::session) struct Memory {
    pieces: BTreeMap<(Owner, u64), Piece>,
}

/// The state of an address, and the length of the run with that state.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::session) enum Run<'a> {
    /// These bytes are changed.
    Changed(&'a [u8]),
    /// This number of bytes is unchanged: captured or missing.
    Captured(usize),
}

fn split(address: u64) -> (u64, u32) {
    (address / PIECE, (address % PIECE) as u32)
}

impl Memory {
    /// Whether an owner's memory has any change.
    pub(in crate::session) fn touches(&self, owner: Owner) -> bool {
        self.pieces.range((owner, 0)..=(owner, u64::MAX)).next().is_some()
    }

    /// The run at an address, at most `length` bytes of it (at least 1), which do not wrap around.
    pub(in crate::session) fn run(&self, owner: Owner, address: u64, length: usize) -> Run<'_> {
        let (index, bit) = split(address);
        if let Some(piece) = self.pieces.get(&(owner, index)) {
            let count = (piece.changed >> bit).trailing_ones() as usize;
            if count > 0 {
                let from = bit as usize;
                let to = (from + count.min(length)).min(piece.bytes.len());
                return Run::Changed(piece.bytes.get(from..to).unwrap_or_default());
            }
        }
        let next = self.next(owner, address);
        let far = next.map_or(u64::MAX, |next| next - address);
        Run::Captured(usize::try_from(far).unwrap_or(usize::MAX).min(length))
    }

    /// The first changed byte at or after an address.
    pub(in crate::session) fn next(&self, owner: Owner, address: u64) -> Option<u64> {
        let (first, bit) = split(address);
        self.pieces.range((owner, first)..=(owner, u64::MAX)).find_map(|((_, index), piece)| {
            let from = if *index == first { bit } else { 0 };
            let left = piece.changed >> from;
            (left != 0).then(|| index * PIECE + u64::from(from + left.trailing_zeros()))
        })
    }

    /// The first changed run that ends at or after an address: its first byte from there, and its last.
    pub(in crate::session) fn next_run(&self, owner: Owner, address: u64) -> Option<(u64, u64)> {
        let first = self.next(owner, address)?;
        let mut last = first;
        while let Some(after) = last.checked_add(1)
            && let Run::Changed(bytes) = self.run(owner, after, usize::MAX)
        {
            last += bytes.len() as u64;
        }
        Some((first, last))
    }

    /// The changed runs of an owner's memory in order: first address and last.
    pub(in crate::session) fn runs(&self, owner: Owner) -> impl Iterator<Item = (u64, u64)> {
        let mut next = self.next_run(owner, 0);
        std::iter::from_fn(move || {
            let run = next?;
            next = run.1.checked_add(1).and_then(|after| self.next_run(owner, after));
            Some(run)
        })
    }

    /// The owners of changed memory, in order.
    pub(super) fn owners(&self) -> Vec<Owner> {
        let mut owners: Vec<Owner> = self.pieces.keys().map(|(owner, _)| *owner).collect();
        owners.dedup();
        owners
    }

    /// Number of pieces.
    pub(super) fn pieces(&self) -> usize {
        self.pieces.len()
    }

    /// Whether a piece for this byte exists already.
    pub(super) fn has_capacity(&self, owner: Owner, address: u64) -> bool {
        self.pieces.contains_key(&(owner, address / PIECE))
    }

    /// Number of changed bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.pieces.values().map(|piece| u64::from(piece.changed.count_ones())).sum()
    }

    /// Changes a byte.
    pub(super) fn set(&mut self, owner: Owner, address: u64, byte: u8) {
        let (index, bit) = split(address);
        let empty = || Piece { bytes: [0; PIECE as usize], changed: 0 };
        let piece = self.pieces.entry((owner, index)).or_insert_with(empty);
        if let Some(to) = piece.bytes.get_mut(bit as usize) {
            *to = byte;
        }
        piece.changed |= 1 << bit;
    }

    /// Restores the captured value of a byte.
    pub(super) fn clear(&mut self, owner: Owner, address: u64) {
        let (index, bit) = split(address);
        if let Some(piece) = self.pieces.get_mut(&(owner, index)) {
            piece.changed &= !(1 << bit);
            if piece.changed == 0 {
                self.pieces.remove(&(owner, index));
            }
        }
    }
}
