//! The states of all waves of a dump.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::flow::Flow;
use super::groups::{self, Member, Proof};
use super::polled;
use super::state::{CodePosition, Position, Status, state};
use super::{Hang, WaitPlace, WaveState, WaveWait};
use crate::arch::{Generation, Processor};
use crate::session::{DisassemblyError, DispatchInfo, Inspect, WaveInfo, WorkGroupInfo};
use crate::triage::MissingData;
use crate::triage::listings::{CodeAt, Listing, Listings, MAX_LISTED};
use crate::units::{Pc, WaveId};
use crate::work;

/// Maximum number of waves whose polled values are read.
const MAX_POLLING: usize = 1024;
/// Maximum number of polled values of all waves.
const MAX_POLLED: usize = 1 << 16;
/// Maximum number of PCs whose code is analysed, the most frequent ones. The state of waves at others is unknown.
const MAX_POSITIONS: usize = 4096;
/// Maximum number of steps in the analysis of all loops: instructions of their bodies and of the paths to PCs, and steps
/// for their values. Loops beyond it count as no loops.
pub(super) const MAX_WORK: usize = 1 << 24;
/// The status of each wave, in the order of sessions and waves.
type Waves = Vec<(usize, WaveId, Status)>;

/// Index of a session, agent and PC; `None`: no PC is captured.
type PlaceKey = (usize, u32, Option<Pc>);

