//! Plays tests/transcripts/*.txt: one file per packet family.
//!
//! ```text
//! # a comment
//! : waves 4                  the synthetic capture (synthetic.rs) to serve; also `: kind gfx1030 32`, `: client lldb`, `: threads lanes`
//! > qC                       a packet to send, framed and acknowledged by the player
//! < QC2                      the reply, exactly; `...` stands for any bytes
//! <b {"waves":...}           the same after taking the escaping of binary data away
//! <O Lane 3.\n               text for the user, in one packet or several
//! >! $qC#00                  bytes to send as they are
//! <! -                       all the bytes that come back
//! = closed                   the server ended the connection
//! ```
//!
//! In every line `\n` and `\xNN` stand for bytes. All that comes back must be named. With `BLESS=1` what came back is
//! written in the place of expectations that did not hold; read the diff before you keep it.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use super::framed;
use super::synthetic::session_of;
use lanescope::server::{Client, ClientOptions, Facade, Flow, Threads, ThreadsAs};
use lanescope::units::WaveSize;

macro_rules! transcripts {
    ($($name:ident),+ $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),+];
        $(#[test]
        fn $name() {
            play(stringify!($name));
        })+
    };
}

transcripts! {
    amdgcn_gdb, amdgcn_lldb, framing, handshake_gdb, handshake_ida, handshake_lldb, hostile, lanes, lldb, memory, monitor, process, registers,
    resume_gdb, resume_lldb, stop, threads, vendor, writes, xfer,
}

fn folder() -> PathBuf {
    crate::support::root().join("tests/transcripts")
}

#[test]
fn every_transcript_is_played() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, NAMES);
}

/// A client that is driven by a transcript.
struct Player {
    client: Client,
    /// Packets that came back and were not named yet.
    packets: Vec<Vec<u8>>,
    /// All bytes that came back to the last `>!`.
    raw: Vec<u8>,
    closed: bool,
}

impl Player {
    fn send(&mut self, bytes: &[u8]) {
        let mut out = Vec::new();
        self.closed |= self.client.feed(bytes, &mut out) == Flow::Close;
        self.raw = out;
    }

    /// Sends a packet, takes its reply apart and acknowledges it.
    fn packet(&mut self, body: &[u8]) {
        self.send(&framed(body));
        let out = std::mem::take(&mut self.raw);
        let mut rest = out.as_slice();
        while let Some(start) = rest.iter().position(|byte| *byte == b'$') {
            let end = start + rest[start..].iter().position(|byte| *byte == b'#').unwrap();
            self.packets.push(rest[start + 1..end].to_vec());
            rest = &rest[end + 3..];
            self.send(b"+");
            assert!(self.raw.is_empty(), "an acknowledgement was answered");
        }
    }

    /// The text of the `O` packets at the front.
    fn text(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        while self.packets.first().is_some_and(|packet| packet.starts_with(b"O") && packet != b"OK") {
            let packet = self.packets.remove(0);
            text.extend(
                packet[1..]
                    .chunks(2)
                    .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()),
            );
        }
        text
    }
}

