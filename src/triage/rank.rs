//! Rank of suspected accesses by their evidence: the reported page, the direction, the memory map, waits and paths.
//!
//! docs/triage.md has the rules.

#[cfg(test)]
mod tests;

use super::judge::{Fit, SLACK, Sighting};
use super::walk::{Candidate, Gap, Paths};
use super::{Confidence, Evidence, Limit, MissingData, Suspect, UnknownAddressCause, UnknownLanes};
use crate::units::WaveId;
use std::collections::BTreeSet;

/// Maximum number of suspects.
const MAX_SUSPECTS: usize = 16;

impl Sighting {
    /// The order of sightings, the best first.
    fn key(&self, candidate: &Candidate) -> impl Ord + use<> {
        let distance = self.look.way.distance;
        // Not executed, if the PC is right; in a loop its last execution may have had the same address.
        let is_at_pc = distance == 0 && !(candidate.is_in_loop && self.fit <= Fit::SamePage);
        let is_uncertain = candidate.has_other_path || self.look.exec_changed.is_some();
        // A wait shortly before the PC excludes nothing.
        let completed = self.look.way.completed.is_some_and(|wait| wait > SLACK);
        // The first access to a bad address faults, so the earliest one counts. Without a bad address the nearest does.
        let (waits, order) = match self.fit {
            Fit::OnPage | Fit::SamePage | Fit::Bad => (false, usize::MAX - distance),
            _ => (completed, distance),
        };
        let is_uncertain = is_uncertain && self.fit <= Fit::Bad;
        let is_off_page = self.evidence.iter().any(|one| matches!(one, Evidence::OffPage { .. }));
        // A known bad address precedes unknown ones also at the PC.
        let class = match (is_at_pc, self.is_contradicted) {
            (false, false) if self.fit <= Fit::NotCaptured => 0,
            (true, false) if self.fit <= Fit::Bad => 1,
            (false, false) => 2,
            (false, true) => 3,
            (true, _) => 4,
        };
        // Of the accesses to captured memory only a store or atomic faults.
        let is_captured = self.evidence.contains(&Evidence::Captured);
        // On another path its addresses are others: an access with these addresses on all of its paths precedes it.
        let is_choice = self.look.is_choice && self.fit <= Fit::Bad;
        // Memory that a store may have changed may have had another pointer.
        let is_doubtful = self.look.is_doubtful && self.fit <= Fit::Bad;
        (
            is_off_page,
            class,
            self.is_contradicted,
            self.fit,
            is_captured,
            waits,
            is_choice,
            is_doubtful,
            is_uncertain,
            order,
        )
    }

    /// Whether it may have an address on a reported page, or a bad one.
    fn can_fit(&self) -> bool {
        self.fit < Fit::Fine || self.look.is_recovered
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
    pub(super) fn is_on_page(&self) -> bool {
        self.sightings.iter().any(|sighting| sighting.fit <= Fit::SamePage)
    }

    /// Whether it may be the cause of a reported fault.
    pub(super) fn can_fit(&self) -> bool {
        self.sightings.iter().any(Sighting::can_fit)
    }

    /// The reported addresses whose page has an address of it.
    pub(super) fn pages(&self) -> impl Iterator<Item = u64> {
        let evidence = self.sightings.iter().flat_map(|sighting| &sighting.evidence);
        evidence.filter_map(Evidence::page)
    }

    /// Sorts its sightings, the best first.
    fn sort(&mut self) {
        let candidate = self.candidate;
        self.sightings.sort_by_cached_key(|sighting| {
            (sighting.key(candidate), std::cmp::Reverse(sighting.lanes.count()), sighting.wave)
        });
    }

    /// The order of accesses, the best first; their sightings are sorted.
    fn key(&self) -> impl Ord + use<> {
        (self.best().map(|best| best.key(self.candidate)), std::cmp::Reverse(self.waves))
    }

    fn best(&self) -> Option<&Sighting> {
        self.sightings.first()
    }

    fn address(&self) -> Option<u64> {
        Some(self.walk.instruction(self.candidate)?.address)
    }
}

/// Ranked accesses.
pub(super) struct Ranked {
    /// The best ones, the best first.
    pub(super) suspects: Vec<Suspect>,
    /// Number of further ones, whose facts are not collected.
    pub(super) further: usize,
    /// Number of those without a known address.
    pub(super) further_unknown: usize,
}

/// The index of the first one of the best accesses. Their sightings are sorted.
pub(super) fn leader<'a, 'w: 'a>(all: impl Iterator<Item = &'a mut Sighted<'w>>) -> Option<usize> {
    let known = all.enumerate().filter(|(_, one)| !one.sightings.is_empty());
    let keyed = known.map(|(index, one)| {
        one.sort();
        (one.key(), index)
    });
    keyed.min().map(|(_, index)| index)
}

