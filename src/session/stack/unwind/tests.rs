//! Unwinding through call frame information: described by models, read by another tool, and with deliberate errors.

mod code;
mod ends;
pub(in crate::session) mod hostile;
mod registers;
mod rows;
mod sources;
