//! All benches in one program: `cargo bench --profile release -- NAME` (docs/performance.md). A bench is a module with the
//! limits that it checks.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a bench prints what it measured")]

mod attach;
mod big;
mod check;
mod containers;
mod cores;
mod evaluator;
mod groups;
mod locals;
mod logs;
mod open;
mod protocol;
mod report;
mod stacks;
mod support;
mod threads;
mod triage;

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/cores/mod.rs"]
mod core_writer;

use std::process::ExitCode;

use support::Failure;

/// Runs a bench, or a part of it, with the arguments after its name.
type Run = fn(Vec<String>) -> Result<ExitCode, Failure>;

const BENCHES: [(&str, Run, &str); 15] = [
    ("protocol", protocol::run, "packets against gdbserver and a bare ping-pong"),
    ("threads", threads::run, "10,000 waves in gdb, against a table of the same bytes"),
    (
        "stacks",
        stacks::run,
        "stacks of 10,000 waves in gdb, through the view, against a table of the same bytes",
    ),
    ("attach", attach::run, "attaching through the view to 100 MB of debug information"),
    ("groups", groups::run, "10,000 waves by call stack, against 1,000"),
    ("locals", locals::run, "variables of all lanes, against lane by lane"),
    ("open", open::run, "opening a dump of 10,000 waves, against serde_json reading its manifest"),
    ("logs", logs::run, "reading a debug agent's log of 50 MB, against reading its words"),
    ("cores", cores::run, "opening a sparse GPU core of 100 GB, against plain reads of its waves"),
    (
        "containers",
        containers::run,
        "bundles and offload binaries of 20 MB of code, against a copy and the decoders",
    ),
    ("triage", triage::run, "the cause in the demo and in GPU cores of 100 GB, against the list of waves"),
    (
        "check",
        check::run,
        "30 dumps with 10 expectations each, against their pages; lines about 10,000 waves",
    ),
    ("report", report::run, "reports of the demo and of 10,000 waves, against shorter commands"),
    ("big", big::run, "100 MB of debug information, against gdb and gimli"),
    ("evaluator", evaluator::run, "locations of 100 variables for 64 lanes, against gimli"),
];

fn main() -> Result<ExitCode, Failure> {
    // The profile `bench` is that of the unit tests: Cargo.toml.
    if cfg!(debug_assertions) {
        return Err("this build is not optimized: cargo bench --profile release -- NAME".into());
    }
    // Cargo adds --bench.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let name = arguments.next().unwrap_or_default();
    let run = match name.as_str() {
        // Not a bench: the other server of `threads` and `stacks`.
        "table" => support::table::serve,
        _ => match BENCHES.iter().find(|(known, ..)| *known == name) {
            Some((_, run, _)) => *run,
            None => return Ok(refuse(&name)),
        },
    };
    let done = run(arguments.collect());
    std::fs::remove_dir_all(support::scratch("")?)?;
    done
}

/// Prints the names.
fn refuse(name: &str) -> ExitCode {
    for (known, _, what) in BENCHES {
        println!("{known:<12}{what}");
    }
    if name.is_empty() {
        eprintln!("which bench? cargo bench --profile release -- NAME");
    } else {
        eprintln!("there is no bench {name}");
    }
    ExitCode::from(2)
}
