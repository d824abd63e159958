//! Computed values in clang's xderef idiom, rewritten to standard DWARF.
//!
//! Situation: for an optimised-away value clang 22 (observed at -O2) writes its computation from a register:
//! `bregx VGPR2 0; constu 100; minus; lit1; swap; xderef; stack_value`. In DWARF the first operation is ill-formed,
//! because a vector register is not an address. The intended meaning is the lane's dword, the arithmetic, and the
//! result as a value. After `DW_OP_convert` clang continues with untyped constants, which DWARF does not allow either.
//!
//! Consequence: [`rewritten`] converts such an expression to standard DWARF: registers become reads of the lane's
//! dword, conversions between integers become masks or sign extensions, and arithmetic after a conversion stays in its
//! type. Other expressions stay unchanged.

use super::super::context::Context;
use super::super::operation::{Binary, Operation, Placed, Program};
use super::super::value::{GENERIC_BITS, ValueClass};
use super::VECTOR_BITS;
use crate::units::{DieOffset, DwarfReg};

/// Bytes of a lane's part of a vector register.
const LANE_BYTES: u8 = 4;

/// An integer type narrower than the generic one.
#[derive(Clone, Copy)]
struct Narrow {
    bits: u32,
    signed: bool,
}

/// Returns the rewritten expression; `None` for any other expression.
pub(super) fn rewritten(context: &dyn Context, program: &Program) -> Option<Program> {
    let (body, idiom) = program.operations.split_at_checked(program.operations.len().checked_sub(4)?)?;
    let [space, swap, xderef, value] = idiom else { return None };
    let fits = matches!(space.operation, Operation::Constant(1 | 5))
        && swap.operation == Operation::Swap
        && xderef.operation == (Operation::Xderef { bytes: 8 })
        && value.operation == Operation::StackValue;
    let registers = body.iter().any(|placed| matches!(placed.operation, Operation::BaseRegister { .. }));
    if !fits || !registers {
        return None;
    }
    let mut operations = self::body(context, body)?;
    operations.push(value.clone());
    Some(Program { operations: operations.into(), end: program.end, encoding: program.encoding })
}

/// Rewrites operations that compute a value from registers; `None` if one of them has no known meaning.
pub(super) fn body(context: &dyn Context, body: &[Placed]) -> Option<Vec<Placed>> {
    let mut writer = Writer { context, operations: Vec::with_capacity(body.len() * 4), narrow: None };
    for placed in body {
        writer.operation(placed)?;
    }
    Some(writer.operations)
}

struct Writer<'c> {
    context: &'c dyn Context,
    operations: Vec<Placed>,
    /// The type of further arithmetic.
    narrow: Option<Narrow>,
}

impl Writer<'_> {
    fn operation(&mut self, placed: &Placed) -> Option<()> {
        match &placed.operation {
            Operation::BaseRegister { register, displacement } => {
                self.register(placed, *register)?;
                if *displacement != 0 {
                    self.push(placed, Operation::Constant(displacement.cast_unsigned()));
                    self.push(placed, Operation::Binary(Binary::Plus));
                }
            }
            Operation::Convert(ty) => self.convert(placed, *ty)?,
            // Signed types differ from the generic one here: not an idiom.
            Operation::Binary(Binary::Mod | Binary::Shr)
                if self.narrow.is_some_and(|narrow| narrow.signed) =>
            {
                return None;
            }
            Operation::Binary(_) | Operation::Unary(_) | Operation::PlusUconst(_) => {
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
        self.push(placed, Operation::Register(register));
        let bytes = if size >= VECTOR_BITS {
            self.push(placed, Operation::PushLane);
            self.push(placed, Operation::Constant(u64::from(LANE_BYTES)));
            self.push(placed, Operation::Binary(Binary::Mul));
            self.push(placed, Operation::Offset);
            LANE_BYTES
        } else {
            u8::try_from(size / 8).ok().filter(|bytes| *bytes <= 8)?
        };
        self.push(placed, Operation::Deref { bytes });
        Some(())
    }

    fn convert(&mut self, placed: &Placed, ty: Option<DieOffset>) -> Option<()> {
        self.narrow = match ty {
            None => None,
            Some(ty) => {
                let ty = self.context.unit().base_type(ty).ok()?;
                let signed = match ty.encoding.class() {
                    ValueClass::Signed => true,
                    ValueClass::Unsigned => false,
                    ValueClass::Float | ValueClass::Opaque => return None,
                };
                let bits = ty.element_bits;
                if ty.elements.is_some() || bits == 0 || bits > GENERIC_BITS {
                    return None;
                }
                Some(Narrow { bits, signed }).filter(|narrow| narrow.bits < GENERIC_BITS)
            }
        };
        self.wrap(placed);
        Some(())
    }

    /// Wraps the top of the stack to the type of further arithmetic.
    fn wrap(&mut self, placed: &Placed) {
        let Some(narrow) = self.narrow else { return };
        let spare = u64::from(GENERIC_BITS - narrow.bits);
        if narrow.signed {
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
