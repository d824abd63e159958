//! Operations that run other expressions: calls, frame bases, entry values, implicit pointers, object maps, lane bounds.

use std::sync::Arc;

use super::super::context::{Attribute, Die, DieLocation, DieRef};
use super::super::error::Cause;
use super::super::lanes::Lanes;
use super::super::location::{Frame, Implicit, ImplicitPointer, Location, Offset, Storage};
use super::super::operation::Program;
use super::super::origin::WhyUndefined;
use super::super::value::{Kind, Number, Type};
use super::offset::{check_bound, signed_limbs};
use super::stack::{Entry, Fiber, part_by_cause};
use super::{Ended, Env, Evaluator, Flow, GLOBAL, Stop, Want};
use crate::units::{AddressSpace, DieOffset, LaneId, LaneSet};

impl Evaluator<'_> {
    /// Runs an expression on a stack of its own for the lanes of a fiber. If they do not all come to the same end, the
    /// fiber parts first.
    fn inside(
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

    fn location_inside(
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

    fn number_inside(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        attribute: &Attribute,
        what: &'static str,
    ) -> Result<Lanes<u64>, Stop> {
        let program = match attribute {
            Attribute::Constant(value) => return Ok(Lanes::Uniform(*value)),
            Attribute::Expression(program) => program,
        };
        match self.inside(env, fiber, program, Want::Value, what)?.pop() {
            Some(Entry::Number(number)) if number.ty().is_integral() => Ok(number.low().clone()),
            _ => Err(Cause::Kind { need: "an integral value", found: "a value of another type" }.into()),
        }
    }

    /// `DW_OP_call*`: a procedure shares the stack; any other entry is evaluated apart and its location pushed.
    pub(super) fn call(&mut self, env: Env, fiber: &mut Fiber, reference: DieRef) -> Result<Flow, Stop> {
        let Die { is_procedure, location } = self.context.die(reference)?;
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

    /// `DW_OP_fbreg`: a register as frame base counts as `DW_OP_bregx R, 0`.
    pub(super) fn frame_base(&mut self, env: Env, fiber: &mut Fiber, displacement: i64) -> Result<(), Stop> {
        if env.in_frame_base {
            return Err(Cause::Banned("a frame base").into());
        }
        let program = self.context.frame_base()?;
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

    /// `DW_OP_entry_value`: the expression sees the caller's registers. A register location gives that register's
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
        let mut stack = self.inside(inner, fiber, program, Want::Stack, "DW_OP_entry_value")?;
        let lanes = fiber.lanes;
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
        // The value is what its own stack says it is; the conversions are those of any other entry.
        stack.drain(..stack.len().saturating_sub(1));
        let mut result = Fiber { lanes, at: 0, steps: fiber.steps, stack };
        result.make_number(0)?;
        fiber.stack.extend(result.stack);
        Ok(())
    }

    /// `DW_OP_implicit_pointer` and `DW_OP_LLVM_aspace_implicit_pointer`, which takes its address space.
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

    /// The object that an implicit pointer points to, evaluated for whoever looks now.
    pub(super) fn pointed_at(
        &mut self,
        env: Env,
        fiber: &mut Fiber,
        pointer: ImplicitPointer,
    ) -> Result<Location, Stop> {
        let mut location = match self.context.die(DieRef::Section(pointer.die))?.location {
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

    /// `DW_OP_LLVM_push_lane`. The lane must be below `DW_AT_LLVM_lanes`, or is bound by the wave where that is absent.
    pub(super) fn push_lane(&mut self, env: Env, fiber: &mut Fiber) -> Result<(), Stop> {
        if !env.focused {
            return Err(Cause::NoLane.into());
        }
        let lanes = fiber.lanes;
        let bound = match self.context.lanes()? {
            None => u64::from(self.context.wave_size().lanes()),
            Some(Attribute::Constant(count)) => count,
            Some(Attribute::Expression(program)) => {
                let location = self.location_inside(env, fiber, &program, "DW_AT_LLVM_lanes")?;
                if !matches!(location.storage, Storage::Implicit(_)) {
                    let (need, found) = ("an implicit location", location.storage.kind());
                    return Err(Cause::Kind { need, found }.into());
                }
                let bits = (location.storage.size().unwrap_or(0)).min(64) as u32;
                let count = self.read(env, lanes, &location, bits, Type::Generic)?;
                super::stack::agreed(count.low(), lanes)?
            }
        };
        if bound == 0 {
            return Err(Cause::Zero("DW_AT_LLVM_lanes").into());
        }
        check_bound(lanes, bound)?;
        let lane = match (lanes.count(), lanes.first()) {
            (1, Some(lane)) => Lanes::Uniform(u64::from(lane.0)),
            _ => Lanes::from_fn(u64::from),
        };
        fiber.push(Number::generic(lane));
        Ok(())
    }

    /// `DW_OP_object_map` (DWARF issue 230712.4): the element of that index, in a vector register while its chunk of
    /// the array is there, else in memory.
    pub(super) fn object_map(&mut self, env: Env, fiber: &mut Fiber, die: DieOffset) -> Result<(), Stop> {
        let lanes = fiber.lanes;
        let index = index(fiber)?;
        let map = self.context.object_map(die)?;
        let what = "DW_TAG_object_map";
        let size = self.number_inside(env, fiber, &map.element_size, what)?;
        let count = self.number_inside(env, fiber, &map.element_count, what)?;
        let chunk = size.clone().zip(count, u64::saturating_mul);
        let none = chunk.lanes_where(lanes, |chunk| chunk == 0);
        super::stack::part_failing(lanes, none, || Cause::Zero("the size of a chunk"))?;
        let offset = index.zip(size, u64::saturating_mul);
        let here = match (map.ranges.is_empty(), self.context.pc()) {
            (true, _) => true,
            (false, Some(pc)) => map.ranges.iter().any(|(low, high)| (*low..*high).contains(&pc)),
            (false, None) => {
                let missing = super::super::error::Missing::not_captured("no program location");
                return Err(missing.into());
            }
        };
        let mut in_register = LaneSet::EMPTY;
        if here {
            let ordinal = self.number_inside(env, fiber, &map.cntl_ordinal, what)?;
            let quotient =
                offset.clone().zip(chunk.clone(), |offset, chunk| offset.checked_div(chunk).unwrap_or(0));
            let matching = quotient.zip(ordinal.clone(), |quotient, ordinal| u64::from(quotient == ordinal));
            in_register = matching.lanes_where(lanes, |same| same == 1);
            in_register = in_register.and(ordinal.lanes_where(lanes, |ordinal| ordinal != 0));
        }
        if !in_register.is_empty() && in_register != lanes {
            return Err(Stop::Part(vec![in_register, lanes.without(in_register)]));
        }
        let (base, bytes) = if in_register.is_empty() {
            (&map.mem_location, offset)
        } else {
            (&map.vec_location, offset.zip(chunk, |offset, chunk| offset.checked_rem(chunk).unwrap_or(0)))
        };
        let mut location = match base {
            Attribute::Expression(program) => self.location_inside(env, fiber, program, what)?,
            Attribute::Constant(address) => {
                let bits = self.space_info(GLOBAL)?.address_bits;
                Location::memory(GLOBAL, bits, crate::units::Address(*address))
            }
        };
        location.offset =
            location.moved(lanes, bytes.is_uniform(), |lane| i128::from(bytes.get(lane)) * 8)?;
        fiber.replace(1, location);
        Ok(())
    }
}

/// The entry on top as an index: "a zero-origin ordinal", so neither negative nor beyond what 64 bits hold.
fn index(fiber: &mut Fiber) -> Result<Lanes<u64>, Stop> {
    let lanes = fiber.lanes;
    let number = fiber.make_integral(0)?;
    let (kind, bits, _) = number.ty().shape();
    // A generic value is an address or a count as often as a number with a sign; as large as that it is refused where
    // it leaves the storage.
    let signed = kind == Kind::Signed && number.ty() != Type::Generic;
    let of = |lane: LaneId| signed_limbs(&number.limbs(lane), bits, signed);
    let outside: LaneSet = lanes.iter().filter(|lane| u64::try_from(of(*lane)).is_err()).collect();
    part_by_cause(lanes, outside, |lane| Cause::Index { index: of(lane) })?;
    Ok(number.low().clone())
}
