//! A client of the server: its thread has a smaller stack than a command has.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::run::{Hostile, bounded};

/// The server over a dump, with the bounds of a command.
pub(super) struct Server {
    child: Child,
    client: UnixStream,
}

impl Server {
    pub(super) fn start(hostile: &Hostile, folder: &Path) -> Self {
        let socket = folder.join("socket");
        let words = ["serve".into(), "--unix".into(), socket.clone(), hostile.folder().to_owned()];
        let mut child = bounded(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("Listening") {
            line.clear();
            assert_ne!(said.read_line(&mut line).unwrap(), 0, "the server ended");
        }
        let client = UnixStream::connect(&socket).unwrap();
        Self { child, client }
    }

    /// The reply to a packet, after what it prints.
    pub(super) fn ask(&mut self, body: &str) -> String {
        let sum = body.bytes().fold(0u8, u8::wrapping_add);
        write!(self.client, "+${body}#{sum:02x}").unwrap();
        loop {
            let reply = self.reply();
            if !reply.starts_with('O') || reply == "OK" {
                return reply;
            }
        }
    }

    fn reply(&mut self) -> String {
        let mut reply = Vec::new();
        let mut byte = [0];
        while reply.len() < 3 || reply[reply.len() - 3] != b'#' {
            self.client.read_exact(&mut byte).expect("the server answers");
            reply.push(byte[0]);
        }
        let text = String::from_utf8_lossy(&reply[..reply.len() - 3]);
        text.trim_start_matches('+').trim_start_matches('$').to_owned()
    }

    /// Ends the server, which was there all the time.
    pub(super) fn end(mut self) {
        assert_eq!(self.ask("T1"), "OK");
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

/// What gdb asks first, with the view, and what a user asks.
pub(super) fn a_client_lives(object: &[u8]) {
    let hostile = Hostile::with_code(object);
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(&hostile, folder.path());
    server.ask("qSupported:multiprocess+;swbreak+;hwbreak+;xmlRegisters=i386");
    assert!(server.ask("?").starts_with('T'));
    let name = server.ask("qXfer:exec-file:read::0,1000");
    assert!(name.starts_with('l'), "{name}");
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let opened = server.ask(&format!("vFile:open:{},0,0", hex(&name[1..])));
    assert!(opened.starts_with("F0"), "{opened}");
    for command in ["backtrace", "locals", "notices", "waves"] {
        assert_eq!(server.ask(&format!("qRcmd,{}", hex(command))), "OK", "{command}");
    }
    server.end();
}
