//! Locations of LLVM front ends that name neither lanes nor address spaces: Triton, flang.
//!
//! Situation: Triton describes a variable in a vector register by `regx VGPR5`, one in two registers by
//! `regx VGPR5; piece 4; regx VGPR6; piece 4`, and a value computed from one by
//! `bregx VGPR0+0; constu 63; and; stack_value`. In DWARF these mean lane 0's dword for every lane, or are ill-formed.
//! flang describes a variable in private memory by `fbreg 8`, and the target of a pointer there by `fbreg 8; deref` or
//! `bregx SGPR33 8; deref`. In DWARF these are addresses of global memory.
//!
//! Consequence: [`rewritten`] adds lane and address space to such an expression. A vector register means the lane's
//! dword only if the object, or the piece, is narrower than the register. A 32-bit frame register means private memory,
//! because global addresses have 64 bits; a value read there is a generic address.

use super::super::context::{Context, FrameRegister};
use super::super::error::{Cause, Error};
use super::super::operation::{Operation, Placed, Program};
use super::computed::{self, Open};
use super::{Idiom, LANE_BITS, Scratch, by_register, in_frame, is_vector, lane_dword};
use crate::units::{BitSize, DwarfReg};

/// DWARF numbers of address spaces.
const GENERIC: u64 = 1;
const PRIVATE_LANE: u64 = 5;
/// Maximum size of a piece in bytes; no compiler writes a larger one.
const MAX_PIECE: u64 = 1 << 29;

/// Returns the rewritten expression in each of its readings, and its idiom; `None` for any other expression.
pub(super) fn rewritten(
    context: &dyn Context,
    program: &Program,
    scratch: Scratch,
    size: Option<BitSize>,
) -> Option<(Idiom, Result<Vec<Program>, Error>)> {
    if !program.operations().iter().all(is_plain) {
        return None;
    }
    let frame = context.call_frame().frame_register();
    let (mut readings, mut idiom): (Vec<Program>, _) = (Vec::new(), None);
    for open in Open::ways(program, size) {
        let frame = frame.clone();
        let mut writer = Writer { context, scratch, open, operations: Vec::new(), frame, idiom: None };
        if let Err((idiom, error)) = writer.parts(program, size)? {
            return Some((idiom, Err(error)));
        }
        let operations = writer.operations.into();
        let meant = Program { operations, end: program.end(), encoding: program.encoding() };
        idiom = Some(writer.idiom?);
        if !readings.contains(&meant) {
            readings.push(meant);
        }
    }
    Some((idiom?, Ok(readings)))
}

/// Whether these front ends write the operation: no reordering of entries, no branch, no address space.
fn is_plain(placed: &Placed) -> bool {
    matches!(
        placed.operation,
        Operation::FrameBase(_)
            | Operation::BaseRegister { .. }
            | Operation::Register(_)
            | Operation::Deref { .. }
            | Operation::PlusUconst(_)
            | Operation::Constant(_)
            | Operation::Unary(_)
            | Operation::Binary(_)
            | Operation::Convert(_)
            | Operation::StackValue
            | Operation::ImplicitValue(_)
            | Operation::Nop
            | Operation::Piece(_)
            | Operation::BitPiece { .. }
    )
}

struct Writer<'c> {
    context: &'c dyn Context,
    scratch: Scratch,
    open: Open,
    operations: Vec<Placed>,
    frame: Option<FrameRegister>,
    idiom: Option<Idiom>,
}

