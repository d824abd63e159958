//! `lanescope eval [DUMP] EXPRESSION`: evaluates a DWARF expression in a captured wave; `lanescope eval --cases
//! FILE.toml`: evaluates many in a machine state given as text.
//!
//! EXPRESSION has the form that `lanescope dwarf` prints; `--bytes HEX` gives its bytes instead. The context is frame
//! 0 of the wave: its registers, its memory of every address space, its PC, and the function and unit at the PC with
//! their frame base, base types and other entries, for the lane in focus or the lanes of `--lane`. A wave without PC,
//! code object or debug information has the remaining parts; an expression that needs a missing part reports it.
//!
//! Prints a line for each run of lanes with the same result: the location and its bytes, `xx` for missing bytes and
//! `..` for bytes without a location. A register, a constant and a composite have their size; the size of a vector
//! register is the lane's dword. Memory has none: `--size N` reads N bytes. `--value` prints the computed value. A
//! failed expression is a result: class, operation, its offset, cause. Exit status 0: evaluated; 1: the dump, wave or
//! lane does not exist; 2: the expression is malformed, with the position.
//!
//! `--legacy` reads compilers' idioms like `lanescope locals`; by the specification they mean something else.
//!
//! ```text
//! $ lanescope eval --wave 1 --lane 15-17 'DW_OP_regx VGPR3; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset'
//! lane 15: VGPR3 lane 15  dc 0f 00 00
//! ```
//!
//! A file of cases describes one state (registers, memory, debugging information entries) and any number of cases.
//! Each case is an expression with the wanted result: a location, a value, the whole stack, the mask of active lanes,
//! the program location of every lane, or the result of call frame instructions. `docs/evaluator.md` has the format.
//!
//! Prints a line for each case, or with `--json` one object. Exit status 0: every case was evaluated (a DWARF error
//! is a result too); 1: a result differs from the `expect` of its case; 2: the file is unreadable. `--explain`
//! reports the effect of every operation, with the stack before and after it, and the position and reason of an
//! undefined object or a failed expression. `--dialect` decodes every case in one dialect and overrides the case's
//! own; `lanescope --draft FILE` gives the draft dialect other numbers, in the form of `evaluator/src/draft.toml`.
//!
//! ```text
//! $ lanescope eval --cases tests/eval/locations.toml
//! C1: v0 lane 3
//! ```

mod case;
mod check;
mod expect;
mod file;
mod hex;
mod run;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod wave;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser as _;
use serde_json::{Value, json};

use self::file::File;
use self::run::Runner;
use self::state::State;
use super::dialect::{named as dialect, parser};
use super::{CaptureArgs, Failure, PlaceArgs};
use crate::arch::Targets;
use crate::dwarf::{Dialect, Error};

/// Evaluate a DWARF expression in a captured wave, or many in a machine state given as text
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The dump: a folder, a .zip or a manifest [default: the embedded demo]
    #[arg(value_name = "DUMP", value_parser = clap::builder::OsStringValueParser::new().map(PathBuf::from))]
    pub dump: Option<PathBuf>,
    /// The expression: 'DW_OP_regx VGPR3; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset'
    #[arg(value_name = "EXPRESSION")]
    pub expression: Option<String>,
    /// The bytes of the expression in hexadecimal: '90 83 14'
    #[arg(long, value_name = "HEX", conflicts_with = "cases")]
    pub bytes: Option<String>,
    /// The wave's id, the last number of `AMDGPU Wave 1:1:1:4` [default: the one that faulted, else the first]
    #[arg(long, short, value_name = "ID", conflicts_with = "cases")]
    pub wave: Option<u32>,
    /// The lanes: a number, 0,3,16-31, `active` or `all` [default: the first active lane]
    #[arg(long, short, value_name = "LANES", conflicts_with_all = ["cases", "work_item"])]
    pub lane: Option<String>,
    /// A work-item or a wave by its place in the grid
    #[command(flatten)]
    pub at: PlaceArgs,
    /// Take a wave of that kind where the dump mixes kinds: gfx1100, wave32 or gfx1100:wave32
    #[arg(long, value_name = "KIND", conflicts_with = "cases")]
    pub kind: Option<String>,
    /// Compute a value, not a location
    #[arg(long, conflicts_with_all = ["cases", "size", "legacy"])]
    pub value: bool,
    /// Number of bytes to read at the location
    #[arg(long, value_name = "BYTES", conflicts_with = "cases")]
    pub size: Option<u64>,
    /// Read clang's xderef idiom as clang means it
    #[arg(long, conflicts_with = "cases")]
    pub legacy: bool,
    /// The file with the state and the cases, instead of a dump and an expression
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dump", "expression", "work_item", "workgroup"])]
    pub cases: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Folders of separate debug information, given once for all commands.
    #[arg(skip)]
    pub debug_dirs: Vec<PathBuf>,
    /// Report the effect of every operation, and the reason of the result
    #[arg(long, conflicts_with = "json")]
    pub explain: bool,
    /// Read every expression in this dialect: llvm-user, llvm-direct, amdgpu-usage-2020 or draft [default: that of the unit
    /// at the PC, of the case]
    #[arg(long, value_name = "DIALECT", value_parser = parser())]
    pub dialect: Option<Dialect>,
    /// Supplements of the dump.
    #[command(flatten)]
    pub with: CaptureArgs,
}

