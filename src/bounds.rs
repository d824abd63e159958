//! Bounds on untrusted input: all depths, and bounds that several modules share. docs/security.md, "Bounds", lists all
//! bounds. The unit test below compares its table of depths with these constants.

/// Maximum nesting depth in readers that recurse over a file or keep its open levels: DIEs, scopes, inlined calls, YAML,
/// MessagePack.
///
/// Compilers nest some dozens of levels. This depth fits [`CLIENT_STACK`].
pub(crate) const MAX_DEPTH: usize = 512;

/// Bytes of a client thread's stack. The environment (`RUST_MIN_STACK`) does not change it.
pub(crate) const CLIENT_STACK: usize = 2 << 20;

/// Maximum depth of a path from a client. A level takes a dozen parser frames: up to 16 KiB of unoptimised stack.
pub(crate) const MAX_PATH_DEPTH: usize = MAX_DEPTH / 8;

/// Maximum references from type to type in one query: typedefs, qualifiers, elements, parameters.
pub(crate) const MAX_TYPE_CHAIN: usize = MAX_DEPTH / 8;

/// Maximum depth of reads of types within reads: sizes of bit fields' types, template arguments.
pub(crate) const MAX_TYPE_READS: usize = 32;

/// Maximum depth of nested template arguments; deeper ones are omitted.
pub(crate) const MAX_TEMPLATE_DEPTH: usize = 12;

/// Maximum nesting of variants in variants; no source nests deeper.
pub(crate) const MAX_VARIANT_DEPTH: usize = 16;

/// Maximum length of a chain from an instance to its last origin: compilers write an instance, its origin and its
/// declaration.
pub(crate) const MAX_ORIGINS: usize = 8;

/// Maximum depth of imports through imports.
pub(crate) const MAX_IMPORTS: usize = 8;

/// Maximum nesting of a C++ symbol's parts: the demangler takes some 2 KiB of stack for each.
pub(crate) const MAX_SYMBOL_DEPTH: u32 = 96;

/// Maximum depth of variables whose length depends on another variable: no source nests deeper.
pub(crate) const MAX_OBJECT_DEPTH: usize = 8;

/// Maximum depth of a printed value: gdb's default (`set print max-depth`).
pub(crate) const MAX_VALUE_DEPTH: usize = 20;

/// Maximum depth of the search for pointers, through records in records in arrays: no source nests deeper.
pub(crate) const MAX_POINTER_DEPTH: usize = 32;

/// Maximum depth of the search for a member or a base class, in unnamed members and base classes.
pub(crate) const MAX_MEMBER_DEPTH: usize = 32;

/// Maximum length of a chain of references in memory.
pub(crate) const MAX_REFERENCES: usize = 8;

/// Maximum number of functions around a nested one.
pub(crate) const MAX_ENCLOSING: usize = 16;

/// Maximum number of physical frames of one stack. Kernels nest far less. A rule of the outermost frame that needs each
/// inner one still fits a thread's stack.
pub(crate) const MAX_FRAMES: usize = 128;

/// Maximum depth of the user's folders (`--symbols`).
pub(crate) const MAX_FOLDER_DEPTH: usize = 32;

/// Maximum number of parts of a name in a capture; each is an open folder during the lookup.
pub(crate) const MAX_NAME_PARTS: usize = 256;

#[cfg(test)]
#[path = "bounds_tests.rs"]
mod tests;
