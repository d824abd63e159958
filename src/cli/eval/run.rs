//! Runs one case: computes the wanted result and formats it as JSON and text.

use super::case::CaseContext;
use super::error::CaseError;
use super::file::{CaseText, ContextText, Want};
use super::state::State;
use super::text::{Hex, InitialText, Int};
use super::{Manner, Outcome, expect};
use crate::dwarf::cfi::{Answers, Factors, Row, Unwind};
use crate::dwarf::clang_xderef::{self, Idiom, Reading, Scratch};
use crate::dwarf::explain::{self, Explainer};
use crate::dwarf::{
    Cause, Dialect, Encoding, Entry, Error, Evaluator, Focus, Location, Number, Program, active_lanes,
    lane_pcs, print,
};
use crate::report::expression::{self, ExpressionResult};
use crate::report::schema;
use crate::units::{DwarfReg, ExprOffset, LaneId, Pc};

/// A case with its state.
#[derive(Debug)]
pub(super) struct Runner<'f> {
    state: &'f State<'f>,
    case: &'f CaseText,
    context: CaseContext<'f>,
    initial: Vec<Entry>,
    explain: bool,
}

/// The receiver of the operations' explanations, if any.
type Explain<'a, 'n> = Option<&'a mut Explainer<'n>>;

/// A result before its JSON and text forms.
struct Answer {
    json: ExpressionResult,
    words: String,
    /// The undefined parts and their reasons.
    undefined: Vec<String>,
}

impl Answer {
    fn new(json: ExpressionResult, words: String) -> Self {
        Self { json, words, undefined: Vec::new() }
    }
}

impl<'f> Runner<'f> {
    /// Checks a case's fields other than its bytes.
    pub(super) fn new(state: &'f State<'f>, case: &'f CaseText, manner: Manner) -> Result<Self, CaseError> {
        let dialect = manner.dialect.or(case.dialect.map(|dialect| dialect.0)).unwrap_or(Dialect::LlvmUser);
        let encoding = Encoding { dialect, dwarf64: case.dwarf64 };
        let entry = |text: &InitialText| match text {
            InitialText::Value(value) => Ok(Entry::Number(Number::generic(*value))),
            InitialText::Place(place) => state.location(*place).map(Entry::Location),
        };
        let initial = case.initial_stack.iter().map(entry).collect::<Result<_, _>>();
        let initial =
            initial.map_err(|error: CaseError| CaseError::InitialStack(error.into()).of_case(&case.name))?;
        let context = CaseContext { state, encoding };
        Ok(Self { state, case, context, initial, explain: manner.explain })
    }

    /// Evaluates the case.
    pub(super) fn outcome(&self) -> Result<Outcome, CaseError> {
        let case = self.case;
        let wrong = |error: CaseError| error.of_case(&case.name);
        let names = self.state.names();
        let mut explainer = self.explain.then(|| Explainer::new(&names));
        let bytes = contents(case.bytes.as_ref());
        let answer = loop {
            let answer = match case.want {
                Want::Cfa | Want::Caller | Want::CallerValue => {
                    self.call_frame(explainer.as_mut()).map_err(wrong)?
                }
                _ => Program::decode(bytes, self.context.encoding)
                    .and_then(|program| self.expression(&program, explainer.as_mut())),
            };
            if !explainer.as_mut().is_some_and(Explainer::again) {
                break answer;
            }
        };
        let mut explained = explainer.map(|explainer| explainer.lines()).unwrap_or_default();
        if self.explain {
            explained.extend(match &answer {
                Ok(answer) => answer.undefined.clone(),
                Err(error) => explain::error(error, &self.state.names()),
            });
        }
        let (Answer { json, words, .. }, error) = match answer {
            Ok(answer) => (answer, None),
            Err(error) => {
                let words = format!("{}: {error}", error.class());
                (Answer::new(ExpressionResult::Error(expression::error(&error)), words), Some(error))
            }
        };
        let difference = case.expect.as_ref().map(|expected| expect::difference(expected, &json));
        let difference = difference.transpose().map_err(wrong)?.flatten();
        Ok(Outcome { name: case.name.clone(), result: json, words, explained, difference, error })
    }

    fn expression(&self, program: &Program, explainer: Explain<'_, '_>) -> Result<Answer, Error> {
        let lane = self.state.lane;
        match self.case.want {
            Want::Location => {
                let (found, idiom) = self.location(program, explainer)?;
                let answer = self.at(&found);
                Ok(match idiom {
                    Some(idiom) => {
                        Answer { words: format!("{} ({})", answer.words, idiom.words()), ..answer }
                    }
                    None => answer,
                })
            }
            Want::Value => {
                let groups = self.evaluator(explainer).value(program, lane.into(), &self.initial);
                let number = only(groups.into_iter().map(|group| group.result))?;
                Ok(number_answer(&number.at(lane.unwrap_or_default())))
            }
            // The attribute's own evaluation has no observer; an equal one explains it.
            Want::ActiveLane => {
                if explainer.is_some() {
                    self.evaluator(explainer).stack(program, lane.into(), &[]);
                }
                active_lanes(&self.context, program, lane).map(|mask| number_answer(&mask))
            }
            Want::LanePc => {
                if explainer.is_some() {
                    self.evaluator(explainer).location(program, lane.into(), &[]);
                }
                lane_pcs(&self.context, program, lane).map(|pcs| lanes_answer(&pcs))
            }
            _ => {
                let groups = self.evaluator(explainer).stack(program, lane.into(), &self.initial);
                let stack = only(groups.into_iter().map(|group| group.result))?;
                Ok(self.stack(&stack))
            }
        }
    }

