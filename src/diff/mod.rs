//! Compares two dumps of one program: stacks that only one of them has, and differences in the waves of both.
//!
//! Waves are paired within a stack: the same functions, inlined calls among them, at any lines. A wave's counterpart
//! is the one at the same position (work-group and number in it); of the rest, the one with the same id; the
//! remaining waves are paired in order. A pair is compared by stop reasons, source lines of its frames, registers,
//! and the variables of every frame for every lane. Data that only one dump has is a difference. Each pair is
//! compared when its difference is printed, which limits memory to one pair.

mod json;
mod pair;
mod text;
mod wave;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

pub(crate) use json::Json;
#[cfg(test)]
pub(crate) use json::Members;
pub(crate) use text::text;
pub(crate) use wave::WaveDifference;

use crate::capture::Capture;
use crate::dwarf::limits::MAX_QUESTION_VALUES;
use crate::session::{Dump, ReadError, Session, SessionError, Stack, Waves as _, has_faulted};
use crate::units::WaveId;

/// Options of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The compared pairs.
    pub pairs: Pairs,
    /// Only waves of that kind, in the form of [`Session::new`].
    pub kind: Option<String>,
    /// Values of variables to compare beyond the allowance of each wave; `None`:
    /// `dwarf::limits::MAX_QUESTION_VALUES`.
    pub values: Option<u64>,
}

/// The pairs of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pairs {
    /// All waves, by stack and place.
    #[default]
    All,
    /// Of these the pairs with a wave that faulted, and the waves that faulted without a counterpart.
    Faulted,
    /// These pairs, by the waves' ids in the first and the second dump.
    Ids(Vec<(u32, u32)>),
}

/// An error that prevents the comparison of two dumps.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiffError {
    /// The requested waves do not exist.
    #[error(transparent)]
    SessionError(#[from] SessionError),
    /// A wave is unreadable.
    #[error(transparent)]
    ReadError(#[from] ReadError),
    /// They have no kind of wave in common.
    #[error(
        "{} has {} and {} has {}: waves of different kinds are compared only where --wave A:B pairs them",
        .dumps[0], .kinds[0], .dumps[1], .kinds[1]
    )]
    NoCommonKind {
        /// The dumps.
        dumps: [String; 2],
        /// The kinds of wave of each, as text.
        kinds: [String; 2],
    },
    /// A dump has no wave of that id.
    #[error("{dump} has no wave with the id {id}; `lanescope waves` lists the ids")]
    NoSuchWave {
        /// The dump.
        dump: String,
        /// The id.
        id: u32,
    },
    /// No wave of either dump is known to have faulted.
    #[error(
        "no wave of {} or {} is known to have faulted; {unknown} of their {waves} waves have no captured stop reason",
        .dumps[0], .dumps[1]
    )]
    NoneFaulted {
        /// The dumps.
        dumps: [String; 2],
        /// Number of waves without a captured stop reason.
        unknown: usize,
        /// Number of all waves.
        waves: usize,
    },
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] std::io::Error),
}

/// Waves with one stack that only one dump has, or that have no counterpart in the other.
#[derive(Clone, Debug)]
pub(crate) struct Alone {
    /// Their ids in the dump's order.
    pub waves: Vec<u32>,
    /// The common part of their stacks: no PC, line, file, CFA or problem of a frame in which they differ.
    pub stack: Stack,
    /// The missing counterpart in the other dump.
    pub lacks: Lacks,
}

/// A dump's missing counterpart for waves of the other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lacks {
    /// Waves of their kind, named: `gfx90a:wave64`.
    Kind(String),
    /// Waves with their stack.
    Stack,
    /// Enough waves with their stack.
    Counterpart,
}

/// Variables omitted from the comparison because of bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Variables of frames, each counted once for a pair.
    pub variables: u64,
    /// Frames without any variables, because the question has read large functions again too often.
    pub frames: u64,
    /// Frames without known variables in both dumps: without debug information, for example. Not a part of `pairs`.
    pub unknown: u64,
    /// Pairs with such variables or frames.
    pub pairs: usize,
}

/// The differences: first the waves without a counterpart, then pair by pair.
#[derive(Debug)]
pub(crate) struct Diff {
    /// The names of the dumps from the user: the first and the second.
    pub names: [String; 2],
    /// Waves of each dump without a counterpart in the other.
    pub alone: [Vec<Alone>; 2],
    /// Pairs, compared or not yet.
    pub pairs: usize,
    /// Differing pairs among those compared up to now.
    pub differing: usize,
    /// Variables omitted so far.
    pub left_out: LeftOut,
    /// The bound on values of variables.
    pub values: u64,
    sessions: Vec<[Session; 2]>,
    /// Pairs still to compare, with the index of their sessions.
    waiting: VecDeque<(usize, WaveId, WaveId)>,
}

