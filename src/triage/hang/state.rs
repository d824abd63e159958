//! The state of a wave by its PC, the code there and its status.

use std::cell::OnceCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::WaveState;
use super::flow::{Flow, of_group};
use super::spin;
use crate::arch::{Generation, StopKind};
use crate::isa::{Control, Effects, Instruction, ReadOperand as _, RegisterFile};
use crate::session::{Inspect, WaveInfo};
use crate::triage::listings::Listing;
use crate::triage::registers::WaveRegisters;
use crate::triage::walk::work::Work;
use crate::triage::walk::{self, Paths};
use crate::units::LaneId;

/// Maximum number of instructions before a wait that are searched for the awaited operation.
const MAX_BEFORE: usize = 256;

/// A PC's place in the code.
#[derive(Debug)]
pub(super) struct Position {
    pub(super) listing: Arc<Listing>,
    /// The instruction at the PC.
    pub(super) index: usize,
    pub(super) place: CodePosition,
    /// The instructions of the innermost loop, or of the polling one.
    pub(super) body: Vec<usize>,
    /// Whether the wave signalled a barrier that it has not waited for yet; `None`: unknown.
    pub(super) has_signalled: Option<bool>,
    paths: OnceCell<Paths>,
}

/// The position of a PC in the code that decides a wave's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CodePosition {
    /// At the instruction that signals and waits.
    Barrier,
    /// Directly behind it. `is_sole`: only the barrier leads there.
    BehindBarrier {
        is_sole: bool,
    },
    /// At the wait for the work-group's barrier, which another instruction signals.
    BarrierWait,
    /// In a loop without an exit.
    Endless,
    /// In a loop whose exits depend on registers that it does not change.
    Steady(Vec<spin::SteadyExit>),
    /// In a loop whose exit depends on these loads.
    Polling(Vec<spin::Poll>),
    Sleep,
    /// At a wait for operations that the code before it begins.
    MemoryWait,
    /// Directly behind an instruction that halts the wave.
    BehindHalt,
    End,
    Other,
}

impl Position {
    /// The place of a PC; `None`: no instruction of the listing begins there.
    pub(super) fn of(listing: &Arc<Listing>, flow: &Flow<'_>, pc: u64) -> Option<Self> {
        let index = listing.index(pc)?;
        flow.at(index)?.effects().ok()?;
        let (place, body) = place(flow, index);
        // Earlier generations signal and wait by one instruction.
        let is_split = listing.generation.is_none_or(|generation| generation >= Generation::Gfx12);
        let has_signalled = if is_split { flow.has_signalled(index) } else { Some(false) };
        Some(Self { listing: Arc::clone(listing), index, place, body, has_signalled, paths: OnceCell::new() })
    }

    /// The accesses before the PC, within the function.
    pub(super) fn paths(&self, work: &Work) -> &Paths {
        let pc = self.listing.instructions.get(self.index).map_or(0, |one| one.address);
        self.paths.get_or_init(|| walk::search(&self.listing, pc, &[], false, work))
    }

    /// The instructions that a wave executes from its PC to its next execution of an instruction of the loop, by the
    /// shortest way in the loop. `None`: the loop has no way.
    pub(super) fn route(&self, to: usize) -> Option<Vec<usize>> {
        let instructions = &self.listing.instructions;
        let mut from: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = VecDeque::from([self.index]);
        while let Some(at) = open.pop_front().filter(|at| *at != to) {
            let one = instructions.get(at)?;
            let control = one.effects().ok()?.control;
            let is_open = !matches!(control, Control::Branch | Control::Return | Control::End);
            let next = is_open.then_some(at + 1);
            let target = one.target.and_then(|target| self.listing.index(target));
            let ways = next.into_iter().chain(target).filter(|to| self.body.binary_search(to).is_ok());
            for next in ways.filter(|next| *next != self.index) {
                if let Entry::Vacant(entry) = from.entry(next) {
                    entry.insert(at);
                    open.push_back(next);
                }
            }
        }
        let mut route = Vec::new();
        let mut at = to;
        while at != self.index {
            at = *from.get(&at)?;
            route.push(at);
        }
        route.reverse();
        Some(route)
    }

