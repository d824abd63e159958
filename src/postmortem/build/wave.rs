//! The wave of the fault: lanes, stack, and the frame whose variables and code the report shows.

use super::{Source, cut};
use crate::postmortem::{Hex, LaneCell, LaneMark, ShownWave, StackGroup};
use crate::session::{Inspect, LaneInfo, LaneState};
use crate::triage::{Assertion, Cause, Confidence, Suspect};
use crate::units::{LaneId, LaneSet, WaveId};

impl Source<'_> {
    /// The wave of the fault; in a hang one that does not wait at a barrier; else the first one.
    pub(super) fn wave(&self, stacks: &[StackGroup]) -> Option<ShownWave> {
        let (wave, session) = self.chosen()?;
        session.next_question();
        let info = session.wave(wave).ok()?;
        let stack = session.backtrace(wave, None).ok();
        let frame = self.scene.frame(&self.triage, wave);
        let mut shown = ShownWave {
            id: info.id,
            name: cut(&info.name),
            state: cut(&self.paths.text(&info.cause)),
            kind: format!("{}:{}", info.kind.target.name, info.kind.wave_size),
            pc: info.pc.map(|pc| Hex(pc.0)),
            doubts: self.scene.doubts(wave).lines().map(|line| self.paths.text(line)).collect(),
            lanes: self.lanes(session, wave, info.kind.wave_size.lanes()),
            stack: stack.as_ref().map(|stack| self.frames(stack)).unwrap_or_default(),
            stack_end: stack.as_ref().and_then(|stack| self.end(stack)),
            frame,
            variables: Vec::new(),
            variables_left_out: 0,
            variables_problem: None,
            source: None,
            code: None,
            code_problem: None,
        };
        let at = stack.as_ref().and_then(|stack| stack.frames.get(frame));
        let at = at.and_then(|at| Some((at.file.as_deref()?, at.line?)));
        let place = self.triage.place().and_then(|place| Some((place.file.as_deref()?, place.line?)));
        shown.source = place.or(at).and_then(|(file, line)| self.source_view(file, line, stacks));
        // Of an access in an inlined call that the wave left, the frame has the line of the call.
        let of_access = self.triage.suspects.first().and_then(|suspect| suspect.frame.as_ref());
        let of_access = of_access.and_then(|of| Some((of.file.as_deref()?, of.line?)));
        let line = of_access.or(place).or(at).and_then(|(file, line)| session.source_line(file, line));
        self.add_variables(session, wave, line.as_deref().unwrap_or_default(), &mut shown);
        self.add_code(session, wave, &mut shown);
        Some(shown)
    }

    fn chosen(&self) -> Option<(WaveId, &dyn Inspect)> {
        let suspect = self.triage.suspects.first().map(|suspect| suspect.wave);
        let of_cause = match &self.triage.cause {
            Some(Cause::Assertion(of)) => Some(of.wave),
            Some(Cause::Arithmetic(of)) => Some(of.wave),
            _ => None,
        };
        let missing = || {
            self.triage.hang.iter().flat_map(|hang| &hang.groups).find_map(|of| of.missing.first().copied())
        };
        let spinning = || {
            let hang = self.triage.hang.as_ref()?;
            hang.waves.iter().find(|of| of.state == crate::triage::WaveState::Spinning).map(|of| of.wave)
        };
        let of_hang =
            || if self.triage.cause == Some(Cause::Hang) { missing().or_else(spinning) } else { None };
        let chosen = suspect.or(of_cause).or_else(of_hang).or(self.triage.waves.chosen);
        let wave = chosen.or_else(|| self.sessions.first().map(|session| session.first_wave()))?;
        Some((wave, self.scene.session(wave)?))
    }

    fn lanes(&self, session: &dyn Inspect, wave: WaveId, count: u8) -> Vec<LaneCell> {
        let infos = session.lanes(wave).unwrap_or_default();
        let marks = self.marks(wave);
        let cell = |lane: LaneId| {
            let info = infos.iter().find(|info| info.lane == lane);
            let mark = marks.iter().find(|(_, lanes)| lanes.contains(lane)).map(|(mark, _)| *mark);
            LaneCell {
                lane: lane.0,
                state: mark.unwrap_or_else(|| state(info)),
                work_item: info.and_then(|info| info.global_id),
                line: info.and_then(|info| info.at.line),
            }
        };
        (0..count).map(LaneId).map(cell).collect()
    }

    /// Lanes that the cause marks.
    fn marks(&self, wave: WaveId) -> Vec<(LaneMark, LaneSet)> {
        if let Some(Cause::Assertion(Assertion { lanes, wave: of, .. })) = &self.triage.cause {
            return if *of == wave { vec![(LaneMark::Faulting, *lanes)] } else { Vec::new() };
        }
        let is_of_wave =
            |suspect: &&Suspect| suspect.wave == wave && self.triage.cause == Some(Cause::Memory);
        let Some(suspect) = self.triage.suspects.first().filter(is_of_wave) else { return Vec::new() };
        let is_good = suspect.is_good();
        let is_possible = suspect.is_bound || suspect.confidence == Confidence::Possible;
        let mark = if is_possible { LaneMark::PossiblyFaulting } else { LaneMark::Faulting };
        let bad = if is_good { LaneSet::EMPTY } else { suspect.lanes };
        let unknown = suspect.unknown.as_ref().map_or(LaneSet::EMPTY, |of| of.lanes);
        vec![(mark, bad), (LaneMark::UnknownAddress, unknown)]
    }
}

fn state(info: Option<&LaneInfo>) -> LaneMark {
    match info.and_then(|info| info.state) {
        Some(LaneState::Active) => LaneMark::Active,
        Some(LaneState::Inactive) => LaneMark::Inactive,
        Some(LaneState::NotEntered) => LaneMark::NotEntered,
        Some(LaneState::Unused) => LaneMark::Unused,
        None => LaneMark::Unknown,
    }
}
