//! The variables of a wave's frame, evaluated once for all requested lanes.

pub(super) mod evaluate;
pub(super) mod lds;
mod lds_layout;
pub(super) mod lds_objects;
pub(super) mod locals;
pub(super) mod object_map;
pub(super) mod other_ranges;
pub(super) mod pointers;

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::error::{CodePlace, SourceError};
use super::{Provenance, ReadError, Reader};
use crate::arch::WaveArch;
use crate::debuginfo::{
    self, DebugInfo, DialectHint, FunctionAt, ListOffset, TypeId, UnitFacts, UnitId, VariableAt, VariableKind,
};
use crate::dwarf::clang_xderef::Meaning;
use crate::dwarf::{self, Dialect, Evaluator, Focus, Group, Location, Program, clang_xderef};
use crate::session::objects::source::{Call, Source};
use crate::session::stack::backtrace::{Frames, reach};
use crate::session::stack::frame::FrameContext;
use crate::session::stack::unwind::{Code, Unwinder};
use crate::session::values::{
    LaneValue, MAX_LANES_VALUES, ObjectLocation, TypedObject, ValueState, Values, failed, nowhere,
};
use crate::session::variables::lds::{InLds, KernelLds};
use crate::session::variables::lds_objects::Described;
use crate::session::variables::locals::{Locals, Scope, Variable};
use crate::units::{ExprOffset, LaneSet, Pc, WaveId};

/// Advice for code whose debug information has no variables.
const NONE_DESCRIBED: &str = "the debug information describes no variables; compile with `-g` for them. `arguments`, `registers`, `disassemble` and `print` with casts need none";
const NONE_BY_TRITON: &str = "the debug information describes no variables; set LLVM_EXTRACT_DI_LOCAL_VARIABLES=1 for Triton to have them. `arguments`, `registers`, `disassemble` and `print` with casts need none";

/// Returns all variables in scope of a frame of the wave, for those lanes; frames have the numbers of
/// [`backtrace`](crate::session::stack::backtrace).
///
/// # Errors
/// There is no such frame; with the reason.
pub(super) fn locals(
    reader: &Reader,
    wave: WaveId,
    lanes: LaneSet,
    frame: usize,
) -> Result<Locals, ReadError> {
    locals_along(&Frames::near(reader, wave, frame)?, lanes, frame, &mut |_, _, _| ())
}

/// [`fn@locals`] along a stack that is unwound as far as that frame; `each` gets every variable with its code object's
/// debug information and its type.
pub(super) fn locals_along(
    frames: &Frames<'_>,
    lanes: LaneSet,
    frame: usize,
    each: &mut dyn FnMut(&Arc<DebugInfo>, TypeId, &Variable),
) -> Result<Locals, ReadError> {
    let Unwinder { reader, wave, .. } = frames.walk;
    has_pc(&frames.walk)?;
    let (level, inlined) =
        frames.located(frame).ok_or_else(|| no_frame(&frames.walk, frame, frames.count()))?;
    let (code, source) = coded(&frames.walk, level, frames.source(level))?;
    let found = found(&frames.walk, level, inlined, code, source);
    let note = found.note();
    let found = if note.is_some() { found } else { found.described()? };
    let Found { frame: evaluated, variables, pc, call, mut problems, .. } = found;
    let Some(pc) = pc else { return Err(frames.walk.no_code(level).into()) };
    let lanes = lanes.and(evaluated.context.kind().wave_size.all());
    let states = crate::session::waves::lanes::in_frame(frames, frame)?;
    let mut shown = Vec::new();
    let (mut left_out, mut reason) = (0, None);
    for at in &variables {
        reader.goes_on()?;
        let found = evaluated
            .values
            .budget
            .take_values(lanes, reader.budget())
            .map(|()| evaluated.variable(at, lanes))
            .and_then(|variable| evaluated.values.budget.take_names(variable));
        match found {
            Ok(variable) => {
                if let Some(type_id) = at.variable.type_id {
                    each(&evaluated.debug, type_id, &variable);
                }
                shown.push(variable);
            }
            Err(why) => {
                left_out += 1;
                reason.get_or_insert(why);
            }
        }
    }
    problems.extend(reason.map(|why| format!("variables left out: {left_out}: {why}")));
    let inferred = evaluated.context.unwound();
    let (variables, Call { function, file, line, .. }) = (shown, call);
    let [function, file] = [function, file].map(|text| text.as_deref().map(str::to_owned));
    Ok(Locals {
        wave,
        frame,
        pc,
        function,
        file,
        line,
        inferred,
        states,
        variables,
        note,
        left_out,
        problems,
    })
}

