//! Limits for expectations. 30 dumps with 10 lines each take at most 1 s of processor time, that of all processes
//! together. `wave every` over 10,000 waves takes at most 4.8 times the time over 2,500 waves.
//!
//! Bench `check` writes the files and measures. The processor time is that of the ended children, which
//! the kernel counts in ticks of 10 ms; the minimum counts, because other work disturbs it least.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::support::{Failure, Promises, TURNS, many, stat_seconds};

const DUMPS: usize = 30;
/// Runs per turn.
const RUNS: usize = 5;
const MAX_SECONDS: f64 = 1.0;
/// Waves of the two dumps, and the maximum ratio of their times.
const WAVES: [usize; 2] = [2_500, 10_000];
const MAX_RATIO: f64 = 4.8;
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
    measure(&crashes)?;
    let (mut seconds, mut ratios) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let dumps = least(&crashes)?;
        let [few, many] = [least(&files[0])?, least(&files[1])?];
        println!(
            "turn {turn}: {DUMPS} dumps {:.2} s of processor time, {:.2} s; {} waves {:.2} s, {} waves {:.2} s",
            dumps.processor, dumps.elapsed, WAVES[0], few.processor, WAVES[1], many.processor
        );
        seconds.push(dumps.processor);
        ratios.push(many.processor / few.processor);
    }
    let mut promises = Promises::default();
    promises.at_most("seconds of processor time for 30 dumps with 10 lines each", &seconds, MAX_SECONDS);
    promises.at_most("time for lines about 10,000 waves, times that about 2,500", &ratios, MAX_RATIO);
    Ok(promises.end())
}

/// The cost of a run, in seconds.
struct Cost {
    /// Of all its processes.
    processor: f64,
    elapsed: f64,
}

/// The run of a turn with the least processor time.
fn least(path: &Path) -> Result<Cost, Failure> {
    let mut least = measure(path)?;
    for _ in 1..RUNS {
        let next = measure(path)?;
        if next.processor < least.processor {
            least = next;
        }
    }
    Ok(least)
}

/// Checks files whose expectations hold.
fn measure(path: &Path) -> Result<Cost, Failure> {
    // `cutime` and `cstime`: ended children and theirs.
    let processor = || stat_seconds("self", 13);
    let (start, before) = (Instant::now(), processor()?);
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanescope"));
    let output = command.arg("check").arg(path).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        return Err(format!("{}", String::from_utf8_lossy(&[output.stdout, output.stderr].concat())).into());
    }
    Ok(Cost { processor: processor()? - before, elapsed: start.elapsed().as_secs_f64() })
}
