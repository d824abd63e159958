//! All variables of all lanes of a wave, as for `monitor locals all`. Limits: lane by lane takes at least 3 times as
//! long as 64 lanes together in the demo's frame, and 7 times in the fixtures' frame with the most variables. The
//! bench also prints the session's own part of an answer.
//!
//! Bench `locals`, on the waves of the embedded demo and of the fixtures. `locals count WHAT` asks ten times for one
//! of `none`, `together`, `apart`, `answered` and `largest`, to count its instructions (docs/performance.md).

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use lanescope::arch::Targets;
use lanescope::import;
use lanescope::server::{Client, ClientOptions, Facade};
use lanescope::session::{Dump, DumpFacts as _, Session, Storage as _, Variables as _, Waves as _};
use lanescope::units::{LaneId, LaneSet, WaveId, WaveSize};

use crate::support::{Failure, Promises, TURNS, packet, pin_to_one_core, seconds_each};

const LEAST_RATIO: f64 = 3.0;
const LEAST_RATIO_OF_LARGEST: f64 = 7.0;
/// Questions of `count`.
const COUNTED: usize = 10;

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode, Failure> {
    pin_to_one_core()?;
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/demo.zip");
    let opened = import::open(&demo, &Targets::builtin(), &import::Options::default())?;
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
    let (mut ratios, mut of_largest) = (Vec::new(), Vec::new());
    let (largest, largest_wave, count) = largest()?;
    // Each call is a question with a budget of its own.
    let ask_together = || -> Result<(), Failure> {
        session.next_question();
        session.locals(wave, lanes, 0)?;
        Ok(())
    };
    let ask_apart = || -> Result<(), Failure> {
        for lane in lanes.iter() {
            session.next_question();
            session.locals(wave, LaneSet::one(lane), 0)?;
        }
        Ok(())
    };
    let mut ask_answered = || -> Result<(), Failure> {
        reply.clear();
        let _ = client.feed(&request, &mut reply);
        if reply.ends_with(b"$OK#9a") { Ok(()) } else { Err("locals all was not answered".into()) }
    };
    let ask_largest = || -> Result<(), Failure> {
        largest.next_question();
        let found = largest.locals(largest_wave, largest.kind().wave_size.all(), 0)?;
        if found.variables.len() == count { Ok(()) } else { Err("variables went missing".into()) }
    };
    let ask_largest_apart = || -> Result<(), Failure> {
        for lane in largest.kind().wave_size.all().iter() {
            largest.next_question();
            largest.locals(largest_wave, LaneSet::one(lane), 0)?;
        }
        Ok(())
    };
    if let [part, what] = arguments.as_slice()
        && part == "count"
    {
        for _ in 0..COUNTED {
            match what.as_str() {
                "none" => {}
                "together" => ask_together()?,
                "apart" => ask_apart()?,
                "answered" => ask_answered()?,
                "largest" => ask_largest()?,
                _ => return Err(format!("no {what} to count").into()),
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    for turn in 1..=TURNS {
        let together = seconds_each(ask_together)?;
        let apart = seconds_each(ask_apart)?;
        let answered = seconds_each(&mut ask_answered)?;
        ratios.push(apart / together);
        let every = seconds_each(ask_largest)?;
        of_largest.push(seconds_each(ask_largest_apart)? / every);
        println!(
            "turn {turn}: {count} variables of {} in 64 lanes {:.1} us, {:.2} us each",
            largest.name(),
            every * 1e6,
            every * 1e6 / count as f64
        );
        println!(
            "turn {turn}: {variables} variables in {} lanes {:.1} us, {:.2} us each; lane by lane {:.1} us; as an answer to a \
             client {:.1} us, of which the session's {:.0} %",
            lanes.count(),
            together * 1e6,
            together * 1e6 / variables as f64,
            apart * 1e6,
            answered * 1e6,
            100.0 * together / answered
        );
    }
    let mut promises = Promises::default();
    promises.at_least("the demo's variables of 64 lanes one by one, times all at once", &ratios, LEAST_RATIO);
    promises.at_least("the same of the largest frame", &of_largest, LEAST_RATIO_OF_LARGEST);
    Ok(promises.end())
}

/// The frame with the most variables among the fixtures' waves of 64 lanes.
fn largest() -> Result<(Session, WaveId, usize), Failure> {
    let mut found: Option<(Session, WaveId, usize)> = None;
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps"))? {
        let opened = import::open(&entry?.path(), &Targets::builtin(), &import::Options::default())?;
        let session = Session::new(Arc::new(Dump::new(opened.capture, Vec::new())), None)?;
        if session.kind().wave_size != WaveSize::W64 {
            continue;
        }
        let lane = LaneSet::one(LaneId(0));
        let count = |wave: &WaveId| session.locals(*wave, lane, 0).map_or(0, |locals| locals.variables.len());
        let Some((count, wave)) = session.waves().iter().map(|wave| (count(wave), *wave)).max() else {
            continue;
        };
        if found.as_ref().is_none_or(|(.., most)| count > *most) {
            found = Some((session, wave, count));
        }
    }
    found.ok_or_else(|| "no fixture with waves of 64 lanes".into())
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}
