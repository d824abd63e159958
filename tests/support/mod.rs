//! Shared by the test programs `suite` and `clients`: the program under test, tools, and waits.
//!
//! No test depends on the machine's speed. A test waits until a state is reached; only [`PATIENCE`] ends a wait, with the
//! state that was awaited. Clocks of the program are values that the tests set.

pub(crate) mod sample;
mod tools;
pub(crate) mod wait;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

pub(crate) use sample::least;
pub(crate) use tools::newest;
pub(crate) use wait::{PATIENCE, until};

/// [`PATIENCE`] as options of gdb and lldb: by themselves they wait for a packet 2 s and 5 s, which a busy machine exceeds.
pub(crate) const GDB_PATIENCE: &[&str] = &["-iex", "set remotetimeout 60"];
pub(crate) const LLDB_PATIENCE: &[&str] = &["-O", "settings set plugin.process.gdb-remote.packet-timeout 60"];

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("LANESCOPE_ROOT"))
}

/// The path of the program under test: of the tests' own profile, in the folder above theirs.
pub(crate) fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let tests = std::env::current_exe().unwrap();
        let program = tests.ancestors().nth(2).unwrap().join("lanescope");
        assert!(
            program.exists(),
            "{}: not built: cargo build --release (scripts/test builds it)",
            program.display()
        );
        program.into_os_string().into_string().unwrap()
    });
    &PROGRAM
}

/// The program under test, in the repository's folder, with the default actions of signals: processes that a shell starts
/// in the background inherit ignored ones. Lines are not folded: their length depends on the folder of the tests.
pub(crate) fn lanescope() -> Command {
    let mut command = Command::new("/usr/bin/env");
    command.arg("--default-signal").arg(program()).current_dir(root()).env("COLUMNS", "100000");
    command
}

/// Fixtures for tests that take seconds: of the kernels that are compiled for each GPU at two levels every third one, in
/// the order of their names, and all others.
pub(crate) fn some<T>(fixtures: Vec<T>, name: impl Fn(&T) -> &str) -> impl Iterator<Item = T> {
    let is_one_of_many = |fixture: &T| {
        let (kernel, level) = name(fixture).split_once('-').unwrap_or_default();
        ["call", "diverge", "lds", "saxpy"].contains(&kernel)
            && (level.ends_with("-O0") || level.ends_with("-O2"))
    };
    let (many, others): (Vec<T>, Vec<T>) = fixtures.into_iter().partition(is_one_of_many);
    sample::sampled(many, 3).chain(others)
}

/// The commands of a shell that limit what it starts to KiB of private memory, and, as a last stop, to seconds of
/// processor time.
pub(crate) fn limits(memory: u32, time: u32) -> String {
    format!("ulimit -d {memory} && ulimit -t {time} && ulimit -c 0")
}

/// Waits for the end of a process; one that hangs is killed.
pub(crate) fn ended(child: &mut Child, awaited: impl Display) -> ExitStatus {
    let end = Killing(child);
    until(awaited, || end.0.try_wait().unwrap())
}

/// [`ended`] with the output, which must fit the pipe.
pub(crate) fn output(mut child: Child, awaited: impl Display) -> Output {
    ended(&mut child, awaited);
    child.wait_with_output().unwrap()
}

struct Killing<'c>(&'c mut Child);

impl Drop for Killing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// Waits until all threads of a process sleep: what is to be done for its clients is done.
pub(crate) fn idle(process: u32) {
    let used = || {
        let mut time = 0;
        for task in std::fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten() {
            let read = |name| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
            // proc(5): the state after the name in brackets. A thread that waits for its turn is `R`.
            if read("stat").rsplit(") ").next()?.starts_with('R') {
                return None;
            }
            time += read("schedstat").split_whitespace().next()?.parse::<u64>().ok()?;
        }
        Some(time)
    };
    let mut last = None;
    until(format!("process {process} is idle"), || {
        let before = std::mem::replace(&mut last, used());
        (last.is_some() && last == before).then_some(())
    });
}

/// A clock of the program that stands until a test sets it.
pub(crate) struct StandingClock {
    start: Instant,
    passed: Arc<AtomicU64>,
}

impl StandingClock {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), passed: Arc::default() }
    }

    pub(crate) fn clock(&self) -> lanescope::clock::Clock {
        let (start, passed) = (self.start, Arc::clone(&self.passed));
        lanescope::clock::Clock::new(move || start + Duration::from_secs(passed.load(Ordering::SeqCst)))
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.passed.fetch_add(seconds, Ordering::SeqCst);
    }
}

/// The TCP port where a process listens: proc(5), the sockets among its files with the state 0A.
pub(crate) fn listening_port(process: u32) -> Option<u16> {
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    let sockets: Vec<String> = links.map(|link| link.to_string_lossy().into_owned()).collect();
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines().skip(1)).find_map(|line| {
        let row: Vec<&str> = line.split_whitespace().collect();
        let is_own = row[3] == "0A" && sockets.contains(&format!("socket:[{}]", row[9]));
        is_own.then(|| u16::from_str_radix(row[1].rsplit(':').next()?, 16).ok())?
    })
}

/// A folder of this process for files with names of their own. scripts/test removes those of earlier processes.
pub(crate) fn own_folder() -> &'static Path {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(std::process::id().to_string());
        std::fs::create_dir_all(&folder).unwrap();
        folder
    });
    &FOLDER
}