    fn location(
        &self,
        program: &Program,
        explainer: Explain<'_, '_>,
    ) -> Result<(Location, Option<Idiom>), Error> {
        let focus = Focus::from(self.state.lane);
        if self.case.legacy {
            let buffer = self.state.kind.target.buffer_scratch;
            let scratch = if buffer { Scratch::Buffer } else { Scratch::Flat };
            let reading = Reading { clang: true, scratch };
            // A case has no object, thus no size.
            if let Some(meant) = clang_xderef::recognise(&self.context, program, reading, None, focus) {
                let location = only(meant.groups.into_iter().map(|group| group.result))?;
                return Ok((location, Some(meant.idiom)));
            }
        }
        let groups = self.evaluator(explainer).location(program, focus, &self.initial);
        Ok((only(groups.into_iter().map(|group| group.result))?, None))
    }

    fn evaluator<'a>(&'a self, explainer: Explain<'a, '_>) -> Evaluator<'a> {
        let evaluator = Evaluator::new(&self.context);
        let evaluator = match explainer {
            Some(explainer) => evaluator.traced(explainer),
            None => evaluator,
        };
        if self.case.context == ContextText::Cfi { evaluator.for_call_frames() } else { evaluator }
    }

    /// The result of call frame instructions. The outer error is a mistake in the case, the inner one a result.
    fn call_frame(&self, explainer: Explain<'_, '_>) -> Result<Result<Answer, Error>, CaseError> {
        let case = self.case;
        let pc = || self.state.kind.named("pc").and_then(|register| register.dwarf);
        let return_address = case
            .return_address
            .map(|Int(number)| DwarfReg(number))
            .or_else(pc)
            .ok_or(CaseError::NoReturnAddress)?;
        let factors = Factors {
            code: case.code_alignment.0,
            data: case.data_alignment,
            return_address,
            address_size: 8,
            encoding: self.context.encoding,
        };
        let (cie, fde) = (contents(case.cie.as_ref()), contents(case.fde.as_ref()));
        let register = || case.register.map(|Int(number)| DwarfReg(number)).ok_or(CaseError::NoRegister);
        let row = match Row::find(&factors, cie, fde, Pc(0), None) {
            Ok(row) => row,
            Err(error) => return Ok(Err(error)),
        };
        let answers = Answers::default();
        let unwind = Unwind::new(&self.context, &row, &answers);
        if let Some(explainer) = explainer {
            match case.want {
                Want::Cfa => unwind.explain_cfa(explainer),
                _ => unwind.explain_register(register()?, explainer),
            }
        }
        Ok(match case.want {
            Want::Cfa => unwind.cfa().map(|location| self.at(&location)),
            Want::Caller => unwind.register(register()?).map(|location| self.at(&location)),
            _ => unwind.value(register()?).map(|number| number_answer(&number)),
        })
    }

    fn at(&self, location: &Location) -> Answer {
        let lane = self.state.lane.unwrap_or_default();
        let location = location.at(lane);
        let names = self.state.names();
        let words = print::location(&location, lane, &names);
        let undefined = explain::undefined(&location, lane).iter().map(|one| one.named(&names)).collect();
        Answer { json: expression::location(&location, lane), words, undefined }
    }

    fn stack(&self, stack: &[Entry]) -> Answer {
        let lane = self.state.lane.unwrap_or_default();
        let entries = stack.iter().rev().map(|entry| expression::entry(entry, lane)).collect();
        let names = self.state.names();
        let words: Vec<String> = stack.iter().rev().map(|entry| print::entry(entry, lane, &names)).collect();
        Answer::new(ExpressionResult::Stack { entries }, words.join(" | "))
    }
}

fn contents(bytes: Option<&Hex>) -> &[u8] {
    bytes.map_or(&[], |Hex(bytes)| bytes)
}

/// The one group of an evaluation for one lane or for the wave.
fn only<T>(mut results: impl Iterator<Item = Result<T, Error>>) -> Result<T, Error> {
    let none = Error { at: ExprOffset(0), op: "result", cause: Cause::StackUnderflow { need: 1, have: 0 } };
    results.next().unwrap_or(Err(none))
}

fn number_answer(number: &Number) -> Answer {
    Answer::new(expression::number(number, LaneId(0)), print::number(number, LaneId(0)))
}

fn lanes_answer(pcs: &[Option<Pc>]) -> Answer {
    let json = pcs.iter().map(|pc| pc.map(|pc| schema::Hex(pc.0))).collect();
    // Consecutive lanes at the same place form one range.
    let mut words: Vec<String> = Vec::new();
    let mut first = 0;
    while let Some(pc) = pcs.get(first) {
        let count = pcs.iter().skip(first).take_while(|other| *other == pc).count();
        let lanes = match count {
            1 => format!("lane {first}"),
            _ => format!("lanes {first}-{}", first + count - 1),
        };
        words.push(match pc {
            Some(pc) => format!("{lanes}: {pc}"),
            None => format!("{lanes}: not active on entry"),
        });
        first += count;
    }
    Answer::new(ExpressionResult::Lanes { pcs: json }, words.join(", "))
}
