//! `lanescope eval --cases FILE.toml`: evaluate DWARF expressions in a machine state given as text.
//!
//! The file describes one state (registers, memory, debugging information entries) and any number of cases; each is an
//! expression with what is wanted of it: a location, a value, the whole stack, the mask of active lanes, the program
//! location of every lane, or what call frame instructions say. `docs/evaluator.md` has the format.
//!
//! Prints a line for each case, or with `--json` one object. The exit status is 0 if every case was evaluated (an error
//! of DWARF is a result like any other), 1 if a case has an `expect` that its result differs from, 2 if the file cannot
//! be read. `--explain` says of every operation what it did, with the stack before and after it, and where and why an
//! object became undefined or its expression failed. `--dialect` decodes every case in one dialect, whatever it says;
//! `lanescope --draft FILE` gives the draft dialect other numbers, in the form of `src/dwarf/draft.toml`.
//!
//! ```text
//! $ lanescope eval --cases tests/eval/locations.toml
//! C1: v0 lane 3
//! ```

mod case;
mod expect;
mod file;
mod hex;
mod run;
mod state;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::file::File;
use self::run::Runner;
use self::state::State;
use super::dialect::named as dialect;
use crate::arch::Targets;
use crate::dwarf::Dialect;

/// Evaluate DWARF expressions in a machine state given as text
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The file with the state and the cases
    #[arg(long, value_name = "FILE")]
    pub cases: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Say of every operation what it did, and why the result is what it is
    #[arg(long, conflicts_with = "json")]
    pub explain: bool,
    /// Decode every expression in this dialect: llvm-user, llvm-direct, seed-2020 or draft
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    pub dialect: Option<Dialect>,
}

/// Why nothing could be evaluated: exit status 2.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// The file is not of the format.
    #[error("{}: {error}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        #[source]
        error: Box<toml::de::Error>,
    },
    /// The state or a case says what cannot be.
    #[error("{}: {what}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What, and where in the file.
        what: String,
    },
    /// The output is gone.
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
}

/// What became of one case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// The result as JSON.
    pub result: Value,
    /// The result in words.
    pub words: String,
    /// What each operation did and why the result is what it is, where that was asked for.
    pub explained: Vec<String>,
    /// How the result differs from what the case expects.
    pub difference: Option<String>,
}

/// How cases are evaluated beyond what they say themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Say what each operation did.
    pub explain: bool,
    /// The dialect of every case, whatever the case says.
    pub dialect: Option<Dialect>,
}

/// Evaluates the cases of a file.
///
/// # Errors
/// The file cannot be read, is not of the format, or contradicts itself.
pub fn outcomes(path: &Path, targets: &Targets, manner: Manner) -> Result<Vec<Outcome>, EvalError> {
    let text = std::fs::read_to_string(path).map_err(|error| EvalError::Read { path: path.into(), error })?;
    let syntax = |error| EvalError::Syntax { path: path.into(), error: Box::new(error) };
    let file: File = toml::from_str(&text).map_err(syntax)?;
    let invalid = |what| EvalError::Invalid { path: path.into(), what };
    let state = State::new(&file.state, targets).map_err(invalid)?;
    let run = |case| Runner::new(&state, case, manner).and_then(|runner| runner.outcome()).map_err(invalid);
    file.cases.iter().map(run).collect()
}

/// Evaluates the cases of a file and prints the results; the answer is the exit status, 0 or 1.
///
/// # Errors
/// The file cannot be read, is not of the format, or contradicts itself (exit status 2), or the output is gone.
pub fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<u8, EvalError> {
    let outcomes = outcomes(&args.cases, targets, Manner { explain: args.explain, dialect: args.dialect })?;
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
