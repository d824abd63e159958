//! Arrays: dimensions, bounds and strides. DWARF 5 sections 5.5 and 5.13.

use crate::bounds::MAX_TYPE_CHAIN;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::types::asked::Asked;
use crate::debuginfo::types::children::children;
use crate::debuginfo::types::dynamic::{DynamicAttribute, DynamicError, Object};
use crate::debuginfo::types::{Dimension, Extent, Number, Type, TypeId, TypeKind, between};
use crate::debuginfo::unit::die::{Die, Reading};
use crate::debuginfo::unit::sections::AttributeValue;

/// `DW_ORD_row_major` and `DW_ORD_col_major`.
const ROW_MAJOR: u64 = 0;
/// Maximum dimensions if an object gives their number: Fortran 2018 allows 15.
const MAX_RANK: u64 = 15;

/// Each child is a dimension, with a count or an inclusive upper bound.
///
/// Values have the nesting of the dimensions.
///
/// # Errors
///
/// [`DebugInfoError::TooDeep`] for more than [`MAX_TYPE_CHAIN`] dimensions.
pub(in crate::debuginfo) fn array(
    reading: Reading<'_>,
    die: &Die<'_>,
    element: Option<TypeId>,
) -> Result<TypeKind> {
    let language = die.view.facts().language;
    let mut dimensions = Vec::new();
    for child in children(die)? {
        if dimensions.len() >= MAX_TYPE_CHAIN {
            let what = "dimensions of an array";
            return Err(DebugInfoError::TooDeep { die: die.offset(), what, limit: MAX_TYPE_CHAIN });
        }
        match child.tag() {
            gimli::DW_TAG_subrange_type => dimensions.push(dimension(reading, &child, false)?),
            gimli::DW_TAG_generic_subrange => dimensions.push(dimension(reading, &child, true)?),
            gimli::DW_TAG_enumeration_type => {
                let enumerators = children(&child)?;
                let count =
                    enumerators.iter().filter(|child| child.tag() == gimli::DW_TAG_enumerator).count();
                let extent = Extent::Count(Number::Constant(count as i64));
                dimensions.push(Dimension { lower: Number::Constant(0), extent, stride: None });
            }
            _ => {}
        }
    }
    if dimensions.is_empty() {
        dimensions.push(Dimension { lower: Number::Constant(0), extent: Extent::Unknown, stride: None });
    }
    let ordering = match die.entry.attr_value(gimli::DW_AT_ordering) {
        Some(AttributeValue::Ordering(ordering)) => Some(u64::from(ordering.0)),
        _ => die.constant(gimli::DW_AT_ordering),
    };
    if ordering.map_or(language.is_fortran(), |ordering| ordering != ROW_MAJOR) {
        dimensions.reverse();
    }
    let rank = match reading.number(die, gimli::DW_AT_rank)? {
        Some(Number::Dynamic(rank)) => Some(*rank),
        _ => None,
    };
    let is_vector = die.flag(gimli::DW_AT_GNU_vector);
    Ok(TypeKind::Array { element, dimensions, is_vector, stride: stride(reading, die)?, rank })
}

impl Type {
    /// The reason that an object does not give the length of its array; `None`: it does, or its type has none.
    pub(crate) fn unknown_length(&self, object: &dyn Object) -> Option<DynamicError> {
        let TypeKind::Array { dimensions, .. } = &self.kind else { return None };
        let asked = Asked { object: Some(object), at: 0 };
        dimensions.iter().find_map(|dimension| count_for(dimension, asked).err())
    }

    /// The type of one object: its arrays have constants in place of numbers that the object determines. A length
    /// that the object does not give is unknown.
    ///
    /// # Errors
    /// The object does not give the rank, a first index or a stride.
    pub(crate) fn for_object(&self, object: &dyn Object) -> Result<Self, DynamicError> {
        let TypeKind::Array { element, dimensions, is_vector, stride, rank } = &self.kind else {
            return Ok(self.clone());
        };
        let asked = Asked { object: Some(object), at: 0 };
        let bits = |stride: &Option<Number>| -> Result<Option<Number>, DynamicError> {
            stride.as_ref().map(|stride| stride_bits(stride, asked).map(Number::Constant)).transpose()
        };
        let constant = |dimension: &Dimension| -> Result<Dimension, DynamicError> {
            let count = count_for(dimension, asked).ok().flatten();
            let count = count.map(|count| Number::Constant(i64::try_from(count).unwrap_or(i64::MAX)));
            Ok(Dimension {
                lower: Number::Constant(asked.number(&dimension.lower)?),
                extent: count.map_or(Extent::Unknown, Extent::Count),
                stride: bits(&dimension.stride)?,
            })
        };
        let dimensions = dimensions_for(dimensions, rank.as_ref(), asked)?;
        let dimensions = dimensions.iter().map(constant).collect::<Result<_, DynamicError>>()?;
        let (element, is_vector, stride, rank) = (*element, *is_vector, bits(stride)?, None);
        let kind = TypeKind::Array { element, dimensions, is_vector, stride, rank };
        Ok(Self { kind, ..self.clone() })
    }
}

fn dimension(reading: Reading<'_>, die: &Die<'_>, is_generic: bool) -> Result<Dimension> {
    let number = |name| -> Result<Option<Number>> {
        Ok(reading.number(die, name)?.map(|number| match number {
            Number::Dynamic(mut dynamic) if is_generic => {
                dynamic.dimension = Some(0);
                Number::Dynamic(dynamic)
            }
            number => number,
        }))
    };
    let default = || Number::Constant(die.view.facts().language.lower_bound());
    let lower = number(gimli::DW_AT_lower_bound)?.unwrap_or_else(default);
    let extent = match (number(gimli::DW_AT_count)?, number(gimli::DW_AT_upper_bound)?) {
        // clang writes a count of -1 for an array of unknown length.
        (Some(Number::Constant(-1)), _) | (None, None) => Extent::Unknown,
        (Some(count), _) => Extent::Count(count),
        (None, Some(upper)) => Extent::Upper(upper),
    };
    let mut stride = stride(reading, die)?;
    if let Some(Number::Dynamic(stride)) = &mut stride
        && is_generic
    {
        stride.dimension = Some(0);
    }
    Ok(Dimension { lower, extent, stride })
}

