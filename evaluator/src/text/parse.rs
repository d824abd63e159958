//! The assembler: tokens to bytes.

use std::collections::HashMap;

use super::super::limits::{MAX_EXPRESSION_BYTES, MAX_NESTING};
use super::super::operation::{Dialect, Encoding};
use super::super::print::Names;
use super::codes::{Code, codes, find};
use super::error::AssembleError;
use super::lex::{Spot, Token, error, tokens};
use super::operand::{write_block, write_code, write_number};
use super::shape::{Field, Shape, shape};

type Result<T> = std::result::Result<T, AssembleError>;

/// Assembles an expression to bytes.
pub(super) fn expression(text: &str, encoding: Encoding, names: &dyn Names) -> Result<Vec<u8>> {
    let tokens = tokens(text)?;
    let mut parser =
        Parser { text, tokens: &tokens, next: 0, encoding, names, codes: codes(encoding.dialect) };
    let bytes = parser.operations(0)?;
    match parser.peek() {
        None => Ok(bytes),
        Some(_) => Err(parser.unexpected("an operation")),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Spot<'t>],
    next: usize,
    encoding: Encoding,
    names: &'t dyn Names,
    codes: Vec<(Code, &'static str)>,
}

/// A branch whose label may follow later.
struct Pending<'t> {
    label: &'t str,
    at: usize,
    /// End of its operand in the bytes.
    end: usize,
}

/// The labels of one expression; nested expressions have separate labels.
#[derive(Default)]
struct Branches<'t> {
    labels: HashMap<&'t str, usize>,
    pending: Vec<Pending<'t>>,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.next).map(|spot| spot.token)
    }

    fn after(&self, count: usize) -> Option<Token<'t>> {
        self.tokens.get(self.next + count).map(|spot| spot.token)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.text.len(), |spot| spot.at)
    }

    fn fail(&self, at: usize, what: impl Into<String>, expected: impl Into<String>) -> AssembleError {
        error(self.text, at, what.into(), expected.into())
    }

    fn unexpected(&self, expected: &str) -> AssembleError {
        let what = match self.peek() {
            None => "the text ends".to_owned(),
            Some(Token::End) => "the operation ends".to_owned(),
            Some(Token::Word(word)) => format!("`{word}`"),
            Some(Token::Number { negative, magnitude }) => {
                format!("`{}{magnitude}`", if negative { "-" } else { "" })
            }
            Some(Token::Bytes(_)) => "a block of bytes".to_owned(),
            Some(Token::Open) => "`(`".to_owned(),
            Some(Token::Close) => "`)`".to_owned(),
            Some(Token::Colon) => "`:`".to_owned(),
        };
        self.fail(self.at(), what, expected)
    }

    /// Parses operations up to the end or a closing parenthesis.
    fn operations(&mut self, nesting: u32) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut branches = Branches::default();
        loop {
            let at = self.at();
            match (self.peek(), self.after(1), self.after(2)) {
                (None | Some(Token::Close), ..) => break,
                (Some(Token::End), ..) => self.next += 1,
                (Some(Token::Word(label)), Some(Token::Colon), then)
                    if !matches!(then, Some(Token::Number { .. })) =>
                {
                    if branches.labels.insert(label, bytes.len()).is_some() {
                        return Err(self.fail(at, format!("a second label `{label}`"), "another name"));
                    }
                    self.next += 2;
                }
                (Some(Token::Word(_)), ..) => {
                    self.operation(&mut bytes, &mut branches, nesting)?;
                    if !matches!(self.peek(), None | Some(Token::End | Token::Close)) {
                        return Err(self.unexpected("`;`, for the operation has no more operands"));
                    }
                }
                _ => return Err(self.unexpected("an operation")),
            }
            if bytes.len() > MAX_EXPRESSION_BYTES {
                let what = format!("more than {MAX_EXPRESSION_BYTES} bytes");
                return Err(self.fail(at, what, "a shorter expression"));
            }
        }
        self.resolve(&mut bytes, &branches)?;
        Ok(bytes)
    }

    fn resolve(&self, bytes: &mut [u8], branches: &Branches<'_>) -> Result<()> {
        for branch in &branches.pending {
            let label = branch.label;
            let target = branches.labels.get(label).ok_or_else(|| {
                self.fail(branch.at, format!("no label `{label}`"), "a label of this expression or a number")
            })?;
            let by = i16::try_from(*target as i64 - branch.end as i64).map_err(|_| {
                self.fail(branch.at, format!("`{label}` is beyond 32767 bytes"), "a nearer label")
            })?;
            if let Some(room) = bytes.get_mut(branch.end - 2..branch.end) {
                room.copy_from_slice(&by.to_le_bytes());
            }
        }
        Ok(())
    }

    fn operation(&mut self, bytes: &mut Vec<u8>, branches: &mut Branches<'t>, nesting: u32) -> Result<()> {
        let (code, shape, implied) = self.name()?;
        let width_at = self.at();
        let width = self.width()?;
        if width != 0 && code.sub.is_none() {
            return Err(self.fail(width_at, "the code of the operation has one byte", "no width"));
        }
        write_code(bytes, code, width);
        for field in shape.fields {
            if *field == Field::ImpliedRegister {
                self.implied(implied)?;
            } else if field.is_written() {
                self.field(*field, bytes, branches, nesting)?;
            }
        }
        Ok(())
    }

    /// Parses the operation's name, with or without its prefix or `DW_OP_LLVM_user`.
    fn name(&mut self) -> Result<(Code, &'static Shape, u64)> {
        let at = self.at();
        let Some(Token::Word(mut word)) = self.peek() else { return Err(self.unexpected("an operation")) };
        self.next += 1;
        if word == "DW_OP_LLVM_user" && self.encoding.dialect == Dialect::LlvmUser {
            let Some(Token::Word(sub)) = self.peek() else {
                return Err(self.unexpected("an operation of the extensions"));
            };
            word = sub;
            self.next += 1;
        }
        let full = if word.starts_with("DW_OP_") { word.to_owned() } else { format!("DW_OP_{word}") };
        let dialect = self.encoding.dialect.name();
        let found = find(&self.codes, &full).and_then(|(code, name)| Some((code, shape(name)?, name)));
        let Some((code, shape, name)) = found else {
            let what = match super::shape(&full) {
                Some(_) => format!("`{word}` has no code in the {dialect} dialect"),
                None => format!("no operation `{word}`"),
            };
            let extension = full.replacen("DW_OP_", "DW_OP_LLVM_", 1);
            let expected = match find(&self.codes, &extension) {
                Some(_) => format!("`{extension}`"),
                None => self.nearest(&full),
            };
            return Err(self.fail(at, what, expected));
        };
        let implied = name.get(shape.name.len()..).and_then(|number| number.parse().ok()).unwrap_or(0);
        Ok((code, shape, implied))
    }

    /// Suggests the nearest known name.
    fn nearest(&self, name: &str) -> String {
        let near = self.codes.iter().map(|(_, known)| (distance(name, known), *known)).min();
        let dialect = self.encoding.dialect.name();
        // Of a short name other letters alone would remain.
        let length = name.trim_start_matches("DW_OP_").len();
        match near {
            Some((distance, known)) if distance <= 3 && 2 * distance < length => format!("`{known}`"),
            _ => format!("an operation of the {dialect} dialect"),
        }
    }

    /// Parses `:3` after a LEB128 number, its size in bytes; 0 for the minimal size.
    fn width(&mut self) -> Result<u32> {
        if self.peek() != Some(Token::Colon) {
            return Ok(0);
        }
        self.next += 1;
        match self.peek() {
            Some(Token::Number { negative: false, magnitude })
                if (1..=MAX_EXPRESSION_BYTES as u64).contains(&magnitude) =>
            {
                self.next += 1;
                Ok(magnitude as u32)
            }
            _ => Err(self.unexpected("a number of bytes")),
        }
    }

    /// Parses the register name that may follow a number in the operation's name.
    fn implied(&mut self, number: u64) -> Result<()> {
        let Some(Token::Word(word)) = self.peek() else { return Ok(()) };
        let register = self.names.register_named(word).map(|register| register.0);
        if register != Some(number) {
            return Err(self.unexpected(&format!("the name of register {number}, or nothing")));
        }
        self.next += 1;
        Ok(())
    }

    fn field(
        &mut self,
        field: Field,
        bytes: &mut Vec<u8>,
        branches: &mut Branches<'t>,
        nesting: u32,
    ) -> Result<()> {
        let at = self.at();
        match (field, self.peek()) {
            (Field::Block | Field::ShortBlock, Some(Token::Bytes(inside))) => {
                let block = self.block(at, inside)?;
                self.next += 1;
                if field == Field::ShortBlock && block.len() > 255 {
                    return Err(self.fail(at, format!("{} bytes", block.len()), "at most 255 bytes"));
                }
                let width = self.leb(field, block.len() as u64)?;
                write_block(bytes, field, &block, width);
            }
            (Field::Block | Field::ShortBlock, _) => return Err(self.unexpected("bytes: [01 02]")),
            (Field::Expression, Some(Token::Open)) => {
                if nesting >= MAX_NESTING {
                    return Err(self.fail(at, "expressions nest too deeply", "fewer"));
                }
                self.next += 1;
                let inner = self.operations(nesting + 1)?;
                if self.peek() != Some(Token::Close) {
                    return Err(self.unexpected("`)`"));
                }
                self.next += 1;
                let width = self.leb(field, inner.len() as u64)?;
                write_block(bytes, field, &inner, width);
            }
            (Field::Expression, _) => return Err(self.unexpected("an expression: (DW_OP_reg0)")),
            (Field::Branch, Some(Token::Word(label))) => {
                self.next += 1;
                bytes.extend([0, 0]);
                branches.pending.push(Pending { label, at, end: bytes.len() });
            }
            _ => {
                let number = self.number(field)?;
                let width = self.leb(field, number)?;
                write_number(bytes, field, number, width, self.encoding.dwarf64);
            }
        }
        Ok(())
    }

    /// Parses an explicit width of a LEB128 number in bytes, at least the minimal size.
    fn leb(&mut self, field: Field, number: u64) -> Result<u32> {
        let at = self.at();
        let width = self.width()?;
        let needed = match field {
            Field::Signed(_) | Field::Displacement => super::sleb_length(number as i64),
            _ => super::uleb_length(number),
        };
        if width != 0 && !field.has_leb() {
            return Err(self.fail(at, "an operand that is no LEB128 number", "no width"));
        }
        if width != 0 && (width as usize) < needed {
            return Err(self.fail(at, format!("{width} bytes"), format!("at least the {needed} it needs")));
        }
        Ok(width)
    }

    /// Parses hexadecimal bytes, with or without spaces.
    fn block(&self, at: usize, inside: &str) -> Result<Vec<u8>> {
        let mut block = Vec::new();
        for word in inside.split(|char: char| char.is_whitespace() || char == ',').filter(|w| !w.is_empty()) {
            for pair in word.as_bytes().chunks(2) {
                let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2);
                let byte = pair.filter(|pair| !pair.starts_with('+'));
                let byte = byte.and_then(|pair| u8::from_str_radix(pair, 16).ok());
                let bad = || self.fail(at, format!("`{word}` in a block"), "pairs of hexadecimal digits");
                block.push(byte.ok_or_else(bad)?);
            }
        }
        Ok(block)
    }

    fn number(&mut self, field: Field) -> Result<u64> {
        let number = match (field, self.peek()) {
            (_, Some(Token::Number { negative, magnitude })) => {
                let (least, most) = self.range(field);
                let number = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
                if number < least || number > most {
                    return Err(self.unexpected(&format!("a number from {least} to {most}")));
                }
                number as u64
            }
            (Field::Register, Some(Token::Word(word))) => match self.names.register_named(word) {
                Some(register) => register.0,
                None => return Err(self.unexpected("a register's name or DWARF number")),
            },
            (Field::TypeOrGeneric, Some(Token::Word("generic"))) => 0,
            (Field::Fixed(_) | Field::Signed(_) | Field::Uleb, Some(Token::Word(word))) => {
                match self.names.space_named(word) {
                    // A space number below 128 fits every constant.
                    Some(space) if space.0 < 128 => space.0,
                    _ => return Err(self.unexpected("a number or the name of an address space")),
                }
            }
            (Field::Branch, _) => return Err(self.unexpected("a number of bytes or a label")),
            _ => return Err(self.unexpected("a number")),
        };
        self.next += 1;
        Ok(number)
    }

    /// Returns the minimum and maximum of a field.
    fn range(&self, field: Field) -> (i128, i128) {
        let signed = |bits: u32| (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1);
        let unsigned = |bits: u32| (0, (1i128 << bits) - 1);
        match field {
            Field::Displacement | Field::Signed(0) => signed(64),
            Field::Signed(bytes) => signed(8 * u32::from(bytes)),
            Field::Branch => signed(16),
            Field::Fixed(bytes) | Field::Die(bytes) => unsigned(8 * u32::from(bytes)),
            Field::SectionDie if !self.encoding.dwarf64 => unsigned(32),
            _ => unsigned(64),
        }
    }
}

/// Returns the edit distance of two names; long names are not compared.
fn distance(one: &str, other: &str) -> usize {
    if one.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, left) in one.bytes().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        for (cell, right) in row.iter_mut().skip(1).zip(other.bytes()) {
            let changed = diagonal + usize::from(left != right);
            diagonal = *cell;
            before = changed.min(before + 1).min(diagonal + 1);
            *cell = before;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}
