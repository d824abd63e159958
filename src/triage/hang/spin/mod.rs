//! Recognition of a polling loop: a load of an address that the loop does not change, and an exit that depends on the
//! loaded value and on no counter.
//!
//! A slot of private memory that the loop stores to is like a register:
//! unoptimised code keeps its variables there.

mod steady;
mod step;
mod uses;

use std::collections::BTreeSet;

use super::flow::Flow;
use crate::isa::{Form, RegisterRange};
pub(super) use steady::{SteadyExit, steady_exits};
use step::{Copy, Item, Step, Write};
use uses::{Skips, Uses, writers};

/// A load whose value decides on an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Poll {
    /// The index of the load.
    pub(super) load: usize,
    /// The other operand of the comparison; `None`: unknown, or of a value computed from the loaded one. With it the
    /// comparison of the value with that operand; `None`: unknown.
    pub(super) compared: Option<(Compared, Option<&'static str>)>,
}

/// An operand that the loop does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Constant(i64),
    Register(RegisterRange),
}

/// The loads of a loop whose values decide on its exit. Empty: no polling loop, or too much work.
pub(super) fn polls(flow: &Flow<'_>, body: &[usize]) -> Vec<Poll> {
    find_polls(flow, body).unwrap_or_default()
}

fn find_polls(flow: &Flow<'_>, body: &[usize]) -> Option<Vec<Poll>> {
    // Each step is compared with all others.
    flow.spend(body.len().saturating_mul(body.len()))?;
    let mut steps: Vec<Step> = body.iter().map(|index| Step::of(flow, *index)).collect::<Option<_>>()?;
    name_slots(flow, &mut steps)?;
    let mut uses = Uses::of(&steps, flow)?;
    let counters = uses.counters(&steps)?;
    let exits = flow.exits(body);
    uses.decide(body, &exits)?;
    let is_exit = |at: usize| steps.get(at).is_some_and(|step| exits.contains(&step.index));
    // A loop that counts its turns ends by itself.
    if uses.after(counters.clone(), true)?.into_iter().any(is_exit) {
        return None;
    }
    let changing = uses.changing(&steps)?;
    // Any store of the loop may change what the load reads, except between LDS and other memory.
    let is_stored = |load: usize, form: Form| {
        let is_local = |form: Form| matches!(form, Form::Lds { .. });
        let may_reach = |store: Form| is_local(store) == is_local(form) || matches!(store, Form::Flat { .. });
        let atomics = changing.iter().filter(|at| **at != load).filter_map(|at| steps.get(*at)?.load);
        steps.iter().filter_map(|step| step.store).chain(atomics).any(may_reach)
    };
    let updates = uses.updates(&steps)?;
    let mut polls = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let Some(form) = step.load else { continue };
        if is_stored(at, form)
            || updates.contains(&at)
            || uses.addresses_from(at).any(|from| counters.contains(&from))
        {
            continue;
        }
        // A comparison of the value in which no counter takes part decides on an exit.
        for then in uses.after(BTreeSet::from([at]), false)? {
            let compares = steps.get(then).is_some_and(|step| step.is_comparison);
            let counts = uses.values_from(then).any(|from| counters.contains(&from));
            if compares && !counts && uses.after(BTreeSet::from([then]), false)?.into_iter().any(is_exit) {
                polls.push(Poll { load: step.index, compared: uses.compared(&steps, at, then) });
                break;
            }
        }
    }
    Some(polls)
}

/// Turns accesses by spilled addresses into accesses to slots. `None`: too much work.
fn name_slots(flow: &Flow<'_>, steps: &mut [Step]) -> Option<()> {
    let sources: Option<Vec<_>> = (0..steps.len()).map(|at| spilled_address(flow, steps, at)).collect();
    for (step, source) in steps.iter_mut().zip(&sources?) {
        let Some(names) = source else { continue };
        let slot = Item::Spilled(names.clone());
        if step.load.take().is_some() {
            step.reads.push(slot.clone());
        }
        if step.store.take().is_some() {
            step.writes = vec![Write { item: slot, is_whole: true }];
        }
    }
    Some(())
}

/// The spilled registers that moves copy to the address of a step: unoptimised code keeps the addresses of its
/// variables there. Inner `None`: the address has another source, too; outer `None`: too much work.
fn spilled_address(
    flow: &Flow<'_>,
    steps: &[Step],
    at: usize,
) -> Option<Option<BTreeSet<(RegisterRange, i64)>>> {
    let Some(step) = steps.get(at).filter(|step| step.load.is_some() || step.store.is_some()) else {
        return Some(None);
    };
    let (mut open, mut seen, mut names) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut is_plain = false;
    let enter = |open: &mut Vec<usize>, plain: &mut bool, at: usize, items: &[Item]| {
        for part in items.iter().flat_map(Item::parts) {
            let from = writers(flow, steps, at, &part, Skips::Left)?;
            *plain |= from.is_empty();
            open.extend(from);
        }
        Some(())
    };
    enter(&mut open, &mut is_plain, at, &step.address)?;
    while let Some(from) = open.pop() {
        let Some(step) = steps.get(from).filter(|_| seen.insert(from)) else { continue };
        match &step.copies {
            Copy::Spilled => names.extend(step.reads.iter().filter_map(|item| match item {
                Item::Spilled(names) => names.first().copied(),
                _ => None,
            })),
            Copy::Moves => enter(&mut open, &mut is_plain, from, &step.reads)?,
            Copy::No => return Some(None),
        }
    }
    Some((!is_plain && !names.is_empty()).then_some(names))
}
