//! Limits for a sparse GPU core of 100 GB with 50,000 waves. It opens in 64 MB of anonymous memory. Opening takes at
//! most 5 times the processor time of plain reads of the 192 bytes that it needs per wave, and 1.5 times that of an 8
//! GB core. Listing its waves takes at most 8 times as long as opening.
//!
//! Bench `cores` writes both files (tests/cores/big.rs; 250 MB of disk each) and measures. Each opening is a separate
//! process, so that memory is that of one opening. The first ones warm the page cache. Openings of both files and the
//! plain reads alternate. `cores PATH` measures any capture, `cores reads PATH` the plain reads.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use lanescope::arch::Targets;
use lanescope::import::{self, Options};
use nix::time::{ClockId, clock_gettime};

use crate::core_writer::big;
use crate::support::{Failure, Promises, TURNS, anonymous_megabytes, children_seconds, least, this_program};

const WAVES: u32 = 50_000;
const GIGABYTE: u64 = 1 << 30;
/// Openings per turn. The minimum counts: other work disturbs it least.
const RUNS: usize = 5;
/// Maximum ratio to the plain reads.
const MAX_READS: f64 = 5.0;
const MAX_ANONYMOUS_MB: f64 = 64.0;
const MAX_TIMES_THE_SMALL_ONE: f64 = 1.5;
const MAX_TIMES_OPENING: f64 = 8.0;
/// Bytes per wave that opening reads: 16 SGPRs, 16 hardware registers, 16 trap temporaries.
const READ: u64 = 192;

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode, Failure> {
    match arguments.as_slice() {
        [] => {}
        [part, path] if part == "reads" => return read_plainly(Path::new(path)),
        [path, ..] => return measure(Path::new(path)),
    }
    let folder = tempfile::tempdir()?;
    let write = |name: &str, size: u64| -> Result<PathBuf, Failure> {
        let path = folder.path().join(name);
        big::build(size, WAVES).gpu.write(&path)?;
        Ok(path)
    };
    let (small, large) = (write("small", 8 * GIGABYTE)?, write("large", 100 * GIGABYTE)?);
    for path in [&small, &large] {
        child(&[], path)?;
    }
    let (mut lists, mut ratios, mut sizes, mut memory) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let (mut opened, mut of_small, mut reads) = (Least::new(), Least::new(), Least::new());
        for _ in 0..RUNS {
            reads.add(&child(&["reads"], &large)?);
            opened.add(&child(&[], &large)?);
            of_small.add(&child(&[], &small)?);
        }
        println!(
            "turn {turn}: 100 GB opened in {:.1} ms ({:.1} ms on processors), plain reads {:.1} ms; 8 GB opened in {:.1} ms",
            opened.milliseconds, opened.own, reads.own, of_small.milliseconds
        );
        let [listed] = least(RUNS, [&|| listing(&large)])?;
        lists.push(listed * 1e3 / opened.own);
        ratios.push(opened.own / reads.own);
        sizes.push(opened.own / of_small.own);
        memory.push(opened.megabytes);
    }
    let mut promises = Promises::default();
    promises.at_most(
        "processor time to open 100 GB with 50,000 waves, times plain reads of 192 bytes a wave",
        &ratios,
        MAX_READS,
    );
    promises.at_most("MB of anonymous memory then", &memory, MAX_ANONYMOUS_MB);
    promises.at_most("that, times that of 8 GB", &sizes, MAX_TIMES_THE_SMALL_ONE);
    promises.at_most(
        "processor time to list its waves, the whole command, times opening",
        &lists,
        MAX_TIMES_OPENING,
    );
    Ok(promises.end())
}

/// Milliseconds of processor time of this process.
fn processor() -> Result<f64, Failure> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    Ok(time.tv_sec() as f64 * 1e3 + time.tv_nsec() as f64 / 1e6)
}

/// Runs `work` once and prints milliseconds, processor milliseconds, MB of anonymous memory, and the number of waves.
fn timed<T>(
    work: impl FnOnce() -> Result<T, Failure>,
    waves: impl FnOnce(&T) -> usize,
) -> Result<T, Failure> {
    let (start, before) = (Instant::now(), processor()?);
    let done = work()?;
    let (elapsed, own) = (start.elapsed(), processor()? - before);
    let anonymous = anonymous_megabytes("self")?;
    println!("{:.3} {own:.3} {anonymous:.3} {}", elapsed.as_secs_f64() * 1000.0, waves(&done));
    Ok(done)
}

fn measure(path: &Path) -> Result<ExitCode, Failure> {
    let targets = Targets::builtin();
    let open = || Ok(import::open(path, &targets, &Options::default())?);
    let opened = timed(open, |opened| opened.capture.waves.len())?;
    for problem in &opened.problems {
        eprintln!("{problem}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the words of each wave from the file in wave order, with one system call each.
fn read_plainly(path: &Path) -> Result<ExitCode, Failure> {
    let capture = import::open(path, &Targets::builtin(), &Options::default())?.capture;
    // The words are at the end of a wave's image.
    let place = |wave: &lanescope::capture::Wave| {
        let image = wave.registers.image?;
        let address = image.end().checked_sub(READ)?;
        let segment = capture.global.find(address)?;
        Some(segment.extent.offset + (address - segment.address))
    };
    let offsets: Vec<u64> = capture.waves.iter().filter_map(place).collect();
    let file = fs::File::open(path)?;
    let read = || {
        let mut bytes = [0; READ as usize];
        for offset in &offsets {
            file.read_exact_at(&mut bytes, *offset)?;
            std::hint::black_box(&bytes);
        }
        Ok(offsets.len())
    };
    timed(read, |waves| *waves)?;
    Ok(ExitCode::SUCCESS)
}

/// Minimum times and maximum memory of some runs.
struct Least {
    milliseconds: f64,
    /// Processor milliseconds.
    own: f64,
    megabytes: f64,
}

impl Least {
    fn new() -> Self {
        Self { milliseconds: f64::INFINITY, own: f64::INFINITY, megabytes: 0.0 }
    }

    fn add(&mut self, run: &[f64; 3]) {
        let [milliseconds, own, megabytes] = *run;
        self.milliseconds = self.milliseconds.min(milliseconds);
        self.own = self.own.min(own);
        self.megabytes = self.megabytes.max(megabytes);
    }
}

/// Runs this program with a capture: milliseconds, processor milliseconds, and megabytes.
fn child(arguments: &[&str], path: &Path) -> Result<[f64; 3], Failure> {
    let output = this_program("cores")?.args(arguments).arg(path).output()?;
    let text = String::from_utf8(output.stdout)?;
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [milliseconds, own, megabytes, waves] = fields[..] else {
        return Err(format!("nothing was measured: {text}").into());
    };
    if waves.parse::<u32>()? != WAVES {
        return Err(format!("{waves} waves were found, not {WAVES}").into());
    }
    Ok([milliseconds.parse()?, own.parse()?, megabytes.parse()?])
}

/// Seconds of processor time of `lanescope waves`.
fn listing(path: &Path) -> Result<f64, Failure> {
    children_seconds(|| {
        let output = Command::new(env!("CARGO_BIN_EXE_lanescope")).arg("waves").arg(path).output()?;
        match output.stdout.iter().filter(|byte| **byte == b'\n').count() {
            lines if lines < WAVES as usize => Err(format!("{lines} lines for {WAVES} waves").into()),
            _ => Ok(()),
        }
    })
}
