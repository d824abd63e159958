//! Limits for reports. The HTML of the demo takes at most 100 ms and 300 KB, that of 10,000 waves of optimized code at
//! most 2 s and 5 MB.
//!
//! Each run is a process of its own; the minimum counts, because other work disturbs it least.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::support::{Failure, MANY, Promises, TURNS, many, scratch};

/// Runs per turn.
const RUNS: usize = 5;
const MAX_DEMO: f64 = 100.0;
const MAX_DEMO_KILOBYTES: f64 = 300.0;
const MAX_SECONDS: f64 = 2.0;
const MAX_MEGABYTES: f64 = 5.0;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let many = many(MANY, scratch("many")?)?;
    // The first runs warm the page cache.
    measure(None)?;
    measure(Some(&many))?;
    let (mut demo, mut demo_size, mut seconds, mut size) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let (of_demo, of_many) = (least(None)?, least(Some(&many))?);
        println!(
            "turn {turn}: demo {:.1} ms, {:.0} KB; 10,000 waves {:.0} ms, {:.2} MB",
            of_demo.0,
            of_demo.1 / 1e3,
            of_many.0,
            of_many.1 / 1e6
        );
        demo.push(of_demo.0);
        demo_size.push(of_demo.1 / 1e3);
        seconds.push(of_many.0 / 1e3);
        size.push(of_many.1 / 1e6);
    }
    let mut promises = Promises::default();
    promises.at_most("milliseconds for the HTML of the demo", &demo, MAX_DEMO);
    promises.at_most("kilobytes of it", &demo_size, MAX_DEMO_KILOBYTES);
    promises.at_most("seconds for the HTML of 10,000 waves", &seconds, MAX_SECONDS);
    promises.at_most("megabytes of it", &size, MAX_MEGABYTES);
    Ok(promises.end())
}

/// The minimum of the runs of a turn.
fn least(dump: Option<&Path>) -> Result<(f64, f64), Failure> {
    let mut least = measure(dump)?;
    for _ in 1..RUNS {
        least.0 = least.0.min(measure(dump)?.0);
    }
    Ok(least)
}

/// Milliseconds for the HTML of a dump, or of the demo, and its bytes.
fn measure(dump: Option<&Path>) -> Result<(f64, f64), Failure> {
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanescope"));
    let output = command.args(["report", "--format", "html"]).args(dump).stdin(Stdio::null()).output()?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    if !output.status.success()
        || !output.stdout.ends_with(b"</html>") && !output.stdout.ends_with(b"</html>\n")
    {
        return Err(format!("no report: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok((milliseconds, output.stdout.len() as f64))
}
