//! The command line: one file per command; a command's module doc is its manual.

mod arguments;
mod backtrace;
mod choice;
mod code_object;
mod dialect;
mod diff;
mod disassemble;
mod dispatches;
mod dump;
mod dwarf;
pub mod eval;
mod groups;
mod info;
mod lanes;
mod locals;
mod memory;
mod print;
mod registers;
mod serve;
mod shell;
mod slim;
mod sources;
pub mod targets;

mod export;
mod view;
mod waves;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::clean::clean_lines;
use crate::import::write::WriteError;
use crate::slim::SlimError;

pub use dump::{CaptureArgs, DumpArgs, PlaceArgs, WaveArgs};

/// A command's failure: a sentence for the user.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Serve captured AMDGPU waves to gdb and lldb, or print what a dump holds. No GPU needed.
///
/// Without a command the embedded demo is served on 127.0.0.1:1234.
#[derive(Debug, Parser)]
#[command(name = "lanescope", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// A folder with more target files, read beside the built-in ones
    #[arg(long, global = true, value_name = "DIR")]
    targets: Option<PathBuf>,
    /// A file with numbers for the draft dialect of DWARF, in place of the built-in ones
    #[arg(long, global = true, value_name = "FILE")]
    draft: Option<PathBuf>,
    /// A folder of separate debug information: files by build id, or by the name that a debug link gives; may be repeated
    #[arg(long = "debug-dir", global = true, value_name = "DIR")]
    debug_dirs: Vec<PathBuf>,
    /// The llvm-objdump or llvm-mc to disassemble with [default: the newest on the PATH, then ROCm's]
    #[arg(long, global = true, value_name = "FILE")]
    disassembler: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a dump to gdb and lldb (the default command)
    Serve(serve::Args),
    /// List the contents and the problems of a dump
    Info(info::Args),
    /// List the waves of a dump
    Waves(waves::Args),
    /// List the lanes of a wave
    Lanes(lanes::Args),
    /// Print registers of a wave
    Registers(registers::Args),
    /// Print memory of any address space
    Memory(memory::Args),
    /// Print the call stack of a wave, or of its lanes
    Backtrace(backtrace::Args),
    /// Group the waves of a dump, or their lanes, by call stack
    Groups(groups::Args),
    /// Print the variables in scope of a wave, for one lane or all
    Locals(locals::Args),
    /// List the instructions of the function that a wave is in, with lanes and source lines
    Disassemble(disassemble::Args),
    /// List the kernel launches of a dump
    Dispatches(dispatches::Args),
    /// Print the kernel arguments of a dump's dispatches
    Arguments(arguments::Args),
    /// Describe a code object, a bundle of them or a host program
    CodeObject(code_object::Args),
    /// Print what a path names, lane by lane: body.at.x, p->next, (local int *) 0x10
    Print(print::Args),
    /// Print all that a dump holds as JSON
    Export(export::Args),
    /// Compare two dumps of the same program
    Diff(diff::Args),
    /// Write a small dump of a large one: chosen waves with the data that their queries need
    Slim(slim::Args),
    /// Evaluate a DWARF expression in a captured wave, or many in a machine state given as text
    Eval(eval::Args),
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
}

