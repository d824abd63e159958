//! Line tables: rows by address, and the names of source files.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use gimli::ColumnType;

use crate::codeobject::ElfAddress;
use crate::debuginfo::cache::TableMemory;
use crate::debuginfo::error::{DebugInfoError, Result};

/// A place in source text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    /// The file: compilation directory, include directory and name, joined. `None` if the table lacks it.
    pub file: Option<Arc<str>>,
    /// Line, from 1; 0 for code without a line.
    pub line: u64,
    /// Column, from 1; 0 if absent.
    pub column: u64,
}

/// A source file of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceName {
    /// Compilation directory, include directory and name, joined like [`SourceLocation::file`].
    pub path: Arc<str>,
    /// MD5 of its text (`DW_LNCT_MD5`), if the compiler recorded it.
    pub md5: Option<[u8; 16]>,
}

/// The row of the line table that holds an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// The place in the source.
    pub place: SourceLocation,
    /// The row's first address; the row ends at the next row's.
    pub address: ElfAddress,
    /// Whether the address is a recommended place for a breakpoint.
    pub is_stmt: bool,
    /// Whether the function's prologue ends here.
    pub prologue_end: bool,
}

/// The line tables of a file, by their offsets.
pub(in crate::debuginfo) struct Lines {
    pub(in crate::debuginfo) known: Mutex<Known>,
    pub(in crate::debuginfo) memory: Arc<TableMemory>,
}

pub(in crate::debuginfo) struct Known {
    pub(in crate::debuginfo) by_offset: HashMap<usize, Arc<Result<LineTable>>>,
    /// Remaining bytes of programs to run; only crafted programs overlap.
    pub(in crate::debuginfo) unread: usize,
}

impl Lines {
    /// No tables yet; `section`: the section's size in bytes.
    pub(in crate::debuginfo) fn new(section: usize, memory: Arc<TableMemory>) -> Self {
        let unread = section.saturating_mul(2);
        Self { known: Mutex::new(Known { by_offset: HashMap::new(), unread }), memory }
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

/// The rows of a line table, by address.
#[derive(Debug)]
pub(in crate::debuginfo) struct LineTable {
    pub(in crate::debuginfo) rows: Vec<Row>,
    /// The reason if the table is incomplete; earlier rows are valid.
    pub(in crate::debuginfo) problem: Option<DebugInfoError>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::debuginfo) struct Row {
    pub(in crate::debuginfo) address: u64,
    pub(in crate::debuginfo) file: u32,
    pub(in crate::debuginfo) line: u32,
    pub(in crate::debuginfo) column: u16,
    pub(in crate::debuginfo) flags: u8,
}

pub(in crate::debuginfo) const IS_STMT: u8 = 1;
pub(in crate::debuginfo) const PROLOGUE_END: u8 = 2;
/// The end of a sequence: its address is the first one after the sequence.
pub(in crate::debuginfo) const END: u8 = 4;

impl Row {
    pub(in crate::debuginfo) fn of(row: &gimli::LineRow) -> Self {
        let mut flags = 0;
        for (flag, set) in
            [(IS_STMT, row.is_stmt()), (PROLOGUE_END, row.prologue_end()), (END, row.end_sequence())]
        {
            flags |= if set { flag } else { 0 };
        }
        let column = match row.column() {
            ColumnType::LeftEdge => 0,
            ColumnType::Column(column) => u16::try_from(column.get()).unwrap_or(u16::MAX),
        };
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let line = number(row.line().map_or(0, |line| line.get()));
        Self { address: row.address(), file: number(row.file_index()), line, column, flags }
    }
}

impl LineTable {
    pub(in crate::debuginfo) fn at(&self, address: u64) -> Option<&Row> {
        let after = self.rows.partition_point(|row| row.address <= address);
        let row = self.rows.get(after.checked_sub(1)?)?;
        (row.flags & END == 0).then_some(row)
    }
}
