//! Judgement of an access in a wave: its addresses against the reports and the memory map.
//!
//! docs/triage.md, "Rank", has the rules.

#[cfg(test)]
mod tests;

use super::map::{Map, is_hole};
use super::reports::{has_address_error, only_page};
use super::walk::look::Look;
use super::{AddressOf, Evidence};
use crate::arch::SpaceScope;
use crate::capture::{Fault, FaultAccess, FaultAddress, FaultKind, FaultReason, MAX_FAULTS, PAGE};
use crate::isa::{Access, Direction, Family};
use crate::session::address::GLOBAL;
use crate::session::{Inspect, MemoryAddress};
use crate::units::{Address, LaneId, LaneSet, WaveId};

/// Instructions between a wait and the PC within which the wait does not exclude an access: a fault reaches the wave
/// later than the data.
pub(super) const SLACK: usize = 8;
/// Addresses below are never mapped.
pub(super) const NULL_BYTES: u64 = 0x1_0000;

/// How the addresses of an access fit the fault, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// An address is on a reported page.
    OnPage,
    /// An address is on the page of a reported address, and not at it.
    SamePage,
    /// An address is bad by itself: in no mapped memory, outside all apertures.
    Bad,
    /// An address is not captured, and the map may be incomplete.
    NotCaptured,
    /// Only lanes that may have been inactive have such an address.
    Unsure,
    /// An address is unknown.
    Unknown,
    /// An address in the wave's private memory is unknown, or the place of that memory is.
    UnknownPrivate,
    /// No address fits, and some come from registers that were overwritten.
    Recovered,
    /// All addresses are known, and none fits.
    Fine,
}

/// An access of a wave, judged.
#[derive(Clone, Debug)]
pub(super) struct Sighting {
    pub(super) wave: WaveId,
    pub(super) fit: Fit,
    /// Lanes that fit; of unknown fit the lanes with an address.
    pub(super) lanes: LaneSet,
    /// The addresses of those lanes, or of the scalar access.
    pub(super) addresses: Vec<AddressOf>,
    pub(super) evidence: Vec<Evidence>,
    pub(super) look: Look,
    /// Whether the direction or the client of the report contradicts it.
    pub(super) is_contradicted: bool,
    /// Whether each address is known to be good: captured private memory or LDS, or listed memory that is read.
    pub(super) is_good: bool,
}

/// Lanes of a fit, their addresses and the evidence.
type Class = (LaneSet, Vec<AddressOf>, Vec<Evidence>);

/// Of lanes that may have been inactive, those with bad addresses and those with addresses that are not captured are one
/// class, so that the bound has all of them. `certain`: the lanes that executed the access; if some of them are in one
/// class alone, that class counts.
fn merge_classes(by_fit: &mut [Class; 4], certain: LaneSet) {
    let [_, _, bad, not_captured] = by_fit;
    let has_certain = |of: &Class| !of.0.and(certain).is_empty();
    if bad.1.is_empty() || not_captured.1.is_empty() || has_certain(bad) {
        return;
    }
    if has_certain(not_captured) {
        *bad = Class::default();
        return;
    }
    let (lanes, addresses, evidence) = std::mem::take(not_captured);
    bad.0 = bad.0.or(lanes);
    bad.1.extend(addresses);
    bad.1.sort_by_key(|at| at.lane);
    bad.2.extend(evidence);
}

/// The reports and the memory map that accesses are compared with.
pub(super) struct Judge<'a> {
    session: &'a dyn Inspect,
    pages: Vec<(FaultAddress, &'a Fault)>,
    /// The kinds of the reports of memory.
    kinds: Vec<FaultKind>,
    /// Whether all reports are listed: an address off their pages does not explain the fault.
    is_whole: bool,
}

