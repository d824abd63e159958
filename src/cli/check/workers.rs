//! Worker processes: each opens one dump at a time, so that a dump that ends or stops its reader costs only its own
//! results.
//!
//! A worker is this program with the same options and `--worker`. It reads a job in a line of JSON, and writes the
//! result in one.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::job::{self, Setup};
use super::plan::{PlannedDump, PlannedFile};
use super::results::{CheckedDump, NamingLine};
use crate::cli::Failure;
use crate::signals::end_group;

/// Maximum number of bytes of a job and of a result.
const MAX_LINE: u64 = 64 << 20;

/// A job in a line.
#[derive(Debug, Serialize, Deserialize)]
struct Job {
    file: PathBuf,
    dump: PathBuf,
    name: String,
    report: Option<PathBuf>,
}

/// Answers the jobs of standard input, until it ends.
pub(super) fn work(setup: &Setup<'_>, out: &mut dyn std::io::Write) -> Result<(), Failure> {
    let mut input = std::io::stdin().lock();
    let mut known: Option<PlannedFile> = None;
    loop {
        let mut line = String::new();
        if input.by_ref().take(MAX_LINE).read_line(&mut line)? == 0 {
            return Ok(());
        }
        let job: Job = serde_json::from_str(&line)?;
        let file = known.take().filter(|file| file.path == job.file);
        let file = file.unwrap_or_else(|| PlannedFile::read(job.file));
        let dump =
            PlannedDump { path: job.dump, name: job.name, report: job.report, line: NamingLine::default() };
        let checked = job::run(&file, &dump, setup);
        known = Some(file);
        serde_json::to_writer(&mut *out, &checked)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
}

/// Runs the jobs in worker processes. The results have the order of the jobs.
pub(super) fn run(
    jobs: &[(&PlannedFile, &PlannedDump)],
    workers: usize,
    timeout: Duration,
) -> Vec<CheckedDump> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<CheckedDump>> = vec![None; jobs.len()];
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..workers.clamp(1, jobs.len().max(1)))
            .map(|_| {
                scope.spawn(|| {
                    let mut worker = None;
                    let mut checked = Vec::new();
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some((file, dump)) = jobs.get(index) else { return checked };
                        checked.push((index, one(&mut worker, file, dump, timeout)));
                    }
                })
            })
            .collect();
        for (index, checked) in started.into_iter().flat_map(|worker| worker.join().unwrap_or_default()) {
            if let Some(result) = results.get_mut(index) {
                *result = Some(checked);
            }
        }
    });
    let lost = |dump: &PlannedDump| failed(dump, "the results are lost".to_owned());
    let named = |result: Option<CheckedDump>, dump: &PlannedDump| {
        let named_by = dump.line.clone();
        CheckedDump { named_by, ..result.unwrap_or_else(|| lost(dump)) }
    };
    results.into_iter().zip(jobs).map(|(result, (_, dump))| named(result, dump)).collect()
}

fn failed(dump: &PlannedDump, error: String) -> CheckedDump {
    CheckedDump { dump: dump.name.clone(), error: Some(error), ..CheckedDump::default() }
}

/// Runs a job in the worker, which is started if necessary and given up after a failure.
fn one(held: &mut Option<Worker>, file: &PlannedFile, dump: &PlannedDump, timeout: Duration) -> CheckedDump {
    let worker = match held.take().map_or_else(Worker::start, Ok) {
        Ok(worker) => worker,
        Err(error) => return failed(dump, format!("cannot start the reader: {error}")),
    };
    let job = Job {
        file: file.path.clone(),
        dump: dump.path.clone(),
        name: dump.name.clone(),
        report: dump.report.clone(),
    };
    match worker.ask(&job, timeout) {
        Ok((worker, checked)) => {
            *held = Some(worker);
            checked
        }
        Err(error) => failed(dump, error.to_string()),
    }
}

/// The reason that a worker has no result.
#[derive(Debug, thiserror::Error)]
enum WorkerError {
    /// The paths of the job are not UTF-8.
    #[error("{0}")]
    Job(serde_json::Error),
    /// The worker wrote something else.
    #[error("wrong result: {0}")]
    Form(serde_json::Error),
    /// The time is over, in seconds.
    #[error("no result after {0} s (--timeout)")]
    Timeout(u64),
    /// The worker ended, in words.
    #[error("the reader ended {0}; report this dump as a bug")]
    Ended(String),
    /// The status of the worker is unknown.
    #[error("the reader ended: {0}")]
    Wait(std::io::Error),
}

/// The process groups of live workers. The lock is held while one is started or ended.
static GROUPS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn groups() -> MutexGuard<'static, Vec<u32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all workers with their processes: this process is about to end.
pub(super) fn abandon() {
    let groups = groups();
    groups.iter().for_each(|group| end_group(*group));
    // No worker starts any more.
    std::mem::forget(groups);
}

/// A worker process, the first of its process group. All end when it is dropped.
struct Worker {
    child: Child,
    group: u32,
    input: ChildStdin,
    lines: Receiver<std::io::Result<String>>,
}

impl Worker {
    /// Ends the processes of the group, and returns the status of the first.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        let mut groups = groups();
        if let Some(index) = groups.iter().position(|group| *group == self.group) {
            groups.swap_remove(index);
            // A tool outlives a worker that ended by itself.
            end_group(self.group);
        }
        drop(groups);
        self.child.wait()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl Worker {
    fn start() -> std::io::Result<Self> {
        let mut own: Vec<OsString> = std::env::args_os().skip(1).collect();
        // Behind `--` all words are paths.
        let end = own.iter().position(|word| word == "--").unwrap_or(own.len());
        own.insert(end, "--worker".into());
        let mut command = Command::new(std::env::current_exe()?);
        command.args(own).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut groups = groups();
        let mut child = command.spawn()?;
        let group = child.id();
        groups.push(group);
        drop(groups);
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("no pipe"));
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = String::new();
                let read = output.by_ref().take(MAX_LINE).read_line(&mut line);
                let is_end = !matches!(read, Ok(count) if count > 0);
                if sender.send(read.map(|_| line)).is_err() || is_end {
                    return;
                }
            }
        });
        Ok(Self { child, group, input, lines })
    }

    /// Sends a job and waits for its result.
    fn ask(mut self, job: &Job, timeout: Duration) -> Result<(Self, CheckedDump), WorkerError> {
        let mut line = serde_json::to_vec(job).map_err(WorkerError::Job)?;
        line.push(b'\n');
        // A worker that ended has an empty answer.
        let _ = self.input.write_all(&line);
        match self.lines.recv_timeout(timeout) {
            Ok(Ok(line)) if !line.is_empty() => {
                Ok((self, serde_json::from_str(&line).map_err(WorkerError::Form)?))
            }
            Err(RecvTimeoutError::Timeout) => Err(WorkerError::Timeout(timeout.as_secs())),
            Ok(_) | Err(RecvTimeoutError::Disconnected) => {
                Err(WorkerError::Ended(words(self.child.wait().map_err(WorkerError::Wait)?)))
            }
        }
    }
}

/// `by signal 11`, `with exit status 101`
fn words(ended: ExitStatus) -> String {
    match (ended.signal(), ended.code()) {
        (Some(signal), _) => format!("by signal {signal}"),
        (None, Some(code)) => format!("with exit status {code}"),
        (None, None) => "without a status".to_owned(),
    }
}
