//! Evaluation: operations to locations and values, for a set of lanes at once.
//!
//! The lanes of a set run together as a *fiber*. An operation either works for all of them, or returns before any
//! change the sets that must run separately; each set continues from the same operation. So every operation sees lanes
//! that differ only in data, and the result equals that of running each lane separately.
//!
//! Native calls mirror the DWARF's nesting (calls, frame bases, implicit pointers), bounded by [`MAX_CALL_DEPTH`].

mod calls;
mod composite;
mod memory;
mod object_map;
mod offset;
mod operations;
mod overlay;
mod read;
mod stack;
mod trace;

pub use stack::Entry;
pub use trace::{Failure, Step, Tracer};

use self::stack::Fiber;
use super::budget::Share;
use super::context::Context;
use super::error::{Cause, Error};
use super::limits::{MAX_CALL_DEPTH, MAX_OWN_WORK, MAX_STACK, MAX_WORK, OWN_WORK, OWN_WORK_OF_OPERATION};
use super::location::{Frame, Location};
use super::operation::Program;
use super::origin::{Origin, WhyUndefined};
use super::value::Number;
use crate::units::{ExprOffset, LaneId, LaneSet};

/// The lanes of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The whole wave: no lane is in focus, and operations that need one fail.
    Wave,
    /// Each lane of a set, with itself in focus.
    Lanes(LaneSet),
}

impl From<Option<LaneId>> for Focus {
    fn from(lane: Option<LaneId>) -> Self {
        lane.map_or(Self::Wave, |lane| Self::Lanes(LaneSet::one(lane)))
    }
}

/// Lanes with a common result.
///
/// Lane-dependent quantities are [`Lanes`](super::Lanes) in the result. For [`Focus::Wave`] the only group is lane 0.
#[derive(Clone, Debug)]
pub struct Group<T> {
    /// The lanes.
    pub lanes: LaneSet,
    /// Their result.
    pub result: Result<T, Error>,
}

/// Evaluates expressions in one context. Cheap to create; reuse saves a few allocations.
pub struct Evaluator<'c> {
    context: &'c dyn Context,
    call_frame: bool,
    tracer: Option<&'c mut dyn Tracer>,
    spare: Vec<Vec<Entry>>,
    /// The cost of the evaluation for all lanes.
    share: Share<'c>,
    parts_made: usize,
}

impl std::fmt::Debug for Evaluator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator").field("call_frame", &self.call_frame).finish_non_exhaustive()
    }
}

/// The environment of a running expression.
#[derive(Clone, Copy)]
struct Env {
    /// Whether lanes of fibers are in focus.
    focused: bool,
    /// The frame of `DW_OP_reg*` registers.
    frame: Frame,
    /// Whether a frame base is under evaluation, which must not refer to itself.
    in_frame_base: bool,
    depth: u32,
    /// The running operation.
    here: (ExprOffset, &'static str),
    /// The role of this expression in the one that runs it.
    within: Option<&'static str>,
}

impl Env {
    /// Returns this operation as the origin of undefined bits.
    fn origin(&self, why: WhyUndefined) -> Origin {
        Origin { at: self.here.0, op: self.here.1, within: self.within, why }
    }
}

/// The expected kind of result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    /// The caller's stack; an incomplete composite stays incomplete.
    Procedure,
    Stack,
    Location,
    Value,
}

/// The reason that an operation did not run for all lanes of its fiber.
enum Stop {
    /// It fails for all of them.
    Error(Box<Cause>),
    /// They must split into these sets first.
    Part(Vec<LaneSet>),
}

impl From<Cause> for Stop {
    fn from(cause: Cause) -> Self {
        Self::Error(Box::new(cause))
    }
}

impl From<super::error::ContextError> for Stop {
    fn from(missing: super::error::ContextError) -> Self {
        Cause::from(missing).into()
    }
}

/// The continuation of a fiber after an operation.
enum Flow {
    /// To the next operation.
    Next,
    /// To the operation of that index.
    To(usize),
    /// Each of these at the next operation: the operation split the lanes while running.
    Parted(Vec<Ended>, &'static str),
}

/// Lanes that reached the end of an expression or failed in it.
struct Ended {
    lanes: LaneSet,
    steps: u32,
    result: Result<Vec<Entry>, Error>,
}

impl<'c> Evaluator<'c> {
    /// Creates an evaluator for a context.
    #[must_use]
    pub fn new(context: &'c dyn Context) -> Self {
        let share = share(context, 0);
        Self { context, call_frame: false, tracer: None, spare: Vec::new(), share, parts_made: 0 }
    }

    /// Evaluates operands of call frame instructions, in which some operations are not allowed ("Call Frame
    /// Instructions" of the 2020 AMDGPU text, and additions of later texts).
    #[must_use]
    pub fn for_call_frames(mut self) -> Self {
        self.call_frame = true;
        self
    }

    /// Notifies a tracer of every operation.
    #[must_use]
    pub fn traced(mut self, tracer: &'c mut dyn Tracer) -> Self {
        self.tracer = Some(tracer);
        self
    }

