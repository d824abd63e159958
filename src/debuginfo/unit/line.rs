//! Lines: the source line of an address, and the names of source files.
//!
//! DWARF 5 section 6.2. A program runs once for all of its units, at the first question for it; a row takes 24 bytes.

use std::sync::{Arc, PoisonError};

use gimli::{
    DebugLineOffset, IncompleteLineProgram, LineProgramHeader, Reader as _, ReaderOffset as _, Section as _,
};

use crate::clean::clean;
use crate::codeobject::ElfAddress;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::cache::Allowance;
use crate::debuginfo::error::{DebugInfoError, ParseError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::unit::line_table::{
    END, IS_STMT, Known, LineRow, LineTable, Lines, PROLOGUE_END, Row, SourceLocation, SourceName,
};
use crate::debuginfo::unit::sections::{AttributeValue, Dwarf, Slice};
use crate::debuginfo::unit::view::UnitView;
use crate::work::{self, Count};

/// Rows that a table takes from the allowance at a time.
const ROWS_AT_ONCE: usize = 1 << 12;
/// Maximum bytes of a header: an entry of its lists may take one byte of it and 120 bytes of memory.
const MAX_HEADER: u64 = 1 << 21;
const TOO_LARGE: &str = "its header has more than 2097152 bytes";
/// The cost of a name in addition to its bytes.
const NAME: usize = 64;

impl Lines {
    fn table(&self, view: &UnitView<'_>, offset: DebugLineOffset) -> Arc<Result<LineTable>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = known.by_offset.get(&offset.0) {
            return Arc::clone(table);
        }
        let table = Arc::new(known.read(view, offset, &self.memory.rows));
        known.by_offset.insert(offset.0, Arc::clone(&table));
        table
    }
}

impl Known {
    fn read(&mut self, view: &UnitView<'_>, offset: DebugLineOffset, left: &Allowance) -> Result<LineTable> {
        let program = program(view, offset)?;
        let bytes = program.header().raw_program_buf().len();
        self.unread = (self.unread.checked_sub(bytes))
            .ok_or_else(|| bound(view, "the tables of the file overlap by more than their size"))?;
        let mut source = program.rows();
        let mut rows: Vec<Row> = Vec::new();
        let mut taken = 0;
        // Sequences of code that the linker dropped begin at 0 or at the highest addresses. The sort below shadows
        // those at 0 only if real code has the same addresses.
        let problem = loop {
            let row = match source.next_row() {
                Ok(Some((_, row))) => Row::of(row),
                Ok(None) => break None,
                Err(why) => break Some(table_error(view, why)),
            };
            if rows.len() >= taken {
                taken += left.take_some(ROWS_AT_ONCE);
            }
            if rows.len() >= taken {
                // The last row then has no addresses.
                if let Some(last) = rows.last_mut() {
                    last.flags |= END;
                }
                break Some(bound(
                    view,
                    "more than 16777216 rows in all code objects; the rows after them are left out",
                ));
            }
            rows.push(row);
        };
        if problem.is_some() {
            // The end of a truncated sequence is unknown.
            let whole = rows.iter().rposition(|row| row.flags & END != 0).map_or(0, |last| last + 1);
            rows.truncate(whole);
        }
        work::count(Count::Rows, rows.len() as u64);
        left.give_back(taken.saturating_sub(rows.len()));
        rows.shrink_to_fit();
        // An end precedes a row at the same address, so that the new sequence wins. Other rows keep their order: the
        // last of several at one address counts.
        let key = |row: &Row| (row.address, row.flags & END == 0);
        if !rows.is_sorted_by_key(key) {
            rows.sort_by_key(key);
        }
        Ok(LineTable { rows, problem })
    }
}

impl DebugInfo {
    /// The source line of an address; `None` if no line table has it.
    ///
    /// # Errors
    /// No line was found, and a line table that may have it is partly unreadable.
    pub fn line_at(&self, pc: ElfAddress) -> Result<Option<LineRow>> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let mut problem = None;
        for id in reading.units.at(&dwarf, pc.0) {
            let view = reading.view(id)?;
            let Some(table) = table(&view) else { continue };
            let table = match &*table {
                Ok(table) => table,
                Err(why) => {
                    problem.get_or_insert(why.clone());
                    continue;
                }
            };
            let Some(row) = table.at(pc.0) else {
                problem = problem.or_else(|| table.problem.clone());
                continue;
            };
            let file = file_name(&view, u64::from(row.file))?;
            return Ok(Some(LineRow {
                place: SourceLocation { file, line: u64::from(row.line), column: u64::from(row.column) },
                address: ElfAddress(row.address),
                is_stmt: row.flags & IS_STMT != 0,
                prologue_end: row.flags & PROLOGUE_END != 0,
            }));
        }
        problem.map_or(Ok(None), Err)
    }

    /// The unit whose line table has an address.
    pub(crate) fn unit_of_line(&self, pc: ElfAddress) -> Option<UnitId> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let has_line = |id: &UnitId| {
            let table = reading.view(*id).ok().and_then(|view| table(&view));
            table.is_some_and(|table| table.as_ref().as_ref().is_ok_and(|table| table.at(pc.0).is_some()))
        };
        reading.units.at(&dwarf, pc.0).find(has_line)
    }

    /// The source files of a unit, by the numbers that `DW_AT_decl_file` and the line table use.
    ///
    /// # Errors
    /// The header of the line table is unreadable.
    pub fn files(&self, unit: UnitId) -> Result<Vec<Option<Arc<str>>>> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(unit)?;
        Ok(files(&view)?.iter().map(|file| file.as_ref().map(|file| Arc::clone(&file.path))).collect())
    }

    /// The source files of a unit, with their checksums.
    ///
    /// # Errors
    /// The header of the line table is unreadable.
    pub fn source_names(&self, unit: UnitId) -> Result<Vec<SourceName>> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(unit)?;
        Ok(files(&view)?.iter().flatten().cloned().collect())
    }
}