impl Diff {
    /// Finds the pairs of two dumps.
    ///
    /// # Errors
    /// [`DiffError`].
    pub(crate) fn new(a: &Arc<Dump>, b: &Arc<Dump>, options: &Options) -> Result<Self, DiffError> {
        let mut diff = Self {
            names: [a, b].map(|dump| dump.capture().name.clone()),
            alone: [Vec::new(), Vec::new()],
            pairs: 0,
            differing: 0,
            left_out: LeftOut::default(),
            values: options.values.unwrap_or(MAX_QUESTION_VALUES),
            sessions: Vec::new(),
            waiting: VecDeque::new(),
        };
        match &options.pairs {
            Pairs::All => diff.match_all([a, b], options)?,
            Pairs::Faulted => {
                diff.match_all([a, b], options)?;
                diff.leave_faulted([a, b])?;
            }
            Pairs::Ids(pairs) => {
                let mut met = HashSet::new();
                for (one, other) in pairs.iter().filter(|pair| met.insert(**pair)) {
                    let ((first, one), (second, other)) = (by_id(a, *one)?, by_id(b, *other)?);
                    diff.wait([first, second], &[(one, other)]);
                }
            }
        }
        diff.pairs = diff.waiting.len();
        Ok(diff)
    }

    fn match_all(&mut self, [a, b]: [&Arc<Dump>; 2], options: &Options) -> Result<(), DiffError> {
        let kinds = pair::kinds([a, b], options.kind.as_deref())?;
        if !kinds.iter().any(|kind| pair::has_kind(a, kind) && pair::has_kind(b, kind)) {
            return Err(DiffError::NoCommonKind {
                dumps: self.names.clone(),
                kinds: [a, b].map(|dump| pair::words(dump)),
            });
        }
        for kind in kinds {
            // Without waves of the kind a dump has no session.
            let of = |dump: &Arc<Dump>| match pair::has_kind(dump, &kind) {
                true => Session::new(Arc::clone(dump), Some(&kind)).map(Some),
                false => Ok(None),
            };
            let sessions = [of(a)?, of(b)?];
            let matched = pair::matched([sessions[0].as_ref(), sessions[1].as_ref()], &kind)?;
            for (side, alone) in self.alone.iter_mut().zip(matched.alone) {
                side.extend(alone);
            }
            if let [Some(first), Some(second)] = sessions {
                self.wait([first, second], &matched.pairs);
            }
        }
        Ok(())
    }

    /// Drops the waves that did not fault: pairs of them, and those without a counterpart.
    fn leave_faulted(&mut self, dumps: [&Arc<Dump>; 2]) -> Result<(), DiffError> {
        let [a, b] = dumps.map(|dump| dump.capture());
        let is_faulted = |capture: &Capture, wave: WaveId| capture.wave(wave).is_some_and(has_faulted);
        self.waiting.retain(|(_, one, other)| is_faulted(a, *one) || is_faulted(b, *other));
        for (capture, alone) in [a, b].into_iter().zip(&mut self.alone) {
            let faulted = capture.waves.iter().filter(|wave| has_faulted(wave));
            let faulted: HashSet<u32> = faulted.map(|wave| wave.id).collect();
            for of in alone.iter_mut() {
                of.waves.retain(|id| faulted.contains(id));
            }
            alone.retain(|of| !of.waves.is_empty());
        }
        if !self.waiting.is_empty() || self.alone.iter().any(|alone| !alone.is_empty()) {
            return Ok(());
        }
        let all = || a.waves.iter().chain(&b.waves);
        let unknown = all().filter(|wave| wave.stop.is_none()).count();
        Err(DiffError::NoneFaulted { dumps: self.names.clone(), unknown, waves: all().count() })
    }

    fn wait(&mut self, sessions: [Session; 2], pairs: &[(WaveId, WaveId)]) {
        let index = self.sessions.len();
        self.sessions.push(sessions.map(|session| session.with_values(self.values)));
        self.waiting.extend(pairs.iter().map(|(one, other)| (index, *one, *other)));
    }

    /// Compares pairs up to the next one that differs; `None` if no other pair differs.
    ///
    /// # Errors
    /// [`DiffError`]. If one dump cannot show a frame's variables, the comparison uses the reason.
    pub(crate) fn next_difference(&mut self) -> Result<Option<WaveDifference>, DiffError> {
        while let Some((index, one, other)) = self.waiting.pop_front() {
            let Some([a, b]) = self.sessions.get(index) else { continue };
            let (difference, left_out) =
                wave::compare([(a, one), (b, other)], [a.wave(one)?.id, b.wave(other)?.id])?;
            self.left_out.variables += left_out.variables;
            self.left_out.frames += left_out.frames;
            self.left_out.unknown += left_out.unknown;
            self.left_out.pairs += usize::from(left_out.variables + left_out.frames > 0);
            if difference.is_some() {
                self.differing += 1;
                return Ok(difference);
            }
        }
        Ok(None)
    }

    /// Whether all pairs were compared without a difference; omitted variables may differ.
    #[must_use]
    pub(crate) fn is_same(&self) -> bool {
        self.differing == 0 && self.alone.iter().all(Vec::is_empty) && self.left_out.pairs == 0
    }
}

/// A session over the kind of the wave with that id, and the wave.
fn by_id(dump: &Arc<Dump>, id: u32) -> Result<(Session, WaveId), DiffError> {
    let capture = dump.capture();
    let found = (0u32..).zip(&capture.waves).find(|(_, wave)| wave.id == id);
    let (ordinal, wave) = found.ok_or_else(|| DiffError::NoSuchWave { dump: capture.name.clone(), id })?;
    let kind = format!("{}:{}", wave.kind.target.name, wave.kind.wave_size);
    Ok((Session::new(Arc::clone(dump), Some(&kind))?, WaveId(ordinal)))
}
