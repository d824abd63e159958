//! Runs one case: evaluates what it wants and puts the result into JSON and words.

use serde_json::{Value, json};

use super::case::CaseContext;
use super::file::{CaseText, ContextText, DialectText, InitialText, Want};
use super::state::{Names, State};
use super::{Outcome, expect, hex};
use crate::dwarf::cfi::{Factors, Row, Unwind};
use crate::dwarf::legacy::{self, Scratch};
use crate::dwarf::{
    Cause, Dialect, Encoding, Entry, Error, Evaluator, Focus, Location, Number, Program, Step, Tracer,
    active_lanes, lane_pcs, print,
};
use crate::units::{DwarfReg, ExprOffset, LaneId, Pc};

/// A case with its state.
#[derive(Debug)]
pub(super) struct Runner<'f> {
    state: &'f State<'f>,
    case: &'f CaseText,
    context: CaseContext<'f>,
    initial: Vec<Entry>,
    trace: Option<Lines<'f>>,
}

/// A result before it is JSON and words.
struct Answer {
    json: Value,
    words: String,
}

impl<'f> Runner<'f> {
    /// Checks what a case says beside its bytes.
    pub(super) fn new(state: &'f State<'f>, case: &'f CaseText, trace: bool) -> Result<Self, String> {
        let dialect = match case.dialect {
            DialectText::LlvmUser => Dialect::LlvmUser,
            DialectText::LlvmDirect => Dialect::LlvmDirect,
            DialectText::Seed2020 => Dialect::Seed2020,
            DialectText::Draft => Dialect::Draft,
        };
        let encoding = Encoding { dialect, dwarf64: case.dwarf64 };
        let entry = |text: &InitialText| match text {
            InitialText::Value(value) => Ok(Entry::Number(Number::generic(*value as u64))),
            InitialText::Place(place) => state.location(*place).map(Entry::Location),
        };
        let initial = case.initial_stack.iter().map(entry).collect::<Result<_, _>>();
        let initial = initial.map_err(|error| format!("case {:?}: initial_stack: {error}", case.name))?;
        let context = CaseContext { state, encoding };
        let trace = trace.then(|| Lines { names: state.names(), lines: Vec::new() });
        Ok(Self { state, case, context, initial, trace })
    }

    /// Evaluates the case.
    pub(super) fn outcome(&mut self) -> Result<Outcome, String> {
        let case = self.case;
        let wrong = |error| format!("case {:?}: {error}", case.name);
        let answer = match case.want {
            Want::Cfa | Want::Caller | Want::CallerValue => self.call_frame().map_err(wrong)?,
            _ => {
                let bytes = hex::bytes(&case.bytes).map_err(wrong)?;
                Program::decode(&bytes, self.context.encoding).and_then(|program| self.expression(&program))
            }
        };
        let Answer { json, words } = answer.unwrap_or_else(|error| Answer {
            json: print::error_json(&error),
            words: format!("{}: {error}", error.class()),
        });
        let difference = case.expect.as_ref().map(|expected| expect::difference(expected, &json));
        let difference = difference.transpose().map_err(wrong)?.flatten();
        let trace = self.trace.take().map(|trace| trace.lines).unwrap_or_default();
        Ok(Outcome { name: case.name.clone(), result: json, words, trace, difference })
    }

    fn expression(&mut self, program: &Program) -> Result<Answer, Error> {
        let lane = self.state.lane;
        match self.case.want {
            Want::Location => {
                let found = self.location(program)?;
                Ok(self.at(&found))
            }
            Want::Value => {
                let initial = self.initial.clone();
                let groups = self.evaluator().value(program, lane.into(), &initial);
                let number = only(groups.into_iter().map(|group| group.result))?;
                Ok(number_answer(&number.at(lane.unwrap_or_default())))
            }
            Want::ActiveLane => active_lanes(&self.context, program, lane).map(|mask| number_answer(&mask)),
            Want::LanePc => lane_pcs(&self.context, program, lane).map(|pcs| lanes_answer(&pcs)),
            _ => {
                let initial = self.initial.clone();
                let groups = self.evaluator().stack(program, lane.into(), &initial);
                let stack = only(groups.into_iter().map(|group| group.result))?;
                Ok(self.stack(&stack))
            }
        }
    }

