//! Work-groups at barriers: who waits, who is missing, and proofs that a wave never arrives.

use std::collections::{BTreeMap, HashMap};

use super::{GroupWait, WaveState};
use crate::notation::counted;
use crate::session::WorkGroupInfo;
use crate::units::WaveId;

/// Maximum number of sentences of a proof.
const MAX_PROOF: usize = 32;
/// Maximum number of waves that a sentence names.
const MAX_NAMED: usize = 4;

/// Facts about a wave of a work-group.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The dump's id.
    pub(super) id: u32,
    /// The dump's id of its dispatch.
    pub(super) dispatch: Option<u32>,
    /// Number of waves: itself, and those that it stands for.
    pub(super) count: usize,
    pub(super) state: WaveState,
    /// Whether it waits at a barrier beyond doubt.
    pub(super) is_proven: bool,
    /// The missing bit of the status that would prove it.
    pub(super) lacks: Option<&'static str>,
    /// Whether it counts as arrived at a barrier that it does not wait for yet; `None`: unknown.
    pub(super) has_signalled: Option<bool>,
    /// Whether it is in a loop without an exit.
    pub(super) is_endless: bool,
    /// Whether it spins, or waits for such a wave.
    pub(super) is_stuck: bool,
}

/// A proof that waves never continue, a sentence for each step.
#[derive(Debug, Default)]
pub(super) struct Proof {
    pub(super) sentences: Vec<String>,
    pub(super) is_deadlock: bool,
    /// Number of waves that a proof lacks a bit of the status of, by the bit.
    pub(super) lacks: BTreeMap<&'static str, usize>,
}

/// The waits of a work-group; `None`: no wave waits. Marks the waves that wait for one that spins.
pub(super) fn waits(
    group: &WorkGroupInfo,
    members: &mut HashMap<WaveId, Member>,
    proof: &mut Proof,
) -> Option<GroupWait> {
    let of = |keep: &dyn Fn(&Member) -> bool| -> Vec<WaveId> {
        let is_kept = |wave: &&WaveId| members.get(wave).is_some_and(keep);
        group.waves.iter().filter(is_kept).copied().collect()
    };
    let waiting = of(&|member| member.state == WaveState::AtBarrier);
    let is_elsewhere = |member: &Member| {
        !matches!(member.state, WaveState::AtBarrier | WaveState::Ended | WaveState::Unknown)
    };
    let missing = of(&|member| is_elsewhere(member) && member.has_signalled != Some(true));
    let signalled = of(&|member| is_elsewhere(member) && member.has_signalled == Some(true));
    let at_end = of(&|member| member.state == WaveState::Ended).len();
    if waiting.is_empty() {
        return None;
    }
    let captured = u32::try_from(group.waves.len()).unwrap_or(u32::MAX);
    let at_end = u32::try_from(at_end).unwrap_or(u32::MAX);
    let rest = group.launched.map(|launched| launched.saturating_sub(captured));
    let (ended, not_captured) = match rest {
        Some(0) => (Some(at_end), Some(0)),
        _ if group.has_all_waves => (rest.map(|rest| rest.saturating_add(at_end)), Some(0)),
        rest => (None, rest),
    };
    let never = |wave: &&WaveId| {
        members.get(wave).is_some_and(|member| {
            let stays = member.is_endless || member.state == WaveState::Faulted;
            stays && member.has_signalled == Some(false)
        })
    };
    let proven = of(&|member| member.state == WaveState::AtBarrier && member.is_proven);
    let absent = missing.iter().find(never);
    let is_deadlock = absent.is_some() && !proven.is_empty();
    match absent {
        Some(absent) if is_deadlock => {
            proof.is_deadlock = true;
            proof.barrier(group, &proven, *absent, members);
        }
        Some(_) => {
            for member in waiting.iter().filter_map(|wave| members.get(wave)) {
                if let Some(bit) = member.lacks {
                    *proof.lacks.entry(bit).or_default() += member.count;
                }
            }
        }
        None => {}
    }
    let is_blocked = missing.iter().any(|wave| members.get(wave).is_some_and(|member| member.is_stuck));
    for wave in waiting.iter().filter(|_| is_blocked) {
        if let Some(member) = members.get_mut(wave) {
            member.is_stuck = true;
        }
    }
    let (workgroup, position) = (group.id, group.position);
    Some(GroupWait { workgroup, position, waiting, missing, signalled, ended, not_captured, is_deadlock })
}

impl Proof {
    fn add(&mut self, sentence: String) {
        if self.sentences.len() < MAX_PROOF && !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
    }

    /// A wave in a loop without an exit. `lines`: those of the loop.
    pub(super) fn endless(&mut self, id: u32, lines: &[u64]) {
        let at = match lines {
            [] => String::new(),
            [line] => format!(" in line {line}"),
            [first, .., last] => format!(" in lines {first}-{last}"),
        };
        self.add(format!("wave {id} is in a loop without an exit{at}"));
    }

    /// Waves that wait at a barrier for one that never arrives.
    fn barrier(
        &mut self,
        group: &WorkGroupInfo,
        waiting: &[WaveId],
        absent: WaveId,
        members: &HashMap<WaveId, Member>,
    ) {
        let id = |wave: &WaveId| members.get(wave).map(|member| member.id);
        let Some(absent) = members.get(&absent) else { return };
        if absent.state == WaveState::Faulted {
            self.add(format!("wave {} stopped for a fault and does not continue", absent.id));
        }
        let named: Vec<String> =
            waiting.iter().filter_map(id).take(MAX_NAMED).map(|id| format!("wave {id}")).collect();
        let more = match waiting.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {} more", counted(more, "wave")),
        };
        let verb = if waiting.len() == 1 { "waits" } else { "wait" };
        let place = match group.position {
            Some([x, y, z]) => format!("({x},{y},{z})"),
            None => group.id.to_string(),
        };
        self.add(format!(
            "{}{more} {verb} at a barrier of work-group {place}, which needs wave {}",
            named.join(", "),
            absent.id
        ));
    }
}