impl Command {
    /// Passes on the folders of separate debug information and the disassembler.
    fn look_in(&mut self, folders: Vec<PathBuf>, disassembler: Option<PathBuf>) {
        let from = match self {
            Self::Serve(serve::Args { from, .. })
            | Self::Info(info::Args { from, .. })
            | Self::Waves(waves::Args { from, .. })
            | Self::Groups(groups::Args { from, .. })
            | Self::View(view::Args { from, .. })
            | Self::Arguments(arguments::Args { from, .. })
            | Self::Slim(slim::Args { from, .. })
            | Self::Dispatches(dispatches::Args { from, .. })
            | Self::Export(export::Args { from, .. }) => from,
            Self::Lanes(lanes::Args { of, .. })
            | Self::Registers(registers::Args { of, .. })
            | Self::Memory(memory::Args { of, .. })
            | Self::Backtrace(backtrace::Args { of, .. })
            | Self::Locals(locals::Args { of, .. })
            | Self::Disassemble(disassemble::Args { of, .. })
            | Self::Print(print::Args { of, .. }) => &mut of.from,
            Self::Diff(args) => {
                args.debug_dirs = folders;
                return;
            }
            Self::Dwarf(args) => {
                args.debug_dirs = folders;
                return;
            }
            Self::Eval(args) => {
                args.debug_dirs = folders;
                return;
            }
            Self::CodeObject(_) | Self::Targets { .. } => return,
        };
        (from.debug_dirs, from.disassembler) = (folders, disassembler);
    }
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let say = std::panic::take_hook();
    // The caller reports an expected panic as an error of its own.
    std::panic::set_hook(Box::new(move |panic| {
        if crate::view::is_guarded() {
            log::debug!("{panic}");
        } else {
            say(panic);
        }
    }));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap's own text for --help, --version and mistakes; a closed pipe is not an error.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let mut out = std::io::BufWriter::new(anstream::AutoStream::auto(std::io::stdout().lock()));
    // The server reports a changed file in its answers.
    let is_server = matches!(cli.command, None | Some(Command::Serve(_)));
    let result = run(cli, &mut out).and_then(|status| {
        out.flush()?;
        Ok(status)
    });
    let result = if is_server { result } else { unchanged(result) };
    match result {
        Ok(status) => status,
        Err(error) if is_closed_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(anstream::stderr(), "lanescope: {}", clean_lines(error.to_string()));
            let is_input = error.is::<eval::EvalError>()
                || error.is::<dialect::DraftError>()
                || error.is::<diff::Failed>();
            ExitCode::from(if is_input { 2 } else { 1 })
        }
    }
}

fn run(cli: Cli, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let targets = dump::targets(cli.targets.as_deref())?;
    cli.draft.as_deref().map(dialect::install).transpose()?;
    let mut command = cli.command.unwrap_or_else(|| Command::Serve(serve::Args::default()));
    command.look_in(cli.debug_dirs, cli.disassembler);
    match command {
        Command::Serve(args) => serve::run(args, &targets, out)?,
        Command::Info(args) => info::run(&args, &targets, out)?,
        Command::Waves(args) => waves::run(&args, &targets, out)?,
        Command::Lanes(args) => lanes::run(&args, &targets, out)?,
        Command::Registers(args) => registers::run(&args, &targets, out)?,
        Command::Memory(args) => memory::run(&args, &targets, out)?,
        Command::Backtrace(args) => backtrace::run(&args, &targets, out)?,
        Command::Groups(args) => groups::run(&args, &targets, out)?,
        Command::Locals(args) => locals::run(&args, &targets, out)?,
        Command::Disassemble(args) => disassemble::run(&args, &targets, out)?,
        Command::Dispatches(args) => dispatches::run(&args, &targets, out)?,
        Command::Arguments(args) => arguments::run(&args, &targets, out)?,
        Command::CodeObject(args) => code_object::run(&args, out)?,
        Command::Print(args) => return Ok(ExitCode::from(print::run(&args, &targets, out)?)),
        Command::Export(args) => export::run(&args, &targets, out)?,
        Command::Diff(args) => return Ok(ExitCode::from(diff::run(&args, &targets, out)?)),
        Command::Slim(args) => slim::run(&args, &targets, out)?,
        Command::Eval(args) => return Ok(ExitCode::from(eval::run(&args, &targets, out)?)),
        Command::Dwarf(args) => dwarf::run(&args, &targets, out)?,
        Command::View(args) => view::run(&args, &targets, out)?,
        Command::Targets { name, json } => targets::run(name.as_deref(), &targets, json, out)?,
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
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Writes a JSON answer in readable form.
fn print_json(out: &mut dyn Write, value: &(impl serde::Serialize + ?Sized)) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")?;
    Ok(())
}
