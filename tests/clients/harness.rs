//! Start and end of the server and of the clients: no process outlives its test.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::support::wait::patiently;
use crate::support::{GDB_PATIENCE, LLDB_PATIENCE, PATIENCE, ended, newest};

/// Output of the server before it accepts connections.
const LISTENING: &str = "Listening on ";
/// The program under test.
pub(crate) fn lanescope() -> &'static str {
    crate::support::program()
}

/// A path for this test run.
pub(crate) fn scratch(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let folder = crate::support::own_folder().join("clients");
    fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{}-{}-{name}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// A server on a free port.
pub(crate) struct Server {
    child: Child,
    /// `127.0.0.1:PORT`
    pub(crate) address: String,
    log: PathBuf,
}

impl Server {
    /// Serves a dump; returns once clients can connect.
    pub(crate) fn start(dump: &Path, options: &[&str]) -> Self {
        let dump = dump.as_os_str();
        Self::with([dump].into_iter().chain(options.iter().map(OsStr::new)))
    }

    /// Serves with these arguments of `lanescope serve`; without a dump, the demo.
    pub(crate) fn with<'a>(arguments: impl IntoIterator<Item = &'a OsStr>) -> Self {
        let log = scratch("server.log");
        let mut child = crate::support::lanescope()
            .arg("serve")
            .args(["--port", "0", "--verbose"])
            .args(arguments)
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let (say, heard) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                // After the end of the test the pipe must still be emptied.
                let _ = say.send(line);
            }
        });
        let mut server = Self { child, address: String::new(), log };
        while let Ok(line) = heard.recv_timeout(PATIENCE) {
            if let Some(address) = line.strip_prefix(LISTENING) {
                address.trim().clone_into(&mut server.address);
                return server;
            }
        }
        panic!("the server never listened: {}", server.output());
    }

    /// Its standard error so far.
    pub(crate) fn output(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Ends the server by a user's signal, and requires a clean end without warnings.
    pub(crate) fn finish(self) {
        self.finish_after(&[]);
    }

    /// [`Server::finish`] with expected warnings: every line contains one of these texts.
    pub(crate) fn finish_after(mut self, expected: &[&str]) {
        let early = self.child.try_wait().unwrap();
        assert!(early.is_none(), "the server ended by itself with {early:?}: {}", self.output());
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).unwrap();
        let status = ended(&mut self.child, "the end of the server on SIGTERM");
        let said = self.output();
        assert!(status.success(), "the server ended with {status}: {said}");
        let mut complaints = said.lines().filter(|line| !expected.iter().any(|words| line.contains(words)));
        assert!(complaints.next().is_none(), "the server complained: {said}");
    }

    /// Sends the server a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Waits until the server ends by itself.
    pub(crate) fn ended(mut self) -> ExitStatus {
        ended(&mut self.child, "the end of the server")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.log);
    }
}

/// A program on the PATH.
pub(crate) fn tool(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    // Without the user's settings and the distribution's debug information.
    command.env("LC_ALL", "C").env("TERM", "dumb").env("HOME", crate::support::own_folder());
    command.env_remove("DEBUGINFOD_URLS").env_remove("RUST_LOG").stdin(Stdio::null());
    command.current_dir(env!("LANESCOPE_ROOT"));
    let patience = patience(command.get_program());
    command.args(patience);
    command
}

/// Options of a debugger that waits for its server as long as a test does.
fn patience(program: &OsStr) -> &'static [&'static str] {
    match Path::new(program).file_name().and_then(OsStr::to_str).unwrap_or_default() {
        "gdb" | "gdb-multiarch" => GDB_PATIENCE,
        name if name.starts_with("lldb") && !name.starts_with("lldb-dap") => LLDB_PATIENCE,
        _ => &[],
    }
}

/// The name of the newest lldb: `lldb-22`.
pub(crate) fn lldb_name() -> String {
    newest("lldb").file_name().unwrap().to_str().unwrap().to_owned()
}

/// Runs a client to its end and returns all of its output, with standard error interleaved as on a terminal.
pub(crate) fn run(command: &mut Command) -> String {
    start(command).transcript()
}

/// Starts a client in its own process group.
pub(crate) fn start(command: &mut Command) -> Running {
    let name = command.get_program().to_string_lossy().into_owned();
    let path = scratch("transcript");
    let file = File::options().create(true).append(true).open(&path).unwrap();
    let child = command.process_group(0).stdout(file.try_clone().unwrap()).stderr(file).spawn();
    let child = child.unwrap_or_else(|error| panic!("cannot run {name}: {error}; scripts/setup installs it"));
    Running { child, name, path }
}

/// A running client.
pub(crate) struct Running {
    child: Child,
    name: String,
    path: PathBuf,
}

impl Running {
    /// Waits for its end. A client that says nothing for so long hangs.
    pub(crate) fn transcript(mut self) -> String {
        let size = |path: &Path| path.metadata().map_or(0, |file| file.len());
        loop {
            let before = size(&self.path);
            let news = patiently(|| {
                let has_ended = self.child.try_wait().unwrap().is_some();
                (has_ended || size(&self.path) > before).then_some(has_ended)
            });
            match news {
                Some(true) => return self.so_far(),
                Some(false) => {}
                None => panic!("{} hangs; so far it said:\n{}", self.name, both_ends(&self.so_far())),
            }
        }
    }

    /// Its output so far.
    pub(crate) fn so_far(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.path).unwrap_or_default()).into_owned()
    }

    /// Waits until the output contains the text.
    pub(crate) fn wait_for(&self, words: &str) {
        let said = patiently(|| self.so_far().contains(words).then_some(()));
        assert!(said.is_some(), "{} never said {words:?}:\n{}", self.name, self.so_far());
    }

    /// Kills the client without a shutdown.
    pub(crate) fn kill(mut self) {
        killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL).unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
            let _ = self.child.wait();
        }
        let _ = fs::remove_file(&self.path);
    }
}

/// Beginning and end of a long text.
pub(crate) fn both_ends(text: &str) -> String {
    const MOST: usize = 3000;
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= 2 * MOST {
        return text.to_owned();
    }
    let part = |part: &[char]| part.iter().collect::<String>();
    format!("{}\n[...]\n{}", part(&characters[..MOST]), part(&characters[characters.len() - MOST..]))
}
