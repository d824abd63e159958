//! Side files in a zip: stored entries, read in place from the zip's own file or from memory.

use std::borrow::Cow;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::super::file::OpenFile;
use super::manifest_reader::{ManifestReader, WalkedEntry};
use super::store::SideFileError;
use crate::capture::{Backing, Bytes};
use crate::import::problem::problem;
use crate::import::{FileLocation, Problem};

/// A source of a zip's bytes.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A file.
    File(Arc<OpenFile>),
    /// Memory: the embedded demo, or a fuzzer's input.
    Memory(Arc<Cow<'static, [u8]>>),
}

impl Source {
    /// Bytes of the zip.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::File(file) => file.len(),
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Reads from the range at `start` of `size` bytes.
    pub(super) fn read_at(&self, start: u64, size: u64, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read_range(start, size, offset, buffer),
            Self::Memory(bytes) => {
                let want =
                    buffer.len().min(usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX));
                let from = start.checked_add(offset).and_then(|from| usize::try_from(from).ok());
                let rest = from.and_then(|from| bytes.get(from..)).unwrap_or_default();
                let count = rest.len().min(want);
                if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
                    to.copy_from_slice(from);
                }
                Ok(count)
            }
        }
    }
}

/// Maximum bytes of a zip's directory: an entry takes 46 bytes of it and about 400 of memory. A dump of 100,000 side
/// files takes 10 MB.
pub(super) const MAX_DIRECTORY: u64 = 32 << 20;

/// A cursor for the zip's reader. It has its own position and does not move the file's.
#[derive(Debug)]
struct Cursor {
    source: Source,
    at: u64,
    /// Bytes that the reader may still read.
    left: Arc<AtomicU64>,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read_at(0, self.source.size(), self.at, buffer)?;
        let take = |left: u64| left.checked_sub(count as u64);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            let words = format!("its directory has more than {MAX_DIRECTORY} bytes");
            return Err(io::Error::other(words));
        }
        self.at = self.at.saturating_add(count as u64);
        Ok(count)
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.source.size().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// A zip with known entries.
#[derive(Debug)]
pub(super) struct Archive {
    directory: Directory,
    source: Source,
    /// The common prefix of all names in the dump: `""`, or `"dump/"` if the zip contains the folder itself.
    prefix: String,
}

#[derive(Debug)]
enum Directory {
    /// By the zip's directory.
    Whole(ZipArchive<Cursor>),
    /// By the entries' headers, because the zip's directory is unreadable; with the cause.
    Lost(ManifestReader, String),
}

/// A zip without readable entries.
#[derive(Debug, thiserror::Error)]
#[error("offset {offset:#x}: {CUT}: {error}")]
pub(super) struct ArchiveError {
    /// Offset after the last header of an entry.
    offset: u64,
    error: ZipError,
}

impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> Self {
        Self { offset: 0, error: error.into() }
    }
}

/// The directory is the last part of a zip.
const CUT: &str = "the zip is cut short or damaged";
const STORED: &str = "a stored entry (method 0, not encrypted), as `zip -0` writes it";

impl Archive {
    /// Reads the directory, or the entries' headers if the directory is lost.
    pub(super) fn new(source: Source) -> Result<Self, ArchiveError> {
        // A zip begins at the start of its file. A search for a later start would read all of a broken zip.
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let left = Arc::new(AtomicU64::new(MAX_DIRECTORY));
        let cursor = Cursor { source: source.clone(), at: 0, left: Arc::clone(&left) };
        let directory = match ZipArchive::with_config(config, cursor) {
            Ok(zip) => {
                left.store(u64::MAX, Ordering::Relaxed);
                Directory::Whole(zip)
            }
            Err(error) => {
                let walk = ManifestReader::new(&source)?;
                if walk.entries.is_empty() {
                    return Err(ArchiveError { offset: walk.end, error });
                }
                Directory::Lost(walk, error.to_string())
            }
        };
        let mut archive = Self { directory, source, prefix: String::new() };
        archive.prefix = archive.find_prefix();
        Ok(archive)
    }

    /// An error of the zip as a whole that leaves it readable.
    pub(super) fn problem(&self, name: &str) -> Option<Problem> {
        let (offset, what, expected) = match &self.directory {
            Directory::Whole(zip) if zip.has_duplicate_names() => {
                (None, "two entries have one name; the last one counts".to_owned(), "names that are unique")
            }
            Directory::Whole(_) => return None,
            Directory::Lost(walk, why) => (
                Some(walk.end),
                format!("{CUT}: {why}; {} entries were found before that offset", walk.entries.len()),
                "a whole zip, with its directory at the end",
            ),
        };
        let place = FileLocation { file: name.to_owned(), offset, ..FileLocation::default() };
        Some(problem(place, what, expected))
    }

    /// The sentence about a zip that ends before its directory.
    pub(super) fn truncated(&self) -> Option<String> {
        let Directory::Lost(walk, _) = &self.directory else { return None };
        Some(format!("the zip ends without its directory, after the entries before offset {:#x}", walk.end))
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.directory {
            Directory::Whole(zip) => {
                Box::new(zip.file_names_raw().filter_map(|name| std::str::from_utf8(name).ok()))
            }
            Directory::Lost(walk, _) => Box::new(walk.entries.keys().map(String::as_str)),
        }
    }

    /// An entry that is a core by its name.
    pub(super) fn core(&self) -> Option<&str> {
        self.names().filter(|name| name.rsplit('/').next().is_some_and(|name| name.contains("core"))).min()
    }