/// Ranks accesses, and merges those of the same instruction.
pub(super) fn rank(all: Vec<Sighted<'_>>, judge_has_page: bool, is_whole: bool) -> Ranked {
    let mut all = all;
    all.retain(|one| !one.sightings.is_empty());
    all.iter_mut().for_each(Sighted::sort);
    all.sort_by_cached_key(Sighted::key);
    let mut suspects: Vec<Suspect> = Vec::new();
    let (mut further, mut further_unknown) = (BTreeSet::new(), 0);
    let certain = certain(&all, judge_has_page, is_whole);
    let others = |first: &Sighted<'_>| {
        let address = first.address();
        all.iter().any(|one| one.address() != address && one.can_fit())
    };
    let is_only = !all.first().is_some_and(others);
    // Beside others, an access whose addresses are all known to be good is no suspect.
    let is_good = |one: &Sighted<'_>| one.sightings.iter().all(|sighting| sighting.is_good);
    let has_others = all.iter().any(|one| !is_good(one));
    for (index, one) in all.iter().enumerate().filter(|(_, one)| !has_others || !is_good(one)) {
        let Some(address) = one.address() else { continue };
        let is_full = suspects.len() >= MAX_SUSPECTS;
        match suspects.iter_mut().find(|suspect| suspect.instruction == address) {
            Some(suspect) => {
                let same = one.sightings.iter().filter(|sighting| is_same(suspect, sighting));
                let same: Vec<WaveId> = same.map(|sighting| sighting.wave).collect();
                suspect.also.extend(same);
            }
            None if !is_full => {
                suspects
                    .extend(one.suspect(if index == 0 { certain } else { Confidence::Possible }, is_only));
            }
            None => {
                let is_unknown = one.best().is_some_and(|best| best.addresses.is_empty());
                further_unknown += usize::from(further.insert(address) && is_unknown);
            }
        }
    }
    for suspect in &mut suspects {
        if !suspect.also.is_empty() {
            suspect.evidence.push(Evidence::OtherWaves(suspect.also.len()));
        }
    }
    Ranked { suspects, further: further.len(), further_unknown }
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
fn certain(all: &[Sighted<'_>], has_page: bool, is_whole: bool) -> Confidence {
    let Some((first, best)) = all.first().and_then(|one| Some((one, one.best()?))) else {
        return Confidence::Possible;
    };
    let others = || all.iter().skip(1).filter(|one| one.address() != first.address());
    let best_of = |one: &Sighted<'_>| one.best().map(|best| (best.fit, best.is_contradicted));
    let is_rival = |one: &&Sighted<'_>| best_of(one) == best_of(first);
    let rivals = others().filter(is_rival).count();
    // Accesses on different paths to the PC exclude each other.
    let is_choice = |one: &Sighted<'_>| one.best().is_some_and(|best| best.look.is_choice);
    let is_open = is_choice(first) && rivals > 0 || others().filter(is_rival).any(is_choice);
    match best.fit {
        _ if best.is_contradicted || best.look.way.distance == 0 => Confidence::Possible,
        _ if best.evidence.contains(&Evidence::Disputed) => Confidence::Possible,
        Fit::OnPage | Fit::Bad if is_open => Confidence::Possible,
        Fit::OnPage if best.look.is_doubtful && rivals > 0 => Confidence::Possible,
        Fit::OnPage => {
            let is_doubted = [Evidence::Inexact, Evidence::Captured, Evidence::NoPageFault]
                .iter()
                .any(|one| best.evidence.contains(one));
            let is_sure = best.look.exec_changed.is_none()
                && !best.look.is_recovered
                && best.look.unknown.is_none()
                && !best.look.is_detour
                && !first.candidate.has_other_path
                && !first.candidate.is_in_loop
                && !first.candidate.depends_on_path
                && best.look.way.completed.is_none_or(|wait| wait <= SLACK);
            let is_closed = is_whole && all.iter().all(|one| one.walk.gaps.is_empty());
            let is_only = !others().any(Sighted::can_fit);
            match is_doubted {
                true if is_only => Confidence::Likely,
                true => Confidence::Possible,
                false if is_sure && is_closed && is_only => Confidence::Exact,
                false => Confidence::Likely,
            }
        }
        Fit::Bad if rivals == 0 && !best.look.is_doubtful => Confidence::Likely,
        // All others are known to be elsewhere.
        Fit::Unknown if has_page && rivals == 0 && !others().any(|one| one.is_on_page()) => {
            Confidence::Likely
        }
        _ => Confidence::Possible,
    }
}

impl Sighted<'_> {
    /// `is_only`: no other access can have an address on a reported page, or a bad one.
    fn suspect(&self, confidence: Confidence, is_only: bool) -> Option<Suspect> {
        let best = self.best()?;
        let one = self.walk.instruction(self.candidate)?;
        let access = one.effects().ok()?.access.clone()?;
        let mut evidence = best.evidence.clone();
        if confidence == Confidence::Exact || (confidence == Confidence::Likely && best.fit == Fit::Unknown) {
            let only = if is_only { Evidence::OnlyOne } else { Evidence::BestFit };
            evidence.insert(1.min(evidence.len()), only);
        }
        evidence.push(match best.look.way.completed {
            _ if best.look.way.distance == 0 => Evidence::AtPc,
            None => Evidence::Outstanding,
            Some(wait) => Evidence::JustCompleted(wait),
        });
        if best.look.is_recovered {
            evidence.push(Evidence::Recovered);
            evidence.extend(best.look.is_doubtful.then_some(Evidence::StoreBetween));
        }
        // All paths lead through the PC.
        let is_behind = best.look.way.distance > 0;
        evidence.extend((is_behind && self.candidate.has_other_path).then_some(Evidence::OtherPath));
        if is_behind && best.fit <= Fit::Unsure {
            let is_one_of = self.candidate.depends_on_path || best.look.is_detour;
            evidence.extend(is_one_of.then_some(Evidence::DependsOnPath));
            evidence.extend(self.candidate.is_in_loop.then_some(Evidence::InLoop));
        }
        let undecoded = |at: u64| self.walk.undecoded(at);
        evidence.extend(best.look.exec_changed.map(|at| match undecoded(at) {
            Some(text) => Evidence::ExecUnknown { at, text },
            None => Evidence::ExecChanged(at),
        }));
        let mut unknown = best.look.unknown.clone();
        if let Some(UnknownLanes { reason, .. }) = &mut unknown
            && let UnknownAddressCause::Overwritten { at, .. } = *reason
            && let Some(text) = undecoded(at)
        {
            *reason = UnknownAddressCause::Undecoded { at, text };
        }
        evidence.extend(unknown.as_ref().map(|unknown| Evidence::Unknown(unknown.reason.clone())));
        let listing = self.walk.listing(self.candidate);
        let function = listing.and_then(|listing| listing.function.as_ref());
        Some(Suspect {
            wave: best.wave,
            pc: self.walk.pc()?,
            instruction: one.address,
            text: one.text().into_owned(),
            distance: best.look.way.distance,
            access,
            lanes: best.lanes,
            is_bound: best.look.exec_changed.is_some(),
            addresses: best.addresses.clone(),
            origins: Vec::new(),
            written: Vec::new(),
            unknown,
            confidence,
            evidence,
            patterns: Vec::new(),
            also: self
                .sightings
                .iter()
                .skip(1)
                .filter(|other| other.fit == best.fit && other.wave != best.wave)
                .map(|of| of.wave)
                .collect(),
            at: super::SourceAt {
                function: function.map(|function| function.name.to_string()),
                file: one.file.as_ref().map(ToString::to_string),
                line: one.line,
                ..super::SourceAt::default()
            },
            frame: None,
            term: None,
        })
    }
}

