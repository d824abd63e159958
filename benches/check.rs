//! Limits for expectations. 30 dumps with 10 lines each take at most 0.8 times the processor time of their pages of the
//! cause, one command each; that of all processes together. `wave every` over 10,000 waves takes at most 8 times the
//! time over 2,500 waves.
//!
//! Bench `check` writes the files and measures. The minimum counts, because other work disturbs it least.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::support::{Failure, Promises, TURNS, children_seconds, least, many};

const DUMPS: usize = 30;
/// Runs per turn.
const RUNS: usize = 5;
/// Maximum ratio to the pages of the cause.
const MAX_TIMES_THE_PAGES: f64 = 0.8;
/// Waves of the two dumps, and the maximum ratio of their times.
const WAVES: [usize; 2] = [2_500, 10_000];
const MAX_RATIO: f64 = 8.0;
const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/demo.zip");
/// Ten expectations about the demo.
const LINES: &str = "dump    demo.zip
fault   memory violation
at      saxpy saxpy.hip:54
stack   saxpy
access  lane 24 load x[i] past end
waves   8, faulted 1

wave faulted
  exec         0x1ffffff
  lane active  i == 1000 + $lane
  lane 17      x[i] == 14.25
  lane 24      x[i] is unavailable
";
/// Expectations about each wave of a dump.
const EVERY: &str = "
wave every
  stack        saxpy
  lane active  $lane < 64
  lane 0-3     $pc != 0
";

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let folder = tempfile::tempdir()?;
    let crashes = folder.path().join("crashes");
    for number in 0..DUMPS {
        let own = crashes.join(number.to_string());
        fs::create_dir_all(&own)?;
        fs::copy(DEMO, own.join("demo.zip"))?;
        fs::write(own.join("demo.scope"), LINES)?;
    }
    let mut files = Vec::new();
    for waves in WAVES {
        many(waves, folder.path().join(waves.to_string()))?;
        let file = folder.path().join(format!("{waves}.scope"));
        fs::write(&file, format!("dump {waves}\n{EVERY}"))?;
        files.push(file);
    }
    // The first run warms the page cache.
    check(&crashes)?;
    let (mut pages, mut ratios) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let of_pages = || (0..DUMPS).map(|_| page()).sum();
        let [dumps, of_pages] = least(RUNS, [&|| check(&crashes), &of_pages])?;
        let [few, many] = least(RUNS, [&|| check(&files[0]), &|| check(&files[1])])?;
        println!(
            "turn {turn}: processor time of {DUMPS} dumps {dumps:.2} s, of their pages {of_pages:.2} s; {} waves {few:.2} s, {} waves {many:.2} s",
            WAVES[0], WAVES[1]
        );
        pages.push(dumps / of_pages);
        ratios.push(many / few);
    }
    let mut promises = Promises::default();
    promises.at_most(
        "30 dumps with 10 lines each, times their pages of the cause",
        &pages,
        MAX_TIMES_THE_PAGES,
    );
    promises.at_most("time for lines about 10,000 waves, times that about 2,500", &ratios, MAX_RATIO);
    Ok(promises.end())
}

/// Seconds of processor time to check files whose expectations hold.
fn check(path: &Path) -> Result<f64, Failure> {
    processor_time(&["check".as_ref(), path.as_os_str()])
}

/// Seconds of processor time for the demo's page of the cause.
fn page() -> Result<f64, Failure> {
    processor_time(&["triage".as_ref(), DEMO.as_ref()])
}

/// Seconds of processor time of a command and its children.
fn processor_time(words: &[&OsStr]) -> Result<f64, Failure> {
    children_seconds(|| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lanescope"));
        let output = command.args(words).stdin(Stdio::null()).output()?;
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into()),
        }
    })
}
