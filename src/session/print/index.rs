//! Elements of Fortran's arrays: `w(2, 1)`, by the bounds and strides of the object.

use super::eval::PathEvaluator;
use super::names::words;
use super::object::{Answer, Object, error};
use super::typed::{Shape, Ty};
use crate::debuginfo::{Dimension, Number, TypeKind};

impl PathEvaluator<'_, '_, '_> {
    /// The element with these indexes, the fastest one first.
    pub(super) fn element_at(&self, object: &Object, indexes: &[i128]) -> Answer<Object> {
        if let Shape::Pointer { .. } = self.shape(object)? {
            return self.element_at(&self.pointee(object)?, indexes);
        }
        let own = self.own_type(object)?;
        let Some(TypeKind::Array { element, dimensions, stride, .. }) = own.as_deref().map(|own| &own.kind)
        else {
            // Objects in a row of `@`, for example.
            return match indexes {
                [index] => self.element(object, *index),
                _ => {
                    let (ty, shape) = (self.type_name(&object.ty), self.shape(object)?);
                    error(format!("`()` needs an array; `{ty}` is {}", shape.words()))
                }
            };
        };
        if dimensions.len() != indexes.len() {
            let (ty, rank) = (self.type_name(&object.ty), dimensions.len());
            return error(format!("`{ty}` needs {rank} indexes, found {}", indexes.len()));
        }
        let data = self.data_of(object)?;
        let element = element.map_or(Ty::Void, Ty::Die);
        let bits = self.size(&element)?.saturating_mul(8);
        // The innermost dimension is the last one, and has Fortran's first index.
        let mut step = Some(match stride {
            Some(stride) => i128::from(self.constant(stride)?),
            None => i128::from(bits),
        });
        let (mut by, mut packed) = (0i128, None);
        for (at, (dimension, index)) in dimensions.iter().rev().zip(indexes).enumerate() {
            let Dimension { lower, stride, .. } = dimension;
            let (lower, count) = (self.constant(lower)?, dimension.count());
            let dimension = Some(at + 1).filter(|_| dimensions.len() > 1);
            self.check_bounds(&object.ty, dimension, *index, lower, count)?;
            if let Some(stride) = stride {
                step = Some(i128::from(self.constant(stride)?));
            }
            let Some(own) = step else {
                let ty = self.type_name(&object.ty);
                return error(format!(
                    "the length of dimension {at} of `{ty}` is unknown: index with 1 element"
                ));
            };
            if at == 0 {
                packed = u64::try_from(own.unsigned_abs()).ok().filter(|step| (1..bits).contains(step));
            }
            by = by.saturating_add((index - i128::from(lower)).saturating_mul(own));
            step = count.map(|count| own.saturating_mul(i128::from(count)));
        }
        self.moved(&data, element, by, packed.unwrap_or(bits), packed)
    }

    fn constant(&self, number: &Number) -> Answer<i64> {
        match number {
            Number::Constant(number) => Ok(*number),
            Number::Dynamic(dynamic) => error(format!("{} is unknown", dynamic.attribute)),
        }
    }

    /// Refuses an index outside of an array's bounds if the language is not of C's family or the first index is not 0.
    /// In C an index past the end is an address like any other. `dimension`: its number in the source, from 1.
    pub(super) fn check_bounds(
        &self,
        array: &Ty,
        dimension: Option<usize>,
        index: i128,
        lower: i64,
        count: Option<u64>,
    ) -> Answer<()> {
        let debug = self.scene.debug();
        let is_bounded = match array {
            Ty::Die(id) => match debug.stripped(*id).map_err(words)? {
                Some(found) => debug.unit(found.unit).map_err(words)?.language.lower_bound() != 0,
                None => false,
            },
            _ => false,
        };
        let first = i128::from(lower);
        let past = count.map(|count| first.saturating_add(i128::from(count)));
        if !is_bounded && lower == 0 || index >= first && past.is_none_or(|past| index < past) {
            return Ok(());
        }
        let ty = self.type_name(array);
        let dimension = dimension.map_or_else(String::new, |dimension| format!(" of dimension {dimension}"));
        error(match past {
            Some(past) if past > first => {
                format!(
                    "index {index}{dimension} is outside of `{ty}`: its indexes are {first} to {}",
                    past - 1
                )
            }
            Some(_) => format!("index {index}{dimension} is outside of `{ty}`: it has no elements"),
            None => format!("index {index}{dimension} is outside of `{ty}`: its first index is {first}"),
        })
    }
}
