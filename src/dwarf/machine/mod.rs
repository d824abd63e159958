//! Evaluation: operations to locations and values, for a set of lanes at once.
//!
//! The lanes of a set run together as a *fiber*. An operation either works for all of them, or says before it changes
//! anything how they must part; then each part goes on alone from that same operation. So every operation sees lanes
//! that agree in everything but data, and the outcome is that of running each lane by itself.
//!
//! A stack of native calls mirrors the DWARF's nesting (calls, frame bases, implicit pointers) and is bounded by
//! [`MAX_CALL_DEPTH`].

mod calls;
mod composite;
mod memory;
mod overlay;
mod stack;

pub use stack::Entry;

use self::stack::{Fiber, whole};
use super::context::Context;
use super::error::{Cause, Error};
use super::limits::{MAX_CALL_DEPTH, MAX_STACK};
use super::location::{Composite, Frame, Location};
use super::operation::{Operation, Placed, Program};
use super::origin::{Origin, WhyUndefined};
use super::value::Number;
use crate::units::{ExprOffset, LaneId, LaneSet};

/// For whom an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// For the wave as a whole: no lane is in focus, and operations that need one fail.
    Wave,
    /// For each lane of a set, itself in focus.
    Lanes(LaneSet),
}

impl From<Option<LaneId>> for Focus {
    fn from(lane: Option<LaneId>) -> Self {
        lane.map_or(Self::Wave, |lane| Self::Lanes(LaneSet::one(lane)))
    }
}

/// Lanes that share an outcome.
///
/// What depends on the lane is in the result's [`Lanes`](super::Lanes); for [`Focus::Wave`] the one group names lane 0.
#[derive(Clone, Debug)]
pub struct Group<T> {
    /// The lanes.
    pub lanes: LaneSet,
    /// Their result.
    pub result: Result<T, Error>,
}

/// One operation that ran, for a [`Tracer`].
#[derive(Debug)]
pub struct Step<'s> {
    /// How many expressions this one runs within; 0 for the caller's own.
    pub depth: u32,
    /// What its expression is to the one that runs it.
    pub within: Option<&'static str>,
    /// The lanes it ran for.
    pub lanes: LaneSet,
    /// The operation.
    pub placed: &'s Placed,
    /// The stack before it, the top last.
    pub before: &'s [Entry],
    /// The stack after it, the top last.
    pub stack: &'s [Entry],
    /// Operations that ran before it for these lanes.
    pub steps: u32,
}

/// An operation that failed, for a [`Tracer`].
#[derive(Debug)]
pub struct Failure<'s> {
    /// How many expressions this one runs within.
    pub depth: u32,
    /// What its expression is to the one that runs it.
    pub within: Option<&'static str>,
    /// The lanes it fails for.
    pub lanes: LaneSet,
    /// Its offset.
    pub at: ExprOffset,
    /// Its name, `result` at the end of an expression.
    pub op: &'static str,
    /// Why it failed.
    pub cause: &'s Cause,
    /// The stack that it found, the top last; entries may have been converted already.
    pub stack: &'s [Entry],
}

/// Told of every operation that ran, in order; where lanes part, one part after the other.
pub trait Tracer {
    /// An operation ran.
    fn step(&mut self, step: &Step<'_>);

    /// An operation failed.
    fn failed(&mut self, failure: &Failure<'_>) {
        let _ = failure;
    }
}

/// Evaluates expressions in one context. Cheap to make; keeping one saves a few allocations.
pub struct Evaluator<'c> {
    context: &'c dyn Context,
    call_frame: bool,
    tracer: Option<&'c mut dyn Tracer>,
    spare: Vec<Vec<Entry>>,
}

impl std::fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("call_frame", &self.call_frame).finish_non_exhaustive()
    }
}

/// What an expression runs within.
#[derive(Clone, Copy)]
struct Env {
    /// Whether lanes of fibers are lanes in focus.
    focused: bool,
    /// Whose registers `DW_OP_reg*` names.
    frame: Frame,
    /// Whether a frame base is being computed, which must not ask for itself.
    in_frame_base: bool,
    depth: u32,
    /// The operation that runs.
    here: (ExprOffset, &'static str),
    /// What this expression is to the one that runs it.
    within: Option<&'static str>,
}

impl Env {
    /// This operation as the origin of undefined bits.
    fn origin(&self, why: WhyUndefined) -> Origin {
        Origin { at: self.here.0, op: self.here.1, within: self.within, why }
    }
}

/// What must be on the stack in the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    /// The caller's stack, with an incomplete composite left as it is.
    Procedure,
    Stack,
    Location,
    Value,
}