/// A frame with the variables that are in its scope, outermost first.
pub(super) struct Found<'a> {
    pub(super) frame: Frame<'a>,
    /// The function at the PC, or the reason that debug information has none.
    pub(super) function: Result<FunctionAt, ReadError>,
    /// The inlined call at the PC: an index into [`FunctionAt::frames`].
    pub(super) inlined: usize,
    pub(super) variables: Vec<VariableAt>,
    /// `None`: it was not captured.
    pub(super) pc: Option<Pc>,
    pub(super) call: Call,
    /// Messages for unreadable parts of the function; other parts stay readable.
    pub(super) problems: Vec<String>,
}

impl<'a> Found<'a> {
    /// A frame that debug information does not describe, with the reason; `debug`: that of other code.
    fn undescribed(context: FrameContext<'a>, debug: Option<Arc<DebugInfo>>, why: SourceError) -> Self {
        let pc = context.level.walk().frames().get(context.level.number()).map(|physical| physical.pc);
        let (inlined, variables, call, problems) = (0, Vec::new(), Call::default(), Vec::new());
        let frame = Frame::new(context, debug.unwrap_or_else(|| Arc::new(DebugInfo::none())));
        Self { frame, function: Err(why.into()), inlined, variables, pc, call, problems }
    }

    /// The same if debug information has its function.
    fn described(self) -> Result<Self, ReadError> {
        match self.function {
            Err(why) => Err(why),
            Ok(function) => Ok(Self { function: Ok(function), ..self }),
        }
    }

    /// The reason that a function with lines has no variables: its unit describes none.
    pub(super) fn note(&self) -> Option<&'static str> {
        let debug = &self.frame.debug;
        let unit = match &self.function {
            Ok(function) => function.unit(),
            Err(ReadError::NoVariables(why)) if matches!(**why, SourceError::NoFunction(_)) => {
                debug.unit_of_line(self.frame.context.elf_pc)?
            }
            Err(_) => return None,
        };
        let has_none = self.variables.is_empty() && debug.describes_variables(unit) == Ok(false);
        let is_triton = debug.unit(unit).is_ok_and(UnitFacts::producer_is_triton);
        has_none.then_some(if is_triton { NONE_BY_TRITON } else { NONE_DESCRIBED })
    }

    /// The unit of its function.
    pub(super) fn unit(&self) -> Option<UnitId> {
        self.function.as_ref().ok().map(FunctionAt::unit)
    }
}

/// Finds a frame and passes it to a function; the frame lives no longer than its stack. Registers and memory of the
/// innermost frame need neither code nor PC.
///
/// # Errors
/// There is no such frame, or the function's own error.
pub(super) fn with_frame<T, E: From<ReadError>>(
    reader: &Reader,
    wave: WaveId,
    frame: usize,
    ask: impl FnOnce(Found<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let mut walk = Unwinder::new(reader, wave)?;
    let no_code = walk.level(0).code().err();
    match no_code {
        Some(why) if frame == 0 => ask(Found::undescribed(FrameContext::of(walk.level(0), None), None, why)),
        _ => {
            has_pc(&walk)?;
            let (level, inlined, code, source) = find(&mut walk, frame)?;
            ask(found(&walk, level, inlined, code, &source))
        }
    }
}

/// A physical frame evaluated at `code`, which is the wave's position in it, or one of its lanes'. A code object without
/// readable debug information has no names.
pub(super) fn found<'w>(
    walk: &'w Unwinder<'w>,
    level: usize,
    inlined: usize,
    code: Code<'w>,
    source: &Source,
) -> Found<'w> {
    let pc = walk.frames().get(level).map(|physical| physical.pc);
    let call = source.calls.get(inlined).cloned().unwrap_or_default();
    let described = source.function(walk.reader.rereads()).and_then(|function| {
        let Some((debug, function)) = function else { return Ok(None) };
        let hint = debug.dialect_hint(&function.function)?;
        let variables = debug.frame_variables(&function, inlined, code.elf)?;
        Ok(Some((debug, function, hint, variables)))
    });
    let (debug, function, hint, variables) = match described {
        Ok(Some(described)) => described,
        described => {
            let debug = code.loaded.debug(walk.reader.dump().capture());
            // Without debug information the code object's error has more facts than the message about one address.
            let why = described.err().map(SourceError::from);
            let why = why.or_else(|| debug.as_ref().err().cloned().map(SourceError::from));
            let place = pc.map_or(CodePlace::Pc, CodePlace::At);
            let why = why.or_else(|| source.problem.clone()).unwrap_or(SourceError::NoFunction(place));
            let context = FrameContext::at(walk.level(level), Ok(code), Some(inlined));
            return Found { inlined, call, ..Found::undescribed(context, debug.ok(), why.seen_at(place)) };
        }
    };
    let mut context = FrameContext::at(walk.level(level), Ok(code), Some(inlined));
    context.encoding.dialect = dialect(&hint, &variables);
    context.reading = reading(&hint, context.kind());
    let frame = Frame::new(context, debug);
    let own = function.function.problems.iter().map(ToString::to_string);
    let problems = source.problem.iter().map(ToString::to_string).chain(own).collect();
    Found { frame, function: Ok(function), inlined, variables, pc, call, problems }
}

