//! The walk over a type and its bytes that makes a value's tree.

use std::cell::Cell;
use std::sync::Arc;

use super::number::{MAX_SCALAR_BITS, Part};
use super::text::{CharKind, character, string};
use super::value::{Element, Field, Value};
use super::{Contents, Options, enumerator, float};
use crate::debuginfo::error::Result;
use crate::debuginfo::types::{Base, Dimension, Encoding, Member, Record, Type, TypeId, TypeKind};
use crate::debuginfo::{DebugInfo, DebugInfoError};
use crate::units::AddressSpace;

impl DebugInfo {
    /// The value of an object of a type, from its bytes. What is missing is said where it is missing.
    ///
    /// # Errors
    /// A type cannot be read, or types contain each other without end.
    pub fn value(&self, id: TypeId, contents: Contents<'_>, options: &Options<'_>) -> Result<Value> {
        let walk = Walk { info: self, options, left: Cell::new(options.max_values) };
        walk.value(Some(id), Part { contents, bit: 0 }, None, 0)
    }
}

pub(super) struct Walk<'a> {
    pub(super) info: &'a DebugInfo,
    pub(super) options: &'a Options<'a>,
    /// Values that may still be made.
    pub(super) left: Cell<usize>,
}

impl Walk<'_> {
    fn value(&self, id: Option<TypeId>, part: Part<'_>, width: Option<u64>, depth: usize) -> Result<Value> {
        let Some(left) = self.left.get().checked_sub(1) else { return Ok(Value::text("...")) };
        self.left.set(left);
        let Some(id) = id else { return Ok(Value::text("void")) };
        let Some(found) = self.info.stripped(id)? else { return Ok(Value::text("void")) };
        let size = self.info.byte_size(found.id)?;
        let bits = width.unwrap_or_else(|| size.unwrap_or(0).saturating_mul(8));
        match &found.kind {
            TypeKind::Array { element, dimensions, is_vector } => {
                match (part.whole_absence(bits), depth >= self.options.max_depth) {
                    (Some(absent), _) => Ok(Value::Absent { absent }),
                    (None, true) => Ok(Value::text("{...}")),
                    (None, false) => self.array(*element, dimensions, *is_vector, part, depth),
                }
            }
            TypeKind::Record(_) if found.is_declaration => Ok(Value::text("<incomplete type>")),
            TypeKind::Record(record) => match (part.whole_absence(bits), depth >= self.options.max_depth) {
                (Some(absent), _) => Ok(Value::Absent { absent }),
                (None, true) => Ok(Value::text("{...}")),
                (None, false) => self.record(record, part, depth),
            },
            _ => self.scalar(id, &found, part, bits),
        }
    }

    fn record(&self, record: &Record, part: Part<'_>, depth: usize) -> Result<Value> {
        let mut members = Vec::new();
        for member in &record.members {
            let value = if member.is_dynamic {
                Value::text("<place known at run time only>")
            } else {
                self.value(member.type_id, part.skip(member.bit_offset), member.bit_size, depth + 1)?
            };
            members.push(Field { name: self.field_name(member)?, is_base: member.is_base, value });
        }
        Ok(Value::Members { members })
    }

    fn field_name(&self, member: &Member) -> Result<Option<Arc<str>>> {
        match (member.is_base, member.type_id) {
            (true, Some(base)) => Ok(self.info.stripped(base)?.and_then(|base| base.name.clone())),
            _ => Ok(member.name.clone()),
        }
    }

    /// One dimension of an array; the elements of all but the last are arrays themselves.
    pub(super) fn array(
        &self,
        element: Option<TypeId>,
        dimensions: &[Dimension],
        is_vector: bool,
        part: Part<'_>,
        depth: usize,
    ) -> Result<Value> {
        let Some((first, inner)) = dimensions.split_first() else {
            return self.element(element, is_vector, part, depth + 1);
        };
        let element_size = match element {
            Some(element) => self.info.byte_size(element)?.unwrap_or(0),
            None => 0,
        };
        let size =
            inner.iter().fold(element_size, |size, inner| size.saturating_mul(inner.count.unwrap_or(0)));
        // An array without a length (`int a[]`) has none of its elements in the object.
        let count = first.count.unwrap_or(0);
        if inner.is_empty()
            && !is_vector
            && let Some(text) = self.characters(element, part, count)?
        {
            return Ok(Value::text(text));
        }
        let mut elements: Vec<Element> = Vec::new();
        let (mut index, mut printed) = (0, 0);
        while index < count && printed < self.options.max_elements {
            let at = part.skip(index.saturating_mul(size).saturating_mul(8));
            let run = self.run(at, size, count - index);
            let value = self.array(element, inner, is_vector, at, depth + usize::from(!inner.is_empty()))?;
            let elided = self.options.repeats.filter(|threshold| run > *threshold as u64);
            printed += elided.unwrap_or(1);
            index += if elided.is_some() { run } else { 1 };
            elements.push(Element { value, repeats: if elided.is_some() { run } else { 1 } });
            if self.left.get() == 0 {
                break;
            }
        }
        Ok(Value::Elements { elements, omitted: count.saturating_sub(index) })
    }

    /// An element; in a vector of characters it is a number.
    fn element(&self, id: Option<TypeId>, is_vector: bool, part: Part<'_>, depth: usize) -> Result<Value> {
        if is_vector
            && let Some(id) = id
            && let Some(found) = self.info.stripped(id)?
            && let TypeKind::Base(base) = &found.kind
            && self.char_kind(id, &found)?.is_some()
        {
            let bits = found.byte_size.unwrap_or(1).saturating_mul(8);
            let number = match base.encoding.is_signed() {
                true => part.signed(bits).map(|number| number.to_string()),
                false => part.unsigned(bits).map(|number| number.to_string()),
            };
            return Ok(number.map_or_else(|absent| absent, Value::text));
        }
        self.value(id, part, None, depth)
    }

    /// How many elements from here on are equal; counted only where repeats are elided.
    fn run(&self, at: Part<'_>, size: u64, remaining: u64) -> u64 {
        if self.options.repeats.is_none() {
            return 1;
        }
        if size == 0 || at.bit >= (at.contents.bytes.len() as u64).saturating_mul(8) {
            return remaining;
        }
        let step = size.saturating_mul(8);
        let equal = (1..remaining).take_while(|next| at.same_as(at.skip(next.saturating_mul(step)), size));
        equal.count() as u64 + 1
    }

    /// An array of characters that are all there, as a string.
    fn characters(&self, element: Option<TypeId>, part: Part<'_>, count: u64) -> Result<Option<String>> {
        let Some(id) = element.filter(|_| self.options.writes_strings()) else { return Ok(None) };
        let Some(found) = self.info.stripped(id)? else { return Ok(None) };
        let Some(kind) = self.char_kind(id, &found)? else { return Ok(None) };
        let length = count.saturating_mul(kind.width as u64);
        let Some(bytes) = part.bytes(length).filter(|_| part.absence(length.saturating_mul(8)).is_none())
        else {
            return Ok(None);
        };
        Ok((count > 0).then(|| string(bytes, kind, self.options.max_elements, self.options.repeats)))
    }

    /// What sort of character a type is, by its encoding and, for the wide ones, by a name on the way to it.
    fn char_kind(&self, id: TypeId, stripped: &Type) -> Result<Option<CharKind>> {
        let TypeKind::Base(base) = &stripped.kind else { return Ok(None) };
        let width = stripped.byte_size.unwrap_or(0);
        if matches!(base.encoding, Encoding::SIGNED_CHAR | Encoding::UNSIGNED_CHAR) && width == 1 {
            return Ok(Some(CharKind::NARROW));
        }
        let mut name = self.info.type_of(id)?;
        for _ in 0..8 {
            match (name.name.as_deref(), width) {
                (Some("wchar_t"), 4) => return Ok(Some(CharKind::WIDE)),
                (Some("char16_t"), 2) => return Ok(Some(CharKind::UTF16)),
                (Some("char32_t"), 4) => return Ok(Some(CharKind::UTF32)),
                (Some("char8_t"), 1) => return Ok(Some(CharKind::NARROW)),
                _ => {}
            }
            match name.kind {
                TypeKind::Typedef { of: Some(of) } | TypeKind::Qualified { of: Some(of), .. } => {
                    name = self.info.type_of(of)?;
                }
                _ => break,
            }
        }
        Ok((base.encoding == Encoding::UTF && width == 1).then_some(CharKind::NARROW))
    }

    /// Numbers, characters, pointers and enumerators: what has one notation, or is missing as a whole.
    fn scalar(&self, id: TypeId, found: &Type, part: Part<'_>, bits: u64) -> Result<Value> {
        if let Some(text) = self.lettered(found, part, bits)? {
            return Ok(text);
        }
        let shown = match &found.kind {
            TypeKind::Base(base) => self.base(id, found, base, part, bits)?,
            TypeKind::Enum { scope, enumerators, underlying, .. } => {
                let is_signed = match underlying {
                    Some(underlying) => self.is_signed(*underlying)?,
                    None => enumerators.iter().any(|enumerator| enumerator.value < 0),
                };
                self.integer(is_signed, part, bits)
                    .map(|number| enumerator::enumerator(number, enumerators, scope.as_deref()))
            }
            TypeKind::Pointer { address_space, .. } => {
                part.unsigned(bits).map(|address| self.address(*address_space, address))
            }
            TypeKind::Reference { address_space, .. } => {
                part.unsigned(bits).map(|address| format!("@{}", self.address(*address_space, address)))
            }
            TypeKind::PointerToMember { to, class } => {
                let (to, class) = (*to, *class);
                match part.signed(bits.min(64)) {
                    Ok(offset) => Ok(self.member(to, class, offset)?),
                    Err(absent) => Err(absent),
                }
            }
            TypeKind::Unspecified => Ok("0".to_owned()),
            TypeKind::Subroutine { .. } => Ok(format!("{{{}}}", self.info.type_name(Some(id))?)),
            TypeKind::Array { .. }
            | TypeKind::Record(_)
            | TypeKind::Typedef { .. }
            | TypeKind::Qualified { .. } => {
                let (die, what) = (found.id.0, "types");
                return Err(DebugInfoError::TooDeep { die, what, limit: self.options.max_depth });
            }
        };
        Ok(shown.map_or_else(|absent| absent, Value::text))
    }

    fn base(
        &self,
        id: TypeId,
        found: &Type,
        base: &Base,
        part: Part<'_>,
        bits: u64,
    ) -> Result<Result<String, Value>> {
        if bits > MAX_SCALAR_BITS {
            // Wider than any scalar of the language: its bytes, most significant first.
            return Ok(match (part.absence(bits), part.bytes(bits / 8)) {
                (Some(absent), _) => Err(Value::Absent { absent }),
                (None, Some(bytes)) => Ok(bytes
                    .iter()
                    .rev()
                    .take(256)
                    .fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))),
                (None, None) => Err(Value::UNAVAILABLE),
            });
        }
        let name = found.name.as_deref().unwrap_or("");
        let float = |number: u128, bytes: u64| {
            let shown = u64::try_from(number).ok().and_then(|bits| float::float(bits, bytes, name));
            shown.unwrap_or_else(|| format!("{number:#x}"))
        };
        Ok(match base.encoding {
            Encoding::BOOLEAN => part.unsigned(bits).map(|number| match number {
                0 => "false".to_owned(),
                1 => "true".to_owned(),
                other => other.to_string(),
            }),
            Encoding::FLOAT => part.unsigned(bits).map(|number| float(number, bits / 8)),
            Encoding::COMPLEX_FLOAT => {
                let half = bits / 2;
                let real = part.unsigned(half).map(|number| float(number, half / 8));
                let imaginary = part.skip(half).unsigned(half).map(|number| float(number, half / 8));
                real.and_then(|real| imaginary.map(|imaginary| format!("{real} + {imaginary}i")))
            }
            encoding => {
                let value_bits = base.bit_size.filter(|size| *size > 0 && *size < bits).unwrap_or(bits);
                let number = match encoding.is_signed() {
                    true => part.signed(value_bits).map(|number| (number.to_string(), number as u128)),
                    false => part.unsigned(value_bits).map(|number| (number.to_string(), number)),
                };
                let kind = self.char_kind(id, found)?;
                number.map(|(text, number)| match kind {
                    Some(kind) => {
                        let mask = u32::MAX >> (32 - 8 * kind.width.clamp(1, 4));
                        format!("{text} {}", character(number as u32 & mask, kind))
                    }
                    None => text,
                })
            }
        })
    }

    /// An integer that fits `i128`; the upper half of unsigned 128-bit enumerations does not exist.
    fn integer(&self, is_signed: bool, part: Part<'_>, bits: u64) -> Result<i128, Value> {
        if is_signed { part.signed(bits) } else { part.unsigned(bits).map(|number| number as i128) }
    }

    pub(super) fn is_signed(&self, id: TypeId) -> Result<bool> {
        let found = self.info.stripped(id)?;
        Ok(
            matches!(found.as_deref(), Some(Type { kind: TypeKind::Base(base), .. }) if base.encoding.is_signed()),
        )
    }

    fn address(&self, space: AddressSpace, address: u128) -> String {
        match (self.options.space_name)(space) {
            Some(name) => format!("{name}#{address:#x}"),
            None => format!("{address:#x}"),
        }
    }

    /// A pointer to a data member holds its byte offset, -1 when null (Itanium C++ ABI 2.3).
    fn member(&self, to: Option<TypeId>, class: Option<TypeId>, offset: i128) -> Result<String> {
        let class = class.map(|class| self.info.stripped(class)).transpose()?.flatten();
        let is_function = match to {
            Some(to) => {
                matches!(self.info.stripped(to)?.map(|to| to.kind.clone()), Some(TypeKind::Subroutine { .. }))
            }
            None => false,
        };
        if is_function {
            return Ok(if offset == 0 { "NULL".to_owned() } else { format!("{offset:#x}") });
        }
        if offset == -1 {
            return Ok("NULL".to_owned());
        }
        let Some(class) = class else { return Ok(offset.to_string()) };
        let TypeKind::Record(record) = &class.kind else { return Ok(offset.to_string()) };
        let at = |member: &&Member| !member.is_base && i128::from(member.bit_offset) == offset * 8;
        let name = record.members.iter().find(at).and_then(|member| member.name.as_deref());
        Ok(match (name, &class.name) {
            (Some(name), Some(class)) => format!("&{class}::{name}"),
            _ => offset.to_string(),
        })
    }
}
