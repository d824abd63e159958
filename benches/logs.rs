//! Limit: a 50 MB log of ROCm's debug agent opens in 2 s.
//!
//! Bench `logs` prints wall time, processor time, and the time to count the same file's lines, in three
//! alternating turns. It fails beyond the limit. The log has vectors, SGPRs, LDS of gfx90a waves, and program output.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use lanescope::arch::Targets;
use lanescope::import::{self, Options};

use crate::support::{Failure, TURNS, processor_seconds, scratch};

const SIZE: usize = 50_000_000;
const MAX_SECONDS: f64 = 2.0;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let path = scratch("logs")?.join("agent.log");
    let (text, waves) = log();
    fs::write(&path, &text)?;
    drop(text);
    let (mut open, mut own, mut count) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        let start = Instant::now();
        let lines = lines(&path)?;
        count = count.min(start.elapsed().as_secs_f64());
        let (start, before) = (Instant::now(), processor_seconds()?);
        let options = Options { target: Some("gfx90a".to_owned()), ..Options::default() };
        let opened = import::open(&path, &Targets::builtin(), &options)?;
        open = open.min(start.elapsed().as_secs_f64());
        own = own.min(processor_seconds()? - before);
        assert_eq!((opened.capture.waves.len(), opened.problems.len()), (waves, 0), "{lines} lines");
    }
    println!(
        "{waves} waves in {} MB: {open:.3} s, {own:.3} s of it on a processor, {:.1} times what counting its lines \
         takes (limit {MAX_SECONDS} s)",
        SIZE / 1_000_000,
        open / count,
    );
    Ok(if open < MAX_SECONDS { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn lines(path: &Path) -> std::io::Result<usize> {
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
