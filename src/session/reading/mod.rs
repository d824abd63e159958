//! Reader of waves' registers and memory: a client's changes over the capture.

pub mod address;
pub(super) mod reader;
pub(super) mod regions;
pub(super) mod stored;
pub(super) mod touched;
