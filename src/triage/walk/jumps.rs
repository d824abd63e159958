//! Jumps to addresses in registers: returns of functions, and jumps to computed addresses.

use super::Node;
use crate::isa::{Control, RegisterCopy, RegisterFile, RegisterRange};
use crate::triage::listings::{Decoded, Listing};
use crate::units::LaneId;

/// The registers of the return address (AMDGPUUsage, "Calling Convention").
const RETURN: RegisterRange = RegisterRange::new(RegisterFile::Scalar, 30, 2);

/// The jumps of a listing to computed addresses. In a kernel all are: it returns to nothing.
pub(super) fn computed(listing: &Listing, index: usize, is_kernel: bool) -> impl Iterator<Item = Node> {
    let jumps = listing.instructions.iter().enumerate().filter(|(_, one)| is_jump(one));
    jumps
        .filter(move |(at, _)| is_kernel || !returns(listing, *at))
        .map(move |(at, _)| Node { listing: index, index: at })
}

pub(super) fn is_jump(one: &Decoded) -> bool {
    one.effects.as_ref().is_ok_and(|effects| effects.control == Control::Return)
}

/// Whether a jump of a function returns: its registers have the return address of the entry. A jump through other
/// registers does if nothing but a copy or a spilled copy of the return address is ever written there.
fn returns(listing: &Listing, jump: usize) -> bool {
    let all = &listing.instructions;
    let operand = all.get(jump).and_then(|one| one.text.split_whitespace().nth(1));
    let Some(to) = operand.and_then(RegisterRange::parse).filter(|to| to.count == 2) else { return false };
    let writes = |one: &Decoded, half: RegisterRange| {
        one.effects.as_ref().is_ok_and(|of| of.writes.iter().any(|write| write.range.overlaps(half)))
    };
    [0, 1].into_iter().all(|half| {
        let part = RegisterRange::new(to.file, to.first.saturating_add(half), 1);
        let mut writers = all.iter().filter(|one| writes(one, part));
        match to == RETURN {
            true => {
                let last = all.iter().take(jump).rev().find(|one| writes(one, part));
                last.is_none_or(|one| is_call(one) || one.text.starts_with("v_readlane_b32") || is_move(one))
            }
            false => {
                let mut copies = writers.clone();
                writers.next().is_some() && copies.all(|one| is_copy(listing, one, half))
            }
        }
    })
}

fn is_call(one: &Decoded) -> bool {
    one.effects.as_ref().is_ok_and(|of| of.control == Control::Call)
}

fn is_move(one: &Decoded) -> bool {
    one.text.starts_with("s_mov_b")
}

/// Whether an instruction writes a half of the return address.
fn is_copy(listing: &Listing, one: &Decoded, half: u16) -> bool {
    let number = RETURN.first + half;
    let of_half = |copy: &RegisterCopy| copy.of((RETURN.file, number), LaneId::default());
    let copies = one.effects.as_ref().map_or(&[][..], |effects| &effects.copies);
    if copies.iter().filter_map(of_half).any(|to| !to.file.is_vector()) {
        return true;
    }
    let operands: Vec<&str> = one.text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    match operands.as_slice() {
        ["v_readlane_b32", _, from, lane] => {
            let saved = format!("v_writelane_b32 {from}, s{number}, {lane}");
            listing.instructions.iter().any(|one| one.text == saved)
        }
        _ => false,
    }
}
