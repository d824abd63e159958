//! Captured state: agents, queues, dispatches, work-groups, waves, memory and code objects, immutable.
//!
//! `import` parses files and builds a [`Capture`] with the problems it met. Bulk bytes stay in their files: an
//! [`Extent`] locates them, and a [`Backing`] reads them by range. No cost here is proportional to the size of captured
//! memory. Missing data is absent: a read is short, a dword unknown, never zero.

mod advice;
mod backing;
mod fault;
mod listing;
mod memory;
mod missing;
mod model;
mod problem;
mod source;

pub use crate::mapping::Changes;
pub use advice::{CAPTURES, captures};
pub(crate) use backing::copy;
pub use backing::{Backing, BackingId, Bytes, Extent, MemoryBacking, RangeRead, distinct};
pub(crate) use fault::agree;
pub use fault::{
    AgentInference, DRIVER, FailedAssertion, Fault, FaultAccess, FaultAddress, FaultKind, FaultReason,
    FaultReport, FaultSource, Foreign, MAX_FAULTS, PAGE,
};
pub use listing::{CodeText, MAX_CODE_TEXTS, MAX_TEXT_INSTRUCTIONS, TextInstruction};
pub use memory::{MemoryMap, Segment, joined};
pub use model::{
    Agent, Capture, CodeObject, Dispatch, Hardware, LeftOut, LoadedSegment, Provenance, Queue, RegisterBlock,
    Registers, Ring, Wave, WorkGroup,
};
pub use problem::{FileLocation, Problem, Severity};
pub use source::{MAX_SOURCE, MAX_SOURCE_FILES, SourceFile, SourceMap, SourceMapError, normal_path};
