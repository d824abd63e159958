//! Locations, values and errors of expressions as JSON: the results of `lanescope eval` (docs/evaluator.md).

use serde_json::{Value, json};

use crate::codeobject::hex;
use crate::dwarf::{CapturedLane, Entry, Error, Frame, Location, Number, Storage, print};
use crate::units::{AddressSpace, LaneId};

/// A location in one lane.
#[must_use]
pub(crate) fn location(location: &Location, lane: LaneId) -> Value {
    let Storage::Composite(_) = location.storage else {
        return json!({"kind": "location", "bit_size": null, "parts": [stored(location, lane, None)]});
    };
    let parts = location.canonical_from_offset(lane);
    let size: u64 = parts.iter().map(|part| part.size.0).sum();
    let parts: Vec<Value> =
        parts.iter().map(|part| stored(&part.location, lane, Some(part.size.0))).collect();
    json!({"kind": "location", "bit_size": size, "parts": parts})
}

fn stored(location: &Location, lane: LaneId, bit_size: Option<u64>) -> Value {
    let at = location.offset.get(lane);
    match &location.storage {
        Storage::Memory { space, lane: captured, .. } => {
            let (address, bit_offset) = (format!("{:#x}", at / 8), (at % 8) as u64);
            let of_lane = *space == AddressSpace(5) && *captured != CapturedLane::None;
            match captured.seen_by(Some(lane)).filter(|_| of_lane) {
                Some(LaneId(lane)) => json!({
                    "storage": "memory", "space": space.0, "lane": lane, "address": address,
                    "bit_offset": bit_offset, "bit_size": bit_size,
                }),
                None => json!({
                    "storage": "memory", "space": space.0, "address": address,
                    "bit_offset": bit_offset, "bit_size": bit_size,
                }),
            }
        }
        Storage::Register { register, frame: Frame::Current, .. } => json!({
            "storage": "register", "register": register.0, "bit_offset": at as u64, "bit_size": bit_size,
        }),
        Storage::Register { register, frame: Frame::Caller, .. } => json!({
            "storage": "register", "register": register.0, "frame": "caller", "bit_offset": at as u64,
            "bit_size": bit_size,
        }),
        Storage::Implicit(implicit) => json!({
            "storage": "implicit", "bytes": hex(&implicit.bytes(lane)),
            "bit_offset": at as u64, "bit_size": bit_size,
        }),
        Storage::ImplicitPointer(pointer) => json!({
            "storage": "implicit_pointer", "die": pointer.die.0, "byte_offset": pointer.byte_offset,
            "space": pointer.space.0, "bit_offset": at as u64, "bit_size": bit_size,
        }),
        // Parts are never composites.
        Storage::Undefined(_) | Storage::Composite(_) => {
            json!({"storage": "undefined", "bit_size": bit_size})
        }
    }
}

/// A value in one lane.
#[must_use]
pub(crate) fn number(number: &Number, lane: LaneId) -> Value {
    json!({"kind": "value", "bits": number.size().0, "value": print::hexadecimal(number, lane)})
}

/// An entry of the stack in one lane.
#[must_use]
pub(crate) fn entry(entry: &Entry, lane: LaneId) -> Value {
    match entry {
        Entry::Number(number) => self::number(number, lane),
        Entry::Location(location) => self::location(location, lane),
        Entry::Pointer(pointer) => json!({
            "kind": "implicit_pointer", "die": pointer.die.0, "byte_offset": pointer.byte_offset,
            "space": pointer.space.0,
        }),
        Entry::Incomplete(composite) => {
            let parts: Vec<Value> = composite
                .parts()
                .iter()
                .map(|part| stored(&part.location, lane, Some(part.size.0)))
                .collect();
            json!({"kind": "location", "bit_size": composite.size().0, "parts": parts})
        }
    }
}

/// An error, by the numbers of registers and address spaces.
#[must_use]
pub(crate) fn error(error: &Error) -> Value {
    json!({
        "kind": "error", "class": error.class().to_string(), "at": error.at.0, "op": error.op,
        "message": error.cause.to_string(),
    })
}