impl Writer<'_> {
    /// Rewrites an expression; `None` for any other expression.
    fn parts(&mut self, program: &Program, size: Option<BitSize>) -> Option<Result<(), (Idiom, Error)>> {
        let mut rest = program.operations();
        while !rest.is_empty() {
            let is_piece = |placed: &Placed| {
                matches!(placed.operation, Operation::Piece(_) | Operation::BitPiece { .. })
            };
            let length = rest.iter().position(is_piece).unwrap_or(rest.len());
            let (part, after) = rest.split_at_checked(length)?;
            let (piece, after) = match after.split_first() {
                Some((piece, after)) => (Some(piece), after),
                None => (None, after),
            };
            if let Err(failed) = self.part(part, piece, size)? {
                return Some(Err(failed));
            }
            rest = after;
        }
        Some(Ok(()))
    }

    /// Rewrites a whole expression, or the part before a piece; `None` for any other expression.
    fn part(
        &mut self,
        part: &[Placed],
        piece: Option<&Placed>,
        size: Option<BitSize>,
    ) -> Option<Result<(), (Idiom, Error)>> {
        // First bit and size of the piece.
        let bits = match piece.map(|placed| &placed.operation) {
            Some(Operation::Piece(bytes)) => Some((0, bytes.checked_mul(8)?)),
            Some(Operation::BitPiece { size, offset }) => Some((*offset, *size)),
            _ => None,
        };
        let wanted = match bits {
            Some((offset, size)) => {
                Some(BitSize(offset.checked_add(size).filter(|end| *end <= MAX_PIECE * 8)?))
            }
            None => size,
        };
        match part {
            [placed @ Placed { operation: Operation::Register(register), .. }]
                if self.is_wider(*register, wanted) =>
            {
                // Bits past the lane's dword belong to another lane.
                if let Some((offset, wanted)) = bits.filter(|(offset, size)| offset + size > LANE_BITS) {
                    let (offset, wanted) = (u128::from(offset), u128::from(wanted));
                    let cause = Cause::BeyondStorage { offset, wanted, size: u128::from(LANE_BITS) };
                    return Some(Err((Idiom::LaneDword, Error { at: placed.at, op: placed.name, cause })));
                }
                lane_dword(*register).into_iter().for_each(|operation| self.push(placed, operation));
                self.infer(Idiom::LaneDword);
            }
            [body @ .., Placed { operation: Operation::StackValue, .. }] if self.has_vector_base(body) => {
                self.operations.extend(computed::body(self.context, body, self.open)?);
                self.operations.extend(part.last().cloned());
                self.infer(Idiom::LaneDword);
            }
            _ => {
                if let Err(error) = self.in_frame(part) {
                    return Some(Err((Idiom::PrivateFrame, error)));
                }
            }
        }
        self.operations.extend(piece.cloned());
        Some(Ok(()))
    }

    fn infer(&mut self, idiom: Idiom) {
        if self.idiom != Some(Idiom::PrivateFrame) {
            self.idiom = Some(idiom);
        }
    }

    /// Adds an operation at the position of `placed`, so that errors name the compiler's operation.
    fn push(&mut self, placed: &Placed, operation: Operation) {
        self.operations.push(Placed { operation, ..placed.clone() });
    }

    /// Whether a register is a vector register wider than the described object.
    fn is_wider(&self, register: DwarfReg, wanted: Option<BitSize>) -> bool {
        let size = self.context.machine().register_size(register);
        is_vector(self.context, register)
            && wanted.zip(size.ok()).is_some_and(|(wanted, size)| wanted.0 > 0 && wanted < size)
    }

    fn has_vector_base(&self, body: &[Placed]) -> bool {
        body.iter().any(|placed| match placed.operation {
            Operation::BaseRegister { register, .. } => is_vector(self.context, register),
            _ => false,
        })
    }

    /// Rewrites operations in which a frame register means private memory; others stay unchanged.
    fn in_frame(&mut self, part: &[Placed]) -> Result<(), Error> {
        // Whether the top of the stack was read from private memory: then it is a generic address.
        let (mut is_private, mut is_read) = (false, false);
        for placed in part {
            match self.address(placed)? {
                Some(address) => {
                    self.push(placed, Operation::Constant(address));
                    self.push(placed, Operation::Constant(PRIVATE_LANE));
                    self.push(placed, Operation::FormAspaceAddress);
                    (is_private, is_read) = (true, false);
                    self.infer(Idiom::PrivateFrame);
                }
                None => {
                    match placed.operation {
                        Operation::Deref { .. } => is_read = is_private,
                        Operation::StackValue => is_read = false,
                        _ => {}
                    }
                    self.operations.push(placed.clone());
                }
            }
        }
        if let (true, Some(placed)) = (is_read, part.last()) {
            self.push(placed, Operation::Constant(GENERIC));
            self.push(placed, Operation::FormAspaceAddress);
        }
        Ok(())
    }

    /// Returns the private memory address of an operation.
    fn address(&self, placed: &Placed) -> Result<Option<u64>, Error> {
        let Some(frame) = &self.frame else { return Ok(None) };
        let found = match placed.operation {
            Operation::FrameBase(offset) => in_frame(self.context, frame, offset, self.scratch),
            Operation::BaseRegister { register, displacement } => {
                match by_register(self.context, frame, register, displacement, self.scratch) {
                    Some(found) => found,
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        found.map(Some).map_err(|cause| Error { at: placed.at, op: placed.name, cause })
    }
}