/// The line table of a unit, if it has one.
fn table(view: &UnitView<'_>) -> Option<Arc<Result<LineTable>>> {
    view.root.line_offset.map(|offset| view.slot.lines().table(view, offset))
}

/// The unreadable part of a unit's line table.
pub(in crate::debuginfo) fn table_problem(view: &UnitView<'_>) -> Option<DebugInfoError> {
    match &*table(view)? {
        Ok(table) => table.problem.clone(),
        Err(why) => Some(why.clone()),
    }
}

fn table_error(view: &UnitView<'_>, why: gimli::Error) -> DebugInfoError {
    DebugInfoError::Unit { unit: view.facts().offset, what: "line table", why: ParseError::new(why) }
}

fn bound(view: &UnitView<'_>, why: &'static str) -> DebugInfoError {
    DebugInfoError::Bound { unit: view.facts().offset, what: "line table", why }
}

/// Rejects a unit whose line table header exceeds its bound.
pub(in crate::debuginfo) fn check_header(view: &UnitView<'_>) -> Result<()> {
    let Some(offset) = view.root.line_offset else { return Ok(()) };
    match header_length(view.dwarf, offset) {
        Ok(length) if length > MAX_HEADER => Err(bound(view, TOO_LARGE)),
        // The parser stops at an unreadable entry.
        _ => Ok(()),
    }
}

/// A line program with its header; an error if the header exceeds the bound for the parser.
fn program<'a>(view: &UnitView<'a>, offset: DebugLineOffset) -> Result<IncompleteLineProgram<Slice<'a>>> {
    let fail = |why| table_error(view, why);
    check_header(view)?;
    view.dwarf.debug_line.program(offset, view.unit.address_size(), None, None).map_err(fail)
}

/// `header_length`, DWARF 5 section 6.2.4.
fn header_length(dwarf: &Dwarf<'_>, offset: DebugLineOffset) -> gimli::Result<u64> {
    let mut rest = *dwarf.debug_line.reader();
    rest.skip(offset.0)?;
    let (_, format) = rest.read_initial_length()?;
    // Version 5 has the sizes of addresses and of segment selectors first.
    if rest.read_u16()? >= 5 {
        rest.skip(2)?;
    }
    Ok(rest.read_length(format)?.into_u64())
}

/// The name of a file by its number in the unit.
pub(in crate::debuginfo) fn file_name(view: &UnitView<'_>, index: u64) -> Result<Option<Arc<str>>> {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    Ok(files(view)?.get(index).and_then(|file| Some(Arc::clone(&file.as_ref()?.path))))
}

fn files<'a>(view: &UnitView<'a>) -> Result<&'a [Option<SourceName>]> {
    view.slot.files.get_or_init(|| read_files(view)).as_deref().map_err(Clone::clone)
}

fn read_files(view: &UnitView<'_>) -> Result<Vec<Option<SourceName>>> {
    let Some(offset) = view.root.line_offset else { return Ok(Vec::new()) };
    let left = &view.slot.lines().memory.names;
    let full = || bound(view, "the names of source files take more than 256 MiB of memory");
    // Many units may refer to one header: without memory for its names, it is not parsed.
    if !left.take(NAME) {
        return Err(full());
    }
    let program = program(view, offset)?;
    let header = program.header();
    // Numbers start at 0 in DWARF 5 and at 1 before.
    let first_missing = header.version() < 5;
    let names = header.file_names().iter().map(|file| {
        let name = text(view.dwarf, view, file.path_name());
        let name = name.map(|name| join(view, header, file.directory_index(), &name));
        let bytes = name.as_ref().map_or(0, String::len);
        let md5 = header.file_has_md5().then(|| *file.md5());
        let named = || name.map(|name| SourceName { path: Arc::from(name), md5 });
        left.take(NAME.saturating_add(bytes)).then(named).ok_or_else(full)
    });
    first_missing.then_some(Ok(None)).into_iter().chain(names).collect()
}

fn text(dwarf: &Dwarf<'_>, view: &UnitView<'_>, value: AttributeValue<'_>) -> Option<String> {
    dwarf.attr_string(&view.unit, value).ok().map(|text| clean(text.to_string_lossy()).into_owned())
}

/// Directory 0 is the compilation directory: explicit in DWARF 5, implicit before.
fn join(view: &UnitView<'_>, header: &LineProgramHeader<Slice<'_>>, directory: u64, name: &str) -> String {
    let is_absolute = |path: &str| path.starts_with('/');
    if is_absolute(name) {
        return name.to_owned();
    }
    let comp_dir = || view.facts().comp_dir.as_deref().unwrap_or("").to_owned();
    let directory = match directory {
        0 if header.version() < 5 => comp_dir(),
        index => header.directory(index).and_then(|value| text(view.dwarf, view, value)).unwrap_or_default(),
    };
    let directory = if is_absolute(&directory) { directory } else { under(&comp_dir(), &directory) };
    under(&directory, name)
}

fn under(directory: &str, name: &str) -> String {
    match (directory, name) {
        ("", name) => name.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, name) => format!("{}/{name}", directory.trim_end_matches('/')),
    }
}
