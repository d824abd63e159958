//! Locations, values and errors of expressions as JSON: the results of `lanescope eval` (docs/evaluator.md).

use serde::Serialize;

use super::schema::Hex;
use crate::codeobject::hex;
use crate::dwarf::{CapturedLane, Entry, Frame, Number, Storage, print};
use crate::dwarf::{Error as DwarfError, Location as DwarfLocation};
use crate::units::{AddressSpace, LaneId};

/// The result of an expression.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum ExpressionResult {
    /// A location.
    Location(Location),
    /// A value.
    Value {
        /// Its size in bits.
        bits: u64,
        /// The value: `0x2a`.
        value: String,
    },
    /// A pointer without a value, to an object that is optimized out.
    ImplicitPointer(Pointer),
    /// The stack, top first.
    Stack {
        /// Its entries.
        entries: Vec<Self>,
    },
    /// The PC of each lane; null: not active on entry.
    Lanes {
        /// The PCs by lane.
        pcs: Vec<Option<Hex>>,
    },
    /// A failure.
    Error(Failure),
}

/// A location in one lane.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Location {
    /// Number of bits of a composite; null: the location has no size.
    bit_size: Option<u64>,
    /// Its parts, lowest bit first.
    parts: Vec<Part>,
}

/// A part of a location.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "storage", rename_all = "snake_case")]
pub enum Part {
    /// Memory.
    Memory {
        /// Number of the address space.
        space: u64,
        /// The lane of private memory.
        #[serde(skip_serializing_if = "Option::is_none")]
        lane: Option<u8>,
        /// Address in the space.
        address: Hex,
        /// Bits from there.
        bit_offset: u64,
        /// Number of bits; null: no size.
        bit_size: Option<u64>,
    },
    /// A register.
    Register {
        /// DWARF number.
        register: u64,
        /// `caller` for a register of the caller.
        #[serde(skip_serializing_if = "Option::is_none")]
        frame: Option<&'static str>,
        /// First bit.
        bit_offset: u64,
        /// Number of bits; null: no size.
        bit_size: Option<u64>,
    },
    /// A constant.
    Implicit {
        /// Its bytes, two digits each, lowest address first.
        bytes: String,
        /// First bit.
        bit_offset: u64,
        /// Number of bits; null: no size.
        bit_size: Option<u64>,
    },
    /// A pointer without a value, to an object that is optimized out.
    ImplicitPointer {
        /// The object.
        #[serde(flatten)]
        pointer: Pointer,
        /// First bit.
        bit_offset: u64,
        /// Number of bits; null: no size.
        bit_size: Option<u64>,
    },
    /// No location.
    Undefined {
        /// Number of bits; null: no size.
        bit_size: Option<u64>,
    },
}

/// The target of an implicit pointer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pointer {
    /// Offset of the object's DIE.
    die: u64,
    /// Bytes from the start of the object.
    byte_offset: i64,
    /// Number of the address space.
    space: u64,
}

/// A failed expression, by the numbers of registers and address spaces.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Failure {
    /// The class of the error.
    class: String,
    /// Offset of the operation in the expression.
    at: usize,
    /// The operation.
    op: String,
    /// The cause.
    message: String,
}

/// A location in one lane.
#[must_use]
pub(crate) fn location(location: &DwarfLocation, lane: LaneId) -> ExpressionResult {
    let bit_size = match location.storage {
        Storage::Composite(_) => {
            Some(location.canonical_from_offset(lane).iter().map(|part| part.size.0).sum())
        }
        _ => None,
    };
    ExpressionResult::Location(Location { bit_size, parts: parts(location, lane) })
}

/// The parts of a location in one lane.
#[must_use]
pub(crate) fn parts(location: &DwarfLocation, lane: LaneId) -> Vec<Part> {
    let Storage::Composite(_) = location.storage else {
        return vec![stored(location, lane, None)];
    };
    let parts = location.canonical_from_offset(lane);
    parts.iter().map(|part| stored(&part.location, lane, Some(part.size.0))).collect()
}

fn stored(location: &DwarfLocation, lane: LaneId, bit_size: Option<u64>) -> Part {
    let at = location.offset.get(lane);
    let bit_offset = at as u64;
    match &location.storage {
        Storage::Memory { space, lane: captured, .. } => {
            let of_lane = *space == AddressSpace(5) && *captured != CapturedLane::None;
            Part::Memory {
                space: space.0,
                lane: captured.seen_by(Some(lane)).filter(|_| of_lane).map(|lane| lane.0),
                address: Hex((at / 8) as u64),
                bit_offset: (at % 8) as u64,
                bit_size,
            }
        }
        Storage::Register { register, frame, .. } => {
            let frame = match frame {
                Frame::Current => None,
                Frame::Caller => Some("caller"),
            };
            Part::Register { register: register.0, frame, bit_offset, bit_size }
        }
        Storage::Implicit(implicit) => {
            Part::Implicit { bytes: hex(&implicit.bytes(lane)), bit_offset, bit_size }
        }
        Storage::ImplicitPointer(of) => Part::ImplicitPointer { pointer: pointer(of), bit_offset, bit_size },
        // Parts are never composites.
        Storage::Undefined(_) | Storage::Composite(_) => Part::Undefined { bit_size },
    }
}

fn pointer(of: &crate::dwarf::ImplicitPointer) -> Pointer {
    Pointer { die: of.die.0, byte_offset: of.byte_offset, space: of.space.0 }
}

/// A value in one lane.
#[must_use]
pub(crate) fn number(number: &Number, lane: LaneId) -> ExpressionResult {
    ExpressionResult::Value { bits: number.size().0, value: print::hexadecimal(number, lane) }
}

/// An entry of the stack in one lane.
#[must_use]
pub(crate) fn entry(entry: &Entry, lane: LaneId) -> ExpressionResult {
    match entry {
        Entry::Number(number) => self::number(number, lane),
        Entry::Location(location) => self::location(location, lane),
        Entry::Pointer(of) => ExpressionResult::ImplicitPointer(pointer(of)),
        Entry::Incomplete(composite) => {
            let parts = composite.parts().iter();
            let parts = parts.map(|part| stored(&part.location, lane, Some(part.size.0))).collect();
            ExpressionResult::Location(Location { bit_size: Some(composite.size().0), parts })
        }
    }
}

/// An error.
#[must_use]
pub(crate) fn error(error: &DwarfError) -> Failure {
    Failure {
        class: error.class().to_string(),
        at: error.at.0,
        op: error.op.to_owned(),
        message: error.cause.to_string(),
    }
}
