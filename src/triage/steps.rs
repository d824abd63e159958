//! The commands to type after an analysis.

use super::{Cause, MissingData, Scene, Triage};
use crate::units::{LaneId, WaveId};

/// A question to ask next; a front end has the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// The variables of a wave, in a lane.
    Locals {
        /// The wave.
        wave: WaveId,
        /// The dump's id of the wave.
        id: u32,
        /// The lane; `None`: the focused one.
        lane: Option<LaneId>,
    },
    /// The instructions around a wave's PC.
    Instructions {
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
        Some(Cause::Hang) | None => steps.push(Step::Groups),
        Some(_) => {
            let suspect = triage.suspects.first();
            let wave = suspect.map(|suspect| suspect.wave).or(triage.waves.chosen);
            if let Some(wave) = wave {
                let lane = suspect.and_then(|suspect| suspect.lanes.first());
                let id = scene.id(wave);
                steps.extend([Step::Locals { wave, id, lane }, Step::Instructions { wave, id }]);
            }
        }
    }
    if triage.missing.contains(&MissingData::Page) {
        steps.push(Step::Log);
    }
    if triage.cause.is_none() && triage.hang.is_none() {
        steps.push(Step::Hang);
    }
    steps.push(Step::Debugger);
    steps
}
