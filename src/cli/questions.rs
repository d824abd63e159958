//! The table of questions as subcommands: `lanescope NAME DUMP [--wave IDS] [--work-item X,Y,Z] [OPTIONS] [--json]`.
//!
//! A question about one wave is answered for each wave of `--wave 1-3,7`, one after the other, in JSON as `answers`.
//! Questions about all waves are answered for those waves alone. Waves of different kinds are answered kind by kind.

use std::cell::Cell;
use std::io::Write;
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser as _, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command as Subcommand, FromArgMatches as _};
use serde::{Serialize, Serializer};

use super::dump::{self, Waves};
use super::eval::EvalError;
use super::value::whole;
use super::{DumpArgs, Failure, WaveArgs, print_json, standard_error, steps, warnings};
use crate::arch::Targets;
use crate::questions::{
    Answer, ArgumentError, Arguments, Asked, Body, Focus, Form, Lanes, Numbering, Parameter, QUESTIONS,
    Question, QuestionError, Subject, Takes, Value, WHOLE_LINES, Words,
};
use crate::report::schema::{self, Document, Schema, Streamed};
use crate::report::{Style, evaluation, text};
use crate::session::{Dump, Inspect, Member, Session, Storage as _, Waves as _};
use crate::triage::Step;
use crate::units::WaveId;

/// The question whose answer is a page, folded already.
const PAGE: &str = "triage";

/// The switch for whole lines. Some questions have it as a parameter of their own.
const FULL: &str = "full";

/// Questions for a value. Waves may lack it, in another function for example: the exit status is 0 if one has it.
const FOR_A_VALUE: [&str; 4] = ["print", "explain", "memory", "disassemble"];

/// Maximum bytes of memory in an answer.
const MAX_BYTES: u64 = 1 << 24;

/// The subcommands.
pub(super) fn commands() -> impl Iterator<Item = Subcommand> {
    QUESTIONS.iter().map(|question| {
        let mut command = DumpArgs::augment_args(Subcommand::new(question.name));
        for parameter in options(question) {
            command = command.arg(argument(question, parameter));
        }
        if has_waves(question) {
            command = WaveArgs::augment_args(command);
        }
        if question.name != PAGE && !options(question).any(|parameter| parameter.name == FULL) {
            command = command.arg(Arg::new(FULL).long(FULL).action(ArgAction::SetTrue).help(WHOLE_LINES));
        }
        let json = Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON");
        // Groups of options bring their own text along.
        command = command.arg(json).about(question.summary.trim_end_matches('.')).long_about(None);
        if question.name == "eval" { super::eval::with_cases(command) } else { command }
    })
}

fn has_waves(question: &Question) -> bool {
    question.subject != Subject::Dump
}

fn options(question: &Question) -> impl Iterator<Item = &'static Parameter> + use<> {
    question.parameters.iter().filter(|parameter| parameter.is_option)
}

/// An option, or for the rest of a typed line the argument after the dump.
fn argument(question: &Question, parameter: &'static Parameter) -> Arg {
    let excludes = options(question).filter(|other| parameter.excludes.contains(&other.name));
    let mut argument = Arg::new(parameter.name)
        .help(parameter.help)
        .conflicts_with_all(excludes.map(|other| other.name).collect::<Vec<_>>());
    if parameter.words != Words::Rest {
        argument = argument.long(parameter.name);
    }
    if let Some(short) = parameter.short {
        argument = argument.short(short);
    }
    if parameter.takes == Takes::Lanes && has_waves(question) {
        argument = argument.conflicts_with("work_item");
    }
    if parameter.takes == Takes::Flag {
        return argument.action(ArgAction::SetTrue);
    }
    if parameter.takes == Takes::Names {
        argument = argument.action(ArgAction::Append).value_delimiter(',');
    }
    // Other front ends have another form of these.
    let is_alone = !parameter.is_key && parameter.words == Words::Absent;
    argument
        .value_name(parameter.shown)
        .required(parameter.is_needed && is_alone)
        .value_parser(parser(parameter))
}

/// The parser of a value. Lanes are parsed later: a wave has to have them.
fn parser(parameter: &'static Parameter) -> ValueParser {
    let typed = move |text: &str| parameter.typed(text);
    match parameter.takes {
        Takes::Lanes => ValueParser::new(|text: &str| Ok::<_, ArgumentError>(Value::Text(text.to_owned()))),
        Takes::Choice(names) => PossibleValuesParser::new(names).map(Value::Text).into(),
        Takes::Count => {
            let count = whole::<u32>(1);
            ValueParser::new(move |text: &str| count(text).map(|count| Value::Number(u64::from(count))))
        }
        _ => ValueParser::new(typed),
    }
}

