//! The states of all waves of a dump.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::flow::Flow;
use super::groups::{self, Member, Proof};
use super::polled;
use super::state::{Position, Status, state};
use super::{Hang, WaveState, WaveWait};
use crate::session::{Inspect, WaveInfo};
use crate::triage::listings::{CodeAt, Listing, Listings, MAX_LISTED};
use crate::units::WaveId;

/// Maximum number of waves whose polled values are read.
const MAX_POLLING: usize = 1024;
/// Maximum number of PCs whose code is analysed, the most frequent ones. The state of waves at others is unknown.
const MAX_POSITIONS: usize = 4096;
/// Maximum number of steps in the analysis of the values of all loops. Loops beyond it count as no polling loops.
pub(super) const MAX_WORK: usize = 1 << 25;
/// Maximum number of PCs that the first run of the tool decodes.
const FIRST_PCS: usize = 8;
/// Maximum number of polled values whose names are searched for.
const MAX_NAMES: usize = 16;

/// Finds the state of each wave, the waits of work-groups, and proofs of a deadlock.
pub(in crate::triage) fn hang(sessions: &[&dyn Inspect], code: &mut Listings) -> Hang {
    let mut found = Hang::default();
    let mut proof = Proof::default();
    let mut states: BTreeMap<(usize, WaveState), (Option<u32>, usize)> = BTreeMap::new();
    let mut stuck: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut waves: Vec<(usize, WaveInfo, Status)> = Vec::new();
    for (index, session) in sessions.iter().enumerate() {
        let infos = session.waves().iter().filter_map(|wave| session.wave(*wave).ok()).collect::<Vec<_>>();
        waves.extend(infos.into_iter().map(|info| {
            let status = Status::of(*session, &info);
            (index, info, status)
        }));
    }
    // A tool that halts all waves before it reads them leaves the bit in each one.
    if waves.iter().all(|(_, _, status)| status.is_halted == Some(true)) {
        waves.iter_mut().for_each(|(_, _, status)| status.is_halted = None);
    }
    let positions = positions(sessions, &waves, code);
    let mut names: HashMap<(u64, u64), Option<String>> = HashMap::new();
    let mut polling = 0;
    // Indexes in the order of the dump.
    let mut dispatches: HashMap<Option<u32>, usize> = HashMap::new();
    for (index, session) in sessions.iter().enumerate() {
        let groups = session.work_groups();
        let single = groups.iter().filter(|group| group.launched == Some(1));
        let alone: HashSet<WaveId> = single.flat_map(|group| group.waves.iter().copied()).collect();
        let mut members: HashMap<WaveId, Member> = HashMap::new();
        for (_, info, status) in waves.iter().filter(|(of, ..)| *of == index) {
            let position =
                info.pc.and_then(|pc| positions.get(&(index, info.agent, pc.0))).and_then(Option::as_ref);
            let is_alone = alone.contains(&info.wave);
            let is_endless = position.is_some_and(|position| position.is_endless(*session, info));
            let state = state(info.stop.as_deref(), *status, position, is_endless, is_alone);
            let member = Member {
                id: info.id,
                state,
                is_proven: position.is_some_and(|position| position.waits_certainly(*status)),
                has_signalled: position.and_then(|position| position.has_signalled),
                is_endless: is_endless && state == WaveState::Spinning,
                is_stuck: state == WaveState::Spinning,
            };
            let mut wait = wave_wait(info, state, position);
            if let Some(position) = position.filter(|_| state == WaveState::Spinning && polling < MAX_POLLING)
            {
                polling += 1;
                wait.polls = polled::values(*session, info, position);
                for polled in &mut wait.polls {
                    let key = (info.pc.map_or(0, |pc| pc.0), polled.address);
                    if !names.contains_key(&key) && names.len() < MAX_NAMES {
                        names.insert(key, polled::name(*session, info, polled));
                    }
                    polled.name = names.get(&key).cloned().flatten();
                }
            }
            if member.is_endless {
                proof.endless(info.id, &wait.lines);
            }
            members.insert(info.wave, member);
            found.waves.push(wait);
        }
        found.groups.extend(groups.iter().filter_map(|group| groups::waits(group, &mut members, &mut proof)));
        for (_, info, _) in waves.iter().filter(|(of, ..)| *of == index) {
            let Some(member) = members.get(&info.wave) else { continue };
            let next = dispatches.len();
            let order = *dispatches.entry(info.dispatch).or_insert(next);
            states.entry((order, member.state)).or_insert((info.dispatch, 0)).1 += 1;
            let (live, waiting) = stuck.entry(order).or_default();
            *live += usize::from(member.state != WaveState::Ended);
            *waiting += usize::from(member.is_stuck);
        }
    }
    found.counts =
        states.into_iter().map(|((_, state), (dispatch, count))| (dispatch, state, count)).collect();
    found.is_deadlock = proof.is_deadlock;
    found.is_hang = found.is_deadlock || stuck.values().any(|(live, waiting)| *live > 0 && live == waiting);
    found.proof = proof.sentences;
    found
}

