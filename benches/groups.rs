//! Limit: grouping 10,000 waves by call stack takes at most 20 times as long as grouping 1,000 of them, and so do
//! their lanes.
//!
//! Bench `groups`. The waves repeat those of the fixture calls-gfx90a: stacks of one to three frames, with return
//! addresses and frame pointers saved in scalar and vector registers.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use lanescope::arch::Targets;
use lanescope::import;
use lanescope::session::{Dump, GroupBy, Grouping, Session, Stacks as _};

use crate::support::{Failure, Promises, TURNS, least, pin_to_one_core};

const WAVES: [usize; 2] = [1_000, 10_000];
const MAX_RATIO: f64 = 20.0;
/// Sessions per turn.
const RUNS: usize = 5;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    pin_to_one_core()?;
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps/calls-gfx90a");
    let mut promises = Promises::default();
    for (lanes, what) in [(false, "waves"), (true, "lanes of waves")] {
        let mut ratios = Vec::new();
        for turn in 1..=TURNS {
            let time = |waves| measure(&fixture, waves, lanes);
            let [few, many] = least(RUNS, [&|| time(WAVES[0]), &|| time(WAVES[1])])?;
            println!(
                "turn {turn}: {what}: {} {:.1} ms, {} {:.1} ms",
                WAVES[0],
                few * 1e3,
                WAVES[1],
                many * 1e3
            );
            ratios.push(many / few);
        }
        promises.at_most(&format!("{what} by call stack: 10,000, times 1,000"), &ratios, MAX_RATIO);
    }
    Ok(promises.end())
}

/// Seconds to group so many waves, or their lanes, in a session without warm caches.
fn measure(fixture: &Path, waves: usize, lanes: bool) -> Result<f64, Failure> {
    let mut opened = import::open(fixture, &Targets::builtin(), &import::Options::default())?;
    let few = std::mem::take(&mut opened.capture.waves);
    opened.capture.waves = few.iter().cycle().take(waves).cloned().collect();
    for (id, wave) in (1u32..).zip(&mut opened.capture.waves) {
        wave.id = id;
    }
    let session = Session::new(Arc::new(Dump::new(opened.capture, Vec::new())), None)?;
    let begin = std::time::Instant::now();
    let groups = session.groups(Grouping { by: GroupBy::Line, lanes })?.groups;
    let seconds = begin.elapsed().as_secs_f64();
    if groups.len() < few.len() || groups.iter().any(|group| group.count < waves / 5) {
        return Err(format!("{} groups of {waves} waves", groups.len()).into());
    }
    Ok(seconds)
}
