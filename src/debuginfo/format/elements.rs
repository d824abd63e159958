//! Consecutive objects without an array type: gdb's `x @ n`, and the inner dimensions of an array.

use std::cell::Cell;

use super::build::ValueBuilder;
use super::number::Part;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::contents::Contents;
use crate::debuginfo::error::Result;
use crate::debuginfo::format::{KnownTypes, Options, Value};
use crate::debuginfo::types::{Dimension, Extent, Number, Type, TypeId, TypeKind};

impl DebugInfo {
    /// The value of an array with these dimensions, outermost first, and an element type.
    ///
    /// # Errors
    /// As [`Self::value`].
    pub fn array_value(
        &self,
        element: TypeId,
        counts: &[u64],
        contents: Contents<'_>,
        options: &Options<'_>,
    ) -> Result<Value> {
        let dimension = |count: &u64| {
            let count = Number::Constant(i64::try_from(*count).unwrap_or(i64::MAX));
            Dimension { lower: Number::Constant(0), extent: Extent::Count(count), stride: None }
        };
        let found = Type {
            id: element,
            unit: self.type_of(element)?.unit,
            name: None,
            byte_size: None,
            alignment: None,
            is_declaration: false,
            indirect: None,
            memory_space: None,
            kind: TypeKind::Array {
                element: Some(element),
                dimensions: counts.iter().map(dimension).collect(),
                is_vector: false,
                stride: None,
                rank: None,
            },
        };
        let left = Cell::new(options.max_values);
        let types = KnownTypes::default();
        let walk = ValueBuilder::new(self, &types, options, left);
        let part = Part { contents, bit: 0, object: None, origin: 0, is_base: false };
        walk.array(&found, part, part.asked(), 0)
    }
}
