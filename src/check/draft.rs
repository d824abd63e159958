//! Drafts of files: statements with placeholders, whose right sides are those of the dump.

use super::bless::bless;
use super::evaluate::{Subject, evaluate};
use super::file::{Content, Line, ScopeFile, Setting};
use super::format::{file_name, format};
use super::outcome::Verdict;
use super::syntax::{is_keyword, line, parse};
use crate::debuginfo::{short_name, source_name};
use crate::session::{Group, GroupBy, Grouping, Inspect, Scope, StopCounts, Variable};
use crate::signature::unknown_waves;
use crate::triage::{self, AccessFrame, Question, Suspect, Triage};
use crate::units::{LaneSet, WaveId};

/// Maximum number of variables.
const MAX_VARIABLES: usize = 16;
/// Maximum number of places of waves.
const MAX_PLACES: usize = 16;
/// Maximum length of a line.
const MAX_TEXT: usize = 100;
/// Integers from here on may be addresses.
const ADDRESSES: u64 = 1 << 40;

/// The first lines of a file.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The dump, relative to the file.
    pub dump: String,
    /// The options that the dump needs.
    pub settings: Vec<Setting>,
    /// Further comments, each a line with its `#`.
    pub comments: Vec<String>,
}

/// Placeholders of a place.
const PLACES: [&str; 3] = ["at ? ?.x:1", "at ?", "at ?.x:1"];

/// The reason that a file cannot have a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` has quotes and spaces, or invisible characters: rename the file")]
pub struct NameError(pub String);

/// The reason that there is no draft.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// A name in the head has no notation.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The dump decides no line. Its waves are unknown, for that reason.
    #[error("nothing to expect of this dump: {0}")]
    Nothing(String),
}

/// Drafts a file about a dump: the fault, its place and access, counts of waves, and the variables of the faulting line;
/// of faults at several places, and without a fault, the places of waves. All lines hold. None has an address, an id or
/// the number of a wave.
///
/// # Errors
/// [`DraftError`]: a name in the head has no notation, or no line holds.
pub fn draft(head: &Head, subject: &Subject<'_>) -> Result<String, DraftError> {
    let mut file = ScopeFile::default();
    let comment = "# Drafted by `lanescope check --new`: delete the lines that may change.";
    file.lines.extend(line(comment, false));
    let unknown = unknown_waves(&subject.dump, &subject.sessions);
    let lacks = subject.dump.stop_counts();
    let reasons: &[&str] = if !subject.dump.absent_waves().is_empty() {
        &[
            "# Waves are absent from the dump: `lanescope signature` has the reasons.",
            "# A line about all waves is left out, unless the known ones decide it.",
        ]
    } else if !subject.dump.absent_running_waves().is_empty() {
        &[
            "# Waves without a fault are absent from the dump: `lanescope slim` left them out.",
            "# A line about all waves is left out, unless the known ones decide it.",
        ]
    } else if lacks.left_out > 0 {
        &[
            "# `lanescope slim` left out waves that others stand for: the dump has their number alone.",
            "# Lines about places and values are about the waves of the dump.",
        ]
    } else if unknown.is_empty() {
        &[]
    } else {
        &[
            "# Stop reasons are absent from the dump: `lanescope signature` counts them.",
            "# A line about all faulted waves is left out, unless the known ones decide it.",
        ]
    };
    let comments = head.comments.iter().map(String::as_str).chain(reasons.iter().copied());
    file.lines.extend(comments.filter_map(|comment| line(comment, false)));
    file.lines.push(named("dump", &head.dump)?);
    for setting in &head.settings {
        file.lines.push(match &setting.value {
            Some(value) => named(&setting.name, value)?,
            None => named(&setting.name, "")?,
        });
    }
    let question = Question::default();
    subject.sessions.iter().for_each(|session| session.next_question());
    let found = triage::triage(&subject.sessions, &question);
    let mut slots = of_dump(subject, &found);
    slots.extend(match found.waves.faulted {
        0 => {
            let is_hang = found.hang.as_ref().is_some_and(|hang| hang.is_hang);
            of_places(places(subject, |_| true), is_hang.then_some("state sleeping"), &lacks)
        }
        _ => {
            let places = places(subject, |group| group.faulted);
            let (mut slots, blocks) = match places.len() {
                // Waves that left the code have their kernel alone.
                0 => (Vec::new(), kernels(subject)),
                // `at` and `stack` above have the only place.
                1 => (of_variables(subject, &found), Vec::new()),
                _ => (of_variables(subject, &found), places),
            };
            slots.extend(of_places(blocks, Some("stop breakpoint"), &lacks));
            slots
        }
    });
    let mut settled = settle(&slots, subject);
    for (slot, line) in slots.iter().zip(&mut settled) {
        let is_new_section =
            slot.is_first || matches!(line.as_ref().map(|line| &line.content), Some(Content::Wave(_)));
        if let Some(line) = line.take() {
            if is_new_section {
                file.lines.extend(self::line("", false));
            }
            file.lines.push(line);
        }
    }
    while matches!(file.lines.last().map(|line| &line.content), Some(Content::Wave(selector)) if *selector == super::file::Selector::Faulted)
    {
        file.lines.pop();
        file.lines.pop_if(|line| line.content == Content::Empty);
    }
    let is_claim =
        |line: &Line| !matches!(line.content, Content::Empty | Content::Dump(_) | Content::Setting(_));
    if !file.lines.iter().any(is_claim) {
        let why = unknown.into_iter().next().unwrap_or_else(|| "no line about it holds".to_owned());
        return Err(DraftError::Nothing(why));
    }
    Ok(format(&file))
}

