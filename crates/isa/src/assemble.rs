//! Texts to instructions: the word that prints as a text, for code that a log has without its bytes.
//!
//! Each row of the mnemonic is tried. Its template is followed item by item: the fields of an item get the values that
//! print as the text goes on. The result is decoded and printed, and is the answer only if it prints as the whole text.

use crate::decode::{Decoder, Instruction, VgprMsb};
use crate::operand::Value;
use crate::table::{Role, Section as S, Table};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Most bits of a field whose values are all tried.
const TRIED_BITS: u32 = 16;
const NEG: i64 = 1;
const ABS: i64 = 2;
const OP_SEL_0: i64 = 4;
const OP_SEL_1: i64 = 8;
const SEXT: i64 = 16;
const MODIFIERS: [Role; 3] =
    [Role::named("src0_modifiers"), Role::named("src1_modifiers"), Role::named("src2_modifiers")];

impl Decoder {
    /// An instruction that prints as a text of llvm-objdump, `v_add_f32_e32 v1, v2, v3`; comments, symbols of targets and
    /// the mark of lower halves (`.l`) may be missing. `None`: no instruction of the processor prints so, or several do that differ.
    #[must_use]
    pub fn assemble(&self, text: &str) -> Option<Instruction> {
        let wanted = normal(text);
        let plain = without_remarks(&wanted);
        // The text is the same whether the atomic returns a value or not.
        if plain.contains("TH_ATOMIC_CASCADE") && !plain.starts_with("flat_") && !plain.starts_with("global_")
        {
            return None;
        }
        let mnemonic = plain.split(' ').next()?;
        // The names that the mnemonic may be, without the suffix of the encoding.
        let ends = mnemonic.match_indices('_').map(|(at, _)| at).chain([mnemonic.len()]);
        let rows = ends.filter_map(|end| rows_of(self.table).get(mnemonic.get(..end)?)).flatten();
        let rows = rows.map(|row| usize::from(*row));
        let rows =
            rows.filter(|row| self.table.has(self.table.u8(S::RowSets, *row).into(), self.index.variant));
        let none = self.with_msb(VgprMsb::default());
        let found = rows.into_iter().find_map(|row| Draft::of(none, row, &plain)?.finish(&plain))?;
        if wanted == plain {
            return Some(found);
        }
        let mut one = found;
        let mut each = (0..=u8::MAX).map(|msb| {
            one.decoder = self.with_msb(VgprMsb(msb));
            one
        });
        each.find(|one| normal(&one.to_string()) == wanted)
    }
}

/// The rows of each mnemonic.
fn rows_of(table: &'static Table<'static>) -> &'static HashMap<&'static str, Vec<u16>> {
    static ROWS: OnceLock<HashMap<&str, Vec<u16>>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows: HashMap<&str, Vec<u16>> = HashMap::new();
        for row in 0..table.len(S::RowMasks) {
            let name = table.u16(S::Mnemonics, 2 * usize::from(table.u16(S::RowMnemonics, row)));
            rows.entry(table.text(S::NameStarts, S::Names, name.into())).or_default().push(row as u16);
        }
        rows
    })
}

/// A text without comments, symbols and marks of lower halves, with single spaces.
fn normal(text: &str) -> String {
    let end = ["//", ";", " <"].iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
    let words: Vec<&str> = text.get(..end).unwrap_or_default().split_whitespace().collect();
    let text = words.join(" ").replace(".l", "");
    // LLVM prints an offset of 0 in one of two ways.
    match text
        .strip_suffix(", null")
        .filter(|text| text.starts_with("s_load") || text.starts_with("s_buffer_load"))
    {
        Some(start) => format!("{start}, 0x0"),
        None => text,
    }
}

/// A text without the numbers of registers that their upper bits give: `v44 /*v300*/`.
fn without_remarks(text: &str) -> String {
    let mut parts = text.split(" /*");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| plain.push_str(part.split_once("*/").map_or("", |(_, rest)| rest)));
    plain
}

/// An instruction whose fields are found one after another.
#[derive(Clone)]
struct Draft<'t> {
    found: Instruction,
    /// The text that no item has printed yet.
    rest: &'t str,
}