    /// The folder of the manifest: `zip -r dump.zip dump` puts the dump one folder down.
    fn find_prefix(&self) -> String {
        let mut found: Option<&str> = None;
        for name in self.names() {
            match name.split_once('/') {
                None if matches!(name, "manifest.toml" | "manifest.json") => return String::new(),
                Some((folder, "manifest.toml" | "manifest.json")) => {
                    if found.is_some_and(|known| known != folder) {
                        return String::new();
                    }
                    found = Some(folder);
                }
                _ => {}
            }
        }
        found.map(|folder| format!("{folder}/")).unwrap_or_default()
    }

    /// Whether the zip has an entry of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        let name = format!("{}{name}", self.prefix);
        match &self.directory {
            Directory::Whole(zip) => zip.index_for_name(&name).is_some(),
            Directory::Lost(walk, _) => walk.entries.contains_key(&name),
        }
    }

    /// The words about a zip that ends within an entry; `None`: the entry is whole, or absent.
    pub(super) fn cut(&self, name: &str) -> Option<String> {
        let Directory::Lost(walk, _) = &self.directory else { return None };
        let entry = walk.entries.get(&format!("{}{name}", self.prefix))?;
        let WalkedEntry { size, whole_size, .. } = *entry;
        let bytes = format!("it ends within {name}, after {size} of its {whole_size} bytes");
        (size < whole_size).then(|| format!("the zip is cut short at offset {:#x}: {bytes}", walk.end))
    }

    /// The problem of an entry whose bytes differ from its CRC-32; `bytes`: all of them.
    pub(super) fn damage(&mut self, name: &str, bytes: &[u8]) -> Option<Problem> {
        let full = format!("{}{name}", self.prefix);
        let crc = match &mut self.directory {
            Directory::Whole(zip) => {
                let index = zip.index_for_name(&full)?;
                zip.by_index_raw(index).ok()?.crc32()
            }
            Directory::Lost(walk, _) => walk.entries.get(&full)?.crc,
        };
        let found = crc32fast::hash(bytes);
        let place = FileLocation { file: name.to_owned(), ..FileLocation::default() };
        let what = format!("the entry's bytes are damaged: their CRC-32 is {found:#010x}");
        (found != crc).then(|| problem(place, what, format!("{crc:#010x}, as in the zip")))
    }

    /// The entry of that name, for reading in place.
    pub(super) fn find(&mut self, name: &str) -> Result<Arc<dyn Backing>, SideFileError> {
        let full = format!("{}{name}", self.prefix);
        let none = || SideFileError::new("there is no such entry in the zip", "an entry of that name");
        let (start, size) = match &mut self.directory {
            Directory::Whole(zip) => {
                let index = zip.index_for_name(&full).ok_or_else(none)?;
                whole_entry(zip, index, self.source.size())?
            }
            Directory::Lost(walk, _) => {
                let entry = walk.entries.get(&full).ok_or_else(none)?;
                if !entry.stored {
                    return Err(SideFileError::new("the entry is compressed or encrypted", STORED));
                }
                (entry.start, entry.size)
            }
        };
        Ok(Arc::new(EntryBacking { name: name.to_owned(), source: self.source.clone(), start, size }))
    }
}

/// Offset and size of the data of an entry.
fn whole_entry(zip: &mut ZipArchive<Cursor>, index: usize, whole: u64) -> Result<(u64, u64), SideFileError> {
    let broken = |what: String| SideFileError::new(what, "an entry that lies within the zip");
    let entry = zip.by_index_raw(index).map_err(|error| broken(error.to_string()))?;
    if entry.is_dir() {
        return Err(SideFileError::new("the entry is a folder", "a file"));
    }
    if entry.encrypted() {
        return Err(SideFileError::new("the entry is encrypted", STORED));
    }
    if entry.compression() != CompressionMethod::Stored {
        return Err(SideFileError::new(format!("the entry is compressed ({})", entry.compression()), STORED));
    }
    if entry.size() != entry.compressed_size() {
        let (size, stored) = (entry.size(), entry.compressed_size());
        return Err(broken(format!(
            "the entry has a size of {size} bytes and a stored size of {stored} bytes"
        )));
    }
    let start = entry.data_start().ok_or_else(|| broken("the entry has no data".to_owned()))?;
    let size = entry.size();
    if start.checked_add(size).is_none_or(|end| end > whole) {
        let needs = format!("the entry needs {size} bytes from offset {start:#x}");
        return Err(broken(format!("{needs}, and the zip ends at {whole:#x}")));
    }
    Ok((start, size))
}

/// A stored entry.
#[derive(Debug)]
struct EntryBacking {
    name: String,
    source: Source,
    start: u64,
    size: u64,
}

impl Backing for EntryBacking {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.read_at(self.start, self.size, offset, buffer)
    }

    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        match &self.source {
            Source::File(file) => file.view_range(self.start, self.size, offset, length),
            Source::Memory(bytes) => {
                let inside = offset.checked_add(length).is_some_and(|end| end <= self.size);
                let from = self.start.checked_add(offset).filter(|_| inside);
                let range = from.and_then(|from| {
                    let from = usize::try_from(from).ok()?;
                    Some(from..from.checked_add(usize::try_from(length).ok()?)?)
                });
                let range = range.filter(|range| bytes.get(range.clone()).is_some());
                let range = range.ok_or(io::ErrorKind::UnexpectedEof)?;
                Ok(Arc::new(Part { bytes: Arc::clone(bytes), range }))
            }
        }
    }
}

/// A view of a part of the bytes in memory.
struct Part {
    bytes: Arc<Cow<'static, [u8]>>,
    range: std::ops::Range<usize>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }
}
