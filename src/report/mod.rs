//! The session's answers as text for people and JSON for programs.
//!
//! One renderer serves the commands, the client's `monitor` and the packets: all have the same results. Text for a
//! client is plain; the commands request styles.

pub mod absent;
pub(crate) mod changes;
pub(crate) mod disassembly;
pub(crate) mod dispatches;
pub mod evaluation;
pub(crate) mod explain;
pub mod export;
pub(crate) mod expression;
pub mod fault;
pub(crate) mod fold;
pub mod groups;
pub mod json;
pub mod lanes;
pub(crate) mod objects;
pub mod print;
pub mod registers;
pub mod schema;
pub mod spaces;
pub mod stack;
mod table;
pub mod text;
pub mod waves;

pub use table::{Style, Table};
