//! Bounds on untrusted input that several modules share. docs/security.md, "Bounds", lists all bounds.

/// Levels of nesting that every reader of nested input follows: DIEs, scopes, inlined calls, YAML, MessagePack.
///
/// Compilers nest some dozens of levels. The client threads of the server have stacks of 2 MiB, which this depth fits.
pub(crate) const MAX_DEPTH: usize = 512;

/// Parts within parts of a path that a client types. A level takes a dozen frames of the parser: up to 16 KiB of stack without
/// optimisation.
pub(crate) const MAX_PATH_DEPTH: usize = MAX_DEPTH / 8;

/// References that one question follows from a type to the next: typedefs, qualifiers, elements, parameters.
pub(crate) const MAX_TYPE_CHAIN: usize = MAX_DEPTH / 8;
