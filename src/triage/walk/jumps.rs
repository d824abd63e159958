//! Jumps to addresses in registers: returns of functions, and jumps to computed addresses.

use super::Node;
use crate::isa::{Computation, Control, Operation, RETURN_PAIR, RegisterCopy, RegisterRange};
use crate::triage::listings::{Decoded, Listing};
use crate::units::LaneId;

/// The jumps of a listing to computed addresses. In a kernel all are: it returns to nothing.
pub(super) fn computed(listing: &Listing, index: usize, is_kernel: bool) -> impl Iterator<Item = Node> {
    let jumps = listing.instructions.iter().enumerate().filter(|(_, one)| is_jump(one));
    jumps
        .filter(move |(at, _)| is_kernel || !returns(listing, *at))
        .map(move |(at, _)| Node { listing: index, index: at })
}

pub(super) fn is_jump(one: &Decoded) -> bool {
    one.control() == Some(Control::Return)
}

/// Whether a jump of a function returns: its registers have the return address of the entry. A jump through other
/// registers does if nothing but a copy or a spilled copy of the return address is ever written there.
fn returns(listing: &Listing, jump: usize) -> bool {
    let all = &listing.instructions;
    let operand = all.get(jump).and_then(|one| one.named_registers().next());
    let Some(to) = operand.filter(|to| to.count == 2) else { return false };
    let writes = |one: &Decoded, half: RegisterRange| {
        one.effects().is_ok_and(|of| of.writes.iter().any(|write| write.range.overlaps(half)))
    };
    [0, 1].into_iter().all(|half| {
        let part = RegisterRange::new(to.file, to.first.saturating_add(half), 1);
        let mut writers = all.iter().filter(|one| writes(one, part));
        match to == RETURN_PAIR {
            true => {
                let last = all.iter().take(jump).rev().find(|one| writes(one, part));
                last.is_none_or(|one| is_call(one) || is_moved(one))
            }
            false => {
                let mut copies = writers.clone();
                writers.next().is_some() && copies.all(|one| is_copy(listing, one, half))
            }
        }
    })
}

fn is_call(one: &Decoded) -> bool {
    one.control() == Some(Control::Call)
}

/// Whether a value moves to a scalar register.
fn is_moved(one: &Decoded) -> bool {
    let is_move = |of: &Computation| matches!(of.operation, Operation::Move | Operation::ReadLane);
    one.computations().any(|of| is_move(&of) && of.to.is_some_and(|to| !to.file.is_vector()))
}

/// Whether an instruction writes a half of the return address.
fn is_copy(listing: &Listing, one: &Decoded, half: u16) -> bool {
    let number = RETURN_PAIR.first + half;
    let of_half = |copy: &RegisterCopy| copy.of((RETURN_PAIR.file, number), LaneId::default());
    let copies = one.effects().map_or(&[][..], |effects| &effects.copies);
    if copies.iter().filter_map(of_half).any(|to| !to.file.is_vector()) {
        return true;
    }
    let lane_of = |one: &Decoded, operation: Operation| {
        let of = one.computations().find(|of| of.operation == operation)?;
        let [source, lane, _] = of.sources;
        Some((of.to?, source.register()?, lane.constant()?))
    };
    let Some((_, from, lane)) = lane_of(one, Operation::ReadLane) else { return false };
    let saved = RegisterRange::new(RETURN_PAIR.file, number, 1);
    listing.instructions.iter().any(|one| lane_of(one, Operation::WriteLane) == Some((from, saved, lane)))
}
