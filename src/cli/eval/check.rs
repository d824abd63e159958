//! Contradictions in a case file whose parts are readable one by one.

use std::collections::BTreeSet;

use super::file::{CaseText, File};

/// The lanes' own memory, the only space whose memory names its lane.
const PRIVATE_LANE: u64 = 5;

/// Returns an error if parts of a file contradict each other or are ambiguous.
pub(super) fn contradictions(file: &File) -> Result<(), String> {
    let state = &file.state;
    for memory in &state.memory {
        if let (Some(lane), false) = (memory.lane, memory.space.0 == PRIVATE_LANE) {
            let space = memory.space.0;
            return Err(format!(
                "state.memory: lane = {lane} with space = {space}: expected it only with space = 5"
            ));
        }
    }
    let mut dies = BTreeSet::new();
    let procedures = state.procedure.iter().map(|die| ("procedure", die.offset));
    let types = state.base_type.iter().map(|die| ("base_type", die.offset));
    let maps = state.object_map.iter().map(|die| ("object_map", die.offset));
    for (key, offset) in procedures.chain(types).chain(maps) {
        if !dies.insert(offset) {
            return Err(format!("state.{key}: offset = {:#x}: another DIE has that offset", offset.0));
        }
    }
    for die in &state.procedure {
        let said = [die.location.is_some(), die.const_value.is_some(), die.loclist.is_some()];
        if said.iter().filter(|said| **said).count() > 1 {
            let offset = die.offset.0;
            return Err(format!(
                "state.procedure at {offset:#x}: expected at most one of location, const_value and loclist"
            ));
        }
    }
    let mut names = BTreeSet::new();
    file.cases.iter().try_for_each(|case| {
        if names.insert(&case.name) {
            instructions_or_expression(case).map_err(|what| format!("case {:?}: {what}", case.name))
        } else {
            Err(format!("case {:?}: another case has that name", case.name))
        }
    })
}

/// A case has call frame instructions or an expression, by its `want`.
fn instructions_or_expression(case: &CaseText) -> Result<(), &'static str> {
    let instructions = case.cie.is_some() || case.fde.is_some();
    match (case.want.is_call_frame(), case.bytes.is_some(), instructions) {
        (true, false, true) | (false, true, false) => Ok(()),
        (true, ..) => Err("call frame information is wanted: expected cie or fde, and no bytes"),
        (false, ..) => Err("an expression's result is wanted: expected bytes, and neither cie nor fde"),
    }
}
