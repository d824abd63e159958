//! The variables of a wave's frame, evaluated once for all lanes that were asked for.

use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::frame::FrameContext;
use super::locals::{Byte, LaneValue, Locals, Scope, ValueState, Variable};
use super::object::LaneObject;
use super::{Reader, Unreadable};
use crate::arch::Kind;
use crate::debuginfo::format::{Contents, Options, Value};
use crate::debuginfo::{self, DebugInfo, DialectHint, TypeId, VariableAt, VariableKind};
use crate::dwarf::print::Names;
use crate::dwarf::{
    self, Bits, Cause, Class, Dialect, Encoding, Evaluator, Focus, Known, Location, Program, fetch, legacy,
    print,
};
use crate::units::{AddressSpace, BitSize, LaneId, LaneSet, Pc, WaveId};

/// All variables in scope of the wave's frame 0, for those lanes.
///
/// # Errors
/// Why there is no frame to ask.
pub(super) fn locals(reader: &Reader, wave: WaveId, lanes: LaneSet) -> Result<Locals, Unreadable> {
    let none = Unreadable::NoVariables;
    let captured = reader.wave(wave)?;
    let kind = Arc::clone(&captured.kind);
    let lanes = lanes.and(kind.wave_size.all());
    let capture = reader.dump().capture();
    let pc = reader.scalar(wave, "pc")?.map(Pc);
    let pc = pc.ok_or_else(|| none(format!("the PC of wave {} was not captured", captured.id)))?;
    let loaded = reader.dump().objects().at(capture, pc.0, Some(captured.agent));
    let loaded = loaded.ok_or_else(|| none(format!("no code object that can be read holds the PC {pc}")))?;
    let debug = loaded.debug(capture).map_err(none)?;
    let elf_pc = loaded.elf(pc.0);
    let words = |error: debuginfo::DebugInfoError| none(error.to_string());
    let function = debug.function_at(elf_pc).map_err(words)?;
    let function =
        function.ok_or_else(|| none(format!("no function with debug information holds the PC {pc}")))?;
    let row = debug.line_at(elf_pc).map_err(words)?;
    let hint = debug.dialect_hint(&function.function).map_err(words)?;
    let variables = debug.variables_at(elf_pc).map_err(words)?;
    let dwarf64 = debug.unit(function.function.unit).is_ok_and(|unit| unit.offset_size == 8);
    let subprogram = function.frames.first().map(|frame| &frame.subprogram);
    let name =
        subprogram.and_then(|of| of.qualified_name.as_deref().or(of.name.as_deref())).map(str::to_owned);
    let context = FrameContext {
        reader,
        wave,
        kind,
        debug: Ok(Arc::clone(&debug)),
        function: Ok(function),
        load_address: Ok(loaded.address().0),
        pc: Some(pc),
        elf_pc,
        encoding: Encoding { dialect: dialect(&hint, &variables), dwarf64 },
        registers: RefCell::default(),
        object: RefCell::default(),
    };
    let frame = Frame { context, debug, legacy: hint.producer_is_clang && !hint.llvm_user };
    let variables = variables.iter().map(|variable| frame.variable(variable, lanes)).collect();
    Ok(Locals {
        wave,
        pc,
        function: name,
        file: row.as_ref().and_then(|row| row.place.file.as_deref().map(tidy)),
        line: row.as_ref().map(|row| row.place.line).filter(|line| *line != 0),
        variables,
    })
}

/// The dialect of a unit, as far as the variables in scope tell it.
pub(super) fn dialect(hint: &DialectHint, variables: &[VariableAt]) -> Dialect {
    let expressions = variables.iter().filter_map(|variable| variable.location.expression());
    Dialect::of_unit(hint.augmentation.as_deref(), expressions.map(|bytes| &bytes[..]))
}

/// A frame whose variables are being evaluated.
struct Frame<'a> {
    context: FrameContext<'a>,
    debug: Arc<DebugInfo>,
    /// Whether the unit's compiler writes clang's xderef idiom instead of address spaces.
    legacy: bool,
}

