//! The session's answers as text for people and JSON for programs.
//!
//! One renderer serves the commands, the client's `monitor` and the packets, so that they cannot disagree. Text for a
//! client is plain; the commands request styles.

pub mod changes;
pub mod disassembly;
pub mod dispatches;
pub mod evaluation;
pub mod explain;
pub mod export;
pub mod expression;
pub mod groups;
pub mod json;
pub mod objects;
pub mod print;
pub mod spaces;
pub mod stack;
mod table;
pub mod text;

pub use table::{Style, Table};
