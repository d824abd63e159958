//! Limits for reports. The HTML of the demo takes at most 2.5 times the processor time of its page of the cause, and
//! 300 KB; that of 10,000 waves of optimized code at most 6 times that of the list of its waves, and 5 MB.
//!
//! Each run is a process of its own. Runs alternate; the minimum counts, because other work disturbs it least.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::support::{Failure, MANY, Promises, TURNS, children_seconds, least, many, scratch};

const REPORT: [&str; 3] = ["report", "--format", "html"];
/// Runs per turn.
const RUNS: usize = 5;
const MAX_TIMES_THE_PAGE: f64 = 2.5;
const MAX_DEMO_KILOBYTES: f64 = 300.0;
const MAX_TIMES_THE_LIST: f64 = 6.0;
const MAX_MEGABYTES: f64 = 5.0;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let many = many(MANY, scratch("many")?)?;
    // These runs warm the page cache, too.
    let kilobytes = printed(&REPORT, None)? / 1e3;
    let megabytes = printed(&REPORT, Some(&many))? / 1e6;
    let time = |words: &[&str], dump| children_seconds(|| printed(words, dump));
    let (mut demo, mut waves) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let [of_demo, page] = least(RUNS, [&|| time(&REPORT, None), &|| time(&["triage"], None)])?;
        let [of_many, list] =
            least(RUNS, [&|| time(&REPORT, Some(&many)), &|| time(&["waves"], Some(&many))])?;
        println!(
            "turn {turn}: demo {:.1} ms, its page of the cause {:.1} ms; 10,000 waves {:.0} ms, their list {:.0} ms",
            of_demo * 1e3,
            page * 1e3,
            of_many * 1e3,
            list * 1e3
        );
        demo.push(of_demo / page);
        waves.push(of_many / list);
    }
    let mut promises = Promises::default();
    promises.at_most("the HTML of the demo, times its page of the cause", &demo, MAX_TIMES_THE_PAGE);
    promises.at_most("kilobytes of it", &[kilobytes], MAX_DEMO_KILOBYTES);
    promises.at_most("the HTML of 10,000 waves, times their list", &waves, MAX_TIMES_THE_LIST);
    promises.at_most("megabytes of it", &[megabytes], MAX_MEGABYTES);
    Ok(promises.end())
}

/// Number of bytes that a command about a dump, or about the demo, prints.
fn printed(words: &[&str], dump: Option<&Path>) -> Result<f64, Failure> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanescope"));
    let output = command.args(words).args(dump).stdin(Stdio::null()).output()?;
    let is_whole = words != REPORT || output.stdout.trim_ascii_end().ends_with(b"</html>");
    if !output.status.success() || output.stdout.is_empty() || !is_whole {
        return Err(format!("no {}: {}", words[0], String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(output.stdout.len() as f64)
}
