//! Names of source files in line tables and units, for files that moved from their paths.
//!
//! Both debuggers look for a relative name in the unit's compilation directory. A file in the capture therefore gets
//! a relative name, and its unit gets the folder of the capture's files as its directory.

use std::collections::{BTreeSet, HashMap};

use gimli::LineEncoding;
use gimli::write::{ConvertUnit, FileId, LineProgram, LineString};

use super::{Slice, UnitError};
use crate::capture::normal_path;
use crate::clean::clean;
use crate::view::sources::{SourcePlace, SourcePlaces};

/// A line table with names of its own, and without rows.
pub(super) struct Renamed {
    pub(super) program: LineProgram,
    /// The file of each index of the code object's table.
    pub(super) files: Vec<FileId>,
    /// The same files by their identifiers in the converted table.
    pub(super) ids: HashMap<FileId, FileId>,
    pub(super) unit: RenamedUnit,
}

/// New attributes of a unit.
#[derive(Debug, Default)]
pub(super) struct RenamedUnit {
    pub(super) name: Option<String>,
    pub(super) directory: Option<String>,
    /// Paths of files whose captured text differs from the compiled one.
    pub(super) differing: Vec<String>,
    /// Indexes of the map's prefixes that its files have.
    pub(super) mapped: BTreeSet<usize>,
}

/// A file: folder (`None`: the compilation directory) and name.
type Name = (Option<String>, String);

/// Names the files of a unit's table; `None` if all names stay.
///
/// # Errors
/// The table is unreadable, with the cause.
pub(super) fn rename(
    to: &mut ConvertUnit<'_, Slice<'_>>,
    places: &SourcePlaces,
    encoding: LineEncoding,
) -> Result<Option<Renamed>, UnitError> {
    let Some(header) = to.read_unit.line_program.as_ref().map(|program| program.header().clone()) else {
        return Ok(None);
    };
    let unit = to.read_unit;
    let text = |value| unit.attr_string(value).map(|text| text.to_string_lossy().into_owned());
    let directory = unit.comp_dir.map(|text| clean(text.to_string_lossy()).into_owned()).unwrap_or_default();
    let find = |(folder, name): &Name, md5: Option<&[u8; 16]>| {
        let path = normal_path(&joined(&directory, folder.as_deref(), name))?;
        let place = places.find(&path, md5)?;
        Some((path, place))
    };
    let prefix = |place: &Option<SourcePlace>| match place {
        Some(SourcePlace::At(prefix, _)) => Some(*prefix),
        _ => None,
    };
    let mut names: Vec<(Name, Option<SourcePlace>)> = Vec::new();
    let mut renamed = RenamedUnit::default();
    for file in header.file_names() {
        let folder = match file.directory_index() {
            0 => None,
            index => {
                let folder = header.directory(index).ok_or(UnitError::NoDirectory)?;
                Some(text(folder)?).filter(|folder| !folder.is_empty())
            }
        };
        let name: Name = (folder, text(file.path_name())?);
        let found = find(&name, header.file_has_md5().then(|| file.md5()));
        if let Some((path, SourcePlace::Differs)) = &found {
            renamed.differing.push(path.clone());
        }
        names.push((name, found.map(|(_, place)| place)));
    }
    renamed.mapped = names.iter().filter_map(|(_, place)| prefix(place)).collect();
    let own: Option<Name> = unit.name.map(|name| (None, clean(name.to_string_lossy()).into_owned()));
    let own_place = own.as_ref().and_then(|own| Some(find(own, None)?.1));
    // If a file and its unit have one name, both stay or both change.
    let own_place = own_place.filter(|_| renamed.differing.is_empty());
    let is_held = |place: &Option<SourcePlace>| matches!(place, Some(SourcePlace::Held(_)));
    let moves = names.iter().any(|(_, place)| is_held(place)) || is_held(&own_place);
    renamed.mapped.extend(prefix(&own_place));
    if !moves && renamed.mapped.is_empty() {
        return (!renamed.differing.is_empty()).then(|| unchanged(to, encoding, renamed)).transpose();
    }
    let new = |name: Name, place: Option<SourcePlace>| renamed_file(&directory, moves, name, place);
    renamed.name = own.filter(|_| own_place.is_some() || moves).map(|own| {
        let (folder, name) = new(own, own_place);
        folder.map_or(name.clone(), |folder| under(&folder, &name))
    });
    renamed.directory = places.folder().filter(|_| moves).map(str::to_owned);
    let new_names: Vec<Name> = names.into_iter().map(|(name, place)| new(name, place)).collect();
    let mut table = unchanged(to, encoding, renamed)?;
    let working = table.unit.directory.as_deref().unwrap_or(&directory);
    let string = |text: &str| LineString::String(text.as_bytes().to_vec());
    let (old, ids) = (table.program, table.files);
    let first = new_names.first().filter(|_| old.version() >= 5);
    let mut program = LineProgram::new(
        old.encoding(),
        encoding,
        string(working),
        first.and_then(|(folder, _)| folder.as_deref()).map(string),
        string(first.map_or("", |(_, name)| name)),
        None,
    );
    // Before version 5 file numbers start at 1.
    let mut files: Vec<FileId> =
        ids.iter().take(ids.len().saturating_sub(new_names.len())).copied().collect();
    for ((folder, name), id) in new_names.iter().zip(ids.iter().skip(files.len())) {
        let folder = folder.as_deref().map(|folder| program.add_directory(string(folder)));
        let folder = folder.unwrap_or_else(|| program.default_directory());
        let info = old.get_file_info(*id).clone();
        let new = program.add_file(string(name), folder, Some(info));
        files.push(new);
        table.ids.insert(*id, new);
    }
    Ok(Some(Renamed { program, files, ..table }))
}

