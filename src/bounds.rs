//! Bounds on untrusted input that several modules share. docs/security.md, "Bounds", lists all bounds.

/// Maximum nesting depth in all readers of nested input: DIEs, scopes, inlined calls, YAML, MessagePack.
///
/// Compilers nest some dozens of levels. This depth fits the 2 MiB stacks of the server's client threads.
pub(crate) const MAX_DEPTH: usize = 512;

/// Maximum depth of a path from a client. A level takes a dozen parser frames: up to 16 KiB of unoptimised stack.
pub(crate) const MAX_PATH_DEPTH: usize = MAX_DEPTH / 8;

/// Maximum references from type to type in one query: typedefs, qualifiers, elements, parameters.
pub(crate) const MAX_TYPE_CHAIN: usize = MAX_DEPTH / 8;
