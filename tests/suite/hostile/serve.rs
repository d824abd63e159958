//! A client of the server, whose thread has a smaller stack than a command.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::run::{Hostile, bounded};
use crate::server::framed;
use crate::support::{ended, until};

/// The server over a dump, with the limits of a command.
pub(super) struct Server {
    child: Child,
    client: UnixStream,
    replies: BufReader<UnixStream>,
    log: PathBuf,
}

impl Server {
    pub(super) fn start(hostile: &Hostile, folder: &Path) -> Self {
        let (socket, log) = (folder.join("socket"), folder.join("log"));
        let words = ["serve".into(), "--unix".into(), socket.clone(), hostile.folder().to_owned()];
        let mut child = bounded(&words)
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .env("RUST_LOG", "lanescope=debug")
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("Listening") {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "the server ended");
        }
        let client = UnixStream::connect(&socket).unwrap();
        let replies = BufReader::new(client.try_clone().unwrap());
        Self { child, client, replies, log }
    }

    /// The reply to a packet, with its console output.
    pub(super) fn ask(&mut self, body: &str) -> String {
        self.exchange(body).0
    }

    /// The reply to a packet, and its console output.
    fn exchange(&mut self, body: &str) -> (String, String) {
        self.client.write_all(&[b"+", framed(body).as_slice()].concat()).unwrap();
        let mut printed = Vec::new();
        loop {
            let reply = self.reply();
            match reply.strip_prefix('O').filter(|_| reply != "OK") {
                None => return (reply, String::from_utf8(printed).unwrap()),
                Some(text) => {
                    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
                    printed.extend((0..text.len()).step_by(2).map(byte));
                }
            }
        }
    }

    fn reply(&mut self) -> String {
        let mut reply = Vec::new();
        self.replies.read_until(b'#', &mut reply).expect("the server answers");
        // The checksum.
        self.replies.read_exact(&mut [0; 2]).expect("the server answers");
        let text = String::from_utf8_lossy(&reply[..reply.len() - 1]);
        text.trim_start_matches('+').trim_start_matches('$').to_owned()
    }

    /// One of our own documents, read to its end, or the error reply.
    pub(super) fn document(&mut self, object: &str, annex: &str) -> String {
        let mut document = String::new();
        loop {
            let reply = self.ask(&format!("qXfer:{object}:read:{annex}:{:x},f000", document.len()));
            match reply.split_at_checked(1) {
                // Quotes and braces of JSON are escaped as binary data: `}` and the byte XOR 0x20.
                Some((more @ ("m" | "l"), piece)) => {
                    document.push_str(&unescaped(piece));
                    if more == "l" {
                        return document;
                    }
                }
                _ => return reply,
            }
        }
    }

    /// Runs a monitor command; returns its output.
    pub(super) fn command(&mut self, command: &str) -> String {
        let (reply, printed) = self.exchange(&format!("qRcmd,{}", hex(command)));
        assert_eq!(reply, "OK", "{command}");
        printed
    }

    /// Sends a long command a hundred times and disconnects in the midst: few of them are answered.
    pub(super) fn leave_during(mut self, command: &str) {
        let body = format!("qRcmd,{}", hex(command));
        self.client.write_all(&[b"+".to_vec(), framed(&body).repeat(100)].concat()).unwrap();
        // The first bytes of an answer.
        self.replies.read_exact(&mut [0; 3]).unwrap();
        drop((self.client, self.replies));
        let answers: usize = until("the end of the client in the log", || {
            let log = fs::read_to_string(&self.log).unwrap();
            let (_, count) = log.split_once("; answers: ")?;
            count.lines().next()?.parse().ok()
        });
        // Those before the command are among them.
        assert!(answers < 50, "{answers} answers of a hundred to nobody");
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
        assert!(ended(&mut self.child, "the end of the server after SIGTERM").success());
    }

    /// Ends the server, which must still run.
    pub(super) fn end(mut self) {
        assert_eq!(self.ask("T1"), "OK");
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
        assert!(ended(&mut self.child, "the end of the server after SIGTERM").success());
    }
}

fn unescaped(piece: &str) -> String {
    let mut parts = piece.split('}');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push(char::from(part.as_bytes()[0] ^ 0x20));
        text.push_str(&part[1..]);
    }
    text
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// gdb's first questions, with the view, and a user's.
pub(super) fn a_client_lives(object: &[u8]) {
    let hostile = Hostile::with_code(object);
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&hostile, folder.path());
    server.ask("qSupported:multiprocess+;swbreak+;hwbreak+;xmlRegisters=i386");
    assert!(server.ask("?").starts_with('T'));
    let name = server.ask("qXfer:exec-file:read::0,1000");
    assert!(name.starts_with('l'), "{name}");
    // gdb asks the server for files with this prefix.
    let file = name[1..].strip_prefix("target:").unwrap();
    let opened = server.ask(&format!("vFile:open:{},0,0", hex(file)));
    assert!(opened.starts_with("F0"), "{opened}");
    for command in ["backtrace", "locals", "notices", "waves"] {
        server.command(command);
    }
    server.end();
}
