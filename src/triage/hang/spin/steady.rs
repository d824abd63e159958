//! Exits of a loop whose conditions nothing in the loop changes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::flow::Flow;
use crate::isa::{Computation, Counter, Effects, Operation, RegisterFile, RegisterRange, Wait};
use crate::triage::listings::Decoded;

const EXEC: RegisterRange = RegisterRange::new(RegisterFile::Exec, 0, 2);

/// An exit of a loop whose condition is the same in each turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::triage::hang) struct SteadyExit {
    /// The index of the branch.
    pub(in crate::triage::hang) branch: usize,
    /// The file of its condition.
    pub(in crate::triage::hang) file: RegisterFile,
    /// The index of the comparison that computes the condition again in each turn.
    pub(in crate::triage::hang) comparison: Option<usize>,
    /// Whether the branch stays in the loop if it is taken.
    pub(in crate::triage::hang) stays_if_taken: bool,
}

/// The exits of a loop whose conditions nothing in the loop changes, if all are so. Moves of a register to itself
/// change nothing, and a comparison of such registers gives the same result in each turn. Empty: the loop has another
/// exit.
pub(in crate::triage::hang) fn steady_exits(flow: &Flow<'_>, body: &[usize]) -> Vec<SteadyExit> {
    let exits = flow.exits(body);
    if body.iter().any(|at| flow.leaves(*at) && !exits.contains(at)) {
        return Vec::new();
    }
    let condition = |exit: usize| Some(flow.at(exit)?.branch_condition()?.file);
    let files: Option<BTreeMap<usize, RegisterFile>> =
        exits.iter().map(|exit| Some((*exit, condition(*exit)?))).collect();
    let Some(files) = files else { return Vec::new() };
    let is_kept = |file: RegisterFile| {
        // No load has SCC or EXEC as its destination.
        if file == RegisterFile::Vcc && may_receive(flow, body, file) {
            return false;
        }
        body.iter().filter_map(|at| flow.at(*at)).all(|one| {
            let Ok(effects) = one.effects() else { return false };
            let writes = effects.writes.iter().any(|write| write.range.file == file);
            let moves_to_itself = || {
                let is_itself = |of: Computation| matches!((of.operation, of.sources), (Operation::Move, [from, ..]) if from.register() == of.to);
                one.computations().any(is_itself)
            };
            !writes || moves_to_itself()
        })
    };
    let mut kept: BTreeMap<RegisterFile, bool> = BTreeMap::new();
    let steady = |(branch, file): (usize, RegisterFile)| {
        if let Entry::Vacant(entry) = kept.entry(file) {
            flow.spend(body.len())?;
            entry.insert(is_kept(file));
        }
        let is_kept = kept.get(&file).copied().unwrap_or_default();
        let comparison = if is_kept { None } else { Some(steady_comparison(flow, body, branch, file)?) };
        let stays_if_taken = flow.stays_if_taken(branch, body)?;
        Some(SteadyExit { branch, file, comparison, stays_if_taken })
    };
    files.into_iter().map(steady).collect::<Option<_>>().unwrap_or_default()
}

/// Whether a register of a loop may receive the value of a load that began before the loop: the listing has such a load;
/// or it does not show the function's start, and the loop waits for scalar loads.
fn may_receive(flow: &Flow<'_>, body: &[usize], file: RegisterFile) -> bool {
    let waits = |index: &usize| {
        let effects = flow.at(*index).and_then(|one| one.effects().ok());
        let is_scalar = |wait: &Wait| matches!(wait.counter, Counter::Lgkm | Counter::Km);
        effects.is_none_or(|effects| effects.waits.iter().any(is_scalar))
    };
    let loads = |one: &Decoded| {
        let loads =
            |of: &Effects| !of.issues.is_empty() && of.writes.iter().any(|write| write.range.file == file);
        one.effects().map_or(true, loads)
    };
    let size = flow.listing.instructions.len();
    flow.spend(size).is_none()
        || flow.listing.instructions.iter().any(loads)
        || !flow.listing.has_start() && body.iter().any(waits)
}

/// The comparison in the straight code before a branch that writes its condition, from registers that nothing in the
/// loop changes. A loop with a wait may still receive the values of loads before it.
fn steady_comparison(flow: &Flow<'_>, body: &[usize], branch: usize, file: RegisterFile) -> Option<usize> {
    flow.spend(body.len())?;
    let effects = |at: usize| flow.at(at)?.effects().ok();
    let mut at = branch;
    let comparison = loop {
        at = flow.only_previous(at).filter(|before| body.binary_search(before).is_ok())?;
        if effects(at)?.writes.iter().any(|write| write.range.file == file) {
            break at;
        }
    };
    let one = flow.at(comparison)?;
    let is_comparison = ["s_cmp_", "s_cmpk_", "v_cmp_"].iter().any(|name| one.mnemonic().starts_with(name));
    let mut sources = one.reads(effects(comparison)?);
    sources.push(EXEC);
    let mut all = body.iter().map(|at| effects(*at));
    let is_kept = all.all(|of| {
        of.is_some_and(|of| {
            let is_source = |range: RegisterRange| sources.iter().any(|source| source.overlaps(range));
            of.waits.is_empty() && !of.writes.iter().any(|write| is_source(write.range))
        })
    });
    (is_comparison && is_kept).then_some(comparison)
}
