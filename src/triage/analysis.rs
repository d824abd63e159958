//! The analysis: waves by their stops, suspected accesses, other causes, hangs.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::hang::hang;
use super::judge::{Fit, Judge, is_cut};
use super::listings::{CodeAt, Listing, Listings, MAX_LISTED};
use super::rank::{self, Sighted};
use super::registers;
use super::reports::are_fetches;
use super::survey::{Group, Stop, Survey};
use super::walk::launch::Launches;
use super::walk::look::Look;
use super::walk::work::Work;
use super::walk::{self, Callees, Caller, Paths, registers::Registers};
use super::{
    Cause, Confidence, Evidence, Limit, MissingData, Stops, Suspect, Triage, causes, describe, places,
};
use crate::capture::{Fault, FaultAccess, FaultKind, PAGE};
use crate::debuginfo::source_name;
use crate::isa::{Access, Control};
use crate::session::{Inspect, StackEnd};
use crate::units::{WaveId, WaveSize};

/// Maximum number of accesses of waves whose registers are read.
const MAX_LOOKS: usize = 20_000;
/// Waves of a PC whose accesses are all judged. Further waves are searched for the reported page.
pub(super) const FULLY_JUDGED: usize = 16;
/// Waves of a PC whose overwritten registers are computed again.
const RECOVERED: usize = 2;
/// Number of waves of a PC with an access on the page after which the search for more ends.
const ENOUGH_MATCHES: usize = 64;
/// Maximum number of callers that paths follow.
const MAX_CALLERS: usize = 4;
/// Maximum number of levels of calls that paths enter behind their return.
const MAX_DEPTH: usize = 2;

/// A question about a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The only wave to analyse. `None`: all waves.
    pub wave: Option<WaveId>,
    /// Whether the states of waves and work-groups are wanted, also after a fault.
    pub wants_hang: bool,
}

/// Finds the cause of a crash or hang. `sessions`: one for each kind of wave of a dump.
#[must_use]
pub fn triage(sessions: &[&dyn Inspect], question: &Question) -> Triage {
    let faults = sessions.first().map(|session| session.faults()).unwrap_or_default();
    let survey = Survey::of(sessions, question.wave);
    let mut found = Triage { waves: survey.stops(), ..Triage::default() };
    if question.wave.is_none() {
        // Each session counts those of the others.
        let served = sessions.iter().skip(1).map(|session| session.faulted()).sum();
        let outside = sessions.first().map_or(0, |session| session.faulted_outside());
        found.waves.left_out = outside.saturating_sub(served);
    }
    let mut code = Listings::default();
    let has_faulted = found.waves.faulted > 0;
    let (stopped, is_memory) = stopped(&survey, &faults, question.wave.is_none());
    let stop = survey.stop();
    found.waves.chosen = stopped.first().and_then(|group| group.waves.first().copied());
    let chosen = found.waves.chosen.filter(|_| has_faulted || question.wave.is_some());
    let session = |wave: WaveId| sessions.iter().copied().find(|session| session.has_wave(wave));
    let other = chosen.and_then(|wave| causes::cause(session(wave)?, wave, &mut code));
    // No captured wave has the fault of a report: what the waves show precedes it.
    let is_known = stop == Some(Stop::Running);
    found.cause = other.or_else(|| causes::reported(&faults).filter(|_| !has_faulted && !is_known));
    if let Some(Cause::IllegalInstruction { bytes, legal: None, .. }) = &found.cause
        && bytes.is_empty()
    {
        add(&mut found.missing, MissingData::WaveCode { waves: 1 });
    }
    if is_memory && found.cause.is_none() {
        found.cause = Some(Cause::Memory);
        suspects(&stopped, &faults, &mut code, &mut found);
    } else if found.cause.is_none()
        && stop == Some(Stop::Halted)
        && !stopped.first().is_some_and(|group| faults.iter().any(|fault| group.may_have(fault)))
    {
        add(&mut found.missing, MissingData::StopReason);
    }
    if question.wants_hang || needs_states(&found.waves, &faults) {
        let mut missing = Vec::new();
        let hang = hang(sessions, question.wave, &mut code, &mut missing);
        missing.into_iter().for_each(|new| add(&mut found.missing, new));
        if found.cause.is_none() && !has_faulted && hang.is_hang {
            found.cause = Some(Cause::Hang);
        }
        if hang.is_cut {
            add(&mut found.missing, MissingData::Limit(Limit::Hang));
        }
        found.hang = Some(hang);
    }
    if is_known && question.wave.is_none() {
        without_wave(&faults, &mut found);
    }
    if found.cause.is_none() && !has_faulted {
        found.cause = faults.iter().find(|fault| is_hang_reported(fault)).map(causes::of_queue);
    }
    if let Some(Cause::Bystander { .. }) = found.cause {
        // The wave that faulted is not among those of the question.
        found.waves.bystanders = found.waves.asked.saturating_sub(found.waves.unknown);
    }
    if question.wave.is_none() {
        found.waves.uncounted = sessions.first().map(|session| session.uncounted_waves()).unwrap_or_default();
    }
    if found.waves.unknown > 0 {
        add(&mut found.missing, MissingData::StopReasons { waves: found.waves.unknown });
    }
    if let Some(chosen) = found.waves.chosen {
        found.waves.others = survey.others(chosen);
    }
    found.faults = faults;
    found.of_truncated(sessions.first().and_then(|session| session.truncated()))
}