/// The unchanged table.
fn unchanged(
    to: &mut ConvertUnit<'_, Slice<'_>>,
    encoding: LineEncoding,
    unit: RenamedUnit,
) -> Result<Renamed, UnitError> {
    let table = to.read_line_program(None, Some(encoding))?;
    let (program, files) = table.ok_or(UnitError::NoLines)?.program();
    let ids = files.iter().map(|id| (*id, *id)).collect();
    Ok(Renamed { program, files, ids, unit })
}

/// The name of a file. `moves`: the unit's directory changes.
fn renamed_file(directory: &str, moves: bool, (folder, name): Name, place: Option<SourcePlace>) -> Name {
    let recorded = joined("", folder.as_deref(), &name);
    match place {
        Some(SourcePlace::At(_, path)) => split(&path),
        // Users know the recorded name; it stays if it leads to the same file in the folder.
        Some(SourcePlace::Held(path)) if normal_path(&recorded).as_ref() == Some(&path) => (folder, name),
        Some(SourcePlace::Held(path)) => split(&path),
        // A name relative to the directory keeps its meaning.
        Some(SourcePlace::Differs) | None
            if moves && !recorded.starts_with('/') && directory.starts_with('/') =>
        {
            (Some(joined(directory, folder.as_deref(), "")), name)
        }
        Some(SourcePlace::Differs) | None => (folder, name),
    }
}

/// Folder and name of a path.
fn split(path: &str) -> Name {
    match path.rsplit_once('/') {
        Some(("", name)) => (Some("/".to_owned()), name.to_owned()),
        Some((folder, name)) => (Some(folder.to_owned()), name.to_owned()),
        None => (None, path.to_owned()),
    }
}

/// DWARF 5 section 6.2.4.1: a relative name is in its folder, and a relative folder in the compilation directory.
fn joined(directory: &str, folder: Option<&str>, name: &str) -> String {
    under(&under(directory, folder.unwrap_or_default()), name)
}

fn under(folder: &str, name: &str) -> String {
    match (folder, name) {
        (folder, "") => folder.to_owned(),
        ("", name) => name.to_owned(),
        (_, name) if name.starts_with('/') => name.to_owned(),
        (folder, name) => format!("{}/{name}", folder.trim_end_matches('/')),
    }
}
