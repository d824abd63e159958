//! The causes of a crash by its captures; without one, the reports of its logs.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::cores::Cores;
use super::{Args, KERNEL_LOG, LOG, say, shown};
use crate::arch::Targets;
use crate::cli::{code_object, shell, standard_error};
use crate::codeobject::FatFile;
use crate::import;
use crate::notation::plural;

/// Maximum number of cores whose cause is printed.
const MAX_CAUSES: usize = 4;

/// The logs that report faults, with their reports.
#[derive(Debug)]
struct Logs(Vec<(PathBuf, String)>);

impl Logs {
    fn of(folder: &Path) -> Self {
        let paths = [LOG, KERNEL_LOG].map(|name| folder.join(name));
        Self(paths.into_iter().filter_map(|path| import::reports(&path).map(|text| (path, text))).collect())
    }
}

/// What the folder of one crash has for an answer.
#[derive(Debug)]
pub(in crate::cli) struct Kept {
    /// The capture of waves; without one the program's output.
    pub(in crate::cli) capture: PathBuf,
    pub(in crate::cli) host_core: Option<PathBuf>,
    pub(in crate::cli) logs: Vec<PathBuf>,
}

impl Kept {
    /// `None`: another folder, or one with several captures.
    pub(in crate::cli) fn of(folder: &Path, targets: &Targets) -> Option<Self> {
        let log = folder.join(LOG);
        if !log.is_file() {
            return None;
        }
        let cores = Cores::of(folder, targets);
        let capture = match &cores.gpu[..] {
            [] => &log,
            [only] => only,
            _ => return None,
        };
        let logs = Logs::of(folder).0.into_iter().map(|(path, _)| path).filter(|path| path != capture);
        let host_core = cores.host_of(capture).cloned();
        Some(Self { logs: logs.collect(), host_core, capture: capture.clone() })
    }
}

/// The traces of a crash on a GPU.
#[derive(Clone, Copy, Debug)]
pub(super) enum Evidence {
    /// Captures of waves.
    Captures,
    /// Reports in its logs, or files in place of cores that cannot be read.
    Reports,
    /// None.
    Other,
}

#[derive(Debug)]
pub(super) struct Crash<'f> {
    folder: &'f Path,
    cores: Cores,
    logs: Logs,
    /// The program's end, in words.
    ended: String,
}

impl<'f> Crash<'f> {
    pub(super) fn new(folder: &'f Path, cores: Cores, ended: String) -> Self {
        Self { folder, cores, logs: Logs::of(folder), ended }
    }

    /// Decides what is kept, and moves the cores of a crash on a GPU into its folder.
    pub(super) fn evidence(&mut self, targets: &Targets, status: ExitStatus) -> Evidence {
        let log = self.folder.join(LOG);
        let has_waves = || import::open(&log, targets, &import::Options::default()).is_ok();
        // The kernel log is also that of other programs.
        let is_own = |(path, _): &(PathBuf, String)| *path == log;
        if self.cores.gpu.is_empty() && !status.success() && has_waves() {
            self.cores.gpu.push(log.clone());
        }
        if !self.cores.gpu.is_empty() {
            self.cores.move_to(self.folder);
            Evidence::Captures
        } else if !self.cores.unreadable.is_empty()
            || self.logs.0.iter().any(|one| !status.success() || is_own(one))
        {
            Evidence::Reports
        } else {
            Evidence::Other
        }
    }

    /// Prints the cause of each capture by `triage`, which the user can type again.
    pub(super) fn print_causes(&self, program: &Path) {
        say(&format!("{}. The crash is in {}", self.ended, shell::word_of(self.folder.as_os_str())));
        let captures = &self.cores.gpu;
        for capture in captures.iter().take(MAX_CAUSES) {
            let logs = self.logs.0.iter().map(|(path, _)| path).filter(|path| *path != capture);
            let logs = logs.flat_map(|path| ["--log".as_ref(), path.as_os_str()]);
            let host = self.cores.host_of(capture);
            let code = Some(program).filter(|_| host.is_none() && has_code_objects(program)).into_iter();
            let code = code.flat_map(|path| ["--code-object".as_ref(), path.as_os_str()]);
            let host = host.into_iter().flat_map(|path| ["--host-core".as_ref(), path.as_os_str()]);
            let first = ["triage".as_ref(), capture.as_os_str()].into_iter();
            let words: Vec<&OsStr> = first.chain(code).chain(host).chain(logs).collect();
            let typed =
                words.iter().fold("lanescope".to_owned(), |typed, word| typed + " " + &shell::word_of(word));
            let _ = standard_error::folded(format!("\n{}", shell::indented(&typed).trim_end()));
            if let Err(error) = print_triage(&words) {
                say(&format!("triage: {error}"));
            }
        }
        if let Some(more @ 1..) = captures.len().checked_sub(MAX_CAUSES) {
            say(&format!("{more} more {} there", plural(more, "core is", "cores are")));
        }
    }

    /// Prints that a failed program left no traces.
    pub(super) fn print_none(&self) {
        say(&format!("{}. No core of a GPU was found, and no log reports a fault", self.ended));
    }

    /// Prints the reports of the logs, and why there may be no waves.
    pub(super) fn print_reports(&self, args: &Args, unset: Vec<String>) {
        let mut text = self.ended.clone();
        if self.cores.unreadable.is_empty() {
            text += ". No core of a GPU was found";
        }
        for error in &self.cores.unreadable {
            let _ = write!(text, "\nA core cannot be read: {error}");
        }
        for (path, reports) in &self.logs.0 {
            let _ = write!(text, "\n{} reports:{reports}", shown(path));
        }
        let agent = "runtimes before ROCm 6.2 write no core, and others none of GPUs gfx11: \
                     `lanescope capture --debug-agent -- PROGRAM` has the waves in the log";
        let agent = (!args.debug_agent && self.cores.unreadable.is_empty()).then(|| agent.to_owned());
        for (number, reason) in unset.into_iter().chain(agent).enumerate() {
            let heading = if number == 0 { "\nPossible reasons:" } else { "" };
            let _ = write!(text, "{heading}\n  {reason}");
        }
        say(&text);
    }
}

/// Prints an answer of this program on standard error.
fn print_triage(words: &[&OsStr]) -> io::Result<()> {
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    let mut triage = Command::new(std::env::current_exe()?);
    triage.args(words).stdin(Stdio::null()).stdout(Stdio::from(stderr)).status().map(drop)
}

/// Whether a file has code objects: a program with kernels.
fn has_code_objects(path: &Path) -> bool {
    let bytes = path.to_str().and_then(|path| code_object::bytes(path).ok());
    bytes.and_then(|bytes| FatFile::read(&bytes).ok()).is_some_and(|fat| !fat.entries.is_empty())
}