impl<'t> Draft<'t> {
    /// The instruction of a row that prints as a text, if one does.
    fn of(decoder: Decoder, row: usize, text: &'t str) -> Option<Self> {
        let found = Instruction::of_row(decoder, row);
        let mut draft = Self { found, rest: text.strip_prefix(found.mnemonic()?)? };
        for at in 0..found.operand_count() {
            if let Some(first) = found.first_value(at) {
                draft = draft.with(at, first)?;
            }
        }
        let table = decoder.table;
        for item in table.range(S::TemplateStarts, found.form(1)?) {
            let [printer, operand] = [0, 1].map(|at| usize::from(table.u8(S::Items, 2 * item + at)));
            draft.item(item, table.text(S::PrinterStarts, S::Printers, printer), operand)?;
        }
        draft.rest.is_empty().then_some(draft)
    }

    /// The instruction as the decoder reads its bytes, if it prints as the text.
    fn finish(&self, text: &str) -> Option<Instruction> {
        let (word, literal) = (self.found.word.to_le_bytes(), self.found.literal.to_le_bytes());
        let width = self.found.size() - usize::from(self.found.literal_size());
        let bytes = [word.get(..width)?, &literal].concat();
        let found = self.found.decoder.decode(&bytes);
        (normal(&found.to_string()) == text).then_some(found)
    }

    fn item(&mut self, item: usize, printer: &str, at: usize) -> Option<()> {
        match printer {
            "printOperand"
            | "printRegularOperand"
            | "printVOPDst"
            | "printVINTRPDst"
            | "printAVLdSt32Align2RegOp" => {
                let start = self.printed(item).find(' ').map_or(0, |space| space + 1);
                let start = if printer.ends_with("Dst") && at == 0 { start } else { 0 };
                self.operand(at, token(self.rest.get(start..)?))?;
            }
            "printOperandAndFPInputMods" | "printOperandAndIntInputMods" => self.signed(at)?,
            "printOpSel" => return self.packed(" op_sel:[", OP_SEL_0),
            "printOpSelHi" => return self.packed(" op_sel_hi:[", OP_SEL_1),
            "printNegLo" => return self.packed(" neg_lo:[", NEG),
            "printNegHi" => return self.packed(" neg_hi:[", ABS),
            "addresses" => return self.addresses(at),
            "printExpSrc0" | "printExpSrc1" | "printExpSrc2" | "printExpSrc3" => {
                return self.export(printer, at);
            }
            "printSWaitCnt" => self.waits(at)?,
            "text" | "second" | "vcc" | "vcc_first" => {}
            _ => return self.modifier(item, at),
        }
        // The sizes of an image's registers follow from fields behind them.
        match self.found.is_image() && printer != "text" {
            true => self.rest = self.rest.get(token(self.rest).len()..)?,
            false => self.rest = self.behind(item)?,
        }
        Some(())
    }

    fn printed(&self, item: usize) -> String {
        self.found.item_text(item).to_string().replace(".l", "").replace("  ", " ")
    }