impl Frame<'_> {
    fn variable(&self, at: &VariableAt, lanes: LaneSet) -> Variable {
        let variable = &at.variable;
        let size = variable.type_id.and_then(|id| self.debug.byte_size(id).ok().flatten());
        let mut values = match (&at.location, variable.type_id, size) {
            (debuginfo::Location::None, ..) => {
                self.each(lanes, || ValueState::OptimizedOut("it has no DW_AT_location".to_owned()))
            }
            (debuginfo::Location::NotAtPc, ..) => self.each(lanes, || {
                ValueState::OptimizedOut("its location list has no entry for this PC".to_owned())
            }),
            (_, None, _) => self.each(lanes, || ValueState::Error("it has no type".to_owned())),
            (debuginfo::Location::ConstValue(bytes), Some(type_id), size) => {
                let location = Location::implicit(bytes);
                self.placed(&location, lanes, type_id, size, false)
            }
            (location, Some(type_id), size) => {
                let bytes = location.expression().map_or(&[][..], |bytes| bytes);
                self.evaluated(bytes, lanes, type_id, size)
            }
        };
        values.sort_by_key(|value| value.lane);
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

    fn evaluated(&self, bytes: &[u8], lanes: LaneSet, type_id: TypeId, size: Option<u64>) -> Vec<LaneValue> {
        if bytes.is_empty() {
            return self
                .each(lanes, || ValueState::OptimizedOut("its location is empty at this PC".to_owned()));
        }
        let program = match Program::decode(bytes, self.context.encoding) {
            Ok(program) => program,
            Err(error) => return self.each(lanes, || failed(&error, &self.context)),
        };
        let focus = Focus::Lanes(lanes);
        let meant = if self.legacy {
            legacy::recognise(&self.context, &program, scratch(&self.context.kind), focus)
        } else {
            None
        };
        let idiom = meant.is_some();
        let groups = meant.unwrap_or_else(|| Evaluator::new(&self.context).location(&program, focus, &[]));
        let values = groups.into_iter().flat_map(|group| match group.result {
            Ok(location) => self.placed(&location, group.lanes, type_id, size, idiom),
            Err(error) => self.each(group.lanes, || failed(&error, &self.context)),
        });
        values.collect()
    }

    /// What lies at a location, lane by lane.
    fn placed(
        &self,
        location: &Location,
        lanes: LaneSet,
        type_id: TypeId,
        known_size: Option<u64>,
        legacy: bool,
    ) -> Vec<LaneValue> {
        let values = lanes.iter().map(|lane| {
            let at = location.at(lane);
            let object = LaneObject::new(&self.context, &self.debug, lane, at.clone());
            // What the type leaves to the object, the length of an array say, each lane has of its own.
            let size = match known_size {
                // What stands at the object is a descriptor, whose size nothing says; the data come through it.
                _ if self.debug.has_data_elsewhere(type_id) => 0,
                Some(size) => size,
                None => match self.debug.byte_size_of(type_id, &object) {
                    Ok(Some(size)) => size,
                    Ok(None) => return nowhere(lane, self.unsized_object(type_id, &object)),
                    Err(error) => return nowhere(lane, ValueState::Error(error.to_string())),
                },
            };
            let bits = BitSize(size.saturating_mul(8));
            let bits = match fetch(&self.context, &at, Some(lane), bits) {
                Ok(bits) => bits,
                Err(error) => return nowhere(lane, failed(&error, &self.context)),
            };
            if at.is_undefined() || (size > 0 && bits.is_undefined()) {
                let why = dwarf::explain::undefined(&at, lane).join("; ");
                let why = match why.strip_prefix("optimized out since ") {
                    Some(origin) => format!("its location is undefined at this PC: {origin}"),
                    None => format!("its location is undefined at this PC: {why}"),
                };
                return nowhere(lane, ValueState::OptimizedOut(why));
            }
            let count = usize::try_from(size).unwrap_or(usize::MAX);
            let bytes = bytes(&bits, count);
            let place = print::location(&at, lane, &self.context);
            let state = if count > 0 && bytes.iter().all(|byte| *byte == Byte::NotCaptured) {
                ValueState::Unavailable(format!("{place} was not captured"))
            } else {
                self.shown(type_id, &bits, &object)
            };
            LaneValue {
                lane,
                location: Some(if legacy { format!("{place} (clang xderef)") } else { place }),
                place: Some(at),
                legacy,
                bytes,
                state,
            }
        });
        values.collect()
    }

    /// Why an object has no size: in the words of what could not tell it.
    fn unsized_object(&self, type_id: TypeId, object: &LaneObject<'_>) -> ValueState {
        let options = Options::machine();
        match self.debug.value_of(type_id, Contents::default(), object, &options) {
            Ok(Value::Text { text }) if text.starts_with('<') => {
                let why = text.trim_start_matches('<').trim_end_matches('>').to_owned();
                ValueState::Unavailable(why)
            }
            _ => ValueState::Error("the size of its type is not known".to_owned()),
        }
    }

    /// The value as C++ would print it.
    fn shown(&self, type_id: TypeId, bits: &Bits, object: &LaneObject<'_>) -> ValueState {
        let contents =
            Contents { bytes: bits.bytes(), undefined: bits.undefined(), unavailable: bits.not_captured() };
        let spaces = &self.context.kind.target.spaces;
        let name = |id: AddressSpace| {
            // Global and generic pointers are plain numbers; segment pointers say which segment.
            let space = spaces.iter().find(|space| space.id == id)?;
            (space.address_bits <= 32).then(|| space.name.clone())
        };
        let symbol = |address| self.context.symbol(address);
        let options = Options { space_name: &name, symbol_name: &symbol, ..Options::machine() };
        match self.debug.value_of(type_id, contents, object, &options) {
            Ok(value) => ValueState::Value(value.to_string()),
            Err(error) => ValueState::Error(error.to_string()),
        }
    }
}

