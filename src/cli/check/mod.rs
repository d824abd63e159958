//! `lanescope check FILE.scope|DIR...`: compares dumps with expectations (docs/check.md).
//!
//! `plan` finds files and dumps, `workers` runs each `job` in a process of its own: it opens a dump and evaluates a file
//! over it. `formats` prints the results.
//!
//! `draft` prints the first version of a file; `bless` and `fmt` rewrite files.
//!
//! Exit status: 0 if all expectations hold; 1 if one differs; 2 if one cannot be checked, or a file has an error.

mod bless;
mod draft;
mod edit;
mod fmt;
mod formats;
mod job;
mod plan;
mod relative;
mod results;
mod settings;
mod workers;

pub(super) use draft::settings as settings_of;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::choice::choice;
use super::dump::CaptureArgs;
use super::runner::{for_people, message_for_people};
use super::value::{ValueError, whole};
use super::{Failure, Globals, is_closed_pipe, printed, signature};
use crate::arch::Targets;
use formats::{Form, Output};
use job::Setup;
use plan::{PlannedDump, PlannedFile};
use results::CheckedFile;
pub(super) use results::Report;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files of expectations, or folders whose *.scope files count, also in folders below
    #[arg(value_name = "FILE|DIR", required_unless_present = "new")]
    paths: Vec<PathBuf>,
    /// Print the results as human, github, gitlab, junit, tap or json, into a file after `=`; may be repeated [default:
    /// human; on GitHub's runner also github, and a table in the job's summary]
    #[arg(long = "format", value_name = "NAME[=FILE]", value_parser = formats::output)]
    formats: Vec<Output>,
    /// Print JSON: the same as --format json
    #[arg(long, conflicts_with = "formats")]
    json: bool,
    /// Write a report of each dump with a result that does not hold into that folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Rules of signatures about functions: TOML with irrelevant, prefix, in_app and built_in
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fmt", "new"])]
    rules: Option<PathBuf>,
    /// Maximum seconds for a dump
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = whole::<u64>(1))]
    timeout: u64,
    /// Number of dumps that are checked at the same time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1))]
    jobs: Option<u16>,
    /// Check the dumps of one part of N: 1/3
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Print a draft of a file about a dump, with the options of the dump
    #[arg(long, value_name = "DUMP", conflicts_with_all = ["paths", "bless", "fmt", "formats", "json", "report", "shard"])]
    new: Option<PathBuf>,
    /// With --new: the file to write, which must not exist; its paths are relative to its folder [default: standard
    /// output, also -]
    #[arg(long, short, value_name = "FILE", requires = "new")]
    output: Option<PathBuf>,
    /// Replace the right sides of lines that differ with the values of the dumps, and print the changes; with `review`
    /// write FILE.new beside each file
    #[arg(long, value_name = "review", num_args = 0..=1, require_equals = true, default_missing_value = "write",
        value_parser = choice(BLESS), conflicts_with_all = ["fmt", "formats", "json", "report", "shard"])]
    bless: Option<Bless>,
    /// Format the files, and print the names of those that differed
    #[arg(long, conflicts_with_all = ["formats", "json", "report", "shard"])]
    fmt: bool,
    /// With --fmt: change no file
    #[arg(long, requires = "fmt")]
    check: bool,
    /// Options of the dump of `new`.
    #[command(flatten)]
    with: CaptureArgs,
    /// Answer the jobs of standard input.
    #[arg(long, hide = true)]
    worker: bool,
    /// Options of all commands.
    #[arg(skip)]
    pub(super) globals: Option<Globals>,
}

/// The effect of `--bless`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bless {
    /// The files change.
    Write,
    /// New files are written beside them.
    Review,
}

/// Values of `--bless`.
const BLESS: [(&str, Bless); 2] = [("write", Bless::Write), ("review", Bless::Review)];

/// A part of the dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    /// The part, from 1.
    part: usize,
    /// Number of parts.
    parts: usize,
}

/// `1/3`: the first of three parts.
fn shard(text: &str) -> Result<Shard, ValueError> {
    let wrong = || ValueError::Form("I/N, with I from 1 to N");
    let (part, parts) = text.split_once('/').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
    let shard = Shard { part: number(part)?, parts: number(parts)? };
    if (1..=shard.parts).contains(&shard.part) { Ok(shard) } else { Err(wrong()) }
}

/// The reason that nothing was checked. The exit status is 2: status 1 means a difference.
#[derive(Debug, thiserror::Error)]
#[error("{}", message_for_people(.0.to_string()))]
pub(super) struct CheckError(Failure);

/// Checks all files; returns the exit status.
///
/// # Errors
/// [`CheckError`], [`bless::RefusedError`], or an I/O error of the output.
pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, Failure> {
    status(args, targets, out).map_err(|error| {
        let is_own = is_closed_pipe(&*error) || error.is::<bless::RefusedError>();
        if is_own { error } else { CheckError(error).into() }
    })
}

fn status(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, Failure> {
    let globals = args.globals.clone().unwrap_or_default();
    if args.worker {
        let rules = signature::rules(args.rules.as_deref())?;
        workers::work(&Setup { globals: &globals, rules: &rules, targets }, out)?;
        return Ok(0);
    }
    if let Some(dump) = &args.new {
        draft::run(dump, args.output.as_deref(), (&args.with, &globals), targets, out)?;
        return Ok(0);
    }
    formats::distinct(&args.formats)?;
    // The names of the settings alone are used.
    let any = |_: &Path| Ok(String::new());
    if let Some(setting) = draft::settings(&args.with, &Globals::default(), &any)?.first() {
        let name = &setting.name;
        return Err(format!("--{name} goes with --new; write a line `{name}` into the file").into());
    }
    if args.fmt {
        return for_people(out, |out| fmt::run(&args.paths, args.check, out));
    }
    // Each worker reads the rules: an error in them is one error, and not one for each dump.
    signature::rules(args.rules.as_deref())?;
    let mut plan = plan::Plan::of(&args.paths, targets)?;
    // Parts name their reports as the whole does.
    if let Some(folder) = &args.report {
        std::fs::create_dir_all(folder).map_err(|error| format!("--report {}: {error}", folder.display()))?;
        plan.name_reports(folder);
    }
    let mut inputs = plan.inputs();
    inputs.extend(args.rules.iter().cloned());
    if let Some(Shard { part, parts }) = args.shard {
        plan.keep_part(part - 1, parts);
    }
    let mut jobs: Vec<(&PlannedFile, &PlannedDump)> = Vec::new();
    for file in plan.files.iter().filter(|file| file.errors.is_empty()) {
        jobs.extend(file.dumps.iter().map(|dump| (file, dump)));
    }
    // Workers are process groups of their own: the signals of a terminal do not reach them.
    crate::signals::before_the_end(workers::abandon)?;
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let count = args.jobs.map_or_else(processors, usize::from);
    let mut results = workers::run(&jobs, count, Duration::from_secs(args.timeout)).into_iter();
    if let Some(mode) = args.bless {
        return for_people(out, |out| bless::run(&plan, results, mode, out));
    }
    let mut report = Report::default();
    for file in &plan.files {
        let count = if file.errors.is_empty() { file.dumps.len() } else { 0 };
        report.files.push(CheckedFile {
            file: file.name.clone(),
            errors: file.errors.clone(),
            dumps: results.by_ref().take(count).collect(),
        });
    }
    let json = [Output { form: Form::Json, file: None }];
    printed(report.status(), out, |out| {
        formats::write(&report, if args.json { &json } else { &args.formats }, &inputs, out)
    })
}