/// The accesses that the walks could not reach. Callees, targets of jumps and accesses beyond the limit count if no
/// suspect is on a reported page.
pub(super) fn missing_code<'w>(
    walks: impl IntoIterator<Item = &'w Paths>,
    suspects: &[Suspect],
) -> Vec<MissingData> {
    let on_page = |one: &Evidence| matches!(one, Evidence::OnPage { .. });
    let has_match = suspects.first().is_some_and(|first| first.evidence.iter().any(on_page));
    let walks: Vec<&Paths> = walks.into_iter().collect();
    let gaps: BTreeSet<Gap> = walks.iter().flat_map(|walk| walk.gaps.iter().copied()).collect();
    let missing = |gap: &Gap| match gap {
        Gap::Start(at) => Some(MissingData::Code(*at)),
        Gap::Unknown(at) => {
            let text = walks.iter().find_map(|walk| walk.undecoded(*at)).unwrap_or_default().to_owned();
            Some(MissingData::Instruction { at: *at, text })
        }
        Gap::NoFunction(at) => Some(MissingData::Function(*at)),
        Gap::Caller(at) => Some(MissingData::Caller(*at)),
        Gap::Call(_) | Gap::Jump(_) | Gap::Limit if has_match => None,
        Gap::Call(at) => Some(MissingData::Callee(*at)),
        // A tail call is a call.
        Gap::Jump(at) if gaps.contains(&Gap::Call(*at)) => None,
        Gap::Jump(at) => Some(MissingData::Jump(*at)),
        Gap::Limit => Some(MissingData::Limit(Limit::Distance)),
    };
    gaps.iter().filter_map(missing).collect()
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
