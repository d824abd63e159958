//! The output of llvm-objdump in reports of agents of 2018 and 2019. Its addresses are relative to the code object; the
//! row below it has the offset of the wave's PC.

use super::line::SourceRow;
use super::listings::{ListingPosition, RawListings};
use crate::import::text::{Cursor, find, hex};

/// Maximum rows of a listing: the agent lists 32 bytes before the PC and as many after it.
const MAX_ROWS: usize = 64;

/// The listing in a wave's report, until the row with the offset.
#[derive(Debug, Default)]
pub(super) struct ObjdumpListing {
    /// The wave's PC.
    pc: u64,
    rows: Vec<Listed>,
    at: ListingPosition,
    /// The function's first address in the code object.
    start: Option<u64>,
}

impl ObjdumpListing {
    pub(super) fn of(pc: u64) -> Self {
        Self { pc, ..Self::default() }
    }

    /// Reads a row; returns whether it is one.
    pub(super) fn row(&mut self, line: &[u8], listings: &mut RawListings) -> bool {
        let Some(row) = row(line) else { return false };
        match row {
            Row::Label(start, name) => {
                // Symbols of blocks, as LLVM left them in objects of that time: the function is in the label before them.
                if !name.starts_with(b"BB") || self.at.function().is_none_or(|known| known.starts_with("BB"))
                {
                    (self.at, self.start) = (ListingPosition::of(Some(name)), start);
                }
            }
            Row::Line(file, line) => {
                self.at.source(SourceRow::File(file));
                self.at.source(SourceRow::Line(line));
            }
            Row::Text => {}
            Row::Instruction(address, text) if self.rows.len() < MAX_ROWS => {
                let (at, start) = (self.at.clone(), self.start);
                self.rows.push(Listed { at, start, address, text: text.into() });
            }
            Row::Instruction(..) => listings.is_full = true,
            Row::Pc(offset) => {
                let load = self.pc.wrapping_sub(offset);
                for Listed { at, start, address, text } in std::mem::take(&mut self.rows) {
                    let start = start.map(|start| start.wrapping_add(load));
                    listings.add(&at, start, address.wrapping_add(load), &text, None);
                }
            }
        }
        true
    }
}

/// An instruction; addresses are those of the code object.
#[derive(Debug)]
struct Listed {
    at: ListingPosition,
    start: Option<u64>,
    address: u64,
    text: Box<[u8]>,
}

/// A row of the listing.
#[derive(Debug, PartialEq, Eq)]
enum Row<'l> {
    /// `the_kernel:`; from LLVM 8 on `0000000000001100 the_kernel:`, later `0000000000001100 <the_kernel>:`
    Label(Option<u64>, &'l [u8]),
    /// `; /src/add.cl:12`
    Line(&'l [u8], u64),
    /// `; d[100000000] = ga[gid & 31];`
    Text,
    /// `        flat_store_dword v[2:3], v0     // 000000001310: DC700000 00000002`
    Instruction(u64, &'l [u8]),
    /// `PC offset: 1310`, and `Faulty PC offset: 1310`
    Pc(u64),
}

fn row(line: &[u8]) -> Option<Row<'_>> {
    let line = line.trim_ascii_end();
    if let Some(text) = line.strip_prefix(b"; ") {
        let place = || {
            let colon = text.iter().rposition(|byte| *byte == b':')?;
            let file = text.get(..colon).filter(|file| file.starts_with(b"/") && !file.starts_with(b"//"))?;
            let mut line = Cursor::new(text.get(colon + 1..)?);
            Some(Row::Line(file, line.decimal().filter(|_| line.rest.is_empty())?))
        };
        return Some(place().unwrap_or(Row::Text));
    }
    for mark in ["PC offset: ", "Faulty PC offset: "] {
        if let Some(offset) = line.strip_prefix(mark.as_bytes()) {
            return hex(offset).map(Row::Pc);
        }
    }
    if line.first()?.is_ascii_whitespace() {
        let at = find(line, "// ")?;
        let (text, comment) = line.split_at_checked(at)?;
        let comment = comment.get(3..)?;
        let address = hex(comment.get(..comment.iter().position(|byte| *byte == b':')?)?)?;
        let text = text.trim_ascii();
        return (!text.is_empty()).then_some(Row::Instruction(address, text));
    }
    let label = line.strip_suffix(b":")?;
    let (start, name) = match label.iter().position(|byte| *byte == b' ') {
        Some(16) => (Some(hex(label.get(..16)?)?), label.get(17..)?),
        Some(_) => return None,
        None => (None, label),
    };
    let name = name.strip_prefix(b"<").and_then(|name| name.strip_suffix(b">")).unwrap_or(name);
    (!name.is_empty()).then_some(Row::Label(start, name))
}
