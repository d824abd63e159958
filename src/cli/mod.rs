//! The command line: one file per command; a command's module doc is its manual.

mod bucket;
mod capture;
mod check;
mod choice;
mod code_object;
mod demo;
mod dialect;
mod diff;
mod doctor;
mod dump;
mod dwarf;
pub(crate) mod eval;
mod examples;
mod folder;
mod info;
mod manual;
mod output_file;
mod questions;
mod report;
mod runner;
mod serve;
mod shell;
mod signature;
mod slim;
mod sources;
mod standard_error;
mod standard_input;
mod standard_output;
mod steps;
pub(crate) mod targets;
mod value;
mod version;
mod warnings;
mod wave_choice;

mod export;
mod view;

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::check::similar;
use crate::clean::{clean, clean_lines};
use crate::import::write::WriteError;
use crate::questions::{QUESTIONS, Question, Subject};
use crate::slim::SlimError;
use crate::work;

use dump::{CaptureArgs, DumpArgs, WaveArgs};
use standard_output::StandardOutput;

/// A command's failure: a sentence for the user.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The forms of the command line.
const USAGE: &str = "lanescope [OPTIONS] DUMP\n       lanescope [OPTIONS] COMMAND";

/// Serve captured AMDGPU waves to gdb and lldb, or print what a dump holds. No GPU needed.
///
/// `lanescope DUMP` stands for `lanescope triage DUMP`, and `lanescope` alone for `lanescope serve`. Most commands without
/// DUMP answer for the embedded demo.
#[derive(Debug, Parser)]
#[command(
    name = "lanescope",
    version,
    max_term_width = 80,
    override_usage = USAGE,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Cli {
    /// `None`: a question, whose subcommand is made from the table.
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    globals: Globals,
}