impl<'a> Judge<'a> {
    /// `agent`: the dump's id of the waves' GPU; reports of other GPUs are ignored.
    pub(super) fn new(session: &'a dyn Inspect, agent: u32, faults: &'a [Fault]) -> Self {
        let page = |fault: &'a Fault| {
            let address = fault.page().filter(|_| fault.concerns(agent))?;
            (fault.access != Some(FaultAccess::Execute)).then_some((address, fault))
        };
        let of_memory = |fault: &&Fault| fault.concerns(agent) && fault.is_of_memory();
        Self {
            session,
            pages: faults.iter().filter_map(page).collect(),
            kinds: faults.iter().filter(of_memory).map(|fault| fault.kind).collect(),
            is_whole: !is_cut(faults),
        }
    }

    /// Whether a report names a page.
    pub(super) fn has_page(&self) -> bool {
        !self.pages.is_empty()
    }

    /// The pages of the reports that count wherever a wave's addresses are: a page fault does not explain an address
    /// error, unless an address is on its page.
    fn counting(&self, has_address_error: bool) -> impl Iterator<Item = &(FaultAddress, &'a Fault)> {
        let counts = move |kind| !(has_address_error && kind == FaultKind::Page);
        self.pages.iter().filter(move |(_, fault)| counts(fault.kind))
    }

    /// Whether the page of a report counts wherever a wave's addresses are.
    pub(super) fn counts_page(&self, wave: WaveId) -> bool {
        self.counting(self.has_address_error(wave)).next().is_some()
    }

    /// Whether an address off the reported pages is known to be no cause of a wave's stop.
    pub(super) fn excludes(&self, wave: WaveId) -> bool {
        self.excludes_of(self.has_address_error(wave))
    }

    fn excludes_of(&self, has_address_error: bool) -> bool {
        let mut pages = self.counting(has_address_error).peekable();
        pages.peek().is_some() && self.is_whole && !pages.any(|(page, _)| page.is_inexact)
    }

    /// Judges the addresses of an access in a wave.
    pub(super) fn judge(&self, wave: WaveId, access: &Access, look: Look) -> Sighting {
        let mut look = look;
        self.drop_masked(wave, access, &mut look);
        let has_address_error = self.has_address_error(wave);
        let (is_aperture, excludes) =
            (self.is_aperture(has_address_error), self.excludes_of(has_address_error));
        let (mut has_bad, mut has_unknown_place) = (false, false);
        let mut by_fit: [Class; 4] = Default::default();
        // On pages whose reports all name another access: they count where no other page fits.
        let mut contradicted: [Class; 2] = Default::default();
        for address in &look.addresses {
            let mut noted = Vec::new();
            let fit = self.fit(wave, *address, access, is_aperture, &mut |new| noted.push(new));
            let class = match fit {
                Fit::OnPage | Fit::SamePage
                    if !self
                        .reports(&noted, has_address_error)
                        .iter()
                        .any(|fault| do_agree(&compared(access, fault))) =>
                {
                    contradicted.get_mut(usize::from(fit != Fit::OnPage))
                }
                Fit::OnPage => by_fit.get_mut(0),
                Fit::SamePage => by_fit.get_mut(1),
                Fit::Bad => by_fit.get_mut(2),
                Fit::NotCaptured => by_fit.get_mut(3),
                Fit::UnknownPrivate => {
                    has_unknown_place = true;
                    continue;
                }
                Fit::Unsure | Fit::Unknown | Fit::Recovered | Fit::Fine => continue,
            };
            has_bad = true;
            if let Some((lanes, addresses, evidence)) = class {
                *lanes = lanes.or(address.lane.map_or(LaneSet::default(), LaneSet::one));
                addresses.push(*address);
                noted.retain(|new| !evidence.contains(new));
                evidence.append(&mut noted);
            }
        }
        let [on_page, same_page, ..] = &mut by_fit;
        if on_page.1.is_empty() && same_page.1.is_empty() {
            [*on_page, *same_page] = contradicted;
        }
        let is_unknown = look.unknown.is_some();
        if look.exec_changed.is_some() {
            merge_classes(&mut by_fit, look.certain);
        }
        let off_page = by_fit.get(2).map(|(lanes, ..)| *lanes).filter(|lanes| !lanes.is_empty());
        let fits = [Fit::OnPage, Fit::SamePage, Fit::Bad, Fit::NotCaptured].into_iter().zip(by_fit);
        // Bad addresses on another page do not explain a report.
        let mut fits = fits
            .filter(|(fit, (_, addresses, _))| !addresses.is_empty() && (*fit <= Fit::SamePage || !excludes));
        let (fit, (lanes, addresses, mut evidence)) = match fits.next() {
            Some(best) => best,
            // The known addresses do not fit, and say nothing about the unknown ones.
            None if is_unknown => {
                let fit = if look.is_private { Fit::UnknownPrivate } else { Fit::Unknown };
                (fit, Default::default())
            }
            // A computed address may be wrong: it excludes nothing.
            None if look.is_recovered && excludes => {
                look.is_recovered = false;
                look.unknown = look.overwritten.take();
                let fit = if look.is_private { Fit::UnknownPrivate } else { Fit::Recovered };
                (fit, Default::default())
            }
            None => {
                let lanes = look.addresses.iter().filter_map(|address| address.lane);
                let lanes = lanes.fold(LaneSet::default(), |all, lane| all.or(LaneSet::one(lane)));
                let (fit, evidence) = match has_unknown_place {
                    true => (Fit::UnknownPrivate, vec![Evidence::PrivatePlace]),
                    false => (Fit::Fine, Vec::new()),
                };
                (fit, (lanes, look.addresses.clone(), evidence))
            }
        };
        if fit <= Fit::SamePage {
            evidence.extend(off_page.map(Evidence::OtherLanes));
            evidence.extend(has_address_error.then_some(Evidence::NoPageFault));
        }
        if fit == Fit::Fine && excludes {
            let page = only_page(self.counting(has_address_error).map(|(page, _)| *page));
            evidence.push(Evidence::OffPage { page });
            let is_mapped = |page: &u64| {
                self.pages.iter().all(|(_, fault)| !is_of_rights(fault))
                    && Map::new(self.session, wave).lists(*page)
            };
            evidence.extend(page.filter(is_mapped).map(|page| Evidence::Mapped { page }));
        } else if fit == Fit::Fine {
            evidence.push(Evidence::NothingBad);
        }
        let is_contradicted = self.directions(access, has_address_error, &mut evidence);
        // Registers of inactive lanes hold anything.
        let is_sure = lanes.is_empty() || !lanes.and(look.certain).is_empty();
        let fit = if is_sure || !matches!(fit, Fit::Bad | Fit::NotCaptured) { fit } else { Fit::Unsure };
        let is_load = access.direction == Direction::Load;
        let proves = |at: &AddressOf| match at.space {
            GLOBAL => is_load,
            _ => self.session.exists(place(wave, *at)),
        };
        let is_good = fit == Fit::Fine && !has_bad && !is_aperture && look.addresses.iter().all(proves);
        Sighting { wave, fit, lanes, addresses, evidence, look, is_contradicted, is_good }
    }

    /// Drops the LDS side of copies to LDS, and the lanes whose side is past the LDS: these are only masked (CDNA 3 ISA,
    /// "Memory Violations"). GFX12.5 has other copies, which report such a side.
    fn drop_masked(&self, wave: WaveId, access: &Access, look: &mut Look) {
        if !access.is_lds_copy || access.lds_address.is_some() {
            return;
        }
        let kind = self.session.kind();
        let scope = |space| kind.target.space(space).map(|space| space.scope);
        let is_lds = |at: &AddressOf| scope(at.space) == Some(SpaceScope::WorkGroup);
        let is_past = |at: &&AddressOf| {
            let end = at.address.saturating_add(at.bytes.unwrap_or(1).into());
            is_lds(at) && self.session.size_of_space(place(wave, **at)).is_some_and(|size| end > size)
        };
        let masked: Vec<_> = look.addresses.iter().filter(is_past).map(|at| at.lane).collect();
        look.addresses.retain(|at| !is_lds(at) && !masked.contains(&at.lane));
    }

    /// Whether the fault is known to be no page fault: by the reports, else by the wave's stop.
    fn is_aperture(&self, has_address_error: bool) -> bool {
        let mut kinds = self.kinds.iter().filter(|kind| !(has_address_error && **kind == FaultKind::Page));
        match kinds.next() {
            Some(first) => *first == FaultKind::Aperture && kinds.all(|kind| kind == first),
            None => has_address_error,
        }
    }

    /// Whether the stop of a wave is no page fault.
    fn has_address_error(&self, wave: WaveId) -> bool {
        self.session.wave(wave).is_ok_and(|info| has_address_error(&info))
    }

    fn fit(
        &self,
        wave: WaveId,
        at: AddressOf,
        access: &Access,
        is_aperture: bool,
        note: &mut impl FnMut(Evidence),
    ) -> Fit {
        let bytes = u64::from(at.bytes.unwrap_or(1).max(1));
        // A wave without a known base seems to have its private memory at 0.
        let global = at.global.filter(|global| at.space == GLOBAL || *global >= NULL_BYTES);
        let Some(global) = global else {
            return self.fit_in_space((wave, at, bytes), access, is_aperture, note);
        };
        // Captured private memory is mapped.
        if at.space != GLOBAL && self.session.exists(place(wave, at)) {
            return Fit::Fine;
        }
        let last = global.wrapping_add(bytes - 1);
        let overlaps = |start: u64, of: u64| overlap((global, bytes), (start, of));
        let on_page = self.pages.iter().find(|(page, _)| overlaps(page.start, page.bytes));
        let same_page =
            || self.pages.iter().find(|(page, _)| overlaps(page.start & !(PAGE - 1), page.bytes.max(PAGE)));
        let mut is_captured = false;
        let reported = match on_page {
            Some((page, fault)) => {
                note(Evidence::OnPage { page: page.start, bytes: page.bytes });
                if page.is_inexact {
                    note(Evidence::Inexact);
                }
                let is_absent = [FaultReason::NotPresent, FaultReason::HostOnly];
                let is_absent = fault.reasons.iter().any(|reason| is_absent.contains(reason));
                let is_load = access.direction == Direction::Load;
                if is_load && !is_absent && Map::new(self.session, wave).lists(global) {
                    note(Evidence::Captured);
                    is_captured = true;
                }
                Some((Fit::OnPage, *fault))
            }
            None => same_page().map(|(page, fault)| {
                note(Evidence::SamePage { address: page.start });
                (Fit::SamePage, *fault)
            }),
        };
        let fit = if at.space != GLOBAL {
            Fit::Fine
        } else if is_hole(global) {
            note(Evidence::Hole);
            Fit::Bad
        } else if is_aperture {
            // Unmapped memory raises a page fault.
            match is_misaligned(access, at) {
                true => {
                    note(Evidence::Misaligned);
                    Fit::Bad
                }
                false => Fit::Fine,
            }
        } else {
            let map = Map::new(self.session, wave);
            let mapped = |address| match map.lists(address) {
                true => Some(true),
                false => map.is_whole().then_some(false),
            };
            match (mapped(global), mapped(last)) {
                (Some(false), _) | (_, Some(false)) => {
                    note(Evidence::Unmapped);
                    Fit::Bad
                }
                (None, _) | (_, None) if global < NULL_BYTES => {
                    note(Evidence::Null);
                    Fit::Bad
                }
                (None, _) | (_, None) => {
                    note(Evidence::NotCaptured);
                    Fit::NotCaptured
                }
                (Some(true), Some(true)) => {
                    if !is_captured && reported.is_some_and(|(_, fault)| !is_of_rights(fault)) {
                        note(Evidence::Mapped { page: global & !(PAGE - 1) });
                    }
                    match is_misaligned(access, at) {
                        true => {
                            note(Evidence::Misaligned);
                            Fit::Bad
                        }
                        false => Fit::Fine,
                    }
                }
            }
        };
        reported.map_or(fit, |(fit, _)| fit)
    }

    /// An address of LDS or of private memory without a place in global memory.
    fn fit_in_space(
        &self,
        (wave, at, bytes): (WaveId, AddressOf, u64),
        access: &Access,
        is_aperture: bool,
        note: &mut impl FnMut(Evidence),
    ) -> Fit {
        let end = at.address.saturating_add(bytes);
        if self.session.size_of_space(place(wave, at)).is_some_and(|size| end > size) {
            note(Evidence::BeyondLds);
            return Fit::Bad;
        }
        if is_misaligned(access, at) {
            note(Evidence::Misaligned);
            return Fit::Bad;
        }
        // Private memory at an unknown place may be on any page.
        let is_private = || {
            let kind = self.session.kind();
            kind.target.space(at.space).is_some_and(|space| space.scope == SpaceScope::Lane)
        };
        if self.has_page() && !is_aperture && is_private() && !self.session.exists(place(wave, at)) {
            note(Evidence::PrivatePlace);
            return Fit::UnknownPrivate;
        }
        Fit::Fine
    }

    /// The reports of the pages in the evidence of an access; without one all that count.
    fn reports(&self, evidence: &[Evidence], has_address_error: bool) -> Vec<&'a Fault> {
        let on: Vec<u64> = evidence.iter().filter_map(Evidence::page).collect();
        if on.is_empty() {
            return self.counting(has_address_error).map(|(_, fault)| *fault).collect();
        }
        let page = |start: u64| start & !(PAGE - 1);
        let is_on = |of: u64| on.iter().any(|start| page(*start) == page(of));
        let is_of = |(at, _): &&(FaultAddress, &Fault)| is_on(at.start);
        self.pages.iter().filter(is_of).map(|(_, fault)| *fault).collect()
    }

    /// Compares direction and client with the reports. Returns whether all of them contradict.
    fn directions(&self, access: &Access, has_address_error: bool, evidence: &mut Vec<Evidence>) -> bool {
        let reports = self.reports(evidence, has_address_error);
        let (agreeing, contradicting): (Vec<_>, Vec<_>) = reports
            .iter()
            .map(|fault| (*fault, compared(access, fault)))
            .partition(|(_, facts)| do_agree(facts));
        let Some((first, facts)) = agreeing.first() else { return !contradicting.is_empty() };
        let is_on_page = evidence.iter().any(|one| one.page().is_some());
        // One GPU may report a read and a write of a page by one process. Of the reports of several, the own is unknown.
        let is_one = is_on_page && reports.iter().all(|fault| fault.may_share_origin(first));
        if is_one || contradicting.is_empty() && agreeing.iter().all(|(_, other)| other == facts) {
            evidence.extend(facts.iter().map(|(_, evidence)| evidence.clone()));
        } else if is_on_page && !contradicting.is_empty() {
            evidence.push(Evidence::Disputed);
        }
        false
    }
}

