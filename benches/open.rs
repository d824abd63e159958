//! Limits for opening a dump of 10,000 waves (JSON manifest, registers by file and offset). Time: twice that of
//! `serde_json` to read the same manifest into a `Value`. Resident memory beyond that of the process before: 40 MB, for
//! any size of the side files.
//!
//! Bench `open` measures each form of manifest. Each opening and each reading is a separate process (this
//! program with a path): memory is that of one opening, and both start with an empty heap. The two alternate. The
//! target's file is loaded before the clock starts: a server loads it once and not per dump. `open PATH` measures any
//! dump, `open value PATH` the reading of a manifest.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use lanescope::arch::Targets;
use lanescope::import;

use crate::support::{Failure, Promises, TURNS, scratch, this_program};

const WAVES: u64 = 10_000;
/// Openings and readings per turn. The minimum of each counts: other work disturbs it least.
const RUNS: usize = 5;
/// Maximum ratio to the reading into a `Value`.
const MAX_RATIO: f64 = 2.0;
const MAX_MEGABYTES: f64 = 40.0;

/// Stride of an image: v0-v63, a0-a63 and s0-s101 of gfx90a.
const IMAGE: u64 = 64 * 256 * 2 + 102 * 4;

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode, Failure> {
    match arguments.as_slice() {
        [] => {}
        [part, path] if part == "value" => return read_value(Path::new(path)),
        [path, ..] => return measure(Path::new(path)),
    }
    let mut promises = Promises::default();
    for (name, manifest) in [("layout", by_layout(false)), ("pretty", by_layout(true)), ("bulk", by_bulk())] {
        let folder = scratch(name)?;
        fs::write(folder.join("manifest.json"), &manifest)?;
        // Sparse: opening must not read the registers.
        fs::File::create(folder.join("registers.bin"))?.set_len(WAVES * IMAGE)?;
        fs::File::create(folder.join("private.bin"))?.set_len(WAVES << 16)?;
        report(&mut promises, name, &folder, manifest.len())?;
    }
    Ok(promises.end())
}

/// Reads a manifest into a [`serde_json::Value`] once and prints milliseconds.
fn read_value(path: &Path) -> Result<ExitCode, Failure> {
    let start = Instant::now();
    let value: serde_json::Value = serde_json::from_slice(&fs::read(path)?)?;
    let elapsed = start.elapsed();
    let waves = value.get("wave").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
    println!("{:.3} {waves}", elapsed.as_secs_f64() * 1000.0);
    Ok(ExitCode::SUCCESS)
}

/// Opens once and prints milliseconds, anonymous memory then and the most resident memory that opening added, in kB.
fn measure(path: &Path) -> Result<ExitCode, Failure> {
    let targets = Targets::builtin();
    for name in targets.names().map(str::to_owned).collect::<Vec<_>>() {
        for size in &targets.target(&name)?.wave_sizes {
            targets.kind(&name, *size)?;
        }
    }
    // The maximum is now the present value (proc_pid_clear_refs(5)): the program's own pages do not count.
    fs::write("/proc/self/clear_refs", "5")?;
    let before = kilobytes("VmRSS:")?;
    let start = Instant::now();
    let opened = import::open(path, &targets, &import::Options::default())?;
    let elapsed = start.elapsed();
    println!(
        "{:.3} {} {} {} {}",
        elapsed.as_secs_f64() * 1000.0,
        kilobytes("RssAnon:")?,
        kilobytes("VmHWM:")?.saturating_sub(before),
        opened.capture.waves.len(),
        opened.problems.len(),
    );
    for problem in &opened.problems {
        eprintln!("{problem}");
    }
    Ok(ExitCode::SUCCESS)
}

/// A field of this process's memory.
fn kilobytes(name: &str) -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or_else(|| format!("no {name}"))?;
    Ok(line.trim_matches(|c: char| !c.is_ascii_digit()).parse()?)
}

/// Words of this program's output for the arguments.
fn output(arguments: &[&str], path: &Path) -> Result<Vec<String>, Failure> {
    let output = this_program("open")?.args(arguments).arg(path).output()?;
    let (line, errors) = (String::from_utf8(output.stdout)?, String::from_utf8_lossy(&output.stderr));
    match errors.is_empty() {
        true => Ok(line.split_whitespace().map(str::to_owned).collect()),
        false => Err(format!("{line}{errors}").into()),
    }
}

