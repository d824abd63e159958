//! Declarations of abbreviations one by one (DWARF 5 section 7.5.3), for questions that need not have the table in memory.

use gimli::{DebugAbbrevOffset, DwForm, Reader as _, Section as _};

use super::sections::{Dwarf, Slice};

/// A declaration of a unit's table.
pub(super) struct Declaration<'a> {
    /// The number by which DIEs name it.
    pub(super) code: u64,
    /// Its bytes, from the code to the pair of zeros.
    pub(super) bytes: Slice<'a>,
    /// Whether one of the forms asked for is among those of its attributes.
    pub(super) has_form: bool,
}

/// The declarations of a table, in the file's order.
pub(super) struct Declarations<'a, 'f> {
    rest: Slice<'a>,
    forms: &'f [DwForm],
}

impl<'a, 'f> Declarations<'a, 'f> {
    /// From a table's first declaration on; `forms` are those to look for.
    pub(super) fn of(
        dwarf: &Dwarf<'a>,
        table: DebugAbbrevOffset,
        forms: &'f [DwForm],
    ) -> gimli::Result<Self> {
        let mut rest = *dwarf.debug_abbrev.reader();
        rest.skip(table.0)?;
        Ok(Self { rest, forms })
    }

    /// The next one; `None` at the end of the table.
    pub(super) fn next(&mut self) -> gimli::Result<Option<Declaration<'a>>> {
        let start = self.rest;
        let code = self.rest.read_uleb128()?;
        if code == 0 {
            return Ok(None);
        }
        self.rest.read_uleb128()?;
        self.rest.read_u8()?;
        let mut has_form = false;
        loop {
            let (name, form) = (self.rest.read_uleb128()?, self.rest.read_uleb128()?);
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                self.rest.read_sleb128()?;
            }
            if (name, form) == (0, 0) {
                break;
            }
            has_form |= self.forms.iter().any(|known| u64::from(known.0) == form);
        }
        let mut bytes = start;
        bytes.truncate(start.len() - self.rest.len())?;
        Ok(Some(Declaration { code, bytes, has_form }))
    }
}
