//! The functions on the stacks of waves.

use std::collections::{BTreeMap, BTreeSet};

use crate::codeobject::ElfAddress;
use crate::session::{Activation, Dump, Inspect, StackEnd};
use crate::units::DieOffset;

use super::layout::MAX_FRAMES;

/// Functions on stacks, by code object and DIE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnStacks {
    /// The functions of each code object. The offset of a unit's header stands for a function with lines that no DIE
    /// describes: `-gline-tables-only` and Triton's functions.
    pub functions: BTreeMap<usize, BTreeSet<DieOffset>>,
    /// Functions without a caller in call frame information.
    pub outermost: BTreeSet<(usize, DieOffset)>,
    /// The code object of the wave in focus.
    pub first: Option<usize>,
    /// The outermost function of that wave's stack, if the stack is complete and the function is in that code object.
    pub entry: Option<(usize, DieOffset)>,
}

impl OnStacks {
    /// Unwinds the stacks of all served waves; a failure ends only that wave's stack.
    #[must_use]
    pub fn of(dump: &Dump, session: &dyn Inspect) -> Self {
        let mut on = Self::default();
        let mut bare: BTreeSet<(usize, u64)> = BTreeSet::new();
        let first = session.first_wave();
        for wave in session.waves().iter() {
            let Ok(stack) = session.activations(*wave, None, MAX_FRAMES) else { continue };
            if *wave == first {
                on.first = stack.frames.first().and_then(|frame| frame.code_object);
            }
            for (level, Activation { pc, code_object, function }) in stack.frames.iter().enumerate() {
                let Some(object) = *code_object else { continue };
                if let Some(function) = function {
                    on.functions.entry(object).or_default().insert(*function);
                } else {
                    // A call is before its return address.
                    bare.insert((object, pc.0.saturating_sub(u64::from(level > 0))));
                }
            }
            if stack.end == Some(StackEnd::Outermost)
                && let Some(last) = stack.frames.last()
                && let (Some(object), Some(function)) = (last.code_object, last.function)
            {
                on.outermost.insert((object, function));
                if *wave == first && on.first == Some(object) {
                    on.entry = Some((object, function));
                }
            }
        }
        let objects = if bare.is_empty() { Vec::new() } else { session.code_objects() };
        for (object, pc) in bare {
            let Some((info, debug)) = objects.get(object).zip(dump.debug_info(object).ok()) else { continue };
            let unit = debug.unit_of_line(ElfAddress(pc.wrapping_sub(info.address.0)));
            if let Some(facts) = unit.and_then(|unit| debug.unit(unit).ok()) {
                on.functions.entry(object).or_default().insert(facts.offset);
            }
        }
        on
    }

    /// Adds the functions of other stacks; returns the new ones.
    pub(super) fn add(&mut self, other: Self) -> BTreeMap<usize, BTreeSet<DieOffset>> {
        let mut new: BTreeMap<usize, BTreeSet<DieOffset>> = BTreeMap::new();
        for (object, functions) in other.functions {
            let known = self.functions.entry(object).or_default();
            for function in functions {
                if known.insert(function) {
                    new.entry(object).or_default().insert(function);
                }
            }
        }
        self.outermost.extend(other.outermost);
        new
    }
}
