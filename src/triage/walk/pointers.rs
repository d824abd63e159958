//! The pointers that code adds indexes to: the origins of addresses in registers.
//!
//! An address is a sum. Its addends are followed backwards along the path, through sums and copies, to registers that
//! were loaded or were there before. A pair of them that is part of both dwords is the pointer. Shifted and multiplied
//! values are indexes.

use std::collections::HashSet;

use super::look::clobbered;
use super::recover::Past;
use super::registers::Registers;
use super::{Paths, Way};
use crate::arch::{RegId, WaveArch};
use crate::isa::{Access, Direction, Form, RegisterFile, RegisterRange};
use crate::triage::Suspect;
use crate::units::LaneId;

/// Maximum number of addends of a dword.
const MAX_ADDENDS: usize = 32;
/// Maximum number of registers of one write.
const MAX_WRITTEN: u16 = 512;
/// The least pointer: smaller values are indexes.
const LEAST: u64 = 1 << 32;
/// Instructions that bring a whole value from another place.
const KEEPERS: [&str; 3] = ["v_readlane_b32", "v_readfirstlane_b32", "v_accvgpr_read"];

/// A dword before an instruction: file, number, index of the instruction.
type Dword = (RegisterFile, u16, usize);

impl Paths {
    /// The pointers to which the code adds the indexes of a suspect's addresses, by lane.
    pub(in crate::triage) fn origins(
        &self,
        suspect: &Suspect,
        registers: &Registers<'_>,
    ) -> Vec<(Option<LaneId>, u64)> {
        let way = self.way(suspect).filter(|_| !suspect.addresses.is_empty());
        let Some((way, first)) = way.zip(address(&suspect.access)) else { return Vec::new() };
        let (past, index) = Past::new(self, way, registers);
        let of_lane = |lane: Option<LaneId>| {
            past.focus.set(lane);
            let found = origin(&past, (first.0, first.1, index), lane.unwrap_or_default());
            past.focus.set(None);
            Some((lane, found?))
        };
        suspect.addresses.iter().filter_map(|of| of_lane(of.lane)).collect()
    }
}

impl Paths {
    /// The registers that a suspect's access and the instructions behind it wrote.
    pub(in crate::triage) fn written(&self, suspect: &Suspect, arch: &WaveArch) -> Vec<RegId> {
        let way = self.way(suspect).filter(|way| way.distance > 0 && !suspect.addresses.is_empty());
        let mut found: Vec<RegisterRange> = Vec::new();
        for step in way.into_iter().flat_map(|way| self.backwards(way)) {
            let Some(effects) = self.decoded(step.node).and_then(|one| one.effects().ok()) else {
                continue;
            };
            found.extend(effects.writes.iter().map(|write| write.range));
            if self.passes_callee(step, effects) {
                found.extend(clobbered());
            }
        }
        let each = found.into_iter().flat_map(|range| {
            let numbers =
                (0..range.count.min(MAX_WRITTEN)).filter_map(move |index| range.first.checked_add(index));
            numbers.filter_map(move |number| Some(range.file.register(number, arch)?.0))
        });
        let each: HashSet<RegId> = each.collect();
        each.into_iter().collect()
    }

    fn way(&self, suspect: &Suspect) -> Option<&Way> {
        let is_it = |one: &&super::Candidate| {
            self.instruction(one).is_some_and(|of| of.address == suspect.instruction)
        };
        let mut ways = self.candidates.iter().filter(is_it).flat_map(|one| &one.ways);
        ways.find(|way| way.distance == suspect.distance)
    }
}

/// The low dword of the address, or of its base, in a pair of registers.
fn address(access: &Access) -> Option<(RegisterFile, u16)> {
    let range = match access.form {
        Form::Flat { address, .. } => address,
        Form::Global { base, .. } => base?,
        Form::Scalar { base, .. } => base,
        _ => return None,
    };
    (range.count == 2).then_some((range.file, range.first))
}

/// The only pointer of a sum.
fn origin(past: &Past<'_, '_>, (file, number, index): Dword, lane: LaneId) -> Option<u64> {
    let low = leaves(past, (file, number, index), lane)?;
    let mut high = leaves(past, (file, number.checked_add(1)?, index), lane)?;
    // Compilers copy the high dword of a scalar pair to a VGPR before a loop.
    let has_low = |(file, number, _): &Dword| {
        low.iter().any(|(of, first, _)| of == file && first.checked_add(1) == Some(*number))
    };
    for leaf in high.iter_mut().filter(|leaf| leaf.0 == RegisterFile::Vector && !has_low(leaf)) {
        let value = past.dword(leaf.0, leaf.1, lane, leaf.2);
        let scalar = low.iter().filter(|(file, ..)| *file == RegisterFile::Scalar);
        let mut partners = scalar.filter_map(|(file, first, at)| Some((*file, first.checked_add(1)?, *at)));
        let is_copy = |of: &Dword| value.is_some() && past.dword(of.0, of.1, lane, of.2) == value;
        if let Some(partner) = partners.find(is_copy) {
            *leaf = partner;
        }
    }
    // A high dword without its low one is of a pair elsewhere.
    if !high.iter().all(has_low) {
        return None;
    }
    let mut found: Vec<u64> = Vec::new();
    for (file, number, index) in low {
        let is_high = |(of, other, _): &&Dword| *of == file && Some(*other) == number.checked_add(1);
        for (_, next, at) in high.iter().filter(is_high) {
            let value = past.dword(file, number, lane, index).zip(past.dword(file, *next, lane, *at));
            // An unknown addend may be the pointer.
            let (low, high) = value?;
            let value = u64::from(low) | u64::from(high) << 32;
            if value >= LEAST && !found.contains(&value) {
                found.push(value);
            }
        }
    }
    match found[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// The registers of which a dword is the sum.
fn leaves(past: &Past<'_, '_>, of: Dword, lane: LaneId) -> Option<Vec<Dword>> {
    let (mut found, mut open, mut count) = (Vec::new(), vec![of], 0);
    while let Some((file, number, index)) = open.pop() {
        count += 1;
        if count > MAX_ADDENDS {
            return None;
        }
        let Some(at) = past.written_at((file, number), lane, index).ok()? else {
            found.push((file, number, index));
            continue;
        };
        let (one, effects) = past.effects(at)?;
        let is_load = effects.access.as_ref().is_some_and(|of| of.direction == Direction::Load);
        if is_load || KEEPERS.iter().any(|keeper| one.mnemonic().starts_with(keeper)) {
            found.push((file, number, index));
        } else if let Some(addends) = one.addends((file, number)) {
            open.extend(addends.into_iter().map(|(file, number)| (file, number, at)));
        }
    }
    Some(found)
}
