//! Output of a path's result: bytes, text, a tree, and the reasons for missing parts.

use std::borrow::Cow;
use std::sync::Arc;

use super::eval::{PathEvaluator, Scene};
use super::names::{Named, words};
use super::object::{Answer, Object, error, moved};
use super::path::{Node, Path};
use super::typed::{Basic, Shape, Sort, Ty};
use super::{MAX_PRINTED_BYTES, MAX_STRING, PrintedLane};
use crate::debuginfo::format::{Absence, Contents, Element, Letter, Notation, Options, Value};
use crate::dwarf::Bits;
use crate::session::reading::address::GLOBAL;
use crate::session::values::{
    Byte, LaneObject, LaneValue, ObjectLocation, ValueState, bytes as fetched, nowhere,
};
use crate::session::{LaneState, Provenance};
use crate::units::{AddressSpace, BitSize, LaneId, LaneSet};

impl Scene<'_, '_> {
    /// The result of a path in a lane.
    pub(super) fn printed(
        &self,
        path: &Path,
        lane: LaneId,
        letter: Option<Letter>,
        state: Option<LaneState>,
        type_name: &mut Option<String>,
    ) -> PrintedLane {
        let walk = PathEvaluator::new(self, lane);
        // A variable without a location still has a known type.
        if type_name.is_none()
            && let Node::Name(name) = &path.node
            && let Ok(Named::Variable(placed)) = &*self.named(name)
            && let Some(id) = placed.ty
        {
            *type_name = Ty::Die(id).name(self.debug()).ok();
        }
        let shown = walk.object_of_path(path).and_then(|object| {
            if type_name.is_none() {
                *type_name = Some(object.ty.name(self.debug()).map_err(words)?);
            }
            walk.shown(&object, letter)
        });
        match shown {
            Ok((value, tree, missing)) => PrintedLane {
                value: LaneValue { of: walk.of(), inferred: walk.inferred(), ..value },
                tree,
                state,
                missing,
            },
            Err(why) => {
                let value = LaneValue { of: walk.of(), ..nowhere(lane, *why) };
                PrintedLane { value, tree: None, state, missing: None }
            }
        }
    }
}

/// An object's output: value, tree, and the first missing part.
type Shown = (LaneValue, Option<Value>, Option<String>);

