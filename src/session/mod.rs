//! A debugger's questions about a captured state: threads, lanes, registers, memory, variables, stop.
//!
//! [`Inspect`] is the seam to the server; [`Session`] answers over one shared [`Dump`] with one client's focus. Every
//! register and byte comes from the session's one [`Reader`], over which a client's what-if writes are a layer
//! (`changes`).

mod activations;
pub mod address;
mod answers;
mod arguments;
mod backtrace;
mod changes;
mod client;
mod disassembly;
mod dispatches;
mod dump;
mod entry;
mod error;
mod evaluate;
mod frame;
mod frame_code;
mod groups;
mod image_map;
mod inspect;
mod interrupt;
mod kernels;
mod lanes;
mod locals;
mod object;
mod object_map;
mod objects;
mod other_ranges;
mod pointers;
mod positions;
pub mod print;
mod reach;
mod reader;
mod regions;
mod source;
mod stack;
mod stored;
mod touched;
mod unwind;
mod variables;
mod waves;
pub mod work_item;

pub use activations::{Activation, Activations};
pub use answers::{
    CodeObjectInfo, LaneInfo, LanePosition, LaneState, LaneStates, MemoryAddress, Overlap, PcSource,
    ReadError, Region, WaveInfo,
};
pub use arguments::{DispatchArguments, KernelArgument, MAX_ARGUMENT};
pub(crate) use backtrace::backtrace as wave_stack;
pub use changes::{
    ChangeError, Changes, Dropped, MAX_CHANGED_PIECES, MAX_CHANGED_REGISTERS, MemoryChange, PIECE,
    RegisterChange, Reset, SHOWN_BYTES, write_location,
};
pub use client::{Session, SessionError, is_kind};
pub use disassembly::{
    Disassembly, DisassemblyError, FunctionBounds, Instructions, ListedInstruction, MAX_LISTED_BYTES,
    Symbolic,
};
pub use dispatches::{DispatchInfo, FenceScope, Fences, dispatches_of};
pub use dump::Dump;
pub use entry::BundleError;
pub use error::{AttributeCause, CodePlace, Foreign, ObjectCause, ObjectError, PositionError, SourceError};
pub use evaluate::{
    EvaluateError, Evaluation, Explained, Expression, Found, LaneFound, MAX_READ_BYTES, Question, Want,
};
pub use groups::{Group, GroupBy, Grouping, Groups, Member};
pub use inspect::Inspect;
#[cfg(test)]
pub(crate) use inspect::MockInspect;
pub use interrupt::Interrupt;
pub use kernels::KernelError;
pub use locals::{Byte, LaneValue, Locals, Scope, ValueState, Variable, WaveFrames};
pub use pointers::PointerAt;
pub use reach::{Bounds, Limit, MAX_OBJECT, Reach, reach};
pub use reader::Reader;
pub(crate) use regions::lane_runs;
pub use stack::{BadPc, LaneStack, Stack, StackEnd, StackFrame};
pub use touched::{PAGE, Touched};
pub(crate) use waves::{NO_REASON, UNCONFIRMED, info as wave_info, problem_notice, signal_of as wave_signal};

#[cfg(test)]
pub(crate) mod tests;
