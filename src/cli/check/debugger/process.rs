//! A server, and a stock debugger that is its client.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde::Serialize;

use super::{Answer, Brand, Debugger};
use crate::clean::clean;
use crate::cli::serve::address_of;

/// A question about a lane, a thread of the debugger.
#[derive(Debug, Serialize)]
pub(super) struct Question {
    /// The id in the dump.
    pub(super) wave: u32,
    pub(super) lane: u32,
    pub(super) frame: usize,
    /// The path of a value; `None`: the frames.
    pub(super) path: Option<String>,
}

/// The reason that a debugger has no answers.
#[derive(Debug, thiserror::Error)]
pub(super) enum DebuggerError {
    /// A program did not start, or a file is unreadable.
    #[error("{what}: {error}")]
    Io {
        /// The program or file.
        what: String,
        /// The operating system's error.
        error: std::io::Error,
    },
    /// The server ended before it listened.
    #[error("the server ended with {0}")]
    Server(std::process::ExitStatus),
    /// The debugger ended without answers.
    #[error("{name} gave no answers (a {name} with Python?): {output}")]
    Silent {
        /// The debugger.
        name: String,
        /// The end of its output.
        output: String,
    },
}

/// A process that ends when it is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves a dump by `words`, the arguments of `lanescope serve`, and runs a fresh debugger as its client.
pub(super) fn ask(
    debugger: &Debugger,
    words: &[OsString],
    questions: &[Question],
) -> Result<Vec<Answer>, DebuggerError> {
    let io = |what: &str| {
        let what = what.to_owned();
        move |error| DebuggerError::Io { what, error }
    };
    let folder = tempfile::tempdir().map_err(io("a temporary folder"))?;
    let path = |name: &str| folder.path().join(name);
    let (socket, asked, answers, script) = (path("s"), path("questions"), path("answers"), path("script.py"));
    let json = serde_json::to_vec(questions).map_err(|error| io("questions")(error.into()))?;
    std::fs::write(&asked, json).map_err(io("questions"))?;
    std::fs::write(&script, debugger.script()).map_err(io("script"))?;
    let _server = serve(words, &socket)?;
    let load = "import os; exec(open(os.environ['LANESCOPE_SCRIPT']).read(), globals())";
    let mut command = Command::new(&debugger.program);
    match debugger.brand {
        Brand::Gdb => command.args(["-nx", "-q", "-batch", "-ex"]).arg(format!("python {load}")),
        Brand::Lldb => command.args(["--no-lldbinit", "--batch", "-o"]).arg(format!("script {load}")),
    };
    let variables = [("SOCKET", &socket), ("QUESTIONS", &asked), ("ANSWERS", &answers), ("SCRIPT", &script)];
    command.envs(variables.map(|(name, path)| (format!("LANESCOPE_{name}"), path)));
    // Without debug information from the network.
    command.env_remove("DEBUGINFOD_URLS").stdin(Stdio::null());
    let output = command.output().map_err(io(&debugger.name()))?;
    let found = std::fs::read(&answers).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    found.ok_or_else(|| DebuggerError::Silent { name: debugger.name(), output: end(&output) })
}

/// The last lines of a debugger's output.
fn end(output: &std::process::Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let lines: Vec<String> = text
        .rsplit(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .take(4)
        .map(|line| clean(String::from_utf8_lossy(line)).into_owned())
        .collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("; ")
}

/// Starts a server, and waits until it listens.
fn serve(words: &[OsString], socket: &Path) -> Result<Ended, DebuggerError> {
    let io = |error| DebuggerError::Io { what: "lanescope serve".to_owned(), error };
    let program = std::env::current_exe().map_err(io)?;
    let mut command = Command::new(program);
    command.arg("serve").args(words).arg("--unix").arg(socket).args(["--once", "--threads", "lanes"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Ended(command.spawn().map_err(io)?);
    match address_of(&mut server.0) {
        Some(_) => Ok(server),
        None => Err(DebuggerError::Server(server.0.wait().map_err(io)?)),
    }
}
