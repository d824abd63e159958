//! Ranges of files as bytes that last: small ones are copied, large ones are mapped under guard. The package's only
//! `unsafe`. Files that are read by range are compared with their [`Stamp`] instead.
//!
//! Debug sections of a code object reach hundreds of megabytes and are read here and there: copying 100 MB costs more than
//! the answer. A mapped file, however, is memory that other processes can change. The guard has two parts:
//!
//! * Truncation turns the next touch of a page beyond the new end into SIGBUS, and so does a disk that cannot be read.
//!   `guard` puts pages of zeros there and marks the mapping, so that the process lives.
//! * Zeros and bytes that somebody wrote in place are not what was opened. [`Watch::is_changed`] finds both, by the mark, by
//!   the file's size and by its time of modification. Whoever made an answer of mapped bytes asks it before the answer goes
//!   out.
//!
//! A range is copied when it is shorter than [`LEAST_MAPPED`]. Up to [`MAX_COPIED`] it is also copied when the
//! file's last modification is too recent to distinguish a later one, and when all places of the guard are taken.
//! Replacing a file by renaming another one over it changes neither a copy nor a mapping.
//!
//! Three writers are not found: one that sets the time of modification back to the nanosecond, one that writes through a
//! shared mapping of its own whose pages were written before, and one that writes a range above [`MAX_COPIED`] within the
//! same tick of the file system's clock in which it was modified before it was mapped.
#![allow(unsafe_code)]

mod guard;
mod stamp;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

pub use stamp::{Changes, Stamp};

use guard::TableIndex;

/// Ranges shorter than this are copied: less than a millisecond of work.
pub const LEAST_MAPPED: u64 = 1 << 20;
/// Ranges longer than this are never copied: less than the memory that a process may take for a file.
pub const MAX_COPIED: u64 = 64 << 20;
/// Files that were modified later than this before now are copied: two modifications within one tick of a file system's
/// clock look the same. FAT has the coarsest, two seconds.
const FRESH: Duration = Duration::from_secs(2);

/// Mappings that live.
static LIVE: Mutex<Vec<Watch>> = Mutex::new(Vec::new());
/// The first file that has changed while this process used it: its name, as far as it is known.
static FIRST_CHANGED: OnceLock<Option<String>> = OnceLock::new();

fn live() -> MutexGuard<'static, Vec<Watch>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of a file: a copy, or a guarded mapping.
#[derive(Debug)]
pub enum Mapped {
    /// Bytes of our own.
    Copied(Vec<u8>),
    /// The file's pages.
    Guarded(Guarded),
}

/// A mapping that survives changes of its file.
#[derive(Debug)]
pub struct Guarded {
    // The guard's place is given up before the pages are.
    watch: Watch,
    pages: memmap2::Mmap,
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Copied(bytes) => bytes,
            Self::Guarded(guarded) => &guarded.pages,
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // Commands ask at their end, when all is dropped.
        let _ = self.watch.is_changed();
        self.watch.0.is_over.store(true, Ordering::Release);
        live().retain(|other| !Arc::ptr_eq(&other.0, &self.watch.0));
        self.watch.0.place.release();
    }
}

/// Whether a mapped file is what it was when it was mapped.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Watched>);

#[derive(Debug)]
struct Watched {
    file: File,
    stamp: Stamp,
    place: TableIndex,
    is_changed: AtomicBool,
    /// Whether the mapping is gone: its place may be another one's.
    is_over: AtomicBool,
}

impl Watch {
    /// The watch of the mapping that bytes are a part of; `None` of other bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        live().iter().find(|watch| watch.0.place.holds(bytes.as_ptr().addr())).cloned()
    }

    /// Whether the file was truncated, written or unreadable since it was mapped: what was made of its bytes cannot be
    /// trusted. Once true it stays true.
    #[must_use = "the bytes of a changed file differ from those that were opened"]
    pub fn is_changed(&self) -> bool {
        let Watched { file, stamp, place, is_changed, is_over } = &*self.0;
        if is_changed.load(Ordering::Relaxed) {
            return true;
        }
        if is_over.load(Ordering::Acquire) {
            return false;
        }
        let changed = place.is_torn() || !matches!(Stamp::of(file), Ok(now) if now == *stamp);
        if changed {
            is_changed.store(true, Ordering::Relaxed);
            FIRST_CHANGED.get_or_init(|| None);
        }
        changed
    }
}

