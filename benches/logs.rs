//! Limit: a 50 MB log of ROCm's debug agent opens in 2 s.
//!
//! `cargo bench --bench logs` prints wall time, processor time, and the time to count the same file's lines, in three
//! alternating turns. It fails beyond the limit. The log has vectors, SGPRs, LDS of gfx90a waves, and program output.
#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lanescope::arch::Targets;
use lanescope::import::{self, Options};

const SIZE: usize = 50_000_000;
const TURNS: usize = 3;
const MOST: Duration = Duration::from_secs(2);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("lanescope-logs-{}.log", std::process::id()));
    let (text, waves) = log();
    fs::write(&path, &text)?;
    drop(text);
    let mut best = (Duration::MAX, Duration::MAX);
    let mut least = Duration::MAX;
    for _ in 0..TURNS {
        let start = Instant::now();
        let lines = count(&path)?;
        best.1 = best.1.min(start.elapsed());
        let (start, before) = (Instant::now(), processor()?);
        let options = Options { target: Some("gfx90a".to_owned()), ..Options::default() };
        let opened = import::open(&path, &Targets::builtin(), &options)?;
        best.0 = best.0.min(start.elapsed());
        least = least.min(processor()?.saturating_sub(before));
        assert_eq!((opened.capture.waves.len(), opened.problems.len()), (waves, 0), "{lines} lines");
    }
    fs::remove_file(&path)?;
    let (open, count) = (best.0.as_secs_f64(), best.1.as_secs_f64());
    println!(
        "{waves} waves in {} MB: {open:.3} s, {:.3} s of it on a processor, {:.1} times what counting its lines takes (limit {} s)",
        SIZE / 1_000_000,
        least.as_secs_f64(),
        open / count,
        MOST.as_secs(),
    );
    Ok(if best.0 < MOST { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Processor time of this thread.
fn processor() -> Result<Duration, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(Duration::from_nanos(text.split_whitespace().next().unwrap_or_default().parse()?))
}

fn count(path: &Path) -> std::io::Result<usize> {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(path)?);
    let (mut line, mut lines) = (Vec::new(), 0);
    while reader.read_until(b'\n', &mut line)? > 0 {
        lines += 1;
        line.clear();
    }
    Ok(lines)
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
