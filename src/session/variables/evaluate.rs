//! Evaluation of a user's expression in a wave's frame 0.
//!
//! The PC, its code object and its debug information may all be missing. An expression that needs a missing part fails
//! with the reason.

use crate::dwarf::clang_xderef::Meaning;
use crate::dwarf::explain::{self, Explainer};
use crate::dwarf::limits::MAX_EXPLAINED_SETS;
use crate::dwarf::print;
use crate::dwarf::text::AssembleError;
use crate::dwarf::{
    self, Context as _, Dialect, Evaluator, Focus, Location, Number, Program, Storage, clang_xderef, fetch,
};
use crate::session::stack::frame::FrameContext;
use crate::session::stack::unwind::Unwinder;
use crate::session::values::{self, Byte};
use crate::session::{Provenance, ReadError, Reader, variables};
use crate::units::{BitSize, DwarfReg, LaneId, LaneSet, Pc, WaveId};

/// Maximum number of bytes read at a location, for each lane.
pub const MAX_READ_BYTES: u64 = 4096;

/// Bits of a lane's slot in a vector register.
const SLOT_BITS: u128 = 32;

/// An expression to evaluate, and the kind of result.
#[derive(Clone, Debug)]
pub struct Question {
    /// The expression.
    pub expression: Expression,
    /// The encoding of the extensions' operations; `None`: that of the unit at the PC, else `llvm-user`.
    pub dialect: Option<Dialect>,
    /// The kind of result.
    pub want: Want,
    /// Whether to explain every operation's effect.
    pub explain: bool,
}

/// A user's expression.
#[derive(Clone, Debug)]
pub enum Expression {
    /// Operations as text: see [`dwarf::text`].
    Text(String),
    /// Its bytes.
    Bytes(Vec<u8>),
}

/// The kind of result of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// A location and its contents.
    Location {
        /// Number of bytes to read; `None`: the size of the location. Memory has no size of its own.
        size: Option<u64>,
        /// Whether to read compilers' idioms with their intended meaning: see [`clang_xderef`].
        legacy: bool,
    },
    /// A value.
    Value,
}

/// The result of an expression.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The wave.
    pub wave: WaveId,
    /// Its PC, if captured.
    pub pc: Option<Pc>,
    /// The dialect of the expression.
    pub dialect: Dialect,
    /// The expression as text; `None` if its bytes are no operations.
    pub expression: Option<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// One for each requested lane, lowest lane first.
    pub lanes: Vec<LaneFound>,
    /// The steps for each set of lanes with the same control flow; empty unless requested.
    pub explained: Vec<Explained>,
}

/// The result of an expression for one lane.
#[derive(Clone, Debug)]
pub struct LaneFound {
    /// The lane.
    pub lane: LaneId,
    /// The result.
    pub found: Found,
}

/// A result for a lane.
#[derive(Clone, Debug)]
pub enum Found {
    /// A location.
    Location {
        /// The location as text.
        words: String,
        /// The location, independent of the lane.
        place: Location,
        /// The way in which it was found.
        provenance: Provenance,
        /// Number of bits requested, or of the location; `None` if it has no size.
        size: Option<BitSize>,
        /// Its bytes, at most [`MAX_READ_BYTES`].
        bytes: Vec<Byte>,
        /// The reason that it has no bytes, as for an implicit pointer.
        unread: Option<String>,
    },
    /// A value.
    Value(Number),
    /// No result.
    Failed {
        /// The error with its place.
        error: dwarf::Error,
        /// The error as text, with AMD's names.
        words: String,
    },
}

/// The effect of every operation for lanes with the same control flow.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The lanes; stacks have the values of the lowest one.
    pub lanes: LaneSet,
    /// The lines of the explanation.
    pub lines: Vec<String>,
}