/// Finds the state of each wave, the waits of work-groups, and proofs of a deadlock.
///
/// `only`: the states of that wave alone are of interest. `missing`: data whose absence leaves states or proofs unknown.
pub(in crate::triage) fn hang(
    sessions: &[&dyn Inspect],
    only: Option<WaveId>,
    code: &mut Listings,
    missing: &mut Vec<MissingData>,
) -> Hang {
    let mut found = Hang::default();
    let mut proof = Proof::default();
    let mut states: BTreeMap<(usize, WaveState), (Option<u32>, usize)> = BTreeMap::new();
    let mut stuck: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut waves: Waves = Vec::new();
    let mut pcs: HashMap<PcKey, (WaveId, usize)> = HashMap::new();
    for (index, session) in sessions.iter().enumerate() {
        for info in session.waves().iter().filter_map(|wave| session.wave(*wave).ok()) {
            waves.push((index, info.wave, Status::of(*session, &info)));
            if let Some(pc) = info.pc {
                pcs.entry((index, info.agent, pc.0)).or_insert((info.wave, 0)).1 += info.count();
            }
        }
    }
    // A tool that halts all waves before it reads them leaves the bit in each one.
    if waves.iter().all(|(_, _, status)| status.is_halted == Some(true)) {
        waves.iter_mut().for_each(|(_, _, status)| status.is_halted = None);
    }
    let mut errors = BTreeSet::new();
    let (positions, unexamined, is_cut) = positions(sessions, pcs, code, &mut errors);
    found.is_cut = is_cut;
    let (mut without_pc, mut without_code) = (0, 0);
    let mut places: HashMap<PlaceKey, Arc<WaitPlace>> = HashMap::new();
    let mut search = polled::Search::default();
    let (mut polling, mut values) = (0, MAX_POLLED);
    // Indexes in the order of the dump.
    let mut dispatches: HashMap<Option<u32>, usize> = HashMap::new();
    let mut partial: HashSet<usize> = HashSet::new();
    found.waves.reserve_exact(waves.len());
    for (index, session) in sessions.iter().enumerate() {
        let groups = session.work_groups();
        let single = groups.iter().filter(|group| group.launched == Some(1));
        let alone: HashSet<WaveId> = single.flat_map(|group| group.waves.iter().copied()).collect();
        let own = || waves.iter().filter(|(of, ..)| *of == index);
        let mut members: HashMap<WaveId, Member> = HashMap::with_capacity(own().count());
        for (_, wave, status) in own() {
            let Ok(info) = session.wave(*wave) else { continue };
            let position =
                info.pc.and_then(|pc| positions.get(&(index, info.agent, pc.0))).and_then(Option::as_ref);
            let is_alone = alone.contains(&info.wave);
            let is_endless = position.is_some_and(|position| position.is_endless(*session, &info));
            let state =
                state(&info.stop_kinds().unwrap_or_default(), *status, position, is_endless, is_alone);
            let member = Member {
                id: info.id,
                dispatch: info.dispatch,
                count: info.count(),
                state,
                lacks: position.and_then(|position| position.lacks(*status)),
                is_proven: position.is_some_and(|position| position.waits_certainly(*status)),
                has_signalled: has_arrived(*session, *status, state, position),
                is_endless: is_endless && state == WaveState::Spinning,
                is_stuck: state == WaveState::Spinning,
            };
            let is_examined = info.pc.is_none_or(|pc| !unexamined.contains(&(index, info.agent, pc.0)));
            let is_unknown = if state == WaveState::Unknown && is_examined { info.count() } else { 0 };
            *(if info.pc.is_none() { &mut without_pc } else { &mut without_code }) += is_unknown;
            let place = places.entry((index, info.agent, info.pc));
            let at = Arc::clone(place.or_insert_with(|| Arc::new(wait_place(&info, position))));
            let mut wait = WaveWait { wave: info.wave, state, at, polls: Vec::new() };
            // A loop without an exit polls nothing.
            let is_polling = |position: &&Position| {
                matches!(position.place, CodePosition::Polling(_)) && state == WaveState::Spinning
            };
            if let Some(position) = position.filter(is_polling) {
                if polling < MAX_POLLING && values > 0 {
                    polling += 1;
                    wait.polls = search.values(*session, &info, position, values);
                    values = values.saturating_sub(wait.polls.len());
                } else {
                    found.is_cut = true;
                }
            }
            if member.is_endless {
                proof.endless(info.id, &wait.at.lines);
            }
            members.insert(info.wave, member);
            found.waves.push(wait);
        }
        found.groups.extend(groups.iter().filter_map(|group| groups::waits(group, &mut members, &mut proof)));
        let without_all = partly_captured(*session, &groups);
        for (_, wave, _) in own() {
            let Some(member) = members.get(wave) else { continue };
            let next = dispatches.len();
            let order = *dispatches.entry(member.dispatch).or_insert(next);
            if member.dispatch.is_some_and(|dispatch| without_all.contains(&dispatch)) {
                partial.insert(order);
            }
            if only.is_none_or(|only| only == *wave) {
                let count = if only.is_none() { member.count } else { 1 };
                states.entry((order, member.state)).or_insert((member.dispatch, 0)).1 += count;
            }
            let (live, waiting) = stuck.entry(order).or_default();
            *live += if member.state == WaveState::Ended { 0 } else { member.count };
            *waiting += if member.is_stuck { member.count } else { 0 };
        }
    }
    found.counts =
        states.into_iter().map(|((_, state), (dispatch, count))| (dispatch, state, count)).collect();
    found.is_cut |= search.is_cut;
    found.is_deadlock = proof.is_deadlock;
    // Other waves of an unknown or partly captured dispatch may run.
    let unknown = dispatches.get(&None);
    let is_lone = |order: &usize, live: usize| Some(order) == unknown && live == 1;
    let is_stuck = |(order, (live, waiting)): (&usize, &(usize, usize))| {
        *live > 0 && live == waiting && !is_lone(order, *live) && !partial.contains(order)
    };
    found.is_hang = found.is_deadlock || stuck.iter().any(is_stuck);
    found.proof = proof.sentences;
    if let Some(waves @ 1..) = unknown.and_then(|order| stuck.get(order)).map(|(_, waiting)| *waiting) {
        missing.push(MissingData::Dispatch { waves });
    }
    let is_left_out =
        |(order, (live, waiting)): &(&usize, &(usize, usize))| partial.contains(order) && live == waiting;
    let of_partial = stuck.iter().filter(is_left_out);
    let waves = of_partial.map(|(_, (_, waiting))| *waiting).sum();
    if waves > 0 && !found.is_deadlock {
        missing.push(MissingData::DispatchWaves { waves });
    }
    if without_pc > 0 {
        missing.push(MissingData::WavePcs { waves: without_pc });
    }
    if without_code > 0 {
        let error = errors.into_iter().next();
        missing.push(error.map_or(MissingData::WaveCode { waves: without_code }, MissingData::Instructions));
    }
    if let Some(only) = only {
        found.keep(only);
    }
    missing.extend(proof.lacks.into_iter().map(|(bit, waves)| MissingData::BarrierStatus { bit, waves }));
    found
}