/// Finds a frame by its number in the wave's stack: physical frame, inlined call, and source position.
pub(super) fn find<'a>(
    walk: &mut Unwinder<'a>,
    frame: usize,
) -> Result<(usize, usize, Code<'a>, Arc<Source>), ReadError> {
    let (level, inlined, source) = reach(walk, frame).map_err(|count| no_frame(walk, frame, count))?;
    let (code, source) = coded(walk, level, source)?;
    Ok((level, inlined, code, source))
}

/// Fails if the stack has no frames.
fn has_pc(walk: &Unwinder<'_>) -> Result<(), ReadError> {
    let id = walk.reader.wave(walk.wave)?.id;
    match walk.frames().is_empty() {
        true => Err(SourceError::NoPc { wave: id }.into()),
        false => Ok(()),
    }
}

/// The error for a frame number past the end of a stack of `count` frames.
fn no_frame(walk: &Unwinder<'_>, frame: usize, count: usize) -> SourceError {
    let end = walk.end().cloned().map(Box::new);
    SourceError::NoFrame { frame, count: Some(count), end }
}

/// The code of a physical frame with its source text; an error if no code object holds it.
fn coded<'a, S>(walk: &Unwinder<'a>, level: usize, source: Option<S>) -> Result<(Code<'a>, S), SourceError> {
    let code = walk.frames().get(level).and_then(|physical| physical.code);
    code.zip(source).ok_or_else(|| walk.no_code(level))
}

/// The dialect of a unit, as determined by the variables in scope.
pub(super) fn dialect(hint: &DialectHint, variables: &[VariableAt]) -> Dialect {
    if let Some(dialect) = hint.dialect {
        return dialect;
    }
    let augmentation = hint.augmentation.as_deref().unwrap_or_default();
    if !Dialect::needs_expressions(augmentation) {
        return Dialect::of_unit(Some(augmentation), std::iter::empty());
    }
    let expressions = variables.iter().filter_map(|variable| variable.location.expression());
    // Variables may share an expression by a location list.
    let mut seen = HashSet::new();
    let each: Vec<&[u8]> =
        expressions.map(|bytes| &bytes[..]).filter(|bytes| seen.insert(bytes.as_ptr_range())).collect();
    Dialect::of_unit(Some(augmentation), each.into_iter())
}

/// The reading of a function's locations if they have no operation of the extensions; `None`: by the DWARF text.
pub(super) fn reading(hint: &DialectHint, kind: &WaveArch) -> Option<clang_xderef::Reading> {
    let reading = clang_xderef::Reading { clang: hint.is_legacy(), scratch: scratch(kind) };
    (hint.is_legacy() || hint.is_unextended()).then_some(reading)
}

/// A frame whose variables are being evaluated.
pub(super) struct Frame<'a> {
    pub(super) context: FrameContext<'a>,
    pub(super) debug: Arc<DebugInfo>,
    /// Messages with the PC ranges of location lists: variables may share a list.
    pub(super) elsewhere: RefCell<HashMap<(UnitId, ListOffset), String>>,
    /// The LDS of the wave's kernel; `None`: it has none, or the kernel is unknown.
    lds: OnceCell<Option<KernelLds>>,
    values: Values,
}

impl<'a> Frame<'a> {
    pub(super) fn new(context: FrameContext<'a>, debug: Arc<DebugInfo>) -> Self {
        let (elsewhere, lds, values) = (RefCell::default(), OnceCell::new(), Values::default());
        Self { context, debug, elsewhere, lds, values }
    }
}