/// Runs a subcommand; returns the exit status.
pub(super) fn run(
    question: &'static Question,
    matches: &ArgMatches,
    globals: super::Globals,
    targets: &Targets,
    out: &mut dyn Write,
) -> Result<u8, Failure> {
    let mut from = DumpArgs::from_arg_matches(matches)?;
    (from.debug_dirs, from.is_verbose) = (globals.debug_dirs, globals.verbose);
    let chosen = if has_waves(question) { Some(WaveArgs::from_arg_matches(matches)?) } else { None };
    let mut arguments = arguments(question, matches)?;
    let only = rest(question, &mut arguments, &mut from)?;
    // The argument before the expression is no dump.
    let typed = if from.dump.is_some() { globals.typed } else { String::new() };
    from.typed.clone_from(&typed);
    if question.name == "eval"
        && let Some(dialect) = from.dialect
    {
        arguments.add(&DIALECT, Value::Text(dialect.name().to_owned()))?;
    }
    let is_json = matches.get_flag("json");
    let is_full = question.name != PAGE && matches.get_flag(FULL);
    let style = if is_full { Style::Whole } else { Style::Coloured };
    let command = Run { question, arguments, is_json, style, ids: Ids { typed } };
    let status = command.run(&from, chosen, targets, out);
    if let Some(only) = only.filter(|_| !matches!(status, Ok(0))) {
        out.flush()?;
        let (name, shown) = (question.name, rest_of(question).map_or("", |rest| rest.shown));
        standard_error::message(&format!(
            "note: `{only}` is the only argument, and so a {} in the embedded demo; with a dump: lanescope {name} DUMP {shown}",
            shown.to_lowercase()
        ))?;
    }
    status
}

/// The dialect of an expression: an option of every command.
const DIALECT: Parameter = Parameter::new("dialect", Takes::Word, "DIALECT");

fn arguments(question: &Question, matches: &ArgMatches) -> Result<Arguments, Failure> {
    let mut arguments = Arguments::default();
    for parameter in options(question) {
        if parameter.takes == Takes::Flag {
            if matches.get_flag(parameter.name) {
                arguments.add(parameter, Value::Set)?;
            }
            continue;
        }
        for value in matches.get_many::<Value>(parameter.name).into_iter().flatten() {
            let value = match (parameter.takes, value) {
                (Takes::Lanes, Value::Text(text)) => {
                    Value::Lanes(Lanes::typed(text).map_err(|error| format!("--lane: {error}"))?)
                }
                (_, value) => value.clone(),
            };
            arguments.add(parameter, value)?;
        }
    }
    Ok(arguments)
}

fn rest_of(question: &Question) -> Option<&'static Parameter> {
    question.parameters.iter().find(|parameter| parameter.words == Words::Rest)
}

/// Takes a single argument for the path or the expression, in the demo. Returns it if it may be the name of a file.
fn rest(
    question: &Question,
    arguments: &mut Arguments,
    from: &mut DumpArgs,
) -> Result<Option<String>, Failure> {
    let Some(parameter) = rest_of(question).filter(|rest| !arguments.has(rest.name)) else { return Ok(None) };
    if arguments.has("bytes") {
        return Ok(None);
    }
    let (name, rest) = (question.name, parameter.name);
    let missing = |dump: &str| {
        let words =
            format!("what to {name}? the {rest} is missing: lanescope {name} {dump} {}", parameter.shown);
        if name == "eval" { EvalError::Expression(words).into() } else { Failure::from(words) }
    };
    let only = from.dump.take().ok_or_else(|| missing("DUMP"))?;
    if only.is_file() || only.is_dir() {
        return Err(missing(&only.to_string_lossy()));
    }
    let text = only.to_str().ok_or_else(|| format!("the {rest} is not UTF-8"))?.to_owned();
    arguments.add(parameter, Value::Text(text.clone()))?;
    let is_name = text.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
    Ok((is_name && text.contains(['.', '/'])).then_some(text))
}

/// A question of the command line.
struct Run {
    question: &'static Question,
    arguments: Arguments,
    is_json: bool,
    style: Style,
    ids: Ids,
}