/// The dispatches of which the capture may lack live waves: work-groups of the grid, or waves of a work-group, are
/// neither captured nor known to have ended. A capture that has all live waves of each of its work-groups has those of
/// the dispatch, and a small dump those that its origin had.
pub(in crate::triage) fn partly_captured(session: &dyn Inspect, groups: &[WorkGroupInfo]) -> HashSet<u32> {
    let mut captured: HashMap<u32, (u64, bool)> = HashMap::new();
    for group in groups.iter().filter(|group| !group.has_all_waves) {
        let Some(dispatch) = group.dispatch else { continue };
        let waves = u32::try_from(group.waves.len()).unwrap_or(u32::MAX);
        let (count, lacks) = captured.entry(dispatch).or_default();
        *count += 1;
        *lacks |= group.launched.is_some_and(|launched| launched > waves);
    }
    for group in groups.iter().filter(|group| group.has_all_waves) {
        if let Some((count, _)) = group.dispatch.and_then(|dispatch| captured.get_mut(&dispatch)) {
            *count += 1;
        }
    }
    let launched = |dispatch: &DispatchInfo| {
        let axes = dispatch.grid?.into_iter().zip(dispatch.workgroup?);
        let each = axes.map(|(grid, size)| u64::from(grid.max(1).div_ceil(size.max(1))));
        Some(each.fold(1, u64::saturating_mul))
    };
    let all = session.dispatches();
    let is_partial = |dispatch: &&DispatchInfo| {
        !dispatch.has_all_waves
            && captured.get(&dispatch.id).is_some_and(|(count, lacks)| {
                *lacks || launched(dispatch).is_some_and(|launched| launched > *count)
            })
    };
    all.iter().filter(is_partial).map(|dispatch| dispatch.id).collect()
}

/// Whether a wave has arrived at its work-group's barrier without waiting for it. Before GFX12 a wave that is in a
/// barrier by its status has arrived, also if it stopped for a fault.
fn has_arrived(
    session: &dyn Inspect,
    status: Status,
    state: WaveState,
    position: Option<&Position>,
) -> Option<bool> {
    let processor = Processor::named(&session.kind().target.name);
    let is_split = processor.is_none_or(|processor| processor.generation >= Generation::Gfx12);
    match status.is_in_barrier.filter(|_| !is_split) {
        Some(true) => Some(state != WaveState::AtBarrier),
        Some(false) => Some(false),
        None => position.and_then(|position| position.has_signalled),
    }
}

fn wait_place(info: &WaveInfo, position: Option<&Position>) -> WaitPlace {
    let (file, lines) = position.map(Position::lines).unwrap_or_default();
    let function = position.and_then(|position| position.listing.function.as_ref());
    WaitPlace {
        pc: info.pc,
        function: function.map(|function| function.name.to_string()),
        file,
        lines,
        is_polling: position.is_some_and(|position| matches!(position.place, CodePosition::Polling(_))),
    }
}

/// Index of a session, agent and PC.
type PcKey = (usize, u32, u64);

/// The places of all PCs in the code, the PCs beyond a limit, and whether a limit was reached. `counts`: the first wave
/// and the number of waves of each. Each function is decoded once.
fn positions(
    sessions: &[&dyn Inspect],
    counts: HashMap<PcKey, (WaveId, usize)>,
    code: &mut Listings,
    errors: &mut BTreeSet<String>,
) -> (HashMap<PcKey, Option<Position>>, HashSet<PcKey>, bool) {
    let mut pcs: Vec<_> = counts.into_iter().collect();
    pcs.sort_by_key(|(key, (_, count))| (std::cmp::Reverse(*count), *key));
    let at = |(key, (wave, _)): &(PcKey, (WaveId, usize))| {
        Some(CodeAt { session: *sessions.get(key.0)?, wave: *wave, address: key.2 })
    };
    let mut listings: Vec<(usize, u32, Arc<Listing>, Vec<u64>)> = Vec::new();
    let mut requests = 0;
    let mut unexamined: HashSet<PcKey> = pcs.iter().skip(MAX_POSITIONS).map(|(key, _)| *key).collect();
    for of in pcs.iter().take(MAX_POSITIONS) {
        let (index, agent, pc) = of.0;
        let is_in = |(known, agents, listing, _): &&mut (usize, u32, Arc<Listing>, Vec<u64>)| {
            (*known, *agents) == (index, agent) && listing.index(pc).is_some()
        };
        if let Some((.., pcs)) = listings.iter_mut().find(is_in) {
            pcs.push(pc);
        } else if requests < MAX_LISTED {
            requests += 1;
            let listing = at(of).and_then(|at| code.around(at));
            if let Some(Err(DisassemblyError::Processor(error))) = &listing {
                errors.insert(error.to_string());
            }
            listings.extend(listing.and_then(Result::ok).map(|listing| (index, agent, listing, vec![pc])));
        } else {
            unexamined.insert(of.0);
        }
    }
    let work = Cell::new(MAX_WORK);
    let each = listings.iter().flat_map(|(index, agent, listing, pcs)| {
        let flow = Flow::new(listing, &work);
        let position = move |pc: &u64| ((*index, *agent, *pc), Position::of(listing, &flow, *pc));
        pcs.iter().map(position)
    });
    let positions = each.collect();
    work::count(work::Count::Steps, (MAX_WORK - work.get()) as u64);
    let is_cut = !unexamined.is_empty() || work.get() == 0;
    (positions, unexamined, is_cut)
}
