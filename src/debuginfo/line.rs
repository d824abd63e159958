//! Lines: which source line an address comes from, and the names of source files.
//!
//! DWARF 5 section 6.2. A unit's program runs once, on the first question that needs it; its rows are kept at 24 bytes.

use std::sync::Arc;

use gimli::{ColumnType, LineProgramHeader};

use super::DebugInfo;
use super::error::{DebugInfoError, Result};
use super::sections::{AttributeValue, Dwarf, Slice};
use super::unit::UnitId;
use super::view::UnitView;
use crate::codeobject::ElfAddress;

/// A place in source text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file: compilation directory, include directory and name joined as the line table gives them. `None` when
    /// the table does not name it.
    pub file: Option<Arc<str>>,
    /// Line, from 1; 0 when the code comes from no line.
    pub line: u64,
    /// Column, from 1; 0 when not said.
    pub column: u64,
}

/// The row of the line table that holds an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// Where in the source.
    pub place: Place,
    /// The row's first address; it holds the addresses up to the next row's.
    pub address: ElfAddress,
    /// Whether the address is a recommended place for a breakpoint.
    pub is_stmt: bool,
    /// Whether the function's prologue ends here.
    pub prologue_end: bool,
}

/// The rows of a unit's line table, by address.
#[derive(Debug)]
pub(super) struct LineTable {
    rows: Vec<Row>,
    /// Why the table ends before it is at its end; whole sequences before that are kept.
    problem: Option<DebugInfoError>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    address: u64,
    file: u32,
    line: u32,
    column: u16,
    flags: u8,
}

const IS_STMT: u8 = 1;
const PROLOGUE_END: u8 = 2;
/// The row ends a sequence: its address is the first that is not held.
const END: u8 = 4;

impl LineTable {
    fn read(view: &UnitView<'_>) -> gimli::Result<Self> {
        let Some(offset) = view.root.line_offset else {
            return Ok(Self { rows: Vec::new(), problem: None });
        };
        let program = view.dwarf.debug_line.program(offset, view.unit.address_size(), None, None)?;
        let mut source = program.rows();
        let mut rows: Vec<Row> = Vec::new();
        // Sequences that the linker dropped begin at 0 or at the highest addresses; those at 0 are shadowed by real
        // ones through the sort below only if real code lies there too.
        let problem = loop {
            let row = match source.next_row() {
                Ok(Some((_, row))) => row,
                Ok(None) => break None,
                Err(why) => break Some(table_error(view, why)),
            };
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
            rows.push(Row { address: row.address(), file: number(row.file_index()), line, column, flags });
        };
        if problem.is_some() {
            // Where a sequence that was cut off ends, nobody knows.
            let whole = rows.iter().rposition(|row| row.flags & END != 0).map_or(0, |last| last + 1);
            rows.truncate(whole);
        }
        // An end goes before a row at the same address, so that the sequence beginning there wins; rows keep their
        // order otherwise, and the last of several at one address counts.
        rows.sort_by_key(|row| (row.address, row.flags & END == 0));
        Ok(Self { rows, problem })
    }

    fn at(&self, address: u64) -> Option<&Row> {
        let after = self.rows.partition_point(|row| row.address <= address);
        let row = self.rows.get(after.checked_sub(1)?)?;
        (row.flags & END == 0).then_some(row)
    }
}

impl DebugInfo {
    /// The source line of an address; `None` where no line table has it.
    ///
    /// # Errors
    /// Nothing was found, and a line table that may have it cannot be read to its end.
    pub fn line_at(&self, pc: ElfAddress) -> Result<Option<LineRow>> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let mut problem = None;
        for id in reading.units.at(&dwarf, pc.0) {
            let view = reading.view(id)?;
            let table = match table(&view) {
                Ok(table) => table,
                Err(why) => {
                    problem.get_or_insert(why);
                    continue;
                }
            };
            let Some(row) = table.at(pc.0) else {
                problem = problem.or_else(|| table.problem.clone());
                continue;
            };
            let file = file_name(&view, u64::from(row.file))?;
            return Ok(Some(LineRow {
                place: Place { file, line: u64::from(row.line), column: u64::from(row.column) },
                address: ElfAddress(row.address),
                is_stmt: row.flags & IS_STMT != 0,
                prologue_end: row.flags & PROLOGUE_END != 0,
            }));
        }
        problem.map_or(Ok(None), Err)
    }

    /// The source files of a unit, by the numbers that `DW_AT_decl_file` and the line table use.
    ///
    /// # Errors
    /// The header of the line table cannot be read.
    pub fn files(&self, unit: UnitId) -> Result<Vec<Option<Arc<str>>>> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(unit)?;
        files(&view).map(<[_]>::to_vec)
    }
}

fn table<'a>(view: &UnitView<'a>) -> Result<&'a LineTable> {
    let read = || LineTable::read(view).map_err(|why| table_error(view, why));
    view.slot.lines.get_or_init(read).as_ref().map_err(Clone::clone)
}

/// What of a unit's line table cannot be read.
pub(super) fn table_problem(view: &UnitView<'_>) -> Option<DebugInfoError> {
    match table(view) {
        Ok(table) => table.problem.clone(),
        Err(why) => Some(why),
    }
}

fn table_error(view: &UnitView<'_>, why: gimli::Error) -> DebugInfoError {
    DebugInfoError::Unit { unit: view.facts().offset, what: "line table", why }
}

/// The name of a file by its number in the unit.
pub(super) fn file_name(view: &UnitView<'_>, index: u64) -> Result<Option<Arc<str>>> {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    Ok(files(view)?.get(index).cloned().flatten())
}

fn files<'a>(view: &UnitView<'a>) -> Result<&'a [Option<Arc<str>>]> {
    let read = || read_files(view).map_err(|why| table_error(view, why));
    view.slot.files.get_or_init(read).as_deref().map_err(Clone::clone)
}

fn read_files(view: &UnitView<'_>) -> gimli::Result<Vec<Option<Arc<str>>>> {
    let Some(offset) = view.root.line_offset else { return Ok(Vec::new()) };
    let program = view.dwarf.debug_line.program(offset, view.unit.address_size(), None, None)?;
    let header = program.header();
    // Numbers start at 0 in DWARF 5 and at 1 before.
    let first_missing = header.version() < 5;
    let names = header.file_names().iter().map(|file| {
        let name = text(view.dwarf, view, file.path_name())?;
        Some(Arc::from(join(view, header, file.directory_index(), &name)))
    });
    Ok(first_missing.then_some(None).into_iter().chain(names).collect())
}

fn text(dwarf: &Dwarf<'_>, view: &UnitView<'_>, value: AttributeValue<'_>) -> Option<String> {
    dwarf.attr_string(&view.unit, value).ok().map(|text| text.to_string_lossy().into_owned())
}

/// Directory 0 is the compilation directory: said so in DWARF 5, implied before.
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
