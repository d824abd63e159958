//! Running a tool with bounded input, output and time.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::DisassembleError;
use super::tools::Tool;

/// Maximum bytes read from each of a tool's outputs: some hundred bytes per byte of input.
pub const MAX_OUTPUT: usize = 8 << 20;
/// Poll interval for the exit of a tool that has closed its outputs.
const POLL: Duration = Duration::from_millis(2);

/// Receives the complete output at its end.
type Heard = Option<Receiver<Vec<u8>>>;

/// The output of a tool.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a tool with the given input and time limit.
pub(super) fn run(
    tool: &Tool,
    arguments: &[String],
    input: Vec<u8>,
    limit: Duration,
) -> Result<Output, DisassembleError> {
    let not_run = |error: std::io::Error| DisassembleError::NotRun {
        tool: tool.path.display().to_string(),
        error: error.to_string(),
    };
    let mut command = Command::new(&tool.path);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(not_run)?;
    let end = Instant::now() + limit;
    if let Some(mut stdin) = child.stdin.take() {
        // A tool that ends early leaves input unread; that is no error.
        thread::spawn(move || stdin.write_all(&input));
    }
    let outputs = (child.stdout.take().map(reader), child.stderr.take().map(reader));
    let finished = finish(&mut child, outputs, tool, end, limit);
    if finished.is_err() {
        // The readers end with the tool. A child process that holds its outputs open delays nobody.
        let _ = child.kill();
        let _ = child.wait();
    }
    finished
}

fn finish(
    child: &mut Child,
    (stdout, stderr): (Heard, Heard),
    tool: &Tool,
    end: Instant,
    limit: Duration,
) -> Result<Output, DisassembleError> {
    let late = || DisassembleError::TimedOut { tool: tool.name(), limit };
    let left = || end.saturating_duration_since(Instant::now());
    let text = |from: Heard| {
        let bytes = match from {
            Some(from) => from.recv_timeout(left()).map_err(|_| late())?,
            None => Vec::new(),
        };
        if bytes.len() > MAX_OUTPUT {
            return Err(DisassembleError::TooMuch { tool: tool.name(), limit: MAX_OUTPUT });
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let (stdout, stderr) = (text(stdout)?, text(stderr)?);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Output { status, stdout, stderr }),
            Ok(None) if left().is_zero() => return Err(late()),
            Ok(None) => thread::sleep(POLL),
            Err(error) => {
                return Err(DisassembleError::NotRun {
                    tool: tool.path.display().to_string(),
                    error: error.to_string(),
                });
            }
        }
    }
}

/// Reads an output to its end, at most one byte past the limit.
fn reader(output: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.take(MAX_OUTPUT as u64 + 1).read_to_end(&mut bytes);
        // After a timeout the receiver is gone.
        let _ = send.send(bytes);
    });
    receive
}