fn is_hang_reported(fault: &Fault) -> bool {
    fault.kind == FaultKind::Hang && fault.is_of_waves()
}

/// Whether an analysis has the states of waves also without a question for them: no wave can have the fault of a report.
pub(crate) fn needs_states(waves: &Stops, faults: &[Fault]) -> bool {
    let is_known = waves.asked > 0 && waves.unknown == 0;
    waves.faulted == 0
        && (is_known || faults.iter().all(|fault| is_hang_reported(fault) || !fault.is_of_waves()))
}

/// The cause by reports that no captured wave has: without a hang they are the only known fault.
fn without_wave(faults: &[Fault], found: &mut Triage) {
    let of_memory = || faults.iter().filter(|fault| fault.is_of_waves() && fault.is_of_memory());
    for page in of_memory().filter_map(Fault::page).filter(|_| found.waves.left_out == 0) {
        add(&mut found.missing, MissingData::Access { page: page.start & !(PAGE - 1) });
    }
    if found.cause.is_none() {
        found.cause = of_memory().next().map(|_| Cause::Memory).or_else(|| causes::reported(faults));
        // The page describes no wave.
        found.waves.chosen = found.waves.chosen.filter(|_| found.cause.is_none());
    }
}

/// The groups of waves that show the cause, and whether it is an access to memory. `are_all`: the question is about all
/// waves.
pub(super) fn stopped<'s, 'a>(
    survey: &'s Survey<'a>,
    faults: &[Fault],
    are_all: bool,
) -> (Vec<&'s Group<'a>>, bool) {
    let mut stopped = survey.stopped();
    let is_memory = match survey.stop() {
        Some(Stop::Memory) => true,
        Some(Stop::OtherFault | Stop::Running) | None => false,
        // A report decides about the waves of its GPU alone.
        Some(stop @ (Stop::Halted | Stop::Unknown)) => {
            let concerns = |group: &Group<'_>| faults.iter().any(|fault| group.may_have(fault));
            let of_memory =
                |group: &&Group<'_>| faults.iter().any(|fault| fault.is_of_memory() && group.may_have(fault));
            stopped.sort_by_key(|group| !concerns(group));
            // Without a fault of a wave, a report of a GPU without waves is the only known cause.
            let of_waves = |fault: &Fault| fault.is_of_memory() && fault.is_of_waves();
            let is_alone = stop != Stop::Halted && are_all && faults.iter().any(of_waves);
            let is_memory = is_alone || stopped.iter().any(of_memory);
            if is_memory {
                stopped.retain(of_memory);
            }
            is_memory
        }
    };
    (stopped, is_memory)
}