impl PathEvaluator<'_, '_, '_> {
    fn shown(&self, object: &Object, letter: Option<Letter>) -> Answer<Shown> {
        let lane = self.lane;
        let debug = self.scene.debug();
        // The bytes at the location are those of a descriptor, which has a form of its own.
        let is_elsewhere = matches!(object.ty, Ty::Die(id) if debug.has_data_elsewhere(id));
        let size = match (self.shape(object)?, object.ty.size(debug).map_err(words)?) {
            _ if is_elsewhere => 0,
            (Shape::Function, _) => return self.shown_function(object),
            (Shape::Void, _) => return error("`void` has no value: cast it to the type of the data there"),
            (_, None) => self.stated_size(object)?,
            (_, Some(size)) => size,
        };
        if size > MAX_PRINTED_BYTES {
            let ty = self.type_name(&object.ty);
            return error(format!(
                "`{ty}` has {size} bytes, and {MAX_PRINTED_BYTES} are printed at a time: print a part of it"
            ));
        }
        let width = BitSize(object.bits.unwrap_or_else(|| size.saturating_mul(8)));
        let bits = self.bits(&object.location, width)?;
        if object.location.is_undefined() || (width.0 > 0 && bits.is_undefined()) {
            return Err(Box::new(self.absence(&object.location, &bits)));
        }
        let missing = self.first_missing(&object.location, &bits);
        let bytes: Vec<Byte> = fetched(&bits, bits.bytes().len()).collect();
        let nothing = !bytes.is_empty() && bytes.iter().all(|byte| *byte == Byte::NotCaptured);
        let context = &self.scene.found.frame.context;
        let place = match object.is_value {
            true => None,
            false => {
                let settled = context.level.settled(&object.location, lane, width);
                Some(settled.unwrap_or_else(|_| object.location.clone()))
            }
        };
        let located = place.map(|place| ObjectLocation::new(place, object.provenance, context.kind()));
        let (state, tree, missing) = match missing {
            Some(missing) if nothing => (ValueState::Unavailable(missing.into()), None, None),
            missing => {
                let tree = self.tree(object, &bits, letter)?;
                let (text, is_whole) = self.scene.text(&tree);
                let state = match (&tree, &missing) {
                    (Value::Absent { .. }, _) if is_elsewhere => {
                        let data = self.data_of(object)?;
                        let data = self.place_words(&data.location, BitSize(8));
                        ValueState::Unavailable(format!("its data at {data} was not captured").into())
                    }
                    (Value::Absent { absent: Absence::Unavailable }, Some(missing)) => {
                        ValueState::Unavailable(missing.clone().into())
                    }
                    (Value::Absent { .. }, _) => self.optimized_out(&object.location, &bits),
                    _ => ValueState::Value(text.into()),
                };
                match state {
                    ValueState::Value(_) => (state, Some(tree).filter(|_| is_whole), missing),
                    state => (state, None, None),
                }
            }
        };
        let located = located.map(Arc::new);
        let value = LaneValue { located, bytes: bytes.into(), ..nowhere(lane, state) };
        Ok((value, tree, missing))
    }

    /// The size of an object whose type leaves it to the object.
    pub(super) fn stated_size(&self, object: &Object) -> Answer<u64> {
        let Ty::Die(id) = object.ty else {
            return error(format!("the size of `{}` is not known", self.type_name(&object.ty)));
        };
        let (context, debug) = (&self.scene.found.frame.context, self.scene.debug());
        let asked = LaneObject::new(context, debug, self.lane, Cow::Borrowed(&object.location));
        self.note(LaneSet::one(self.lane));
        if let Some(size) = debug.byte_size_of(id, &asked).map_err(words)? {
            return Ok(size);
        }
        let own = debug.stripped(id).map_err(words)?;
        let why = own.and_then(|own| own.unknown_length(&asked));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        error(format!("the size of `{}` is not known{why}", self.type_name(&object.ty)))
    }

    /// A function has no meaningful bytes: the output is its type, address and symbol.
    fn shown_function(&self, object: &Object) -> Answer<Shown> {
        let Some(pointer) = self.pointer(object)? else { return error("the function has no address") };
        let symbol = self
            .scene
            .found
            .frame
            .context
            .symbol(pointer.address)
            .map_or(String::new(), |symbol| format!(" <{symbol}>"));
        let text = format!("{{{}}} {:#x}{symbol}", self.type_name(&object.ty), pointer.address);
        let tree = Value::text(text.clone());
        let kind = self.scene.found.frame.context.kind();
        let located =
            Some(Arc::new(ObjectLocation::new(object.location.clone(), Provenance::default(), kind)));
        let value = LaneValue { located, ..nowhere(self.lane, ValueState::Value(text.into())) };
        Ok((value, Some(tree), None))
    }

    fn tree(&self, object: &Object, bits: &Bits, letter: Option<Letter>) -> Answer<Value> {
        let widened = self.widened(object, bits)?;
        let contents = match &widened {
            Some((bytes, undefined, unavailable)) => Contents { bytes, undefined, unavailable },
            None => Contents {
                bytes: bits.bytes(),
                undefined: bits.undefined(),
                unavailable: bits.not_captured(),
            },
        };
        let space_name = |space| self.scene.found.frame.context.kind().target.segment(space);
        let symbol_name = |address| self.scene.found.frame.context.symbol(address);
        let options =
            Options { space_name: &space_name, symbol_name: &symbol_name, letter, ..Options::machine() };
        let context = &self.scene.found.frame.context;
        let at = Cow::Borrowed(&object.location);
        let asked = LaneObject::new(context, self.scene.debug(), self.lane, at);
        let value = self.value(&object.ty, contents, Some(&asked), &options)?;
        if asked.was_asked() {
            self.note(LaneSet::one(self.lane));
        }
        Ok(match value {
            Value::Text { text } => Value::Text { text: text + &self.beside(object, letter)? },
            other => other,
        })
    }

    /// Bytes of a bit-field in the layout of its type, with masks of the missing bits; `None` for other objects.
    #[allow(clippy::type_complexity, reason = "the three parts of Contents")]
    fn widened(&self, object: &Object, bits: &Bits) -> Answer<Option<(Vec<u8>, Vec<u8>, Vec<u8>)>> {
        let Some(width) = object.bits else { return Ok(None) };
        let Some(size) = object.ty.size(self.scene.debug()).map_err(words)? else { return Ok(None) };
        let size = usize::try_from(size).unwrap_or(0);
        let signed = matches!(self.shape(object)?, Shape::Number(Sort::Signed | Sort::Character));
        let widen = |from: &[u8], extend: bool| {
            let mut bytes = from.to_vec();
            let sign = width.checked_sub(1).map(|bit| (bit / 8, bit % 8));
            let is_set = sign.is_some_and(|(byte, bit)| {
                usize::try_from(byte)
                    .ok()
                    .and_then(|byte| from.get(byte))
                    .is_some_and(|byte| byte >> bit & 1 == 1)
            });
            let fill = if extend && is_set { 0xff } else { 0 };
            if let (0xff, Some(last), bits @ 1..) = (fill, bytes.last_mut(), width % 8) {
                *last |= 0xffu8 << bits;
            }
            bytes.resize(size.max(bytes.len()), fill);
            bytes
        };
        let mask = |from: &[u8]| if from.is_empty() { Vec::new() } else { widen(from, false) };
        Ok(Some((widen(bits.bytes(), signed), mask(bits.undefined()), mask(bits.not_captured()))))
    }

    /// `object` evaluates the parts that the type leaves to it: lengths, places of virtual bases.
    fn value(
        &self,
        ty: &Ty,
        contents: Contents<'_>,
        object: Option<&LaneObject<'_>>,
        options: &Options<'_>,
    ) -> Answer<Value> {
        let debug = self.scene.debug();
        match ty {
            Ty::Die(id) => match object {
                Some(object) => debug.value_of(*id, contents, object, options).map_err(words),
                None => debug.value(*id, contents, options).map_err(words),
            },
            Ty::Basic(basic) => Ok(scalar(*basic, None, contents, options)),
            Ty::Pointer { space, bytes, .. } => {
                let basic = Basic { name: "", bytes: *bytes, sort: Sort::Unsigned };
                Ok(scalar(basic, Some(*space), contents, options))
            }
            Ty::Array { .. } => {
                let (counts, element) = ty.flattened();
                match element {
                    Ty::Die(id) => debug.array_value(*id, &counts, contents, options).map_err(words),
                    _ => self.elements(ty, contents, options),
                }
            }
            Ty::Void | Ty::Function { .. } => Ok(Value::text("void")),
        }
    }

    /// An array of elements without a DIE.
    fn elements(&self, ty: &Ty, contents: Contents<'_>, options: &Options<'_>) -> Answer<Value> {
        let Ty::Array { element, count } = ty else { return self.value(ty, contents, None, options) };
        let size = element.size(self.scene.debug()).map_err(words)?.unwrap_or(0);
        let size = usize::try_from(size).unwrap_or(0);
        if matches!(**element, Ty::Basic(basic) if basic.is_character())
            && let Some(bytes) = whole(contents, *count)
            && let Some(text) = options.narrow_string(bytes)
        {
            return Ok(Value::text(text));
        }
        let shown = usize::try_from(*count).unwrap_or(usize::MAX).min(options.max_elements);
        let mut elements = Vec::new();
        for index in 0..shown {
            let cut = |bytes| cut(bytes, index.saturating_mul(size), size);
            let part = Contents {
                bytes: cut(contents.bytes),
                undefined: cut(contents.undefined),
                unavailable: cut(contents.unavailable),
            };
            elements.push(Element { value: self.value(element, part, None, options)?, repeats: 1 });
        }
        let omitted = count.saturating_sub(shown as u64);
        Ok(Value::Elements { elements, omitted, notation: Notation::C })
    }

    /// The text after a pointer's number: the symbol at its target, or the string.
    fn beside(&self, object: &Object, letter: Option<Letter>) -> Answer<String> {
        let Shape::Pointer { to, space } = self.shape(object)? else { return Ok(String::new()) };
        let made = matches!(object.ty, Ty::Pointer { .. });
        let to_code = matches!(to.shape(self.scene.debug()).map_err(words)?, Shape::Function);
        if letter.is_none() && space == GLOBAL && (made || to_code) {
            let address = self.pointer(object)?.map(|pointer| pointer.address);
            let symbol = address.and_then(|address| self.scene.found.frame.context.symbol(address));
            return Ok(symbol.map_or(String::new(), |symbol| format!(" <{symbol}>")));
        }
        let is_narrow = to.size(self.scene.debug()).map_err(words)? == Some(1);
        match letter {
            Some(Letter::String) if is_narrow => {
                let Ok(first) = self.pointee(object) else { return Ok(String::new()) };
                let mut bytes = Vec::new();
                while bytes.len() < MAX_STRING {
                    let at = moved(&first.location, bytes.len() as i128 * 8, self.lane);
                    let byte = at.and_then(|at| self.bits(&at, BitSize(8)).ok()?.number());
                    match byte {
                        Some(byte @ 1..) => bytes.push(byte as u8),
                        Some(0) => {
                            bytes.push(0);
                            break;
                        }
                        None => break,
                    }
                }
                if bytes.is_empty() {
                    return Ok(String::new());
                }
                let options = Options { letter: None, ..Options::machine() };
                let string = Ty::Array { element: Arc::new(to), count: bytes.len() as u64 };
                let more = if bytes.last() == Some(&0) { "" } else { "..." };
                let text = self.value(&string, Contents::known(&bytes), None, &options)?;
                Ok(format!(" {text}{more}"))
            }
            _ => Ok(String::new()),
        }
    }
}