fn play(name: &str) {
    let path = folder().join(format!("{name}.txt"));
    let script = std::fs::read_to_string(&path).unwrap();
    let (mut waves, mut kind, mut options) =
        (4, ("gfx90a".to_owned(), WaveSize::W64), ClientOptions::default());
    let mut threads = None;
    let mut player: Option<Player> = None;
    let mut blessed = String::new();
    let mut failures = String::new();
    for (number, line) in script.lines().enumerate() {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        if mark == ":" {
            finish(&mut player, &mut blessed, &mut failures, number);
            match rest.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["waves", count] => waves = count.parse().unwrap(),
                ["client", client] => {
                    options.facade =
                        Some(Facade::NAMES.into_iter().find(|(name, _)| name == client).unwrap().1)
                }
                ["threads", what] => {
                    threads = Some(ThreadsAs::NAMES.into_iter().find(|(name, _)| name == what).unwrap().1)
                }
                ["anew"] => player = None,
                ["kind", target, lanes] => {
                    kind = ((*target).to_owned(), WaveSize::from_lanes(lanes.parse().unwrap()).unwrap());
                }
                _ => panic!("{}:{}: {line}", path.display(), number + 1),
            }
        }
        if line.is_empty() || matches!(mark, "#" | ":") {
            finish(&mut player, &mut blessed, &mut failures, number);
            writeln!(blessed, "{line}").unwrap();
            continue;
        }
        if player.is_none() {
            let session = Box::new(session_of(&kind.0, kind.1, waves));
            let threads = threads.map(|threads| Threads::new(&*session, threads, None).unwrap());
            let options = ClientOptions { threads: threads.map(Arc::new), ..options.clone() };
            let client = Client::new(session, options);
            player = Some(Player { client, packets: Vec::new(), raw: Vec::new(), closed: false });
        }
        let playing = player.as_mut().unwrap();
        let expected = unescape(rest);
        let got = match mark {
            ">" | ">!" => {
                finish(&mut player, &mut blessed, &mut failures, number);
                writeln!(blessed, "{line}").unwrap();
                let playing = player.as_mut().unwrap();
                if mark == ">" {
                    playing.packet(&expected)
                } else {
                    playing.send(&expected)
                }
                continue;
            }
            "<!" => std::mem::take(&mut playing.raw),
            "<O" => playing.text(),
            "<" | "<b" if playing.packets.is_empty() => {
                writeln!(failures, "{}:{}: nothing came back", path.display(), number + 1).unwrap();
                continue;
            }
            "<" => playing.packets.remove(0),
            "<b" => plain(&playing.packets.remove(0)),
            "=" => (if playing.closed { "closed" } else { "open" }).as_bytes().to_vec(),
            _ => panic!("{}:{}: {line}", path.display(), number + 1),
        };
        if matches(&got, &expected) {
            writeln!(blessed, "{line}").unwrap();
        } else {
            writeln!(blessed, "{}", format!("{mark} {}", escape(&got)).trim_end()).unwrap();
            let at = format!("{}:{}", path.display(), number + 1);
            writeln!(failures, "{at}:\n  expected {rest}\n  got      {}", escape(&got)).unwrap();
        }
    }
    finish(&mut player, &mut blessed, &mut failures, script.lines().count());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, blessed).unwrap();
    } else {
        assert!(failures.is_empty(), "\n{failures}");
    }
}

/// Complains of what came back and was not named.
fn finish(player: &mut Option<Player>, blessed: &mut String, failures: &mut String, line: usize) {
    let Some(player) = player else { return };
    let mut extra = Vec::new();
    let text = player.text();
    if !text.is_empty() {
        extra.push(format!("<O {}", escape(&text)));
    }
    for packet in player.packets.drain(..) {
        let binary = packet.contains(&b'}');
        let shown = if binary { escape(&plain(&packet)) } else { escape(&packet) };
        extra.push(format!("{} {shown}", if binary { "<b" } else { "<" }).trim_end().to_owned());
    }
    if !player.raw.is_empty() {
        extra.push(format!("<! {}", escape(&std::mem::take(&mut player.raw))));
    }
    for line_got in extra {
        writeln!(failures, "before line {}: not expected: {line_got}", line + 1).unwrap();
        writeln!(blessed, "{line_got}").unwrap();
    }
}

/// Whether bytes are as expected, where `...` stands for any.
fn matches(got: &[u8], expected: &[u8]) -> bool {
    let Some(at) = expected.windows(3).position(|window| window == b"...") else { return got == expected };
    let (head, tail) = (&expected[..at], &expected[at + 3..]);
    got.starts_with(head) && (at..=got.len()).any(|from| matches(&got[from..], tail))
}

fn plain(packet: &[u8]) -> Vec<u8> {
    let mut bytes = packet.iter();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        plain.push(if *byte == b'}' { bytes.next().unwrap() ^ 0x20 } else { *byte });
    }
    plain
}

fn escape(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\\' => text.push_str("\\x5c"),
            b' '..=b'~' => text.push(char::from(*byte)),
            byte => write!(text, "\\x{byte:02x}").unwrap(),
        }
    }
    text
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let digits = rest.strip_prefix('x').and_then(|rest| rest.get(..2));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.push(b'\n');
                rest = rest.strip_prefix('n').unwrap();
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}
