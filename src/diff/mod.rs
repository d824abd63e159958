//! Two dumps of one program side by side: which stacks only one of them has, and what differs in the waves that both have.
//!
//! Waves are paired within a stack: the same functions, inlined calls among them, whatever the lines. There the one with the
//! same place (work-group and number in it) is a wave's counterpart, of what is left the one with the same id, and at last the
//! waves are paired in order. A pair is compared by stop reasons, source lines of its frames, registers, and the variables of
//! every frame for every lane. What one dump has captured and the other has not differs.

mod json;
mod pair;
mod text;
mod wave;

use std::collections::HashSet;
use std::sync::Arc;

pub use json::json;
pub use text::text;
pub use wave::{DifferentRegister, DifferentVariable, FrameDifference, LaneDifference, WaveDifference};

use crate::session::{Dump, Inspect as _, NoSession, Session, Stack, Unreadable};
use crate::units::WaveId;

/// What is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Only these pairs, by the waves' ids in the first and the second dump.
    pub pairs: Vec<(u32, u32)>,
    /// Only waves of that kind, as [`Session::new`] takes it.
    pub kind: Option<String>,
}

/// Why two dumps cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    /// There are no such waves.
    #[error(transparent)]
    NoSession(#[from] NoSession),
    /// A wave cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// They have no kind of wave in common.
    #[error(
        "{} has {} and {} has {}: waves of different kinds are compared only where --wave A:B pairs them",
        .dumps[0], .kinds[0], .dumps[1], .kinds[1]
    )]
    NoCommonKind {
        /// The dumps.
        dumps: [String; 2],
        /// The kinds of wave of each, in words.
        kinds: [String; 2],
    },
    /// A dump has no wave of that id.
    #[error("{dump} has no wave {id}; `lanescope waves` lists them")]
    NoSuchWave {
        /// The dump.
        dump: String,
        /// The id.
        id: u32,
    },
}

/// Waves with one stack that only one dump has, or that have no counterpart in the other.
#[derive(Clone, Debug)]
pub struct Alone {
    /// Their ids in the dump's order.
    pub waves: Vec<u32>,
    /// What their stacks have in common: no PC, line, file, CFA or problem of a frame in which they differ.
    pub stack: Stack,
    /// What the other dump lacks.
    pub lacks: Lacks,
}

/// What a dump lacks for waves of the other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// Waves of their kind, which is named: `gfx90a:wave64`.
    Kind(String),
    /// Waves with their stack.
    Stack,
    /// As many waves with their stack.
    Counterpart,
}

/// What differs.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// What was opened, as the user named it: the first dump and the second.
    pub names: [String; 2],
    /// Waves of either that the other has no counterpart of.
    pub alone: [Vec<Alone>; 2],
    /// Pairs that were compared.
    pub compared: usize,
    /// Pairs that differ.
    pub pairs: Vec<WaveDifference>,
}

impl Diff {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.pairs.is_empty() && self.alone.iter().all(Vec::is_empty)
    }
}

/// Compares two dumps.
///
/// # Errors
/// [`DiffError`]; what cannot be shown of a frame in either is compared as the reason for it.
pub fn diff(a: &Arc<Dump>, b: &Arc<Dump>, options: &Options) -> Result<Diff, DiffError> {
    let names = [a, b].map(|dump| dump.capture().name.clone());
    let mut diff = Diff { names, ..Diff::default() };
    if !options.pairs.is_empty() {
        let mut met = HashSet::new();
        for (one, other) in options.pairs.iter().filter(|pair| met.insert(**pair)) {
            let (one, other) = (by_id(a, *one)?, by_id(b, *other)?);
            diff.compare(&one, &other)?;
        }
        return Ok(diff);
    }
    let kinds = pair::kinds([a, b], options.kind.as_deref())?;
    if !kinds.iter().any(|kind| pair::has_kind(a, kind) && pair::has_kind(b, kind)) {
        return Err(DiffError::NoCommonKind {
            dumps: diff.names,
            kinds: [a, b].map(|dump| pair::words(dump)),
        });
    }
    for kind in kinds {
        // A kind that one dump lacks has no session over it.
        let of = |dump: &Arc<Dump>| match pair::has_kind(dump, &kind) {
            true => Session::new(Arc::clone(dump), Some(&kind)).map(Some),
            false => Ok(None),
        };
        let sessions = [of(a)?, of(b)?];
        let matched = pair::matched([sessions[0].as_ref(), sessions[1].as_ref()], &kind)?;
        for (side, alone) in diff.alone.iter_mut().zip(matched.alone) {
            side.extend(alone);
        }
        if let [Some(first), Some(second)] = &sessions {
            for (one, other) in matched.pairs {
                diff.compare(&(first, one), &(second, other))?;
            }
        }
    }
    Ok(diff)
}

/// A session over the kind of the wave of that id, with the wave.
fn by_id(dump: &Arc<Dump>, id: u32) -> Result<(Session, WaveId), DiffError> {
    let capture = dump.capture();
    let found = (0u32..).zip(&capture.waves).find(|(_, wave)| wave.id == id);
    let (ordinal, wave) = found.ok_or_else(|| DiffError::NoSuchWave { dump: capture.name.clone(), id })?;
    let kind = format!("{}:{}", wave.kind.target.name, wave.kind.wave_size);
    Ok((Session::new(Arc::clone(dump), Some(&kind))?, WaveId(ordinal)))
}

impl Diff {
    fn compare<S: std::borrow::Borrow<Session>>(
        &mut self,
        (a, one): &(S, WaveId),
        (b, other): &(S, WaveId),
    ) -> Result<(), DiffError> {
        self.compared += 1;
        let (a, b) = (a.borrow(), b.borrow());
        let difference = wave::compare([(a, *one), (b, *other)], [a.wave(*one)?.id, b.wave(*other)?.id])?;
        self.pairs.extend(difference);
        Ok(())
    }
}
