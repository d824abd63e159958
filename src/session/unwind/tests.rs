//! Walks over call frame information that models describe, that another tool reads, and that is wrong on purpose.

pub(in crate::session) mod hostile;
mod registers;
mod rows;
mod sources;
