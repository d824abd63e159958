//! Limits for the page of the cause, in processor time. `lanescope DUMP` on the demo takes at most 1.3 times as long as
//! `lanescope waves`, and 10 ms. For a sparse GPU core of 100 GB with 50,000 waves of one fault it takes at most 4 times
//! as long as the list of the waves, and at most 1.1 times the memory (anonymous memory, by samples). The states of
//! waves without a fault, at 50 PCs or in a loop that polls memory, take at most 7 times as long as the list, as text
//! and as JSON, and 1.2 times its memory.
//!
//! Bench `triage` writes the cores (tests/cores/big.rs; 550 MB of disk) and measures. Each run is a process of its
//! own. Runs alternate; the minimum counts, because other work disturbs it least.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use lanescope::codeobject::CodeObject;

use crate::core_writer::big;
use crate::support::{Failure, Promises, TURNS, anonymous_megabytes, children_seconds, least};

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
/// Maximum ratios to `lanescope waves`, on the demo beside a time of its own, and on the core.
const MAX_TIMES_THE_DEMO: f64 = 1.3;
const OWN_MILLISECONDS: f64 = 10.0;
const MAX_TIMES_THE_LIST: f64 = 4.0;
/// Maximum ratio to the memory of `lanescope waves`. The maximum of both is that of opening, whose two threads make it
/// vary by 2 %: the minima of several runs are compared.
const MAX_MEMORY: f64 = 1.1;
/// Waves with states, and the maximum ratios of time and memory to `lanescope waves`.
const STATES: [u32; 2] = [10_000, 50_000];
const MAX_TIME_OF_STATES: f64 = 7.0;
const MAX_MEMORY_OF_STATES: f64 = 1.2;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let folder = tempfile::tempdir()?;
    let core = folder.path().join("core");
    big::build_of_one_fault(100 * GIGABYTE, WAVES, PC).gpu.write(&core)?;
    let core = Capture { core: &core, code: CODE, expected: "50000 of 50000 waves faulted" };
    // The first runs warm the page cache.
    measure(&["triage"], Some(&core))?;
    let mut promises = Promises::default();
    let code = folder.path().join("polls.hsaco");
    let polling = polling(&code)?;
    let polling_code = format!("{}@{LOADED:#x}", code.display());
    for (pcs, code, kind, expected) in [
        (&RUNNING[..], CODE, "running", "no fault is reported"),
        (polling, &polling_code, "spinning", "waves spin in a loop"),
    ] {
        for waves in STATES {
            let core = folder.path().join("states");
            big::build_of_running(100 * GIGABYTE, waves, pcs).gpu.write(&core)?;
            let of = Capture { core: &core, code, expected };
            states(&of, &format!("{waves} {kind} waves"), &mut promises)?;
        }
    }
    let mut demo = Vec::new();
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let of_demo = |words: &[&str]| Ok(measure(words, None)?.milliseconds);
        let [triage, listed] = least(RUNS, [&|| of_demo(&["triage"]), &|| of_demo(&["waves"])])?;
        let [page, list] = costs(&core, [&["triage"], &["waves"]])?;
        println!(
            "turn {turn}: demo {triage:.1} ms, its waves {listed:.1} ms; core {:.0} ms, {:.0} MB; its waves {:.0} ms, {:.0} MB",
            page.milliseconds, page.megabytes, list.milliseconds, list.megabytes
        );
        demo.push((triage - OWN_MILLISECONDS) / listed);
        times.push(page.milliseconds / list.milliseconds);
        memory.push(page.megabytes / list.megabytes);
    }
    promises.at_most("the page of the demo less 10 ms, times `lanescope waves`", &demo, MAX_TIMES_THE_DEMO);
    promises.at_most(
        "50,000 waves of one fault in 100 GB, times `lanescope waves`",
        &times,
        MAX_TIMES_THE_LIST,
    );
    promises.at_most("memory of that, times that of `lanescope waves`", &memory, MAX_MEMORY);
    Ok(promises.end())
}