/// A path without the `.` parts that a relative compilation directory leaves in it.
fn tidy(path: &str) -> String {
    let parts = Path::new(path).components().filter(|part| !matches!(part, Component::CurDir));
    parts.collect::<PathBuf>().to_string_lossy().into_owned()
}

fn nowhere(lane: LaneId, state: ValueState) -> LaneValue {
    LaneValue { lane, location: None, place: None, legacy: false, bytes: Vec::new(), state }
}

/// How the wave's target reaches private memory.
pub(super) fn scratch(kind: &Kind) -> legacy::Scratch {
    if kind.target.buffer_scratch { legacy::Scratch::Buffer } else { legacy::Scratch::Flat }
}

/// The first bytes of what was fetched; a last one of fewer bits counts as one.
pub(super) fn bytes(bits: &Bits, count: usize) -> Vec<Byte> {
    let byte = |index| match bits.byte(index) {
        Ok(byte) => Byte::Known(byte),
        Err(Known::Undefined) => Byte::OptimizedOut,
        Err(_) => Byte::NotCaptured,
    };
    (0..count).map(byte).collect()
}

/// An error in words, with AMD's name for a register instead of its number.
pub(super) fn words(error: &dwarf::Error, names: &dyn Names) -> String {
    match &error.cause {
        Cause::RegisterNotCaptured(register) => match names.register(*register) {
            Some(name) => format!("{} at {}: {name} was not captured", error.op, error.at),
            None => error.to_string(),
        },
        _ => error.to_string(),
    }
}

/// Why there is no value.
fn failed(error: &dwarf::Error, names: &dyn Names) -> ValueState {
    let words = words(error, names);
    match error.class() {
        Class::Unavailable => ValueState::Unavailable(words),
        Class::Decode | Class::IllFormed => ValueState::Error(words),
    }
}
