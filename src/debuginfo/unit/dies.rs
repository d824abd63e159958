//! The DIEs of a unit one after the other, counted.

use std::ops::{Deref, DerefMut};

use gimli::{Abbreviation, EntriesRaw, UnitOffset};

use crate::debuginfo::unit::sections::{Entry, Slice};
use crate::work::{self, Count};

/// gimli's reader, whose DIEs count as work.
pub(crate) struct Dies<'a, 'u>(EntriesRaw<'u, Slice<'a>>);

impl<'a, 'u> Dies<'a, 'u> {
    /// Reads from a DIE on, otherwise from the root on.
    pub(crate) fn of(unit: &'u gimli::Unit<Slice<'a>>, from: Option<UnitOffset>) -> gimli::Result<Self> {
        unit.entries_raw(from).map(Self)
    }

    pub(crate) fn read_abbreviation(&mut self) -> gimli::Result<Option<&'u Abbreviation>> {
        work::count(Count::Dies, 1);
        self.0.read_abbreviation()
    }

    pub(crate) fn read_entry(&mut self, entry: &mut Entry<'a>) -> gimli::Result<bool> {
        work::count(Count::Dies, 1);
        self.0.read_entry(entry)
    }
}

impl<'a, 'u> Deref for Dies<'a, 'u> {
    type Target = EntriesRaw<'u, Slice<'a>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Dies<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
