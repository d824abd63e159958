//! Limits for the page of the cause. `lanescope DUMP` on the demo takes at most 60 ms with LLVM's tools, which run
//! once, and at most 20 ms without them. For a sparse GPU core of 100 GB with 50,000 waves of one fault it takes at
//! most 2 s and no more memory than `lanescope waves` (anonymous memory, by samples). The states of waves without a
//! fault, at 50 PCs or in a loop that polls memory, take at most 1 s for 10,000 waves and 2 s for 50,000, as text and
//! as JSON, and 1.2 times the memory.
//!
//! Bench `triage` writes the cores (tests/cores/big.rs; 550 MB of disk) and measures. Each run is a process
//! of its own; the minimum counts, because other work disturbs it least. The memory is that of lanescope alone:
//! llvm-objdump is a process beside it and takes 63 MB for any input, which the system's maximum over a process and its
//! children would count.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use lanescope::codeobject::CodeObject;

use crate::core_writer::big;
use crate::support::{Failure, Promises, TURNS, anonymous_megabytes};

const WAVES: u32 = 50_000;
const GIGABYTE: u64 = 1 << 30;
/// The kernel of the waves, its load address, and the PC of the waves, behind `float xi = x[i]`.
const CODE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/code/saxpy-gfx942-O2.hsaco@0x7f0000100000");
const PC: u64 = LOADED + 0x1a00;
const LOADED: u64 = 0x7f00_0010_0000;
/// PCs of running waves: instructions of the kernel.
const RUNNING: [u64; 50] = {
    const OFFSETS: [u64; 50] = [
        0x1924, 0x1928, 0x192c, 0x1930, 0x1934, 0x1938, 0x193c, 0x1944, 0x1948, 0x194c, 0x1950, 0x1958,
        0x195c, 0x1960, 0x1964, 0x196c, 0x1970, 0x1974, 0x1978, 0x197c, 0x1980, 0x1984, 0x1988, 0x198c,
        0x1990, 0x1994, 0x199c, 0x19a0, 0x19a4, 0x19a8, 0x19b0, 0x19b8, 0x19c0, 0x19c4, 0x19c8, 0x19d0,
        0x19d4, 0x19dc, 0x19e0, 0x19e4, 0x19e8, 0x19f0, 0x19f8, 0x1a00, 0x1a08, 0x1a0c, 0x1a10, 0x1a18,
        0x1a20, 0x1a24,
    ];
    let mut pcs = OFFSETS;
    let mut index = 0;
    while index < pcs.len() {
        pcs[index] += LOADED;
        index += 1;
    }
    pcs
};
/// The load of `while (LOAD(&flags[index]) < 3)` in poll_element, its wait, comparison and branch.
const POLLING: [u64; 4] = [0x28, 0x30, 0x34, 0x38];
/// Interval of the samples of a process's memory.
const SAMPLING: Duration = Duration::from_micros(500);
/// Runs per turn.
const RUNS: usize = 5;
const MAX_WITH_TOOLS: f64 = 60.0;
const MAX_WITHOUT_TOOLS: f64 = 20.0;
const MAX_SECONDS: f64 = 2.0;
/// Maximum ratio to the memory of `lanescope waves`. The maximum of both is that of opening, whose two threads make it
/// vary by 2 %: the minima of several runs are compared.
const MAX_MEMORY: f64 = 1.02;
/// Maximum seconds for the states of 10,000 and of 50,000 waves.
const MAX_OF_STATES: [(u32, f64); 2] = [(10_000, 1.0), (50_000, 2.0)];
/// Maximum ratio of the memory for the states of all waves.
const MAX_MEMORY_OF_STATES: f64 = 1.2;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let folder = tempfile::tempdir()?;
    let core = folder.path().join("core");
    big::build_of_one_fault(100 * GIGABYTE, WAVES, PC).gpu.write(&core)?;
    let core = Capture { core: &core, code: CODE, expected: "50000 of 50000 waves faulted" };
    // The first runs warm the page cache.
    measure(&["triage"], Some(&core), true)?;
    let mut promises = Promises::default();
    let code = folder.path().join("polls.hsaco");
    let polling = polling(&code)?;
    let polling_code = format!("{}@{LOADED:#x}", code.display());
    for (pcs, code, kind, expected) in [
        (&RUNNING[..], CODE, "running", "no fault is reported"),
        (polling, &polling_code, "spinning", "waves spin in a loop"),
    ] {
        for (waves, limit) in MAX_OF_STATES {
            let core = folder.path().join("states");
            big::build_of_running(100 * GIGABYTE, waves, pcs).gpu.write(&core)?;
            let of = Capture { core: &core, code, expected };
            states(&of, &format!("{waves} {kind} waves"), limit, &mut promises)?;
        }
    }
    let (mut with, mut without) = (Vec::new(), Vec::new());
    let (mut seconds, mut memory) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let demo = |has_tools| least(|| Ok(measure(&["triage"], None, has_tools)?.milliseconds));
        let (tools, plain) = (demo(true)?, demo(false)?);
        let of_core = least(|| Ok(measure(&["triage"], Some(&core), true)?.milliseconds))?;
        let page = least(|| Ok(measure(&["triage"], Some(&core), true)?.megabytes))?;
        let waves = least(|| Ok(measure(&["waves"], Some(&core), true)?.megabytes))?;
        println!(
            "turn {turn}: demo {tools:.1} ms with tools, {plain:.1} ms without; core {of_core:.0} ms, {page:.0} MB; \
             waves {waves:.0} MB"
        );
        with.push(tools);
        without.push(plain);
        seconds.push(of_core / 1000.0);
        memory.push(page / waves);
    }
    promises.at_most("milliseconds for the page of the demo with LLVM's tools", &with, MAX_WITH_TOOLS);
    promises.at_most("milliseconds for it without them", &without, MAX_WITHOUT_TOOLS);
    promises.at_most("seconds for 50,000 waves of one fault in 100 GB", &seconds, MAX_SECONDS);
    promises.at_most("memory of that, times that of `lanescope waves`", &memory, MAX_MEMORY);
    Ok(promises.end())
}

