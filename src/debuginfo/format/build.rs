//! Conversion of a type and bytes to a value's tree: records, and types whose shape depends on the object.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;

use super::number::Part;
use super::text::CharKind;
use super::value::{Field, Notation, Value, ValueError};
use crate::debuginfo::DebugInfo;
use crate::debuginfo::contents::Contents;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::format::{KnownTypes, Letter, Options};
use crate::debuginfo::types::asked::Asked;
use crate::debuginfo::types::dynamic::{DynamicError, Object, OwnedContents};
use crate::debuginfo::types::{Indirect, Member, Record, Type, TypeId, TypeKind, VariantPart};

impl DebugInfo {
    /// The value of an object, from its type and bytes. Missing bytes are marked.
    ///
    /// # Errors
    /// A type is unreadable, or types contain each other.
    pub fn value(&self, id: TypeId, contents: Contents<'_>, options: &Options<'_>) -> Result<Value> {
        let part = Part { contents, bit: 0, object: None, origin: 0, is_base: false };
        self.walk(id, part, &KnownTypes::default(), options)
    }

    /// [`Self::value`] for an object that provides the numbers its type lacks.
    ///
    /// # Errors
    /// As for [`Self::value`].
    pub fn value_of(
        &self,
        id: TypeId,
        contents: Contents<'_>,
        object: &dyn Object,
        options: &Options<'_>,
    ) -> Result<Value> {
        self.value_among(id, contents, object, &KnownTypes::default(), options)
    }

    /// [`Self::value_of`] for one of many objects, which share the types in `types`.
    ///
    /// # Errors
    /// As for [`Self::value`].
    pub fn value_among(
        &self,
        id: TypeId,
        contents: Contents<'_>,
        object: &dyn Object,
        types: &KnownTypes,
        options: &Options<'_>,
    ) -> Result<Value> {
        let part = Part { contents, bit: 0, object: Some(object), origin: 0, is_base: false };
        self.walk(id, part, types, options)
    }

    fn walk(&self, id: TypeId, part: Part<'_>, types: &KnownTypes, options: &Options<'_>) -> Result<Value> {
        let left = Cell::new(options.max_values);
        ValueBuilder::new(self, types, options, left).value(Some(id), part, None, 0)
    }
}

pub(super) struct ValueBuilder<'a> {
    pub(super) info: &'a DebugInfo,
    types: &'a KnownTypes,
    pub(super) options: &'a Options<'a>,
    /// The remaining capacity of values.
    pub(super) left: Cell<usize>,
    /// The printed virtual bases of the current object; each is printed once.
    pub(super) virtual_bases: RefCell<Vec<TypeId>>,
    /// Records and arrays around the current value; data elsewhere are not inside of them.
    around: RefCell<Vec<TypeId>>,
    /// The notation of the last unit.
    notation: Cell<Option<(UnitId, Notation)>>,
}

/// Fetched bytes that count as one value.
const BYTES_OF_VALUE: usize = 256;

impl<'a> ValueBuilder<'a> {
    pub(super) fn new(
        info: &'a DebugInfo,
        types: &'a KnownTypes,
        options: &'a Options<'a>,
        left: Cell<usize>,
    ) -> Self {
        let (virtual_bases, around, notation) = (RefCell::default(), RefCell::default(), Cell::default());
        Self { info, types, options, left, virtual_bases, around, notation }
    }
}

