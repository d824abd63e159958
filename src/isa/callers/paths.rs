//! States before the instructions of a function, along every path from its entry.

use std::collections::{BTreeMap, BTreeSet};

use super::run::Units;
use super::state::{State, Value};
use super::step::{Effect, Flow, Step};
use super::{CodeTarget, UndecidedError};
use crate::isa::Instruction;
use crate::isa::registers::{BASE_POINTER, FRAME_POINTER, RETURN_ADDRESS, STACK_POINTER};

/// Maximum number of entries of all states that are kept; about 40 bytes each.
const MAX_ENTRIES: usize = 1 << 19;
/// Maximum units of work for each instruction of the function: running one takes a unit, merging states a unit and one
/// for four of their entries. A state changes only to less known contents, and most code needs two or three runs.
const MAX_WORK: usize = 128;

/// A function's code with the states before the first instructions of its straight runs.
#[derive(Debug)]
pub(in crate::isa) struct Paths {
    steps: Vec<Step>,
    units: Units,
    /// The targets of branches.
    targets: BTreeSet<usize>,
    states: BTreeMap<usize, State>,
    /// The first place where the code's way on is not known.
    pub(super) problem: Option<UndecidedError>,
}

/// The stack, frame and base pointers of a state.
#[derive(Clone, Copy, Debug)]
pub(in crate::isa) struct Pointers([Value; 3]);

impl Pointers {
    fn of(state: &State) -> Self {
        Self([STACK_POINTER, FRAME_POINTER, BASE_POINTER].map(|number| state.scalar(number)))
    }

    /// The value of a scalar register; unknown, if it is none of them.
    pub(in crate::isa) fn scalar(self, number: u8) -> Value {
        let index = number.checked_sub(STACK_POINTER).map(usize::from);
        index.and_then(|index| self.0.get(index)).copied().unwrap_or(Value::Unknown)
    }
}

/// The pointers around an instruction; `None`: no path leads there.
pub(in crate::isa) struct Around {
    pub(in crate::isa) before: Option<Pointers>,
    pub(in crate::isa) after: Option<Pointers>,
    /// Whether a branch leads there.
    pub(in crate::isa) is_target: bool,
}

impl Paths {
    /// Follows a function's code from its entry. `stack`: the value of the stack pointer there.
    pub(in crate::isa) fn follow(
        code: &[Instruction],
        entry: u64,
        target: CodeTarget,
        stack: Value,
    ) -> Result<Self, UndecidedError> {
        let (steps, units): (Vec<Step>, _) = (code.iter().map(Step::of).collect(), Units::of(target));
        let index = |address: u64| steps.binary_search_by_key(&address, |step| step.address).ok();
        let flows = steps.iter().filter_map(|step| match step.flow {
            Flow::Branch(target) | Flow::Conditional(target) => index(target?),
            _ => None,
        });
        let targets = flows.collect();
        let first = index(entry).ok_or(UndecidedError::NoInstruction(entry))?;
        let mut start = State::entry(units.first_saved_accumulator);
        start.set(STACK_POINTER, stack);
        let mut run = Run {
            entries: start.size(),
            left: steps.len().saturating_mul(MAX_WORK),
            work: BTreeSet::from([first]),
        };
        let states = BTreeMap::from([(first, start)]);
        let mut paths = Self { steps, units, targets, states, problem: None };
        while let Some(start) = run.work.pop_first() {
            if let Some(state) = paths.states.get(&start).cloned() {
                paths.run(start, state, &mut run)?;
            }
        }
        Ok(paths)
    }

    /// Follows a straight run of code.
    fn run(&mut self, mut at: usize, mut state: State, run: &mut Run) -> Result<(), UndecidedError> {
        while let Some(step) = self.steps.get(at) {
            run.spend(1)?;
            state.run(&step.effect, self.units);
            let (address, flow) = (step.address, step.flow);
            let end = address.saturating_add(u64::from(step.size));
            if let Flow::Branch(target) | Flow::Conditional(target) = flow {
                match target.and_then(|target| self.index(target)) {
                    Some(target) => self.meet(target, &state, run)?,
                    // A jump out of the function is a tail call if no frame is left.
                    None if is_left(&state, None) => {}
                    None => self.lose(UndecidedError::Outside(address)),
                }
            }
            match flow {
                Flow::Next | Flow::Conditional(_) => {}
                Flow::Jump(to) if !is_left(&state, to) => {
                    self.lose(UndecidedError::Jump(address));
                    break;
                }
                Flow::Branch(_) | Flow::Jump(_) | Flow::End => break,
            }
            at += 1;
            // The next part of the function may be elsewhere.
            if self.steps.get(at).is_none_or(|next| next.address != end) {
                self.lose(UndecidedError::Outside(address));
                break;
            }
            if self.targets.contains(&at) {
                self.meet(at, &state, run)?;
                break;
            }
        }
        Ok(())
    }