impl Run {
    fn run(
        &self,
        from: &DumpArgs,
        chosen: Option<WaveArgs>,
        targets: &Targets,
        out: &mut dyn Write,
    ) -> Result<u8, Failure> {
        let chosen = chosen.unwrap_or_default();
        chosen.check()?;
        if !self.is_page() {
            return self.about(&dump::open(from, targets)?, from, chosen, out);
        }
        let dump = dump::open_quietly(from, targets)?;
        let status = self.about(&dump, from, chosen, out);
        // Below the sentence, which a long list would hide.
        out.flush()?;
        warnings::list(dump.problems(), &from.typed, from.is_verbose)?;
        status
    }

    fn about(
        &self,
        dump: &Arc<Dump>,
        from: &DumpArgs,
        chosen: WaveArgs,
        out: &mut dyn Write,
    ) -> Result<u8, Failure> {
        let kind = from.kind.as_deref();
        let (ids, are_several, at) = (chosen.ids(dump, kind)?, chosen.are_several()?, chosen.at);
        let is_chosen = ids.is_some() || at.place()?.is_some();
        let waves = Waves { dump, kind, ids: ids.as_deref(), at: &at };
        if !self.question.is_about_wave(&self.arguments)
            || (self.question.subject != Subject::Wave && !is_chosen)
        {
            let sessions = waves.by_kind()?;
            return self.of_dump(dump, (kind, is_chosen), &sessions, out);
        }
        let (sessions, focused) = waves.focused()?;
        let asked: Vec<(&Session, Focus)> =
            focused.iter().filter_map(|(index, focus)| Some((sessions.get(*index)?, *focus))).collect();
        match (asked.as_slice(), are_several) {
            ([(session, focus)], false) => self.of_wave(session, *focus, out),
            (all, _) => self.of_waves(all, out),
        }
    }

    fn asked<'a>(&'a self, session: &'a Session, focus: Focus) -> Asked<'a> {
        session.next_question();
        Asked {
            sessions: vec![session],
            dump: None,
            is_chosen: true,
            focus: Some(focus),
            numbering: &self.ids,
            arguments: self.arguments.clone(),
            form: self.form(),
            limit: MAX_BYTES,
        }
    }

    /// Whether the text of the answer has the stop of the wave, and the doubts about its values.
    fn is_page(&self) -> bool {
        self.question.name == PAGE
    }

    fn form(&self) -> Form {
        if self.is_json { Form::Json } else { Form::Text(self.style) }
    }

    fn answer<'a>(&self, asked: &Asked<'a>) -> Result<Answer<'a>, QuestionError> {
        (self.question.answer)(asked)
    }

    /// The answer about the whole dump.
    fn of_dump(
        &self,
        dump: &Arc<Dump>,
        (kind, is_chosen): (Option<&str>, bool),
        sessions: &[Session],
        out: &mut dyn Write,
    ) -> Result<u8, Failure> {
        let asked = Asked {
            sessions: sessions.iter().map(|session| -> &dyn Inspect { session }).collect(),
            dump: Some(dump),
            is_chosen,
            focus: None,
            numbering: &self.ids,
            arguments: self.arguments.clone(),
            form: self.form(),
            limit: MAX_BYTES,
        };
        let answer = (self.question.answer)(&asked).map_err(|error| match error {
            // The session's error names the dump.
            QuestionError::NoWaves => Session::new(Arc::clone(dump), kind)
                .map_or_else(Failure::from, |_| Failure::from(QuestionError::NoWaves)),
            error => failure(error),
        })?;
        self.print(&answer.body, out)?;
        Ok(u8::from(answer.is_truncated))
    }

    /// The answer about one wave.
    fn of_wave(&self, session: &Session, focus: Focus, out: &mut dyn Write) -> Result<u8, Failure> {
        let answer = self.answer(&self.asked(session, focus)).map_err(failure)?;
        if !self.is_json && !self.is_page() {
            let mark = text::mark(session, focus.wave, self.style);
            out.write_all(self.style.folded(&mark).as_bytes())?;
        }
        self.print(&answer.body, out)?;
        Ok(u8::from(answer.is_without_value | answer.is_truncated))
    }

    /// The answers about several waves, each below the name of its wave; a wave without an answer has the reason.
    fn of_waves(&self, waves: &[(&Session, Focus)], out: &mut dyn Write) -> Result<u8, Failure> {
        let count = Count::default();
        if self.is_json {
            let each =
                || waves.iter().map(|(session, focus)| One { run: self, session, focus, count: &count });
            print_json(out, &Document::new(Answers { answers: Streamed(each) }))?;
            return Ok(self.status(&count));
        }
        for (index, (session, focus)) in waves.iter().enumerate() {
            let info = session.wave(focus.wave)?;
            let gap = if index > 0 { "\n" } else { "" };
            let heading = match self.is_page() {
                true => info.name,
                false => format!("{}: {}", info.name, info.cause),
            };
            writeln!(out, "{gap}{}", self.style.heading(&self.style.folded(&heading)))?;
            match self.of_wave(session, *focus, out) {
                Ok(status) => count.add(status == 0),
                Err(error) if error.is::<std::io::Error>() => return Err(error),
                Err(error) => {
                    count.add(false);
                    writeln!(out, "{}", self.style.alarm(&self.style.folded(&error.to_string())))?;
                }
            }
        }
        Ok(self.status(&count))
    }

    /// The exit status of several waves.
    fn status(&self, count: &Count) -> u8 {
        let is_answered = match FOR_A_VALUE.contains(&self.question.name) {
            true => count.answered.get() > 0,
            false => count.failed.get() == 0,
        };
        u8::from(!is_answered)
    }

    fn print(&self, body: &Body<'_>, out: &mut dyn Write) -> Result<(), Failure> {
        match body {
            // Commands to copy stay whole.
            Body::Text(text) if self.is_page() => Ok(out.write_all(text.as_bytes())?),
            Body::Text(text) => Ok(out.write_all(self.style.folded(text).as_bytes())?),
            json => print_json(out, json),
        }
    }
}