fn report(promises: &mut Promises, name: &str, folder: &Path, manifest: usize) -> Result<(), Failure> {
    let (mut ratios, mut peaks) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let (mut opening, mut reading) = (f64::INFINITY, f64::INFINITY);
        let (mut anonymous, mut peak) = (0.0f64, 0.0f64);
        for _ in 0..RUNS {
            let fields = output(&[], folder)?;
            let [time, anon, high, waves, "0"] = fields.iter().map(String::as_str).collect::<Vec<_>>()[..]
            else {
                return Err(format!("an opening printed {fields:?}").into());
            };
            let value = output(&["value"], &folder.join("manifest.json"))?;
            if [waves, value.get(1).map_or("", |waves| waves)] != ["10000"; 2] {
                return Err(format!("{waves} waves were opened, {value:?} were read").into());
            }
            opening = opening.min(time.parse()?);
            reading = reading.min(value.first().ok_or("no time")?.parse()?);
            anonymous = anonymous.max(anon.parse::<f64>()? / 1024.0);
            peak = peak.max(high.parse::<f64>()? / 1024.0);
        }
        println!(
            "turn {turn}: {name}, {:.1} MB manifest: opened in {opening:.1} ms, read into a Value in {reading:.1} ms; \
             {anonymous:.1} MB anonymous memory after opening",
            manifest as f64 / 1e6,
        );
        ratios.push(opening / reading);
        peaks.push(peak);
    }
    promises.at_most(&format!("opening 10,000 waves ({name}), times reading a Value"), &ratios, MAX_RATIO);
    promises.at_most(&format!("MB of resident memory for that, most ({name})"), &peaks, MAX_MEGABYTES);
    Ok(())
}

const HEAD: &str = r#""format": 1,
"agent": [{"id": 1, "target": "gfx90a"}],
"queue": [{"id": 1, "agent": 1}],
"dispatch": [{"id": 1, "queue": 1, "kernel": "saxpy", "grid": [640000], "workgroup": [256]}],
"layout": [{"name": "all", "blocks": [{"registers": "v0-v63", "offset": 0},
  {"registers": "a0-a63", "offset": 16384}, {"registers": "s0-s101", "offset": 32768}]}],
"#;

/// Typical writer output: one image per wave by the layout, small registers inline, a piece of private memory.
fn by_layout(pretty: bool) -> String {
    manifest(pretty, |wave| {
        format!(
            "\"image\": {{\"layout\": \"all\", \"file\": \"registers.bin\", \"offset\": {}}}",
            wave * IMAGE
        )
    })
}

/// The longest form: every run of registers by its own file and offset.
fn by_bulk() -> String {
    manifest(false, |wave| {
        let at = wave * IMAGE;
        let run = |registers: &str, offset: u64, length: u64| {
            format!(
                "{{\"registers\": \"{registers}\", \"file\": \"registers.bin\", \"offset\": {}, \"length\": {length}}}",
                at + offset
            )
        };
        let runs = [run("v0-v63", 0, 16384), run("a0-a63", 16384, 16384), run("s0-s101", 32768, 408)];
        format!("\"bulk\": [{}]", runs.join(", "))
    })
}

fn manifest(pretty: bool, registers: impl Fn(u64) -> String) -> String {
    let space = if pretty { "\n    " } else { " " };
    let mut text = format!("{{{HEAD}");
    text += "\"workgroup\": [\n";
    for group in 0..WAVES / 4 {
        let comma = if group == 0 { "" } else { ",\n" };
        let _ = write!(text, "{comma}{{\"id\": {group}, \"dispatch\": 1, \"position\": [{group}, 0, 0]}}");
    }
    text += "],\n\"wave\": [\n";
    for wave in 0..WAVES {
        let comma = if wave == 0 { "" } else { ",\n" };
        let keys = [
            format!("\"id\": {wave}"),
            format!("\"workgroup\": {}", wave / 4),
            format!("\"wave_in_group\": {}", wave % 4),
            format!("\"stop\": [{}]", if wave == 0 { "\"memory_violation\"" } else { "" }),
            "\"sgpr_count\": 104".to_owned(),
            registers(wave),
            "\"private_size\": 65536".to_owned(),
            format!(
                "\"private\": [{{\"file\": \"private.bin\", \"offset\": {}, \"length\": 65536}}]",
                wave << 16
            ),
            format!(
                "\"registers\": {{{}}}",
                [
                    format!("\"pc\": \"{:#x}\"", 0x7f00_0010_2798 + wave * 4),
                    "\"exec\": \"0xffffffffffffffff\"".to_owned(),
                    "\"vcc\": \"0x0\"".to_owned(),
                    "\"m0\": 0".to_owned(),
                    "\"mode\": \"0x2f0\"".to_owned(),
                    "\"trapsts\": \"0x100\"".to_owned(),
                    "\"status\": \"0x10041\"".to_owned(),
                ]
                .join(&format!(",{space}"))
            ),
        ];
        let _ = write!(text, "{comma}{{{}}}", keys.join(&format!(",{space}")));
    }
    text += "]}\n";
    text
}
