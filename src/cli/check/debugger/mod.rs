//! `lanescope check --debugger`: the same values and stacks from a stock debugger over the protocol.
//!
//! `process` serves the dump to a fresh debugger, whose threads are the active lanes. A script in its Python reads values
//! and frames, without commands of the server. `compare` compares values. A difference is a fault of lanescope.

mod compare;
mod process;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::check::{AskedLine, AskedWave, Content, Obstacle, ScopeFile, SeenFrame, Subject, Verdict};
use crate::check::{Outcome, asked, frames_fit};
use crate::clean::clean;
use crate::cli::Failure;
use crate::cli::doctor::{Brand, on_path};
use crate::cli::value::ValueError;
use crate::debuginfo::{FunctionName, source_name};
use crate::notation::counted;
use crate::session::print::TypedQuery;
use crate::session::{Inspect, LaneState, SourceError};
use crate::units::{LaneId, LaneSet};
use compare::{Agreement, Tree, compare};
use process::Question;

/// Maximum number of questions of a line: lanes of all of its waves.
const MAX_QUESTIONS: usize = 4096;

/// The reason that a debugger has no function and no line of a frame.
const BY_TEXT: &str = "only the text of the log has the function and the line, and no code object";

/// A stock debugger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Debugger {
    brand: Brand,
    /// The program, by its path or on the `PATH`.
    program: PathBuf,
}

/// `gdb`, `lldb-22`, `/opt/bin/gdb`: a program whose name begins with `gdb` or `lldb`.
pub(super) fn debugger(text: &str) -> Result<Debugger, ValueError> {
    let program = PathBuf::from(text);
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let brand = match name {
        name if name.starts_with("gdb") => Brand::Gdb,
        name if name.starts_with("lldb") => Brand::Lldb,
        _ => return Err(ValueError::Form("a program whose name begins with gdb or lldb")),
    };
    Ok(Debugger { brand, program })
}

/// There is no such program.
#[derive(Debug, thiserror::Error)]
#[error("--debugger {0}: there is no such program")]
pub(super) struct NoDebuggerError(String);

impl Debugger {
    /// Finds the program, also where no line is to be asked.
    ///
    /// # Errors
    /// [`NoDebuggerError`].
    pub(super) fn find(&self) -> Result<(), NoDebuggerError> {
        let is_path = self.program.parent().is_some_and(|folder| !folder.as_os_str().is_empty());
        let is_there = match self.program.to_str() {
            Some(name) if !is_path => on_path(name).is_some(),
            _ => self.program.is_file(),
        };
        let shown = || clean(self.program.to_string_lossy()).into_owned();
        if is_there { Ok(()) } else { Err(NoDebuggerError(shown())) }
    }

    fn name(&self) -> String {
        clean(self.program.file_name().unwrap_or_default().to_string_lossy()).into_owned()
    }

    fn script(&self) -> &'static str {
        match self.brand {
            Brand::Gdb => include_str!("gdb.py"),
            Brand::Lldb => include_str!("lldb.py"),
        }
    }

    /// Whether the debugger has the syntax of a path.
    fn has_syntax(&self, path: &str) -> bool {
        let is_plain = |letter: char| letter.is_alphanumeric() || "_.->[]".contains(letter);
        let is_c = |letter: char| is_plain(letter) || "*&():<=!+/% ".contains(letter);
        match self.brand {
            Brand::Gdb => path.chars().all(is_c),
            Brand::Lldb => path.chars().all(is_plain),
        }
    }
}

/// A debugger's opinion about the lines of a file.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Opinion {
    /// The debugger's name.
    pub(super) name: String,
    /// Number of lines with the same values or frames.
    pub(super) same: usize,
    /// Numbers of the lines that differ.
    pub(super) differing: Vec<usize>,
    /// Lines that the debugger cannot answer.
    pub(super) not_asked: Vec<NotAsked>,
}

impl Opinion {
    /// `gdb shows the same in 5 lines, and differs in 1`
    pub(super) fn in_words(&self) -> String {
        let same = counted(self.same, "line");
        format!("{} shows the same in {same}, and differs in {}", self.name, self.differing.len())
    }

    /// The same with the lines that were not asked, each in a line of its own.
    pub(super) fn in_lines(&self) -> Vec<String> {
        std::iter::once(self.in_words()).chain(self.not_asked.iter().map(NotAsked::in_words)).collect()
    }
}

impl NotAsked {
    /// `line 4 is not asked: lane 30 of wave 1 is inactive, and no thread`
    pub(super) fn in_words(&self) -> String {
        format!("line {} is not asked: {}", self.line, self.reason)
    }
}

/// A line that the debugger cannot answer, at least in part.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NotAsked {
    /// The line, from 1.
    pub(super) line: usize,
    /// The reason.
    pub(super) reason: String,
}

/// An answer of the debugger's script.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Answer {
    Frames { frames: Vec<Frame> },
    Value(Tree),
}