/// The answers about several waves.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Answers<L> {
    /// The answer about each wave, or a `lanescope.error`; each has its own schema.
    pub(super) answers: L,
}

impl<L: Serialize> Schema for Answers<L> {
    const NAME: &'static str = "answers";
}

/// Numbers of waves.
#[derive(Debug, Default)]
struct Count {
    answered: Cell<usize>,
    /// Without an answer, or without a value in any lane.
    failed: Cell<usize>,
}

impl Count {
    fn add(&self, is_answered: bool) {
        let of = if is_answered { &self.answered } else { &self.failed };
        of.set(of.get() + 1);
    }
}

/// The answer about one of several waves; asked while it is written.
struct One<'a> {
    run: &'a Run,
    session: &'a Session,
    focus: &'a Focus,
    count: &'a Count,
}

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.run.answer(&self.run.asked(self.session, *self.focus)) {
            Ok(answer) => {
                self.count.add(!(answer.is_without_value || answer.is_truncated));
                answer.body.serialize(serializer)
            }
            Err(error) => {
                self.count.add(false);
                let wave = self.session.wave(self.focus.wave).ok().map(|info| info.id);
                let thread = Some(self.run.ids.thread(self.focus));
                Document::new(schema::Error { wave, thread, ..error.json() }).serialize(serializer)
            }
        }
    }
}

/// The error of the command line. A malformed expression has an exit status of its own.
fn failure(error: QuestionError) -> Failure {
    match error {
        QuestionError::Expression { text, error } => {
            EvalError::Expression(evaluation::misread(&text, &error)).into()
        }
        QuestionError::NoExpression | QuestionError::Evaluate(_) => {
            EvalError::Expression(error.to_string()).into()
        }
        QuestionError::SeveralLanes => "--lane takes one lane here".into(),
        QuestionError::UnknownDispatch => format!("{error}; leave --wave out for all dispatches").into(),
        error => error.into(),
    }
}

/// Waves by their ids in the dump; threads as a client counts waves.
struct Ids {
    /// The words of the dump and its options.
    typed: String,
}

impl Numbering for Ids {
    fn thread(&self, focus: &Focus) -> u64 {
        u64::from(focus.wave.0) + 1
    }

    fn threads(&self, wave: WaveId) -> Option<(u64, u64)> {
        let number = u64::from(wave.0) + 1;
        Some((number, number))
    }

    fn are_lanes(&self) -> bool {
        false
    }

    fn members(&self, member: &Member) -> Vec<u64> {
        vec![u64::from(member.wave.0) + 1]
    }

    fn wave(&self, member: &Member) -> u64 {
        u64::from(member.id)
    }

    fn noun(&self) -> &'static str {
        "wave"
    }

    fn listed(&self, _: WaveId) -> Option<String> {
        None
    }

    fn command(&self, step: &Step) -> Option<String> {
        steps::command(step, &self.typed)
    }
}