/// The first file that has changed while this process had it mapped, or read it by range ([`Changes`]), in words.
#[must_use]
pub fn first_changed() -> Option<String> {
    let is_live = live().iter().any(Watch::is_changed);
    let unnamed = || "a file".to_owned();
    match FIRST_CHANGED.get() {
        Some(name) => Some(name.clone().unwrap_or_else(unnamed)),
        None => is_live.then(unnamed),
    }
}

/// A file that ends before bytes that it had.
fn cut(size: u64, end: u64) -> io::Error {
    let missing = end.saturating_sub(size);
    let words = format!(
        "the file ends at offset {size:#x}, {missing} bytes before {end:#x} (truncated while it was opened?)"
    );
    io::Error::new(io::ErrorKind::UnexpectedEof, words)
}

/// `length` bytes of a file from `offset` on.
///
/// # Errors
/// `UnexpectedEof` if the range leaves the file; `OutOfMemory` if it is too long to copy and the guard has no place;
/// or the operating system's error.
pub fn map(file: &File, offset: u64, length: u64) -> io::Result<Mapped> {
    let stamp = Stamp::of(file)?;
    let end = offset.checked_add(length).ok_or(io::ErrorKind::UnexpectedEof)?;
    if end > stamp.size() {
        return Err(cut(stamp.size(), end));
    }
    let size = usize::try_from(length).ok().filter(|length| *length > 0);
    let size = size.ok_or(io::ErrorKind::UnexpectedEof)?;
    let is_copied = length < LEAST_MAPPED || length <= MAX_COPIED && is_fresh(file)?;
    if !is_copied && let Some(guarded) = guarded(file, stamp, offset, size)? {
        return Ok(Mapped::Guarded(guarded));
    }
    if length > MAX_COPIED {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(size, 0);
    file.read_exact_at(&mut bytes, offset).map_err(|error| match error.kind() {
        // It was longer when its size was asked.
        io::ErrorKind::UnexpectedEof => cut(Stamp::of(file).map_or(0, |stamp| stamp.size()), end),
        _ => error,
    })?;
    if Stamp::of(file)? != stamp {
        return Err(io::Error::other("the file changed while it was read"));
    }
    Ok(Mapped::Copied(bytes))
}

fn is_fresh(file: &File) -> io::Result<bool> {
    let modified = file.metadata()?.modified()?;
    // A time in the future proves nothing.
    Ok(SystemTime::now().duration_since(modified).is_ok_and(|since| since < FRESH)
        || modified > SystemTime::now())
}

/// A mapping with a place of the guard; `None` where there is none left.
fn guarded(file: &File, stamp: Stamp, offset: u64, length: usize) -> io::Result<Option<Guarded>> {
    let file = file.try_clone()?;
    // SAFETY: the range lies within the file as it is now. Should the file shrink later, the guard keeps every page of the
    // mapping readable: it is installed before the mapping is handed out. The bytes may then differ from one read to the
    // next; they are only ever parsed with checked reads (gimli and object over &[u8]), no invariant of a Rust type rests
    // on them, and `Watch` keeps answers that were made of them from going out.
    let pages = unsafe { memmap2::MmapOptions::new().offset(offset).len(length).map(&file)? };
    let Some(place) = guard::protect(&pages)? else { return Ok(None) };
    let watch = Watch(Arc::new(Watched {
        file,
        stamp,
        place,
        is_changed: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
    }));
    live().push(watch.clone());
    Ok(Some(Guarded { watch, pages }))
}

#[cfg(test)]
#[path = "mapping_tests.rs"]
mod tests;
