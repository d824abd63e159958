//! The evaluation of a file over one dump.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use super::plan::{PlannedDump, PlannedFile};
use super::results::{CheckedDump, CheckedLine, cleaned};
use super::settings::{arguments, global_words, words};
use crate::arch::Targets;
use crate::capture::Problem;
use crate::check::{self, Outcome, Subject, Verdict};
use crate::clean::clean;
use crate::cli::dump;
use crate::cli::{Failure, Globals, output_file, shell, steps};
use crate::postmortem;
use crate::session::{Dump, DumpFacts as _, Inspect, Session};
use crate::signature::Rules;
use crate::triage::Step;

/// The options of all dumps.
pub(super) struct Setup<'a> {
    pub(super) globals: &'a Globals,
    pub(super) rules: &'a Rules,
    pub(super) targets: &'a Targets,
}

/// Evaluates the expectations of a file over a dump. An error is a result.
pub(super) fn run(file: &PlannedFile, dump: &PlannedDump, setup: &Setup<'_>) -> CheckedDump {
    let checked = CheckedDump { dump: dump.name.clone(), ..CheckedDump::default() };
    if let Some(error) = file.errors.first() {
        // The file had no errors when the run began.
        let error = Some(format!("the file of expectations changed: {}", error.problem));
        return CheckedDump { error, ..checked };
    }
    match evaluate(file, dump, setup) {
        Ok(found) => CheckedDump { dump: checked.dump, ..found },
        Err(error) => CheckedDump { error: Some(dump::error_of(&dump.path, &error)), ..checked },
    }
}

fn evaluate(file: &PlannedFile, dump: &PlannedDump, setup: &Setup<'_>) -> Result<CheckedDump, Failure> {
    let Setup { globals, rules, targets, .. } = *setup;
    let words = words(&file.path, &file.scope);
    let args = arguments(&words, dump, globals)?;
    let opened = dump::open_quietly(&args, targets)?;
    let sessions = dump::sessions(&opened, args.kind.as_deref())?;
    let subject = Subject { rules: rules.clone(), ..subject(&dump.name, &sessions, &opened) };
    let outcomes = check::evaluate(&file.scope, &subject);
    let holds = outcomes.iter().all(|outcome| outcome.verdict == Verdict::Holds);
    let sentence = (!holds).then(|| dump::sentence(&sessions));
    let is_checked = |outcome: &Outcome| !matches!(outcome.verdict, Verdict::NotChecked(_));
    let problems = opened.problems();
    let problem = match outcomes.iter().all(is_checked) {
        // An option of the file that has no effect would be silent otherwise; `info` has no such option.
        true => options_without_effect(problems.iter().filter(|problem| problem.is_of_option())),
        false => problems.first().map(|first| {
            let words = std::iter::once(dump.path.as_os_str()).chain(words.iter().map(OsString::as_os_str));
            let typed: String = words.map(|word| format!(" {}", shell::word_of(word))).collect();
            problem(first, problems.len().saturating_sub(1), &typed)
        }),
    };
    let lines = outcomes.into_iter().map(|mut outcome| {
        let line = outcome.line.checked_sub(1).and_then(|index| file.scope.lines.get(index));
        let (text, columns) = cleaned(line.map_or("", |line| &line.text), outcome.columns);
        outcome.columns = columns;
        CheckedLine { text, outcome }
    });
    let mut error = sessions.first().and_then(|session| session.changed_file());
    let mut report = None;
    if let Some(path) = dump.report.as_deref().filter(|_| !holds) {
        let typed = [words, global_words(globals)].concat();
        match write_report(path, (file, dump), &typed, &opened, &subject) {
            Ok(()) => report = Some(clean(path.to_string_lossy()).to_string()),
            Err(failure) => error = error.or(Some(failure.to_string())),
        }
    }
    let lines = lines.collect();
    Ok(CheckedDump { sentence, problem, error, report, lines, ..CheckedDump::default() })
}

/// The first problem of a dump, and the number of further ones; `typed`: the words of the dump.
fn problem(first: &Problem, further: usize, typed: &str) -> String {
    let more = match further {
        0 => String::new(),
        _ => format!(" (`lanescope info{typed}` lists {further} more)"),
    };
    format!("problem of the dump: {first}{more}")
}

/// Maximum number of options without effect that a note names.
const MAX_OPTIONS: usize = 8;

/// The problems of options; `None`: there is none.
fn options_without_effect<'p>(problems: impl Iterator<Item = &'p Problem>) -> Option<String> {
    let all: Vec<String> = problems.map(ToString::to_string).collect();
    let mut named = all.iter().take(MAX_OPTIONS).cloned().collect::<Vec<_>>();
    if all.len() > named.len() {
        named.push(format!("{} more", all.len() - named.len()));
    }
    (!all.is_empty()).then(|| format!("problem of the dump: {}", named.join("; ")))
}

/// Writes the report of a dump.
fn write_report(
    path: &Path,
    (file, dump): (&PlannedFile, &PlannedDump),
    options: &[OsString],
    opened: &Arc<Dump>,
    subject: &Subject<'_>,
) -> Result<(), Failure> {
    // The report leaves the machine: files have their names alone.
    let words = std::iter::once(dump.path.as_os_str()).chain(options.iter().map(OsString::as_os_str));
    let typed: String = words.map(|word| format!(" {}", steps::name_word(word))).collect();
    let command = |step: &Step| steps::command(step, &typed);
    let options = postmortem::Options::default();
    let model = postmortem::model(opened, &subject.sessions, options, &subject.rules, &command);
    let html = postmortem::html::html(&model)?;
    output_file::write(path, &[&file.path, &dump.path], |out| Ok(out.write_all(html.as_bytes())?))
}

/// A dump with its sessions.
pub(super) fn subject<'a>(name: &str, sessions: &'a [Session], dump: &Arc<Dump>) -> Subject<'a> {
    Subject {
        name: name.to_owned(),
        sessions: sessions.iter().map(|session| -> &dyn Inspect { session }).collect(),
        dump: Arc::clone(dump),
        rules: Rules::default(),
    }
}
