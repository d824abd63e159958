//! Names in string tables.

use crate::clean::clean;

/// Maximum bytes of names read from a string table, as a multiple of the table. Linkers share suffixes; a hostile file
/// can share one long name among all symbols.
const MAX_SHARING: usize = 16;
/// Maximum bytes of a name beyond that limit.
const SHORT_NAME: usize = 64;

pub(super) struct Names<'a> {
    table: &'a [u8],
    /// Remaining bytes of the limit.
    left: usize,
}

impl<'a> Names<'a> {
    pub(super) fn of(table: &'a [u8]) -> Self {
        Self { table, left: table.len().saturating_mul(MAX_SHARING) }
    }

    /// Returns the cleaned NUL-terminated string at an offset; invalid UTF-8 is replaced, and an unterminated string
    /// ends with the table. Beyond the limit for all names a name is cut and ends with `...`.
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