/// `dump "my dump.zip"`
fn named(keyword: &str, name: &str) -> Result<Line, NameError> {
    let name_text = if name.is_empty() { String::new() } else { file_name(name) };
    let parsed = line(&format!("{keyword} {name_text}"), false);
    let is_same = |line: &Line| match &line.content {
        Content::Dump(names) => *names == [name],
        Content::Setting(setting) => {
            setting.name == keyword && setting.value.as_deref().unwrap_or_default() == name
        }
        _ => false,
    };
    parsed.filter(is_same).ok_or_else(|| NameError(name.to_owned()))
}

/// A line of the draft.
struct Slot {
    /// Statements with placeholders; the first one that the dump satisfies counts.
    alternatives: Vec<String>,
    /// Whether a blank line precedes it.
    is_first: bool,
}

impl Slot {
    fn of<const N: usize>(alternatives: [&str; N]) -> Self {
        Self { alternatives: alternatives.map(str::to_owned).to_vec(), is_first: false }
    }
}

/// Statements about the dump.
fn of_dump(subject: &Subject<'_>, found: &Triage) -> Vec<Slot> {
    // An access whose addresses are all good is not the cause.
    let access = found.suspects.first().filter(|suspect| !suspect.is_good());
    let mut slots = vec![Slot { is_first: true, ..Slot::of(["fault none"]) }];
    slots.extend(of_place(subject, access));
    // Lanes may be upper bounds.
    if let Some(suspect) = access {
        let mut slot = Slot::of([
            "access lane 0 atomic q poison",
            "access lane 0 atomic q",
            "access atomic q poison",
            "access atomic q",
            "access lane 0 atomic poison",
            "access lane 0 atomic",
            "access atomic poison",
            "access atomic",
        ]);
        slot.alternatives.retain(|text| !suspect.is_bound || !text.contains("lane"));
        slots.push(slot);
    }
    slots.push(Slot::of(["waves 0, faulted 0", "waves 0"]));
    // A small dump cannot decide it.
    slots.push(Slot::of(["stacks 0"]));
    if found.waves.faulted == 0 {
        slots.push(Slot::of(["hang none"]));
    }
    slots
}

/// Statements about the place of the fault. A late PC changes from run to run: they have no line and no inner call of it
/// that are not those of the access.
fn of_place(subject: &Subject<'_>, access: Option<&Suspect>) -> Vec<Slot> {
    let at_pc = || vec![Slot::of(PLACES), Slot::of(["stack ?"])];
    let session = access.and_then(|of| subject.sessions.iter().find(|session| session.has_wave(of.wave)));
    let Some((access, session)) = access.zip(session) else { return at_pc() };
    let stack = session.backtrace(access.wave, None).map(|stack| stack.frames).unwrap_or_default();
    match &access.frame {
        Some(of) if of.frame > 0 => {
            let outer = " < ?".repeat(stack.len().saturating_sub(of.frame));
            vec![Slot { alternatives: vec![format!("stack ...{outer}")], is_first: false }]
        }
        Some(of) if stack.first().is_none_or(|pc| (&pc.file, pc.line) != (&of.file, of.line)) => {
            vec![Slot::of(["at ?"]), Slot::of(["stack ?"])]
        }
        _ => at_pc(),
    }
}

