//! Budget of a frame's values: number, bytes and text of all its variables together.

use std::cell::Cell;
use std::sync::Arc;

use super::lane_value::ValueState;
use crate::debuginfo::format::Value;
use crate::dwarf::limits::MAX_OBJECT_BYTES;
use crate::dwarf::{self, Budget, Cause};
use crate::session::variables::locals::Variable;
use crate::units::{ExprOffset, LaneSet};

/// Maximum number of values of a variable for all lanes together; the format also bounds those of one lane.
pub(in crate::session) const MAX_LANES_VALUES: usize = 1 << 19;

/// Maximum number of values of a frame's variables, one for each lane: about 300 MiB.
const MAX_FRAME_VALUES: u64 = 1 << 19;

/// Maximum bytes of all objects of a frame's variables, for all lanes together.
const MAX_OBJECTS_BYTES: u64 = 1 << 26;

/// Bytes of an object that do not count: a frame may have thousands of scalars.
const FREE_OBJECT_BYTES: u64 = 64;

/// Maximum bytes of text of all values of a frame's variables; lanes with the same value share it.
const MAX_TEXT: usize = 1 << 25;

/// Maximum bytes of that text in the output, counted for each lane.
const MAX_LANES_TEXT: usize = 1 << 26;

/// Bytes of a value's text that are always shown: a scalar of a frame whose text budget is used up.
const FREE_TEXT: usize = 64;

/// The error for an exceeded limit of a frame's variables.
fn too_much(what: &'static str, limit: u64) -> dwarf::Error {
    dwarf::Error { at: ExprOffset(0), op: "read", cause: Cause::Limit { what, limit } }
}

/// The remaining budget of a frame's variables together.
pub(in crate::session) struct ValueBudget {
    values: Cell<u64>,
    bytes: Cell<u64>,
    text: Cell<usize>,
    lanes_text: Cell<usize>,
}

impl Default for ValueBudget {
    fn default() -> Self {
        Self {
            values: Cell::new(MAX_FRAME_VALUES),
            bytes: Cell::new(MAX_OBJECTS_BYTES),
            text: Cell::new(MAX_TEXT),
            lanes_text: Cell::new(MAX_LANES_TEXT),
        }
    }
}

impl ValueBudget {
    /// Takes the values of a variable, also from the question's budget.
    ///
    /// # Errors
    /// The budget is used up.
    pub(in crate::session) fn take_values(&self, lanes: LaneSet, budget: &Budget) -> Result<(), Cause> {
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
    pub(in crate::session) fn take_names(&self, variable: Variable) -> Result<Variable, Cause> {
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
    pub(super) fn take_bytes(&self, size: u64) -> Result<(), dwarf::Error> {
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
    pub(super) fn text(&self, value: &Value) -> Result<Arc<str>, dwarf::Error> {
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
    pub(super) fn print(&self, state: ValueState) -> Result<ValueState, dwarf::Error> {
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
    pub(super) fn values(&self) -> usize {
        // Each value takes a digit and a separator at least.
        (self.text.get() / 2).max(1)
    }
}