/// Bytes of an element; bytes past the end are missing.
fn cut(bytes: &[u8], from: usize, size: usize) -> &[u8] {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.get(..size).unwrap_or(rest)
}

/// The bytes of an array of that many single bytes, if all are captured and none is optimized out.
fn whole(contents: Contents<'_>, count: u64) -> Option<&[u8]> {
    let count = usize::try_from(count).ok().filter(|count| *count > 0)?;
    let is_known = |mask: &[u8]| mask.iter().take(count).all(|byte| *byte == 0);
    contents.bytes.get(..count).filter(|_| is_known(contents.undefined) && is_known(contents.unavailable))
}

/// A number or address without a DIE.
fn scalar(basic: Basic, space: Option<AddressSpace>, contents: Contents<'_>, options: &Options<'_>) -> Value {
    let any = |mask: &[u8]| mask.iter().any(|byte| *byte != 0);
    let size = usize::from(basic.bytes);
    if any(contents.undefined) {
        return Value::Absent { absent: Absence::OptimizedOut };
    }
    if any(contents.unavailable) || contents.bytes.len() < size {
        return Value::Absent { absent: Absence::Unavailable };
    }
    let bits = contents.bytes.iter().take(size).rev().fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    let number = basic.scalar(bits);
    if let Some(text) = options.letter.and_then(|letter| letter.write(number, options.symbol_name)) {
        return Value::text(text);
    }
    Value::text(match (space, basic.sort) {
        (Some(space), _) => match (options.space_name)(space) {
            Some(name) => format!("{name}#{bits:#x}"),
            None => format!("{bits:#x}"),
        },
        (None, Sort::Boolean) => match bits {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            other => other.to_string(),
        },
        (None, Sort::Character | Sort::Unsigned) if basic.bytes == 1 => {
            Letter::Character.write(number, &|_| None).unwrap_or_default()
        }
        (None, _) => number.natural(),
    })
}
