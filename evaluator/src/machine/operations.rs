//! Effects of operations; the longer ones are in separate files.

use super::super::composite::Composite;
use super::super::error::Cause;
use super::super::location::{Frame, Location};
use super::super::operation::Operation;
use super::super::origin::WhyUndefined;
use super::super::value::Number;
use super::stack::{Fiber, whole};
use super::{Env, Evaluator, Flow, GLOBAL, Stop};

impl Evaluator<'_> {
    pub(super) fn operation(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        operation: &Operation,
    ) -> Result<Flow, Stop> {
        if self.call_frame && banned_in_call_frames(operation) {
            return Err(Cause::Banned("call frame information").into());
        }
        match operation {
            Operation::Constant(value) => fiber.push(Number::generic(*value)),
            Operation::Addr(address) => {
                let address = self.context.call_frame().loaded(*address)?;
                self.push_global(fiber, address)?;
            }
            Operation::Addrx(index) => {
                let address = self.context.call_frame().loaded(self.context.unit().debug_addr(*index)?)?;
                self.push_global(fiber, address)?;
            }
            Operation::Constx(index) => fiber.push(Number::generic(self.context.unit().debug_addr(*index)?)),
            Operation::ConstType { ty, bytes } => {
                let ty = self.base_type(*ty)?;
                let (given, actual) = (bytes.len() as u64 * 8, ty.size().0);
                if given != actual {
                    return Err(Cause::SizesDiffer { given, actual }.into());
                }
                fiber.push(Number::from_bytes(ty, bytes));
            }
            Operation::Pick(index) => {
                let words = fiber.pick(usize::from(*index))?;
                self.work(words - 1)?;
            }
            Operation::Drop => fiber.drop_top()?,
            Operation::Swap => fiber.turn(2)?,
            Operation::Rot => fiber.turn(3)?,
            Operation::Unary(op) => fiber.unary(*op)?,
            Operation::Binary(op) => fiber.binary(*op)?,
            Operation::PlusUconst(value) => fiber.plus_uconst(*value)?,
            Operation::Convert(ty) => fiber.convert(self.type_or_generic(*ty)?)?,
            Operation::Reinterpret(ty) => fiber.reinterpret(self.type_or_generic(*ty)?)?,
            Operation::Bra(target) => {
                let to = target.to.ok_or(Cause::BranchTarget { by: target.by })?;
                if fiber.taken()? {
                    return Ok(Flow::To(to as usize));
                }
            }
            Operation::Skip(target) => {
                let to = target.to.ok_or(Cause::BranchTarget { by: target.by })?;
                return Ok(Flow::To(to as usize));
            }
            Operation::Nop => {}
            Operation::PushLane => self.push_lane(env, fiber)?,
            Operation::Undefined => {
                fiber.push_location(Location::undefined_by(env.origin(WhyUndefined::Explicit)));
            }
            Operation::ImplicitValue(bytes) => fiber.push_implicit(bytes.clone()),
            Operation::StackValue => fiber.stack_value()?,
            Operation::Register(register) => {
                let size = self.register_size(*register)?;
                fiber.push_location(Location::register_of(*register, env.frame, size));
            }
            Operation::RegvalType { register, ty } => {
                let ty = self.base_type(*ty)?;
                let size = self.register_size(*register)?;
                let location = Location::register_of(*register, env.frame, size);
                let number = self.read(env, fiber.lanes, &location, ty.size().0 as u32, ty)?;
                fiber.push(number);
            }
            Operation::BaseRegister { register, displacement } => {
                let location = self.base_register(env, *register, *displacement, GLOBAL)?;
                fiber.push_location(location);
            }
            Operation::AspaceBregx { register, displacement } => {
                let space = fiber.space(0)?;
                let location = self.base_register(env, *register, *displacement, space)?;
                fiber.replace(1, location);
            }
            Operation::Deref { bytes } => self.deref(env, fiber, *bytes, None)?,
            Operation::DerefType { bytes, ty } => self.deref(env, fiber, *bytes, Some(*ty))?,
            Operation::Xderef { bytes } => self.xderef(env, fiber, *bytes, None)?,
            Operation::XderefType { bytes, ty } => self.xderef(env, fiber, *bytes, Some(*ty))?,
            Operation::FormAspaceAddress => {
                let location = self.address(env, fiber, 0, 1)?;
                fiber.replace(2, location);
            }
            Operation::Offset => self.offset(env, fiber, 8)?,
            Operation::BitOffset => self.offset(env, fiber, 1)?,
            Operation::OffsetUconst(bytes) => {
                let lanes = fiber.lanes;
                let location = self.make_location(env, fiber, 0)?;
                let displacement = i128::from(*bytes) * 8;
                location.offset = location.displaced(lanes, displacement)?;
            }
            Operation::FrameBase(displacement) => self.frame_base(env, fiber, *displacement)?,
            Operation::CallFrameCfa => fiber.push_location(self.context.call_frame().cfa()?),
            Operation::CallFrameEntryReg(register) => {
                let size = self.register_size(*register)?;
                fiber.push_location(self.context.call_frame().entry_register(*register, size)?);
            }
            Operation::PushObjectAddress if env.frame == Frame::Caller => {
                return Err(Cause::Banned("DW_OP_entry_value").into());
            }
            Operation::PushObjectAddress => fiber.push_location(self.context.call_frame().object()?),
            Operation::FormTlsAddress => {
                fiber.make_integral(0)?;
                return Err(Cause::NotOnThisMachine("thread-local storage").into());
            }
            Operation::Call(die) => return self.call(env, fiber, *die),
            Operation::EntryValue(program) => self.entry_value(env, fiber, program)?,
            Operation::ImplicitPointer { die, displacement } => {
                self.push_implicit_pointer(fiber, 0, GLOBAL, *die, *displacement)?;
            }
            Operation::AspaceImplicitPointer { die, displacement } => {
                let space = fiber.space(0)?;
                self.push_implicit_pointer(fiber, 1, space, *die, *displacement)?;
            }
            Operation::Piece(bytes) => {
                self.piece(env, fiber, u128::from(*bytes) * 8, None)?;
            }
            Operation::BitPiece { size, offset } => {
                self.piece(env, fiber, u128::from(*size), Some(*offset))?
            }
            Operation::PieceEnd => fiber.piece_end()?,
            Operation::Extend { size, count } => self.extend(env, fiber, *size, *count)?,
            Operation::SelectBitPiece { size, count } => self.select_bit_piece(env, fiber, *size, *count)?,
            Operation::ObjectMap(die) => self.object_map(env, fiber, *die)?,
            Operation::Composite => {
                fiber.push_location(whole(Composite::open()));
            }
            Operation::Overlay => self.overlay(env, fiber, 8)?,
            Operation::BitOverlay => self.overlay(env, fiber, 1)?,
        }
        Ok(Flow::Next)
    }
}

/// Operations that depend on other sections, an object, a lane, or the call frame itself.
fn banned_in_call_frames(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Addrx(_)
            | Operation::Constx(_)
            | Operation::ConstType { .. }
            | Operation::RegvalType { .. }
            | Operation::DerefType { .. }
            | Operation::XderefType { .. }
            | Operation::Convert(_)
            | Operation::Reinterpret(_)
            | Operation::Call(_)
            | Operation::PushObjectAddress
            | Operation::CallFrameCfa
            | Operation::EntryValue(_)
            | Operation::FrameBase(_)
            | Operation::ImplicitPointer { .. }
            | Operation::AspaceImplicitPointer { .. }
            | Operation::PushLane
            | Operation::ObjectMap(_)
    )
}
