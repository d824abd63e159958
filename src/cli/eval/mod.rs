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
mod error;
mod expect;
mod file;
mod run;
mod state;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::error::CaseError;
use self::file::File;
use self::run::Runner;
use self::state::State;
use super::dialect::named as dialect;
use crate::arch::Targets;
use crate::dwarf::{Dialect, Error};
use crate::report::Style;
use crate::report::expression::ExpressionResult;
use crate::report::schema::{Document, Schema};

/// Adds `--cases` to the subcommand of the question.
pub(super) fn with_cases(command: clap::Command) -> clap::Command {
    let others =
        ["dump", "expression", "bytes", "wave", "lane", "kind", "value", "size", "legacy", "work_item"];
    let cases = clap::Arg::new("cases")
        .long("cases")
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .conflicts_with_all(others)
        .conflicts_with("workgroup")
        .help("The file with the state and the cases, instead of a dump and an expression");
    command.arg(cases).mut_arg("explain", |explain| explain.conflicts_with("json"))
}

/// An error that prevents all evaluation: exit status 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvalError {
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
        what: Box<CaseError>,
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
pub(crate) struct Outcome {
    /// Its name.
    pub(crate) name: String,
    /// The result as JSON.
    pub(crate) result: ExpressionResult,
    /// The result in words.
    pub(crate) words: String,
    /// The effect of each operation and the reason of the result, if requested.
    pub(crate) explained: Vec<String>,
    /// The difference between the result and the case's expectation.
    pub(crate) difference: Option<String>,
    /// The failure, if the result is one.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests read its cause"))]
    pub(crate) error: Option<Error>,
}

/// The results of a file of cases.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CaseResults {
    /// The results.
    cases: Vec<CaseResult>,
}

impl Schema for CaseResults {
    const NAME: &'static str = "eval-cases";
}

/// The result of a case.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CaseResult {
    /// Its name.
    name: String,
    /// Its result.
    result: ExpressionResult,
}

/// Options of an evaluation beside those of the cases.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// Report the effect of each operation.
    pub(crate) explain: bool,
    /// The dialect of every case; overrides the case's own.
    pub(crate) dialect: Option<Dialect>,
}

/// Evaluates the cases of a file.
///
/// # Errors
/// The file is unreadable, has another format, or contradicts itself.
pub(crate) fn outcomes(path: &Path, targets: &Targets, manner: Manner) -> Result<Vec<Outcome>, EvalError> {
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
    let invalid = |what: CaseError| EvalError::Invalid { path: path.into(), what: what.into() };
    check::contradictions(&file).map_err(invalid)?;
    let state = State::new(&file.state, targets).map_err(invalid)?;
    let run = |case| Runner::new(&state, case, manner).and_then(|runner| runner.outcome()).map_err(invalid);
    file.cases.iter().map(run).collect()
}

/// Evaluates the cases of a file and prints the outcomes; returns the exit status, 0 or 1.
///
/// # Errors
/// An [`EvalError`], exit status 2.
pub(super) fn run_cases(
    cases: &Path,
    matches: &clap::ArgMatches,
    targets: &Targets,
    out: &mut dyn Write,
) -> Result<u8, EvalError> {
    let manner =
        Manner { explain: matches.get_flag("explain"), dialect: matches.get_one("dialect").copied() };
    let is_json = matches.get_flag("json");
    let outcomes = outcomes(cases, targets, manner)?;
    if is_json {
        let cases = outcomes
            .iter()
            .map(|outcome| CaseResult { name: outcome.name.clone(), result: outcome.result.clone() });
        let text = serde_json::to_string(&Document::new(CaseResults { cases: cases.collect() }));
        writeln!(out, "{}", text.map_err(std::io::Error::from)?)?;
    }
    for outcome in &outcomes {
        if !is_json {
            writeln!(out, "{}", Style::Coloured.folded(&format!("{}: {}", outcome.name, outcome.words)))?;
            for line in &outcome.explained {
                writeln!(out, "{}", Style::Coloured.folded(&format!("    {line}")))?;
            }
        }
        if let Some(difference) = &outcome.difference {
            log::error!("{}: {difference}", outcome.name);
            if !is_json {
                writeln!(out, "{}", Style::Coloured.folded(&format!("    differs: {difference}")))?;
            }
        }
    }
    Ok(u8::from(outcomes.iter().any(|outcome| outcome.difference.is_some())))
}
