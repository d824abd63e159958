//! Bytes to instructions.

use crate::index::{Found, Index, index};
use crate::table::{Op, Section as S, Table, table};

/// The upper two bits of VGPR numbers of GFX12.5, as the low byte of `s_set_vgpr_msb`'s operand sets them: from the lowest
/// bits on for src0, src1, src2 and the destination.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct VgprMsb(pub u8);

/// A decoder for one processor with one wave size.
#[derive(Clone, Copy)]
pub struct Decoder {
    pub(crate) index: &'static Index,
    pub(crate) table: &'static Table<'static>,
    msb: VgprMsb,
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (variant, msb) = (self.index.variant, self.msb);
        f.debug_struct("Decoder").field("variant", &variant).field("msb", &msb).finish_non_exhaustive()
    }
}

/// An instruction, or a word that is none.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub(crate) decoder: Decoder,
    pub(crate) word: u128,
    /// Bytes after the word: a literal, or addresses of an image instruction.
    pub(crate) literal: u128,
    pub(crate) row: Option<u16>,
    size: u8,
    rest: u8,
    is_cut: bool,
}

/// Most bytes of an instruction.
pub const MAX_SIZE: usize = 24;

impl Decoder {
    /// The decoder of a processor (`gfx90a`) with waves of 32 or 64 lanes; `None` for an unknown processor or wave size.
    #[must_use]
    pub fn new(processor: &str, wave: u8) -> Option<Self> {
        Some(Self { index: index(processor, wave)?, table: table()?, msb: VgprMsb::default() })
    }

    /// The names of the processors.
    pub fn processors() -> impl Iterator<Item = &'static str> {
        let of = |table: &'static Table<'static>| {
            (0..table.len(S::ProcessorVariants)).map(|at| table.text(S::ProcessorStarts, S::Processors, at))
        };
        table().into_iter().flat_map(of)
    }

    /// The decoder with other upper bits of VGPR numbers.
    #[must_use]
    pub fn with_msb(self, msb: VgprMsb) -> Self {
        Self { msb, ..self }
    }

    pub(crate) fn msb(&self) -> u8 {
        self.msb.0
    }

    /// The instruction at the start of the bytes, of which it reads at most [`MAX_SIZE`]. An invalid word has 4 bytes, or
    /// what is left of them; [`Instruction::is_cut`] says that the bytes end too early.
    #[must_use]
    pub fn decode(&self, bytes: &[u8]) -> Instruction {
        let available = bytes.len().min(MAX_SIZE);
        let word = if let Some(first) = bytes.first_chunk::<16>() {
            u128::from_le_bytes(*first)
        } else {
            let mut first = [0; 16];
            first.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            u128::from_le_bytes(first)
        };
        let found = if available < 4 { None } else { self.index.find(word, available) };
        let Some(Found { row, width, rest }) = found else {
            let is_cut = available < 4 || available < MAX_SIZE && self.index.is_start(word, available);
            let size = available.min(4) as u8;
            return Instruction { decoder: *self, word, literal: 0, row: None, size, rest: 0, is_cut };
        };
        let literal_bytes = bytes.get(usize::from(width)..usize::from(width + rest)).unwrap_or_default();
        let mut value = [0; 16];
        value.iter_mut().zip(literal_bytes).for_each(|(to, from)| *to = *from);
        Instruction {
            decoder: *self,
            word,
            literal: u128::from_le_bytes(value),
            row: Some(row),
            size: width + rest,
            rest,
            is_cut: false,
        }
    }

    /// Mask, value and size in bytes of the words of each row of the processor: for tests that try every encoding.
    #[doc(hidden)]
    pub fn encodings(&self) -> impl Iterator<Item = (u128, u128, usize)> + '_ {
        let (table, variant) = (self.table, self.index.variant);
        let is_here = move |row: &usize| table.has(table.u8(S::RowSets, *row).into(), variant);
        (0..table.len(S::RowMasks)).filter(is_here).map(move |row| {
            let mask = 4 * usize::from(table.u16(S::RowMasks, row));
            let mask = (0..4).map(|at| u128::from(table.get(S::Masks, mask + at)) << (32 * at)).sum();
            let one = Instruction::of_row(*self, row);
            (mask, one.word, one.size())
        })
    }

    /// All instructions of the bytes with their offsets, with the decoder's [`VgprMsb`] all along: who follows
    /// `s_set_vgpr_msb` decodes one by one.
    pub fn instructions(self, bytes: &[u8]) -> impl Iterator<Item = (usize, Instruction)> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
            let instruction = self.decode(rest);
            let here = at;
            at += instruction.size();
            Some((here, instruction))
        })
    }
}

