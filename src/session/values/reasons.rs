//! Reasons for values that are missing as a whole.

use super::lane_value::ValueState;
use crate::dwarf::explain::Undefined;
use crate::dwarf::print::Names;
use crate::dwarf::{self, Cause, Class, Location, Origin, Storage, WhyUndefined};
use crate::units::LaneId;

/// The reason that a location, or a part of it, is undefined for a lane.
pub(in crate::session) fn undefined(at: &Location, lane: LaneId, names: &dyn Names) -> String {
    if let Storage::Undefined(Some(origin @ Origin { why: WhyUndefined::Lost { .. }, .. })) = &at.storage {
        return origin.named(names);
    }
    if let Storage::Undefined(Some(Origin { why: WhyUndefined::Explicit, op, at, within })) = &at.storage {
        let within = within.map_or_else(String::new, |within| format!(" in {within}"));
        return format!(
            "the compiler keeps its value nowhere at this PC: its location{within} has {op} at byte {at}"
        );
    }
    let why = match &dwarf::explain::undefined(at, lane)[..] {
        [Undefined { bits: None, origin: Some(origin) }] => origin.to_string(),
        parts => parts.iter().map(|part| part.named(names)).collect::<Vec<_>>().join("; "),
    };
    format!("its location is undefined at this PC: {why}")
}

/// An error as text, with AMD's names instead of numbers.
pub(in crate::session) fn words(error: &dwarf::Error, names: &dyn Names) -> String {
    error.named(names)
}

/// Converts an evaluation error to a missing value.
pub(in crate::session) fn failed(error: &dwarf::Error, names: &dyn Names) -> ValueState {
    if let Some(origin) = error.cause.lost() {
        let words = format!("it depends on a lost register: {}", origin.named(names));
        return ValueState::OptimizedOut(words.into());
    }
    let words = words(error, names);
    match (error.class(), error.cause.root()) {
        // A description of fewer bits than the object has: the compiler's choice, and no error of the question.
        (_, Cause::NarrowRegister { .. } | Cause::BeyondStorage { .. }) => {
            ValueState::Unavailable(words.into())
        }
        (Class::Unavailable, _) => ValueState::Unavailable(words.into()),
        (Class::Decode | Class::IllFormed | Class::Limit, _) => ValueState::Error(words.into()),
    }
}
