//! Computed values in clang's xderef idiom, rewritten to standard DWARF.
//!
//! Situation: for an optimised-away value clang 22 (observed at -O2) writes its computation from a register:
//! `bregx VGPR2 0; constu 100; minus; lit1; swap; xderef; stack_value`. In DWARF the first operation is ill-formed,
//! because a vector register is not an address. The intended meaning is the lane's dword, the arithmetic, and the
//! result as a value. After `DW_OP_convert` clang continues with untyped constants, which DWARF does not allow either.
//!
//! The operations are those of LLVM's instructions (`llvm::getDwarfOpForBinOp`, `getDwarfOpForIcmpPred`), in the width
//! of the register or of the last conversion: `div`, `mod` and `shra` are of signed numbers, `shr` of unsigned ones.
//! `lt` and the like are of both; a constant operand shows the sign (`consts`, or `constu` and `lit`). The low half of
//! a register (`constu 0xffff; and` behind it) may be a number of 16 bits, or the arithmetic of the source.
//!
//! Consequence: [`readings`] converts such an expression to standard DWARF: registers become reads of the lane's dword,
//! conversions between integers become masks or sign extensions, operands get the sign of their operation. An
//! expression that leaves sign or width open has several readings. Other expressions stay unchanged.

use super::super::context::Context;
use super::super::operation::{Binary, Operation, Placed, Program, Unary};
use super::super::value::{GENERIC_BITS, ValueClass};
use super::half::{HALF_BITS, Half};
use super::xderef::is_ending;
use super::{LANE_BITS, VECTOR_BITS, lane_dword};
use crate::units::{BitSize, DieOffset, DwarfReg};

/// Bytes of a lane's part of a vector register.
const LANE_BYTES: u8 = (LANE_BITS / 8) as u8;

/// A reading of what an expression does not state: the sign of its comparisons, and the width of its numbers.
#[derive(Clone, Copy)]
pub(super) struct Open {
    /// Whether comparisons of two registers are signed.
    signed: bool,
    /// Whether the masked half of a register is a number of its width.
    half: bool,
}

impl Open {
    /// All ways to read the expression of an object. One wider than a half is no number of a half's width, unless there is
    /// a conversion.
    pub(super) fn ways(program: &Program, size: Option<BitSize>) -> impl Iterator<Item = Self> {
        let converts =
            || program.operations.iter().any(|placed| matches!(placed.operation, Operation::Convert(_)));
        let may_be_half = size.is_none_or(|size| size.0 <= u64::from(HALF_BITS)) || converts();
        let halves = [false, true].into_iter().filter(move |half| may_be_half || !half);
        halves.flat_map(|half| [true, false].map(|signed| Self { signed, half }))
    }
}

/// An integer type of arithmetic.
#[derive(Clone, Copy)]
struct Narrow {
    bits: u32,
    signed: bool,
}

/// Before any register or conversion.
const GENERIC: Narrow = Narrow { bits: GENERIC_BITS, signed: false };
/// The result of a comparison.
const TRUTH: Narrow = Narrow { bits: 1, signed: false };

/// Returns the rewritten expression, in each of its readings; none for any other expression.
pub(super) fn readings(context: &dyn Context, program: &Program, size: Option<BitSize>) -> Vec<Program> {
    let mut found: Vec<Program> = Vec::new();
    for open in Open::ways(program, size) {
        match rewritten(context, program, open) {
            Some(program) if !found.contains(&program) => found.push(program),
            Some(_) => {}
            None => return Vec::new(),
        }
    }
    found
}

fn rewritten(context: &dyn Context, program: &Program, open: Open) -> Option<Program> {
    let operations = match program.operations.split_last()? {
        // The upper half of a register: its expression has moved it already.
        (Placed { operation: Operation::BitPiece { size, offset }, .. }, rest)
            if Half::at(rest).is_some_and(|half| half.is_piece(*size, *offset)) =>
        {
            rest
        }
        _ => &program.operations,
    };
    let (value, operations) = operations.split_last()?;
    let (body, ending) = operations.split_at_checked(operations.len().checked_sub(3)?)?;
    let registers = body.iter().any(|placed| matches!(placed.operation, Operation::BaseRegister { .. }));
    if !is_ending(ending) || value.operation != Operation::StackValue || !registers {
        return None;
    }
    let mut operations = self::body(context, body, open)?;
    operations.push(value.clone());
    Some(Program { operations: operations.into(), end: program.end, encoding: program.encoding })
}

/// Rewrites operations that compute a value from registers; `None` if one of them has no known meaning.
pub(super) fn body(context: &dyn Context, body: &[Placed], open: Open) -> Option<Vec<Placed>> {
    let operations = Vec::with_capacity(body.len() * 4);
    let mut writer = Writer { context, open, operations, narrow: GENERIC };
    for end in 1..=body.len() {
        writer.operation(body.get(..end)?)?;
    }
    Some(writer.operations)
}

/// Whether a comparison is signed, by the operations of its constant operand; `None` without one.
fn is_signed(before: &[Placed]) -> Option<bool> {
    let (last, before) = before.split_last()?;
    match (&last.operation, before.last().map(|placed| &placed.operation)) {
        (Operation::Constant(_), _) => Some(last.name.ends_with('s')),
        // LLVM's form of the greatest `constu`.
        (Operation::Unary(Unary::Not), Some(Operation::Constant(_))) => Some(false),
        _ => None,
    }
}

struct Writer<'c> {
    context: &'c dyn Context,
    open: Open,
    operations: Vec<Placed>,
    /// The type of further arithmetic.
    narrow: Narrow,
}

