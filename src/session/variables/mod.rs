//! The variables of a wave's frame, evaluated once for all requested lanes.

pub(super) mod evaluate;
pub(super) mod locals;
pub(super) mod object;
pub(super) mod object_map;
pub(super) mod other_ranges;
pub(super) mod pointers;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::answers::NO_PRIVATE_MEMORY;
use super::error::{CodePlace, SourceError};
use super::{ReadError, Reader};
use crate::arch::WaveArch;
use crate::debuginfo::format::{Absence, Contents, KnownTypes, Options, Value};
use crate::debuginfo::{
    self, DebugInfo, DialectHint, FunctionAt, ListOffset, TypeId, UnitId, VariableAt, VariableKind,
};
use crate::dwarf::clang_xderef::{Idiom, Meaning};
use crate::dwarf::explain::Undefined;
use crate::dwarf::limits::MAX_OBJECT_BYTES;
use crate::dwarf::print::Names;
use crate::dwarf::{
    self, Bits, Budget, Cause, Class, Dialect, Evaluator, Fetcher, Focus, Group, Known, LaneNeed, Location,
    Machine as _, Origin, Program, Storage, WhyUndefined, clang_xderef, print,
};
use crate::session::objects::source::{Call, Source};
use crate::session::stack::backtrace::{Frames, reach};
use crate::session::stack::frame::FrameContext;
use crate::session::stack::unwind::{Code, Unwinder};
use crate::session::variables::locals::{Byte, LaneValue, Locals, Scope, ValueState, Variable};
use crate::session::variables::object::LaneObject;
use crate::units::{AddressSpace, BitSize, ExprOffset, LaneId, LaneSet, Pc, WaveId};

/// Maximum number of values of a variable for all lanes together; the format also bounds those of one lane.
const MAX_LANES_VALUES: usize = 1 << 19;

/// Maximum number of values of a frame's variables, one for each lane: some 300 MiB.
const MAX_FRAME_VALUES: u64 = 1 << 19;

/// Maximum bytes of all objects of a frame's variables, for all lanes together.
const MAX_OBJECTS_BYTES: u64 = 1 << 26;

/// Bytes of an object that do not count: thousands of scalars make no large frame.
const FREE_OBJECT_BYTES: u64 = 64;

/// Maximum bytes of text of all values of a frame's variables; lanes with the same value share it.
const MAX_TEXT: usize = 1 << 25;

/// Maximum bytes of that text in the output, counted for each lane.
const MAX_LANES_TEXT: usize = 1 << 26;

/// Bytes of a value's text that are always shown: a scalar of a frame whose text budget is used up.
const FREE_TEXT: usize = 64;

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
    let Found { frame: evaluated, variables, pc, call, mut problems, .. } =
        found(&frames.walk, level, inlined, code, source)?;
    let lanes = lanes.and(evaluated.context.kind().wave_size.all());
    let states = crate::session::waves::lanes::in_frame(frames, frame)?;
    let mut shown = Vec::new();
    let (mut left_out, mut reason) = (0, None);
    for at in &variables {
        reader.goes_on()?;
        let found = evaluated
            .left
            .take_values(lanes, reader.budget())
            .map(|()| evaluated.variable(at, lanes))
            .and_then(|variable| evaluated.left.take_names(variable));
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
    let (variables, Call { function, file, line, .. }) = (shown, call);
    let [function, file] = [function, file].map(|text| text.as_deref().map(str::to_owned));
    Ok(Locals { wave, frame, pc, function, file, line, states, variables, left_out, problems })
}

/// A frame with the variables that are in its scope, outermost first.
pub(super) struct Found<'a> {
    pub(super) frame: Frame<'a>,
    pub(super) function: FunctionAt,
    /// The inlined call at the PC: an index into [`FunctionAt::frames`].
    pub(super) inlined: usize,
    pub(super) variables: Vec<VariableAt>,
    pub(super) pc: Pc,
    pub(super) call: Call,
    /// Messages for unreadable parts of the function; each costs only itself.
    pub(super) problems: Vec<String>,
}

/// Finds a frame and passes it to a function; the frame lives no longer than its stack.
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
    has_pc(&walk)?;
    let (level, inlined, code, source) = find(&mut walk, frame)?;
    ask(found(&walk, level, inlined, code, &source)?)
}

