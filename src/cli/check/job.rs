//! The evaluation of a file over one dump.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use clap::{Args as _, Command as Options, FromArgMatches as _};

use super::debugger::{self, Debugger, Served};
use super::plan::{PlannedDump, PlannedFile};
use super::results::{CheckedDump, CheckedLine, cleaned};
use crate::arch::Targets;
use crate::check::{self, Content, ScopeFile, Setting, Subject, Verdict};
use crate::clean::{clean, clean_lines};
use crate::cli::dump::{self, DumpArgs};
use crate::cli::{Failure, Globals, output_file, steps};
use crate::disassembler::Disassembler;
use crate::postmortem;
use crate::session::{Dump, DumpFacts as _, Inspect, Session, Waves as _};
use crate::signature::Rules;
use crate::triage::Step;

/// The options of all dumps.
pub(super) struct Setup<'a> {
    pub(super) globals: &'a Globals,
    pub(super) debugger: Option<&'a Debugger>,
    pub(super) rules: &'a Rules,
    pub(super) targets: &'a Targets,
    /// Dumps of one program need its instructions once.
    pub(super) tools: Arc<Disassembler>,
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
        Err(error) => {
            let error = clean_lines(error.to_string()).to_string();
            // Each form of the results has the dump's name before its error.
            let own = format!("{}: ", clean(dump.path.to_string_lossy()));
            CheckedDump { error: Some(error.strip_prefix(&own).unwrap_or(&error).to_owned()), ..checked }
        }
    }
}

fn evaluate(file: &PlannedFile, dump: &PlannedDump, setup: &Setup<'_>) -> Result<CheckedDump, Failure> {
    let Setup { globals, debugger, rules, targets, .. } = *setup;
    let words = words(file);
    let tools = Some(Arc::clone(&setup.tools));
    let args = DumpArgs { tools, ..arguments(&words, dump, globals)? };
    let opened = dump::open_quietly(&args, targets)?;
    let sessions = dump::sessions(&opened, args.kind.as_deref())?;
    let subject = Subject { rules: rules.clone(), ..subject(&dump.name, &sessions, &opened) };
    let mut outcomes = check::evaluate(&file.scope, &subject);
    let opinion = debugger.map(|debugger| {
        let kinds: Vec<String> = sessions.iter().map(|session| dump::kind_name(&session.kind())).collect();
        let is_mixed = kinds.len() > 1;
        let served = Served {
            options: &[words.as_slice(), &global_words(globals)].concat(),
            dump: &dump.path,
            kinds: kinds.into_iter().map(|kind| is_mixed.then_some(kind)).collect(),
        };
        debugger::second(debugger, &file.scope, &subject, &served, &mut outcomes)
    });
    let opinion = opinion.transpose()?;
    let holds = outcomes.iter().all(|outcome| outcome.verdict == Verdict::Holds);
    let sentence = (!holds).then(|| dump::sentence(&sessions));
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
    Ok(CheckedDump { dump: String::new(), sentence, error, report, opinion, lines: lines.collect() })
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

fn options() -> Options {
    Globals::augment_args(DumpArgs::augment_args(Options::new("check").no_binary_name(true)))
}

/// The words of the options of all commands.
fn global_words(globals: &Globals) -> Vec<OsString> {
    let folders = globals.debug_dirs.iter().map(|folder| ("--debug-dir", folder));
    let one = [
        ("--targets", &globals.targets),
        ("--draft", &globals.draft),
        ("--disassembler", &globals.disassembler),
    ];
    let one = one.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    folders.chain(one).flat_map(|(name, value)| [name.into(), value.into()]).collect()
}

/// The words of the options that a file sets; files are relative to its folder.
fn words(file: &PlannedFile) -> Vec<OsString> {
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let options = options();
    let mut words = Vec::new();
    for setting in settings(&file.scope) {
        words.push(format!("--{}", setting.name).into());
        let known = options.get_arguments().find(|argument| argument.get_long() == Some(&setting.name));
        let names_file = known.and_then(|argument| argument.get_value_names()).is_some_and(|names| {
            names.iter().any(|name| name.starts_with("FILE") || name.starts_with("DIR"))
        });
        words.extend(setting.value.as_ref().map(|value| match names_file {
            true => folder.join(value).into_os_string(),
            false => value.into(),
        }));
    }
    words
}

/// The options of a file, over those of the command.
fn arguments(words: &[OsString], dump: &PlannedDump, globals: &Globals) -> Result<DumpArgs, Failure> {
    let matches = options().try_get_matches_from(words).map_err(|error| error.to_string())?;
    let mut args = DumpArgs::from_arg_matches(&matches)?;
    let own = Globals::from_arg_matches(&matches)?;
    args.dump = Some(dump.path.clone());
    args.debug_dirs = own.debug_dirs.into_iter().chain(globals.debug_dirs.iter().cloned()).collect();
    Ok(args)
}

fn settings(scope: &ScopeFile) -> impl Iterator<Item = &Setting> {
    scope.lines.iter().filter_map(|line| match &line.content {
        Content::Setting(setting) => Some(setting),
        _ => None,
    })
}
