//! Registers and memory of waves by one reader: the capture below, a client's changes above.

pub mod address;
pub(super) mod reader;
pub(super) mod regions;
pub(super) mod stored;
pub(super) mod touched;