    /// The bit of the status that would show whether a wave waits, if its capture lacks it: then a barrier proves nothing.
    pub(super) fn lacks(&self, status: Status) -> Option<&'static str> {
        match self.place {
            CodePosition::BehindBarrier { .. } if status.is_in_barrier.is_none() => Some("IN_BARRIER"),
            CodePosition::BarrierWait if status.is_barrier_complete.is_none() => Some("BARRIER_COMPLETE"),
            _ => None,
        }
    }

    /// Whether a wave waits at a barrier, now or next, beyond doubt. Directly behind a barrier or at the wait for it the
    /// wave may be released: the status decides.
    pub(super) fn waits_certainly(&self, status: Status) -> bool {
        match self.place {
            CodePosition::Barrier => true,
            CodePosition::BehindBarrier { .. } => status.is_in_barrier == Some(true),
            CodePosition::BarrierWait => status.is_barrier_complete == Some(false),
            _ => false,
        }
    }

    /// The source file and the lines of the loop, in order, or those of the PC.
    pub(super) fn lines(&self) -> (Option<String>, Vec<u64>) {
        let instructions = &self.listing.instructions;
        let anchor = match &self.place {
            CodePosition::Polling(polls) => polls.first().map_or(self.index, |poll| poll.load),
            _ => self.index,
        };
        let Some(at) = instructions.get(anchor) else { return (None, Vec::new()) };
        let of_body = self.body.iter().filter_map(|index| instructions.get(*index));
        let mut lines: Vec<u64> =
            of_body.chain([at]).filter(|one| one.file == at.file).filter_map(|one| one.line).collect();
        lines.sort_unstable();
        lines.dedup();
        (at.file.as_ref().map(|file| file.to_string()), lines)
    }
}

fn place(flow: &Flow<'_>, index: usize) -> (CodePosition, Vec<usize>) {
    let control = flow.control(index);
    let before = flow.previous(index).and_then(|before| flow.control(before));
    let is_sole = flow.only_previous(index).is_some();
    match control {
        Some(Control::End) => return (CodePosition::End, Vec::new()),
        Some(Control::Barrier) => return (CodePosition::Barrier, Vec::new()),
        Some(Control::BarrierWait) if flow.at(index).and_then(of_group) == Some(true) => {
            return (CodePosition::BarrierWait, Vec::new());
        }
        _ => {}
    }
    match before {
        Some(Control::Barrier) if is_sole => return (CodePosition::BehindBarrier { is_sole }, Vec::new()),
        Some(Control::Halt) if is_sole && flow.previous(index).is_some_and(|at| halts(flow, at)) => {
            return (CodePosition::BehindHalt, Vec::new());
        }
        _ => {}
    }
    if let Some(body) = flow.endless(index) {
        return (CodePosition::Endless, body);
    }
    for one in flow.loops(index) {
        if let Some(place) = one.place.get_or_init(|| in_loop(flow, &one.body)) {
            return (place.clone(), one.body.clone());
        }
    }
    let innermost = flow.loops(index).next().map(|one| one.body.clone());
    let place = match (control, before) {
        (_, Some(Control::Barrier)) => CodePosition::BehindBarrier { is_sole },
        (Some(Control::Sleep), _) => CodePosition::Sleep,
        (_, Some(Control::Sleep)) if is_sole => CodePosition::Sleep,
        _ if is_outstanding(flow, index) => CodePosition::MemoryWait,
        _ => CodePosition::Other,
    };
    (place, innermost.unwrap_or_default())
}

/// The place of a wave in a loop that a wave may never leave.
fn in_loop(flow: &Flow<'_>, body: &[usize]) -> Option<CodePosition> {
    let exits = spin::steady_exits(flow, body);
    if !exits.is_empty() {
        return Some(CodePosition::Steady(exits));
    }
    let polls = spin::polls(flow, body);
    (!polls.is_empty()).then_some(CodePosition::Polling(polls))
}

/// Whether `s_sethalt` sets the bit: 0 clears it.
fn halts(flow: &Flow<'_>, index: usize) -> bool {
    flow.at(index).and_then(|one| one.immediate()) != Some(0)
}

/// Whether the instruction waits for more operations than the straight code before it proves to have completed.
fn is_outstanding(flow: &Flow<'_>, index: usize) -> bool {
    let effects = |index: usize| -> Option<&Effects> { flow.at(index)?.effects().ok() };
    let Some(wait) = effects(index) else { return false };
    wait.waits.iter().any(|wait| {
        let mut begun = 0;
        let mut at = index;
        for _ in 0..MAX_BEFORE {
            let Some(before) = flow.only_previous(at) else { return false };
            let Some(effects) = effects(before) else { return false };
            if effects.waits.iter().any(|earlier| earlier.counter == wait.counter) {
                return false;
            }
            begun += usize::from(effects.issues.contains(&wait.counter));
            if begun > usize::from(wait.at_most) {
                return true;
            }
            at = before;
        }
        false
    })
}

