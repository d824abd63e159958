//! Facts about a dump, read when an expectation first needs them.

use super::error::FactError;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::Subject;
use crate::notation::counted;
use crate::session::{GroupBy, Grouping, Inspect, Stack, StackEnd, WaveInfo};
use crate::triage::{self, Triage, needs_states, no_stop_reasons};
use crate::units::{LaneId, LaneSet, WaveId};

/// Maximum number of waves whose faults are analysed one by one.
const MAX_ANALYSED: usize = 16;

/// A wave with its session.
#[derive(Clone)]
pub(super) struct Wave<'a> {
    pub(super) session: &'a dyn Inspect,
    pub(super) info: WaveInfo,
}

impl Wave<'_> {
    pub(super) fn id(&self) -> WaveId {
        self.info.wave
    }
}

/// A dump's facts.
pub(super) struct Facts<'a> {
    pub(super) subject: &'a Subject<'a>,
    /// All waves, by session and in the dump's order.
    pub(super) waves: Vec<Wave<'a>>,
    /// Waves without facts, with the reason of the first one.
    pub(super) unread: Option<String>,
    stacks: OnceCell<HashMap<WaveId, Rc<Stack>>>,
    triage: OnceCell<Triage>,
    /// Whether a line is about states of waves.
    wants_hang: bool,
    /// Stacks by line, for their number.
    pub(super) distinct: OnceCell<Result<usize, FactError>>,
    /// The lanes of the fault, by wave.
    fault_lanes: RefCell<HashMap<WaveId, Option<LaneId>>>,
}

/// Facts about all waves of the process that an expectation needs. Of a wave that a small dump leaves out, another one may
/// have some of them: the one that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Needed {
    /// Their faults.
    Faults,
    /// Their number, stop reasons and kernels.
    Numbers,
    /// Their states in a hang.
    States,
    /// Anything of their own: stacks, positions, registers.
    Own,
}

impl<'a> Facts<'a> {
    pub(super) fn of(subject: &'a Subject<'a>, wants_hang: bool) -> Self {
        let (mut waves, mut unread) = (Vec::new(), None);
        for session in subject.sessions.iter().copied() {
            session.next_question();
            for wave in session.waves().iter() {
                match session.wave(*wave) {
                    Ok(info) => waves.push(Wave { session, info }),
                    Err(why) => drop(unread.get_or_insert_with(|| why.to_string())),
                }
            }
        }
        let (stacks, triage, distinct) = Default::default();
        Self { subject, waves, unread, stacks, triage, wants_hang, distinct, fault_lanes: RefCell::default() }
    }