/// Why an operation did not run for all lanes of its fiber.
enum Stop {
    /// It fails for all of them.
    Error(Box<Cause>),
    /// They must part like this first.
    Part(Vec<LaneSet>),
}

impl From<Cause> for Stop {
    fn from(cause: Cause) -> Self {
        Self::Error(Box::new(cause))
    }
}

impl From<super::error::Missing> for Stop {
    fn from(missing: super::error::Missing) -> Self {
        Cause::from(missing).into()
    }
}

/// Where a fiber goes after an operation.
enum Flow {
    /// To the next operation.
    Next,
    /// To the operation of that index.
    To(usize),
    /// Each of these to the next operation: the operation parted the lanes while running.
    Parted(Vec<Ended>, &'static str),
}

/// Lanes that reached the end of an expression or failed in it.
struct Ended {
    lanes: LaneSet,
    steps: u32,
    result: Result<Vec<Entry>, Error>,
}

impl<'c> Evaluator<'c> {
    /// An evaluator in a context.
    #[must_use]
    pub fn new(context: &'c dyn Context) -> Self {
        Self { context, call_frame: false, tracer: None, spare: Vec::new() }
    }

    /// Evaluates operands of call frame instructions, where some operations are not allowed
    /// ("Call Frame Instructions" of the 2020 AMDGPU text, and the later texts' additions).
    #[must_use]
    pub fn for_call_frames(mut self) -> Self {
        self.call_frame = true;
        self
    }

    /// Tells a tracer of every operation.
    #[must_use]
    pub fn traced(mut self, tracer: &'c mut dyn Tracer) -> Self {
        self.tracer = Some(tracer);
        self
    }

    /// The location that an expression describes, starting from a stack of `initial` (the top last).
    pub fn location(&mut self, program: &Program, focus: Focus, initial: &[Entry]) -> Vec<Group<Location>> {
        let ended = self.start(program, focus, initial, Want::Location);
        self.groups(ended, |stack| match stack.pop() {
            Some(Entry::Location(location)) => location,
            _ => Location::undefined(),
        })
    }

    /// The value that an expression computes, starting from a stack of `initial` (the top last).
    pub fn value(&mut self, program: &Program, focus: Focus, initial: &[Entry]) -> Vec<Group<Number>> {
        let ended = self.start(program, focus, initial, Want::Value);
        self.groups(ended, |stack| match stack.pop() {
            Some(Entry::Number(number)) => number,
            _ => Number::generic(0),
        })
    }

    /// All that an expression leaves on the stack, the top last.
    pub fn stack(&mut self, program: &Program, focus: Focus, initial: &[Entry]) -> Vec<Group<Vec<Entry>>> {
        let ended = self.start(program, focus, initial, Want::Stack);
        self.groups(ended, std::mem::take)
    }

    /// The location for one lane, or for the wave as a whole.
    ///
    /// # Errors
    /// As the expression and the context have it.
    pub fn location_for(&mut self, program: &Program, lane: Option<LaneId>) -> Result<Location, Error> {
        let group = self.location(program, lane.into(), &[]).into_iter().next();
        group
            .map_or_else(|| Ok(Location::undefined()), |group| group.result)
            .map(|at| at.at(lane.unwrap_or_default()))
    }

    /// The value for one lane, or for the wave as a whole.
    ///
    /// # Errors
    /// As the expression and the context have it.
    pub fn value_for(&mut self, program: &Program, lane: Option<LaneId>) -> Result<Number, Error> {
        let group = self.value(program, lane.into(), &[]).into_iter().next();
        group
            .map_or_else(|| Ok(Number::generic(0)), |group| group.result)
            .map(|at| at.at(lane.unwrap_or_default()))
    }