/// The places of the groups of waves that `is_meant` selects, as `at` has them.
fn places(subject: &Subject<'_>, is_meant: impl Fn(&Group) -> bool) -> Vec<String> {
    let mut probes: Vec<Slot> = Vec::new();
    for session in &subject.sessions {
        session.next_question();
        let groups = session.groups(Grouping { by: GroupBy::Line, lanes: false });
        for group in groups.into_iter().flat_map(|groups| groups.groups).filter(&is_meant) {
            if let Some(first) = group.members.first().filter(|_| probes.len() < 2 * MAX_PLACES) {
                probes.push(Slot { alternatives: vec![format!("wave id {}", first.id)], is_first: false });
                probes.push(Slot::of(PLACES));
            }
        }
    }
    let mut places: Vec<String> = Vec::new();
    for place in settle(&probes, subject).into_iter().flatten() {
        let text = place.text.get(place.span.clone()).unwrap_or_default().to_owned();
        if matches!(place.content, Content::At(_)) && !places.contains(&text) {
            places.push(text);
        }
    }
    places
}

/// A block for each place, with a statement about its waves.
fn of_places(places: Vec<String>, statement: Option<&'static str>, lacks: &StopCounts) -> Vec<Slot> {
    // Waves that a small dump lacks may be at the place. It has each stack, if the user did not choose the waves.
    let statement = statement.filter(|_| lacks.left_out == 0 && !lacks.lacks_waves);
    let block = |place: String| {
        let head = Slot { alternatives: vec![format!("wave {place}")], is_first: false };
        let statement = statement.map(|statement| Slot::of([statement]));
        let stack = (!lacks.lacks_waves).then(|| Slot::of(["stack ?"]));
        [Some(head), statement, stack].into_iter().flatten()
    };
    places.into_iter().flat_map(block).collect()
}

/// The kernels of the faulted waves, as `wave` has them.
fn kernels(subject: &Subject<'_>) -> Vec<String> {
    let mut kernels: Vec<String> = Vec::new();
    for session in &subject.sessions {
        let waves = session.waves();
        let infos = waves.iter().filter_map(|wave| session.wave(*wave).ok());
        let faulted = infos.filter(|info| info.has_faulted() == Some(true));
        for name in faulted.filter_map(|info| info.kernel) {
            let name = format!("kernel {}", short_name(source_name(name.trim_end_matches(".kd")).as_str()));
            if !kernels.contains(&name) && kernels.len() < MAX_PLACES {
                kernels.push(name);
            }
        }
    }
    kernels
}

/// A block about the faulted waves: the access, and the variables of the line.
fn of_variables(subject: &Subject<'_>, found: &Triage) -> Vec<Slot> {
    let mut slots = vec![Slot::of(["wave faulted"])];
    let wave = found.suspects.first().map(|suspect| suspect.wave).or(found.waves.chosen);
    let session =
        wave.and_then(|wave| subject.sessions.iter().copied().find(|session| session.has_wave(wave)));
    let Some((wave, session)) = wave.zip(session) else { return slots };
    let suspect = found.suspects.first();
    // Of several waves each has its own lane of the fault.
    let lane = suspect.and_then(|suspect| suspect.lanes.first()).filter(|_| found.waves.faulted == 1);
    let frame = suspect.and_then(|suspect| suspect.frame.as_ref());
    let frame_text = frame.filter(|of| of.frame > 0).map(|of| format!("frame {} ", of.frame));
    let lane_text = lane.map(|lane| format!("lane {lane} "));
    let on: String = [frame_text, lane_text].into_iter().flatten().collect();
    let term = suspect.and_then(|suspect: &Suspect| suspect.term.as_ref());
    if let Some(term) = term {
        slots.push(Slot {
            alternatives: vec![format!("{on}{} is available", term.expression)],
            is_first: false,
        });
    }
    let mut names: Vec<String> = Vec::new();
    if let Some(term) = term {
        names.extend(term.equal.iter().chain(&term.bounds).map(|variable| variable.name.clone()));
    }
    let lanes = lane.map_or(LaneSet::one(session.focus(wave)), LaneSet::one);
    names.extend(of_line(session, wave, lanes, frame, term.is_none()));
    names.extend(term.map(|term| term.pointer.name.clone()));
    let mut known: Vec<String> = Vec::new();
    for name in names {
        if !known.contains(&name) && known.len() < MAX_VARIABLES {
            let path = if is_keyword(&name) { format!("({name})") } else { name.clone() };
            let of = |right: &str| format!("{on}{path} == {right}");
            slots.push(Slot { alternatives: vec![of("0"), of("\"\""), of("{}")], is_first: false });
            known.push(name);
        }
    }
    slots
}

