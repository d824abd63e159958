//! Rows of memory, and the address of each one's first word.
//!
//! The agent starts rows at multiples of 32. In a row that starts before the memory, nine blanks replace each word;
//! posted logs may have fewer blanks. The header has the address of kernel arguments. A row without a certain address
//! is rejected: a missing word is better than one at a wrong address.

use super::wave::Section;
use crate::import::text::{Cursor, skip_spaces};

/// Words of a row.
const WORDS: usize = 8;

/// Number of blanks that replace a word.
const CELL: usize = 9;

/// Number of blanks before a row.
const INDENT: usize = 4;

/// A row: its address and the blanks around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) address: u64,
    /// Whether other text follows the words.
    pub(super) damaged: bool,
    indent: usize,
    blanks: usize,
}

/// Reads a row and its words; `None`: the line is no row.
pub(super) fn row(line: &[u8], into: &mut Vec<u32>) -> Option<Row> {
    into.clear();
    let rest = skip_spaces(line);
    let indent = line.len() - rest.len();
    let mut cursor = Cursor::new(rest);
    // At least four digits: `0x10: done` is a program's own line.
    let (_, address) =
        cursor.rest.starts_with(b"0x").then(|| cursor.hex())?.filter(|(digits, _)| *digits >= 4)?;
    if !cursor.take(":") {
        return None;
    }
    let mut row = Row { address, damaged: false, indent, blanks: cursor.spaces() };
    while !cursor.rest.is_empty() {
        let word = cursor.hex().filter(|(digits, _)| *digits == 8 && cursor.at_blank());
        let Some((_, word)) = word else {
            row.damaged = true;
            break;
        };
        into.push(word as u32);
        cursor.spaces();
    }
    Some(row)
}

impl Row {
    /// The address of its first word; `None`: uncertain. `kernargs`: the address of the wave's arguments by its header;
    /// `is_first`: the row is the first of its listing.
    pub(super) fn start(
        self,
        words: usize,
        section: Section,
        kernargs: Option<u64>,
        is_first: bool,
    ) -> Option<u64> {
        let skipped = match (self.blanks, self.blanks.saturating_sub(1)) {
            // Agents of 2018 write two blanks.
            (0..=2, _) => 0,
            (_, blanks) if blanks.is_multiple_of(CELL) && blanks / CELL < WORDS => blanks / CELL,
            _ => return None,
        };
        let at = |skipped: usize| self.address.checked_add(skipped as u64 * 4);
        // LDS starts at address 0.
        if section != Section::Kernarg {
            return at(skipped);
        }
        let within = |begin: u64| (begin % 32 / 4) as usize;
        match kernargs.filter(|begin| begin.is_multiple_of(4)) {
            Some(begin) if begin - begin % 32 == self.address => {
                let is_said = skipped == within(begin) || (skipped == 0 && within(begin) + words <= WORDS);
                at(within(begin)).filter(|_| is_said)
            }
            Some(_) => at(0).filter(|_| skipped == 0),
            None => {
                let is_sure = skipped > 0 || !is_first || words >= WORDS || self.indent >= INDENT;
                at(skipped).filter(|_| is_sure)
            }
        }
    }
}

#[cfg(test)]
mod tests;