fn wave_wait(info: &WaveInfo, state: WaveState, position: Option<&Position>) -> WaveWait {
    let (file, lines) = position.map(Position::lines).unwrap_or_default();
    let function = position.and_then(|position| position.listing.function.as_ref());
    WaveWait {
        wave: info.wave,
        state,
        pc: info.pc,
        function: function.map(|function| function.name.to_string()),
        file,
        lines,
        polls: Vec::new(),
    }
}

/// The places of all PCs in the code, by session, agent and PC. Each function is decoded once.
fn positions(
    sessions: &[&dyn Inspect],
    waves: &[(usize, WaveInfo, Status)],
    code: &mut Listings,
) -> HashMap<(usize, u32, u64), Option<Position>> {
    let mut counts: HashMap<(usize, u32, u64), (WaveId, usize)> = HashMap::new();
    for (index, info, _) in waves {
        let Some(pc) = info.pc else { continue };
        counts.entry((*index, info.agent, pc.0)).or_insert((info.wave, 0)).1 += 1;
    }
    let mut pcs: Vec<_> = counts.into_iter().collect();
    pcs.sort_by_key(|(key, (_, count))| (std::cmp::Reverse(*count), *key));
    let at = |(key, (wave, _)): &((usize, u32, u64), (WaveId, usize))| {
        Some(CodeAt { session: *sessions.get(key.0)?, wave: *wave, address: key.2 })
    };
    let first: Vec<CodeAt<'_>> = pcs.iter().take(FIRST_PCS).filter_map(at).collect();
    code.prepare(&first);
    let mut listings: Vec<(usize, u32, Arc<Listing>, Vec<u64>)> = Vec::new();
    let mut requests = 0;
    for of in pcs.iter().take(MAX_POSITIONS) {
        let (index, agent, pc) = of.0;
        let is_in = |(known, agents, listing, _): &&mut (usize, u32, Arc<Listing>, Vec<u64>)| {
            (*known, *agents) == (index, agent) && listing.index(pc).is_some()
        };
        if let Some((.., pcs)) = listings.iter_mut().find(is_in) {
            pcs.push(pc);
        } else if requests < MAX_LISTED {
            requests += 1;
            let listing = at(of).and_then(|at| code.around(at)).and_then(Result::ok);
            listings.extend(listing.map(|listing| (index, agent, listing, vec![pc])));
        }
    }
    let work = Cell::new(MAX_WORK);
    let each = listings.iter().flat_map(|(index, agent, listing, pcs)| {
        let flow = Flow::new(listing, &work);
        let position = move |pc: &u64| ((*index, *agent, *pc), Position::of(listing, &flow, *pc));
        pcs.iter().map(position)
    });
    each.collect()
}
