//! Limit: 10,000 waves with call stacks are grouped in 1 s.
//!
//! Bench `groups`. The waves repeat those of the fixture calls-gfx90a: stacks of one to three frames,
//! with return addresses and frame pointers saved in scalar and vector registers.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use lanescope::arch::Targets;
use lanescope::import;
use lanescope::session::{Dump, GroupBy, Grouping, Session, Stacks as _};

use crate::support::{Failure, Promises, TURNS, pin_to_one_core};

const WAVES: u32 = 10_000;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    pin_to_one_core()?;
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps/calls-gfx90a");
    let mut turns = Vec::new();
    for turn in 1..=TURNS {
        // A new session each turn: no cache is warm.
        let mut opened = import::open(&fixture, &Targets::builtin(), &import::Options::default())?;
        let few = std::mem::take(&mut opened.capture.waves);
        opened.capture.waves = few.iter().cycle().take(WAVES as usize).cloned().collect();
        for (id, wave) in (1u32..).zip(&mut opened.capture.waves) {
            wave.id = id;
        }
        let session = Session::new(Arc::new(Dump::new(opened.capture, Vec::new())), None)?;
        let seconds = |lanes| -> Result<f64, Failure> {
            let begin = std::time::Instant::now();
            let groups = session.groups(Grouping { by: GroupBy::Line, lanes })?.groups;
            let seconds = begin.elapsed().as_secs_f64();
            if groups.len() < few.len() || groups.iter().any(|group| group.count < WAVES as usize / 5) {
                return Err(format!("{} groups of {} waves", groups.len(), WAVES).into());
            }
            Ok(seconds)
        };
        let (waves, lanes) = (seconds(false)?, seconds(true)?);
        println!("turn {turn}: {WAVES} waves {:.0} ms, their lanes {:.0} ms", waves * 1e3, lanes * 1e3);
        turns.push(waves);
    }
    let mut promises = Promises::default();
    promises.at_most("10,000 waves grouped by call stack, seconds", &turns, 1.0);
    Ok(promises.end())
}
