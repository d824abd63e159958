//! Operations that run other expressions: calls, frame bases, entry values, implicit pointers, object maps, lanes.

use std::sync::Arc;

use super::super::context::{Attribute, Die, DieLocation, DieRef};
use super::super::error::Cause;
use super::super::lanes::Lanes;
use super::super::location::{Frame, Implicit, ImplicitPointer, Location, Offset, Storage};
use super::super::operation::Program;
use super::super::origin::WhyUndefined;
use super::super::value::{GENERIC_BITS, Number, Type};
use super::offset::check_bound;
use super::stack::{Entry, Fiber};
use super::{Ended, Env, Evaluator, Flow, GLOBAL, Stop, Want};
use crate::units::{AddressSpace, DieOffset};

impl Evaluator<'_> {
    /// Runs an expression on a stack of its own for the lanes of a fiber, which splits first if the results differ in
    /// kind.
    pub(super) fn inside(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        program: &Program,
        want: Want,
        what: &'static str,
    ) -> Result<Vec<Entry>, Stop> {
        let env = Env { depth: env.depth + 1, within: Some(what), ..env };
        let stack = self.spare.pop().unwrap_or_default();
        let inner = Fiber { lanes: fiber.lanes, at: 0, steps: fiber.steps, stack };
        let mut ended = self.run(program, env, inner, want);
        match (ended.len(), ended.pop()) {
            (1, Some(Ended { steps, result, .. })) => {
                fiber.steps = steps;
                result.map_err(|error| Cause::Inside { what, error: Box::new(error) }.into())
            }
            (_, Some(last)) => {
                let sets = ended.iter().map(|ended| ended.lanes).chain([last.lanes]);
                Err(Stop::Part(sets.collect()))
            }
            (_, None) => Ok(Vec::new()),
        }
    }

    pub(super) fn location_inside(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        program: &Program,
        what: &'static str,
    ) -> Result<Location, Stop> {
        match self.inside(env, fiber, program, Want::Location, what)?.pop() {
            Some(Entry::Location(location)) => Ok(location),
            _ => Ok(Location::undefined()),
        }
    }

    /// `DW_OP_call*`: a procedure shares the stack; the location of any other entry is evaluated and pushed.
    pub(super) fn call(&mut self, env: Env, fiber: &mut Fiber, reference: DieRef) -> Result<Flow, Stop> {
        let Die { is_procedure, location } = self.context.unit().die(reference)?;
        match location {
            DieLocation::Expression(program) if is_procedure => {
                return Ok(self.call_procedure(env, fiber, &program));
            }
            DieLocation::Expression(program) => {
                let location = self.location_inside(env, fiber, &program, "the location called")?;
                fiber.push_location(location);
            }
            DieLocation::ConstValue(bytes) => {
                self.work(bytes.len() / 64)?;
                fiber.push_implicit(bytes);
            }
            DieLocation::None | DieLocation::NotHere if is_procedure => {}
            DieLocation::None => {
                fiber.push_location(Location::undefined_by(env.origin(WhyUndefined::EntryWithoutLocation)));
            }
            DieLocation::NotHere => {
                fiber.push_location(Location::undefined_by(env.origin(WhyUndefined::NotAtThisPc)));
            }
        }
        Ok(Flow::Next)
    }

    fn call_procedure(&mut self, env: Env, fiber: &mut Fiber, program: &Program) -> Flow {
        let what = "the procedure called";
        let env = Env { depth: env.depth + 1, within: Some(what), ..env };
        let stack = std::mem::take(&mut fiber.stack);
        let inner = Fiber { lanes: fiber.lanes, at: 0, steps: fiber.steps, stack };
        let mut ended = self.run(program, env, inner, Want::Procedure);
        match (ended.len(), ended.pop()) {
            (1, Some(Ended { steps, result: Ok(stack), .. })) => {
                fiber.steps = steps;
                fiber.stack = stack;
                Flow::Next
            }
            (_, last) => {
                ended.extend(last);
                Flow::Parted(ended, what)
            }
        }
    }

    /// `DW_OP_fbreg`: a register as frame base has the meaning `DW_OP_bregx R, 0`.
    pub(super) fn frame_base(&mut self, env: Env, fiber: &mut Fiber, displacement: i64) -> Result<(), Stop> {
        if env.in_frame_base {
            return Err(Cause::Banned("a frame base").into());
        }
        let program = self.context.call_frame().frame_base()?;
        let inner = Env { in_frame_base: true, ..env };
        let mut base = self.location_inside(inner, fiber, &program, "DW_AT_frame_base")?;
        if let Storage::Register { register, frame, .. } = base.storage {
            if base.offset.agreed(fiber.lanes) != Some(0) {
                return Err(Cause::FrameBase("a part of a register").into());
            }
            base = self.base_register(Env { frame, ..env }, register, 0, GLOBAL)?;
        }
        if !matches!(base.storage, Storage::Memory { .. }) {
            return Err(Cause::FrameBase(base.storage.kind()).into());
        }
        base.offset = base.displaced(fiber.lanes, i128::from(displacement) * 8)?;
        fiber.push_location(base);
        Ok(())
    }

    /// `DW_OP_entry_value`: the expression reads the caller's registers. A register location gives that register's
    /// contents, as an unsigned value of its width.
    pub(super) fn entry_value(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        program: &Arc<Program>,
    ) -> Result<(), Stop> {
        if env.frame == Frame::Caller {
            return Err(Cause::Banned("DW_OP_entry_value").into());
        }
        let inner = Env { frame: Frame::Caller, ..env };
        let stack = self.inside(inner, fiber, program, Want::Stack, "DW_OP_entry_value")?;
        let lanes = fiber.lanes;
        // "Results in exactly one value being pushed on the DWARF stack when completed" (2020 AMDGPU text).
        if stack.len() != 1 {
            return Err(Cause::EntryCount { have: stack.len() }.into());
        }
        if let Some(Entry::Location(location)) = stack.last()
            && let Storage::Register { size, .. } = location.storage
        {
            if location.offset.agreed(lanes) != Some(0) {
                return Err(Cause::Kind { need: "a whole register", found: "a part of a register" }.into());
            }
            let ty = Type::unsigned(size.0 as u32);
            let number = self.read(inner, lanes, location, size.0 as u32, ty)?;
            fiber.push(number);
            return Ok(());
        }
        // The value is the top of the expression's own stack, converted like any other entry.
        let mut result = Fiber { lanes, at: 0, steps: fiber.steps, stack };
        result.make_number(0)?;
        fiber.stack.extend(result.stack);
        Ok(())
    }

    /// `DW_OP_implicit_pointer`, and `DW_OP_LLVM_aspace_implicit_pointer`, which pops its address space.
    pub(super) fn push_implicit_pointer(
        &mut self,
        fiber: &mut Fiber,
        taken: usize,
        space: AddressSpace,
        die: DieOffset,
        byte_offset: i64,
    ) -> Result<(), Stop> {
        let bits = self.space_info(space)?.address_bits;
        let storage = Storage::ImplicitPointer(ImplicitPointer { die, byte_offset, space, bits });
        fiber.replace(taken, Location { storage, offset: Offset::ZERO });
        Ok(())
    }

    /// Evaluates the target of an implicit pointer for the current lanes.
    pub(super) fn pointed_at(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        pointer: ImplicitPointer,
    ) -> Result<Location, Stop> {
        let mut location = match self.context.unit().die(DieRef::Section(pointer.die))?.location {
            DieLocation::Expression(program) => {
                self.location_inside(env, fiber, &program, "the object pointed to")?
            }
            DieLocation::ConstValue(bytes) => {
                Location { storage: Storage::Implicit(Implicit::Bytes(bytes)), offset: Offset::ZERO }
            }
            DieLocation::NotHere => Location::undefined_by(env.origin(WhyUndefined::NotAtThisPc)),
            DieLocation::None => {
                let problem = "has neither DW_AT_location nor DW_AT_const_value";
                return Err(Cause::Die { die: pointer.die, problem }.into());
            }
        };
        location.offset = location.displaced(fiber.lanes, i128::from(pointer.byte_offset) * 8)?;
        Ok(location)
    }

    /// `DW_OP_LLVM_push_lane`. `DW_AT_LLVM_lanes`, or without it the wave size, bounds the lane.
    pub(super) fn push_lane(&mut self, env: Env, fiber: &mut Fiber) -> Result<(), Stop> {
        if !env.focused {
            return Err(Cause::NoLane.into());
        }
        let lanes = fiber.lanes;
        let count = match self.context.call_frame().lanes()? {
            None => i128::from(self.context.machine().wave_size().lanes()),
            Some(Attribute::Constant(count)) => i128::from(count),
            Some(Attribute::Expression(program)) => {
                let location = self.location_inside(env, fiber, &program, "DW_AT_LLVM_lanes")?;
                if !matches!(location.storage, Storage::Implicit(_)) {
                    let (need, found) = ("an implicit location", location.storage.kind());
                    return Err(Cause::Kind { need, found }.into());
                }
                // "When read as the generic type": a smaller storage contains no lane count.
                let count = self.read(env, lanes, &location, GENERIC_BITS, Type::Generic)?;
                i128::from(super::stack::agreed(count.low(), lanes)?.cast_signed())
            }
        };
        let bound = u64::try_from(count).ok().filter(|bound| *bound > 0);
        let bound = bound.ok_or(Cause::Count { what: "DW_AT_LLVM_lanes", value: count })?;
        check_bound(lanes, bound)?;
        let lane = match (lanes.count(), lanes.first()) {
            (1, Some(lane)) => Lanes::Uniform(u64::from(lane.0)),
            _ => Lanes::from_fn(u64::from),
        };
        fiber.push(Number::generic(lane));
        Ok(())
    }
}
