//! `lanescope capture -- PROGRAM ARGUMENTS`: runs a program so that a crash on a GPU leaves a capture, and names the cause.
//!
//! The program runs with the highest limit of core files that is allowed, and with `HSA_COREDUMP_PATTERN`. Its output is
//! printed as it comes, and kept with the kernel log of that time. If cores of the GPUs were written, or the output reports
//! a fault, the folder of the crash is kept, and `triage --log` prints the cause on standard error, or the reports are
//! listed. Else nothing is kept. The exit status is the program's, as a shell has it: 128 and the signal's number, 127 if
//! there is no such program. It is 125 if the program could not be started at all.

mod cause;
mod cores;
mod folder;
mod kernel_log;
mod output;
mod settings;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use nix::sys::signal::Signal;

pub(super) use self::cause::Kept;
use self::cause::{Crash, Evidence};
use self::cores::Cores;
use self::folder::CrashFolder;
use self::kernel_log::KernelLog;
use super::{Failure, standard_error};
use crate::arch::Targets;
use crate::clean::clean;

/// Options of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder of crashes; each has a folder in it, which only its user can read
    #[arg(long, value_name = "DIR", default_value = "gpu-crashes")]
    dir: PathBuf,
    /// Let ROCm's debug agent print the waves: for GPUs and runtimes that write no cores
    #[arg(long)]
    debug_agent: bool,
    /// The kernel log: /dev/kmsg, or a file that grows [default: /dev/kmsg]
    #[arg(long, value_name = "FILE")]
    kernel_log: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    words: Vec<OsString>,
}

/// Exit statuses of programs that start others: of an own failure, of a program that does not start, of a missing one.
const FAILED: u8 = 125;
const NOT_STARTED: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Names in the folder of a crash.
const LOG: &str = "run.log";
const KERNEL_LOG: &str = "kernel.log";

pub(super) fn run(args: &Args, targets: &Targets) -> u8 {
    let folder = match CrashFolder::new(&args.dir, args.words.first().map_or(Path::new(""), Path::new)) {
        Ok(folder) => folder,
        Err(error) => {
            let dir = clean(args.dir.display().to_string());
            say(&format!("{dir}: {error}; --dir names another folder for crashes"));
            return FAILED;
        }
    };
    captured(args, targets, &folder).unwrap_or_else(|error| {
        folder.remove();
        say(&error.to_string());
        FAILED
    })
}

/// Runs the program, then keeps or removes the folder.
fn captured(args: &Args, targets: &Targets, folder: &CrashFolder) -> Result<u8, Failure> {
    let (program, arguments) = args.words.split_first().ok_or("no program")?;
    let mut command = Command::new(program);
    command.args(arguments);
    let mut unset = settings::apply(&mut command, args, &folder.path)?;
    let path = args.kernel_log.as_deref().unwrap_or(Path::new(kernel_log::DEVICE));
    let kernel_log = KernelLog::begin(path);
    if let Err(error) = &kernel_log {
        let instead =
            "save the host's `dmesg` after a crash for `triage --log`, or name its file by --kernel-log";
        unset.push(format!("the kernel log {}: {error}; {instead}", shown(path)));
    }
    unset.iter().for_each(|sentence| say(sentence));
    let mut cores = Cores::before();
    let log = File::create(folder.path.join(LOG))?;
    let name = clean(program.to_string_lossy());
    let (status, is_within_line) = match output::run(command, log)? {
        Ok(ended) => ended,
        Err(error) => {
            folder.remove();
            say(&format!("{name}: {error}"));
            return Ok(if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_STARTED });
        }
    };
    if let Ok(kernel_log) = kernel_log
        && let Err(error) = kernel_log.write(&folder.path.join(KERNEL_LOG))
    {
        unset.push(format!("{KERNEL_LOG}: {error}"));
    }
    cores.collect(&folder.path, targets);
    let mut crash = Crash::new(&folder.path, cores, ended(&name, status));
    let evidence = crash.evidence(targets, status);
    if is_within_line && !(status.success() && matches!(evidence, Evidence::Other)) {
        let _ = writeln!(io::stderr());
    }
    match evidence {
        Evidence::Captures => crash.print_causes(Path::new(program)),
        Evidence::Reports => crash.print_reports(args, unset),
        Evidence::Other => {
            folder.remove();
            if !status.success() {
                crash.print_none();
            }
        }
    }
    Ok(exit_status(status))
}

/// Prints a message of the command. One that cannot be printed changes neither the program's run nor its status.
fn say(text: &str) {
    let _ = standard_error::message(&format!("lanescope capture: {text}"));
}

/// The status of a shell for a program's end.
fn exit_status(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
}

/// A program's end in words.
fn ended(name: &str, status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("{name} ended with the status {code}"),
        (_, Some(signal)) => {
            let known =
                Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |it| it.to_string());
            format!("{name} was ended by {known}")
        }
        (None, None) => format!("{name} ended"),
    }
}

/// A path in a message.
fn shown(path: &Path) -> String {
    clean(path.display().to_string()).into_owned()
}
