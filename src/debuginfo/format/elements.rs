//! Objects in a row that no array type describes: gdb's `x @ n`, and the inner dimensions of an array.

use std::cell::Cell;

use super::build::Walk;
use super::number::Part;
use super::{Contents, Options, Value};
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::Result;
use crate::debuginfo::types::{Dimension, TypeId};

impl DebugInfo {
    /// The value of an array of those dimensions, outermost first, whose elements are of a type.
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
        let walk = Walk { info: self, options, left: Cell::new(options.max_values) };
        let dimensions: Vec<Dimension> =
            counts.iter().map(|count| Dimension { count: Some(*count) }).collect();
        walk.array(Some(element), &dimensions, false, Part { contents, bit: 0 }, 0)
    }
}