impl Frame<'_> {
    fn variable(&self, at: &VariableAt, lanes: LaneSet) -> Variable {
        let variable = &at.variable;
        let max_values = MAX_LANES_VALUES / (lanes.count().max(1) as usize);
        let size = variable.type_id.and_then(|id| self.debug.byte_size(id).ok().flatten());
        // The error of a type does not name its variable.
        let no_type = variable.type_id.and_then(|id| self.debug.type_of(id).err());
        let no_type = no_type.map(|why| format!("DW_AT_type of DIE {}: {why}", variable.die));
        let mut values = match (&at.location, variable.type_id, size) {
            (debuginfo::Location::Broken(why), ..) => {
                self.each(lanes, ValueState::Error(why.to_string().into()))
            }
            (debuginfo::Location::None, ..) => match (self.in_lds(variable), variable.type_id) {
                (Some(InLds::At(location, provenance)), Some(type_id)) => {
                    let object = TypedObject { type_id, size, max_values };
                    let mut values = Vec::new();
                    self.placed(location, provenance, lanes, object, &mut values);
                    values
                }
                (Some(InLds::Somewhere(why)), _) => self.each(lanes, ValueState::Unavailable(why.into())),
                _ => self.each(lanes, ValueState::OptimizedOut("it has no DW_AT_location".into())),
            },
            (debuginfo::Location::NotAtPc, ..) => {
                let why = self.elsewhere(variable);
                self.each(lanes, ValueState::OptimizedOut(why.into()))
            }
            (location, ..) if location.expression().is_some_and(|bytes| bytes.is_empty()) => {
                let why = self.emptied(variable);
                self.each(lanes, ValueState::OptimizedOut(why.into()))
            }
            (_, Some(_), _) if no_type.is_some() => {
                self.each(lanes, ValueState::Error(no_type.clone().unwrap_or_default().into()))
            }
            (_, None, _) => {
                let why = variable.problems.first().map(ToString::to_string);
                let why = why.unwrap_or_else(|| "it has no type".to_owned());
                self.each(lanes, ValueState::Error(why.into()))
            }
            (debuginfo::Location::ConstValue(bytes), Some(type_id), size) => {
                let object = TypedObject { type_id, size, max_values };
                let mut values = Vec::new();
                self.placed(Location::implicit(bytes), Provenance::default(), lanes, object, &mut values);
                values
            }
            (location, Some(type_id), size) => {
                let bytes = location.expression().map_or(&[][..], |bytes| bytes);
                self.evaluated(at, bytes, lanes, TypedObject { type_id, size, max_values })
            }
        };
        values.sort_by_key(|value| value.lane);
        if variable.kind.is_of_lane() {
            values.iter_mut().for_each(|value| value.of = value.of.or(LaneSet::one(value.lane)));
        }
        Variable {
            name: variable.name.as_deref().unwrap_or("<unnamed>").to_owned(),
            scope: match variable.kind {
                VariableKind::Argument => Scope::Argument,
                VariableKind::Local => Scope::Local,
                VariableKind::Static => Scope::Static,
                VariableKind::Global => Scope::Global,
            },
            type_name: self.type_name(variable.type_id),
            size,
            line: variable.declared.as_ref().map(|place| place.line),
            lanes: values,
        }
    }

    fn type_name(&self, id: Option<TypeId>) -> String {
        self.debug.type_name(id).unwrap_or_else(|error| format!("<{error}>"))
    }

    /// The same answer for every lane, without a place.
    fn each(&self, lanes: LaneSet, state: ValueState) -> Vec<LaneValue> {
        lanes.iter().map(|lane| nowhere(lane, state.clone())).collect()
    }

    fn evaluated(
        &self,
        at: &VariableAt,
        bytes: &[u8],
        lanes: LaneSet,
        object: TypedObject,
    ) -> Vec<LaneValue> {
        let failed = |error: &dwarf::Error| match failed(error, &self.context) {
            ValueState::Error(words) => ValueState::Error(format!("{words}, in {}", self.whose(at)).into()),
            state => state,
        };
        let program = match self.context.decode(bytes) {
            Ok(program) => program,
            Err(error) => return self.each(lanes, failed(&error)),
        };
        let described = Described::of(&self.debug, at.variable.type_id, &at.location);
        let (groups, provenance) =
            self.context.locate(&self.context, &program, self.context.reading, &described, lanes);
        let mut values = Vec::with_capacity(lanes.count() as usize);
        for Group { lanes, result } in groups {
            match result {
                Ok(location) => self.placed(location, provenance, lanes, object, &mut values),
                Err(error) => values.extend(self.each(lanes, failed(&error))),
            }
        }
        values
    }

    /// Adds the contents of a location, lane by lane.
    fn placed(
        &self,
        location: Location,
        provenance: Provenance,
        lanes: LaneSet,
        object: TypedObject,
        to: &mut Vec<LaneValue>,
    ) {
        let located = ObjectLocation::new(location, provenance, self.context.kind());
        self.values.add_lanes(&self.context, &self.debug, located, lanes, object, to);
    }

    /// The attribute with a variable's location, in the notation of `dwarf`.
    fn whose(&self, at: &VariableAt) -> String {
        let variable = &at.variable;
        let unit =
            self.debug.unit(variable.unit).map_or_else(|_| "?".to_owned(), |unit| unit.offset.to_string());
        format!("DW_AT_location of DIE {} in the unit at {unit}", variable.die)
    }
}

