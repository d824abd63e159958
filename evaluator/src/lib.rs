//! DWARF expressions and call frame information with the AMDGPU/LLVM extensions for heterogeneous debugging.
//!
//! [`Program::decode`] turns bytes into operations, in one of four [`Dialect`]s. [`Evaluator`] turns operations into
//! [`Location`]s and [`Number`]s. [`fetch()`] reads the bits of a location with their states, such as "not captured". A
//! [`Context`] supplies registers, memory and debugging information entries; [`Snapshot`] holds them in memory.
//!
//! ```
//! use dwarf_heterogeneous::units::{BitSize, DwarfReg, LaneId, WaveSize};
//! use dwarf_heterogeneous::{Dialect, Encoding, Evaluator, Focus, Program, Snapshot, fetch};
//!
//! // DW_OP_regx 2563 (v3); DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset
//! let bytes = [0x90, 0x83, 0x14, 0xe9, 0x03, 0x34, 0x1e, 0xe9, 0x04];
//! let program = Program::decode(&bytes, Encoding::new(Dialect::LlvmUser))?;
//! let wave = Snapshot::new(WaveSize::W64).with_vector(DwarfReg(2563), (0..64).map(|lane| 1000 + lane));
//! let groups = Evaluator::new(&wave).location(&program, Focus::Lanes(WaveSize::W64.all()), &[]);
//! let group = groups.into_iter().find(|group| group.lanes.contains(LaneId(17))).unwrap();
//! let value = fetch(&wave, &group.result?, Some(LaneId(17)), BitSize(32))?;
//! assert_eq!(value.number(), Some(1017));
//! # Ok::<(), dwarf_heterogeneous::Error>(())
//! ```
//!
//! # Lanes
//!
//! An expression is evaluated once for a set of lanes. A quantity that depends on the lane is kept for each lane
//! ([`Lanes`]), everything else once. Lanes separate only if they need different operations or fail differently. The
//! result equals that of evaluating each lane separately.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | [`cfi`] | call frame instructions to rows of rules, rules to locations |
//! | [`text`], [`mod@print`] | expressions as text and back, byte for byte; locations and values as text |
//! | [`mod@write`] | writes to every part of an object, or to none |
//! | [`explain`] | one line for each operation of an evaluation, and the reason of undefined bits |
//! | [`clang_xderef`] | locations of compilers that write no operation of the extensions |
//! | [`draft`] | numbers of operations that DWARF drafts describe without any |
//! | [`limits`] | bounds on the cost of hostile input |
//! | [`units`] | newtypes for lanes, registers, addresses and sizes |
//!
//! The crate reads no files and has no GPU data: the caller selects an entry, its unit and its location list.

// Input is hostile and must not cause a panic. Only tests may panic.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::panic_in_result_fn,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

mod arith;
mod attributes;
mod budget;
pub mod cfi;
pub mod clang_xderef;
mod composite;
mod constants;
mod context;
mod decode;
mod dialect;
pub mod draft;
mod error;
pub mod explain;
mod fetch;
mod half;
mod lanes;
pub mod limits;
mod location;
mod machine;
mod operation;
mod origin;
pub mod print;
mod saved;
mod snapshot;
#[cfg(test)]
mod tests;
pub mod text;
pub mod units;
mod value;
mod wide;
pub mod write;

pub use attributes::{active_lanes, lane_pcs, mask_lanes};
pub use budget::Budget;
pub use composite::{Composite, Part};
pub use context::{
    Answer, Attribute, CallFrame, Context, Die, DieLocation, DieRef, FrameRegister, FrameStart, LaneNeed,
    Machine, MemoryAt, ObjectMap, Realigned, RegisterBytes, SpaceInfo, Unit,
};
pub use dialect::AMD_AUGMENTATION;
pub use error::{Cause, Class, ContextError, Error};
pub use fetch::{Bits, Fetcher, Known, fetch, fetch_lanes};
pub use lanes::{LANES, Lanes};
pub use location::{CapturedLane, Frame, Implicit, ImplicitPointer, Location, Offset, Storage};
pub use machine::{Entry, Evaluator, Failure, Focus, Group, Step, Tracer};
pub use operation::{Binary, Dialect, Encoding, Operation, Padding, Placed, Program, Target, Unary};
pub use origin::{Origin, WhyUndefined};
pub use snapshot::Snapshot;
pub use value::{BaseType, Encoding as TypeEncoding, GENERIC_BITS, Number, Type, ValueClass};

/// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
