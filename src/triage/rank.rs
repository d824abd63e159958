//! Rank of suspected accesses by their evidence: the reported page, the direction, the memory map, waits and paths.
//!
//! docs/triage.md has the rules.

use super::map::Map;
use super::walk::look::Look;
use super::walk::{Candidate, Gap, Paths};
use super::{AddressOf, Confidence, Evidence, Suspect, UnknownAddressCause};
use crate::capture::{Fault, FaultAccess, FaultAddress, FaultKind, FaultReason};
use crate::isa::{Access, Direction, Family};
use crate::session::address::GLOBAL;
use crate::session::{Inspect, MemoryAddress};
use crate::units::{Address, LaneId, LaneSet, WaveId};

/// Instructions between a wait and the PC within which the wait does not exclude an access: a fault reaches the wave
/// later than the data.
pub(super) const SLACK: usize = 8;
/// Addresses below are never mapped.
const NULL_BYTES: u64 = 0x1_0000;

/// How the addresses of an access fit the fault, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// An address is on a reported page.
    OnPage,
    /// An address is bad by itself: in no mapped memory, outside all apertures.
    Bad,
    /// An address is not captured, and the map may be incomplete.
    NotCaptured,
    /// An address is unknown.
    Unknown,
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
}

impl<'a> Judge<'a> {
    pub(super) fn new(session: &'a dyn Inspect, faults: &'a [Fault]) -> Self {
        let page = |fault: &'a Fault| {
            // `Memory`: a report without its kind, like the address of the user's option.
            let is_access = matches!(fault.kind, FaultKind::Page | FaultKind::Memory);
            let address = fault.address.filter(|_| is_access)?;
            (fault.access != Some(FaultAccess::Execute)).then_some((address, fault))
        };
        Self { session, pages: faults.iter().filter_map(page).collect() }
    }

    /// Whether a report names a page.
    pub(super) fn has_page(&self) -> bool {
        !self.pages.is_empty()
    }

    /// Judges the addresses of an access in a wave.
    pub(super) fn judge(&self, wave: WaveId, access: &Access, look: Look) -> Sighting {
        let mut by_fit: [(LaneSet, Vec<AddressOf>); 3] = Default::default();
        let mut evidence = Vec::new();
        let mut note = |new: Evidence| {
            if !evidence.contains(&new) {
                evidence.push(new);
            }
        };
        for address in &look.addresses {
            let fit = self.fit(wave, *address, access, &mut note);
            let slot = match fit {
                Fit::OnPage => 0,
                Fit::Bad => 1,
                Fit::NotCaptured => 2,
                Fit::Unknown | Fit::Fine => continue,
            };
            if let Some((lanes, addresses)) = by_fit.get_mut(slot) {
                *lanes = lanes.or(address.lane.map_or(LaneSet::default(), LaneSet::one));
                addresses.push(*address);
            }
        }
        let is_unknown = look.unknown.is_some();
        let fits = [Fit::OnPage, Fit::Bad, Fit::NotCaptured].into_iter().zip(by_fit);
        // On a reported page an unknown address can be; other bad addresses do not explain the report.
        let fits = fits.filter(|(fit, (_, addresses))| {
            !addresses.is_empty() && (*fit == Fit::OnPage || !self.has_page() || !is_unknown)
        });
        // Nor does an address that is merely not captured.
        let mut fits = fits.filter(|(fit, _)| *fit != Fit::NotCaptured || !self.has_page());
        let (fit, lanes, addresses) = match fits.next() {
            Some((fit, (lanes, addresses))) => (fit, lanes, addresses),
            // The known addresses do not fit, and say nothing about the unknown ones.
            None if is_unknown => (Fit::Unknown, LaneSet::EMPTY, Vec::new()),
            None => {
                let lanes = look.addresses.iter().filter_map(|address| address.lane);
                let lanes = lanes.fold(LaneSet::default(), |all, lane| all.or(LaneSet::one(lane)));
                (Fit::Fine, lanes, look.addresses.clone())
            }
        };
        let keeps = |one: &Evidence| match one {
            Evidence::OnPage { .. } => fit == Fit::OnPage,
            Evidence::NotCaptured => fit == Fit::NotCaptured,
            _ => fit <= Fit::Bad,
        };
        evidence.retain(keeps);
        if fit == Fit::Fine {
            evidence.push(Evidence::NothingBad);
        }
        let is_contradicted = self.directions(access, &mut evidence);
        let is_load = access.direction == Direction::Load;
        let proves = |at: &AddressOf| match at.space {
            GLOBAL => is_load,
            _ => self.session.exists(place(wave, *at)),
        };
        let is_good = fit == Fit::Fine && look.addresses.iter().all(proves);
        Sighting { wave, fit, lanes, addresses, evidence, look, is_contradicted, is_good }
    }

    fn fit(&self, wave: WaveId, at: AddressOf, access: &Access, note: &mut impl FnMut(Evidence)) -> Fit {
        let bytes = u64::from(at.bytes.unwrap_or(1).max(1));
        let Some(global) = at.global else {
            return self.fit_in_space(wave, at, note);
        };
        let last = global.wrapping_add(bytes - 1);
        // Captured private memory is mapped, and a wave without a known base seems to have its private memory at 0.
        if at.space != GLOBAL && (global < NULL_BYTES || self.session.exists(place(wave, at))) {
            return Fit::Fine;
        }
        let on_page = self.pages.iter().find(|(page, _)| {
            global <= page.start.saturating_add(page.bytes.saturating_sub(1)) && last >= page.start
        });
        if let Some((page, _)) = on_page {
            note(Evidence::OnPage { page: page.start });
        }
        let fit = if at.space != GLOBAL {
            Fit::Fine
        } else if is_hole(global) {
            note(Evidence::Hole);
            Fit::Bad
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
        if on_page.is_some() { Fit::OnPage } else { fit }
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

/// Whether bits 63 to 47 differ: an address in no aperture.
fn is_hole(address: u64) -> bool {
    let high = address >> 47;
    high != 0 && high != (1 << 17) - 1
}

/// Whether an atomic is not aligned to its size.
fn is_misaligned(access: &Access, at: AddressOf) -> bool {
    let is_atomic = matches!(access.direction, Direction::Atomic { .. });
    is_atomic && at.bytes.is_some_and(|bytes| bytes > 0 && !at.address.is_multiple_of(u64::from(bytes)))
}

impl Sighting {
    /// The order of sightings, the best first.
    fn key(&self, candidate: &Candidate) -> impl Ord + use<> {
        let distance = self.look.way.distance;
        // Not executed, if the PC is right; in a loop its last execution may have had the same address.
        let is_at_pc = distance == 0 && !(candidate.is_in_loop && self.fit == Fit::OnPage);
        let is_uncertain = candidate.has_other_path || self.look.exec_changed.is_some();
        let completed = match self.look.way.completed {
            None => 0,
            Some(wait) if wait <= SLACK => 1,
            Some(_) => 2,
        };
        // The first access to a bad address faults, so the earliest one counts. Without a bad address the nearest does.
        let (waits, order) = match self.fit {
            Fit::OnPage | Fit::Bad => (0, usize::MAX - distance),
            _ => (completed, distance),
        };
        let is_uncertain = is_uncertain && self.fit <= Fit::Bad;
        (is_at_pc, self.is_contradicted, self.fit, waits, is_uncertain, order)
    }
}

/// An access with its sightings in the waves of a walk.
pub(super) struct Sighted<'w> {
    pub(super) walk: &'w Paths,
    pub(super) candidate: &'w Candidate,
    /// At least one, the best first.
    pub(super) sightings: Vec<Sighting>,
    /// Number of waves that stopped behind it.
    pub(super) waves: usize,
}

impl Sighted<'_> {
    fn is_on_page(&self) -> bool {
        self.sightings.iter().any(|sighting| sighting.fit == Fit::OnPage)
    }

    fn best(&self) -> Option<&Sighting> {
        self.sightings.first()
    }

    fn address(&self) -> Option<u64> {
        Some(self.walk.instruction(self.candidate)?.address)
    }
}

