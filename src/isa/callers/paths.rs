//! States before the instructions of a function, along every path from its entry.

use std::collections::{BTreeMap, BTreeSet};

use super::state::{FRAME, LINK, STACK, State, Value};
use super::step::{Effect, Flow, Step};
use super::{UndecidedError, Units};

/// Maximum number of entries of all states that are kept; about 40 bytes each.
const MAX_ENTRIES: usize = 1 << 19;
/// Maximum units of work for each instruction of the function: running one takes a unit, merging states a unit and one
/// for four of their entries. A state changes only to less known contents, and most code needs two or three runs.
const MAX_WORK: usize = 128;

/// The states before the first instructions of straight runs of code.
#[derive(Debug)]
pub(super) struct Paths {
    states: BTreeMap<usize, State>,
}

impl Paths {
    /// Follows a function's code from its entry.
    pub(super) fn follow(steps: &[Step], entry: u64, units: Units) -> Result<Self, UndecidedError> {
        let index = |address: u64| steps.binary_search_by_key(&address, |step| step.address).ok();
        let starts: BTreeSet<usize> = steps
            .iter()
            .filter_map(|step| match step.flow {
                Flow::Branch(target) | Flow::Conditional(target) => index(target?),
                _ => None,
            })
            .collect();
        let first = index(entry).ok_or(UndecidedError::NoInstruction(entry))?;
        let start = State::entry(units.first_saved_accumulator);
        let mut entries = start.size();
        let mut paths = Self { states: BTreeMap::from([(first, start)]) };
        let mut work = BTreeSet::from([first]);
        let mut left = steps.len().saturating_mul(MAX_WORK);
        while let Some(start) = work.pop_first() {
            let Some(mut state) = paths.states.get(&start).cloned() else { continue };
            let mut at = start;
            loop {
                let Some(step) = steps.get(at) else { return Err(UndecidedError::Unreached(entry)) };
                left = left.checked_sub(1).ok_or(UndecidedError::TooComplex)?;
                state.run(&step.effect, units);
                let target = match step.flow {
                    Flow::Branch(target) | Flow::Conditional(target) => {
                        target.and_then(index).map(Some).ok_or(UndecidedError::Outside(step.address))
                    }
                    _ => Ok(None),
                };
                let target = match target {
                    Ok(target) => target,
                    // A jump out of the function is a tail call if no frame is left.
                    Err(_) if is_left(&state, None) => None,
                    Err(why) => return Err(why),
                };
                if let Some(target) = target {
                    left = left.checked_sub(1 + state.size() / 4).ok_or(UndecidedError::TooComplex)?;
                    paths.meet(target, &state, &mut work, &mut entries)?;
                }
                match step.flow {
                    Flow::Next | Flow::Conditional(_) => {}
                    Flow::Jump(to) if !is_left(&state, to) => return Err(UndecidedError::Jump(step.address)),
                    Flow::Branch(_) | Flow::Jump(_) | Flow::End => break,
                }
                let end = step.address.saturating_add(u64::from(step.size));
                at += 1;
                // The next part of the function may be elsewhere.
                if steps.get(at).is_none_or(|next| next.address != end) {
                    return Err(UndecidedError::Outside(step.address));
                }
                if starts.contains(&at) {
                    left = left.checked_sub(1 + state.size() / 4).ok_or(UndecidedError::TooComplex)?;
                    paths.meet(at, &state, &mut work, &mut entries)?;
                    break;
                }
            }
        }
        Ok(paths)
    }

    fn meet(
        &mut self,
        at: usize,
        state: &State,
        work: &mut BTreeSet<usize>,
        entries: &mut usize,
    ) -> Result<(), UndecidedError> {
        let Some(known) = self.states.get_mut(&at) else {
            *entries = entries.saturating_add(state.size());
            if *entries > MAX_ENTRIES {
                return Err(UndecidedError::TooComplex);
            }
            self.states.insert(at, state.clone());
            work.insert(at);
            return Ok(());
        };
        let mut merged = known.clone();
        merged.merge(state);
        if merged != *known {
            *entries = entries.saturating_sub(known.size()).saturating_add(merged.size());
            if *entries > MAX_ENTRIES {
                return Err(UndecidedError::TooComplex);
            }
            *known = merged;
            work.insert(at);
        }
        Ok(())
    }

    /// Number of entries of its states.
    pub(super) fn entries(&self) -> usize {
        self.states.values().map(State::size).fold(0, usize::saturating_add)
    }

    /// The state before the step of that index; `None`: no path leads there.
    pub(super) fn before(&self, steps: &[Step], index: usize, units: Units) -> Option<State> {
        let (start, state) = self.states.range(..=index).next_back()?;
        let mut state = state.clone();
        for step in steps.get(*start..index)? {
            if !matches!(step.flow, Flow::Next | Flow::Conditional(_)) {
                return None;
            }
            state.run(&step.effect, units);
        }
        Some(state)
    }
}

/// Whether a function's frame is left: the stack registers have their values of the entry. `to`: the address of a jump,
/// which for a return is that of the entry.
fn is_left(state: &State, to: Option<u8>) -> bool {
    let is_link = |number: u8| state.scalar(number) == Value::Entry(number);
    let is_return = to.is_some_and(|to| {
        state.scalar(to) == Value::Entry(LINK) && state.scalar(to.saturating_add(1)) == Value::Entry(LINK + 1)
    });
    let has_link = is_return || is_link(LINK) && is_link(LINK + 1);
    has_link && state.scalar(STACK) == Value::Stack(0) && state.scalar(FRAME) == Value::Entry(FRAME)
}

/// Whether an effect is that of a call, in which the wave may be.
pub(super) fn link_of(effect: &Effect) -> Option<u8> {
    match effect {
        Effect::Call { link } => Some(*link),
        _ => None,
    }
}
