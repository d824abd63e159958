//! Attributes of types that count from the object, in units that name no address spaces: bounds and data of flang's arrays.
//!
//! *Situation.* flang writes `push_object_address; plus_uconst 0x20; deref` for a number in an array's descriptor. The addition
//! takes the object's place as a number, which by the book is only defined for global memory; flang's descriptors lie in private
//! memory, too.
//!
//! *What it needs.* [`of_object`] makes displacements of the additions to a place.

use super::super::operation::{Binary, Operation, Placed, Program};

/// The same expression with displacements in place of additions to the object's place.
#[must_use]
pub fn of_object(program: &Program) -> Program {
    let mut operations: Vec<Placed> = Vec::with_capacity(program.operations().len());
    // Whether the entries of the stack are places, the top last; what was there before counts as a value.
    let mut places: Vec<bool> = Vec::new();
    for placed in program.operations() {
        let mut push = |operation: Operation| operations.push(Placed { operation, ..placed.clone() });
        match &placed.operation {
            Operation::PushObjectAddress => {
                places.push(true);
                push(Operation::PushObjectAddress);
            }
            Operation::PlusUconst(bytes) if places.last() == Some(&true) => {
                push(Operation::OffsetUconst(*bytes))
            }
            Operation::Binary(Binary::Plus) => {
                let (top, below) = (places.pop().unwrap_or(false), places.pop().unwrap_or(false));
                places.push(top != below);
                match (below, top) {
                    (true, false) => push(Operation::Offset),
                    (false, true) => {
                        push(Operation::Swap);
                        push(Operation::Offset);
                    }
                    _ => push(Operation::Binary(Binary::Plus)),
                }
            }
            Operation::Binary(binary) => {
                places.truncate(places.len().saturating_sub(2));
                places.push(false);
                push(Operation::Binary(*binary));
            }
            Operation::Pick(index) => {
                let copied = places.len().checked_sub(usize::from(*index) + 1).and_then(|at| places.get(at));
                places.push(copied.copied().unwrap_or(false));
                push(Operation::Pick(*index));
            }
            Operation::Deref { bytes } => {
                places.pop();
                places.push(false);
                push(Operation::Deref { bytes: *bytes });
            }
            Operation::Constant(number) => {
                places.push(false);
                push(Operation::Constant(*number));
            }
            Operation::Nop | Operation::Unary(_) | Operation::PlusUconst(_) => push(placed.operation.clone()),
            // No compiler writes other operations that move entries in such an attribute.
            _ => return program.clone(),
        }
    }
    Program { operations: operations.into(), end: program.end(), encoding: program.encoding() }
}