/// An error that prevents all evaluation: exit status 2.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The file is unreadable.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        error: std::io::Error,
    },
    /// The file has another format.
    #[error("{}: {error}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Position and cause.
        #[source]
        error: Box<toml::de::Error>,
    },
    /// The state or a case is contradictory.
    #[error("{}: {what}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The contradiction, and its position in the file.
        what: String,
    },
    /// The expression is malformed.
    #[error("{0}")]
    Expression(String),
    /// The output is closed.
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
}

/// The outcome of one case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// The result as JSON.
    pub result: Value,
    /// The result in words.
    pub words: String,
    /// The effect of each operation and the reason of the result, if requested.
    pub explained: Vec<String>,
    /// The difference between the result and the case's expectation.
    pub difference: Option<String>,
    /// The failure, if the result is one.
    pub error: Option<Error>,
}

/// Options of an evaluation beside those of the cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Report the effect of each operation.
    pub explain: bool,
    /// The dialect of every case; overrides the case's own.
    pub dialect: Option<Dialect>,
}

/// Evaluates the cases of a file.
///
/// # Errors
/// The file is unreadable, has another format, or contradicts itself.
pub fn outcomes(path: &Path, targets: &Targets, manner: Manner) -> Result<Vec<Outcome>, EvalError> {
    let text = std::fs::read_to_string(path).map_err(|error| EvalError::Read { path: path.into(), error })?;
    outcomes_of(&text, path, targets, manner)
}

/// The same for the text of a file.
fn outcomes_of(
    text: &str,
    path: &Path,
    targets: &Targets,
    manner: Manner,
) -> Result<Vec<Outcome>, EvalError> {
    let syntax = |error| EvalError::Syntax { path: path.into(), error: Box::new(error) };
    let file: File = toml::from_str(text).map_err(syntax)?;
    let invalid = |what| EvalError::Invalid { path: path.into(), what };
    check::contradictions(&file).map_err(invalid)?;
    let state = State::new(&file.state, targets).map_err(invalid)?;
    let run = |case| Runner::new(&state, case, manner).and_then(|runner| runner.outcome()).map_err(invalid);
    file.cases.iter().map(run).collect()
}

/// Evaluates an expression in a dump's wave or the cases of a file, and prints; returns the exit status, 0 or 1.
///
/// # Errors
/// The dump or the wave does not exist; or an [`EvalError`], exit status 2.
pub fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, Failure> {
    match &args.cases {
        Some(cases) => Ok(run_cases(cases, args, targets, out)?),
        None => wave::run(args, targets, out).map(|()| 0),
    }
}

fn run_cases(cases: &Path, args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, EvalError> {
    let outcomes = outcomes(cases, targets, Manner { explain: args.explain, dialect: args.dialect })?;
    if args.json {
        let cases: Vec<Value> =
            outcomes.iter().map(|outcome| json!({"name": outcome.name, "result": outcome.result})).collect();
        writeln!(out, "{}", json!({"cases": cases}))?;
    }
    for outcome in &outcomes {
        if !args.json {
            writeln!(out, "{}: {}", outcome.name, outcome.words)?;
            for line in &outcome.explained {
                writeln!(out, "    {line}")?;
            }
        }
        if let Some(difference) = &outcome.difference {
            log::error!("{}: {difference}", outcome.name);
            if !args.json {
                writeln!(out, "    differs: {difference}")?;
            }
        }
    }
    Ok(u8::from(outcomes.iter().any(|outcome| outcome.difference.is_some())))
}