/// The names of variables that the line of the access has, else that of frame 0; without its text all small variables, if
/// `wants_all`.
fn of_line(
    session: &dyn Inspect,
    wave: WaveId,
    lanes: LaneSet,
    access: Option<&AccessFrame>,
    wants_all: bool,
) -> Vec<String> {
    session.next_question();
    let Ok(locals) = session.locals(wave, lanes, access.map_or(0, |of| of.frame)) else { return Vec::new() };
    let (file, line) = access.map_or((&locals.file, locals.line), |of| (&of.file, of.line));
    let text = file.as_deref().zip(line).and_then(|(file, line)| session.source_line(file, line));
    // A local that is declared here or below has no value yet.
    let is_later = |variable: &Variable| variable.scope == Scope::Local && variable.line >= line;
    // The inner variable of a name hides the others.
    let variables = locals.variables.into_iter().rev().filter(|variable| !is_later(variable));
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    match text {
        Some(text) => {
            let words: Vec<&str> = text.split(|c| !is_name(c)).collect();
            variables.map(|variable| variable.name).filter(|name| words.contains(&name.as_str())).collect()
        }
        None if wants_all => {
            let is_small = |size: Option<u64>| size.is_some_and(|size| size <= 8);
            variables.filter(|variable| is_small(variable.size)).map(|variable| variable.name).collect()
        }
        None => Vec::new(),
    }
}

/// The lines with the values of the dump, one for each slot; `None`: the dump satisfies none of its alternatives.
fn settle(slots: &[Slot], subject: &Subject<'_>) -> Vec<Option<Line>> {
    let mut file = ScopeFile::default();
    let mut slot_of = Vec::new();
    let mut is_block = false;
    for (index, slot) in slots.iter().enumerate() {
        for text in &slot.alternatives {
            if let Some(line) = line(text, is_block) {
                is_block |= matches!(line.content, Content::Wave(_));
                file.lines.push(line);
                slot_of.push(index);
            }
        }
    }
    let text: String = file.lines.iter().map(|line| format!("{}\n", line.text)).collect();
    let blessing = bless(&text, &file, &[&evaluate(&file, subject)]);
    let mut settled: Vec<Option<Line>> = slots.iter().map(|_| None).collect();
    let Ok(blessed) = parse(&blessing.text) else { return settled };
    for outcome in evaluate(&blessed, subject) {
        let index = outcome.line.saturating_sub(1);
        let (Some(line), Some(slot)) = (blessed.lines.get(index), slot_of.get(index)) else { continue };
        let place = settled.get_mut(*slot).filter(|place| place.is_none());
        if let Some(place) = place.filter(|_| outcome.verdict == Verdict::Holds && is_portable(line)) {
            *place = Some(line.clone());
        }
    }
    settled
}

/// Whether a line has no address and is short.
fn is_portable(line: &Line) -> bool {
    let Content::Value(value) = &line.content else { return line.text.len() <= MAX_TEXT * 4 };
    let right = line.text.get(value.right_span.clone()).unwrap_or_default();
    let mut numbers =
        right.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
    line.text.len() <= MAX_TEXT && !right.contains("0x") && numbers.all(|number| number < ADDRESSES)
}
