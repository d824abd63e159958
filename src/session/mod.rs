//! A debugger's questions about a captured state: threads, lanes, registers, memory, variables, stop.
//!
//! The server uses the [`Inspect`] traits. [`Session`] implements them over one shared [`Dump`] with one client's
//! focus. Every register and byte comes from the session's one [`Reader`]; a client's what-if writes (`changes`) are a
//! layer over it.

mod answers;
mod changes;
mod client;
mod disassembly;
mod dispatches;
mod dump;
mod error;
mod inferred;
mod inspect;
mod interrupt;
mod objects;
pub mod print;
mod reach;
mod reading;
mod stack;
mod values;
mod variables;
mod waves;

pub use answers::{
    CodeObjectInfo, LaneInfo, LanePosition, LaneState, LaneStates, LoadedRange, MemoryAddress, OverlapError,
    PcSource, ReadError, Region, WaveInfo,
};
pub use changes::{
    ChangeError, Changes, Dropped, MAX_CHANGED_PIECES, MAX_CHANGED_REGISTERS, MemoryChange, PIECE,
    RegisterChange, Reset, SHOWN_BYTES, write_location,
};
pub use client::{Session, SessionError, is_kind};
pub use disassembly::{
    Disassembly, DisassemblyError, FunctionBounds, Instructions, ListedInstruction, MAX_LISTED_BYTES,
    Symbolic,
};
pub use dispatches::arguments::{DispatchArguments, KernelArgument, MAX_ARGUMENT};
pub use dispatches::kernels::KernelError;
pub use dispatches::mangled::argument_types;
pub use dispatches::{DispatchInfo, FenceScope, Fences, dispatches_of};
pub use dump::{Dump, StopCounts};
pub use error::{AttributeCause, CodePlace, Foreign, ObjectCause, ObjectError, PositionError, SourceError};
pub use inferred::{Inferred, InferredBy, Provenance};
pub use inspect::{Code, DumpFacts, Inspect, Stacks, Storage, Variables, Waves, WhatIf};
pub use interrupt::Interrupt;
pub use objects::entry::BundleError;
pub use reach::{Bounds, Limit, MAX_OBJECT, Reach, reach};
pub use reading::address;
pub use reading::reader::Reader;
pub(crate) use reading::regions::lane_runs;
pub use reading::touched::{PAGE, Touched};
pub use stack::activations::{Activation, Activations};
pub use stack::around::FrameAround;
pub(crate) use stack::backtrace::backtrace as wave_stack;
pub use stack::{BadPc, LaneStack, Stack, StackEnd, StackFrame, TextId};
#[cfg(test)]
pub(crate) use tests::mock::MockInspect;
pub use values::{Byte, LaneValue, ObjectBytes, ObjectLocation, ValueState};
pub use variables::evaluate::{
    EvaluateError, Evaluation, Explained, Expression, Found, LaneFound, MAX_READ_BYTES, Question, Want,
};
pub use variables::locals::{Locals, Scope, Variable, WaveFrames};
pub use variables::pointers::PointerAt;
pub use waves::groups::{Group, GroupBy, Grouping, Groups, Member};
pub(crate) use waves::ids::{IdRanges, id_ranges, range_without};
pub use waves::work_groups::WorkGroupInfo;
pub use waves::work_item;
pub(crate) use waves::{NO_REASON, UNCONFIRMED, has_faulted, info as wave_info, problem_notice};

#[cfg(test)]
pub(crate) mod tests;