    /// Evaluates the location of an expression, with the initial stack `initial` (the top last).
    pub fn location(&mut self, program: &Program, focus: Focus, initial: &[Entry]) -> Vec<Group<Location>> {
        let ended = self.start(program, focus, initial, Want::Location);
        self.groups(ended, |stack| match stack.pop() {
            Some(Entry::Location(location)) => location,
            _ => Location::undefined(),
        })
    }

    /// Evaluates the value of an expression, with the initial stack `initial` (the top last).
    pub fn value(&mut self, program: &Program, focus: Focus, initial: &[Entry]) -> Vec<Group<Number>> {
        let ended = self.start(program, focus, initial, Want::Value);
        self.groups(ended, |stack| match stack.pop() {
            Some(Entry::Number(number)) => number,
            _ => Number::generic(0),
        })
    }

    /// Evaluates an expression to its final stack, the top last.
    pub fn stack(&mut self, program: &Program, focus: Focus, initial: &[Entry]) -> Vec<Group<Vec<Entry>>> {
        let ended = self.start(program, focus, initial, Want::Stack);
        self.groups(ended, std::mem::take)
    }

    /// Evaluates the location for one lane, or for the whole wave.
    ///
    /// # Errors
    /// The errors of the expression and the context.
    pub fn location_for(&mut self, program: &Program, lane: Option<LaneId>) -> Result<Location, Error> {
        let group = self.location(program, lane.into(), &[]).into_iter().next();
        group
            .map_or_else(|| Ok(Location::undefined()), |group| group.result)
            .map(|at| at.at(lane.unwrap_or_default()))
    }

    /// Evaluates the value for one lane, or for the whole wave.
    ///
    /// # Errors
    /// The errors of the expression and the context.
    pub fn value_for(&mut self, program: &Program, lane: Option<LaneId>) -> Result<Number, Error> {
        let group = self.value(program, lane.into(), &[]).into_iter().next();
        group
            .map_or_else(|| Ok(Number::generic(0)), |group| group.result)
            .map(|at| at.at(lane.unwrap_or_default()))
    }

    /// Returns the cost of the last evaluation, in units of [`MAX_WORK`].
    pub(crate) fn worked(&self) -> u32 {
        u32::try_from(self.share.used()).unwrap_or(u32::MAX)
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
        (self.share, self.parts_made) = (share(self.context, program.operations.len()), 0);
        let mut stack = self.spare.pop().unwrap_or_default();
        stack.extend_from_slice(initial);
        let ended = self.run(program, env, Fiber { lanes, at: 0, steps: 0, stack }, want);
        self.share.spend();
        ended
    }

    /// Counts work for all lanes of the evaluation.
    fn work(&mut self, units: usize) -> Result<(), Stop> {
        Ok(self.share.take(units as u64)?)
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

    /// Runs an expression from a fiber on, until all of its lanes end.
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
        // The operation that runs the expression had it decoded.
        if let Err(Stop::Error(cause)) = self.work(program.operations.len() / 8) {
            ended.push(failed(fiber.lanes, fiber.steps, (ExprOffset(0), "expression"), *cause));
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
                let listens = self.tracer.as_ref().is_some_and(|tracer| tracer.listens());
                let entries = if listens { fiber.stack.clone() } else { Vec::new() };
                let flow = match fiber.charge(1).and_then(|()| self.work(1)) {
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
                                    self.trace_failure(env, part.lanes, &cause, &entries);
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
                    self.trace_failure(Env { here, ..env }, fiber.lanes, &cause, &fiber.stack);
                    ended.push(failed(fiber.lanes, fiber.steps, here, *cause))
                }
                Some((Stop::Part(parts), here)) => {
                    let words: usize = fiber.stack.iter().map(Entry::words).sum();
                    match self.work(words.saturating_mul(parts.len())) {
                        Err(Stop::Error(cause)) => {
                            ended.push(failed(fiber.lanes, fiber.steps, here, *cause));
                        }
                        _ => waiting.extend(fiber.parted(&parts)),
                    }
                }
            }
        }
        ended
    }

    fn trace_failure(&mut self, env: Env, lanes: LaneSet, cause: &Cause, stack: &[Entry]) {
        let Env { depth, within, here: (at, op), .. } = env;
        if let Some(tracer) = &mut self.tracer {
            tracer.failed(&Failure { depth, within, lanes, at, op, cause, stack });
        }
    }

    /// Converts the top of the stack to the expected result; drops everything below it. "The result of the evaluation
    /// of a DWARF expression" of the 2020 AMDGPU text.
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
}

/// Creates the share for an expression with that many operations.
fn share(context: &dyn Context, operations: usize) -> Share<'_> {
    let own = OWN_WORK.saturating_add(OWN_WORK_OF_OPERATION.saturating_mul(operations as u64));
    Share::new(context.machine().budget(), own.min(MAX_OWN_WORK), ("units of work", u64::from(MAX_WORK)))
}

/// The default address space, global memory.
const GLOBAL: crate::units::AddressSpace = crate::units::AddressSpace(0);