impl Instruction {
    /// The instruction of a row whose fields are all 0.
    pub(crate) fn of_row(decoder: Decoder, row: usize) -> Self {
        let table = decoder.table;
        let (mask, high) =
            (usize::from(table.u16(S::RowMasks, row)), usize::from(table.u16(S::RowHighs, row)));
        let part = |section, at: usize| u128::from(table.get(section, at));
        let highs = (0..3).map(|at| part(S::Highs, 3 * high + at) << (32 * at + 32)).sum::<u128>();
        let size = table.u8(S::MaskWidths, mask) / 8;
        Self {
            decoder,
            word: part(S::RowLows, row) | highs,
            literal: 0,
            row: Some(row as u16),
            size,
            rest: 0,
            is_cut: false,
        }
    }

    /// Adds a literal behind the word.
    pub(crate) fn set_literal(&mut self, value: u64, bytes: u8) {
        self.size = self.size - self.rest + bytes;
        (self.literal, self.rest) = (value.into(), bytes);
    }

    /// Size in bytes with a literal; never 0 unless there are no bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size.into()
    }

    /// Bytes of the literal behind the word; 0 without one, or where the word has it.
    pub(crate) fn literal_size(&self) -> u8 {
        self.rest
    }

    /// The last four bytes of the word: its own literal, where it has one.
    pub(crate) fn last_dword(&self) -> u32 {
        let width = u32::from(self.size - self.rest);
        self.word.checked_shr((8 * width).saturating_sub(32)).unwrap_or_default() as u32
    }

    /// The bits of a literal of 32 bits.
    pub(crate) fn literal_bits(&self) -> u64 {
        u64::from(if self.rest == 0 { self.last_dword() } else { self.literal as u32 })
    }

    /// Whether it is decoded for waves of 64 lanes.
    #[must_use]
    pub fn is_wave64(&self) -> bool {
        self.decoder.index.gpu.wave64
    }

    /// Whether the bytes end within it: with more of them they may be an instruction of the processor.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether the word is an instruction of the processor.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.row.is_some()
    }

    pub(crate) fn form(&self, place: usize) -> Option<usize> {
        let form = self.decoder.table.u16(S::RowForms, self.row?.into());
        Some(self.decoder.table.u16(S::Forms, 4 * usize::from(form) + place).into())
    }

    fn name(&self, half: usize) -> Option<Op> {
        let table = self.decoder.table;
        let mnemonic = usize::from(table.u16(S::RowMnemonics, self.row?.into()));
        let name = table.u16(S::Mnemonics, 2 * mnemonic + half);
        (name != u16::MAX).then_some(Op(name))
    }

    /// The operation; of a pair (VOPD) the first one.
    #[must_use]
    pub fn op(&self) -> Option<Op> {
        self.name(0)
    }

    /// The second operation of a pair (VOPD).
    #[must_use]
    pub fn second_op(&self) -> Option<Op> {
        self.name(1)
    }

    /// The mnemonic without the suffix of its encoding.
    #[must_use]
    pub fn mnemonic(&self) -> Option<&'static str> {
        self.op().map(Op::mnemonic)
    }
}
