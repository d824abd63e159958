//! A client as the back end of a front end: messages on its standard input and output.

use std::fmt::Debug;
use std::io::{BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::harness::both_ends;
use crate::support::PATIENCE;
use crate::support::wait::patiently;

/// A process with messages in both directions.
pub(crate) struct Talk<M> {
    child: Child,
    input: Option<ChildStdin>,
    heard: Receiver<M>,
    /// All messages, for failures.
    said: String,
}

impl<M: Debug + Send + 'static> Talk<M> {
    /// Starts the process; `read` takes one message from its output, none at the end.
    pub(crate) fn start(
        command: &mut Command,
        mut read: impl FnMut(&mut BufReader<ChildStdout>) -> Option<M> + Send + 'static,
    ) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child =
            child.unwrap_or_else(|error| panic!("cannot run {name}: {error}; scripts/setup installs it"));
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (say, heard) = channel();
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                // After the end of the test the pipe must still be emptied.
                let _ = say.send(message);
            }
        });
        let input = child.stdin.take();
        Self { child, input, heard, said: String::new() }
    }

    pub(crate) fn send(&mut self, message: &str) {
        self.said.push_str(&format!("-> {message}\n"));
        let input = self.input.as_mut().unwrap();
        input.write_all(message.as_bytes()).and_then(|()| input.flush()).unwrap();
    }

    /// The first expected message, and those before it.
    pub(crate) fn wait<T>(&mut self, what: &str, mut wanted: impl FnMut(&M) -> Option<T>) -> (T, Vec<M>) {
        let mut before = Vec::new();
        loop {
            let Ok(message) = self.heard.recv_timeout(PATIENCE) else {
                panic!("never heard of {what}:\n{}", both_ends(&self.said));
            };
            self.said.push_str(&format!("<- {message:?}\n"));
            if let Some(found) = wanted(&message) {
                return (found, before);
            }
            before.push(message);
        }
    }

    /// The messages that came already.
    pub(crate) fn rest(&mut self) -> Vec<M> {
        let all: Vec<M> = self.heard.try_iter().collect();
        all.iter().for_each(|message| self.said.push_str(&format!("<- {message:?}\n")));
        all
    }

    /// All messages so far.
    pub(crate) fn transcript(&self) -> String {
        both_ends(&self.said)
    }

    /// Closes its input and waits for its end.
    pub(crate) fn ends(&mut self) {
        self.input = None;
        let end = patiently(|| self.child.try_wait().unwrap());
        assert!(end.is_some(), "it does not end:\n{}", self.transcript());
    }
}

impl<M> Drop for Talk<M> {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}