/// Options of all commands.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of all commands")]
struct Globals {
    /// A folder with more target files, read beside the built-in ones
    #[arg(long, global = true, value_name = "DIR")]
    targets: Option<PathBuf>,
    /// A file with numbers for the draft dialect of DWARF, in place of the built-in ones
    #[arg(long, global = true, value_name = "FILE")]
    draft: Option<PathBuf>,
    /// A folder of separate debug information: files by build id, or by the name that a debug link gives; may be repeated
    #[arg(long = "debug-dir", global = true, value_name = "DIR")]
    debug_dirs: Vec<PathBuf>,
    /// Without effect: no tool is needed.
    #[arg(long, global = true, value_name = "FILE", hide = true)]
    disassembler: Option<PathBuf>,
    /// Print all warnings about the dump, each whole
    #[arg(long, global = true)]
    verbose: bool,
    /// The words of the dump and its options for the next command.
    #[arg(skip)]
    typed: String,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a dump to gdb and lldb
    Serve(serve::Args),
    /// List the contents and the problems of a dump
    Info(info::Args),
    /// Describe a code object, a bundle of them or a host program
    CodeObject(code_object::Args),
    /// Print all that a dump holds as JSON
    Export(export::Args),
    /// Write a report of a dump: the cause with its wave, memory, stacks and launches
    Report(report::Args),
    /// Compare dumps with the expectations of .scope files
    Check(check::Args),
    /// Print names that equal crashes and hangs share
    Signature(signature::Args),
    /// Group dumps by their signatures
    Bucket(bucket::Args),
    /// Compare two dumps of the same program
    Diff(diff::Args),
    /// Write a small dump of a large one: chosen waves with the data that their queries need
    Slim(slim::Args),
    /// List every DWARF expression of a code object, or of all code objects of a dump
    Dwarf(dwarf::Args),
    /// Write code objects in a form that stock debuggers load, for clients on other machines
    View(view::Args),
    /// List the known GPUs, or print one
    Targets {
        /// The GPU: gfx90a
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Open gdb or lldb on the embedded demo, with a tour of five steps
    Demo(demo::Args),
    /// List the debuggers and settings for crashes of this machine, and what to type
    Doctor(doctor::Args),
    /// Run a program, keep what a crash on a GPU leaves, and print its cause
    #[command(override_usage = "lanescope capture [OPTIONS] -- PROGRAM [ARGUMENTS]")]
    Capture(capture::Args),
    /// Print the completions of a shell: eval "$(lanescope completions bash)"
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: manual::Shell,
    },
    /// Write the manual pages into a folder
    Man {
        /// The folder; a missing one is made
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

impl Command {
    /// Passes on the folders of separate debug information, the form of warnings and the typed words.
    fn look_in(&mut self, globals: Globals) {
        let (folders, is_verbose) = (globals.debug_dirs, globals.verbose);
        let from = match self {
            Self::Serve(serve::Args { from, .. })
            | Self::Info(info::Args { from, .. })
            | Self::View(view::Args { from, .. })
            | Self::Slim(slim::Args { from, .. })
            | Self::Report(report::Args { from, .. })
            | Self::Export(export::Args { from, .. }) => from,
            Self::Diff(args) => {
                (args.debug_dirs, args.is_verbose) = (folders, is_verbose);
                return;
            }
            Self::Check(args) => {
                args.globals =
                    Some(Globals { debug_dirs: folders, verbose: is_verbose, ..Globals::default() });
                return;
            }
            Self::Signature(signature::Args { options, .. }) | Self::Bucket(bucket::Args { options, .. }) => {
                options.globals = Globals { debug_dirs: folders, verbose: is_verbose, ..Globals::default() };
                return;
            }
            Self::Dwarf(args) => {
                (args.debug_dirs, args.is_verbose) = (folders, is_verbose);
                return;
            }
            Self::CodeObject(_)
            | Self::Targets { .. }
            | Self::Demo(_)
            | Self::Doctor(_)
            | Self::Capture(_)
            | Self::Completions { .. }
            | Self::Man { .. } => return,
        };
        (from.debug_dirs, from.is_verbose) = (folders, is_verbose);
        from.typed = globals.typed;
    }
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let status = answer();
    if let Some(stats) = work::stats() {
        let _ = writeln!(anstream::stderr(), "{stats}");
    }
    status
}

fn answer() -> ExitCode {
    let say = std::panic::take_hook();
    // The caller reports an expected panic as an error of its own.
    std::panic::set_hook(Box::new(move |panic| {
        if crate::view::is_guarded() {
            log::debug!("{panic}");
        } else {
            say(panic);
        }
    }));
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if words.len() == 1 {
        words.push("serve".into());
    }
    let mut out = std::io::BufWriter::new(StandardOutput::new());
    let parsed = parse(words.clone());
    let command = parsed.as_ref().ok().and_then(|matches| matches.subcommand_name()).map(str::to_owned);
    // The server reports a changed file in its answers.
    let is_server = command.as_deref() == Some("serve");
    let result = match parsed {
        Ok(matches) if is_for_people(command.as_deref(), &words) => {
            runner::for_people(&mut out, |out| run(&matches, out))
        }
        Ok(matches) => run(&matches, &mut out),
        Err(error) if error.kind() == ErrorKind::DisplayVersion && version::is_verbose(&words) => {
            version::print(&mut out)
        }
        Err(error) => refuse(&error, &mut out),
    };
    let result = result.and_then(|status| printed(status, &mut out, |out| Ok(out.flush()?)));
    let result = if is_server { result } else { unchanged(result) };
    match result {
        Ok(status) => status,
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = standard_error::message(&format!("lanescope: {}", clean_lines(error.to_string())));
            let is_input = error.is::<eval::EvalError>()
                || error.is::<dialect::DraftError>()
                || error.is::<diff::InputError>()
                || error.is::<check::CheckError>()
                || error.is::<bucket::NoDumpsError>()
                || error.is::<report::ExtensionError>();
            // An unwritable answer of these commands is neither a difference nor an error of their files.
            let is_answer = error.is::<std::io::Error>() || error.is::<serde_json::Error>();
            let is_of_answer =
                is_answer && matches!(command.as_deref(), Some("check" | "signature" | "bucket"));
            ExitCode::from(if is_input || is_of_answer { 2 } else { 1 })
        }
    }
}

/// Whether the answer is text that names of a dump could make a command of GitHub's runner. `check` has its own forms,
/// and documents have no such lines.
fn is_for_people(command: Option<&str>, words: &[OsString]) -> bool {
    let other = ["check", "serve", "demo", "capture", "export", "completions", "man"];
    let is_document = |word: &OsString| word == "--json" || word == "--jsonl";
    command.is_some_and(|command| !other.contains(&command)) && !words.iter().any(is_document)
}

/// The parser of the command line, with a subcommand for each question.
fn command() -> clap::Command {
    let mut others = 100..;
    let ordered = |command: clap::Command| match command.get_name() {
        "serve" | "info" => command,
        _ => command.display_order(others.next().unwrap_or(usize::MAX)),
    };
    let questions = (10..).zip(questions::commands());
    examples::with_examples(Cli::command())
        .mut_subcommands(ordered)
        .subcommands(questions.map(|(order, question)| question.display_order(order)))
        .mut_subcommands(with_default_waves)
        .mut_subcommands(examples::with_examples)
}

/// Adds the default of `--wave` to its help.
fn with_default_waves(command: clap::Command) -> clap::Command {
    let is_about_wave = |question: &Question| question.subject == Subject::Wave;
    let default = match command.get_name() {
        "slim" => "those that faulted, and one of each distinct stack",
        name if QUESTIONS.iter().any(|question| question.name == name && is_about_wave(question)) => {
            "the one that faulted, else the first"
        }
        _ => "all",
    };
    let is_choice = |arg: &clap::Arg| arg.get_value_names().is_some_and(|names| names == ["IDS"]);
    command.mut_args(|arg| match arg.get_help().filter(|_| is_choice(&arg)) {
        Some(help) => {
            let help = format!("{help} [default: {default}]");
            arg.help(help)
        }
        None => arg,
    })
}

/// Parses the command line. `lanescope DUMP` stands for `lanescope triage DUMP`, also with triage's options before DUMP.
fn parse(words: Vec<OsString>) -> Result<ArgMatches, clap::Error> {
    let mut error = match command().try_get_matches_from(&words) {
        Ok(matches) => return Ok(matches),
        Err(error) => error,
    };
    let is_empty = |kind| matches!(error.get(kind), Some(ContextValue::String(word)) if word.is_empty());
    let has_values =
        matches!(error.get(ContextKind::ValidValue), Some(ContextValue::Strings(of)) if !of.is_empty());
    let is_unnamed =
        error.kind() == ErrorKind::InvalidValue && is_empty(ContextKind::InvalidValue) && !has_values;
    // clap's error of a missing value is the same.
    let has_empty = words.iter().any(|word| word.is_empty() || word.as_encoded_bytes().ends_with(b"="));
    if has_empty && (is_unnamed || is_empty(ContextKind::InvalidSubcommand)) {
        let text = "a file or a value has an empty name (is a variable of the shell unset?)";
        return Err(command().error(ErrorKind::InvalidValue, text));
    }
    let unknown = |kind| match error.get(kind) {
        Some(ContextValue::String(unknown)) => words.iter().position(|word| *word == **unknown),
        _ => None,
    };
    let subcommand = unknown(ContextKind::InvalidSubcommand);
    let Some(at) = subcommand.or_else(|| unknown(ContextKind::InvalidArg).filter(|at| *at == 1)) else {
        return Err(error);
    };
    let is_dump = |matches: &ArgMatches| {
        let triage = matches.subcommand_matches("triage");
        let source = triage.and_then(|matches| matches.value_source("dump"));
        source == Some(ValueSource::CommandLine)
    };
    // A misspelled command is no dump.
    let is_path = |word: &OsString| {
        let is_named = word.as_encoded_bytes().iter().any(|byte| b"/.".contains(byte));
        is_named || standard_input::is_meant(Path::new(word)) || Path::new(word).exists()
    };
    let has_path = match subcommand {
        Some(at) => words.get(at).is_some_and(is_path),
        None => words.iter().skip(at).any(is_path),
    };
    let mut triage = words.clone();
    triage.insert(at, "triage".into());
    let of_triage = command().try_get_matches_from(&triage);
    match (subcommand, of_triage) {
        (_, Ok(matches)) if has_path && is_dump(&matches) => Ok(matches),
        (Some(_), Err(error)) if has_path => Err(error),
        (Some(at), _) => Err(unknown_name(&words, at)),
        (None, _) => {
            let tip = "options of a command follow its name: lanescope triage --json DUMP".into();
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
            Err(error)
        }
    }
}

/// The error of a word that is no command and no file.
fn unknown_name(words: &[OsString], at: usize) -> clap::Error {
    let mut command = command();
    let word = words.get(at).map(|word| clean(word.to_string_lossy()).into_owned()).unwrap_or_default();
    let names = command.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name);
    // clap's own similar names have no such name as the nearest one.
    let tip = similar(&word, names)
        .map_or_else(String::new, |name| format!("\n\n  tip: a similar command is `{name}`"));
    let is_help = words.get(1).is_some_and(|word| word == "help");
    let what = if is_help { "no command" } else { "no command and no file" };
    command.error(ErrorKind::InvalidSubcommand, format!("{what} has the name `{word}`{tip}"))
}

