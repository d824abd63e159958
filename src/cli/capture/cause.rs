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
use crate::cli::{Failure, code_object, shell, standard_error};
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

/// What a program left behind.
#[derive(Debug)]
pub(super) enum Evidence {
    /// Captures of waves.
    Captures(Vec<PathBuf>),
    /// Reports in its logs.
    Reports,
    /// Nothing of a GPU.
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

    pub(super) fn evidence(&self, targets: &Targets, status: ExitStatus) -> Evidence {
        let log = self.folder.join(LOG);
        let has_waves = || import::open(&log, targets, &import::Options::default()).is_ok();
        if !self.cores.gpu.is_empty() {
            Evidence::Captures(self.cores.gpu.clone())
        } else if !status.success() && has_waves() {
            Evidence::Captures(vec![log])
        } else if !status.success() && !self.logs.0.is_empty() {
            Evidence::Reports
        } else {
            Evidence::Other
        }
    }

    /// Prints the cause of each capture by `triage`, which the user can type again.
    pub(super) fn print_causes(&self, program: &Path, captures: &[PathBuf]) -> Result<(), Failure> {
        say(&format!("{}. The crash is in {}", self.ended, shown(self.folder)))?;
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
            standard_error::message(&format!("\n{}", shell::indented(&typed)))?;
            let mut triage = Command::new(std::env::current_exe()?);
            triage.args(words).stdin(Stdio::null());
            triage.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?)).status()?;
        }
        if let Some(more @ 1..) = captures.len().checked_sub(MAX_CAUSES) {
            say(&format!("{more} more {} there", plural(more, "core is", "cores are")))?;
        }
        Ok(())
    }

    /// Prints the reports of the logs, and why there may be no waves.
    pub(super) fn print_reports(&self, args: &Args, unset: Vec<String>) -> Result<(), Failure> {
        let mut text = format!("{}. No core of a GPU was written", self.ended);
        for (path, reports) in &self.logs.0 {
            let _ = write!(text, "\n{} reports:{reports}", shown(path));
        }
        let agent = "runtimes before ROCm 6.2 write no core, and others none of GPUs gfx11: \
                     `lanescope capture --debug-agent -- PROGRAM` has the waves in the log";
        let agent = (!args.debug_agent).then(|| agent.to_owned());
        for (number, reason) in unset.into_iter().chain(agent).enumerate() {
            let heading = if number == 0 { "\nPossible reasons:" } else { "" };
            let _ = write!(text, "{heading}\n  {reason}");
        }
        Ok(say(&text)?)
    }
}

/// Whether a file has code objects: a program with kernels.
fn has_code_objects(path: &Path) -> bool {
    let bytes = path.to_str().and_then(|path| code_object::bytes(path).ok());
    bytes.and_then(|bytes| FatFile::read(&bytes).ok()).is_some_and(|fat| !fat.entries.is_empty())
}
