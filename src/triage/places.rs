//! The place of a suspected access: its source line, and the frame of the stack around it.
//!
//! Reports of faults are late: meanwhile the wave may have entered or left calls, also inlined ones.

use std::collections::BTreeSet;

use super::listings::{Decoded, Listing};
use super::{AccessFrame, SourceAt, Suspect};
use crate::isa::{Control, Direction, RegisterRange};
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

/// The place of the statement of an access without a line: compilers join accesses of several lines. In its basic block
/// the first instruction that uses the loaded value has it, of a store the last one that made its value or address.
/// Without one it is that of the row before, whose statement such a row belongs to, else that of the next row. `place`:
/// that of another instruction.
fn nearest<T>(listing: &Listing, at: u64, place: impl Fn(&Decoded) -> Option<T>) -> Option<T> {
    let index = listing.index(at)?;
    let (before, after) = listing.instructions.split_at_checked(index + 1)?;
    let access = before.last()?.effects().ok()?.access.as_ref()?;
    let targets: BTreeSet<u64> = listing.instructions.iter().filter_map(|one| one.target).collect();
    let is_entered = |one: &Decoded| targets.contains(&one.address);
    let is_left = |one: &Decoded| !one.effects().is_ok_and(|of| of.control == Control::Next);
    let pairs = before.windows(2).rev().map_while(|pair| match pair {
        [one, next] if !is_entered(next) && !is_left(one) => Some(one),
        _ => None,
    });
    let before: Vec<&Decoded> = pairs.collect();
    let after: Vec<&Decoded> = after.iter().take_while(|one| !is_entered(one) && !is_left(one)).collect();
    let first = |of: &mut dyn Iterator<Item = &Decoded>| {
        of.filter(|one| one.line.is_some()).take(MAX_ASKED).find_map(&place)
    };
    let of_value = match access.direction {
        Direction::Load => first(&mut users(&after, &access.data)),
        _ => {
            let used = [access.data.clone(), access.address_registers()].concat();
            first(
                &mut before.iter().copied().filter(|one| !one.mnemonics().any(is_copy) && writes(one, &used)),
            )
        }
    };
    of_value.or_else(|| first(&mut before.iter().copied())).or_else(|| first(&mut after.iter().copied()))
}

/// The instructions that use a value in registers, up to the first that replaces it; a copy is no use.
fn users<'d>(after: &[&'d Decoded], value: &[RegisterRange]) -> impl Iterator<Item = &'d Decoded> {
    let has = |range: RegisterRange| value.iter().any(|of| of.overlaps(range));
    let is_user = |one: &Decoded| {
        let mut halves = one.mnemonics().enumerate().filter(|(_, name)| !is_copy(name));
        match (one.mnemonics().nth(1), one.effects()) {
            // Of a pair, each half counts by itself.
            (Some(_), _) => {
                halves.any(|(half, _)| one.inputs(half).iter().any(|of| of.source.named().is_some_and(has)))
            }
            (None, Ok(effects)) => halves.next().is_some() && one.reads(effects).into_iter().any(has),
            (None, Err(_)) => halves.next().is_some() && one.named_registers().any(has),
        }
    };
    let mut found = Vec::new();
    for one in after {
        if is_user(one) {
            found.push(*one);
        } else if writes(one, value) {
            break;
        }
    }
    found.into_iter()
}

fn writes(one: &Decoded, registers: &[RegisterRange]) -> bool {
    let mut written = one.effects().into_iter().flat_map(|of| &of.writes);
    written.any(|write| registers.iter().any(|of| of.overlaps(write.range)))
}

fn is_copy(mnemonic: &str) -> bool {
    ["mov_", "accvgpr"].iter().any(|name| mnemonic.contains(name))
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