/// Fills the suspects of a fault of memory, from the waves that stopped for it.
fn suspects(stopped: &[&Group<'_>], faults: &[Fault], code: &mut Listings, found: &mut Triage) {
    let groups: Vec<&Group<'_>> = stopped.iter().copied().take(MAX_LISTED).collect();
    let without_pc: usize =
        stopped.iter().filter(|group| group.pc.is_none()).map(|group| group.count()).sum();
    if without_pc > 0 {
        add(&mut found.missing, MissingData::WavePcs { waves: without_pc });
    }
    let fetched = |group: &&Group<'_>| group.info().is_some_and(|info| are_fetches(faults, &info));
    if groups.iter().all(fetched) && !groups.is_empty() {
        // No access to data is the cause. The wave whose PC is on the page fetched there.
        let is_on_page = |group: &&Group<'_>| {
            let pages = faults.iter().filter_map(Fault::page);
            group.pc.is_some_and(|pc| {
                pages.into_iter().any(|page| page.start & !(PAGE - 1) == pc.0 & !(PAGE - 1))
            })
        };
        let chosen = groups.iter().copied().find(is_on_page).or(groups.first().copied());
        found.waves.chosen = chosen.and_then(|group| group.waves.first().copied());
        return;
    }
    let stacks: Vec<Stack<'_>> = groups.iter().filter_map(|group| Stack::of(group)).collect();
    let work = Work::default();
    let (walks, walked) = walks(&stacks, code, &work, &mut found.missing);
    let mut budget = MAX_LOOKS;
    let mut all = Vec::new();
    let mut is_searched = walks.len() == stopped.len();
    let mut worst_cut = Cut::None;
    let launches = groups.first().map(|group| Launches::of(group.session)).unwrap_or_default();
    for (walk, stack) in walks.iter().zip(&walked) {
        let judge = Judge::new(stack.group.session, stack.group.agent, faults);
        let (sighted, cut) = sightings(walk, stack.group, &judge, (&launches, &work), &mut budget);
        is_searched &= cut == Cut::None;
        worst_cut = worst_cut.max(cut);
        all.extend(sighted.into_iter().map(|one| (stack.group, one)));
    }
    let unexplained = if is_searched { unexplained(faults, &groups, &all) } else { Vec::new() };
    // Waves of another GPU or dispatch have a fault of their own.
    let described = rank::leader(all.iter_mut().map(|(_, one)| one)).and_then(|index| all.get(index));
    let leader = described.and_then(|(_, one)| one.sightings.first()).map(|best| best.wave);
    let described = described.map(|(group, _)| *group).or(groups.first().copied());
    let leader = leader.or(described.and_then(|group| group.waves.first().copied()));
    let is_own = |group: &Group<'_>| described.is_some_and(|own| own.fault() == group.fault());
    let judge = described.map(|group| Judge::new(group.session, group.agent, faults));
    let has_page = judge.as_ref().zip(leader).is_some_and(|(judge, wave)| judge.counts_page(wave));
    let is_closed = judge.zip(leader).is_some_and(|(judge, wave)| judge.excludes(wave));
    let (sighted, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(group, _)| is_own(group));
    let sighted: Vec<Sighted<'_>> = sighted.into_iter().map(|(_, one)| one).collect();
    let is_cut = is_cut(faults);
    let limits = [
        (Limit::Reports, is_cut),
        (Limit::Pcs, stopped.len() > groups.len()),
        (Limit::Accesses, budget == 0 || has_page && worst_cut == Cut::Limit),
        (Limit::Paths, work.has_cut_paths()),
        (Limit::Registers, work.has_cut_registers()),
    ];
    for (limit, _) in limits.into_iter().filter(|(_, is_reached)| *is_reached) {
        add(&mut found.missing, MissingData::Limit(limit));
    }
    let unsearched = groups.iter().filter(|group| has_page && group.is_unsearched());
    if let waves @ 1.. = unsearched.map(|group| group.left_out).sum() {
        add(&mut found.missing, MissingData::LeftOutWaves { waves });
    }
    // A wave without a known stop reason may have the fault.
    let are_unknown_examined = stopped.first().is_some_and(|group| group.stop == Stop::Unknown);
    let is_whole = walks.len() == stopped.len()
        && budget > 0
        && !is_cut
        && (found.waves.unknown == 0 || are_unknown_examined)
        && !groups.iter().any(|group| group.is_unsearched())
        && !others.iter().any(|(_, one)| one.can_fit());
    let is_foreign = |group: &Group<'_>| described.is_some_and(|own| own.agent != group.agent);
    let has_rival = others.iter().any(|(group, one)| is_foreign(group) && one.is_on_page());
    let rank::Ranked { mut suspects, further, further_unknown } = rank::rank(sighted, is_closed, is_whole);
    if let Some(first) = suspects.first_mut().filter(|first| has_rival && first.is_on_page()) {
        first.confidence = Confidence::Possible;
        first.evidence.push(Evidence::OtherGpu);
    }
    found.further = further;
    found.further_unknown = further_unknown;
    for suspect in &mut suspects {
        if worst_cut != Cut::None {
            for one in &mut suspect.evidence {
                if let Evidence::OtherWaves(count) = *one {
                    *one = Evidence::AtLeastOtherWaves(count);
                }
            }
        }
        if let Some(group) = groups.iter().find(|group| group.session.has_wave(suspect.wave)) {
            let at = &mut suspect.at;
            let line = at.file.as_deref().zip(at.line);
            at.text = line.and_then(|(file, line)| group.session.source_line(file, line));
            let apertures = registers::apertures(group.session, suspect.wave);
            let registers = Registers::new(group.session, suspect.wave, &apertures, &launches, &work);
            let is_own = |stack: &Stack<'_>| stack.group.waves.contains(&suspect.wave);
            let walk = walks.iter().zip(&walked).find(|(_, stack)| is_own(stack)).map(|(walk, _)| walk);
            suspect.origins = walk.map(|walk| walk.origins(suspect, &registers)).unwrap_or_default();
            suspect.written =
                walk.map(|walk| walk.written(suspect, &group.session.kind())).unwrap_or_default();
            // The line names the pointer.
            describe(group.session, faults, suspect);
            places::place(group.session, walk.and_then(|walk| walk.listing_of(suspect.instruction)), suspect);
        }
    }
    if let Some(first) = suspects.first() {
        found.waves.chosen = Some(first.wave);
        missing_registers(first, &groups, &mut found.missing);
        // Unknown addresses alone may all be on the page.
        if first.is_good() || first.is_on_page() {
            let new = |page| MissingData::Access { page };
            unexplained.into_iter().for_each(|page| add(&mut found.missing, new(page)));
        }
    }
    found.suspects = suspects;
    let concerns = |fault: &Fault| described.is_none_or(|group| group.may_have(fault));
    if groups.is_empty() {
        // The reports are of GPUs without waves.
        let pages = faults.iter().filter_map(|fault| Some(fault.page()?.start & !(PAGE - 1)));
        pages.for_each(|page| add(&mut found.missing, MissingData::Access { page }));
    } else if !has_page && !faults.iter().any(|fault| fault.kind == FaultKind::Aperture && concerns(fault)) {
        let is_reported = faults.iter().any(|fault| fault.is_of_memory() && concerns(fault));
        add(&mut found.missing, MissingData::Page { is_reported });
    }
    let own = walks.iter().zip(&walked).filter(|(_, stack)| is_own(stack.group)).map(|(walk, _)| walk);
    for missing in rank::missing_code(own, &found.suspects).into_iter().take(MAX_LISTED) {
        add(&mut found.missing, missing);
    }
    if !has_page && !groups.iter().all(|group| group.session.has_whole_map()) {
        add(&mut found.missing, MissingData::MemoryMap);
    }
}