impl Writer<'_> {
    /// Adds the last of these operations.
    fn operation(&mut self, body: &[Placed]) -> Option<()> {
        let placed = body.last()?;
        match &placed.operation {
            Operation::BaseRegister { register, displacement } => {
                self.register(placed, *register)?;
                if *displacement != 0 {
                    self.push(placed, Operation::Constant(displacement.cast_unsigned()));
                    self.push(placed, Operation::Binary(Binary::Plus));
                    self.wrap(placed);
                }
            }
            Operation::Convert(ty) => self.convert(placed, *ty)?,
            Operation::Binary(binary) => {
                let (_, before) = body.split_last()?;
                self.binary(placed, *binary, is_signed(before));
                let register =
                    body.iter().rposition(|one| matches!(one.operation, Operation::BaseRegister { .. }));
                let read = body.get(register.unwrap_or(0)..).unwrap_or_default();
                if self.open.half && Half::is_whole(read) {
                    self.narrow = Narrow { bits: HALF_BITS, signed: false };
                }
            }
            Operation::Unary(unary) => {
                if *unary == Unary::Abs {
                    self.extend(placed, true);
                }
                self.operations.push(placed.clone());
                self.wrap(placed);
            }
            Operation::PlusUconst(_) => {
                self.operations.push(placed.clone());
                self.wrap(placed);
            }
            Operation::Constant(_)
            | Operation::Pick(_)
            | Operation::Drop
            | Operation::Swap
            | Operation::Rot
            | Operation::Nop => self.operations.push(placed.clone()),
            _ => return None,
        }
        Some(())
    }

    /// Adds an operation at the position of `placed`, so that errors name the compiler's operation.
    fn push(&mut self, placed: &Placed, operation: Operation) {
        self.operations.push(Placed { operation, ..placed.clone() });
    }

    /// Reads a register: the lane's dword of a vector register.
    fn register(&mut self, placed: &Placed, register: DwarfReg) -> Option<()> {
        let size = self.context.machine().register_size(register).ok()?.0;
        let bytes = if size >= VECTOR_BITS {
            lane_dword(register).into_iter().for_each(|operation| self.push(placed, operation));
            LANE_BYTES
        } else {
            self.push(placed, Operation::Register(register));
            u8::try_from(size / 8).ok().filter(|bytes| (1..=8).contains(bytes))?
        };
        self.push(placed, Operation::Deref { bytes });
        self.narrow = Narrow { bits: u32::from(bytes) * 8, signed: false };
        Some(())
    }

    /// Operands have the width of the type and the sign of the operation; `is_signed`: of a comparison.
    fn binary(&mut self, placed: &Placed, binary: Binary, is_signed: Option<bool>) {
        let is_signed = is_signed.unwrap_or(self.open.signed);
        match binary {
            Binary::Shr | Binary::Shra => {
                self.push(placed, Operation::Swap);
                self.extend(placed, binary == Binary::Shra);
                self.push(placed, Operation::Swap);
            }
            Binary::Div | Binary::Mod => self.extend_both(placed, true),
            Binary::Eq | Binary::Ne => self.extend_both(placed, false),
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => self.extend_both(placed, is_signed),
            _ => {}
        }
        match binary {
            // DWARF's is unsigned: the dividend minus the product of divisor and quotient.
            Binary::Mod => {
                self.push(placed, Operation::Pick(1));
                self.push(placed, Operation::Pick(1));
                for part in [Binary::Div, Binary::Mul, Binary::Minus] {
                    self.push(placed, Operation::Binary(part));
                }
                self.wrap(placed);
            }
            binary if binary.compares() => {
                self.push(placed, Operation::Binary(binary));
                self.narrow = TRUTH;
            }
            _ => {
                self.push(placed, Operation::Binary(binary));
                self.wrap(placed);
            }
        }
    }

    fn extend_both(&mut self, placed: &Placed, signed: bool) {
        for _ in 0..2 {
            self.push(placed, Operation::Swap);
            if !signed && self.narrow.bits == GENERIC_BITS {
                // The order of unsigned numbers is that of signed ones with the other sign.
                self.push(placed, Operation::Constant(1 << (GENERIC_BITS - 1)));
                self.push(placed, Operation::Binary(Binary::Xor));
            }
            self.extend(placed, signed);
        }
    }

    fn convert(&mut self, placed: &Placed, ty: Option<DieOffset>) -> Option<()> {
        self.narrow = match ty {
            None => GENERIC,
            Some(ty) => {
                let unit = self.context.unit();
                let base = unit.base_type(ty).ok()?;
                let signed = match base.encoding.class() {
                    ValueClass::Signed => true,
                    ValueClass::Unsigned => false,
                    ValueClass::Float | ValueClass::Opaque => return None,
                };
                let bits = unit.converted_bits(ty).unwrap_or(base.element_bits).min(base.element_bits);
                if base.elements.is_some() || bits == 0 || bits > GENERIC_BITS {
                    return None;
                }
                Narrow { bits, signed }
            }
        };
        self.wrap(placed);
        Some(())
    }

    /// Wraps the top of the stack to the type of further arithmetic.
    fn wrap(&mut self, placed: &Placed) {
        self.extend(placed, self.narrow.signed);
    }

    /// Extends the top of the stack from the type's width, with or without its sign.
    fn extend(&mut self, placed: &Placed, signed: bool) {
        let spare = u64::from(GENERIC_BITS - self.narrow.bits);
        if spare == 0 {
            return;
        }
        if signed {
            for shift in [Binary::Shl, Binary::Shra] {
                self.push(placed, Operation::Constant(spare));
                self.push(placed, Operation::Binary(shift));
            }
        } else {
            self.push(placed, Operation::Constant(u64::MAX >> spare));
            self.push(placed, Operation::Binary(Binary::And));
        }
    }
}
