//! Line tables, row by row. gimli's own conversion fails or errs on tables with decreasing addresses or with
//! addresses between instructions.

use gimli::LineEncoding;
use gimli::write::{
    Address, ConvertError, ConvertLineProgram, ConvertLineRow, ConvertResult, ConvertUnit, FileId,
    LineProgram, LineRow, LineString,
};

use super::sources::{self, Renamed, RenamedUnit};
use super::{Slice, UnitError};
use crate::clean::is_unclean;
use crate::view::sources::SourcePlaces;

/// A line table of a view.
pub(super) struct Lines {
    pub(super) program: LineProgram,
    /// The file of each index of the code object's table.
    pub(super) files: Vec<FileId>,
    /// Omitted rows: their addresses decrease, or are not multiples of the instruction length.
    pub(super) left_out: usize,
    /// Whether it ends early, at the limit of rows.
    pub(super) is_cut: bool,
    /// New attributes of the unit, if its source files have other locations.
    pub(super) unit: RenamedUnit,
}

/// The destination of rows: the table that gimli converts, or one with other file names.
struct Target<'a, 'r> {
    from: ConvertLineProgram<'a, Slice<'r>>,
    renamed: Option<Renamed>,
}

impl Target<'_, '_> {
    fn set_address(&mut self, address: Address) {
        match &mut self.renamed {
            Some(renamed) => renamed.program.set_address(address),
            None => self.from.set_address(address),
        }
    }

    fn row(&mut self, mut row: LineRow) -> ConvertResult<()> {
        match &mut self.renamed {
            Some(renamed) => {
                row.file = *renamed.ids.get(&row.file).ok_or(ConvertError::InvalidFileIndex)?;
                *renamed.program.row() = row;
                renamed.program.generate_row();
            }
            None => self.from.generate_row(row),
        }
        Ok(())
    }

    fn end_sequence(&mut self, length: u64) {
        match &mut self.renamed {
            Some(renamed) => renamed.program.end_sequence(length),
            None => self.from.end_sequence(length),
        }
    }

    fn finished(self, left_out: usize) -> Lines {
        let (mut program, files, unit) = match self.renamed {
            Some(Renamed { program, files, unit, .. }) => (program, files, unit),
            None => {
                let (program, files) = self.from.program();
                (program, files, RenamedUnit::default())
            }
        };
        // LLDB compares the sum even with a missing file, and warns.
        program.file_has_md5 = false;
        // Source text cannot be cleaned like a name, and no stock debugger reads it.
        program.file_has_source = false;
        Lines { program, files, left_out, is_cut: false, unit }
    }
}

/// A sequence under conversion.
struct Sequence {
    /// Its first address.
    start: u64,
    /// The last row's address.
    last: u64,
}

/// Converts a unit's table, or its files only; `None` if it has none. `rows`: the remaining capacity of rows in the
/// view.
///
/// # Errors
/// The table is unreadable, with the cause.
pub(super) fn convert(
    to: &mut ConvertUnit<'_, Slice<'_>>,
    capacity: Option<&mut usize>,
    places: &SourcePlaces,
) -> Result<Option<Lines>, UnitError> {
    let Some(header) = to.read_unit.line_program.as_ref().map(|program| program.header().clone()) else {
        return Ok(None);
    };
    let unit = to.read_unit;
    let is_unclean =
        |name| unit.attr_string(name).is_ok_and(|name| name.to_string_lossy().contains(is_unclean));
    let folders = header.include_directories().iter().cloned();
    if header.file_names().iter().map(|file| file.path_name()).chain(folders).any(is_unclean) {
        return Err(UnitError::UncleanName);
    }
    // Single bytes as the unit can express any address, and gimli then never divides by the numbers of a damaged
    // header.
    let encoding = LineEncoding { default_is_stmt: header.default_is_stmt(), ..LineEncoding::default() };
    let renamed = if places.is_empty() { None } else { sources::rename(to, places, encoding)? };
    let Some(from) = to.read_line_program(None, Some(encoding))? else { return Ok(None) };
    let target = Target { from, renamed };
    let step = u64::from(header.minimum_instruction_length()).max(1);
    let lines = match capacity {
        Some(capacity) => rows(target, step, capacity)?,
        None => target.finished(0),
    };
    // Version 4 ends its list of files with an empty name.
    let is_empty = |name: &LineString| matches!(name, LineString::String(name) if name.is_empty());
    if lines.program.files().any(|(_, name, _)| is_empty(name)) {
        return Err(UnitError::NoName);
    }
    Ok(Some(lines))
}

fn rows(mut to: Target<'_, '_>, step: u64, capacity: &mut usize) -> ConvertResult<Lines> {
    let (mut base, mut left_out) = (0u64, 0);
    let mut sequence: Option<Sequence> = None;
    while let Some(row) = to.from.read_row()? {
        match row {
            ConvertLineRow::SetAddress(address) => base = address,
            ConvertLineRow::Row(mut row) => {
                let address = base.wrapping_add(row.address_offset);
                let goes_on = sequence.as_ref().is_none_or(|sequence| sequence.last <= address);
                if !address.is_multiple_of(step) || address < base || !goes_on {
                    left_out += 1;
                    continue;
                }
                let Some(left) = capacity.checked_sub(1) else {
                    if let Some(sequence) = sequence {
                        to.end_sequence(sequence.last - sequence.start);
                    }
                    return Ok(Lines { is_cut: true, ..to.finished(left_out) });
                };
                *capacity = left;
                let start = sequence.as_ref().map_or(address, |sequence| sequence.start);
                if sequence.is_none() {
                    to.set_address(Address::Constant(start));
                }
                sequence = Some(Sequence { start, last: address });
                (row.address_offset, row.op_index) = (address - start, 0);
                to.row(row)?;
            }
            ConvertLineRow::EndSequence(length) => {
                if let Some(sequence) = sequence.take() {
                    let end = base.saturating_add(length).max(sequence.last);
                    to.end_sequence(end - sequence.start);
                }
                base = 0;
            }
        }
    }
    if sequence.is_some() {
        return Err(ConvertError::MissingLineEndSequence);
    }
    Ok(to.finished(left_out))
}