impl FrameContext<'_> {
    /// The location that an expression of `context` gives: with the compiler's meaning if its unit is read that way,
    /// else by the DWARF text.
    pub(in crate::session) fn locate(
        &self,
        context: &dyn dwarf::Context,
        program: &Program,
        reading: Option<clang_xderef::Reading>,
        described: &Described,
        lanes: LaneSet,
    ) -> (Vec<Group<Location>>, Provenance) {
        let (focus, size) = (Focus::Lanes(lanes), described.size);
        let refused = |op, cause| {
            let error = dwarf::Error { at: ExprOffset(0), op, cause };
            (vec![Group { lanes, result: Err(error) }], Provenance::default())
        };
        if reading.is_some()
            && let Err(cause) = self.check_kernel_frame(program, size)
        {
            return refused("DW_OP_fbreg", cause);
        }
        let is_clangs = reading.is_some_and(|reading| reading.clang);
        let moved = || self.moved_to_lds(context, program, described, lanes);
        let meant = match is_clangs.then(moved).flatten() {
            Some(Err(cause)) => return refused("DW_OP_bregx", cause),
            Some(Ok(meaning)) => Some(meaning),
            None => {
                reading.and_then(|reading| clang_xderef::recognise(context, program, reading, size, focus))
            }
        };
        let filled = |groups: Vec<Group<Location>>| {
            let fill = |location: Location| match size {
                Some(size) => location.filled(size),
                None => location,
            };
            groups.into_iter().map(|group| Group { result: group.result.map(fill), ..group }).collect()
        };
        if let Some(Meaning { idiom, groups }) = meant {
            return (filled(groups), self.provenance(program, idiom));
        }
        let groups = match self.unset_frame(program) {
            Ok(()) => Evaluator::new(context).location(program, focus, &[]),
            Err(missing) => {
                let error = dwarf::Error { at: ExprOffset(0), op: "frame register", cause: missing.into() };
                vec![Group { lanes, result: Err(error) }]
            }
        };
        (filled(groups), Provenance { idiom: None, inferred: self.unwound_for(program) })
    }

    /// [`Self::locate`] for an object that is read as a whole: one that is larger than the idiom's description is
    /// refused, because its parts would belong to other lanes.
    pub(in crate::session) fn locate_whole(
        &self,
        context: &dyn dwarf::Context,
        program: &Program,
        reading: Option<clang_xderef::Reading>,
        described: &Described,
        lanes: LaneSet,
    ) -> (Vec<Group<Location>>, Provenance) {
        let (mut groups, provenance) = self.locate(context, program, reading, described, lanes);
        if let Some(size) = described.size.filter(|_| provenance.idiom.is_some()) {
            for Group { lanes, result } in &mut groups {
                let lane = lanes.first().unwrap_or_default();
                let checked = result.as_ref().map(|location| clang_xderef::check_size(location, lane, size));
                if let Ok(Err(error)) = checked {
                    *result = Err(error);
                }
            }
        }
        (groups, provenance)
    }
}

/// The way in which the wave's target reaches private memory.
pub(super) fn scratch(kind: &WaveArch) -> clang_xderef::Scratch {
    if kind.target.buffer_scratch { clang_xderef::Scratch::Buffer } else { clang_xderef::Scratch::Flat }
}
