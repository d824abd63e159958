//! The variables of every lane of every fixture, compared with the model in three ways: through the session, with the
//! command, and with the packets of the server.

use crate::json_of;
use lanescope::report::json;
use lanescope::server::{Client, ClientOptions};
use lanescope::session::{Inspect, Session, Variables as _, Waves as _};
use lanescope::units::LaneSet;
use serde_json::Value;

use crate::fixtures::{each_wave, few_expected, open, session};
use crate::server::framed;

#[test]
fn variables_of_every_lane_agree_with_the_models() {
    each_wave(|session, wave, expected, wrong| {
        let locals = session.locals(wave, session.kind().wave_size.all(), 0);
        let locals = locals.map(json::FrameVariables::of).map(json_of).map_err(|error| error.to_string());
        compare(locals, expected, wrong);
    });
}

#[test]
fn the_command_agrees_with_the_models() {
    let mut wrong = Vec::new();
    for (name, path, expected) in few_expected() {
        let waves = expected["waves"].as_array().unwrap();
        let ids: Vec<String> = waves.iter().map(|wave| wave["id"].to_string()).collect();
        let mut command = crate::support::lanescope();
        command.args(["locals", "--json", "--lane", "all", "--wave", &ids.join(",")]).arg(&path);
        let output = command.output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
        // The answer about one wave stands alone.
        let answers = answer["answers"].as_array().map_or(std::slice::from_ref(&answer), Vec::as_slice);
        assert_eq!(answers.len(), waves.len(), "{name}");
        for (locals, wave) in answers.iter().zip(waves) {
            let mut say = |text: String| wrong.push(format!("{name} wave {}: {text}", wave["id"]));
            compare(refused(locals.clone()), wave, &mut say);
        }
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_packets_agree_with_the_models() {
    let mut wrong = Vec::new();
    for (name, path, expected) in few_expected() {
        let dump = open(&path);
        for wave in expected["waves"].as_array().unwrap() {
            let id = wave["id"].as_u64().unwrap();
            let (session, ordinal) = session(&dump, id);
            let mut client = Asking::new(session);
            let thread = ordinal.0 + 1;
            let mut say = |text: String| wrong.push(format!("{name} wave {id}: {text}"));
            // All lanes at once, as an object in chunks; and one lane in one packet.
            let all = client.object(&format!("qXfer:lanescope-locals:read:{thread:x}.all"));
            compare(all, wave, &mut say);
            let lanes = wave["lanes"].as_array().and_then(|lanes| lanes.last()?.as_u64()).unwrap_or(31);
            let one = client.ask(&format!("qlanescope.Locals:thread:{thread:x};lane:{lanes:x};"));
            let one = serde_json::from_slice::<Value>(&one).map_err(|error| error.to_string());
            compare(one.and_then(refused), wave, &mut say);
        }
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A client of the server without a socket.
struct Asking(Client);

impl Asking {
    fn new(session: Session) -> Self {
        let session: Box<dyn Inspect> = Box::new(session);
        Self(Client::new(session, ClientOptions::default()))
    }

    /// The reply to a packet, unescaped.
    fn ask(&mut self, packet: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let _ = self.0.feed(&[b"+", framed(packet).as_slice()].concat(), &mut out);
        let start =
            out.iter().position(|byte| *byte == b'$').unwrap_or_else(|| panic!("no reply to {packet}"));
        let end = out.iter().rposition(|byte| *byte == b'#').unwrap();
        let mut reply = Vec::new();
        let mut bytes = out[start + 1..end].iter();
        while let Some(byte) = bytes.next() {
            reply.push(if *byte == b'}' { bytes.next().unwrap() ^ 0x20 } else { *byte });
        }
        reply
    }

    /// An object, read in chunks.
    fn object(&mut self, read: &str) -> Result<Value, String> {
        let mut text = Vec::new();
        loop {
            let piece = self.ask(&format!("{read}:{:x},ffff", text.len()));
            match piece.split_first() {
                Some((b'm', more)) => text.extend_from_slice(more),
                Some((b'l', rest)) => {
                    text.extend_from_slice(rest);
                    break;
                }
                _ => return Err(String::from_utf8_lossy(&piece).into_owned()),
            }
        }
        serde_json::from_slice(&text).map_err(|error| error.to_string()).and_then(refused)
    }
}

/// An error is JSON, too.
fn refused(answer: Value) -> Result<Value, String> {
    match answer.get("error") {
        Some(error) => Err(error.to_string()),
        None => Ok(answer),
    }
}

/// Compares an answer with the model: place, names, types, and every lane in both.
pub(crate) fn compare(answer: Result<Value, String>, expected: &Value, wrong: &mut dyn FnMut(String)) {
    let Some(variables) = expected["locals"].as_array() else { return };
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            if !variables.is_empty() {
                wrong(format!("no variables: {error}"));
            }
            return;
        }
    };
    place(&answer, expected, wrong);
    let got = answer["variables"].as_array().unwrap();
    let names = |of: &[Value]| of.iter().map(|v| v["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    if names(got) != names(variables) {
        wrong(format!("variables: expected {:?}, got {:?}", names(variables), names(got)));
        return;
    }
    // Lanes of the model's arrays.
    let columns: Vec<u64> = match expected["lanes"].as_array() {
        Some(lanes) => lanes.iter().filter_map(Value::as_u64).collect(),
        None => (0..64).collect(),
    };
    for (variable, expected) in got.iter().zip(variables) {
        let name = &variable["name"];
        if variable["type"] != expected["type"] {
            wrong(format!("{name}: type {}, expected {}", variable["type"], expected["type"]));
        }
        if let Some(scope) = expected["scope"].as_str()
            && variable["scope"] != scope
            // A local with a fixed address has static storage; the models do not distinguish it.
            && !(scope == "local" && variable["scope"] == "static")
        {
            wrong(format!("{name}: scope {}, expected {scope}", variable["scope"]));
        }
        for lane in variable["lanes"].as_array().unwrap() {
            let number = lane["lane"].as_u64().unwrap();
            let Some(index) = columns.iter().position(|column| *column == number) else { continue };
            if let Some(text) = differs(lane, expected, index) {
                wrong(format!("{name} lane {number}: {text}"));
            }
        }
    }
}

/// Compares function, file and line.
fn place(answer: &Value, expected: &Value, wrong: &mut dyn FnMut(String)) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(function) = expected["function"].as_str() {
        let got = text(&answer["function"]);
        if got != function && !got.ends_with(&format!("::{function}")) {
            wrong(format!("function: expected {function}, got {got}"));
        }
    }
    if expected["line"].is_u64() && answer["line"] != expected["line"] {
        wrong(format!("line: expected {}, got {}", expected["line"], answer["line"]));
    }
    if let Some(file) = expected["file"].as_str()
        && !text(&answer["file"]).ends_with(file)
    {
        wrong(format!("file: expected {file}, got {}", answer["file"]));
    }
}

fn differs(lane: &Value, expected: &Value, index: usize) -> Option<String> {
    let state = expected["state"].as_str().unwrap();
    // A value may lack parts; its text has marks for them.
    let wanted = if state.starts_with("partly_") { "ok" } else { state };
    let bytes = &expected["bytes"][index];
    let value = &expected["values"][index];
    if wanted == "ok" && bytes.is_null() && value.is_null() {
        // The model does not define this lane.
        return None;
    }
    if lane["state"] != wanted {
        return Some(format!("expected {wanted}, got {lane}"));
    }
    if let Some(bytes) = bytes.as_str()
        && lane["bytes"] != bytes
    {
        return Some(format!("expected bytes {bytes}, got {lane}"));
    }
    match value.as_str() {
        Some(value) if lane["value"] != value => Some(format!("expected {value}, got {lane}")),
        _ => None,
    }
}

/// One lane has the same values as among all lanes: nothing leaks between lanes.
#[test]
fn a_lane_alone_is_the_lane_among_all() {
    for (name, path, _) in few_expected() {
        let dump = open(&path);
        for wave in 0..dump.capture().waves.len().min(2) {
            let (session, ordinal) = session(&dump, u64::from(dump.capture().waves[wave].id));
            let all = session.kind().wave_size.all();
            let Ok(together) = session.locals(ordinal, all, 0) else { continue };
            let together = json_of(json::FrameVariables::of(together));
            for lane in [0, 17, 31].map(lanescope::units::LaneId) {
                let alone = json_of(json::FrameVariables::of(
                    session.locals(ordinal, LaneSet::one(lane), 0).unwrap(),
                ));
                let pairs = alone["variables"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .zip(together["variables"].as_array().unwrap());
                for (alone, together) in pairs {
                    assert_eq!(alone["lanes"][0], together["lanes"][usize::from(lane.0)], "{name} {lane}");
                }
            }
        }
    }
}
