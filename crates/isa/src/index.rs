//! Which row of the table is the instruction of a word: an index for each processor and wave size, built at its first use.

use crate::gpu::Gpu;
use crate::table::{Section as S, Table, table};
use std::sync::OnceLock;

/// Bits of a word that lie together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    start: u8,
    len: u8,
}

/// A field whose values decide about the row and its size.
#[derive(Clone, Copy, Debug)]
struct Field {
    /// The field, if its bits lie together.
    piece: Piece,
    /// Its pieces otherwise: the first one and the end.
    pieces: (u32, u32),
    /// Where the literals of its values begin.
    literals: u32,
}

/// A value that the decoder does not accept.
const INVALID: u8 = u8::MAX;

/// A row of the table for one processor, in the order in which rows are tried.
#[derive(Clone, Copy, Debug)]
struct Entry {
    mask: u64,
    value: u64,
    /// Mask and value above the first 64 bits: the entry of a list, or `u16::MAX`.
    wide: u16,
    width: u8,
    /// Bytes of further addresses of an image instruction after the word.
    addresses: u8,
    row: u16,
    /// The first field and the end of the fields whose values decide about the row and its size.
    fields: (u32, u32),
}

/// All rows of a processor with a wave size.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) variant: usize,
    pub(crate) gpu: Gpu,
    /// For bits 31:23 of the first word: shift and number of the bits that select a slot, and the first slot.
    tops: Vec<(u8, u8, u32)>,
    /// First entry and end of the entries of a slot.
    slots: Vec<(u32, u32)>,
    entries: Vec<Entry>,
    wides: Vec<(u64, u64)>,
    /// The fields of each list of operands, one list after the other.
    fields: Vec<Field>,
    pieces: Vec<Piece>,
    /// For each value of a field: `INVALID`, or the size of the literal after the word.
    literals: Vec<u8>,
}

/// A row with the size of the instruction, and of its literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) row: u16,
    pub(crate) width: u8,
    /// Bytes after the word: a literal, or addresses.
    pub(crate) rest: u8,
}

/// The value that the bits of a field have in a word.
#[inline]
pub(crate) fn extract(word: u128, pieces: impl Iterator<Item = (u8, u8)>) -> u64 {
    let mut shift = 0;
    pieces.fold(0, |value, (start, len)| {
        let piece = (word >> start) as u64 & (u64::MAX >> (64 - u32::from(len.clamp(1, 64))));
        let value = value | piece << shift;
        shift += u32::from(len);
        value
    })
}

/// The index of a processor with a wave size.
pub(crate) fn index(processor: &str, wave: u8) -> Option<&'static Index> {
    static INDEXES: OnceLock<Vec<OnceLock<Index>>> = OnceLock::new();
    let table = table()?;
    let names = 0..table.len(S::ProcessorVariants);
    let at = names.into_iter().find(|at| table.text(S::ProcessorStarts, S::Processors, *at) == processor)?;
    let side = match wave {
        32 => 0,
        64 => 1,
        _ => return None,
    };
    let variant = usize::from(table.u8(S::ProcessorVariants, 2 * at + side));
    let indexes = INDEXES.get_or_init(|| (0..table.len(S::VariantWaves)).map(|_| OnceLock::new()).collect());
    Some(indexes.get(variant)?.get_or_init(|| Index::new(table, variant)))
}

impl Index {
    fn new(table: &Table<'_>, variant: usize) -> Self {
        let mut index = Self {
            variant,
            gpu: Gpu::new(table, variant),
            tops: Vec::new(),
            slots: Vec::new(),
            entries: Vec::new(),
            wides: Vec::new(),
            fields: Vec::new(),
            pieces: Vec::new(),
            literals: Vec::new(),
        };
        let wave64 = index.gpu.wave64;
        let mut known_operands = vec![None; table.len(S::OperandShapes)];
        let mut known_lists = vec![None; table.len(S::ListStarts)];
        let in_set: Vec<bool> = (0..table.len(S::Sets)).map(|set| table.has(set, variant)).collect();
        let mut rows = Vec::new();
        for row in 0..table.len(S::RowMasks) {
            if !in_set.get(usize::from(table.u8(S::RowSets, row))).copied().unwrap_or_default() {
                continue;
            }
            let mask_at = usize::from(table.u16(S::RowMasks, row));
            let high = 3 * usize::from(table.u16(S::RowHighs, row));
            let double = |section, at| table.get(section, at) | table.get(section, at + 1) << 32;
            let wide = (double(S::Masks, 4 * mask_at + 2), double(S::Highs, high + 1));
            let list = usize::from(table.u16(S::Forms, 4 * usize::from(table.u16(S::RowForms, row))));
            let mut read =
                || (index.fields_of(table, list, wave64, &mut known_operands), addresses(table, list));
            let (fields, addresses) = match known_lists.get_mut(list) {
                Some(known) => *known.get_or_insert_with(read),
                None => read(),
            };
            rows.push(Entry {
                mask: double(S::Masks, 4 * mask_at),
                value: table.get(S::RowLows, row) | table.get(S::Highs, high) << 32,
                wide: if wide.0 == 0 { u16::MAX } else { index.wides.len() as u16 },
                width: table.u8(S::MaskWidths, mask_at) / 8,
                addresses,
                row: row as u16,
                fields,
            });
            if wide.0 != 0 {
                index.wides.push(wide);
            }
        }
        index.arrange(&rows);
        index
    }

