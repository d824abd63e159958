//! The waves that an answer rests on: those that it names or examines one by one, and classes of waves that it only
//! counts. A small dump with the former, and with one wave of each class, has the same answer.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::analysis::{FULLY_JUDGED, stopped};
use super::hang::partly_captured;
use super::listings::MAX_LISTED;
use super::survey::Survey;
use super::{Arithmetic, Assertion, Cause, GroupWait, Hang, Scene, Triage, WaveState};
use crate::session::Inspect;
use crate::slim::{Basis, MAX_HUNG};
use crate::units::{Pc, WaveId};

/// The facts of a wave that an answer depends on if it only counts the wave.
#[derive(PartialEq, Eq, Hash)]
struct Class {
    session: usize,
    agent: u32,
    dispatch: Option<u32>,
    stop: Option<Vec<String>>,
    /// The PC, where the answer depends on it.
    pc: Option<Option<Pc>>,
    /// The state in a hang.
    state: Option<WaveState>,
    /// The waits of its work-group, if it is at a barrier.
    waits: Option<Waits>,
}

/// The facts of a work-group with waves at a barrier that the verdict of a hang depends on: the PCs of the waiting waves,
/// and the states of those that are missing and of those that signalled the barrier.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Waits {
    waiting: BTreeSet<Option<Pc>>,
    missing: BTreeSet<WaveState>,
    signalled: BTreeSet<WaveState>,
    is_deadlock: bool,
}

/// The basis of the answer about all waves of these sessions, without the memory that they read.
#[must_use]
pub fn basis(sessions: &[&dyn Inspect], found: &Triage) -> Basis {
    let scene = Scene::new(sessions);
    let mut basis = Basis { named: named(found), ..Basis::default() };
    let survey = Survey::of(sessions, None);
    // The groups of a fault of memory that are examined, and one whose presence shows that there are more.
    let (stopped, _) = stopped(&survey, &found.faults, true);
    let is_memory = found.cause == Some(Cause::Memory);
    let examined = || stopped.iter().take(MAX_LISTED + 1).filter(move |_| is_memory);
    basis.named.extend(examined().flat_map(|group| group.waves.iter().take(FULLY_JUDGED)));
    let is_examined: HashSet<WaveId> = examined().flat_map(|group| group.waves.iter().copied()).collect();
    let is_beyond: HashSet<WaveId> = stopped
        .iter()
        .skip(MAX_LISTED + 1)
        .filter(|_| is_memory)
        .flat_map(|group| group.waves.iter().copied())
        .collect();
    let hang = found.hang.as_ref();
    let is_hang = found.cause == Some(Cause::Hang);
    let states: HashMap<WaveId, WaveState> =
        hang.iter().flat_map(|hang| &hang.waves).map(|of| (of.wave, of.state)).collect();
    let waits = waits(hang, &states, scene);
    if let Some(hang) = hang.filter(|_| is_hang) {
        basis.hung = hung(hang, &waits, scene);
        basis.together = hang.groups.iter().map(GroupWait::waves).collect();
    }
    let mut classes: HashMap<Class, usize> = HashMap::new();
    for (index, session) in sessions.iter().enumerate() {
        basis.partial.extend(partly_captured(*session, &session.work_groups()));
        for info in session.waves().iter().filter_map(|wave| session.wave(*wave).ok()) {
            let has_faulted = info.has_faulted() == Some(true);
            // Their number is not a part of the answer, and the order of groups is.
            if !has_faulted && is_beyond.contains(&info.wave) {
                continue;
            }
            let state = states.get(&info.wave).copied();
            // A signature names the code at which waves wait.
            let is_waiting = is_hang && state.is_some_and(WaveState::is_halted_or_waiting);
            let class = Class {
                session: index,
                agent: info.agent,
                dispatch: info.dispatch,
                pc: (has_faulted || is_waiting || is_examined.contains(&info.wave)).then_some(info.pc),
                stop: info.stop,
                state,
                waits: waits.get(&info.wave).cloned().filter(|_| is_hang),
            };
            let next = classes.len();
            let at = *classes.entry(class).or_insert(next);
            if at == next {
                basis.classes.push(Vec::new());
            }
            if let Some(class) = basis.classes.get_mut(at) {
                class.push(info.wave);
            }
        }
    }
    basis
}

/// The waves that an answer names.
fn named(found: &Triage) -> BTreeSet<WaveId> {
    let of_cause = match &found.cause {
        Some(Cause::Assertion(Assertion { wave, .. }) | Cause::Arithmetic(Arithmetic { wave, .. })) => {
            Some(*wave)
        }
        Some(Cause::Bystander { faulted }) => Some(*faulted),
        _ => None,
    };
    let of_suspects = found.suspects.iter().flat_map(|of| of.also.iter().copied().chain([of.wave]));
    of_suspects.chain(of_cause).chain(found.waves.chosen).collect()
}

/// The waits of the work-groups of waves at a barrier.
fn waits(
    hang: Option<&Hang>,
    states: &HashMap<WaveId, WaveState>,
    scene: Scene<'_>,
) -> HashMap<WaveId, Waits> {
    let pc = |wave: &WaveId| scene.info(*wave)?.pc;
    let of = |group: &GroupWait| {
        let states = |waves: &[WaveId]| waves.iter().filter_map(|wave| states.get(wave).copied()).collect();
        Waits {
            waiting: group.waiting.iter().map(pc).collect(),
            missing: states(&group.missing),
            signalled: states(&group.signalled),
            is_deadlock: group.is_deadlock,
        }
    };
    let groups = hang.iter().flat_map(|hang| &hang.groups);
    groups
        .flat_map(|group| {
            let waits = of(group);
            group.waiting.iter().map(move |wave| (*wave, waits.clone()))
        })
        .collect()
}

/// The waves of the dispatches that hang if they are at most [`MAX_HUNG`], else those of the first work-group of each kind
/// of waits.
fn hung(hang: &Hang, waits: &HashMap<WaveId, Waits>, scene: Scene<'_>) -> BTreeSet<WaveId> {
    let dispatch = |wave: WaveId| scene.info(wave)?.dispatch;
    let is_waiting = |state| matches!(state, WaveState::Spinning | WaveState::AtBarrier);
    let waiting = hang.waves.iter().filter(|wait| is_waiting(wait.state));
    let dispatches: HashSet<Option<u32>> = waiting.map(|wait| dispatch(wait.wave)).collect();
    let all = hang.waves.iter().map(|wait| wait.wave).filter(|wave| dispatches.contains(&dispatch(*wave)));
    let all: BTreeSet<WaveId> = all.collect();
    if all.len() <= MAX_HUNG {
        return all;
    }
    let mut first: BTreeMap<(Option<u32>, &Waits), &GroupWait> = BTreeMap::new();
    for group in &hang.groups {
        let wave = group.waiting.first().copied();
        if let Some((dispatch, waits)) = wave.and_then(|wave| Some((dispatch(wave), waits.get(&wave)?))) {
            first.entry((dispatch, waits)).or_insert(group);
        }
    }
    // The sentence is about the first work-group that waits for others.
    let blocked = hang.groups.iter().find(|group| group.is_blocked());
    first.into_values().chain(blocked).flat_map(GroupWait::waves).collect()
}