    fn start(&mut self, program: &Program, focus: Focus, initial: &[Entry], want: Want) -> Vec<Ended> {
        let (lanes, focused) = match focus {
            Focus::Wave => (LaneSet(1), false),
            Focus::Lanes(lanes) => (lanes, true),
        };
        if lanes.is_empty() {
            return Vec::new();
        }
        let env = Env {
            focused,
            frame: Frame::Current,
            in_frame_base: false,
            depth: 0,
            here: (ExprOffset(0), "expression"),
            within: None,
        };
        let mut stack = self.spare.pop().unwrap_or_default();
        stack.extend_from_slice(initial);
        self.run(program, env, Fiber { lanes, at: 0, steps: 0, stack }, want)
    }

    fn groups<T>(&mut self, ended: Vec<Ended>, mut take: impl FnMut(&mut Vec<Entry>) -> T) -> Vec<Group<T>> {
        let mut groups = Vec::with_capacity(ended.len());
        for Ended { lanes, result, .. } in ended {
            let result = result.map(|mut stack| {
                let taken = take(&mut stack);
                stack.clear();
                if self.spare.len() < 4 {
                    self.spare.push(stack);
                }
                taken
            });
            groups.push(Group { lanes, result });
        }
        groups
    }

    /// Runs an expression from a fiber on, until all of its lanes ended.
    fn run(&mut self, program: &Program, env: Env, fiber: Fiber, want: Want) -> Vec<Ended> {
        let mut ended = Vec::with_capacity(1);
        let failed =
            |lanes, steps, (at, op), cause| Ended { lanes, steps, result: Err(Error { at, op, cause }) };
        if env.depth > MAX_CALL_DEPTH {
            let cause =
                Cause::Limit { what: "expressions inside one another", limit: u64::from(MAX_CALL_DEPTH) };
            ended.push(failed(fiber.lanes, fiber.steps, (ExprOffset(0), "expression"), cause));
            return ended;
        }
        let mut waiting = Vec::new();
        let mut next = Some(fiber);
        while let Some(mut fiber) = next.take().or_else(|| waiting.pop()) {
            let stop = loop {
                let Some(placed) = program.operations.get(fiber.at) else {
                    let env = Env { here: (program.end, "result"), ..env };
                    match self.finish(env, &mut fiber, want) {
                        Ok(()) => break None,
                        Err(stop) => break Some((stop, (program.end, "result"))),
                    }
                };
                let here = (placed.at, placed.name);
                let before = fiber.steps;
                let env = Env { here, ..env };
                let entries = if self.tracer.is_some() { fiber.stack.clone() } else { Vec::new() };
                let flow = match fiber.charge(1) {
                    Ok(()) => self.operation(env, &mut fiber, &placed.operation),
                    Err(stop) => Err(stop),
                };
                match flow {
                    Ok(Flow::Next) => fiber.at += 1,
                    Ok(Flow::To(index)) => fiber.at = index,
                    Ok(Flow::Parted(parts, what)) => {
                        for part in parts {
                            match part.result {
                                Ok(stack) => {
                                    let (lanes, steps, at) = (part.lanes, part.steps, fiber.at + 1);
                                    waiting.push(Fiber { lanes, at, steps, stack });
                                }
                                Err(error) => {
                                    let cause = Cause::Inside { what, error: Box::new(error) };
                                    self.tell_failure(env, part.lanes, &cause, &entries);
                                    ended.push(failed(part.lanes, part.steps, here, cause));
                                }
                            }
                        }
                        fiber.lanes = LaneSet::EMPTY;
                        break None;
                    }
                    Err(Stop::Part(parts)) => {
                        fiber.steps = before;
                        break Some((Stop::Part(parts), here));
                    }
                    Err(stop) => break Some((stop, here)),
                }
                if fiber.stack.len() > MAX_STACK {
                    let cause = Cause::Limit { what: "stack entries", limit: MAX_STACK as u64 };
                    break Some((cause.into(), here));
                }
                if let Some(tracer) = &mut self.tracer {
                    let Fiber { lanes, ref stack, .. } = fiber;
                    let (depth, within, before, steps) = (env.depth, env.within, &*entries, before);
                    tracer.step(&Step { depth, within, lanes, placed, before, stack, steps });
                }
            };
            match stop {
                None if fiber.lanes.is_empty() => {}
                None => ended.push(Ended { lanes: fiber.lanes, steps: fiber.steps, result: Ok(fiber.stack) }),
                Some((Stop::Error(cause), here)) => {
                    self.tell_failure(Env { here, ..env }, fiber.lanes, &cause, &fiber.stack);
                    ended.push(failed(fiber.lanes, fiber.steps, here, *cause))
                }
                Some((Stop::Part(parts), _)) => waiting.extend(fiber.parted(&parts)),
            }
        }
        ended
    }

