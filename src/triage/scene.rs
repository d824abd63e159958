//! The dump beside its analysis: names, stacks and lanes that a page prints.

use super::{Arithmetic, Cause, SourceAt, Triage};
use crate::debuginfo::{short_name, source_name};
use crate::report::Style;
use crate::report::text::mark;
use crate::session::{Inspect, LaneState, Stack, StackFrame, WaveInfo};
use crate::units::{AddressSpace, LaneSet, WaveId};

/// The sessions of an analysis.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    sessions: &'a [&'a dyn Inspect],
}

impl std::fmt::Debug for Scene<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene").field("sessions", &self.sessions.len()).finish()
    }
}

/// The lanes of a wave by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LanesByState {
    /// Number of lanes.
    pub(super) count: u8,
    /// Active lanes.
    pub(super) active: LaneSet,
    /// Inactive lanes, or lanes outside of the function.
    pub(super) inactive: LaneSet,
    /// Lanes without a work-item.
    pub(super) unused: LaneSet,
}

impl<'a> Scene<'a> {
    /// The sessions of the analysis, one for each kind of waves.
    #[must_use]
    pub fn new(sessions: &'a [&'a dyn Inspect]) -> Self {
        Self { sessions }
    }

    /// The session that serves a wave.
    pub(crate) fn session(&self, wave: WaveId) -> Option<&'a dyn Inspect> {
        self.sessions.iter().copied().find(|session| session.has_wave(wave))
    }

    /// Number of waves, also of those that the dump leaves out and others stand for.
    pub(crate) fn waves(&self) -> usize {
        let count = |session: &dyn Inspect| -> usize {
            session.waves().iter().map(|wave| session.wave(*wave).map_or(1, |info| info.count())).sum()
        };
        self.sessions.iter().map(|session| count(*session)).sum()
    }

    /// The facts about a wave.
    pub(crate) fn info(&self, wave: WaveId) -> Option<WaveInfo> {
        self.session(wave)?.wave(wave).ok()
    }

    /// The dump's id of a wave.
    pub(crate) fn id(&self, wave: WaveId) -> u32 {
        self.info(wave).map_or(wave.0 + 1, |info| info.id)
    }

    /// The kernel of a wave, as source text without parameters; without a known one the outermost known function.
    pub(super) fn kernel(&self, wave: WaveId) -> Option<String> {
        if let Some(symbol) = self.info(wave)?.kernel {
            return Some(short_name(&source_name(&symbol)));
        }
        self.stack(wave)?.frames.iter().rev().find_map(|frame| frame.function.as_deref().map(short_name))
    }

    /// The name of a segment of a wave; `None`: global memory.
    pub(crate) fn space(&self, wave: WaveId, space: AddressSpace) -> Option<String> {
        self.session(wave)?.kind().target.segment(space)
    }

    /// The warnings about a wave whose values may be wrong; a line for each.
    pub(crate) fn doubts(&self, wave: WaveId) -> String {
        self.session(wave).map_or(String::new(), |session| mark(session, wave, Style::Plain))
    }

    /// The call stack of a wave.
    pub(crate) fn stack(&self, wave: WaveId) -> Option<Stack> {
        self.session(wave)?.backtrace(wave, None).ok()
    }

    /// The place of a wave's PC in the source.
    pub(super) fn place(&self, wave: WaveId) -> SourceAt {
        let frame = self.stack(wave).and_then(|stack| stack.frames.into_iter().next());
        let Some((session, frame)) = self.session(wave).zip(frame) else { return SourceAt::default() };
        let line = frame.file.as_deref().zip(frame.line);
        let text = line.and_then(|(file, line)| session.source_line(file, line));
        let (function, file, line) = (frame.function, frame.file, frame.line);
        SourceAt { function, file, line, text, is_inferred: false }
    }

    /// Whether questions about variables of a frame have answers: its function has debug information with variables.
    pub(super) fn has_variables(&self, wave: WaveId, frame: usize) -> bool {
        self.session(wave).is_some_and(|session| {
            session.locals(wave, LaneSet::EMPTY, frame).is_ok_and(|locals| locals.note.is_none())
        })
    }

    /// The frame of the fault in the stack of its wave: that of the line, or around the instruction; else the innermost.
    pub(crate) fn frame(&self, triage: &Triage, wave: WaveId) -> usize {
        if let (Some(Cause::Memory), Some(suspect)) = (&triage.cause, triage.suspects.first()) {
            return suspect.frame();
        }
        let (Some(at), Some(stack)) = (triage.place(), self.stack(wave)) else { return 0 };
        let is_at =
            |frame: &&StackFrame| at.line.is_some() && (&frame.file, frame.line) == (&at.file, at.line);
        let around = || match &triage.cause {
            Some(Cause::Arithmetic(Arithmetic { instruction: Some((at, _)), .. })) => {
                Some(self.session(wave)?.frame_around(wave, *at).ok()??.frame)
            }
            _ => None,
        };
        stack.frames.iter().find(is_at).map(|frame| frame.level).or_else(around).unwrap_or(0)
    }

    /// Whether a frame of a wave is that of the function at its PC, or a call inlined into it.
    pub(super) fn is_at_pc(&self, wave: WaveId, frame: usize) -> bool {
        let stack = self.stack(wave);
        stack.is_none_or(|stack| stack.frames.get(frame).is_none_or(|frame| frame.physical == 0))
    }

    /// Whether the code at a wave's PC is known, as bytes or as the capture's text.
    pub(super) fn has_code(&self, wave: WaveId) -> bool {
        let Some((session, info)) = self.session(wave).zip(self.info(wave)) else { return false };
        let stack = self.stack(wave);
        let is_known = |stack: Stack| {
            let first = stack.frames.into_iter().next();
            first.is_some_and(|frame| frame.function.is_some() || frame.code_object.is_some())
        };
        stack.is_some_and(is_known) || info.pc.is_some_and(|pc| session.region(pc.0, wave).readable)
    }

    /// The lanes of a wave by state.
    pub(super) fn lanes(&self, wave: WaveId) -> LanesByState {
        let Some(session) = self.session(wave) else { return LanesByState::default() };
        let mut found = LanesByState { count: session.kind().wave_size.lanes(), ..LanesByState::default() };
        for info in session.lanes(wave).unwrap_or_default() {
            let set = match info.state {
                Some(LaneState::Active) => &mut found.active,
                Some(LaneState::Inactive | LaneState::NotEntered) => &mut found.inactive,
                Some(LaneState::Unused) => &mut found.unused,
                None => continue,
            };
            set.0 |= LaneSet::one(info.lane).0;
        }
        found
    }
}