/// Prints clap's own text for --help, --version and mistakes.
fn refuse(error: &clap::Error, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let text = error.render();
    if !error.use_stderr() {
        write!(out, "{}", text.ansi())?;
        return Ok(ExitCode::SUCCESS);
    }
    // The status has the mistake, also without its text.
    let _ = match error.kind() {
        // The help has its own columns.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => write!(anstream::stderr(), "{}", text.ansi()),
        _ => standard_error::message(&text.ansi().to_string()),
    };
    Ok(ExitCode::from(2))
}

fn run(matches: &ArgMatches, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let cli = Cli::from_arg_matches(matches)?;
    let mut globals = cli.globals;
    globals.typed = matches.subcommand().map_or_else(String::new, |(_, matches)| steps::typed(matches));
    if globals.disassembler.is_some() {
        standard_error::message("lanescope: --disassembler has no effect: instructions need no tool")?;
    }
    let targets = dump::targets(globals.targets.as_deref())?;
    globals.draft.as_deref().map(dialect::install).transpose()?;
    if let Some((name, matches)) = matches.subcommand()
        && let Some(question) = QUESTIONS.iter().find(|question| question.name == name)
    {
        let cases = if name == "eval" { matches.get_one::<PathBuf>("cases") } else { None };
        let status = match cases {
            Some(cases) => eval::run_cases(cases, matches, &targets, out)?,
            None => questions::run(question, matches, globals, &targets, out)?,
        };
        return Ok(ExitCode::from(status));
    }
    let mut command = cli.command.ok_or("no command")?;
    command.look_in(globals);
    match command {
        Command::Serve(args) => serve::run(args, &targets, out)?,
        Command::Info(args) => info::run(&args, &targets, out)?,
        Command::CodeObject(args) => code_object::run(&args, out)?,
        Command::Export(args) => export::run(&args, &targets, out)?,
        Command::Report(mut args) => {
            let typed = if args.with_paths { steps::typed } else { steps::names };
            args.typed = matches.subcommand().map_or_else(String::new, |(_, matches)| typed(matches));
            report::run(&args, &targets, out)?;
        }
        Command::Check(args) => return Ok(ExitCode::from(check::run(&args, &targets, out)?)),
        Command::Signature(args) => return Ok(ExitCode::from(signature::run(&args, &targets, out)?)),
        Command::Bucket(args) => return Ok(ExitCode::from(bucket::run(&args, &targets, out)?)),
        Command::Diff(args) => return Ok(ExitCode::from(diff::run(&args, &targets, out)?)),
        Command::Slim(args) => slim::run(&args, &targets, out)?,
        Command::Dwarf(args) => dwarf::run(&args, &targets, out)?,
        Command::View(args) => view::run(&args, &targets, out)?,
        Command::Targets { name, json } => targets::run(name.as_deref(), &targets, json, out)?,
        Command::Demo(args) => return Ok(ExitCode::from(demo::run(&args, out)?)),
        Command::Doctor(args) => doctor::run(&args, &targets, out)?,
        Command::Capture(args) => return Ok(ExitCode::from(capture::run(&args, &targets))),
        Command::Completions { shell } => manual::completions(shell, self::command(), out)?,
        Command::Man { folder } => manual::pages(self::command(), &folder)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails if a file changed during reading: the output may be wrong, and so may another error.
fn unchanged(result: Result<ExitCode, Failure>) -> Result<ExitCode, Failure> {
    let Some(name) = crate::mapping::first_changed() else { return result };
    match result {
        Err(error) if is_closed_pipe(&*error) || is_of_slim(&*error) => Err(error),
        _ => Err(format!(
            "{name} changed while it was read, and the output may be wrong. Run the command again"
        )
        .into()),
    }
}

/// Whether the error is slim's own for a changed file.
fn is_of_slim(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(SlimError::Write(WriteError::Changed(_))))
}

fn is_closed_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let is_closed = |error: &(dyn std::error::Error + 'static)| {
        let io = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let json = error.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(std::io::ErrorKind::BrokenPipe)
    };
    // Errors of commands have it as their source.
    std::iter::successors(Some(error), |error| error.source()).any(is_closed)
}

/// Prints an answer whose exit status is known before: a reader that closes its pipe does not change the status.
fn printed<S>(
    status: S,
    out: &mut dyn Write,
    print: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<S, Failure> {
    match print(out) {
        Err(error) if !is_closed_pipe(&*error) => Err(error),
        _ => Ok(status),
    }
}

/// Writes a JSON answer in readable form.
fn print_json(out: &mut dyn Write, value: &(impl serde::Serialize + ?Sized)) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")?;
    Ok(())
}

#[cfg(test)]
#[path = "option_tests.rs"]
mod option_tests;

#[cfg(test)]
#[path = "schemas_tests.rs"]
mod schemas_tests;
