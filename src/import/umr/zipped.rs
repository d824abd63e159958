//! Hang folders of RADV in a zip, whose entries are unpacked during reading.

use std::io::{BufReader, Read, Seek};

use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};

use super::family::Families;
use super::radv::{Beside, MOST, WAVES, others_than_waves};
use super::text::{self, MAX_CODE};
use super::{MAX_JSON, build};
use crate::arch::Targets;
use crate::import::problem::{ImportError, Problems, problem};
use crate::import::text::Kept;
use crate::import::{FileLocation, Opened, Options, Problem};

/// Maximum number of entries in the search for a hang folder; RADV writes about twenty files, and one for each shader.
pub(super) const MAX_ENTRIES: usize = 65_536;

/// Maximum bytes of unpacked umr text: the same as for its JSON.
pub(super) const MAX_UNPACKED: u64 = MAX_JSON;

/// Opens a hang folder in a zip; `None`: the zip has none.
///
/// # Errors
/// umr's text cannot be unpacked, or there are several folders.
pub(in crate::import) fn open(
    name: &str,
    source: impl Read + Seek,
    targets: &Targets,
    options: &Options,
) -> Result<Option<Opened>, ImportError> {
    open_within(name, source, targets, options, MAX_UNPACKED)
}

pub(super) fn open_within(
    name: &str,
    source: impl Read + Seek,
    targets: &Targets,
    options: &Options,
    most: u64,
) -> Result<Option<Opened>, ImportError> {
    // As for dumps: a zip begins at the start of its file.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let Ok(mut zip) = ZipArchive::with_config(config, source) else { return Ok(None) };
    let refuse = |found: String| ImportError::NotADump { file: name.to_owned(), found };
    let folder = match folder(name, &zip)? {
        Some(folder) => folder,
        None => return Ok(None),
    };
    let mut damaged: Vec<Problem> = Vec::new();
    let mut beside = Beside::read(|file| {
        let mut bytes = Vec::new();
        let path = format!("{folder}{file}");
        // The bytes before an error count: after a wrong CRC-32 all of them.
        if let Err(error) = zip.by_name(&path).ok()?.take(MOST).read_to_end(&mut bytes) {
            let place = FileLocation { file: format!("{name}: {path}"), ..FileLocation::default() };
            let damage = problem(place, format!("the entry is damaged: {error}"), "a whole entry");
            if !damaged.contains(&damage) {
                damaged.push(damage);
            }
        }
        Some(bytes)
    });
    let path = format!("{folder}{WAVES}");
    let broken =
        |error| refuse(format!("a zip of a hang folder of RADV, whose {path} cannot be unpacked: {error}"));
    let entry = zip.by_name(&path).map_err(broken)?;
    let size = entry.size();
    let mut families = Families::new(targets, options, beside.processor.take())?;
    families.unknown = beside.unknown.take();
    let mut problems = Problems::new(format!("{name}: {path}"));
    let mut unpacked = Unpacked { source: entry, left: most, is_cut: false };
    let read = text::read(
        BufReader::with_capacity(1 << 16, &mut unpacked),
        Kept::default(),
        MAX_CODE,
        &mut families,
        &mut problems,
    );
    if unpacked.is_cut {
        let what = format_args!("it claims {size} bytes; only the first {most} are read");
        problems.whole(what, format_args!("umr's text within {most} bytes"));
        problems.hides_waves();
    }
    let format = "RADV hang folder in a zip (umr text)";
    let mut capture = build::build(name, format, read, &mut families, &mut problems);
    problems.extend(beside.faults.into_capture(&mut capture));
    problems.extend(damaged);
    Ok(Some(Opened { capture, problems: problems.finish() }))
}

/// The folder of umr's text in the zip; `None`: the zip has none.
fn folder<R: Read + Seek>(name: &str, zip: &ZipArchive<R>) -> Result<Option<String>, ImportError> {
    let refuse = |found| Err(ImportError::NotADump { file: name.to_owned(), found });
    let names = || zip.file_names_raw().take(MAX_ENTRIES).filter_map(|name| std::str::from_utf8(name).ok());
    let mut folders = names().filter_map(|name| name.strip_suffix(WAVES));
    let mut folders = folders.by_ref().filter(|folder| folder.is_empty() || folder.ends_with('/'));
    let Some(first) = folders.next() else {
        return match names().find_map(others_than_waves) {
            Some(found) => refuse(format!("a zip of {found}")),
            None => Ok(None),
        };
    };
    match folders.count() {
        0 => Ok(Some(first.to_owned())),
        more => refuse(format!("a zip of {} hang folders of RADV; unpack it and open one of them", more + 1)),
    }
}

/// The unpacked text, up to a bound.
struct Unpacked<R> {
    source: R,
    left: u64,
    is_cut: bool,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let capacity = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        if capacity == 0 && !buffer.is_empty() {
            self.is_cut |= self.source.read(&mut [0])? > 0;
            return Ok(0);
        }
        let count = self.source.read(buffer.get_mut(..capacity).unwrap_or_default())?;
        self.left -= count as u64;
        Ok(count)
    }
}
