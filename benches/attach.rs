//! Time from `target remote` to the text of the first `bt` and `info locals` in stock gdb, through the default view.
//! The code object has 100 MB of debug information. Limits: a sixteenth of gdb's own time to open that file, and 100 MB
//! of anonymous memory in the server.
//!
//! Bench `attach`. Wall time without gdb's start, on one core with the server. Each turn has a new server, so that no
//! cache is warm. The memory is the maximum over samples every few milliseconds.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::large::{Large, dump_at, large};
use crate::support::{Failure, Promises, Server, TURNS, anonymous_megabytes, pin_to_one_core, scratch};

const TIMES_GDB: f64 = 16.0;
const MAX_ANONYMOUS_MB: f64 = 100.0;
/// Lines of gdb's output about the frame: the dump's private memory holds 0x11 in each byte.
const SHOWN: [&str; 3] = ["n=286331153)", "\nindex = 286331153\n", "\nwide = 1229782938247303441\n"];

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    let Large { file, pc, .. } = large()?;
    let dump = dump_at(&scratch("large")?, &file, pc)?;
    pin_to_one_core()?;
    let (mut memory, mut ratios) = (Vec::new(), Vec::new());
    for turn in 1..=TURNS {
        let server = Server::lanescope(&dump)?;
        let (ours, most) = while_watching(server.child.id(), || attach(&server.address))?;
        let opening = open(&file)?;
        println!(
            "turn {turn}: {ours:.2} s with {most:.0} MB anonymous in the server, which took {:.2} s; gdb alone opens the file in {opening:.1} s",
            server.processor_time()?
        );
        memory.push(most);
        ratios.push(opening / ours);
    }
    let mut promises = Promises::default();
    promises.at_most("megabytes of anonymous memory in the server", &memory, MAX_ANONYMOUS_MB);
    promises.at_least(
        "gdb's time to open the file, times that from attaching to the first locals",
        &ratios,
        TIMES_GDB,
    );
    Ok(promises.end())
}

/// Seconds from attaching to the end of the text.
fn attach(address: &str) -> Result<f64, Failure> {
    let mut command = gdb();
    command.args(["-ex", "python import time; begin = time.monotonic()"]);
    command.arg("-ex").arg(format!("target remote {address}"));
    command.args(["-ex", "bt", "-ex", "info locals"]);
    command.args(["-ex", "python print('seconds', time.monotonic() - begin)"]);
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if let Some(missing) = SHOWN.iter().find(|shown| !text.contains(**shown)) {
        return Err(format!("gdb did not print {missing:?}: {text}").into());
    }
    let line = text.lines().find_map(|line| line.strip_prefix("seconds ")).ok_or("gdb has no Python")?;
    Ok(line.trim().parse()?)
}

/// Seconds for gdb to read the unconverted code object.
fn open(file: &Path) -> Result<f64, Failure> {
    let begin = Instant::now();
    let status = gdb().arg(file).status()?;
    if status.success() { Ok(begin.elapsed().as_secs_f64()) } else { Err(format!("gdb: {status}").into()) }
}

fn gdb() -> Command {
    let mut command = Command::new("gdb");
    command.args(["-nx", "-q", "-batch", "-ex", "set pagination off"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).env_remove("DEBUGINFOD_URLS");
    command
}

/// Runs `run` and returns the maximum anonymous memory of the process meanwhile, in megabytes.
fn while_watching(process: u32, run: impl FnOnce() -> Result<f64, Failure>) -> Result<(f64, f64), Failure> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut most: f64 = 0.0;
            while !over.load(Ordering::Relaxed) {
                most = most.max(anonymous_megabytes(&process.to_string()).unwrap_or(0.0));
                std::thread::sleep(Duration::from_millis(3));
            }
            most
        });
        let done = run();
        over.store(true, Ordering::Relaxed);
        let most = watching.join().map_err(|_| "nobody watched the memory")?;
        if most == 0.0 { Err("no memory seen".into()) } else { Ok((done?, most)) }
    })
}