/// Direction and client of a report, if it names them, and whether those of an access agree.
fn compared(access: &Access, fault: &Fault) -> Vec<(bool, Evidence)> {
    let is_load = access.direction == Direction::Load;
    let is_scalar = matches!(access.family, Family::Scalar | Family::ScalarBuffer);
    let by_direction = match reported(fault) {
        Some(FaultAccess::Write) => Some((!is_load, Evidence::Direction("write"))),
        Some(FaultAccess::Read) => Some((is_load, Evidence::Direction("read"))),
        _ => None,
    };
    let by_client = match fault.client.as_deref() {
        Some(client) if client.starts_with("SQC") => Some((is_scalar, Evidence::Client("scalar memory"))),
        Some("TCP") => Some((!is_scalar, Evidence::Client("vector memory"))),
        _ => None,
    };
    [by_direction, by_client].into_iter().flatten().collect()
}

fn do_agree(facts: &[(bool, Evidence)]) -> bool {
    facts.iter().all(|(agrees, _)| *agrees)
}

/// Whether reports beyond the limit may lack in a list: their pages are unknown.
pub(super) fn is_cut(faults: &[Fault]) -> bool {
    faults.iter().filter(|fault| fault.is_of_waves()).count() >= MAX_FAULTS
}

/// Whether the reasons of a report concern the rights to a page that exists.
fn is_of_rights(fault: &Fault) -> bool {
    let has = |reason| fault.reasons.contains(&reason);
    has(FaultReason::ReadOnly) && !has(FaultReason::NotPresent)
        || has(FaultReason::HostOnly)
        || has(FaultReason::NoExecute)
}

/// The direction that a report names, or implies: only a write violates a read-only page, and the driver marks a write
/// to an absent page with both reasons.
fn reported(fault: &Fault) -> Option<FaultAccess> {
    let implied = fault.reasons.contains(&FaultReason::ReadOnly).then_some(FaultAccess::Write);
    fault.access.or(implied)
}

/// The place of a lane's address.
fn place(wave: WaveId, at: AddressOf) -> MemoryAddress {
    let lane = at.lane.or(Some(LaneId::default()));
    MemoryAddress { space: at.space, address: Address(at.address), wave: Some(wave), lane }
}

/// Whether two ranges, as first byte and number of bytes, have a byte in common. A range continues at 0 after the last
/// address.
pub(super) fn overlap(one: (u64, u64), other: (u64, u64)) -> bool {
    other.0.wrapping_sub(one.0) < one.1.max(1) || one.0.wrapping_sub(other.0) < other.1.max(1)
}

/// Whether an atomic is not aligned to its size.
fn is_misaligned(access: &Access, at: AddressOf) -> bool {
    let is_atomic = matches!(access.direction, Direction::Atomic { .. });
    is_atomic && at.bytes.is_some_and(|bytes| bytes > 0 && !at.address.is_multiple_of(u64::from(bytes)))
}
