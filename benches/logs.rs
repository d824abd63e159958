//! Limit: a 50 MB log of ROCm's debug agent opens in 15 times the time to read its words as numbers.
//!
//! Bench `logs` prints both times, in three alternating turns. The log has vectors, SGPRs, LDS of gfx90a waves, and
//! program output. The words are read from the same file line by line, by the standard library.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use lanescope::arch::Targets;
use lanescope::import::{self, Options};

use crate::support::{Failure, Promises, TURNS, least, scratch};

const SIZE: usize = 50_000_000;
/// Readings per turn; the minimum counts.
const RUNS: usize = 3;
const MAX_RATIO: f64 = 15.0;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let path = scratch("logs")?.join("agent.log");
    let (text, waves) = log();
    fs::write(&path, &text)?;
    drop(text);
    let mut ratios = Vec::new();
    for turn in 1..=TURNS {
        let [open, words] = least(RUNS, [&|| open(&path, waves), &|| words(&path)])?;
        println!(
            "turn {turn}: {waves} waves in {} MB {:.0} ms, its words {:.0} ms",
            SIZE / 1_000_000,
            open * 1e3,
            words * 1e3
        );
        ratios.push(open / words);
    }
    let mut promises = Promises::default();
    promises.at_most("opening a log of 50 MB, times reading its words", &ratios, MAX_RATIO);
    Ok(promises.end())
}

/// Seconds to open the log.
fn open(path: &Path, waves: usize) -> Result<f64, Failure> {
    let start = Instant::now();
    let options = Options { target: Some("gfx90a".to_owned()), ..Options::default() };
    let opened = import::open(path, &Targets::builtin(), &options)?;
    let seconds = start.elapsed().as_secs_f64();
    match (opened.capture.waves.len(), opened.problems.as_slice()) {
        (found, []) if found == waves => Ok(seconds),
        (found, problems) => Err(format!("{found} of {waves} waves: {problems:?}").into()),
    }
}

/// Seconds to read the words of the log's lines as hexadecimal numbers, by the standard library.
fn words(path: &Path) -> Result<f64, Failure> {
    let start = Instant::now();
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    let (mut line, mut numbers) = (String::new(), 0);
    while reader.read_line(&mut line)? > 0 {
        let read = line.split_ascii_whitespace().map(|word| u32::from_str_radix(word, 16));
        numbers += black_box(read).filter(Result::is_ok).count();
        line.clear();
    }
    let seconds = start.elapsed().as_secs_f64();
    if numbers > 1_000_000 { Ok(seconds) } else { Err(format!("only {numbers} numbers").into()) }
}

/// A log of about that size, and its number of waves.
fn log() -> (String, usize) {
    let mut text = String::with_capacity(SIZE + (1 << 20));
    let mut waves = 0usize;
    while text.len() < SIZE {
        waves += 1;
        let _ = writeln!(
            text,
            "{}\nwave_{waves}: pc=0x7f0000101000 (stopped, reason: MEMORY_VIOLATION)",
            "-".repeat(56)
        );
        text.push_str("\nscalar registers:");
        for s in 0..32usize {
            let _ = write!(
                text,
                "{}{:>16}{:08x}",
                if s % 4 == 0 { "\n" } else { "" },
                format!("s{s}: "),
                s * waves
            );
        }
        text.push_str("\n\nvector registers:");
        for v in 0..64usize {
            let _ = write!(text, "\n{:>16}", format!("v{v}: "));
            for lane in 0..64usize {
                let value = (waves * 64 + v) * 64 + lane;
                let _ = write!(text, "{}[{lane}] {value:08x}", if lane == 0 { "" } else { " " });
            }
        }
        text.push_str(
            "\n\ngeneral registers:\n              m0: 00000000\n            exec: ffffffffffffffff\n",
        );
        text.push_str("step 17 of 100: loss 0.25\n\nLocal memory content:\n");
        for row in 0..256 {
            let _ = writeln!(text, "    0x{:04x}:{}", row * 32, " 00000001".repeat(8));
        }
        text.push('\n');
    }
    (text, waves)
}
