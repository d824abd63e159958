//! Judgement of an access in a wave: its addresses against the reports and the memory map.
//!
//! docs/triage.md, "Rank", has the rules.

#[cfg(test)]
mod tests;

use super::map::{Map, is_hole};
use super::walk::look::Look;
use super::{AddressOf, Evidence};
use crate::capture::{Fault, FaultAccess, FaultAddress, FaultKind, FaultReason, PAGE};
use crate::isa::{Access, Direction, Family};
use crate::session::address::GLOBAL;
use crate::session::{Inspect, MemoryAddress};
use crate::units::{Address, LaneId, LaneSet, WaveId};

/// Instructions between a wait and the PC within which the wait does not exclude an access: a fault reaches the wave
/// later than the data.
pub(super) const SLACK: usize = 8;
/// Addresses below are never mapped.
const NULL_BYTES: u64 = 0x1_0000;
/// Stop reason of an access outside all apertures, or misaligned.
const ADDRESS_ERROR: &str = "address_error";

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
    /// An address in the wave's private memory is unknown.
    UnknownPrivate,
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

/// The reports and the memory map that accesses are compared with.
pub(super) struct Judge<'a> {
    session: &'a dyn Inspect,
    pages: Vec<(FaultAddress, &'a Fault)>,
    /// Whether the reports of memory are of apertures alone; `None`: no report.
    is_aperture: Option<bool>,
}

