//! Values of typed objects, lane by lane: bytes, text and the reasons for missing parts.
//!
//! A frame's variables and the results of paths are such objects. The text is that of [`crate::debuginfo::format`].
//! Anything that does not depend on the lane is computed once for all lanes.

mod budget;
mod lane_object;
mod lane_value;
mod lanes;
mod reasons;

pub(super) use budget::{MAX_LANES_VALUES, ValueBudget};
pub(super) use lane_object::LaneObject;
pub use lane_value::{Byte, LaneValue, ObjectBytes, ObjectLocation, ValueState};
pub(super) use lane_value::{bytes, nowhere};
pub(super) use lanes::{TypedObject, Values};
pub(super) use reasons::{failed, undefined, words};