/// Bits of a wave's status; `None`: not captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) is_halted: Option<bool>,
    pub(super) is_in_barrier: Option<bool>,
    pub(super) is_barrier_complete: Option<bool>,
}

impl Status {
    pub(super) fn of(session: &dyn Inspect, info: &WaveInfo) -> Self {
        let [status, state] = ["status", "state_priv"].map(|name| {
            let register = info.kind.named(name)?;
            let value = session.register(info.wave, register.id).ok()?.scalar()?;
            Some((info.kind.fields(register)?, value))
        });
        let bit = |name: &str| {
            let found = [status, state].into_iter().flatten().find_map(|(fields, value)| {
                fields.fields.iter().find(|field| field.name == name).map(|field| field.value(value))
            });
            found.map(|value| value != 0)
        };
        Self {
            is_halted: bit("HALT"),
            is_in_barrier: bit("IN_BARRIER"),
            is_barrier_complete: bit("BARRIER_COMPLETE"),
        }
    }
}

impl Position {
    /// Whether a wave never leaves its loop, by the code and the registers that decide on the exits.
    pub(super) fn is_endless(&self, session: &dyn Inspect, info: &WaveInfo) -> bool {
        let CodePosition::Steady(exits) = &self.place else { return self.place == CodePosition::Endless };
        let registers = WaveRegisters::new(session, info.wave);
        exits.iter().all(|exit| {
            let at = |index: usize| self.listing.instructions.get(index);
            let is_set = match (exit.comparison, exit.file) {
                (Some(comparison), RegisterFile::Scc) => {
                    at(comparison).and_then(|one| one.condition(LaneId::default(), &registers))
                }
                (Some(comparison), _) => at(comparison).and_then(|one| any_lane(one, &registers)),
                (None, RegisterFile::Scc) => registers.scc(),
                (None, file) => registers.mask(file).map(|lanes| !lanes.is_empty()),
            };
            let branch = at(exit.branch).and_then(|one| one.branch_condition());
            let both = is_set.zip(branch);
            both.is_some_and(|(is_set, branch)| (is_set == branch.is_set) == exit.stays_if_taken)
        })
    }
}

/// Whether a comparison of vectors is true in a lane of EXEC.
fn any_lane(one: &Instruction, registers: &WaveRegisters<'_>) -> Option<bool> {
    let lanes = registers.mask(RegisterFile::Exec)?;
    let lanes: Option<Vec<bool>> = lanes.iter().map(|lane| one.condition(lane, registers)).collect();
    Some(lanes?.contains(&true))
}

/// The state of a wave. `is_endless`: by [`Position::is_endless`]. `is_alone`: its work-group has one wave, whose barriers do nothing. `position`: `None` if its
/// code is unknown.
pub(super) fn state(
    stops: &[StopKind],
    status: Status,
    position: Option<&Position>,
    is_endless: bool,
    is_alone: bool,
) -> WaveState {
    if stops.iter().any(|kind| kind.is_fault()) {
        return WaveState::Faulted;
    }
    if !stops.is_empty() || status.is_halted == Some(true) {
        return WaveState::Halted;
    }
    let Some(position) = position else { return WaveState::Unknown };
    match &position.place {
        CodePosition::End => WaveState::Ended,
        CodePosition::BehindHalt => WaveState::Halted,
        CodePosition::Barrier | CodePosition::BarrierWait | CodePosition::BehindBarrier { .. }
            if is_alone =>
        {
            WaveState::Running
        }
        CodePosition::Barrier => WaveState::AtBarrier,
        CodePosition::BehindBarrier { is_sole } if *is_sole || status.is_in_barrier == Some(true) => {
            WaveState::AtBarrier
        }
        CodePosition::BarrierWait if status.is_barrier_complete != Some(true) => WaveState::AtBarrier,
        _ if is_endless => WaveState::Spinning,
        CodePosition::Endless | CodePosition::Polling(_) => WaveState::Spinning,
        CodePosition::Sleep => WaveState::Sleeping,
        CodePosition::MemoryWait => WaveState::WaitingMemory,
        CodePosition::BarrierWait
        | CodePosition::BehindBarrier { .. }
        | CodePosition::Steady(_)
        | CodePosition::Other => WaveState::Running,
    }
}