impl ValueBuilder<'_> {
    /// [`DebugInfo::stripped`].
    pub(super) fn stripped(&self, id: TypeId) -> Result<Option<Arc<Type>>> {
        self.types.stripped(self.info, id)
    }

    /// The notation of a type's unit.
    pub(super) fn notation(&self, found: &Type) -> Notation {
        if let Some((unit, notation)) = self.notation.get()
            && unit == found.unit
        {
            return notation;
        }
        let is_fortran = self.info.unit(found.unit).is_ok_and(|facts| facts.language.is_fortran());
        let notation = if is_fortran { Notation::Fortran } else { Notation::C };
        self.notation.set(Some((found.unit, notation)));
        notation
    }

    /// The character class of a type that is `stripped` behind typedefs and qualifiers.
    pub(super) fn char_kind(&self, id: TypeId, stripped: &Type) -> Result<Option<CharKind>> {
        self.types.character(id, || self.find_char_kind(id, stripped))
    }

    pub(super) fn value(
        &self,
        id: Option<TypeId>,
        part: Part<'_>,
        width: Option<u64>,
        depth: usize,
    ) -> Result<Value> {
        let Some(left) = self.left.get().checked_sub(1) else { return Ok(Value::text("...")) };
        self.left.set(left);
        let Some(id) = id else { return Ok(Value::text("void")) };
        let Some(found) = self.stripped(id)? else { return Ok(Value::text("void")) };
        match &found.indirect {
            Some(indirect) if depth < self.options.max_depth => {
                let around = self.around.take();
                let value = self.indirect(indirect, id, &found, part, depth);
                self.around.replace(around);
                value
            }
            Some(_) => Ok(Value::text("{...}")),
            None => self.within(id, &found, part, width, depth),
        }
    }

    /// Builds an aggregate's value, with a check for one that contains itself.
    fn within(
        &self,
        id: TypeId,
        found: &Type,
        part: Part<'_>,
        width: Option<u64>,
        depth: usize,
    ) -> Result<Value> {
        let kind = || self.kind(id, found, part, part.asked(), width, depth);
        if !matches!(found.kind, TypeKind::Array { .. } | TypeKind::Record(_)) {
            return kind();
        }
        if self.around.borrow().contains(&found.id) {
            let error = DebugInfoError::ContainsItself { die: found.id.0 };
            return Ok(Value::unknown(error));
        }
        self.around.borrow_mut().push(found.id);
        let value = kind();
        self.around.borrow_mut().pop();
        value
    }

    /// Deducts fetched bytes from the remaining capacity of values.
    fn spend(&self, bytes: usize) {
        self.left.set(self.left.get().saturating_sub(bytes / BYTES_OF_VALUE));
    }

    /// A value by its kind. `shape`: the object for dynamic attributes of the type; the data may be in another part.
    fn kind(
        &self,
        id: TypeId,
        found: &Type,
        part: Part<'_>,
        shape: Asked<'_>,
        width: Option<u64>,
        depth: usize,
    ) -> Result<Value> {
        // A type with an explicit size needs no object.
        let size = match (found.byte_size, &found.kind) {
            (Some(size), _) => Some(size),
            // An array needs its size only to detect that all of it is missing.
            (None, TypeKind::Array { .. }) if part.is_present() => None,
            (None, _) => self.info.size_for(found.id, shape)?,
        };
        let bits = width.unwrap_or_else(|| size.unwrap_or(0).saturating_mul(8));
        match &found.kind {
            TypeKind::Array { .. } => match (part.whole_absence(bits), depth >= self.options.max_depth) {
                (Some(absent), _) => Ok(Value::Absent { absent }),
                (None, true) => Ok(Value::text("{...}")),
                (None, false) => match self.backwards(found, part, shape) {
                    Some((at, fetched)) => {
                        let (contents, origin) = (fetched.contents(), at.saturating_mul(8));
                        let bit = part.asked().at.saturating_sub(origin).unsigned_abs();
                        self.array(found, Part { contents, bit, origin, ..part }, shape, depth)
                    }
                    None => self.array(found, part, shape, depth),
                },
            },
            TypeKind::Record(_) if found.is_declaration => Ok(Value::unknown(ValueError::Incomplete)),
            TypeKind::Record(record) => match (part.whole_absence(bits), depth >= self.options.max_depth) {
                (Some(absent), _) => Ok(Value::Absent { absent }),
                (None, true) => Ok(Value::text("{...}")),
                (None, false) => self.record(record, self.notation(found), part, depth),
            },
            TypeKind::String { width, .. } => self.language_string(found, *width, size, part, shape),
            // A dynamic type is a typedef of its data's type.
            TypeKind::Typedef { of } | TypeKind::Qualified { of, .. } => {
                self.value(*of, part, width, depth + 1)
            }
            _ => self.scalar(id, found, part, bits),
        }
    }

    /// The bytes of an array with strides before its first element, and their position in the object.
    fn backwards(&self, found: &Type, part: Part<'_>, shape: Asked<'_>) -> Option<(i64, OwnedContents)> {
        let TypeKind::Array { dimensions, stride, .. } = &found.kind else { return None };
        if stride.is_none() && dimensions.iter().all(|dimension| dimension.stride.is_none()) {
            return None;
        }
        let span = self.span(found, shape).ok().filter(|span| span.start < 0)?;
        // Fetched data of an indirection already contain them.
        if part.bit >= span.start.unsigned_abs().saturating_mul(8) {
            return None;
        }
        let at = (part.asked().at / 8).saturating_add(span.start);
        let size = u64::try_from(span.end.saturating_sub(span.start)).ok()?;
        Some((at, part.object?.fetch(at, size).ok()?))
    }

    /// An object with data elsewhere, or without data.
    fn indirect(
        &self,
        indirect: &Indirect,
        id: TypeId,
        found: &Type,
        part: Part<'_>,
        depth: usize,
    ) -> Result<Value> {
        let shape = part.asked();
        match indirect.absence_for(shape) {
            Ok(None) => {}
            Ok(Some(why)) => return Ok(Value::unknown(why)),
            Err(why) => return Ok(Value::unknown(why)),
        }
        let Some(location) = &indirect.data_location else {
            return self.kind(id, found, part, shape, None, depth);
        };
        let data = match shape.object.map(|object| object.part(location, shape.at)) {
            Some(Ok(data)) => data,
            Some(Err(why)) => return Ok(Value::unknown(why)),
            None => return Ok(Value::unknown(DynamicError::NoObject(location.attribute))),
        };
        let span = match &found.kind {
            TypeKind::Array { .. } => self.span(found, shape),
            TypeKind::Typedef { of: Some(of) } => {
                Ok(0..self.size_as_i64(*of, Asked { object: Some(&*data), at: 0 })?)
            }
            _ => Ok(0..self.size_as_i64(found.id, shape)?),
        };
        let fetched = span.and_then(|span: Range<i64>| {
            let size = u64::try_from(span.end.saturating_sub(span.start)).unwrap_or(0);
            Ok((span.start, data.fetch(span.start, size)?))
        });
        match fetched {
            Ok((start, fetched)) => {
                self.spend(fetched.bytes.len());
                let bit = start.saturating_mul(8).unsigned_abs();
                let origin = start.saturating_mul(8);
                let part =
                    Part { contents: fetched.contents(), bit, object: Some(&*data), origin, is_base: false };
                self.kind(id, found, part, shape, None, depth)
            }
            Err(why) => Ok(Value::unknown(why)),
        }
    }

    fn size_as_i64(&self, id: TypeId, asked: Asked<'_>) -> Result<i64> {
        let size = self.info.size_for(id, asked)?.unwrap_or(0);
        Ok(i64::try_from(size).unwrap_or(i64::MAX))
    }

    fn record(&self, record: &Record, notation: Notation, part: Part<'_>, depth: usize) -> Result<Value> {
        let outermost = !part.is_base;
        let shown_before = if outermost { self.virtual_bases.take() } else { Vec::new() };
        let mut members = Vec::with_capacity(record.members.len().min(self.left.get()));
        for member in &record.members {
            if self.left.get() == 0 {
                members.push(Field { name: None, is_base: false, value: Value::text("...") });
                break;
            }
            members.extend(self.member(member, part, depth)?);
        }
        for problem in &record.problems {
            members.push(Field { name: None, is_base: false, value: Value::unknown(problem.clone()) });
        }
        for varying in record.variants.iter().take_while(|_| self.left.get() > 0) {
            members.extend(self.variant(varying, part, depth)?);
        }
        if outermost {
            self.virtual_bases.replace(shown_before);
        }
        Ok(Value::Members { members, notation })
    }

    /// A member or base class; `None` for a virtual base that is already printed.
    fn member(&self, member: &Member, part: Part<'_>, depth: usize) -> Result<Option<Field>> {
        if member.is_virtual
            && let Some(id) = member.type_id
        {
            let mut shown = self.virtual_bases.borrow_mut();
            if shown.contains(&id) {
                return Ok(None);
            }
            shown.push(id);
        }
        let inner = Part { is_base: member.is_base, ..part.skip(member.bit_offset) };
        let value = self.member_value(member, inner, part, depth);
        // An error in a member's type costs only the member.
        let value = value.unwrap_or_else(Value::unknown);
        let name = self.field_name(member).ok().flatten();
        Ok(Some(Field { name, is_base: member.is_base, value }))
    }

    fn member_value(&self, member: &Member, inner: Part<'_>, part: Part<'_>, depth: usize) -> Result<Value> {
        Ok(match &member.place {
            Some(place) => match member.problem() {
                Some(why) => Value::unknown(why.clone()),
                None => self.placed(member, place, part, depth)?,
            },
            None if member.is_virtual => Value::unknown(ValueError::NoPlace),
            None if member.is_artificial => self.artificial(member, inner, depth)?,
            None => self.value(member.type_id, inner, member.bit_size, depth + 1)?,
        })
    }

    /// A member whose position an expression computes.
    fn placed(
        &self,
        member: &Member,
        place: &crate::debuginfo::DynamicAttribute,
        part: Part<'_>,
        depth: usize,
    ) -> Result<Value> {
        let asked = part.asked();
        let data = match asked.object.map(|object| object.part(place, asked.at)) {
            Some(Ok(data)) => data,
            Some(Err(why)) => return Ok(Value::unknown(why)),
            None => return Ok(Value::unknown(ValueError::NoPlace)),
        };
        let size = match member.type_id {
            Some(id) => self.size_as_i64(id, Asked { object: Some(&*data), at: 0 })?,
            None => 0,
        };
        // Bit fields may extend past their type.
        let size = size.unsigned_abs().saturating_add(member.bit_offset.div_ceil(8));
        match data.fetch(0, size) {
            Ok(fetched) => {
                self.spend(fetched.bytes.len());
                let (bit, object) = (member.bit_offset, Some(&*data));
                let is_base = member.is_base;
                let inner = Part { contents: fetched.contents(), bit, object, origin: 0, is_base };
                self.value(member.type_id, inner, member.bit_size, depth + 1)
            }
            Err(why) => Ok(Value::unknown(why)),
        }
    }

    /// A table of virtual functions: an address with its symbol.
    fn artificial(&self, member: &Member, part: Part<'_>, depth: usize) -> Result<Value> {
        let value = self.value(member.type_id, part, member.bit_size, depth + 1)?;
        let symbol = part.unsigned(64).ok().and_then(|address| {
            let address = u64::try_from(address).ok().filter(|address| *address != 0)?;
            (self.options.symbol_name)(address)
        });
        Ok(match (value, symbol) {
            (Value::Text { text }, Some(symbol)) if !self.has_symbol(member.type_id)? => {
                Value::text(format!("{text} <{symbol}>"))
            }
            (value, _) => value,
        })
    }

    /// Whether the notation of a number of this type includes its symbol.
    fn has_symbol(&self, id: Option<TypeId>) -> Result<bool> {
        let found = id.map(|id| self.info.stripped(id)).transpose()?.flatten();
        Ok(match (self.options.letter, found.as_deref().map(|found| &found.kind)) {
            (Some(letter), _) => letter == Letter::Address,
            (None, Some(TypeKind::Pointer { to, .. })) => self.is_function(*to)?,
            (None, _) => false,
        })
    }

    /// The members of the variant that the discriminant selects; none if the discriminant is unreadable.
    fn variant(&self, varying: &VariantPart, part: Part<'_>, depth: usize) -> Result<Vec<Field>> {
        let mut fields = Vec::new();
        let mut told = None;
        if let Some(member) = &varying.discriminant {
            let size = member.type_id.map(|id| self.info.byte_size(id)).transpose()?.flatten().unwrap_or(0);
            let bits = member.bit_size.unwrap_or(size.saturating_mul(8));
            let is_signed = member.type_id.map(|id| self.is_signed(id)).transpose()?.unwrap_or(false);
            let at = part.skip(member.bit_offset);
            told = match is_signed {
                true => at.signed(bits).ok().and_then(|number| i64::try_from(number).ok()),
                false => at.unsigned(bits).ok().map(|number| number as u64 as i64),
            };
            if !member.is_artificial {
                fields.extend(self.member(member, part, depth)?);
            }
        }
        let chosen = match told {
            Some(told) => varying.chosen(told),
            None if varying.discriminant.is_none() && varying.variants.len() == 1 => varying.variants.first(),
            None => None,
        };
        for member in chosen.map_or(&[][..], |chosen| &chosen.members) {
            if self.left.get() == 0 {
                fields.push(Field { name: None, is_base: false, value: Value::text("...") });
                break;
            }
            fields.extend(self.member(member, part, depth)?);
        }
        Ok(fields)
    }

    fn field_name(&self, member: &Member) -> Result<Option<Arc<str>>> {
        match (member.is_base, member.type_id) {
            (true, Some(base)) => Ok(self.stripped(base)?.and_then(|base| base.name.clone())),
            _ => Ok(member.name.clone()),
        }
    }
}