/// Measures the states of the waves of a capture.
fn states(of: &Capture<'_>, what: &str, promises: &mut Promises) -> Result<(), Failure> {
    measure(&["triage"], Some(of))?;
    let (mut text, mut json, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let [page, of_json, list] = costs(of, [&["triage"], &["triage", "--json"], &["waves"]])?;
        println!(
            "turn {turn}: states of {what} {:.0} ms; JSON {:.0} ms, {:.0} MB; waves {:.0} ms, {:.0} MB",
            page.milliseconds, of_json.milliseconds, of_json.megabytes, list.milliseconds, list.megabytes
        );
        text.push(page.milliseconds / list.milliseconds);
        json.push(of_json.milliseconds / list.milliseconds);
        memory.push(of_json.megabytes / list.megabytes);
    }
    promises.at_most(&format!("states of {what}, times `lanescope waves`"), &text, MAX_TIME_OF_STATES);
    promises.at_most("their JSON, times `lanescope waves`", &json, MAX_TIME_OF_STATES);
    promises.at_most("memory of that, times that of `lanescope waves`", &memory, MAX_MEMORY_OF_STATES);
    Ok(())
}

/// Writes a code object whose kernel polls memory. Returns the PCs of its loop, for a load address of [`LOADED`].
fn polling(to: &Path) -> Result<&'static [u64], Failure> {
    let bytes = unpack("polls.zip", "polls-gfx942-O2.hsaco", to)?;
    let object = CodeObject::parse(bytes)?;
    let kernel = object.symbol("poll_element").ok_or("no kernel poll_element")?;
    Ok(POLLING.map(|offset| LOADED + kernel.value + offset).to_vec().leak())
}

/// Writes an entry of a zip of tests/fixtures to a file, and returns its bytes.
fn unpack(archive: &str, entry: &str, to: &Path) -> Result<Vec<u8>, Failure> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(archive);
    let mut archive = zip::ZipArchive::new(fs::File::open(path)?)?;
    let mut bytes = Vec::new();
    archive.by_name(entry)?.read_to_end(&mut bytes)?;
    fs::write(to, &bytes)?;
    Ok(bytes)
}

/// Minimum time and memory of each command about a capture. The commands alternate.
fn costs<const N: usize>(of: &Capture<'_>, all: [&[&str]; N]) -> Result<[Cost; N], Failure> {
    let mut least = all.map(|_| Cost { milliseconds: f64::INFINITY, megabytes: f64::INFINITY });
    for _ in 0..RUNS {
        for (least, words) in least.iter_mut().zip(all) {
            let cost = measure(words, Some(of))?;
            least.milliseconds = least.milliseconds.min(cost.milliseconds);
            least.megabytes = least.megabytes.min(cost.megabytes);
        }
    }
    Ok(least)
}

/// The cost of a command.
struct Cost {
    /// Processor time, LLVM's tool included.
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

/// Runs a command about a capture, or about the demo.
fn measure(words: &[&str], capture: Option<&Capture<'_>>) -> Result<Cost, Failure> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanescope"));
    command.args(words);
    if let Some(Capture { core, code, .. }) = capture {
        command.arg(core).args(["--code-object", code]);
    }
    // No program is needed.
    command.env("PATH", "/nonexistent");
    let errors = tempfile::NamedTempFile::new()?;
    let report = tempfile::NamedTempFile::new()?;
    command.stdin(Stdio::null()).stdout(report.reopen()?).stderr(errors.reopen()?);
    let mut megabytes = 0.0;
    let seconds = children_seconds(|| {
        let mut child = command.spawn()?;
        let id = child.id().to_string();
        while child.try_wait()?.is_none() {
            megabytes = f64::max(megabytes, anonymous_megabytes(&id).unwrap_or(0.0));
            std::thread::sleep(SAMPLING);
        }
        Ok(())
    })?;
    let text = fs::read_to_string(report.path())?;
    let expected = capture.map_or("saxpy", |of| of.expected);
    if words == ["triage"] && !text.contains(expected) {
        return Err(format!("no page: {text}{}", fs::read_to_string(errors.path())?).into());
    }
    Ok(Cost { milliseconds: seconds * 1e3, megabytes })
}
