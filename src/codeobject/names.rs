//! Names in string tables.

use crate::clean::clean;

/// Bytes of names that are read out of a string table, as a multiple of the table. Linkers let names share their ends; a
/// hostile file lets all of them share one that is long.
const MAX_SHARING: usize = 16;
/// Bytes of a name past that bound.
const SHORT_NAME: usize = 64;

/// The names in a string table.
pub(super) struct Names<'a> {
    table: &'a [u8],
    /// Bytes that may still be read.
    left: usize,
}

impl<'a> Names<'a> {
    pub(super) fn of(table: &'a [u8]) -> Self {
        Self { table, left: table.len().saturating_mul(MAX_SHARING) }
    }

    /// The NUL-terminated string at an offset, cleaned; not UTF-8 or not terminated reads as what there is. A name past the bound of all
    /// names together is cut, with `...` at its end.
    pub(super) fn at(&mut self, offset: u32) -> String {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.table.get(offset..)).unwrap_or(&[]);
        let most = self.left.max(SHORT_NAME);
        let within = rest.get(..most).unwrap_or(rest);
        let end = memchr::memchr(0, within);
        let name = within.get(..end.unwrap_or(within.len())).unwrap_or(&[]);
        self.left = self.left.saturating_sub(name.len());
        let mut text = clean(String::from_utf8_lossy(name)).into_owned();
        if end.is_none() && within.len() < rest.len() {
            text.push_str("...");
        }
        text
    }
}
