//! Errors in DWARF, always with the unit, the DIE and the attribute.

use thiserror::Error;

use crate::codeobject::CodeObjectError;
use crate::debuginfo::attribute::AttributeName;
use crate::units::DieOffset;

/// The DWARF parser's reason that bytes cannot be read. The error that contains it has their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ParseError(gimli::Error);

impl ParseError {
    pub(crate) fn new(reason: gimli::Error) -> Self {
        Self(reason)
    }
}

/// Why a question about the debug information has no answer.
///
/// Offsets are into `.debug_info`, as `llvm-dwarfdump` prints them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DebugInfoError {
    /// The code object was compiled without `-g`, or stripped.
    #[error("the code object has no .debug_info section: it was built without -g, or stripped")]
    NoDebugInfo,
    /// The code object has none of its own, and what was found for it is not its: files with the reasons.
    #[error("the code object has no .debug_info section, and no separate file has it: {0}")]
    NotSeparate(String),
    /// Parts of the debug information are in a file that several share (`.gnu_debugaltlink`), which is not read.
    #[error("names and types are missing: they are in the supplementary file {0}")]
    Supplementary(std::sync::Arc<str>),
    /// A debug section cannot be read.
    #[error("debug section: {0}")]
    Section(#[from] CodeObjectError),
    /// Malformed bytes: the parser's error and the part that was read.
    #[error("{what} of the unit at {unit}: {why}")]
    Unit {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The part that was read: `header`, `abbreviations`, `line table` ...
        what: &'static str,
        /// The parser's error.
        why: ParseError,
    },
    /// More of something than is read of one file (docs/security.md, "Bounds").
    #[error("{what} of the unit at {unit}: {why}")]
    Bound {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The part that was read: `abbreviations`, `line table` ...
        what: &'static str,
        /// The bound, and what is left out.
        why: &'static str,
    },
    /// A DIE that lies deeper in others than any reader follows.
    #[error("DIE {die} in the unit at {unit} lies deeper than {limit} levels; all DIEs as deep are left out")]
    TooNested {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The first such DIE.
        die: DieOffset,
        /// The bound.
        limit: usize,
    },
    /// A unit for machines with other addresses than AMDGPU's 64 flat bits; nothing of it can be read.
    #[error("{what} of the unit at {unit} is {found} at {at} of {section}, expected {expected}")]
    AddressModel {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// `address size` or `segment selector size`.
        what: &'static str,
        /// The value found.
        found: u8,
        /// The section it stands in.
        section: &'static str,
        /// Its offset in that section.
        at: DieOffset,
        /// The value that AMDGPU has: 8 and 0.
        expected: u8,
    },
    /// The unit is a skeleton: its DIEs are in a file of their own (DWARF 5 section 7.3.2), which was not given.
    #[error(
        "the unit at {unit} is split: its debug information is in {file}, which is not part of the code object"
    )]
    Split {
        /// Offset of the skeleton's header.
        unit: DieOffset,
        /// `DW_AT_dwo_name`.
        file: std::sync::Arc<str>,
    },
    /// A DIE or an attribute of it that cannot be read.
    #[error("{attribute} of DIE {die} in the unit at {unit}: {why}")]
    Die {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The DIE.
        die: DieOffset,
        /// The attribute; `DIE` where the DIE itself cannot be read.
        attribute: AttributeName,
        /// The parser's error.
        why: ParseError,
    },
    /// An attribute of a class that it cannot have.
    #[error("{attribute} of DIE {die} in the unit at {unit} is {found}, expected {expected}")]
    Attribute {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// The DIE.
        die: DieOffset,
        /// The attribute.
        attribute: AttributeName,
        /// The classes that are meaningful.
        expected: &'static str,
        /// The form or value that stands there.
        found: String,
    },
    /// A DIE of a tag that cannot stand in this place.
    #[error("DIE {die} is {found}, expected {expected}")]
    Tag {
        /// The DIE.
        die: DieOffset,
        /// The allowed values.
        expected: &'static str,
        /// The tag's name.
        found: String,
    },
    /// An offset outside every unit.
    #[error("there is no unit at {0} of .debug_info")]
    NoSuchDie(DieOffset),
    /// A location list that cannot be read.
    #[error("the location list at {list} of the unit at {unit}: {why}")]
    List {
        /// Offset of the unit's header.
        unit: DieOffset,
        /// Its offset in `.debug_loclists` or `.debug_loc`.
        list: DieOffset,
        /// The parser's error.
        why: ParseError,
    },
    /// Something that an attribute refers to cannot be read.
    #[error("{attribute} of DIE {die}: {error}")]
    Referred {
        /// The attribute.
        attribute: AttributeName,
        /// The DIE.
        die: DieOffset,
        /// The error in the DIE that it refers to.
        error: Box<DebugInfoError>,
    },
    /// A type whose objects no address space can hold.
    #[error("the size of the type at DIE {die} overflows: it has more bytes than 64 bits can count")]
    TooLarge {
        /// The type.
        die: DieOffset,
    },
    /// A type that is a part of itself.
    #[error("the type at DIE {die} contains itself")]
    ContainsItself {
        /// The type.
        die: DieOffset,
    },
    /// A chain of references that is a cycle, or longer than any compiler writes.
    #[error("{what} from DIE {die} do not end after {limit} steps")]
    TooDeep {
        /// Where the chain starts.
        die: DieOffset,
        /// The kind of chain: `types`, `abstract origins` ...
        what: &'static str,
        /// The bound.
        limit: usize,
    },
}

/// The result of a question about the debug information.
pub type Result<T, E = DebugInfoError> = std::result::Result<T, E>;
