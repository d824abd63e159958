//! A function's scopes: body, lexical blocks and inlined calls, with their variables.
//!
//! DWARF 5 sections 3.3.8 (inlining) and 3.5 (lexical blocks).

pub(super) mod cache;
pub(super) mod cpp_name;
pub(super) mod cpp_symbol;
pub(super) mod function;
pub(super) mod global;
pub(super) mod import;
pub(super) mod lookup;
pub(super) mod name_index;
pub(super) mod names;
pub(super) mod object_map;
pub(super) mod own_calls;
pub(super) mod query;
pub(super) mod read;
pub(super) mod simd;
pub(super) mod subprogram;
pub(super) mod target_region;
pub(super) mod tree;
pub(super) mod variable;