    /// The rest behind what an item prints.
    fn behind(&self, item: usize) -> Option<&'t str> {
        let printed = self.printed(item);
        let rest = self.rest.strip_prefix(&*printed);
        let rest = rest.or_else(|| (self.rest == printed.trim_end()).then_some(""))?;
        let is_word = |of: Option<char>| of.is_some_and(|of| of.is_alphanumeric() || matches!(of, '_' | '|'));
        let continues = is_word(printed.chars().last()) && is_word(rest.chars().next());
        (!continues).then_some(rest)
    }

    /// Finds the value of a register or number.
    fn operand(&mut self, at: usize, wanted: &str) -> Option<()> {
        let is_name =
            wanted.starts_with(|letter: char| letter.is_ascii_lowercase()) && !wanted.starts_with("lit");
        let is_image = self.found.is_image();
        let first = |text: &str| text.split(':').next().unwrap_or_default().replace(['[', ']'], "");
        if let Some(byte) = self.found.address_byte(at) {
            let number: u8 = first(wanted).strip_prefix('v')?.parse().ok()?;
            self.found.literal |= u128::from(number) << (8 * byte);
            return Some(());
        }
        let Some(values) = self.values(at) else {
            *self = self.with_number(at, number(wanted)?)?;
            return Some(());
        };
        let mut literals = Vec::new();
        for value in values {
            let one = self.with(at, value)?;
            match one.found.encoded(at)?.value {
                Value::Register(_) if is_name => {
                    let text = one.found.operand_text(at).to_string().replace(".l", "");
                    if text == wanted || is_image && first(&text) == first(wanted) {
                        *self = one;
                        return Some(());
                    }
                }
                Value::Immediate(_) if !is_name && one.found.operand_text(at).to_string() == wanted => {
                    *self = one;
                    return Some(());
                }
                Value::Literal(_) if !is_name => literals.extend(one.with_literal(number(wanted)?)),
                _ => {}
            }
        }
        // Of literals of 32 and of 64 bits the one that prints so.
        let fits = |one: &Self| one.found.operand_text(at).to_string() == wanted;
        let place = literals.iter().position(fits).unwrap_or_default();
        *self = literals.into_iter().nth(place)?;
        Some(())
    }

    /// A source with its sign, or with its extension.
    fn signed(&mut self, at: usize) -> Option<()> {
        let mut bits = 0;
        let mut rest = self.rest;
        for (prefix, bit) in [("sext(", SEXT), ("neg(", NEG), ("-", NEG), ("|", ABS)] {
            let Some(behind) = rest.strip_prefix(prefix) else { continue };
            let is_number = behind.starts_with(|letter: char| letter.is_ascii_digit());
            if prefix != "-" || !is_number {
                (rest, bits) = (behind, bits | bit);
            }
        }
        let token = token(rest);
        self.modify(at, |old| old & !(SEXT | NEG | ABS) | bits)?;
        self.operand(at + 1, token)
    }

    /// A bit of the modifiers of each source; it may be missing where each is as usual.
    fn packed(&mut self, name: &str, bit: i64) -> Option<()> {
        let usual = i64::from(bit == OP_SEL_1 && self.found.effects()?.is_packed()) * bit;
        let listed = self.rest.strip_prefix(name).and_then(|rest| rest.split_once(']'));
        let bits: Vec<i64> = match listed {
            Some((bits, _)) => bits.split(',').map(|one| i64::from(one == "1") * bit).collect(),
            None => vec![usual; MODIFIERS.len()],
        };
        for (role, value) in MODIFIERS.into_iter().zip(&bits) {
            if let Some(at) = self.found.position(role) {
                self.modify(at, |old| old & !bit | value)?;
            }
        }
        // The bit of the result is one of the first source's.
        let sources = MODIFIERS.iter().filter(|role| self.found.position(**role).is_some()).count();
        if let (true, Some(value), Some(at)) = (
            bit == OP_SEL_0,
            bits.get(sources.max(1)).filter(|_| listed.is_some()),
            self.found.position(MODIFIERS[0]),
        ) {
            self.modify(at, |old| old & !OP_SEL_1 | value << 1)?;
        }
        self.rest = listed.map_or(self.rest, |(_, rest)| rest);
        Some(())
    }

    /// A source of an export; `off`: it is not enabled. Compressed exports have two sources, each for two places.
    fn export(&mut self, printer: &str, at: usize) -> Option<()> {
        let place: usize = printer.strip_prefix("printExpSrc")?.parse().ok()?;
        let token = token(self.rest);
        let is_compressed = self.rest.contains(" compr");
        self.rest = self.rest.get(token.len()..)?;
        let at = if is_compressed { at - place + place / 2 } else { at };
        match token {
            "off" => Some(()),
            _ => {
                self.modify(self.found.position(const { Role::named("en") })?, |old| old | 1 << place)?;
                self.operand(at, token)
            }
        }
    }

    /// The addresses of an image: one operand, or a list in brackets.
    fn addresses(&mut self, first: usize) -> Option<()> {
        let all = token(self.rest);
        self.rest = self.rest.get(all.len()..)?;
        let Some(list) = all.strip_prefix('[').and_then(|list| list.strip_suffix(']')) else {
            return self.operand(first, all);
        };
        list.split(", ").enumerate().try_for_each(|(place, token)| {
            let name = format!("vaddr{place}");
            let named = |at: &usize| self.found.operand(*at).is_some_and(|of| of.role.name() == name);
            let at = (0..self.found.operand_count()).find(named)?;
            self.operand(at, token)
        })
    }

    /// A number with a syntax of its own, or nothing where the usual value prints as nothing.
    fn modifier(&mut self, item: usize, at: usize) -> Option<()> {
        let fits = |one: Self| one.behind(item).map(|rest| Self { rest, ..one });
        let token = token(self.rest.strip_prefix(' ').unwrap_or(self.rest));
        let text = token.rsplit(':').next().unwrap_or_default();
        let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let lanes =
            list.map(|list| list.split(',').rev().fold(0, |all, lane| all << 3 | lane.parse().unwrap_or(0)));
        let by_number = number(text).or(lanes).and_then(|value| fits(self.with_number(at, value)?));
        let by_number = by_number.filter(|one| one.rest.len() < self.rest.len());
        let each =
            self.values(at).filter(|_| by_number.is_none() && !self.rest.is_empty()).into_iter().flatten();
        let each = each.filter_map(|value| fits(self.with(at, value)?));
        *self =
            by_number.into_iter().chain(fits(self.clone())).chain(each).min_by_key(|one| one.rest.len())?;
        Some(())
    }

    /// Waits for counters: `vmcnt(0) lgkmcnt(0)`. A counter that is missing is not waited for.
    fn waits(&mut self, at: usize) -> Option<()> {
        let counters = self.found.decoder.index.gpu.counters();
        let mut bits = counters
            .iter()
            .flat_map(|(_, pieces)| *pieces)
            .fold(0, |all, (start, len)| all | ((1_u64 << len) - 1) << start);
        for word in self.rest.split(' ') {
            let (name, count) = word.strip_suffix(')')?.split_once('(')?;
            let mut count: u64 = count.parse().ok()?;
            for (start, len) in counters.iter().find(|(known, _)| *known == name)?.1 {
                bits = bits & !(((1 << len) - 1) << start) | (count & ((1 << len) - 1)) << start;
                count >>= len;
            }
        }
        *self = self.with(at, bits)?;
        Some(())
    }

    /// The values of a small field.
    fn values(&self, at: usize) -> Option<std::ops::Range<u64>> {
        let bits: u32 = self.found.pieces(at)?.map(|(_, len)| u32::from(len)).sum();
        (bits <= TRIED_BITS).then(|| 0..1 << bits)
    }

    /// With another value of a field.
    fn with(&self, at: usize, mut value: u64) -> Option<Self> {
        let mut one = self.clone();
        for (start, len) in self.found.pieces(at)? {
            let mask = u64::MAX.checked_shr(64 - u32::from(len)).unwrap_or(0);
            one.found.word =
                one.found.word & !(u128::from(mask) << start) | u128::from(value & mask) << start;
            value = value.checked_shr(len.into()).unwrap_or(0);
        }
        Some(one)
    }

    /// With a number in a field of consecutive numbers, or as the literal.
    fn with_number(&self, at: usize, number: i64) -> Option<Self> {
        match self.found.field_of_number(at, number) {
            Some(value) => self.with(at, value),
            None => matches!(self.found.operand(at)?.value, Value::Literal(_))
                .then(|| self.with_literal(number))?,
        }
    }

    /// With a number as the literal of the word, or behind it.
    fn with_literal(&self, number: i64) -> Option<Self> {
        let mut one = self.clone();
        let size = one.found.operands().enumerate().filter_map(|(at, of)| {
            matches!(of.value, Value::Literal(_)).then(|| one.found.literal_run(at))?
        });
        match size.max()? {
            0 => {
                let start = 8 * (one.found.size() as u32) - 32;
                one.found.word =
                    one.found.word & !(u128::from(u32::MAX) << start) | u128::from(number as u32) << start;
            }
            bytes => one.found.set_literal(number.cast_unsigned(), bytes),
        }
        Some(one)
    }

    /// Changes the number of a field with few values.
    fn modify(&mut self, at: usize, change: impl Fn(i64) -> i64) -> Option<()> {
        let wanted = change(self.found.operand(at)?.number()?);
        let mut each = self.values(at)?.filter_map(|value| self.with(at, value));
        *self = each.find(|one| one.found.operand(at).and_then(|of| of.number()) == Some(wanted))?;
        Some(())
    }
}

/// The text up to the end of an operand.
fn token(text: &str) -> &str {
    let mut depth = 0_usize;
    let end = text.find(|letter| {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' if depth > 0 => depth -= 1,
            ',' | ' ' | '|' | ')' if depth == 0 => return true,
            _ => {}
        }
        false
    });
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// A number: `16`, `-1`, `0x10`, `lit(0x10)`.
fn number(text: &str) -> Option<i64> {
    let literal = text.strip_prefix("lit64(").or_else(|| text.strip_prefix("lit("));
    let text = literal.and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?.cast_signed(),
        None => digits.parse().ok()?,
    };
    value.checked_mul(sign)
}
