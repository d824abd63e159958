//! The commands to type after an analysis.

use super::{Cause, MissingData, Scene, Triage};
use crate::units::{LaneId, WaveId};

/// Number of instructions before and behind a PC, at least and at most.
const AROUND: usize = 5;
const MAX_AROUND: usize = 40;

/// A question to ask next; a front end has the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// The variables of a frame of a wave, in a lane.
    Locals {
        /// The wave.
        wave: WaveId,
        /// The dump's id of the wave.
        id: u32,
        /// The lane; `None`: the focused one.
        lane: Option<LaneId>,
        /// The frame.
        frame: usize,
    },
    /// The registers of a wave.
    Registers {
        /// The wave.
        wave: WaveId,
        /// The dump's id of the wave.
        id: u32,
    },
    /// The instructions around the PC of a wave's frame.
    Instructions {
        /// The wave.
        wave: WaveId,
        /// The dump's id of the wave.
        id: u32,
        /// Number of instructions before and behind the PC.
        around: usize,
        /// The frame.
        frame: usize,
    },
    /// The cause of a wave with another fault.
    Wave {
        /// The wave.
        wave: WaveId,
        /// The dump's id of the wave.
        id: u32,
    },
    /// The states of all waves in a hang.
    Hang,
    /// Waves by call stack.
    Groups,
    /// The program's output as a report of the fault.
    Log,
    /// The contents and problems of the dump.
    Info,
    /// A debugger's session.
    Debugger,
}

/// The steps after an analysis, the most useful first.
#[must_use]
pub(super) fn steps(triage: &Triage, scene: &Scene<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    if scene.waves() == 0 {
        return vec![Step::Info];
    }
    match &triage.cause {
        Some(Cause::Hang) => steps.push(Step::Groups),
        None if triage.waves.faulted == 0 => steps.push(Step::Groups),
        _ => {
            let suspect = triage.suspects.first();
            let wave = suspect.map(|suspect| suspect.wave).or(triage.waves.chosen);
            if let Some(wave) = wave {
                let lane = suspect.and_then(|suspect| suspect.lanes.first());
                let id = scene.id(wave);
                // The access is among the instructions.
                let around = suspect.map_or(0, |suspect| suspect.distance + 1).clamp(AROUND, MAX_AROUND);
                let frame = scene.frame(triage, wave);
                steps.push(match scene.has_variables(wave, frame) {
                    true => Step::Locals { wave, id, lane, frame },
                    false => Step::Registers { wave, id },
                });
                if scene.has_code(wave) {
                    // Calls that are inlined at the PC share it.
                    let frame = if scene.is_at_pc(wave, frame) { 0 } else { frame };
                    steps.push(Step::Instructions { wave, id, around, frame });
                }
            }
        }
    }
    // A wave with an access of its own, and one that stopped for another fault.
    let described = triage.suspects.first().map(|suspect| suspect.wave);
    let with_access =
        triage.suspects.iter().map(|suspect| suspect.wave).find(|wave| Some(*wave) != described);
    let other = triage.waves.others.first().and_then(|other| other.waves.first().copied());
    for wave in with_access.into_iter().chain(other.filter(|wave| Some(*wave) != with_access)) {
        steps.push(Step::Wave { wave, id: scene.id(wave) });
    }
    if triage.missing.iter().any(|one| matches!(one, MissingData::Page { .. })) {
        steps.push(Step::Log);
    }
    if triage.cause.is_none() && triage.hang.is_none() {
        steps.push(Step::Hang);
    }
    steps.push(Step::Debugger);
    steps
}
