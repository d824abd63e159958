//! Contradictions in a case file whose parts are readable one by one.

use std::collections::BTreeSet;

use super::error::CaseError;
use super::file::{CaseText, File};

/// The lanes' own memory, the only space whose memory names its lane.
const PRIVATE_LANE: u64 = 5;

/// Returns an error if parts of a file contradict each other or are ambiguous.
pub(super) fn contradictions(file: &File) -> Result<(), CaseError> {
    let state = &file.state;
    for memory in &state.memory {
        if let (Some(lane), false) = (memory.lane, memory.space.0 == PRIVATE_LANE) {
            return Err(CaseError::LaneOfSpace { lane, space: memory.space.0 });
        }
    }
    let mut dies = BTreeSet::new();
    let procedures = state.procedure.iter().map(|die| ("procedure", die.offset));
    let types = state.base_type.iter().map(|die| ("base_type", die.offset));
    let maps = state.object_map.iter().map(|die| ("object_map", die.offset));
    for (key, offset) in procedures.chain(types).chain(maps) {
        if !dies.insert(offset) {
            return Err(CaseError::SameOffset { key, offset: offset.0 });
        }
    }
    for die in &state.procedure {
        let said = [die.location.is_some(), die.const_value.is_some(), die.loclist.is_some()];
        if said.iter().filter(|said| **said).count() > 1 {
            return Err(CaseError::Procedure(die.offset.0));
        }
    }
    let mut names = BTreeSet::new();
    file.cases.iter().try_for_each(|case| {
        let is_new = names.insert(&case.name);
        let checked = if is_new { instructions_or_expression(case) } else { Err(CaseError::SameName) };
        checked.map_err(|error| error.of_case(&case.name))
    })
}

/// A case has call frame instructions or an expression, by its `want`.
fn instructions_or_expression(case: &CaseText) -> Result<(), CaseError> {
    let instructions = case.cie.is_some() || case.fde.is_some();
    match (case.want.is_call_frame(), case.bytes.is_some(), instructions) {
        (true, false, true) | (false, true, false) => Ok(()),
        (true, ..) => Err(CaseError::NoInstructions),
        (false, ..) => Err(CaseError::NoExpression),
    }
}