/// Reasons for a missing evaluation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// The wave cannot be read.
    #[error(transparent)]
    ReadError(#[from] ReadError),
    /// The text does not parse.
    #[error("the expression at {0}")]
    Text(#[from] AssembleError),
    /// The size exceeds the limit of a read.
    #[error("{0} bytes are more than the {MAX_READ_BYTES} that are read at a location")]
    TooManyBytes(u64),
}

/// Evaluates an expression for lanes of a wave.
///
/// # Errors
/// The expression does not parse, the question asks too much, or the wave's PC cannot be read.
pub(in crate::session) fn evaluate(
    reader: &Reader,
    wave: WaveId,
    lanes: LaneSet,
    question: &Question,
) -> Result<Evaluation, EvaluateError> {
    if let Want::Location { size: Some(size), .. } = question.want
        && size > MAX_READ_BYTES
    {
        return Err(EvaluateError::TooManyBytes(size));
    }
    let walk = Unwinder::new(reader, wave)?;
    let mut context = frame(&walk);
    context.encoding.dialect = question.dialect.unwrap_or(context.encoding.dialect);
    let program = match &question.expression {
        Expression::Text(text) => Ok(Program::assemble(text, context.encoding, &context)?),
        Expression::Bytes(bytes) => Program::decode(bytes, context.encoding),
    };
    let lanes = lanes.and(context.kind().wave_size.all());
    let asked = Asked { context: &context, want: question.want };
    let (mut found, mut explained) = (Vec::new(), Vec::new());
    match &program {
        Ok(program) => {
            let parts = asked.parts(program, lanes);
            for (index, part) in parts.iter().enumerate() {
                match index {
                    _ if !question.explain => {}
                    ..MAX_EXPLAINED_SETS => explained.push(asked.explained(program, part)),
                    MAX_EXPLAINED_SETS => {
                        explained.push(not_explained(parts.get(index..).unwrap_or_default()))
                    }
                    _ => {}
                }
                asked.found(part, &mut found);
            }
        }
        Err(error) => {
            found.extend(lanes.iter().map(|lane| asked.failed(lane, error)));
            if question.explain {
                explained.push(Explained { lanes, lines: explain::error(error, &context) });
            }
        }
    }
    found.sort_by_key(|lane| lane.lane);
    Ok(Evaluation {
        wave,
        pc: context.call_frame().pc(),
        dialect: context.encoding.dialect,
        expression: program.as_ref().ok().map(|program| print::program(program, &context)),
        bytes: match &question.expression {
            Expression::Bytes(bytes) => bytes.clone(),
            Expression::Text(_) => program.map(|program| program.encode()).unwrap_or_default(),
        },
        lanes: found,
        explained,
    })
}

/// The note that lanes with other control flow have no explanation.
fn not_explained(parts: &[Part]) -> Explained {
    let lanes = parts.iter().flat_map(|part| part.lanes.iter()).collect();
    let line = format!("{} more sets of lanes are not explained: ask for fewer lanes", parts.len());
    Explained { lanes, lines: vec![line] }
}

/// The wave's frame 0, with the parts that exist.
fn frame<'w>(walk: &'w Unwinder<'_>) -> FrameContext<'w> {
    let mut context = FrameContext::of(walk.level(0), Some(0));
    if let (Ok(debug), Ok(at)) = (&context.debug, &context.function)
        && let Ok(hint) = debug.dialect_hint(&at.function)
    {
        let variables = debug.frame_variables(at, 0, context.elf_pc).unwrap_or_default();
        context.encoding.dialect = variables::dialect(&hint, &variables);
    }
    context
}

/// A question with its frame.
struct Asked<'a> {
    context: &'a FrameContext<'a>,
    want: Want,
}

/// The results of lanes with the same control flow.
enum What {
    At(Location),
    Value(Number),
}

/// Lanes with the same control flow.
struct Part {
    lanes: LaneSet,
    result: Result<What, dwarf::Error>,
    /// The way in which the locations were found.
    provenance: Provenance,
}