/// Measures the states of the waves of a capture.
fn states(of: &Capture<'_>, what: &str, limit: f64, promises: &mut Promises) -> Result<(), Failure> {
    measure(&["triage"], Some(of), true)?;
    let (mut text, mut json, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let seconds =
            |words: &[&str]| least(|| Ok(measure(words, Some(of), true)?.milliseconds)).map(|of| of / 1000.0);
        let states = least(|| Ok(measure(&["triage", "--json"], Some(of), true)?.megabytes))?;
        let listed = least(|| Ok(measure(&["waves"], Some(of), true)?.megabytes))?;
        text.push(seconds(&["triage"])?);
        json.push(seconds(&["triage", "--json"])?);
        memory.push(states / listed);
        println!("turn {turn}: states of {what}: JSON {states:.0} MB; waves {listed:.0} MB");
    }
    promises.at_most(&format!("seconds for the states of {what}"), &text, limit);
    promises.at_most("seconds for their JSON", &json, limit);
    promises.at_most("memory of that, times that of `lanescope waves`", &memory, MAX_MEMORY_OF_STATES);
    Ok(())
}

/// Writes a code object whose kernel polls memory. Returns the PCs of its loop, for a load address of [`LOADED`].
fn polling(to: &Path) -> Result<&'static [u64], Failure> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/polls.zip");
    let mut archive = zip::ZipArchive::new(fs::File::open(path)?)?;
    let mut bytes = Vec::new();
    archive.by_name("polls-gfx942-O2.hsaco")?.read_to_end(&mut bytes)?;
    fs::write(to, &bytes)?;
    let object = CodeObject::parse(bytes)?;
    let kernel = object.symbol("poll_element").ok_or("no kernel poll_element")?;
    Ok(POLLING.map(|offset| LOADED + kernel.value + offset).to_vec().leak())
}

/// The minimum of the runs of a turn.
fn least(run: impl Fn() -> Result<f64, Failure>) -> Result<f64, Failure> {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        least = least.min(run()?);
    }
    Ok(least)
}

/// The cost of a command.
struct Cost {
    milliseconds: f64,
    /// The largest anonymous memory of the process itself. The pages of the program file are left out: they are those
    /// of the code that ran, 0.8 MB more for the page of the cause.
    megabytes: f64,
}

/// A core with the code of its waves, and a part of its page.
struct Capture<'a> {
    core: &'a Path,
    code: &'a str,
    expected: &'a str,
}

/// Runs a command about a capture, or about the demo; without tools the PATH is an empty folder.
fn measure(words: &[&str], capture: Option<&Capture<'_>>, has_tools: bool) -> Result<Cost, Failure> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanescope"));
    command.args(words);
    if let Some(Capture { core, code, .. }) = capture {
        command.arg(core).args(["--code-object", code]);
    }
    if !has_tools {
        command.env("PATH", "/nonexistent").env("ROCM_PATH", "/nonexistent");
    }
    let errors = tempfile::NamedTempFile::new()?;
    let report = tempfile::NamedTempFile::new()?;
    command.stdin(Stdio::null()).stdout(report.reopen()?).stderr(errors.reopen()?);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let (id, mut megabytes) = (child.id().to_string(), 0.0);
    while child.try_wait()?.is_none() {
        megabytes = f64::max(megabytes, anonymous_megabytes(&id).unwrap_or(0.0));
        std::thread::sleep(SAMPLING);
    }
    let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
    let text = fs::read_to_string(report.path())?;
    let expected = capture.map_or("saxpy", |of| of.expected);
    if words == ["triage"] && !text.contains(expected) {
        return Err(format!("no page: {text}{}", fs::read_to_string(errors.path())?).into());
    }
    Ok(Cost { milliseconds, megabytes })
}
