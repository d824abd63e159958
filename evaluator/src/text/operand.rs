//! Operands of decoded operations, as text and as bytes.

use std::fmt::Write as _;
use std::sync::Arc;

use super::super::operation::{Operation, Placed, Program};
use super::super::print::Names;
use super::codes::{Code, find};
use super::shape::{Field, shape};
use super::{lex, write};
use crate::units::DwarfReg;

/// The value of a [`Field`].
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// A number; a signed one in two's complement.
    Number(u64),
    Bytes(Arc<[u8]>),
    Program(Arc<Program>),
}

impl From<u64> for Operand {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

/// Returns the operands of an operation, one for each field of its row.
fn operands(operation: &Operation) -> Vec<Operand> {
    let one = |number: u64| vec![Operand::Number(number)];
    let two = |first: u64, second: u64| vec![Operand::Number(first), Operand::Number(second)];
    match operation {
        Operation::Addr(number)
        | Operation::Addrx(number)
        | Operation::Constx(number)
        | Operation::Constant(number)
        | Operation::PlusUconst(number)
        | Operation::Piece(number)
        | Operation::OffsetUconst(number) => one(*number),
        Operation::ConstType { ty, bytes } => vec![ty.0.into(), Operand::Bytes(Arc::clone(bytes))],
        Operation::Pick(number)
        | Operation::Deref { bytes: number }
        | Operation::Xderef { bytes: number } => one(u64::from(*number)),
        Operation::DerefType { bytes, ty } | Operation::XderefType { bytes, ty } => {
            two(u64::from(*bytes), ty.0)
        }
        Operation::Convert(ty) | Operation::Reinterpret(ty) => one(ty.map_or(0, |ty| ty.0)),
        Operation::Bra(target) | Operation::Skip(target) => one(i64::from(target.by) as u64),
        Operation::Register(register) | Operation::CallFrameEntryReg(register) => one(register.0),
        Operation::RegvalType { register, ty } => two(register.0, ty.0),
        Operation::BaseRegister { register, displacement }
        | Operation::AspaceBregx { register, displacement } => two(register.0, *displacement as u64),
        Operation::FrameBase(displacement) => one(*displacement as u64),
        Operation::Call(die) => one(die.offset().0),
        Operation::EntryValue(program) => vec![Operand::Program(Arc::clone(program))],
        Operation::ImplicitValue(bytes) => vec![Operand::Bytes(Arc::clone(bytes))],
        Operation::ImplicitPointer { die, displacement }
        | Operation::AspaceImplicitPointer { die, displacement } => two(die.0, *displacement as u64),
        Operation::BitPiece { size, offset } => two(*size, *offset),
        Operation::Extend { size, count } | Operation::SelectBitPiece { size, count } => two(*size, *count),
        Operation::ObjectMap(die) => one(die.0),
        _ => Vec::new(),
    }
}

/// Formats an operation with its operands in the canonical form.
pub(crate) fn words(placed: &Placed, names: &dyn Names) -> String {
    let mut text = placed.name.to_owned();
    let padding = placed.padding.as_deref();
    if let Some(width) = padding.map(|padding| padding.code).filter(|width| *width != 0) {
        let _ = write!(text, ":{width}");
    }
    let mut widths = padding.map(|padding| padding.operands.iter()).unwrap_or_default();
    let fields = shape(placed.name).map_or(&[][..], |shape| shape.fields);
    for (field, operand) in fields.iter().zip(operands(&placed.operation)) {
        let shown = shown(*field, &operand, names);
        if !shown.is_empty() {
            text.push(' ');
            text.push_str(&shown);
        }
        let width = if field.has_leb() { widths.next().copied().unwrap_or(0) } else { 0 };
        if width != 0 {
            let _ = write!(text, ":{width}");
        }
    }
    text
}

fn shown(field: Field, operand: &Operand, names: &dyn Names) -> String {
    match (field, operand) {
        (Field::Implied, _) => String::new(),
        (Field::ImpliedRegister, Operand::Number(number)) => register(*number, names).unwrap_or_default(),
        (Field::Register, Operand::Number(number)) => {
            register(*number, names).unwrap_or_else(|| number.to_string())
        }
        (Field::Displacement | Field::Branch, Operand::Number(number)) => format!("{:+}", *number as i64),
        (Field::Signed(_), Operand::Number(number)) => (*number as i64).to_string(),
        (Field::TypeOrGeneric, Operand::Number(0)) => "generic".to_owned(),
        (
            Field::Address | Field::Die(_) | Field::SectionDie | Field::Type | Field::TypeOrGeneric,
            Operand::Number(number),
        ) => format!("{number:#x}"),
        (_, Operand::Number(number)) => number.to_string(),
        (_, Operand::Bytes(bytes)) => {
            let words: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("[{}]", words.join(" "))
        }
        (_, Operand::Program(program)) => {
            let words: Vec<String> = program.operations().iter().map(|placed| words(placed, names)).collect();
            format!("({})", words.join("; "))
        }
    }
}

/// Returns a register's name, if the assembler reads it as that register.
fn register(number: u64, names: &dyn Names) -> Option<String> {
    let register = DwarfReg(number);
    let name = names.register(register).filter(|name| lex::is_word(name))?;
    (names.register_named(&name) == Some(register)).then_some(name)
}

pub(super) fn encode(program: &Program, codes: &[(Code, &'static str)], bytes: &mut Vec<u8>) {
    for placed in program.operations() {
        let (Some((code, _)), Some(shape)) = (find(codes, placed.name), shape(placed.name)) else { continue };
        let padding = placed.padding.as_deref();
        write_code(bytes, code, padding.map_or(0, |padding| padding.code));
        let mut widths = padding.map(|padding| padding.operands.iter()).unwrap_or_default();
        for (field, operand) in shape.fields.iter().zip(operands(&placed.operation)) {
            let width = if field.has_leb() { widths.next().copied().unwrap_or(0) } else { 0 };
            match operand {
                Operand::Number(number) => {
                    write_number(bytes, *field, number, width, program.encoding().dwarf64);
                }
                Operand::Bytes(block) => write_block(bytes, *field, &block, width),
                Operand::Program(inner) => {
                    let mut block = Vec::new();
                    encode(&inner, codes, &mut block);
                    write_block(bytes, *field, &block, width);
                }
            }
        }
    }
}

/// Writes an operation without its operands.
pub(super) fn write_code(bytes: &mut Vec<u8>, code: Code, width: u32) {
    bytes.push(code.code);
    if let Some(sub) = code.sub {
        write::uleb(bytes, u64::from(sub), width);
    }
}

/// Writes a number in the format of its field; the caller checks the range.
pub(super) fn write_number(bytes: &mut Vec<u8>, field: Field, number: u64, width: u32, dwarf64: bool) {
    let fixed = match field {
        Field::Implied | Field::ImpliedRegister => 0,
        Field::Signed(0) | Field::Displacement => return write::sleb(bytes, number as i64, width),
        Field::Address => 8,
        Field::Fixed(size) | Field::Signed(size) | Field::Die(size) => usize::from(size),
        Field::Branch => 2,
        Field::SectionDie if dwarf64 => 8,
        Field::SectionDie => 4,
        _ => return write::uleb(bytes, number, width),
    };
    bytes.extend(number.to_le_bytes().iter().take(fixed));
}

/// Writes a block: length, then bytes.
pub(super) fn write_block(bytes: &mut Vec<u8>, field: Field, block: &[u8], width: u32) {
    match field {
        Field::ShortBlock => bytes.push(block.len() as u8),
        _ => write::uleb(bytes, block.len() as u64, width),
    }
    bytes.extend_from_slice(block);
}