/// The paths to the PCs of stacks, with the stack of each. They enter the callees of calls that returned.
fn walks<'s, 'a>(
    stacks: &'s [Stack<'a>],
    code: &mut Listings,
    work: &Work,
    missing: &mut Vec<MissingData>,
) -> (Vec<Paths>, Vec<&'s Stack<'a>>) {
    let mut found = Vec::new();
    for stack in stacks {
        match stack.walk(code, &Callees::new(), work) {
            Ok(walk) => found.push((walk, stack, Callees::new())),
            Err(error) => add(missing, error),
        }
    }
    for _ in 0..MAX_DEPTH {
        let mut called: Vec<(usize, u64, CodeAt<'a>)> = Vec::new();
        for (index, (walk, stack, _)) in found.iter().enumerate() {
            let (Some(first), session) = (stack.places.first(), stack.group.session) else { continue };
            for (call, target) in walk.calls(session.kind().wave_size) {
                called.extend(target.map(|address| (index, call, CodeAt { address, ..*first })));
            }
        }
        let mut entered = BTreeSet::new();
        for (index, call, at) in called {
            let listing =
                code.around(at).and_then(Result::ok).filter(|listing| walk::can_enter(listing, at.address));
            if let (Some(listing), Some((_, _, callees))) = (listing, found.get_mut(index)) {
                callees.insert(call, listing);
                entered.insert(index);
            }
        }
        for index in entered {
            let Some((walk, stack, callees)) = found.get_mut(index) else { continue };
            if let Ok(again) = stack.walk(code, callees, work) {
                *walk = again;
            }
        }
    }
    found.into_iter().map(|(walk, stack, _)| (walk, stack)).unzip()
}

/// First bytes of the reported pages that no known address is on; at most [`MAX_FAULTS`](crate::capture::MAX_FAULTS).
fn unexplained(faults: &[Fault], groups: &[&Group<'_>], all: &[(&Group<'_>, Sighted<'_>)]) -> Vec<u64> {
    let explained: BTreeSet<u64> = all.iter().flat_map(|(_, one)| one.pages()).collect();
    let agents: BTreeSet<u32> = groups.iter().map(|group| group.agent).collect();
    let is_explained = |fault: &&Fault| fault.page().is_some_and(|page| explained.contains(&page.start));
    // The process of a page that an access leads to is that of the waves: reports of others are not about them.
    let own: BTreeSet<u32> = faults.iter().filter(is_explained).filter_map(|fault| fault.process).collect();
    let is_own = |fault: &Fault| own.is_empty() || fault.process.is_none_or(|process| own.contains(&process));
    let is_here = |fault: &&Fault| {
        agents.iter().any(|agent| fault.concerns(*agent))
            && fault.access != Some(FaultAccess::Execute)
            && is_own(fault)
    };
    let pages = faults.iter().filter(is_here).filter_map(|fault| Some(fault.page()?.start));
    let pages: BTreeSet<u64> = pages.filter(|start| !explained.contains(start)).collect();
    pages.into_iter().map(|start| start & !(PAGE - 1)).collect()
}

/// The reason that some waves of a group are not searched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cut {
    /// All are searched.
    None,
    /// The dump leaves them out.
    LeftOut,
    /// The limit of the analysis.
    Limit,
}

/// Judges the accesses of a walk in the waves of a group. Also returns whether all waves are searched.
fn sightings<'w>(
    walk: &'w Paths,
    group: &Group<'_>,
    judge: &Judge<'_>,
    (launches, work): (&Launches, &Work),
    budget: &mut usize,
) -> (Vec<Sighted<'w>>, Cut) {
    let mut all: Vec<Sighted<'w>> = walk
        .candidates
        .iter()
        .map(|candidate| Sighted { walk, candidate, sightings: Vec::new(), waves: group.count() })
        .collect();
    let apertures =
        group.waves.first().map(|wave| registers::apertures(group.session, *wave)).unwrap_or_default();
    let (mut matches, mut cut) = (0, Cut::None);
    for (index, wave) in group.waves.iter().copied().enumerate() {
        let is_search = index >= FULLY_JUDGED;
        if is_search && (!judge.has_page() || matches >= ENOUGH_MATCHES) || *budget == 0 {
            cut = Cut::Limit;
            break;
        }
        let registers = Registers::new(group.session, wave, &apertures, launches, work);
        let mut has_match = false;
        for one in &mut all {
            *budget = budget.saturating_sub(1);
            let Some((access, looks)) = accessed(walk, one, &registers, index < RECOVERED) else { continue };
            for look in looks {
                let sighting = judge.judge(wave, &access, look);
                let is_match = sighting.fit <= Fit::SamePage;
                has_match |= is_match;
                if !is_search || is_match {
                    one.sightings.push(sighting);
                }
            }
        }
        matches += usize::from(has_match);
    }
    // Waves that the dump leaves out were searched in vain, or not at all.
    if group.left_out > 0 && judge.has_page() && matches < ENOUGH_MATCHES && !group.is_unsearched() {
        *budget = budget.saturating_sub(group.left_out.saturating_mul(all.len()));
        cut = if *budget == 0 { Cut::Limit } else { cut };
    } else if group.left_out > 0 {
        cut = cut.max(if group.is_unsearched() { Cut::LeftOut } else { Cut::Limit });
    }
    (all, cut)
}

