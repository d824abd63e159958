//! Lanes that lines speak of, for a second opinion about values and stacks.

use std::sync::Arc;

use super::error::FactError;
use super::facts::{Facts, Wave};
use super::places::{Fit, Function, fits, place_fits};
use super::select::select;
use super::{Numbered, Subject, blocks, values};
use crate::check::file::{Content, ScopeFile, Selector};
use crate::units::{LaneSet, WaveId};

/// A line about values or stacks, with its lanes.
#[derive(Clone, Debug)]
pub struct AskedLine {
    /// The line of the file, from 1.
    pub line: usize,
    /// The waves with their lanes; or the reason that they are unknown.
    pub waves: Result<Vec<AskedWave>, FactError>,
}

/// Lanes of a wave.
#[derive(Clone, Copy, Debug)]
pub struct AskedWave {
    /// The index of the session in the subject.
    pub session: usize,
    /// The wave in the session.
    pub wave: WaveId,
    /// Its id in the dump.
    pub id: u32,
    /// The lanes of a value line; of `at` and `stack` the first active lane.
    pub lanes: LaneSet,
}

/// A frame as a debugger prints it.
#[derive(Clone, Debug, Default)]
pub struct SeenFrame {
    /// The function.
    pub function: Option<String>,
    /// Its mangled C++ name, in frames of the dump.
    pub mangled: Option<Arc<str>>,
    /// The file and the line.
    pub source: Option<(String, u64)>,
}

/// The value lines, `at` and `stack` with the lanes that they speak of.
#[must_use]
pub fn asked(file: &ScopeFile, subject: &Subject<'_>) -> Vec<AskedLine> {
    let facts = Facts::of(subject, false);
    let numbered: Vec<Numbered<'_>> =
        (1..).zip(&file.lines).map(|(number, line)| Numbered { number, line }).collect();
    let mut found = Vec::new();
    for (_, selector, lines) in blocks(&numbered) {
        let selected = select(&facts, selector);
        for line in lines {
            if !matches!(line.line.content, Content::At(_) | Content::Stack(_) | Content::Value(_)) {
                continue;
            }
            let waves = selected.waves.iter().filter_map(|index| facts.waves.get(*index));
            let waves = match selector {
                Selector::Some => Err(FactError::new("`wave some` names no wave")),
                _ => waves.map(|wave| asked_wave(&facts, wave, &line.line.content)).collect(),
            };
            found.push(AskedLine { line: line.number, waves });
        }
    }
    found
}

fn asked_wave(facts: &Facts<'_>, wave: &Wave<'_>, content: &Content) -> Result<AskedWave, FactError> {
    let sessions = &facts.subject.sessions;
    let session = sessions.iter().position(|session| std::ptr::addr_eq(*session, wave.session));
    let lanes = match content {
        Content::Value(value) => values::lanes_of(facts, wave, value)?,
        _ => {
            let active =
                wave.session.active_lanes(wave.id(), 0).map_err(|why| FactError::new(why.to_string()))?;
            active.first().map_or(LaneSet::EMPTY, LaneSet::one)
        }
    };
    Ok(AskedWave { session: session.unwrap_or_default(), wave: wave.id(), id: wave.info.id, lanes })
}

impl SeenFrame {
    fn function(&self) -> Option<Function<'_>> {
        Some(Function { name: self.function.as_deref()?, mangled: self.mangled.as_deref() })
    }
}

/// Whether the frames of a debugger, the innermost first, fit a line `at` or `stack`; `None`: they lack a fact.
#[must_use]
pub fn frames_fit(content: &Content, frames: &[SeenFrame]) -> Option<bool> {
    let fit = match content {
        Content::At(expected) => {
            let frame = frames.first()?;
            let source = frame.source.as_ref().map(|(file, line)| (file.as_str(), *line));
            place_fits(expected, frame.function(), source, |what| what.to_owned())
        }
        Content::Stack(expected) => {
            let functions: Vec<Option<Function<'_>>> = frames.iter().map(SeenFrame::function).collect();
            // The server's name for a caller that is unknown.
            let is_end = |function: &Option<Function<'_>>| {
                function.is_some_and(|function| function.name.contains(UNKNOWN_CALLER))
            };
            let known = functions.iter().position(is_end);
            let end = known.map(|_| UNKNOWN_CALLER.to_owned());
            fits(functions.get(..known.unwrap_or(functions.len()))?, end, expected)
        }
        _ => return None,
    };
    match fit {
        Fit::Holds => Some(true),
        Fit::Differs => Some(false),
        Fit::Unknown(_) => None,
    }
}

/// The function of the frame after the last known one, in a debugger.
const UNKNOWN_CALLER: &str = "no_unwind_information";
