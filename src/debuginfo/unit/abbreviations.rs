//! Tables of abbreviations (DWARF 5 section 7.5.3): each is parsed once, and all are bounded together.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{Abbreviations, DebugAbbrev, DebugAbbrevOffset, Reader as _, Section as _};

use crate::debuginfo::cache::{Allowance, TableMemory};
use crate::debuginfo::unit::sections::{Dwarf, Slice};

/// Maximum attributes of a declaration. Producers write some dozens at most, and each DIE of it costs as many steps.
const MAX_ATTRIBUTES: usize = 64;
/// Bytes of memory of a declaration with up to five attributes, and of each further attribute.
const DECLARATION: usize = 112;
const ATTRIBUTE: usize = 16;
const ATTRIBUTES_WITHIN: usize = 5;
/// Declarations to search for that of a root DIE before the whole table is parsed; producers write it first.
const FIRST: usize = 16;

/// The reason that a table was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::debuginfo) enum Unread {
    /// It is malformed.
    Malformed(gimli::Error),
    /// It exceeds a bound.
    Bound(&'static str),
}

impl From<gimli::Error> for Unread {
    fn from(why: gimli::Error) -> Self {
        Self::Malformed(why)
    }
}

type Result<T> = std::result::Result<T, Unread>;

/// A declaration of a table.
struct Declaration<'a> {
    /// Its code in DIEs.
    code: u64,
    /// Its bytes, from the code to the pair of zeros.
    bytes: Slice<'a>,
    attributes: usize,
    /// Whether an attribute refers to a DIE by section offset (`DW_FORM_ref_addr`).
    refers_to_others: bool,
    /// Whether its DIEs are variables or parameters.
    is_variable: bool,
}

/// The declarations of a table, in the file's order.
struct Declarations<'a> {
    rest: Slice<'a>,
}

impl<'a> Declarations<'a> {
    fn of(dwarf: &Dwarf<'a>, table: DebugAbbrevOffset) -> Result<Self> {
        let mut rest = *dwarf.debug_abbrev.reader();
        rest.skip(table.0)?;
        Ok(Self { rest })
    }

    /// The next one; `None` at the end of the table.
    fn next(&mut self) -> Result<Option<Declaration<'a>>> {
        let start = self.rest;
        let code = self.rest.read_uleb128()?;
        if code == 0 {
            return Ok(None);
        }
        let tag = self.rest.read_uleb128()?;
        let is_variable = [gimli::DW_TAG_variable, gimli::DW_TAG_formal_parameter, gimli::DW_TAG_constant]
            .iter()
            .any(|known| u64::from(known.0) == tag);
        self.rest.read_u8()?;
        let (mut attributes, mut refers_to_others) = (0, false);
        loop {
            let (name, form) = (self.rest.read_uleb128()?, self.rest.read_uleb128()?);
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                self.rest.read_sleb128()?;
            }
            if (name, form) == (0, 0) {
                break;
            }
            attributes += 1;
            if attributes > MAX_ATTRIBUTES {
                return Err(Unread::Bound("a declaration has more than 64 attributes"));
            }
            refers_to_others |= form == u64::from(gimli::DW_FORM_ref_addr.0);
        }
        let mut bytes = start;
        bytes.truncate(start.len() - self.rest.len())?;
        Ok(Some(Declaration { code, bytes, attributes, refers_to_others, is_variable }))
    }
}

/// A parsed table.
#[derive(Clone, Debug)]
pub(in crate::debuginfo) struct Table {
    pub(in crate::debuginfo) abbreviations: Arc<Abbreviations>,
    /// Whether attributes of its DIEs may refer to DIEs of other units by section offset.
    pub(in crate::debuginfo) refers_to_others: bool,
    /// Whether its DIEs may be variables.
    pub(in crate::debuginfo) has_variables: bool,
}

/// The tables of a file.
pub(in crate::debuginfo) struct Tables {
    known: Mutex<Known>,
    memory: Arc<TableMemory>,
}

struct Known {
    by_offset: HashMap<usize, Result<Table>>,
    /// Remaining bytes of tables to read; only crafted tables overlap.
    unread: usize,
}

impl Tables {
    /// No tables yet; `section`: the section's size in bytes.
    pub(in crate::debuginfo) fn new(section: usize, memory: Arc<TableMemory>) -> Self {
        let unread = section.saturating_mul(2);
        Self { known: Mutex::new(Known { by_offset: HashMap::new(), unread }), memory }
    }

    /// The table at an offset.
    pub(in crate::debuginfo) fn get(&self, dwarf: &Dwarf<'_>, offset: DebugAbbrevOffset) -> Result<Table> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = known.by_offset.get(&offset.0) {
            return table.clone();
        }
        let table = known.read(dwarf, offset, &self.memory.abbreviations);
        known.by_offset.insert(offset.0, table.clone());
        table
    }

    /// The one declaration with a code. Most questions read the root DIEs of many units, and the whole tables of few.
    pub(in crate::debuginfo) fn one(
        &self,
        dwarf: &Dwarf<'_>,
        offset: DebugAbbrevOffset,
        code: u64,
    ) -> Result<Arc<Abbreviations>> {
        let mut declarations = Declarations::of(dwarf, offset)?;
        for _ in 0..FIRST {
            let Some(declaration) = declarations.next()? else {
                return Err(gimli::Error::InvalidAbbreviationCode(code).into());
            };
            if declaration.code == code {
                let one = DebugAbbrev::from(declaration.bytes).abbreviations(DebugAbbrevOffset(0))?;
                return Ok(Arc::new(one));
            }
        }
        Ok(self.get(dwarf, offset)?.abbreviations)
    }
}

impl Known {
    fn read(&mut self, dwarf: &Dwarf<'_>, offset: DebugAbbrevOffset, left: &Allowance) -> Result<Table> {
        let mut declarations = Declarations::of(dwarf, offset)?;
        let (mut refers_to_others, mut has_variables) = (false, false);
        while let Some(declaration) = declarations.next()? {
            refers_to_others |= declaration.refers_to_others;
            has_variables |= declaration.is_variable;
            let further = declaration.attributes.saturating_sub(ATTRIBUTES_WITHIN);
            let memory = DECLARATION + further * ATTRIBUTE;
            self.unread = (self.unread.checked_sub(declaration.bytes.len()))
                .ok_or(Unread::Bound("the tables of the file overlap by more than their size"))?;
            if !left.take(memory) {
                return Err(Unread::Bound("the tables of all code objects take more than 256 MiB of memory"));
            }
        }
        let abbreviations = Arc::new(dwarf.debug_abbrev.abbreviations(offset)?);
        Ok(Table { abbreviations, refers_to_others, has_variables })
    }
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").finish_non_exhaustive()
    }
}
