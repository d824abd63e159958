//! Type attributes with expressions relative to the object, without address spaces: bounds and data of flang's arrays.
//!
//! Situation: flang writes `push_object_address; plus_uconst 0x20; deref` for a number in an array's descriptor. The
//! addition uses the object's location as a number, which DWARF defines only for global memory; the descriptor may be
//! private.
//!
//! Consequence: [`of_object`] replaces additions to a location by displacements.

use super::super::operation::{Binary, Operation, Placed, Program};

/// Replaces additions to the object's location by displacements.
#[must_use]
pub fn of_object(program: &Program) -> Program {
    let mut operations: Vec<Placed> = Vec::with_capacity(program.operations().len());
    // Whether each stack entry is a location, the top last; earlier entries count as values.
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