/// A physical frame evaluated at `code`, which is the wave's position in it, or one of its lanes'.
///
/// # Errors
/// There is no debug information there.
pub(super) fn found<'w>(
    walk: &'w Unwinder<'w>,
    level: usize,
    inlined: usize,
    code: Code<'w>,
    source: &Source,
) -> Result<Found<'w>, ReadError> {
    let capture = walk.reader.dump().capture();
    let Some(physical) = walk.frames().get(level) else {
        return Err(SourceError::NoFrame { frame: level, count: None, end: None }.into());
    };
    let pc = physical.pc;
    let words = |error: debuginfo::DebugInfoError| SourceError::from(error);
    let function = source.function(walk.reader.rereads()).map_err(words)?;
    let Some((debug, function)) = function else {
        // Without debug information the code object's error has more facts than the message about one address.
        let why = code.loaded.debug(capture).err().map(SourceError::from).or_else(|| source.problem.clone());
        let place = CodePlace::At(pc);
        return Err(why.unwrap_or(SourceError::NoFunction(place)).seen_at(place).into());
    };
    let hint = debug.dialect_hint(&function.function).map_err(words)?;
    let variables = debug.frame_variables(&function, inlined, code.elf).map_err(words)?;
    let call = source.calls.get(inlined).cloned().unwrap_or_default();
    let mut context = FrameContext::at(walk.level(level), Ok(code), Some(inlined));
    context.encoding.dialect = dialect(&hint, &variables);
    context.reading = reading(&hint, context.kind());
    let frame = Frame::new(context, debug);
    let own = function.function.problems.iter().map(ToString::to_string);
    let problems = source.problem.iter().map(ToString::to_string).chain(own).collect();
    Ok(Found { frame, function, inlined, variables, pc, call, problems })
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

/// Fails if the stack has no frame at all.
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

/// The dialect of a unit, as far as the variables in scope determine it.
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
    /// Types of the variables, for their values.
    types: KnownTypes,
    left: Left,
}

/// An object's data for a lane.
struct Read {
    /// Its place and length, if other lanes have the same.
    place: Option<((AddressSpace, u128), u64)>,
    bits: Rc<Bits>,
    bytes: Arc<[Byte]>,
}

/// The objects of a variable's lanes, as far as they are read.
struct LanesRead<'c> {
    fetcher: Fetcher<'c>,
    last: Option<Read>,
}

/// The error for an exceeded limit of a frame's variables.
fn too_much(what: &'static str, limit: u64) -> dwarf::Error {
    dwarf::Error { at: ExprOffset(0), op: "read", cause: Cause::Limit { what, limit } }
}

/// The remaining budget of a frame's variables together.
struct Left {
    values: Cell<u64>,
    bytes: Cell<u64>,
    text: Cell<usize>,
    lanes_text: Cell<usize>,
}

impl Default for Left {
    fn default() -> Self {
        Self {
            values: Cell::new(MAX_FRAME_VALUES),
            bytes: Cell::new(MAX_OBJECTS_BYTES),
            text: Cell::new(MAX_TEXT),
            lanes_text: Cell::new(MAX_LANES_TEXT),
        }
    }
}

impl Left {
    /// Takes the values of a variable, also from the question's budget.
    ///
    /// # Errors
    /// The budget is used up.
    fn take_values(&self, lanes: LaneSet, budget: &Budget) -> Result<(), Cause> {
        let count = u64::from(lanes.count());
        let (what, limit) = ("values of variables of a frame", MAX_FRAME_VALUES);
        let left = self.values.get().checked_sub(count).ok_or(Cause::Limit { what, limit })?;
        budget.take_values(count)?;
        self.values.set(left);
        Ok(())
    }

    /// Counts the names of a variable and of its type as text; short ones do not count.
    ///
    /// # Errors
    /// The text budget is used up.
    fn take_names(&self, variable: Variable) -> Result<Variable, Cause> {
        let length = variable.name.len().saturating_add(variable.type_name.len());
        if length > 4 * FREE_TEXT {
            let (what, limit) = ("bytes of text of all lanes' values of a frame", MAX_LANES_TEXT as u64);
            let left = self.lanes_text.get().checked_sub(length);
            self.lanes_text.set(left.ok_or(Cause::Limit { what, limit })?);
        }
        Ok(variable)
    }

