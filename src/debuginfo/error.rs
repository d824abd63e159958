//! Errors in DWARF, always with the unit, the DIE and the attribute.

use thiserror::Error;

use crate::codeobject::CodeObjectError;
use crate::debuginfo::attribute::AttributeName;
use crate::units::DieOffset;

/// The DWARF parser's error. The error that contains it names the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParseError(gimli::Error);

impl ParseError {
    pub(crate) fn new(reason: gimli::Error) -> Self {
        Self(reason)
    }
}

/// The reason that a question about the debug information has no answer.
///
/// Offsets are into `.debug_info`, as `llvm-dwarfdump` prints them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DebugInfoError {
    /// The code object was compiled without `-g`, or stripped.
    #[error("the code object has no .debug_info section: it was built without -g, or stripped")]
    NoDebugInfo,
    /// The code object has no debug information, and files found for it are not its own: files with the reasons.
    #[error("the code object has no .debug_info section, and no separate file has it: {0}")]
    NotSeparate(String),
    /// Parts of the debug information are in an unread file that several files share (`.gnu_debugaltlink`).
    #[error("names and types are missing: they are in the supplementary file {0}")]
    Supplementary(std::sync::Arc<str>),
    /// A debug section is unreadable.
    #[error("debug section: {0}")]
    Section(#[from] CodeObjectError),
    /// Malformed bytes: the parser's error and the malformed part.
    #[error("{what} of the unit at {unit}: {why}")]
    Unit {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The malformed part: `header`, `abbreviations`, `line table` ...
        what: &'static str,
        /// The parser's error.
        why: ParseError,
    },
    /// A file exceeds a bound (docs/security.md, "Bounds").
    #[error("{what} of the unit at {unit}: {why}")]
    Bound {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The part: `abbreviations`, `line table` ...
        what: &'static str,
        /// The bound, and the omitted part.
        why: &'static str,
    },
    /// A DIE is nested deeper than the reader's limit.
    #[error("DIE {die} in the unit at {unit} lies deeper than {limit} levels; all DIEs as deep are left out")]
    TooNested {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The first such DIE.
        die: DieOffset,
        /// The bound.
        limit: usize,
    },
    /// A unit has other addresses than AMDGPU's 64 flat bits; all of it is unreadable.
    #[error("{what} of the unit at {unit} is {found} at {at} of {section}, expected {expected}")]
    AddressModel {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// `address size` or `segment selector size`.
        what: &'static str,
        /// The value found.
        found: u8,
        /// The section of the value.
        section: &'static str,
        /// Its offset in that section.
        at: DieOffset,
        /// AMDGPU's value: 8 or 0.
        expected: u8,
    },
    /// The unit is a skeleton: its DIEs are in a separate file (DWARF 5 section 7.3.2), which is missing.
    #[error(
        "the unit at {unit} is split: its debug information is in {file}, which is not part of the code object"
    )]
    Split {
        /// Offset of the skeleton's header.
        unit: DieOffset,
        /// `DW_AT_dwo_name`.
        file: std::sync::Arc<str>,
    },
    /// A DIE or one of its attributes is unreadable.
    #[error("{attribute} of DIE {die} in the unit at {unit}: {why}")]
    Die {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The DIE.
        die: DieOffset,
        /// The attribute; `DIE` if the DIE itself is unreadable.
        attribute: AttributeName,
        /// The parser's error.
        why: ParseError,
    },
    /// An attribute has an impossible class.
    #[error("{attribute} of DIE {die} in the unit at {unit} is {found}, expected {expected}")]
    Attribute {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The DIE.
        die: DieOffset,
        /// The attribute.
        attribute: AttributeName,
        /// The possible classes.
        expected: &'static str,
        /// The form or value found.
        found: String,
    },
    /// A DIE has an impossible tag for its place.
    #[error("DIE {die} is {found}, expected {expected}")]
    Tag {
        /// The DIE.
        die: DieOffset,
        /// The allowed values.
        expected: &'static str,
        /// The tag's name.
        found: String,
    },
    /// An offset is outside of every unit.
    #[error("there is no unit at {0} of .debug_info")]
    NoSuchDie(DieOffset),
    /// A location list is unreadable.
    #[error("the location list at {list} of the unit at {unit}: {why}")]
    List {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// Its offset in `.debug_loclists` or `.debug_loc`.
        list: DieOffset,
        /// The parser's error.
        why: ParseError,
    },
    /// The target of an attribute is unreadable.
    #[error("{attribute} of DIE {die}: {error}")]
    Referred {
        /// The attribute.
        attribute: AttributeName,
        /// The DIE.
        die: DieOffset,
        /// The error in the target.
        error: Box<DebugInfoError>,
    },
    /// A type is larger than any address space.
    #[error("the size of the type at DIE {die} overflows: it has more bytes than 64 bits can count")]
    TooLarge {
        /// The type.
        die: DieOffset,
    },
    /// A type contains itself.
    #[error("the type at DIE {die} contains itself")]
    ContainsItself {
        /// The type.
        die: DieOffset,
    },
    /// A chain of references is a cycle, or longer than any compiler's.
    #[error("{what} from DIE {die} do not end after {limit} steps")]
    TooDeep {
        /// The start of the chain.
        die: DieOffset,
        /// The kind of chain: `types`, `abstract origins` ...
        what: &'static str,
        /// The bound.
        limit: usize,
    },
}

/// The result of a question about the debug information.
pub type Result<T, E = DebugInfoError> = std::result::Result<T, E>;