    /// The fields of a list of operands that can be invalid or a literal.
    fn fields_of(
        &mut self,
        table: &Table<'_>,
        list: usize,
        wave64: bool,
        operands: &mut [Option<Option<Field>>],
    ) -> (u32, u32) {
        let start = self.fields.len() as u32;
        for at in table.range(S::ListStarts, list) {
            let operand = usize::from(table.u16(S::Lists, at));
            let known = operands.get(operand).copied().flatten();
            let field = known.unwrap_or_else(|| self.field(table, operand, wave64));
            if let Some(entry) = operands.get_mut(operand) {
                *entry = Some(field);
            }
            self.fields.extend(field);
        }
        (start, self.fields.len() as u32)
    }

    /// Sorts rows into slots by bits that all rows of a slot fix.
    fn arrange(&mut self, rows: &[Entry]) {
        let mut tops: Vec<Vec<&Entry>> = vec![Vec::new(); 1 << 9];
        for row in rows {
            // All values of the bits that the row leaves free.
            let (free, fixed) = (!row.mask >> 23 & 0x1ff, row.value & row.mask & 0xff80_0000);
            let mut bits = free;
            loop {
                tops.get_mut((fixed >> 23 | bits) as usize).into_iter().for_each(|top| top.push(row));
                if bits == 0 {
                    break;
                }
                bits = (bits - 1) & free;
            }
        }
        for mut here in tops {
            let common = here.iter().fold(u64::MAX, |mask, row| mask & row.mask) & 0x7f_ffff;
            let (shift, len) = longest_run(if here.is_empty() { 0 } else { common });
            self.tops.push((shift, len, self.slots.len() as u32));
            let selected = |row: &&Entry| row.value >> shift & ((1 << len) - 1);
            here.sort_by_key(selected);
            let mut start = self.entries.len();
            self.entries.extend(here.iter().copied());
            for slot in 0..1 << len {
                let rest = self.entries.get(start..).unwrap_or_default();
                let end = start + rest.partition_point(|row| selected(&row) == slot);
                self.slots.push((start as u32, end as u32));
                start = end;
            }
        }
    }

    /// The rows that a word may be, by its first 4 bytes.
    #[inline]
    fn entries(&self, low: u64) -> Option<&[Entry]> {
        let (shift, len, first) = *self.tops.get((low >> 23 & 0x1ff) as usize)?;
        let slot = first as usize + (low >> shift & ((1 << len) - 1)) as usize;
        let (start, end) = *self.slots.get(slot)?;
        self.entries.get(start as usize..end as usize)
    }

    /// Whether a word of which this many bytes exist, at least 4, can be the start of a longer instruction.
    pub(crate) fn is_start(&self, word: u128, available: usize) -> bool {
        let known = u128::MAX.checked_shr(128_u32.saturating_sub(8 * available as u32)).unwrap_or(0);
        let (low, high) = (known as u64, (known >> 64) as u64);
        let is_it = |entry: &Entry| {
            let (mask, value) = self.wides.get(usize::from(entry.wide)).copied().unwrap_or_default();
            let rest = || self.literal(word, entry).unwrap_or(0);
            let size = usize::from(entry.width + entry.addresses);
            (word as u64 ^ entry.value) & entry.mask & low == 0
                && ((word >> 64) as u64 ^ value) & mask & high == 0
                && (size > available || size + usize::from(rest()) > available)
        };
        self.entries(word as u64).unwrap_or_default().iter().any(is_it)
    }