    /// Takes the bytes of an object.
    ///
    /// # Errors
    /// The budget is used up.
    fn take(&self, size: u64) -> Result<(), dwarf::Error> {
        // The read of a too large object fails because of its own size.
        if size <= FREE_OBJECT_BYTES || size > MAX_OBJECT_BYTES {
            return Ok(());
        }
        let left = self.bytes.get().checked_sub(size);
        self.bytes.set(left.ok_or_else(|| too_much("bytes of all objects of a frame", MAX_OBJECTS_BYTES))?);
        Ok(())
    }

    /// A value's text; at the limit it ends with `...`.
    ///
    /// # Errors
    /// The text budget of the frame is used up, and this is more than a scalar.
    fn text(&self, value: &Value) -> Result<Arc<str>, dwarf::Error> {
        let left = self.text.get();
        let (text, _) = value.limited(left.max(FREE_TEXT));
        let is_scalar =
            matches!(value, Value::Text { .. } | Value::Unknown { .. }) && text.len() <= FREE_TEXT;
        if left == 0 && !is_scalar {
            return Err(too_much("bytes of text of all values of a frame", MAX_TEXT as u64));
        }
        self.text.set(left.saturating_sub(text.len()));
        Ok(text.into())
    }

    /// Counts a value's text for a lane of the output.
    ///
    /// # Errors
    /// The text budget is used up; short text does not count.
    fn print(&self, state: ValueState) -> Result<ValueState, dwarf::Error> {
        let length = state.words().len();
        if length > FREE_TEXT {
            let left = self.lanes_text.get().checked_sub(length);
            let too_much =
                || too_much("bytes of text of all lanes' values of a frame", MAX_LANES_TEXT as u64);
            self.lanes_text.set(left.ok_or_else(too_much)?);
        }
        Ok(state)
    }

    /// Maximum number of printed values of an object.
    fn values(&self) -> usize {
        // Each value takes a digit and a separator at least.
        (self.text.get() / 2).max(1)
    }
}

impl<'a> Frame<'a> {
    pub(super) fn new(context: FrameContext<'a>, debug: Arc<DebugInfo>) -> Self {
        let (elsewhere, types, left) = (RefCell::default(), KnownTypes::default(), Left::default());
        Self { context, debug, elsewhere, types, left }
    }
}

