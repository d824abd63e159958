//! Limits for the page of the cause. `lanescope DUMP` on the demo takes at most 60 ms with LLVM's tools, which run once,
//! and at most 20 ms without them. For a sparse GPU core of 100 GB with 50,000 waves of one fault it takes at most 2 s
//! and no more memory than `lanescope waves`.
//!
//! `cargo bench --bench triage` writes the core (tests/cores/big.rs; 250 MB of disk) and measures. Each run is a process
//! of its own; the minimum counts, because other work disturbs it least.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench prints what it measured")]

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/cores/mod.rs"]
mod cores;

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use support::{Failure, Promises, TURNS};

const WAVES: u32 = 50_000;
const GIGABYTE: u64 = 1 << 30;
/// The kernel of the waves, its load address, and the PC of the waves, behind `float xi = x[i]`.
const CODE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/code/saxpy-gfx942-O2.hsaco@0x7f0000100000");
const PC: u64 = 0x7f00_0010_1a00;
/// Runs per turn.
const RUNS: usize = 5;
const MAX_WITH_TOOLS: f64 = 60.0;
const MAX_WITHOUT_TOOLS: f64 = 20.0;
const MAX_SECONDS: f64 = 2.0;
/// Maximum ratio to the memory of `lanescope waves`.
const MAX_MEMORY: f64 = 1.0;

fn main() -> Result<ExitCode, Failure> {
    let folder = tempfile::tempdir()?;
    let core = folder.path().join("core");
    cores::big::build_of_one_fault(100 * GIGABYTE, WAVES, PC).gpu.write(&core)?;
    // The first runs warm the page cache.
    run(&["triage"], Some(&core), true)?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    let (mut seconds, mut memory) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let demo = |has_tools| least(|| Ok(run(&["triage"], None, has_tools)?.milliseconds));
        let (tools, plain) = (demo(true)?, demo(false)?);
        let of_core = least(|| Ok(run(&["triage"], Some(&core), true)?.milliseconds))?;
        let page = run(&["triage"], Some(&core), true)?.kilobytes;
        let waves = run(&["waves"], Some(&core), true)?.kilobytes;
        println!(
            "turn {turn}: demo {tools:.1} ms with tools, {plain:.1} ms without; core {of_core:.0} ms, {:.0} MB; \
             waves {:.0} MB",
            page / 1024.0,
            waves / 1024.0
        );
        with.push(tools);
        without.push(plain);
        seconds.push(of_core / 1000.0);
        memory.push(page / waves);
    }
    let mut promises = Promises::default();
    promises.at_most("milliseconds for the page of the demo with LLVM's tools", &with, MAX_WITH_TOOLS);
    promises.at_most("milliseconds for it without them", &without, MAX_WITHOUT_TOOLS);
    promises.at_most("seconds for 50,000 waves of one fault in 100 GB", &seconds, MAX_SECONDS);
    promises.at_most("memory of that, times that of `lanescope waves`", &memory, MAX_MEMORY);
    Ok(promises.end())
}

/// The minimum of the runs of a turn.
fn least(measure: impl Fn() -> Result<f64, Failure>) -> Result<f64, Failure> {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        least = least.min(measure()?);
    }
    Ok(least)
}

/// The cost of a command.
struct Cost {
    milliseconds: f64,
    /// The largest resident memory.
    kilobytes: f64,
}

/// Runs a command about a capture, or about the demo; without tools the PATH is an empty folder.
fn run(words: &[&str], capture: Option<&Path>, has_tools: bool) -> Result<Cost, Failure> {
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%M", "-o"]);
    let report = tempfile::NamedTempFile::new()?;
    command.arg(report.path()).arg(env!("CARGO_BIN_EXE_lanescope")).args(words).args(capture);
    if capture.is_some() {
        command.args(["--code-object", CODE]);
    }
    if !has_tools {
        command.env("PATH", "/nonexistent").env("ROCM_PATH", "/nonexistent");
    }
    let start = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    let text = String::from_utf8(output.stdout)?;
    let expected = if capture.is_some() { "50000 of 50000 waves faulted" } else { "saxpy" };
    if words == ["triage"] && !text.contains(expected) {
        return Err(format!("no page: {text}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let kilobytes: f64 = fs::read_to_string(report.path())?.trim().parse()?;
    Ok(Cost { milliseconds, kilobytes })
}
