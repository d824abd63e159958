//! Arrays, vectors and strings.

use std::ops::Range;

use super::build::ValueBuilder;
use super::number::Part;
use super::text::{CharKind, Quotes, string};
use super::value::{Element, Notation, Value, ValueError};
use crate::debuginfo::error::Result;
use crate::debuginfo::types::array::{count_for, dimensions_for, stride_bits};
use crate::debuginfo::types::asked::Asked;
use crate::debuginfo::types::dynamic::DynamicError;
use crate::debuginfo::types::{Type, TypeId, TypeKind};

/// A dimension of one object's array.
#[derive(Clone, Copy, Debug)]
struct Axis {
    count: u64,
    /// Bits from an element to the next.
    step: i64,
}

/// The shape of one object's array.
struct Shape {
    element: Option<TypeId>,
    is_vector: bool,
    /// Outermost first.
    axes: Vec<Axis>,
    /// Whether elements adjoin.
    is_dense: bool,
    /// Bits of an element that is packed tighter than the bytes of its type.
    width: Option<u64>,
    notation: Notation,
}

impl ValueBuilder<'_> {
    pub(super) fn array(
        &self,
        found: &Type,
        part: Part<'_>,
        asked: Asked<'_>,
        depth: usize,
    ) -> Result<Value> {
        match self.shape(found, asked)? {
            Ok(shape) => self.axes(&shape, &shape.axes, part, depth),
            Err(why) => Ok(Value::unknown(why)),
        }
    }

    fn shape(&self, found: &Type, asked: Asked<'_>) -> Result<Result<Shape, DynamicError>> {
        let TypeKind::Array { element, dimensions, is_vector, stride, rank } = &found.kind else {
            return Ok(Err(DynamicError::NotAnArray));
        };
        let element_size = match element {
            Some(element) => self.info.size_for(*element, asked)?.unwrap_or(0),
            None => 0,
        };
        let natural = i64::try_from(element_size.saturating_mul(8)).unwrap_or(i64::MAX);
        let notation = self.notation(found);
        Ok((|| {
            let dimensions = dimensions_for(dimensions, rank.as_ref(), asked)?;
            let mut step = match stride {
                Some(stride) => stride_bits(stride, asked)?,
                None => natural,
            };
            let (mut axes, mut is_dense) = (Vec::new(), step == natural);
            for dimension in dimensions.iter().rev() {
                if let Some(stride) = &dimension.stride {
                    let own = stride_bits(stride, asked)?;
                    is_dense &= own == step;
                    step = own;
                }
                // The object has no elements of an array without a length (`int a[]`).
                let count = count_for(dimension, asked)?.unwrap_or(0);
                axes.push(Axis { count, step });
                step = step.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX));
            }
            axes.reverse();
            let packed = axes.last().map(|axis| axis.step.unsigned_abs());
            let width = packed.filter(|step| (1..natural.unsigned_abs()).contains(step));
            Ok(Shape { element: *element, is_vector: *is_vector, axes, is_dense, width, notation })
        })())
    }

    /// The bytes of an array, relative to its first element; strides may be negative.
    pub(super) fn span(&self, found: &Type, asked: Asked<'_>) -> Result<Range<i64>, DynamicError> {
        let shape = self.shape(found, asked)??;
        let size = match shape.element {
            Some(element) => self.info.size_for(element, asked)?.unwrap_or(0),
            None => 0,
        };
        let size = i64::try_from(size.saturating_mul(8)).unwrap_or(i64::MAX);
        let mut bits = 0..size;
        for axis in &shape.axes {
            let last = i64::try_from(axis.count).unwrap_or(i64::MAX).saturating_sub(1).max(0);
            let reach = axis.step.saturating_mul(last);
            if reach < 0 {
                bits.start = bits.start.saturating_add(reach)
            } else {
                bits.end = bits.end.saturating_add(reach)
            }
            if axis.count == 0 {
                return Ok(0..0);
            }
        }
        Ok(bits.start.div_euclid(8)..bits.end.saturating_add(7).div_euclid(8))
    }

    /// One dimension of an array. The elements of all but the last dimension are arrays.
    fn axes(&self, shape: &Shape, axes: &[Axis], part: Part<'_>, depth: usize) -> Result<Value> {
        let Some((first, inner)) = axes.split_first() else {
            return match shape.width {
                Some(_) => self.value(shape.element, part, shape.width, depth + 1),
                None => self.element(shape.element, shape.is_vector, part, depth + 1),
            };
        };
        let Axis { count, step } = *first;
        if inner.is_empty()
            && !shape.is_vector
            && shape.is_dense
            && let Some(text) = self.characters(shape.element, part, count)?
        {
            return Ok(Value::text(text));
        }
        let most = count.min(self.options.max_elements as u64).min(self.left.get() as u64);
        let mut elements: Vec<Element> = Vec::with_capacity(usize::try_from(most).unwrap_or_default());
        let (mut index, mut printed) = (0u64, 0);
        while index < count && printed < self.options.max_elements {
            let at = part.offset(step.saturating_mul(i64::try_from(index).unwrap_or(i64::MAX)));
            let size = step.unsigned_abs() / 8;
            let run = if shape.is_dense { self.run(at, size, count - index) } else { 1 };
            let value = self.axes(shape, inner, at, depth + usize::from(!inner.is_empty()))?;
            let elided = self.options.repeats.filter(|threshold| run > *threshold as u64);
            printed += elided.unwrap_or(1);
            index += if elided.is_some() { run } else { 1 };
            elements.push(Element { value, repeats: if elided.is_some() { run } else { 1 } });
            if self.left.get() == 0 {
                break;
            }
        }
        Ok(Value::Elements { elements, omitted: count.saturating_sub(index), notation: shape.notation })
    }

    /// A string type's value with all characters: the length is part of the string.
    pub(super) fn language_string(
        &self,
        found: &Type,
        width: u8,
        size: Option<u64>,
        part: Part<'_>,
        asked: Asked<'_>,
    ) -> Result<Value> {
        let Some(size) = size else {
            let why = match &found.kind {
                TypeKind::String { length: Some(length), .. } => asked.number(length).err(),
                _ => None,
            };
            return Ok(Value::unknown(why.map_or(ValueError::NoLength, ValueError::from)));
        };
        if let Some(absent) = part.absence(size.saturating_mul(8)) {
            return Ok(Value::Absent { absent });
        }
        let kind = match width {
            2 => CharKind::UTF16,
            4 => CharKind::UTF32,
            _ => CharKind::NARROW,
        };
        let Some(bytes) = part.bytes(size) else { return Ok(Value::UNAVAILABLE) };
        let quotes = Quotes::of(self.notation(found));
        Ok(Value::text(string(bytes, kind, quotes, self.options.max_elements, self.options.repeats)))
    }

    /// An element; in a vector of characters it is a number.
    fn element(&self, id: Option<TypeId>, is_vector: bool, part: Part<'_>, depth: usize) -> Result<Value> {
        if is_vector
            && let Some(id) = id
            && let Some(found) = self.stripped(id)?
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

    /// The number of equal elements from here on; 1 if repeats are printed.
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

    /// An array of captured characters, as a string.
    fn characters(&self, element: Option<TypeId>, part: Part<'_>, count: u64) -> Result<Option<String>> {
        let Some(id) = element.filter(|_| self.options.writes_strings()) else { return Ok(None) };
        let Some(found) = self.stripped(id)? else { return Ok(None) };
        let Some(kind) = self.char_kind(id, &found)? else { return Ok(None) };
        let length = count.saturating_mul(kind.width as u64);
        let Some(bytes) = part.bytes(length).filter(|_| part.absence(length.saturating_mul(8)).is_none())
        else {
            return Ok(None);
        };
        let quotes = Quotes::Double;
        let (most, repeats) = (self.options.max_elements, self.options.repeats);
        Ok((count > 0).then(|| string(bytes, kind, quotes, most, repeats)))
    }

    /// The character class of a type, by its encoding and, for wide ones, by a name in its chain of types.
    pub(super) fn find_char_kind(&self, id: TypeId, stripped: &Type) -> Result<Option<CharKind>> {
        let TypeKind::Base(base) = &stripped.kind else { return Ok(None) };
        let width = stripped.byte_size.unwrap_or(0);
        if matches!(base.encoding.0, gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char) && width == 1 {
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
        Ok((base.encoding.0 == gimli::DW_ATE_UTF && width == 1).then_some(CharKind::NARROW))
    }
}