/// `DW_AT_bit_stride`, or `DW_AT_byte_stride` in bits; a dynamic one is unchanged, see [`stride_bits`].
fn stride(reading: Reading<'_>, die: &Die<'_>) -> Result<Option<Number>> {
    if let Some(bits) = reading.number(die, gimli::DW_AT_bit_stride)? {
        return Ok(Some(bits));
    }
    Ok(reading.number(die, gimli::DW_AT_byte_stride)?.map(|bytes| match bytes {
        Number::Constant(bytes) => Number::Constant(bytes.saturating_mul(8)),
        dynamic => dynamic,
    }))
}

/// A stride in bits for an object.
pub(in crate::debuginfo) fn stride_bits(stride: &Number, asked: Asked<'_>) -> Result<i64, DynamicError> {
    let number = asked.number(stride)?;
    match stride {
        Number::Dynamic(dynamic) if dynamic.attribute.is(gimli::DW_AT_byte_stride) => {
            Ok(number.saturating_mul(8))
        }
        _ => Ok(number),
    }
}

/// The dimensions for one object, by its rank.
pub(in crate::debuginfo) fn dimensions_for(
    dimensions: &[Dimension],
    rank: Option<&DynamicAttribute>,
    asked: Asked<'_>,
) -> Result<Vec<Dimension>, DynamicError> {
    let (Some(rank), [all, ..]) = (rank, dimensions) else { return Ok(dimensions.to_vec()) };
    let rank = asked.number(&Number::Dynamic(Box::new(rank.clone())))?;
    let rank = u64::try_from(rank).ok().filter(|rank| *rank <= MAX_RANK);
    let rank = rank.ok_or(DynamicError::Rank(MAX_RANK))?;
    let numbered = |number: &Number, index| match number {
        Number::Dynamic(dynamic) => {
            Number::Dynamic(Box::new(DynamicAttribute { dimension: Some(index), ..(**dynamic).clone() }))
        }
        constant => constant.clone(),
    };
    // Fortran's first dimension is the innermost.
    Ok((0..rank)
        .rev()
        .map(|index| Dimension {
            lower: numbered(&all.lower, index),
            extent: match &all.extent {
                Extent::Unknown => Extent::Unknown,
                Extent::Count(count) => Extent::Count(numbered(count, index)),
                Extent::Upper(upper) => Extent::Upper(numbered(upper, index)),
            },
            stride: all.stride.as_ref().map(|stride| numbered(stride, index)),
        })
        .collect())
}

/// The number of elements of a dimension for an object; `None` if unknown (`int []`).
pub(in crate::debuginfo) fn count_for(
    dimension: &Dimension,
    asked: Asked<'_>,
) -> Result<Option<u64>, DynamicError> {
    match &dimension.extent {
        Extent::Unknown => Ok(None),
        Extent::Count(count) => Ok(Some(u64::try_from(asked.number(count)?).unwrap_or(0))),
        Extent::Upper(upper) => Ok(Some(between(asked.number(&dimension.lower)?, asked.number(upper)?))),
    }
}

/// The size of an array: bytes, or a number of elements of a type; `None` if unknown.
pub(in crate::debuginfo) fn size_of_array(
    info: &DebugInfo,
    array: &Type,
    asked: Asked<'_>,
    depth: usize,
) -> Result<Option<(u64, Option<TypeId>)>> {
    let TypeKind::Array { element, dimensions, stride, rank, .. } = &array.kind else { return Ok(None) };
    let Ok(dimensions) = dimensions_for(dimensions, rank.as_ref(), asked) else { return Ok(None) };
    let strides = || dimensions.iter().any(|dimension| dimension.stride.is_some()) || stride.is_some();
    let too_large = || DebugInfoError::TooLarge { die: array.id.0 };
    let counts = dimensions.iter().map(|dimension| count_for(dimension, asked).ok().flatten());
    if !strides() {
        let (Some(counts), Some(element)) = (counts.collect::<Option<Vec<u64>>>(), element) else {
            return Ok(None);
        };
        let count = counts.iter().try_fold(1u64, |all, count| all.checked_mul(*count));
        return Ok(Some((count.ok_or_else(too_large)?, Some(*element))));
    }
    // With strides the size is that of the outermost dimension, up to the end of its last element, padding included.
    let mut bits = match (stride.as_ref().map(|stride| stride_bits(stride, asked)), element) {
        (Some(stride), _) => stride.ok().map(i64::unsigned_abs),
        (None, Some(element)) => {
            let size = info.size_within(*element, asked, depth + 1)?;
            size.map(|size| size.checked_mul(8).ok_or_else(too_large)).transpose()?
        }
        (None, None) => None,
    };
    for dimension in dimensions.iter().rev() {
        let Ok(Some(count)) = count_for(dimension, asked) else { return Ok(None) };
        let step = match &dimension.stride {
            Some(stride) => stride_bits(stride, asked).ok().map(i64::unsigned_abs),
            None => bits,
        };
        bits = step.map(|step| step.checked_mul(count).ok_or_else(too_large)).transpose()?;
    }
    Ok(bits.map(|bits| (bits.div_ceil(8), None)))
}