#[derive(Debug, Deserialize)]
struct Frame {
    function: Option<String>,
    file: Option<String>,
    line: Option<u64>,
}

/// The arguments of `lanescope serve` for a dump: its options, then its path.
pub(super) struct Served<'a> {
    pub(super) options: &'a [OsString],
    pub(super) dump: &'a Path,
    /// For each session the kind of its waves, if a dump has several.
    pub(super) kinds: Vec<Option<String>>,
}

/// Compares the lines with a debugger; a line with a difference gets the verdict that it cannot be checked.
pub(super) fn second(
    debugger: &Debugger,
    file: &ScopeFile,
    subject: &Subject<'_>,
    served: &Served<'_>,
    outcomes: &mut [Outcome],
) -> Result<Opinion, Failure> {
    let mut opinion = Opinion { name: debugger.name(), ..Opinion::default() };
    let mut lines: Vec<Line<'_>> = Vec::new();
    for asked in asked(file, subject) {
        let content = asked.line.checked_sub(1).and_then(|index| file.lines.get(index));
        let Some(content) = content.map(|line| &line.content) else { continue };
        match Line::new(debugger, asked, content) {
            Ok(line) => lines.push(line),
            Err(not_asked) => opinion.not_asked.push(not_asked),
        }
    }
    for (session, kind) in served.kinds.iter().enumerate() {
        ask_session(debugger, session, kind.as_deref(), subject, served, &mut lines)?;
    }
    for line in lines {
        if let Some(problem) = &line.difference {
            opinion.differing.push(line.number);
            let hint = "a fault of lanescope: report it with this dump".to_owned();
            for outcome in outcomes.iter_mut().filter(|outcome| outcome.line == line.number) {
                outcome.verdict =
                    Verdict::NotChecked(Obstacle { problem: problem.clone(), hint: Some(hint.clone()) });
            }
        } else if line.is_same {
            opinion.same += 1;
        }
        let reason = line.not_asked.or_else(|| (!line.is_same).then(|| "no lane has a thread".to_owned()));
        if let Some(reason) = reason.filter(|_| line.difference.is_none()) {
            opinion.not_asked.push(NotAsked { line: line.number, reason });
        }
    }
    opinion.not_asked.sort_by_key(|line| line.line);
    Ok(opinion)
}

/// A line with its questions.
struct Line<'f> {
    number: usize,
    content: &'f Content,
    waves: Vec<AskedWave>,
    is_same: bool,
    difference: Option<String>,
    not_asked: Option<String>,
}

impl<'f> Line<'f> {
    fn new(debugger: &Debugger, asked: AskedLine, content: &'f Content) -> Result<Self, NotAsked> {
        let number = asked.line;
        let not_asked = |reason: String| NotAsked { line: number, reason };
        let waves = asked.waves.map_err(|why| not_asked(why.to_string()))?;
        let count: usize = waves.iter().map(|wave| wave.lanes.count() as usize).sum();
        if count > MAX_QUESTIONS {
            return Err(not_asked(format!("{count} values, at most {MAX_QUESTIONS} are asked")));
        }
        if let Content::Value(value) = content
            && !debugger.has_syntax(&value.path)
        {
            return Err(not_asked(format!("`{}` is not in the syntax of {}", value.path, debugger.name())));
        }
        Ok(Self { number, content, waves, is_same: false, difference: None, not_asked: None })
    }

    /// Takes a result in a lane.
    fn take(&mut self, debugger: &Debugger, wave: u32, lane: LaneId, agreement: Agreement) {
        match agreement {
            Agreement::Same => self.is_same = true,
            Agreement::Unknown(why) => drop(self.not_asked.get_or_insert(why)),
            Agreement::Differs(seen, own) => {
                let name = debugger.name();
                self.difference.get_or_insert_with(|| {
                    let seen = clean(seen);
                    format!("{name} shows {seen} in lane {lane} of wave {wave}, lanescope {own}")
                });
            }
        }
    }
}

