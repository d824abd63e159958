//! The samples over the remote protocol: registers by name, LDS, private memory of lanes and of waves.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use super::{SAMPLES, core, expected, swizzled};

use crate::server::framed;

/// A server on pipes.
struct Server {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(name: &str) -> Self {
        let mut child = crate::support::lanescope()
            .args(["serve", "--stdio"])
            .arg(core(name))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, answers };
        assert_eq!(server.ask("QStartNoAckMode"), "OK");
        server.child.stdin.as_mut().unwrap().write_all(b"+").unwrap();
        server
    }

    /// Sends a packet; returns the reply without its frame.
    fn ask(&mut self, body: &str) -> String {
        self.child.stdin.as_mut().unwrap().write_all(&framed(body)).unwrap();
        self.child.stdin.as_mut().unwrap().flush().unwrap();
        let mut answer = Vec::new();
        self.answers.read_until(b'#', &mut answer).unwrap();
        // The checksum.
        self.answers.read_exact(&mut [0; 2]).unwrap();
        let text = String::from_utf8(answer).unwrap();
        text.trim_end_matches('#').trim_start_matches('+').trim_start_matches('$').to_owned()
    }

    /// The target description, read in chunks.
    fn description(&mut self) -> String {
        let mut text = String::new();
        loop {
            let piece = self.ask(&format!("qXfer:features:read:target.xml:{:x},800", text.len()));
            text.push_str(&piece[1..]);
            if piece.starts_with('l') {
                return text;
            }
        }
    }

    /// `bytes` bytes of memory at a tagged address.
    fn memory(&mut self, address: u64, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes * 2 {
            let done = text.len() / 2;
            let want = (bytes - done).min(512);
            let piece = self.ask(&format!("m{:x},{want:x}", address + done as u64));
            assert!(!piece.starts_with('E') && !piece.is_empty(), "{piece} at {address:#x} + {done:#x}");
            text.push_str(&piece);
        }
        text
    }
}

/// Numbers of registers by name: `<reg name="v0" ... regnum="5"/>`, consecutive without a number.
fn numbers(description: &str) -> HashMap<String, u32> {
    let mut next = 0;
    let mut all = HashMap::new();
    for tag in description.split("<reg ").skip(1) {
        let tag = format!(" {}", &tag[..tag.find('>').unwrap()]);
        let attribute = |name: &str| {
            let from = tag.find(&format!(" {name}=\""))? + name.len() + 3;
            Some(tag[from..].split('"').next().unwrap())
        };
        let number = attribute("regnum").map_or(next, |number| number.parse().unwrap());
        next = number + 1;
        all.insert(attribute("name").unwrap().to_owned(), number);
    }
    all
}

/// A tagged address of an address space, for a wave (its ordinal) and a lane (docs/protocol.md).
fn tagged(space: u64, wave: u64, lane: u64) -> u64 {
    space << 56 | (wave + 1) << 39 | lane << 32
}

#[test]
fn every_register_and_byte_of_the_samples_is_served() {
    for name in SAMPLES {
        let expected = expected(name);
        let mut server = Server::start(name);
        let numbers = numbers(&server.description());
        let mut compared = 0;
        for wave in expected["waves"].as_array().unwrap() {
            let ordinal = wave["ordinal"].as_u64().unwrap();
            assert_eq!(server.ask(&format!("Hg{:x}", ordinal + 1)), "OK");
            let rewritten = wave["rewritten_by_oracle"].as_object().unwrap();
            let rewritten = rewritten.iter().map(|(name, values)| (name, &values["file"]));
            for (register, value) in wave["registers"].as_object().unwrap().iter().chain(rewritten) {
                // In stock gdb the wave is an x86-64 thread, whose PC has another name.
                let shown = if register == "pc" { "rip" } else { register };
                let number = numbers.get(shown).unwrap_or_else(|| panic!("{name}: no register {shown}"));
                let value = value.as_str().unwrap();
                assert_eq!(server.ask(&format!("p{number:x}")), value, "{name} wave {ordinal} {register}");
                compared += 1;
            }
            compared += memories(&mut server, name, ordinal, wave, &expected);
        }
        assert!(compared > 500, "{name}: {compared}");
    }
}

fn memories(server: &mut Server, name: &str, ordinal: u64, wave: &Value, expected: &Value) -> usize {
    let group = &expected["workgroups"][wave["workgroup"].as_u64().unwrap() as usize];
    if let Some(local) = group["local"].as_str() {
        assert_eq!(server.memory(tagged(3, ordinal, 0), local.len() / 2), local, "{name} wave {ordinal} LDS");
    }
    let Some(lanes) = wave["private_lane"].as_array() else { return 1 };
    for (lane, bytes) in (0..).zip(lanes) {
        let bytes = bytes.as_str().unwrap();
        let found = server.memory(tagged(5, ordinal, lane), bytes.len() / 2);
        assert_eq!(found, bytes, "{name} wave {ordinal} lane {lane}");
    }
    let all = swizzled(&wave["private_lane"]).unwrap();
    assert_eq!(
        server.memory(tagged(6, ordinal, 0), all.len() / 2),
        all,
        "{name} wave {ordinal} private_wave"
    );
    2 + lanes.len()
}