impl Frame<'_> {
    /// The location that an expression of `context` gives: with the compiler's meaning if its unit is read that way,
    /// else by the DWARF text. `size`: of the object.
    pub(super) fn locate(
        &self,
        context: &dyn dwarf::Context,
        program: &Program,
        reading: Option<clang_xderef::Reading>,
        size: Option<BitSize>,
        lanes: LaneSet,
    ) -> (Vec<Group<Location>>, Option<Idiom>) {
        let focus = Focus::Lanes(lanes);
        let meant =
            reading.and_then(|reading| clang_xderef::recognise(context, program, reading, size, focus));
        if let Some(Meaning { idiom, groups }) = meant {
            return (groups, Some(idiom));
        }
        let groups = match self.context.unset_frame(program) {
            Ok(()) => Evaluator::new(context).location(program, focus, &[]),
            Err(missing) => {
                let error = dwarf::Error { at: ExprOffset(0), op: "frame register", cause: missing.into() };
                vec![Group { lanes, result: Err(error) }]
            }
        };
        (groups, None)
    }

    fn variable(&self, at: &VariableAt, lanes: LaneSet) -> Variable {
        let variable = &at.variable;
        let most = MAX_LANES_VALUES / (lanes.count().max(1) as usize);
        let size = variable.type_id.and_then(|id| self.debug.byte_size(id).ok().flatten());
        // A type does not know who refers to it.
        let no_type = variable.type_id.and_then(|id| self.debug.type_of(id).err());
        let no_type = no_type.map(|why| format!("DW_AT_type of DIE {}: {why}", variable.die));
        let mut values = match (&at.location, variable.type_id, size) {
            (debuginfo::Location::Broken(why), ..) => self.each(lanes, || ValueState::Error(why.to_string())),
            (debuginfo::Location::None, ..) => {
                self.each(lanes, || ValueState::OptimizedOut("it has no DW_AT_location".to_owned()))
            }
            (debuginfo::Location::NotAtPc, ..) => {
                let why = self.elsewhere(variable);
                self.each(lanes, || ValueState::OptimizedOut(why.clone()))
            }
            (location, ..) if location.expression().is_some_and(|bytes| bytes.is_empty()) => {
                let why = self.emptied(variable);
                self.each(lanes, || ValueState::OptimizedOut(why.clone()))
            }
            (_, Some(_), _) if no_type.is_some() => {
                self.each(lanes, || ValueState::Error(no_type.clone().unwrap_or_default()))
            }
            (_, None, _) => {
                let why = variable.problems.first().map(ToString::to_string);
                let why = why.unwrap_or_else(|| "it has no type".to_owned());
                self.each(lanes, || ValueState::Error(why.clone()))
            }
            (debuginfo::Location::ConstValue(bytes), Some(type_id), size) => {
                let location = Location::implicit(bytes);
                self.placed(&location, lanes, type_id, size, None, most)
            }
            (location, Some(type_id), size) => {
                let bytes = location.expression().map_or(&[][..], |bytes| bytes);
                self.evaluated(at, bytes, lanes, (type_id, size), most)
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
    fn each(&self, lanes: LaneSet, state: impl Fn() -> ValueState) -> Vec<LaneValue> {
        lanes.iter().map(|lane| nowhere(lane, state())).collect()
    }

    fn evaluated(
        &self,
        at: &VariableAt,
        bytes: &[u8],
        lanes: LaneSet,
        (type_id, size): (TypeId, Option<u64>),
        most: usize,
    ) -> Vec<LaneValue> {
        let failed = |error: &dwarf::Error| match failed(error, &self.context) {
            ValueState::Error(words) => ValueState::Error(format!("{words}, in {}", self.whose(at))),
            state => state,
        };
        let program = match self.context.decode(bytes) {
            Ok(program) => program,
            Err(error) => return self.each(lanes, || failed(&error)),
        };
        let bits = size.map(|size| BitSize(size.saturating_mul(8)));
        let (groups, idiom) = self.locate(&self.context, &program, self.context.reading, bits, lanes);
        let values = groups.into_iter().flat_map(|group| match group.result {
            Ok(location) => self.placed(&location, group.lanes, type_id, size, idiom, most),
            Err(error) => self.each(group.lanes, || failed(&error)),
        });
        values.collect()
    }

    /// The attribute with a variable's location, in the notation of `dwarf`.
    fn whose(&self, at: &VariableAt) -> String {
        let variable = &at.variable;
        let unit =
            self.debug.unit(variable.unit).map_or_else(|_| "?".to_owned(), |unit| unit.offset.to_string());
        format!("DW_AT_location of DIE {} in the unit at {unit}", variable.die)
    }

    /// The contents of a location, lane by lane.
    fn placed(
        &self,
        location: &Location,
        lanes: LaneSet,
        type_id: TypeId,
        known_size: Option<u64>,
        idiom: Option<Idiom>,
        most: usize,
    ) -> Vec<LaneValue> {
        // The object at the location is a descriptor of unknown size; the data come through it.
        let known_size = if self.debug.has_data_elsewhere(type_id) { Some(0) } else { known_size };
        // The data of the previous lane, and its text: lanes with the same bits share them if the type evaluates
        // nothing else.
        let mut read = LanesRead { fetcher: Fetcher::new(&self.context), last: None };
        let mut before: Option<(Rc<Bits>, ValueState)> = None;
        let mut places = print::Locations::new(&self.context);
        let values = lanes.iter().map(|lane| {
            let own = location.at(lane);
            let object = LaneObject::new(&self.context, &self.debug, lane, Cow::Borrowed(&own));
            // Parts that the type leaves to the object, for example the length of an array, differ by lane.
            let size = match known_size {
                Some(size) => size,
                None => match self.debug.byte_size_of(type_id, &object) {
                    Ok(Some(size)) => size,
                    Ok(None) => return nowhere(lane, self.unsized_object(type_id, &object)),
                    Err(error) => return nowhere(lane, ValueState::Error(error.to_string())),
                },
            };
            let wanted = BitSize(size.saturating_mul(8));
            let checked = if idiom.is_some() { clang_xderef::check_size(&own, wanted) } else { Ok(()) };
            let found = checked.and_then(|()| self.read(&own, lane, size, &mut read));
            // A caller's registers are shown at their current place.
            let level = &self.context.level;
            let settled = |bytes| match level.is_innermost() {
                true => Ok((None, bytes)),
                false => Ok((Some(level.settled(&own, lane, wanted)?), bytes)),
            };
            let (settled, (bits, bytes)) = match found.and_then(settled) {
                Ok(found) => found,
                Err(error) => return nowhere(lane, failed(&error, &self.context)),
            };
            let at = settled.as_ref().unwrap_or(&own);
            if at.is_undefined() || (size > 0 && bits.is_undefined()) {
                return nowhere(lane, ValueState::OptimizedOut(undefined(at, lane)));
            }
            let place = places.text(at, lane);
            let not_captured = |part: &str| {
                ValueState::Unavailable(match self.context.lacks_private(at, lane) {
                    true => format!("{place}: {NO_PRIVATE_MEMORY}"),
                    false => format!("{part}{place} was not captured"),
                })
            };
            let state = if size > 0 && bytes.iter().all(|byte| *byte == Byte::NotCaptured) {
                not_captured("")
            } else if let Some((_, state)) = before.as_ref().filter(|(same, _)| *same == bits) {
                state.clone()
            } else {
                match self.shown(type_id, &bits, &object, most.min(self.left.values())) {
                    // A scalar with missing bits has no value; the reasons differ by lane.
                    Ok(Value::Absent { absent: Absence::OptimizedOut }) => {
                        ValueState::OptimizedOut(undefined(at, lane))
                    }
                    Ok(Value::Absent { absent: Absence::Unavailable }) => not_captured("part of "),
                    shown => {
                        let failed = |error: dwarf::Error| failed(&error, &self.context);
                        let unreadable =
                            |error: debuginfo::DebugInfoError| ValueState::Error(error.to_string());
                        let state = shown.map_or_else(unreadable, |value| {
                            self.left.text(&value).map_or_else(failed, ValueState::Value)
                        });
                        before = (!object.was_asked()).then(|| (bits, state.clone()));
                        state
                    }
                }
            };
            let state = self.left.print(state).unwrap_or_else(|error| failed(&error, &self.context));
            // A location that is the same for all lanes may name one lane's storage, which the compiler chose as a spill slot.
            let of = match location.is_uniform() && !object.was_asked() {
                true => LaneSet::EMPTY,
                false => LaneSet::one(lane),
            };
            let (location, place) = (Some(marked(place, idiom)), Some(settled.unwrap_or(own)));
            LaneValue { lane, location, place, idiom, bytes, state, of }
        });
        values.collect()
    }

    /// The object of a lane, which shares the data of the previous lane if they are equal.
    fn read(
        &self,
        at: &Location,
        lane: LaneId,
        size: u64,
        LanesRead { fetcher, last }: &mut LanesRead<'_>,
    ) -> Result<(Rc<Bits>, Arc<[Byte]>), dwarf::Error> {
        let place = self.common_place(at, lane).map(|place| (place, size));
        // Shared data counts, too: each lane's bytes are printed.
        self.left.take(size)?;
        if let Some(last) = last.as_ref().filter(|last| place.is_some() && last.place == place) {
            return Ok((Rc::clone(&last.bits), Arc::clone(&last.bytes)));
        }
        let bits = fetcher.fetch(at, Some(lane), BitSize(size.saturating_mul(8)))?;
        let same = last.take().filter(|last| *last.bits == bits);
        let (bits, bytes) = match same {
            Some(last) => (last.bits, last.bytes),
            None => {
                let bytes = bytes(&bits, usize::try_from(size).unwrap_or(usize::MAX));
                (Rc::new(bits), bytes)
            }
        };
        *last = Some(Read { place, bits: Rc::clone(&bits), bytes: Arc::clone(&bytes) });
        Ok((bits, bytes))
    }

    /// A location with the same bytes for all lanes, in an address space without lanes: the space and the first bit.
    fn common_place(&self, at: &Location, lane: LaneId) -> Option<(AddressSpace, u128)> {
        let Storage::Memory { space, .. } = at.storage else { return None };
        let info = self.context.level.space(space)?;
        (info.lane == LaneNeed::None).then(|| (space, at.offset.get(lane)))
    }

    /// The reason that an object has no size, from the failed evaluation.
    fn unsized_object(&self, type_id: TypeId, object: &LaneObject<'_>) -> ValueState {
        let options = Options::machine();
        match self.debug.value_of(type_id, Contents::default(), object, &options) {
            Ok(Value::Unknown { why }) => ValueState::Unavailable(why.to_string()),
            _ => ValueState::Error("the size of its type is not known".to_owned()),
        }
    }

    /// The value in C++ notation.
    fn shown(
        &self,
        type_id: TypeId,
        bits: &Bits,
        object: &LaneObject<'_>,
        most: usize,
    ) -> debuginfo::Result<Value> {
        let contents =
            Contents { bytes: bits.bytes(), undefined: bits.undefined(), unavailable: bits.not_captured() };
        let spaces = &self.context.kind().target.spaces;
        let name = |id: AddressSpace| {
            // Global and generic pointers are plain numbers; segment pointers name their segment.
            let space = spaces.iter().find(|space| space.id == id)?;
            (space.address_bits <= 32).then(|| space.name.clone())
        };
        let symbol = |address| self.context.symbol(address);
        let all = Options::machine();
        let max_values = all.max_values.min(most);
        let options = Options { space_name: &name, symbol_name: &symbol, max_values, ..all };
        self.debug.value_among(type_id, contents, object, &self.types, &options)
    }
}

/// The reason that a location, or a part of it, is undefined for a lane.
pub(super) fn undefined(at: &Location, lane: LaneId) -> String {
    if let Storage::Undefined(Some(Origin { why: WhyUndefined::Explicit, op, at, within })) = &at.storage {
        let within = within.map_or_else(String::new, |within| format!(" in {within}"));
        return format!(
            "the compiler keeps its value nowhere at this PC: its location{within} has {op} at byte {at}"
        );
    }
    let why = match &dwarf::explain::undefined(at, lane)[..] {
        [Undefined { bits: None, origin: Some(origin) }] => origin.to_string(),
        parts => parts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    };
    format!("its location is undefined at this PC: {why}")
}

pub(super) fn nowhere(lane: LaneId, state: ValueState) -> LaneValue {
    LaneValue {
        lane,
        location: None,
        place: None,
        idiom: None,
        bytes: Arc::default(),
        state,
        of: LaneSet::EMPTY,
    }
}

/// A location's text, with the idiom of its reading.
pub(super) fn marked(words: String, idiom: Option<Idiom>) -> String {
    match idiom {
        Some(idiom) => format!("{words} ({})", idiom.mark()),
        None => words,
    }
}

/// The way in which the wave's target reaches private memory.
pub(super) fn scratch(kind: &WaveArch) -> clang_xderef::Scratch {
    if kind.target.buffer_scratch { clang_xderef::Scratch::Buffer } else { clang_xderef::Scratch::Flat }
}

/// The first bytes of the fetched bits; a last one of fewer bits counts as one.
pub(super) fn bytes<T: FromIterator<Byte>>(bits: &Bits, count: usize) -> T {
    if let Some(whole) = bits.whole() {
        return whole.iter().take(count).copied().map(Byte::Known).collect();
    }
    let byte = |index| match bits.byte(index) {
        Ok(byte) => Byte::Known(byte),
        Err(Known::Undefined) => Byte::OptimizedOut,
        Err(_) => Byte::NotCaptured,
    };
    (0..count).map(byte).collect()
}

/// An error as text, with AMD's names instead of numbers.
pub(super) fn words(error: &dwarf::Error, names: &dyn Names) -> String {
    error.named(names)
}

/// Converts an evaluation error to a missing value.
pub(super) fn failed(error: &dwarf::Error, names: &dyn Names) -> ValueState {
    let words = words(error, names);
    match error.class() {
        _ if error.cause.is_lost() => ValueState::OptimizedOut(words),
        Class::Unavailable => ValueState::Unavailable(words),
        Class::Decode | Class::IllFormed | Class::Limit => ValueState::Error(words),
    }
}