/// Ranks accesses, the best first, and merges those of the same instruction.
pub(super) fn rank(all: Vec<Sighted<'_>>, judge_has_page: bool) -> Vec<Suspect> {
    let mut all = all;
    all.retain(|one| !one.sightings.is_empty());
    for one in &mut all {
        let candidate = one.candidate;
        one.sightings.sort_by_cached_key(|sighting| {
            (sighting.key(candidate), std::cmp::Reverse(sighting.lanes.count()), sighting.wave)
        });
    }
    all.sort_by_cached_key(|one| {
        let best = one.best();
        (best.map(|best| best.key(one.candidate)), std::cmp::Reverse(one.waves))
    });
    let mut suspects: Vec<Suspect> = Vec::new();
    let certain = certain(&all, judge_has_page);
    // Beside others, an access whose addresses are all known to be good is no suspect.
    let is_good = |one: &Sighted<'_>| one.sightings.iter().all(|sighting| sighting.is_good);
    let has_others = all.iter().any(|one| !is_good(one));
    for (index, one) in all.iter().enumerate().filter(|(_, one)| !has_others || !is_good(one)) {
        let Some(address) = one.address() else { continue };
        match suspects.iter_mut().find(|suspect| suspect.instruction == address) {
            Some(suspect) => {
                let same = one.sightings.iter().filter(|sighting| is_same(suspect, sighting));
                let same: Vec<WaveId> = same.map(|sighting| sighting.wave).collect();
                suspect.also.extend(same);
            }
            None => suspects.extend(one.suspect(if index == 0 { certain } else { Confidence::Possible })),
        }
    }
    for suspect in &mut suspects {
        if !suspect.also.is_empty() {
            suspect.evidence.push(Evidence::OtherWaves(suspect.also.len()));
        }
    }
    suspects
}