fn accessed(
    walk: &Paths,
    one: &Sighted<'_>,
    registers: &Registers<'_>,
    recovers: bool,
) -> Option<(Access, Vec<Look>)> {
    let access = walk.instruction(one.candidate)?.effects().ok()?.access.clone()?;
    Some((access, walk.looks(one.candidate, registers, recovers)))
}

/// The stack of a group's first wave, for the paths into callers.
struct Stack<'a> {
    group: &'a Group<'a>,
    /// The PC, then the return addresses minus one.
    places: Vec<CodeAt<'a>>,
    /// Whether the outermost function is a kernel.
    has_kernel: bool,
    /// Whether the caller is that of the return address in registers, without call frame information.
    is_inferred: bool,
}

impl<'a> Stack<'a> {
    fn of(group: &'a Group<'a>) -> Option<Self> {
        let first = group.code()?;
        let mut places = vec![first];
        let stack = group.session.activations(first.wave, None, MAX_CALLERS + 1).ok();
        for frame in stack.iter().flat_map(|stack| stack.frames.iter().skip(1)) {
            places.push(CodeAt { address: frame.pc.0.checked_sub(1)?, ..first });
        }
        let has_kernel = stack.is_some_and(|stack| stack.end == Some(StackEnd::Outermost));
        let is_inferred = places.len() == 1 && !has_kernel;
        if is_inferred {
            places.extend(
                group
                    .return_address()
                    .and_then(|address| address.checked_sub(1))
                    .map(|address| CodeAt { address, ..first }),
            );
        }
        Some(Self { group, places, has_kernel, is_inferred })
    }

