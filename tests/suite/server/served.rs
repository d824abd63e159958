//! The program, serving in a process of its own: its memory, processor time and end are measured.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::framed;
use crate::support::{PATIENCE, ended, idle, until};

/// A server in a process of its own.
pub(super) struct Served {
    pub(super) child: Child,
    address: SocketAddr,
    pub(super) log: Arc<Mutex<String>>,
}

impl Served {
    pub(super) fn start(dump: &Path, arguments: &[&str]) -> Self {
        Self::spawn(
            crate::support::lanescope()
                .args(["serve", "--port", "0"])
                .env("RUST_LOG", "lanescope=debug")
                .args(arguments)
                .arg(dump),
        )
    }

    pub(super) fn spawn(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (log, stderr) = (Arc::new(Mutex::new(String::new())), child.stderr.take().unwrap());
        let to = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                to.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with("Listening on "));
        let line = line.unwrap_or_else(|| panic!("it does not listen: {}", log.lock().unwrap()));
        let address = line.trim_start_matches("Listening on ").parse().unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address, log }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
        stream
    }

    /// Kilobytes of anonymous memory: proc(5), `RssAnon`.
    pub(super) fn anonymous(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Waits until the server has nothing to do: work that does not end fails.
    pub(super) fn idle(&self) {
        idle(self.child.id());
    }

    /// Lines of the log with a text, at least one: a thread of the test copies the log and may be behind the server.
    pub(super) fn logged(&self, text: &str) -> Vec<String> {
        let lines = || self.log.lock().unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
        until(format!("\"{text}\" in the log"), || {
            let found: Vec<String> = lines().into_iter().filter(|line| line.contains(text)).collect();
            (!found.is_empty()).then_some(found)
        })
    }

    /// The number of answers to the first client that left.
    pub(super) fn answers(&self) -> usize {
        let line = self.logged("; answers: ").remove(0);
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap())
    }

    /// Ends it by SIGTERM.
    pub(super) fn end(mut self) {
        kill(self.pid(), Signal::SIGTERM).unwrap();
        assert!(ended(&mut self.child, "the end of the server after SIGTERM").success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn packet(body: &str) -> String {
    String::from_utf8(framed(body)).unwrap()
}

/// Sends a packet and reads its reply, without acknowledgements between them.
pub(super) fn ask(stream: &mut (impl Read + Write), body: &str) -> std::io::Result<String> {
    stream.write_all(packet(body).as_bytes())?;
    reply(stream)
}

/// Reads one packet.
pub(super) fn reply(stream: &mut impl Read) -> std::io::Result<String> {
    let mut answer = Vec::new();
    let mut byte = [0];
    while answer.len() < 3 || answer[answer.len() - 3] != b'#' {
        stream.read_exact(&mut byte)?;
        answer.push(byte[0]);
    }
    // Binary data is one character a byte.
    let text: String = answer.into_iter().map(char::from).collect();
    Ok(text.trim_start_matches(['+', '$']).rsplit_once('#').unwrap().0.to_owned())
}