    /// The waves that faulted.
    pub(super) fn faulted(&self) -> impl Iterator<Item = usize> {
        let is_faulted = |(_, wave): &(usize, &Wave<'_>)| wave.info.has_faulted() == Some(true);
        self.waves.iter().enumerate().filter(is_faulted).map(|(index, _)| index)
    }

    /// Number of waves with an unknown stop reason.
    pub(super) fn unknown_stops(&self) -> usize {
        let unknown = self.waves.iter().filter(|wave| wave.info.has_faulted().is_none());
        unknown.map(|wave| wave.info.count()).sum()
    }

    /// Number of waves that the dump leaves out and whose states are unknown, by the wave that stands for them: only an
    /// analysis with the states of waves has compared them. A wave that faulted has no other state.
    pub(super) fn unlike(&self) -> HashMap<WaveId, usize> {
        let found = self.triage();
        if needs_states(&found.waves, &found.faults) {
            return HashMap::new();
        }
        let others = self.waves.iter().filter(|wave| wave.info.has_faulted() != Some(true));
        let counts = others.map(|wave| (wave.id(), wave.info.stands_for as usize));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    /// The reason that these facts about all waves of the process are unknown: waves are absent from the dump, or cannot
    /// be read. `None`: they are known.
    pub(super) fn absent(&self, needed: Needed) -> Option<String> {
        let dump = &self.subject.dump;
        let mut reasons = dump.absent_waves();
        reasons.extend(self.unread.clone());
        if needed >= Needed::Numbers {
            reasons.extend(dump.absent_running_waves().iter().cloned());
        }
        let own = || self.waves.iter().map(|wave| wave.info.stands_for as usize).sum();
        let left_out = match needed {
            Needed::Faults | Needed::Numbers => 0,
            Needed::States => self.unlike().into_values().sum(),
            Needed::Own => own(),
        };
        let counted_out =
            (left_out > 0).then(|| format!("the dump leaves out {}", counted(left_out, "wave")));
        let Some(first) = reasons.first() else { return counted_out };
        let more = match reasons.len() - 1 + usize::from(counted_out.is_some()) {
            0 => String::new(),
            count => format!("; {count} more"),
        };
        Some(format!("waves may be absent: {first}{more}"))
    }

    /// The reason that the faults of some waves are unknown. `None`: those of all waves are known.
    pub(super) fn unknown_faults(&self) -> Option<String> {
        self.absent(Needed::Faults).or_else(|| no_stop_reasons(self.unknown_stops()))
    }

    /// The call stack of a wave; waves with the same PCs share one. `None`: it cannot be read.
    pub(super) fn stack(&self, wave: WaveId) -> Option<Rc<Stack>> {
        let stacks = self.stacks.get_or_init(|| {
            let mut stacks = HashMap::new();
            for session in &self.subject.sessions {
                session.next_question();
                let Ok(groups) = session.groups(Grouping { by: GroupBy::Pc, lanes: false }) else { continue };
                for group in groups.groups {
                    let stack = Rc::new(group.stack);
                    stacks.extend(group.members.iter().map(|member| (member.wave, Rc::clone(&stack))));
                }
            }
            stacks
        });
        stacks.get(&wave).cloned()
    }

    /// The analysis of the fault; of the hang, too, if there is no fault or a line asks for it.
    pub(super) fn triage(&self) -> &Triage {
        self.triage.get_or_init(|| {
            self.subject.sessions.iter().for_each(|session| session.next_question());
            triage::triage(
                &self.subject.sessions,
                &triage::Question { wave: None, wants_hang: self.wants_hang },
            )
        })
    }

    /// The lane of a wave's fault: the first suspected one. `None`: unknown.
    ///
    /// # Errors
    /// More waves than are analysed one by one.
    pub(super) fn fault_lane(&self, wave: &Wave<'_>) -> Result<Option<LaneId>, FactError> {
        if wave.info.has_faulted() != Some(true) {
            return Ok(None);
        }
        if let Some(known) = self.fault_lanes.borrow().get(&wave.id()) {
            return Ok(*known);
        }
        if self.fault_lanes.borrow().len() >= MAX_ANALYSED {
            return Err(FactError::new(format!(
                "the lane of the fault is known of {MAX_ANALYSED} waves: name the lanes"
            )));
        }
        let of = |triage: &Triage| -> Option<LaneSet> {
            let suspect = triage.suspects.first().filter(|suspect| suspect.wave == wave.id());
            match (&triage.cause, suspect) {
                (_, Some(suspect)) => Some(suspect.lanes),
                (Some(triage::Cause::Assertion(of)), _) if of.wave == wave.id() => Some(of.lanes),
                (Some(triage::Cause::Arithmetic(of)), _) if of.wave == wave.id() => Some(of.lanes()),
                _ => None,
            }
        };
        let is_chosen = self.triage().waves.chosen == Some(wave.id());
        let lanes = match is_chosen {
            true => of(self.triage()),
            false => {
                let question = triage::Question { wave: Some(wave.id()), wants_hang: false };
                wave.session.next_question();
                of(&triage::triage(&[wave.session], &question))
            }
        };
        let lane = lanes.and_then(LaneSet::first);
        self.fault_lanes.borrow_mut().insert(wave.id(), lane);
        Ok(lane)
    }
}

/// The reason that a stack has unknown outer frames; `None`: it is whole.
pub(super) fn unknown_end(stack: &Stack) -> Option<String> {
    if let Some(why) = stack.frames.last().and_then(|frame| frame.problem.as_ref()) {
        return Some(why.to_string());
    }
    Some(&stack.end).filter(|end| **end != StackEnd::Outermost).map(ToString::to_string)
}