    /// # Errors
    /// The data without which no path is known.
    fn walk(&self, code: &mut Listings, callees: &Callees, work: &Work) -> Result<Paths, MissingData> {
        let mut listings: Vec<(Arc<Listing>, u64)> = Vec::new();
        for place in &self.places {
            match code.around(*place) {
                Some(Ok(listing)) => listings.push((listing, place.address)),
                Some(Err(error)) if listings.is_empty() => {
                    return Err(MissingData::Instructions(error.to_string()));
                }
                _ => break,
            }
        }
        if self.is_inferred {
            self.check_caller(&mut listings);
        }
        let kernel = self.group.waves.first().and_then(|wave| self.group.session.wave(*wave).ok()?.kernel);
        let kernel = kernel.map(|symbol| source_name(&symbol));
        let outermost = listings.last().and_then(|(listing, _)| listing.function.as_ref());
        let is_kernel = outermost.is_some_and(|of| kernel.as_deref() == Some(&*of.name));
        let is_whole = self.is_inferred || listings.len() == self.places.len();
        // All addresses of the question are listed.
        let Some(((listing, pc), callers)) = listings.split_first() else {
            return Err(MissingData::Limit(Limit::Pcs));
        };
        if listing.instructions.is_empty() {
            return Err(MissingData::CodeObject(*pc));
        }
        let caller = |(listing, last): &(Arc<Listing>, u64)| Caller {
            listing: Arc::clone(listing),
            resume: last.saturating_add(1),
        };
        // The call of a caller may have led to another function, which jumped here.
        let size = self.group.session.kind().wave_size;
        let calls = listings.iter().zip(callers);
        let known =
            calls.take_while(|((function, _), (caller, last))| is_call_of(function, caller, *last, size));
        let known = known.count();
        let callers: Vec<Caller> = callers.iter().take(known).map(caller).collect();
        let has_kernel = (self.has_kernel || is_kernel) && is_whole && known + 1 == listings.len();
        Ok(walk::search_with(listing, *pc, &callers, callees, has_kernel, work))
    }
}

impl Stack<'_> {
    /// Drops an inferred caller without a call before the return address, and that of a function that calls itself or
    /// has called another one.
    fn check_caller(&self, listings: &mut Vec<(Arc<Listing>, u64)>) {
        let [(function, _), (caller, last)] = listings.as_slice() else { return };
        let call = caller.holding(*last).and_then(|index| caller.instructions.get(index));
        let is_call = call.and_then(|one| one.control()) == Some(Control::Call);
        if !is_call || Arc::ptr_eq(function, caller) {
            listings.truncate(1);
        }
    }
}

/// Whether the call before a return address may lead to a function: the code before it computes no other address.
fn is_call_of(function: &Listing, caller: &Arc<Listing>, last: u64, size: WaveSize) -> bool {
    let call = caller.holding(last).map(|index| causes::Call { listing: Arc::clone(caller), index });
    let target = call.and_then(|call| call.target(size));
    let start = function.function.as_ref().map(|function| function.start);
    target.is_none() || start.is_none() || target == start
}

fn missing_registers(first: &Suspect, groups: &[&Group<'_>], missing: &mut Vec<MissingData>) {
    let session = groups.iter().find(|group| group.waves.contains(&first.wave)).map(|group| group.session);
    let info = session.and_then(|session| session.wave(first.wave).ok());
    if let (Some(info), Some(registers)) = (info, rank::missing_registers(first)) {
        add(missing, MissingData::Registers { wave: info.id, registers });
    }
}

/// Adds missing data once. Waves without a PC that faulted are among all of them.
fn add(missing: &mut Vec<MissingData>, new: MissingData) {
    if let MissingData::WavePcs { waves: new } = new
        && let Some(MissingData::WavePcs { waves }) =
            missing.iter_mut().find(|known| matches!(known, MissingData::WavePcs { .. }))
    {
        *waves = new.max(*waves);
    } else if !missing.contains(&new) {
        missing.push(new);
    }
}