impl Asked<'_> {
    fn parts(&self, program: &Program, lanes: LaneSet) -> Vec<Part> {
        let focus = Focus::Lanes(lanes);
        let mut evaluator = Evaluator::new(self.context);
        let part = |lanes, result, provenance| Part { lanes, result, provenance };
        match self.want {
            Want::Value => {
                let groups = evaluator.value(program, focus, &[]).into_iter();
                groups
                    .map(|group| part(group.lanes, group.result.map(What::Value), Provenance::default()))
                    .collect()
            }
            Want::Location { legacy, size } => {
                let scratch = variables::scratch(self.context.kind());
                let reading = clang_xderef::Reading { clang: true, scratch };
                let size = size.map(|bytes| BitSize(bytes.saturating_mul(8)));
                let meant =
                    legacy.then(|| clang_xderef::recognise(self.context, program, reading, size, focus));
                let (groups, provenance) = match meant.flatten() {
                    Some(Meaning { idiom, groups }) => (groups, self.context.provenance(program, idiom)),
                    None => (evaluator.location(program, focus, &[]), Provenance::default()),
                };
                let groups = groups.into_iter();
                groups.map(|group| part(group.lanes, group.result.map(What::At), provenance)).collect()
            }
        }
    }

    /// Evaluates for an explainer until it has enough.
    fn listen(&self, program: &Program, focus: Focus, explainer: &mut Explainer<'_>) {
        loop {
            let mut evaluator = Evaluator::new(self.context).traced(explainer);
            match self.want {
                Want::Value => drop(evaluator.value(program, focus, &[])),
                Want::Location { .. } => drop(evaluator.location(program, focus, &[])),
            }
            if !explainer.again() {
                return;
            }
        }
    }

    /// Evaluates once more for lanes with the same control flow, and records the steps.
    fn explained(&self, program: &Program, part: &Part) -> Explained {
        let focus = Focus::Lanes(part.lanes);
        let first = part.lanes.first().unwrap_or_default();
        let mut explainer = Explainer::new(self.context);
        // If the recogniser took the whole expression, no operation ran.
        if part.provenance.idiom.is_none() {
            self.listen(program, focus, &mut explainer);
        }
        let mut lines = explainer.lines();
        lines.extend(part.provenance.words().into_iter().map(str::to_owned));
        match &part.result {
            Ok(What::At(location)) => {
                lines.extend(explain::undefined(location, first).iter().map(|one| one.named(self.context)));
            }
            Ok(What::Value(_)) => {}
            Err(error) => lines.extend(explain::error(error, self.context)),
        }
        Explained { lanes: part.lanes, lines }
    }

    /// The result of each lane of a part.
    fn found(&self, part: &Part, into: &mut Vec<LaneFound>) {
        into.extend(part.lanes.iter().map(|lane| match &part.result {
            Ok(What::At(location)) => self.located(location.at(lane), lane, part.provenance),
            Ok(What::Value(number)) => LaneFound { lane, found: Found::Value(number.at(lane)) },
            Err(error) => self.failed(lane, error),
        }));
    }

    fn failed(&self, lane: LaneId, error: &dwarf::Error) -> LaneFound {
        let words = values::words(error, self.context);
        LaneFound { lane, found: Found::Failed { error: error.clone(), words } }
    }

    fn located(&self, place: Location, lane: LaneId, provenance: Provenance) -> LaneFound {
        let asked = match self.want {
            Want::Location { size, .. } => size.map(|bytes| BitSize(bytes.saturating_mul(8))),
            Want::Value => None,
        };
        let size = asked.or_else(|| self.size(&place, lane));
        let read = size.map(|size| BitSize(size.0.min(MAX_READ_BYTES * 8)));
        let holds = |size| {
            if provenance.idiom.is_some() { clang_xderef::check_size(&place, lane, size) } else { Ok(()) }
        };
        let fetched = |size| holds(size).and_then(|()| fetch(self.context, &place, Some(lane), size));
        let fetched = read.map(fetched).transpose();
        let (bytes, unread) = match fetched {
            Ok(Some(bits)) => (values::bytes(&bits, bits.bytes().len()).collect(), None),
            Ok(None) => (Vec::new(), None),
            Err(error) => (Vec::new(), Some(error.cause.to_string())),
        };
        let words = print::location(&place, lane, self.context);
        LaneFound { lane, found: Found::Location { words, place, provenance, size, bytes, unread } }
    }

    /// Size in bits of a location from its offset on; for a vector register the rest of the lane's slot.
    fn size(&self, place: &Location, lane: LaneId) -> Option<BitSize> {
        let at = place.offset.get(lane);
        let end = match &place.storage {
            Storage::Undefined(_) | Storage::Memory { .. } | Storage::ImplicitPointer(_) => return None,
            Storage::Register { register, .. } if self.is_vector(*register) => {
                (at / SLOT_BITS + 1) * SLOT_BITS
            }
            storage => storage.size()?,
        };
        u64::try_from(end.saturating_sub(at)).ok().map(BitSize)
    }

    fn is_vector(&self, register: DwarfReg) -> bool {
        self.context.kind().dwarf(register).is_ok_and(|register| register.is_vector())
    }
}