    fn tell_failure(&mut self, env: Env, lanes: LaneSet, cause: &Cause, stack: &[Entry]) {
        let Env { depth, within, here: (at, op), .. } = env;
        if let Some(tracer) = &mut self.tracer {
            tracer.failed(&Failure { depth, within, lanes, at, op, cause, stack });
        }
    }

    /// Makes the top of the stack what the evaluation is to give; everything below it is dropped.
    /// "The result of the evaluation of a DWARF expression" of the 2020 AMDGPU text.
    fn finish(&mut self, env: Env, fiber: &mut Fiber, want: Want) -> Result<(), Stop> {
        if want == Want::Procedure {
            return Ok(());
        }
        fiber.complete();
        match want {
            Want::Stack | Want::Procedure => return Ok(()),
            Want::Location if fiber.stack.is_empty() => {
                let nothing = Location::undefined_by(env.origin(WhyUndefined::NothingLeft));
                fiber.stack.push(Entry::Location(nothing));
            }
            Want::Location => {
                self.make_location(env, fiber, 0)?;
            }
            Want::Value => {
                fiber.make_number(0)?;
            }
        }
        let above = fiber.stack.len().saturating_sub(1);
        fiber.stack.drain(..above);
        Ok(())
    }

    fn operation(&mut self, env: Env, fiber: &mut Fiber, operation: &Operation) -> Result<Flow, Stop> {
        if self.call_frame && banned_in_call_frames(operation) {
            return Err(Cause::Banned("call frame information").into());
        }
        match operation {
            Operation::Constant(value) => fiber.push(Number::generic(*value)),
            Operation::Addr(address) => {
                let address = self.context.loaded(*address)?;
                self.push_global(fiber, address)?;
            }
            Operation::Addrx(index) => {
                let address = self.context.loaded(self.context.debug_addr(*index)?)?;
                self.push_global(fiber, address)?;
            }
            Operation::Constx(index) => fiber.push(Number::generic(self.context.debug_addr(*index)?)),
            Operation::ConstType { ty, bytes } => {
                let ty = self.base_type(*ty)?;
                let (said, actual) = (bytes.len() as u64 * 8, ty.size().0);
                if said != actual {
                    return Err(Cause::SizesDiffer { said, actual }.into());
                }
                fiber.push(Number::from_bytes(ty, bytes));
            }
            Operation::Pick(index) => fiber.pick(usize::from(*index))?,
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
                fiber.push_location(Location::undefined_by(env.origin(WhyUndefined::Said)));
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
            Operation::CallFrameCfa => fiber.push_location(self.context.cfa()?),
            Operation::CallFrameEntryReg(register) => {
                let size = self.register_size(*register)?;
                fiber.push_location(self.context.entry_register(*register, size)?);
            }
            Operation::PushObjectAddress if env.frame == Frame::Caller => {
                return Err(Cause::Banned("DW_OP_entry_value").into());
            }
            Operation::PushObjectAddress => fiber.push_location(self.context.object()?),
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
                let bits = bytes.checked_mul(8).ok_or(composite::TOO_LARGE)?;
                self.piece(env, fiber, bits, None)?;
            }
            Operation::BitPiece { size, offset } => self.piece(env, fiber, *size, Some(*offset))?,
            Operation::PieceEnd => fiber.piece_end()?,
            Operation::Extend { size, count } => self.extend(env, fiber, *size, *count)?,
            Operation::SelectBitPiece { size, count } => self.select_bit_piece(env, fiber, *size, *count)?,
            Operation::ObjectMap(die) => self.object_map(env, fiber, *die)?,
            Operation::Composite => {
                fiber.push_location(whole(Composite { open: true, ..Composite::default() }))
            }
            Operation::Overlay => self.overlay(env, fiber, 8)?,
            Operation::BitOverlay => self.overlay(env, fiber, 1)?,
        }
        Ok(Flow::Next)
    }
}

/// The default address space, global memory.
const GLOBAL: crate::units::AddressSpace = crate::units::AddressSpace(0);

/// Operations that depend on other sections, on an object, on a lane, or on the call frame itself.
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