    fn lose(&mut self, problem: UndecidedError) {
        self.problem.get_or_insert(problem);
    }

    fn index(&self, address: u64) -> Option<usize> {
        self.steps.binary_search_by_key(&address, |step| step.address).ok()
    }

    /// Joins a state with those that are known before an instruction.
    fn meet(&mut self, at: usize, state: &State, run: &mut Run) -> Result<(), UndecidedError> {
        run.spend(1 + state.size() / 4)?;
        let known = self.states.get(&at);
        let merged = known.map_or_else(|| state.clone(), |known| known.merged(state));
        if known == Some(&merged) {
            return Ok(());
        }
        run.entries = run.entries.saturating_sub(known.map_or(0, State::size)).saturating_add(merged.size());
        if run.entries > MAX_ENTRIES {
            return Err(UndecidedError::TooComplex);
        }
        self.states.insert(at, merged);
        run.work.insert(at);
        Ok(())
    }

    /// The pointers around each instruction.
    pub(in crate::isa) fn around(&self) -> Vec<Around> {
        let mut state: Option<State> = None;
        let around = |(index, step): (usize, &Step)| {
            if let Some(known) = self.states.get(&index) {
                state = Some(known.clone());
            }
            let before = state.as_ref().map(Pointers::of);
            if let Some(state) = &mut state {
                state.run(&step.effect, self.units);
            }
            let after = state.as_ref().map(Pointers::of);
            if !matches!(step.flow, Flow::Next | Flow::Conditional(_)) {
                state = None;
            }
            Around { before, after, is_target: self.targets.contains(&index) }
        };
        self.steps.iter().enumerate().map(around).collect()
    }

    /// Its size in memory, in units of about 80 bytes.
    pub(super) fn size(&self) -> usize {
        self.states.values().map(State::size).fold(self.steps.len(), usize::saturating_add)
    }

    /// The state before the instruction at an address, or in the call that holds it; `None`: no path leads there.
    pub(super) fn at(&self, address: u64) -> Result<State, UndecidedError> {
        let after = self.steps.partition_point(|step| step.address <= address);
        let index = after.checked_sub(1).ok_or(UndecidedError::NoInstruction(address))?;
        let step = self.steps.get(index).ok_or(UndecidedError::NoInstruction(address))?;
        if address - step.address >= u64::from(step.size) {
            return Err(UndecidedError::NoInstruction(address));
        }
        let mut state = self.before(index).ok_or(UndecidedError::Unreached(address))?;
        if address > step.address {
            let Effect::Call { link } = step.effect else {
                return Err(UndecidedError::NoInstruction(address));
            };
            // Callees of the call may have returned.
            let has_called = state.has_called;
            state.call();
            state.has_called = has_called;
            state.link(link);
        }
        Ok(state)
    }

    fn before(&self, index: usize) -> Option<State> {
        let (start, state) = self.states.range(..=index).next_back()?;
        let mut state = state.clone();
        for step in self.steps.get(*start..index)? {
            if !matches!(step.flow, Flow::Next | Flow::Conditional(_)) {
                return None;
            }
            state.run(&step.effect, self.units);
        }
        Some(state)
    }
}

/// The work that is left for a function.
struct Run {
    /// Number of entries of all states.
    entries: usize,
    left: usize,
    /// The starts of runs whose states changed.
    work: BTreeSet<usize>,
}

impl Run {
    fn spend(&mut self, work: usize) -> Result<(), UndecidedError> {
        self.left = self.left.checked_sub(work).ok_or(UndecidedError::TooComplex)?;
        Ok(())
    }
}

/// Whether a function's frame is left: the stack registers have their values of the entry. `to`: the address of a jump,
/// which for a return is that of the entry.
fn is_left(state: &State, to: Option<u8>) -> bool {
    let is_link = |number: u8| state.scalar(number) == Value::Entry(number);
    let is_return = to.is_some_and(|to| {
        state.scalar(to) == Value::Entry(RETURN_ADDRESS)
            && state.scalar(to.saturating_add(1)) == Value::Entry(RETURN_ADDRESS + 1)
    });
    let has_link = is_return || is_link(RETURN_ADDRESS) && is_link(RETURN_ADDRESS + 1);
    has_link
        && state.scalar(STACK_POINTER) == Value::Stack(0)
        && state.scalar(FRAME_POINTER) == Value::Entry(FRAME_POINTER)
}
