//! The place of a suspected access: its source line, and the frame of the stack around it.
//!
//! Reports of faults are late: meanwhile the wave may have entered or left calls, also inlined ones.

use std::collections::BTreeSet;

use super::listings::{Decoded, Listing};
use super::{AccessFrame, SourceAt, Suspect};
use crate::isa::Control;
use crate::session::{Inspect, StackFrame};

/// Maximum number of instructions on each side of one without a line that are asked for their calls.
const MAX_ASKED: usize = 16;

/// Fills the frame of a suspect, and its line if the line table has none. `listing`: its function.
pub(super) fn place(session: &dyn Inspect, listing: Option<&Listing>, suspect: &mut Suspect) {
    let wave = suspect.wave;
    let calls = session.calls_at(wave, suspect.instruction).unwrap_or_default();
    if suspect.at.line.is_none()
        && let Some(listing) = listing
        && let Some((file, line)) = nearest(listing, suspect.instruction, |one| {
            place_of(&calls, &session.calls_at(wave, one.address).ok()?)
        })
    {
        let text = session.source_line(&file, line);
        let (file, line) = (Some(file), Some(line));
        suspect.at = SourceAt { function: suspect.at.function.take(), file, line, text, is_inferred: true };
    }
    suspect.frame = session.frame_around(wave, suspect.instruction).ok().flatten().map(|around| {
        let (file, line) = match (around.left, calls.get(around.left)) {
            (1.., Some(call)) => (call.file.clone(), call.line),
            _ => (suspect.at.file.clone(), suspect.at.line),
        };
        AccessFrame { frame: around.frame, file, line }
    });
}

/// The place of the statement with an instruction without a line. Rows of a line table without a line belong to the
/// statement of the row before; at the start of a block the next row has it. `place`: that of another instruction.
fn nearest<T>(listing: &Listing, at: u64, place: impl Fn(&Decoded) -> Option<T>) -> Option<T> {
    let (before, rest) = listing.instructions.split_at_checked(listing.index(at)?)?;
    let (own, after) = rest.split_first()?;
    let targets: BTreeSet<u64> = listing.instructions.iter().filter_map(|one| one.target).collect();
    let is_entered = |one: &Decoded| targets.contains(&one.address);
    let is_left = |one: &Decoded| !one.effects.as_ref().is_ok_and(|of| of.control == Control::Next);
    let mut next = own;
    let before = before.iter().rev().take_while(|one| {
        let is_same = !is_entered(next) && !is_left(one);
        next = *one;
        is_same
    });
    let after = after.iter().take_while(|one| !is_entered(one) && !is_left(one));
    let has_line = |one: &&Decoded| one.line.is_some();
    let before = before.filter(has_line).take(MAX_ASKED).find_map(&place);
    before.or_else(|| after.filter(has_line).take(MAX_ASKED).find_map(&place))
}

/// The file and line of a call among the calls at another instruction, if it is one of them.
fn place_of(own: &[StackFrame], there: &[StackFrame]) -> Option<(String, u64)> {
    let outer = there.get(there.len().checked_sub(own.len())?..)?;
    // The line of an outer call is that of the call in it.
    let site = |call: &StackFrame| (call.file.clone(), call.line, call.column);
    let is_same = own.iter().zip(outer).enumerate().all(|(index, (own, there))| {
        own.function == there.function && (index == 0 || site(own) == site(there))
    });
    let call = outer.first().filter(|_| is_same)?;
    Some((call.file.clone()?, call.line?))
}
