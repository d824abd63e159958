//! Unwinding through call frame information that models describe, that another tool reads, and that has deliberate
//! errors.

pub(in crate::session) mod hostile;
mod registers;
mod rows;
mod sources;
