//! All variables of all lanes of a wave, as `monitor locals all` asks for them: microseconds for each variable, what of
//! it is the session's own work, and the promise that 64 lanes at once are much less than 64 times one lane.
//!
//! `cargo bench --bench locals`, on the embedded demo's waves.

mod support;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use lanescope::arch::Targets;
use lanescope::import;
use lanescope::server::{Client, ClientOptions, Facade};
use lanescope::session::{Dump, Inspect, Session};
use lanescope::units::LaneSet;

use support::{Failure, Promises, TURNS, packet, pin_to_one_core, seconds_each};

fn main() -> Result<ExitCode, Failure> {
    pin_to_one_core()?;
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/demo.zip");
    let opened = import::open(&demo, &Targets::builtin())?;
    let dump = Arc::new(Dump::new(opened.capture, Vec::new()));
    let session = Session::new(Arc::clone(&dump), None)?;
    let wave = session.first_wave();
    let lanes = session.kind().wave_size.all();
    let variables = session.locals(wave, lanes, 0)?.variables.len();
    if variables < 10 {
        return Err(format!("only {variables} variables").into());
    }

    let mut client = Client::new(
        Box::new(Session::new(dump, None)?),
        ClientOptions { facade: Some(Facade::Gdb), ..ClientOptions::default() },
    );
    let mut reply = Vec::new();
    let request = packet(&format!("qRcmd,{}", hex("locals all")));
    for hello in ["QStartNoAckMode", "?"] {
        let _ = client.feed(&packet(hello), &mut reply);
    }
    let mut ratios = Vec::new();
    for turn in 1..=TURNS {
        let together = seconds_each(|| {
            session.locals(wave, lanes, 0)?;
            Ok(())
        })?;
        let apart = seconds_each(|| {
            for lane in lanes.iter() {
                session.locals(wave, LaneSet::one(lane), 0)?;
            }
            Ok(())
        })?;
        let answered = seconds_each(|| {
            reply.clear();
            let _ = client.feed(&request, &mut reply);
            if reply.ends_with(b"$OK#9a") { Ok(()) } else { Err("locals all was not answered".into()) }
        })?;
        ratios.push(apart / together);
        note(&format!(
            "turn {turn}: {variables} variables in {} lanes {:.1} us, {:.2} us each; lane by lane {:.1} us; as an answer to a \
             client {:.1} us, of which the session's {:.0} %",
            lanes.count(),
            together * 1e6,
            together * 1e6 / variables as f64,
            apart * 1e6,
            answered * 1e6,
            100.0 * together / answered
        ));
    }
    let mut promises = Promises::default();
    promises.at_least("variables of 64 lanes one by one, times all at once", &ratios, 4.0);
    Ok(promises.end())
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[allow(clippy::print_stdout, reason = "a bench prints what it measured")]
fn note(words: &str) {
    println!("{words}");
}
