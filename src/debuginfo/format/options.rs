//! Options of the printer of values.

use std::fmt;

use super::letter::Letter;
use super::text::{CharKind, Quotes, string};

/// Elements of an array that gdb prints (`set print elements`).
pub const GDB_ELEMENTS: usize = 200;
/// Maximum equal neighbours that gdb prints one by one (`set print repeats`).
pub const GDB_REPEATS: usize = 10;

/// The name of an address space; `None` for plain addresses.
pub type SpaceName<'a> = &'a dyn Fn(crate::units::AddressSpace) -> Option<String>;

/// The symbol that contains a run-time address, `foo(int)` or `foo(int)+4`; `None` if there is none.
pub type SymbolName<'a> = &'a dyn Fn(u64) -> Option<String>;

/// Options of the printer of values.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Elements of an array or characters of a string before `...`.
    pub max_elements: usize,
    /// Maximum equal neighbours to print one by one; more become `0 <repeats 20 times>`. `None`: no limit.
    pub repeats: Option<usize>,
    /// Nested aggregates before `{...}`.
    pub max_depth: usize,
    /// Values in the whole tree before `...`, a bound on the output for arrays of arrays.
    pub max_values: usize,
    /// Names of address spaces before a pointer, `local#0x10`.
    pub space_name: SpaceName<'a>,
    /// Symbols behind function pointers and tables of virtual functions, `0x1040 <foo(int)>`.
    pub symbol_name: SymbolName<'a>,
    /// The format of numbers; `None`: that of their types.
    pub letter: Option<Letter>,
}

impl Options<'_> {
    /// Whether an array of characters is a string, rather than a list of numbers.
    pub(in crate::debuginfo) fn writes_strings(&self) -> bool {
        matches!(self.letter, None | Some(Letter::String))
    }

    /// An array of C's narrow characters as a string; `None`: it is a list of numbers.
    pub(crate) fn narrow_string(&self, bytes: &[u8]) -> Option<String> {
        let (max, repeats) = (self.max_elements, self.repeats);
        self.writes_strings().then(|| string(bytes, CharKind::NARROW, Quotes::Double, max, repeats))
    }

    /// gdb's defaults: 200 elements, repeats from 11 on, 20 levels.
    #[must_use]
    pub fn gdb() -> Self {
        Self { repeats: Some(GDB_REPEATS), ..Self::machine() }
    }

    /// Options for machines: gdb's, without elision of repeats.
    #[must_use]
    pub fn machine() -> Self {
        Self {
            max_elements: GDB_ELEMENTS,
            repeats: None,
            max_depth: crate::bounds::MAX_VALUE_DEPTH,
            max_values: 1 << 16,
            space_name: &|_| None,
            symbol_name: &|_| None,
            letter: None,
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("max_elements", &self.max_elements)
            .field("repeats", &self.repeats)
            .field("max_depth", &self.max_depth)
            .field("max_values", &self.max_values)
            .finish_non_exhaustive()
    }
}