    fn location(&mut self, program: &Program) -> Result<Location, Error> {
        let focus = Focus::from(self.state.lane);
        if self.case.legacy {
            let buffer = self.state.kind.target.buffer_scratch;
            let scratch = if buffer { Scratch::Buffer } else { Scratch::Flat };
            if let Some(groups) = legacy::recognise(&self.context, program, scratch, focus) {
                return only(groups.into_iter().map(|group| group.result));
            }
        }
        let initial = self.initial.clone();
        only(self.evaluator().location(program, focus, &initial).into_iter().map(|group| group.result))
    }

    fn evaluator(&mut self) -> Evaluator<'_> {
        let evaluator = Evaluator::new(&self.context);
        let evaluator = match &mut self.trace {
            Some(trace) => evaluator.traced(trace),
            None => evaluator,
        };
        if self.case.context == ContextText::Cfi { evaluator.for_call_frames() } else { evaluator }
    }

    /// What call frame instructions say. The outer error is a mistake in the case, the inner one a result.
    fn call_frame(&self) -> Result<Result<Answer, Error>, String> {
        let case = self.case;
        let pc = || self.state.kind.named("pc").and_then(|register| register.dwarf);
        let return_address = case.return_address.map(DwarfReg).or_else(pc).ok_or("no return_address")?;
        let factors = Factors {
            code: case.code_alignment,
            data: case.data_alignment,
            return_address,
            encoding: self.context.encoding,
        };
        let (cie, fde) = (hex::bytes(&case.cie)?, hex::bytes(&case.fde)?);
        let register = case.register.map(DwarfReg).ok_or("no register");
        let row = match Row::find(&factors, &cie, &fde, Pc(0), None) {
            Ok(row) => row,
            Err(error) => return Ok(Err(error)),
        };
        let unwind = Unwind::new(&self.context, &row);
        Ok(match case.want {
            Want::Cfa => unwind.cfa().map(|location| self.at(&location)),
            Want::Caller => unwind.register(register?).map(|location| self.at(&location)),
            _ => unwind.value(register?).map(|number| number_answer(&number)),
        })
    }

    fn at(&self, location: &Location) -> Answer {
        let lane = self.state.lane.unwrap_or_default();
        let location = location.at(lane);
        let mut words = print::location(&location, lane, &self.state.names());
        if self.case.legacy {
            words = format!("{words} ({})", legacy::WORDS);
        }
        Answer { json: print::location_json(&location, lane), words }
    }

    fn stack(&self, stack: &[Entry]) -> Answer {
        let lane = self.state.lane.unwrap_or_default();
        let entries: Vec<Value> = stack.iter().rev().map(|entry| print::entry_json(entry, lane)).collect();
        let names = self.state.names();
        let words: Vec<String> = stack.iter().rev().map(|entry| print::entry(entry, lane, &names)).collect();
        Answer { json: json!({"kind": "stack", "entries": entries}), words: words.join(" | ") }
    }
}

/// The one group of an evaluation for one lane or for the wave.
fn only<T>(mut results: impl Iterator<Item = Result<T, Error>>) -> Result<T, Error> {
    let none = Error { at: ExprOffset(0), op: "result", cause: Cause::StackUnderflow { need: 1, have: 0 } };
    results.next().unwrap_or(Err(none))
}

fn number_answer(number: &Number) -> Answer {
    Answer { json: print::number_json(number, LaneId(0)), words: print::number(number, LaneId(0)) }
}

fn lanes_answer(pcs: &[Option<Pc>]) -> Answer {
    let json: Vec<Value> = pcs.iter().map(|pc| pc.map_or(Value::Null, |pc| json!(pc.to_string()))).collect();
    let words = pcs.iter().enumerate().map(|(lane, pc)| match pc {
        Some(pc) => format!("lane {lane}: {pc}"),
        None => format!("lane {lane}: not active on entry"),
    });
    Answer { json: json!({"kind": "lanes", "pcs": json}), words: words.collect::<Vec<_>>().join(", ") }
}

/// Keeps a line for each operation.
#[derive(Debug)]
struct Lines<'f> {
    names: Names<'f>,
    lines: Vec<String>,
}

impl Tracer for Lines<'_> {
    fn step(&mut self, step: &Step<'_>) {
        self.lines.push(print::step(step, &self.names));
    }
}