impl<'a> Judge<'a> {
    /// `agent`: the dump's id of the waves' GPU; reports of other GPUs are ignored.
    pub(super) fn new(session: &'a dyn Inspect, agent: u32, faults: &'a [Fault]) -> Self {
        let is_here = |fault: &Fault| fault.agent.is_none_or(|of| of == agent);
        let page = |fault: &'a Fault| {
            let address = fault.page().filter(|_| is_here(fault))?;
            (fault.access != Some(FaultAccess::Execute)).then_some((address, fault))
        };
        let mut kinds = faults
            .iter()
            .filter(|fault| is_here(fault))
            .filter(|fault| fault.is_of_memory())
            .map(|fault| fault.kind == FaultKind::Aperture);
        let is_aperture = kinds.next().map(|first| first && kinds.all(|kind| kind));
        Self { session, pages: faults.iter().filter_map(page).collect(), is_aperture }
    }

    /// Whether a report names a page.
    pub(super) fn has_page(&self) -> bool {
        !self.pages.is_empty()
    }

    /// The first byte of the reported page; `None`: several are reported.
    fn only_page(&self) -> Option<u64> {
        let start = |(address, _): &(FaultAddress, &Fault)| address.start & !(PAGE - 1);
        let (first, rest) = self.pages.split_first()?;
        rest.iter().all(|other| start(other) == start(first)).then(|| start(first))
    }

    /// Judges the addresses of an access in a wave.
    pub(super) fn judge(&self, wave: WaveId, access: &Access, look: Look) -> Sighting {
        let is_aperture = self.is_aperture(wave);
        let mut has_bad = false;
        let mut by_fit: [(LaneSet, Vec<AddressOf>); 4] = Default::default();
        let mut evidence = Vec::new();
        let mut note = |new: Evidence| {
            if !evidence.contains(&new) {
                evidence.push(new);
            }
        };
        for address in &look.addresses {
            let fit = self.fit(wave, *address, access, is_aperture, &mut note);
            let slot = match fit {
                Fit::OnPage => 0,
                Fit::SamePage => 1,
                Fit::Bad => 2,
                Fit::NotCaptured => 3,
                Fit::Unsure | Fit::Unknown | Fit::UnknownPrivate | Fit::Fine => continue,
            };
            has_bad = true;
            if let Some((lanes, addresses)) = by_fit.get_mut(slot) {
                *lanes = lanes.or(address.lane.map_or(LaneSet::default(), LaneSet::one));
                addresses.push(*address);
            }
        }
        let is_unknown = look.unknown.is_some();
        let fits = [Fit::OnPage, Fit::SamePage, Fit::Bad, Fit::NotCaptured].into_iter().zip(by_fit);
        // Bad addresses on another page do not explain a report.
        let mut fits = fits.filter(|(fit, (_, addresses))| {
            !addresses.is_empty() && (*fit <= Fit::SamePage || !self.has_page())
        });
        let (fit, lanes, addresses) = match fits.next() {
            Some((fit, (lanes, addresses))) => (fit, lanes, addresses),
            // The known addresses do not fit, and say nothing about the unknown ones.
            None if is_unknown => {
                let fit = if look.is_private { Fit::UnknownPrivate } else { Fit::Unknown };
                (fit, LaneSet::EMPTY, Vec::new())
            }
            None => {
                let lanes = look.addresses.iter().filter_map(|address| address.lane);
                let lanes = lanes.fold(LaneSet::default(), |all, lane| all.or(LaneSet::one(lane)));
                (Fit::Fine, lanes, look.addresses.clone())
            }
        };
        let keeps = |one: &Evidence| match one {
            Evidence::OnPage { .. } => fit == Fit::OnPage,
            Evidence::SamePage { .. } => fit == Fit::SamePage,
            Evidence::NotCaptured => fit == Fit::NotCaptured,
            _ => fit <= Fit::Bad,
        };
        evidence.retain(keeps);
        if fit == Fit::Fine && self.has_page() {
            evidence.push(Evidence::OffPage { page: self.only_page() });
        } else if fit == Fit::Fine {
            evidence.push(Evidence::NothingBad);
        }
        let is_contradicted = self.directions(access, &mut evidence);
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

    /// Whether the fault is known to be no page fault: by the reports, else by the wave's stop.
    fn is_aperture(&self, wave: WaveId) -> bool {
        self.is_aperture.unwrap_or_else(|| {
            let stop = self.session.wave(wave).ok().and_then(|info| info.stop).unwrap_or_default();
            !stop.is_empty() && stop.iter().all(|reason| reason == ADDRESS_ERROR)
        })
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
        let Some(global) = at.global else {
            return self.fit_in_space(wave, at, note);
        };
        let last = global.wrapping_add(bytes - 1);
        // Captured private memory is mapped, and a wave without a known base seems to have its private memory at 0.
        if at.space != GLOBAL && (global < NULL_BYTES || self.session.exists(place(wave, at))) {
            return Fit::Fine;
        }
        let overlaps =
            |start: u64, bytes: u64| global <= start.saturating_add(bytes.saturating_sub(1)) && last >= start;
        let on_page = self.pages.iter().find(|(page, _)| overlaps(page.start, page.bytes));
        let same_page =
            || self.pages.iter().find(|(page, _)| overlaps(page.start & !(PAGE - 1), page.bytes.max(PAGE)));
        let reported = match on_page {
            Some((page, _)) => {
                note(Evidence::OnPage { page: page.start });
                Some(Fit::OnPage)
            }
            None => same_page().map(|(page, _)| {
                note(Evidence::SamePage { address: page.start });
                Fit::SamePage
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
                (Some(true), Some(true)) if is_misaligned(access, at) => {
                    note(Evidence::Misaligned);
                    Fit::Bad
                }
                (Some(true), Some(true)) => Fit::Fine,
            }
        };
        reported.unwrap_or(fit)
    }

    /// An address of LDS or of private memory without a place in global memory.
    fn fit_in_space(&self, wave: WaveId, at: AddressOf, note: &mut impl FnMut(Evidence)) -> Fit {
        if self.session.size_of_space(place(wave, at)).is_some_and(|size| at.address >= size) {
            note(Evidence::BeyondLds);
            return Fit::Bad;
        }
        Fit::Fine
    }

    /// Compares direction and client with the reports. Returns whether all of them contradict.
    fn directions(&self, access: &Access, evidence: &mut Vec<Evidence>) -> bool {
        let (mut agreed, mut contradicted) = (None, 0);
        for (_, fault) in &self.pages {
            let is_write = access.direction != Direction::Load;
            let is_scalar = matches!(access.family, Family::Scalar | Family::ScalarBuffer);
            let by_direction = match reported(fault) {
                Some(FaultAccess::Write) => Some((is_write, Evidence::Direction("write"))),
                Some(FaultAccess::Read) => {
                    Some((access.direction == Direction::Load, Evidence::Direction("read")))
                }
                _ => None,
            };
            let by_client = match fault.client.as_deref() {
                Some(client) if client.starts_with("SQC") => {
                    Some((is_scalar, Evidence::Client("scalar memory")))
                }
                Some("TCP") => Some((!is_scalar, Evidence::Client("vector memory"))),
                _ => None,
            };
            let all = [by_direction, by_client].into_iter().flatten();
            if all.clone().any(|(agrees, _)| !agrees) {
                contradicted += 1;
            } else if agreed.is_none() {
                agreed = Some(all.map(|(_, evidence)| evidence).collect::<Vec<_>>());
            }
        }
        evidence.extend(agreed.into_iter().flatten());
        contradicted > 0 && contradicted == self.pages.len()
    }
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

/// Whether an atomic is not aligned to its size.
fn is_misaligned(access: &Access, at: AddressOf) -> bool {
    let is_atomic = matches!(access.direction, Direction::Atomic { .. });
    is_atomic && at.bytes.is_some_and(|bytes| bytes > 0 && !at.address.is_multiple_of(u64::from(bytes)))
}
