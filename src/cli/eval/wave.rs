//! `lanescope eval [DUMP] EXPRESSION`: an expression in frame 0 of a captured wave.

use std::io::Write;
use std::path::PathBuf;

use super::super::{DumpArgs, Failure, WaveArgs, dump, print_json};
use super::{Args, EvalError, hex};
use crate::arch::Targets;
use crate::report::{Style, evaluation, json, text};
use crate::session::{EvaluateError, Expression, Inspect as _, Question, Want};

/// Evaluates the expression for the requested lanes and prints the results.
pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let (from, expression) = asked(args)?;
    let (kind, dialect, debug_dirs) = (args.kind.clone(), args.dialect, args.debug_dirs.clone());
    let from = DumpArgs {
        dump: from,
        kind,
        dialect,
        debug_dirs,
        with: args.with.clone(),
        disassembler: None,
        called: None,
    };
    let of = WaveArgs { from, wave: args.wave, at: args.at, json: args.json };
    let (session, wave) = dump::session(&of, targets)?;
    let lanes = dump::lanes(&session, wave, args.lane.as_deref(), 0)?;
    let want = match args.value {
        true => Want::Value,
        false => Want::Location { size: args.size, legacy: args.legacy },
    };
    let question = Question { expression, dialect: args.dialect, want, explain: args.explain };
    let found =
        session.evaluate(wave, lanes, &question).map_err(|error| match (error, &question.expression) {
            (EvaluateError::Text(error), Expression::Text(text)) => {
                Failure::from(EvalError::Expression(evaluation::misread(text, &error)))
            }
            (error @ EvaluateError::TooManyBytes(_), _) => EvalError::Expression(error.to_string()).into(),
            (error, _) => error.into(),
        })?;
    if args.json {
        return print_json(out, &json::marked(&session, wave, evaluation::json(&found)));
    }
    out.write_all(text::mark(&session, wave, Style::Coloured).as_bytes())?;
    out.write_all(evaluation::text(&found, Style::Coloured).as_bytes())?;
    Ok(())
}

/// The dump and the expression. A single argument is the expression, and the dump is the demo.
fn asked(args: &Args) -> Result<(Option<PathBuf>, Expression), EvalError> {
    let wrong = |words: String| Err(EvalError::Expression(words));
    match (&args.dump, &args.expression, &args.bytes) {
        (dump, None, Some(text)) => match hex::bytes(text) {
            Ok(bytes) => Ok((dump.clone(), Expression::Bytes(bytes))),
            Err(error) => wrong(format!("--bytes: {error}")),
        },
        (Some(dump), Some(text), None) => Ok((Some(dump.clone()), Expression::Text(text.clone()))),
        (Some(dump), None, None) if dump.exists() => {
            let dump = dump.display();
            wrong(format!("an expression is missing: lanescope eval {dump} 'DW_OP_regx VGPR3'"))
        }
        (Some(text), None, None) => match text.to_str() {
            Some(text) => Ok((None, Expression::Text(text.to_owned()))),
            None => wrong("the expression is not UTF-8".to_owned()),
        },
        (_, Some(_), Some(_)) => wrong("say an expression or --bytes, not both".to_owned()),
        _ => wrong("say an expression, `lanescope eval DUMP 'DW_OP_regx VGPR3'`, or --cases FILE".to_owned()),
    }
}