/// Runs the questions of all lines about the waves of a session, in one process.
fn ask_session(
    debugger: &Debugger,
    session: usize,
    kind: Option<&str>,
    subject: &Subject<'_>,
    served: &Served<'_>,
    lines: &mut [Line<'_>],
) -> Result<(), Failure> {
    let Some(inspect) = subject.sessions.get(session) else { return Ok(()) };
    let (mut questions, mut owners, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for (index, line) in lines.iter_mut().enumerate() {
        let of_session: Vec<AskedWave> =
            line.waves.iter().filter(|wave| wave.session == session).copied().collect();
        for wave in of_session {
            inspect.next_question();
            // Lanes that are inactive at the PC have no thread.
            let threads = inspect.active_lanes(wave.wave, 0).unwrap_or(LaneSet::EMPTY);
            let (path, frame) = match line.content {
                Content::Value(value) => (Some(value.path.clone()), value.frame),
                _ => (None, 0),
            };
            for lane in wave.lanes.iter() {
                if !threads.contains(lane) {
                    let why = || format!("lane {lane} of wave {} is inactive, and no thread", wave.id);
                    line.not_asked.get_or_insert_with(why);
                    continue;
                }
                ids.push(wave.id);
                owners.push((index, wave, lane));
                questions.push(Question {
                    wave: wave.id,
                    lane: u32::from(lane.0),
                    frame,
                    path: path.clone(),
                });
            }
        }
    }
    if questions.is_empty() {
        return Ok(());
    }
    ids.sort_unstable();
    ids.dedup();
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    let mut words: Vec<OsString> = served.options.to_vec();
    words.extend(["--wave".into(), ids.join(",").into()]);
    words.extend(kind.into_iter().flat_map(|kind| ["--kind".into(), kind.into()]));
    words.push(served.dump.into());
    let answers = process::ask(debugger, &words, &questions)?;
    for ((index, wave, lane), answer) in owners.into_iter().zip(answers) {
        let Some(line) = lines.get_mut(index) else { continue };
        let agreement = match (line.content, answer) {
            (Content::Value(value), Answer::Value(tree)) => {
                inspect.next_question();
                let query =
                    TypedQuery { path: value.path.clone(), lanes: LaneSet::one(lane), wants_text: false };
                let own = inspect.typed(wave.wave, value.frame, &[query]);
                match own.ok().and_then(|mut answers| answers.pop()).and_then(Result::ok) {
                    Some(values) => match values.lanes.first() {
                        Some(own) if own.state == Some(LaneState::Active) => compare(&tree, &own.value),
                        _ => Agreement::Unknown(format!("lane {lane} is inactive in the frame")),
                    },
                    None => Agreement::Unknown("the path is wrong".to_owned()),
                }
            }
            (content, Answer::Frames { frames }) => frames_agree(content, frames, wave, *inspect),
            (_, Answer::Value(tree)) => Agreement::Differs(format!("{tree:?}"), "frames".to_owned()),
        };
        line.take(debugger, wave.id, lane, agreement);
    }
    Ok(())
}

/// Whether a debugger's frames fit a line as the dump's do.
fn frames_agree(content: &Content, seen: Vec<Frame>, wave: AskedWave, inspect: &dyn Inspect) -> Agreement {
    let stack = match inspect.backtrace(wave.wave, wave.lanes.first()) {
        Ok(stack) => stack,
        Err(why) => return Agreement::Unknown(why.to_string()),
    };
    // The server has no code object for such a frame, and the protocol no place for its function.
    let mut needed = stack.frames.iter().take(if matches!(content, Content::At(_)) { 1 } else { usize::MAX });
    if needed.any(|frame| matches!(frame.problem, Some(SourceError::ByText(_)))) {
        return Agreement::Unknown(BY_TEXT.to_owned());
    }
    let own = stack.frames.into_iter();
    let own: Vec<SeenFrame> = own
        .map(|frame| SeenFrame {
            function: frame.function,
            mangled: frame.mangled,
            source: frame.file.zip(frame.line),
        })
        .collect();
    let seen: Vec<SeenFrame> = seen
        .into_iter()
        .enumerate()
        .map(|(index, frame)| {
            // A debugger prints the symbol of a target region.
            let function = frame.function.map(|name| source_name(&name));
            let source = frame.file.zip(frame.line);
            match own.get(index).filter(|own| is_like(function.as_deref(), own)) {
                Some(own) => SeenFrame { source, ..own.clone() },
                None => SeenFrame { function, mangled: None, source },
            }
        })
        .collect();
    match (frames_fit(content, &seen), frames_fit(content, &own)) {
        (Some(seen), Some(own)) if seen == own => Agreement::Same,
        (None, None) => Agreement::Unknown("a function or line is unknown".to_owned()),
        _ => Agreement::Differs(in_words(&seen), in_words(&own)),
    }
}

/// Whether a debugger's function may be that of a frame: each tool has its spelling of template arguments, parameters
/// and enclosing functions.
fn is_like(function: Option<&str>, own: &SeenFrame) -> bool {
    let names = function.zip(own.function.as_deref());
    names.is_some_and(|(seen, own)| FunctionName::parse(seen).is_like(&FunctionName::parse(own)))
}

/// `leaf saxpy.hip:54 < saxpy`: functions, and the place of the first.
fn in_words(frames: &[SeenFrame]) -> String {
    let place = frames.first().and_then(|frame| frame.source.as_ref());
    let place = place.map_or_else(String::new, |(file, line)| format!(" at {}:{line}", clean(file.as_str())));
    let names: Vec<&str> = frames.iter().map(|frame| frame.function.as_deref().unwrap_or("?")).collect();
    format!("`{}`{place}", names.join(" < "))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