    /// The row of a word; `available` is the number of its bytes that exist.
    #[inline]
    pub(crate) fn find(&self, word: u128, available: usize) -> Option<Found> {
        let low = word as u64;
        for entry in self.entries(low)? {
            if (low ^ entry.value) & entry.mask != 0 || usize::from(entry.width + entry.addresses) > available
            {
                continue;
            }
            if entry.wide != u16::MAX {
                let (mask, value) = *self.wides.get(usize::from(entry.wide))?;
                if ((word >> 64) as u64 ^ value) & mask != 0 {
                    continue;
                }
            }
            let word = if entry.width == 4 { word & u128::from(u32::MAX) } else { word };
            if let Some(literal) = self.literal(word, entry)
                && usize::from(entry.width + entry.addresses + literal) <= available
            {
                return Some(Found { row: entry.row, width: entry.width, rest: entry.addresses + literal });
            }
        }
        None
    }

    /// The size of the literal of a row, unless a value of a field is invalid.
    fn literal(&self, word: u128, entry: &Entry) -> Option<u8> {
        let mut literal = 0;
        for field in self.fields.get(entry.fields.0 as usize..entry.fields.1 as usize)? {
            let Piece { start, len } = field.piece;
            let value = if len != 0 {
                (word >> start) as u64 & ((1 << len) - 1)
            } else {
                let pieces = self.pieces.get(field.pieces.0 as usize..field.pieces.1 as usize)?;
                extract(word, pieces.iter().map(|piece| (piece.start, piece.len)))
            };
            match *self.literals.get(field.literals as usize + value as usize)? {
                INVALID => return None,
                size => literal = literal.max(size),
            }
        }
        Some(literal)
    }

    /// The field of an operand; `None` if each value is valid and none is a literal.
    fn field(&mut self, table: &Table<'_>, operand: usize, wave64: bool) -> Option<Field> {
        let kind = usize::from(table.u16(S::OperandFields, 3 * operand + 1 + usize::from(wave64)));
        let bits = table.u16(S::Kinds, 2 * kind + 1) & 0xff;
        if table.u16(S::Kinds, 2 * kind) & 1 == 1 || bits > 10 {
            return None;
        }
        let mut literals = vec![INVALID; 1 << bits];
        for run in table.range(S::RunStarts, kind) {
            let (first, count) =
                (usize::from(table.u16(S::Runs, 2 * run)), usize::from(table.u16(S::Runs, 2 * run + 1)));
            let is_literal = table.u8(S::RunShapes, 4 * run) == crate::operand::LITERAL;
            let size = if is_literal { table.u8(S::RunShapes, 4 * run + 1).min(8) } else { 0 };
            literals.iter_mut().skip(first).take(count).for_each(|literal| *literal = size);
        }
        if literals.iter().all(|literal| *literal == 0) {
            return None;
        }
        let pieces = table.range(S::BitStarts, usize::from(table.u16(S::OperandFields, 3 * operand)));
        let piece = |at| Piece { start: table.u8(S::Bits, 2 * at), len: table.u8(S::Bits, 2 * at + 1) };
        let first = self.pieces.len() as u32;
        let together = if pieces.len() == 1 { piece(pieces.start) } else { Piece { start: 0, len: 0 } };
        self.pieces.extend(pieces.map(piece));
        let field = Field {
            piece: together,
            pieces: (first, self.pieces.len() as u32),
            literals: self.literals.len() as u32,
        };
        self.literals.extend(literals);
        Some(field)
    }
}

/// Start and length, at most 9, of the longest run of ones below bit 23.
fn longest_run(mask: u64) -> (u8, u8) {
    (0..23_u8)
        .map(|start| (start, (mask >> start).trailing_ones().min(9) as u8))
        .max_by_key(|(_, len)| *len)
        .unwrap_or((0, 0))
}

/// Bytes of the addresses that the operands of a list read after the word.
fn addresses(table: &Table<'_>, list: usize) -> u8 {
    let operands = table.range(S::ListStarts, list).map(|at| usize::from(table.u16(S::Lists, at)));
    let runs = operands.filter_map(|operand| {
        table.range(S::RunStarts, usize::from(table.u16(S::OperandFields, 3 * operand + 1))).next()
    });
    let ends = runs
        .filter(|run| table.u8(S::RunShapes, 4 * run) == crate::operand::ADDRESS_BYTE)
        .map(|run| table.u32(S::RunBases, run) as u8 + 1);
    ends.max().map_or(0, |count| count.next_multiple_of(4))
}