/// Whether a sighting is by the evidence of a suspect.
fn is_same(suspect: &Suspect, sighting: &Sighting) -> bool {
    let on_page = |all: &[Evidence]| all.iter().any(|one| matches!(one, Evidence::OnPage { .. }));
    on_page(&suspect.evidence) == on_page(&sighting.evidence)
        && suspect.addresses.is_empty() == sighting.addresses.is_empty()
}

/// The certainty of the first one.
///
/// Exact: its addresses are on the page and known without doubt, it was certainly executed once, and no other access
/// can have an address on the page: all others are known, and nothing is missing in the walks.
fn certain(all: &[Sighted<'_>], has_page: bool) -> Confidence {
    let Some((first, best)) = all.first().and_then(|one| Some((one, one.best()?))) else {
        return Confidence::Possible;
    };
    let others = || all.iter().skip(1).filter(|one| one.address() != first.address());
    let best_of = |one: &Sighted<'_>| one.best().map(|best| (best.fit, best.is_contradicted));
    let rivals = others().filter(|one| best_of(one) == best_of(first)).count();
    let is_doubtful = |of: &Sighting| of.fit <= Fit::Unknown || of.look.is_recovered;
    let can_fit = |one: &Sighted<'_>| one.sightings.iter().any(is_doubtful);
    match best.fit {
        _ if best.is_contradicted || best.look.way.distance == 0 => Confidence::Possible,
        Fit::OnPage => {
            let is_sure = best.look.exec_changed.is_none()
                && !best.look.is_recovered
                && best.look.unknown.is_none()
                && !best.look.is_detour
                && !first.candidate.has_other_path
                && !first.candidate.is_in_loop
                && best.look.way.completed.is_none_or(|wait| wait <= SLACK);
            let is_closed = all.iter().all(|one| one.walk.gaps.is_empty());
            let is_only = !others().any(can_fit);
            if is_sure && is_closed && is_only { Confidence::Exact } else { Confidence::Likely }
        }
        Fit::Bad if rivals == 0 => Confidence::Likely,
        // All others are known to be elsewhere.
        Fit::Unknown if has_page && rivals == 0 && !others().any(|one| one.is_on_page()) => {
            Confidence::Likely
        }
        _ => Confidence::Possible,
    }
}

impl Sighted<'_> {
    fn suspect(&self, confidence: Confidence) -> Option<Suspect> {
        let best = self.best()?;
        let one = self.walk.instruction(self.candidate)?;
        let access = one.effects.as_ref().ok()?.access.clone()?;
        let mut evidence = best.evidence.clone();
        if confidence == Confidence::Exact || (confidence == Confidence::Likely && best.fit == Fit::Unknown) {
            evidence.insert(1.min(evidence.len()), Evidence::OnlyOne);
        }
        evidence.push(match best.look.way.completed {
            _ if best.look.way.distance == 0 => Evidence::AtPc,
            None => Evidence::Outstanding,
            Some(wait) => Evidence::JustCompleted(wait),
        });
        if best.look.is_recovered {
            evidence.push(Evidence::Recovered);
        }
        if self.candidate.has_other_path {
            evidence.push(Evidence::OtherPath);
        }
        evidence.extend(best.look.exec_changed.map(Evidence::ExecChanged));
        let unknown = best.look.unknown.clone();
        evidence.extend(unknown.as_ref().map(|unknown| Evidence::Unknown(unknown.reason.clone())));
        let listing = self.walk.listing(self.candidate);
        let function = listing.and_then(|listing| listing.function.as_ref());
        Some(Suspect {
            wave: best.wave,
            pc: self.walk.pc()?,
            instruction: one.address,
            text: one.text.clone(),
            distance: best.look.way.distance,
            access,
            lanes: best.lanes,
            is_bound: best.look.exec_changed.is_some(),
            addresses: best.addresses.clone(),
            unknown,
            confidence,
            evidence,
            patterns: Vec::new(),
            also: self
                .sightings
                .iter()
                .skip(1)
                .filter(|other| other.fit == best.fit)
                .map(|of| of.wave)
                .collect(),
            at: super::SourceAt {
                function: function.map(|function| function.name.to_string()),
                file: one.file.as_ref().map(ToString::to_string),
                line: one.line,
                text: None,
            },
            term: None,
        })
    }
}

/// Messages for what the walks could not follow.
pub(super) fn missing_code(walks: &[Paths]) -> Vec<u64> {
    let address = |gap: &Gap| match gap {
        Gap::Start(at) | Gap::Unknown(at) => Some(*at),
        Gap::Distance | Gap::Call(_) | Gap::Jump(_) => None,
    };
    let mut all: Vec<u64> = walks.iter().flat_map(|walk| walk.gaps.iter().filter_map(address)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Names of registers that are not captured, for an access without addresses.
pub(super) fn missing_registers(suspect: &Suspect) -> Option<String> {
    match &suspect.unknown.as_ref()?.reason {
        UnknownAddressCause::Address(error @ crate::isa::AddressError::Register(_)) => {
            Some(error.to_string())
        }
        _ => None,
    }
}
