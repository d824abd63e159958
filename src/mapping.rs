//! Stable byte ranges of files: small ranges are copied, large ones mapped under guard. The package's only `unsafe`.
//! Files read by range are compared with their [`Stamp`] instead.
//!
//! Debug sections of a code object reach hundreds of megabytes, and a query reads a few parts of them: copying 100 MB
//! costs more than the answer. But other processes can change a mapped file. The guard has two parts:
//!
//! * After a truncation or a disk error the next access to an affected page raises SIGBUS. `guard` maps pages of zeros
//!   there and marks the mapping, so that the process survives.
//! * Zeros and bytes overwritten in place differ from the opened file. [`Watch::is_changed`] detects both, by the mark,
//!   the file's size and its modification time. Every user of mapped bytes checks it before it returns an answer.
//!
//! A range shorter than [`LEAST_MAPPED`] is copied. A range up to [`MAX_COPIED`] is also copied in two cases: the last
//! modification is too recent to distinguish a later one, or the guard's table is full. A rename over the file changes
//! neither a copy nor a mapping.
//!
//! Three kinds of writes are not detected: a write with the modification time reset to the nanosecond; a write through
//! an existing shared mapping to pages already dirty; a write to a range above [`MAX_COPIED`] within the clock tick of
//! the last modification before the mapping.
#![allow(unsafe_code)]

mod guard;
mod stamp;
mod standard_output;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

pub use stamp::Changes;
pub(crate) use stamp::{Stamp, identity, is_read, record_input};
pub(crate) use standard_output::standard_output;

use guard::TableIndex;

/// Minimum size of a mapped range; smaller ones are copied in less than a millisecond.
pub(crate) const LEAST_MAPPED: u64 = 1 << 20;
/// Maximum size of a copied range: less than the memory that a process may use for a file.
pub(crate) const MAX_COPIED: u64 = 64 << 20;
/// Minimum age of the last modification for a mapping; younger files are copied. Two modifications within one clock
/// tick of a file system look the same; FAT has the longest tick, two seconds.
const FRESH: Duration = Duration::from_secs(2);

/// Live mappings.
static LIVE: Mutex<Vec<Watch>> = Mutex::new(Vec::new());
/// The first file that changed while this process used it; its name, if known.
static FIRST_CHANGED: OnceLock<Option<String>> = OnceLock::new();

fn live() -> MutexGuard<'static, Vec<Watch>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of a file: a copy, or a guarded mapping.
#[derive(Debug)]
pub(crate) enum Mapped {
    /// Owned bytes.
    Copied(Vec<u8>),
    /// The file's pages.
    Guarded(Guarded),
}

/// A mapping that survives changes of its file.
#[derive(Debug)]
pub(crate) struct Guarded {
    // The entry must be released before the pages are unmapped.
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
        // Commands check for changes at their end, after this drop.
        let _ = self.watch.is_changed();
        self.watch.0.is_over.store(true, Ordering::Release);
        live().retain(|other| !Arc::ptr_eq(&other.0, &self.watch.0));
        self.watch.0.place.release();
    }
}

/// Change detection for a mapped file.
#[derive(Clone, Debug)]
pub(crate) struct Watch(Arc<Watched>);

#[derive(Debug)]
struct Watched {
    file: File,
    stamp: Stamp,
    place: TableIndex,
    is_changed: AtomicBool,
    /// Whether the mapping is gone; its table entry may be reused.
    is_over: AtomicBool,
}

impl Watch {
    /// Returns the watch of the mapping that contains the bytes; `None` for other bytes.
    #[must_use]
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        live().iter().find(|watch| watch.0.place.holds(bytes.as_ptr().addr())).cloned()
    }

    /// Whether the file was truncated, written or unreadable since the mapping. Data from its bytes is then untrusted.
    /// Once true it stays true.
    #[must_use = "the bytes of a changed file differ from those that were opened"]
    pub(crate) fn is_changed(&self) -> bool {
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

/// Describes the first file that changed while this process had it mapped, or read it by range ([`Changes`]).
#[must_use]
pub(crate) fn first_changed() -> Option<String> {
    let is_live = live().iter().any(Watch::is_changed);
    let unnamed = || "a file".to_owned();
    match FIRST_CHANGED.get() {
        Some(name) => Some(name.clone().unwrap_or_else(unnamed)),
        None => is_live.then(unnamed),
    }
}

/// The error for a file that became shorter.
fn cut(size: u64, end: u64) -> io::Error {
    let missing = end.saturating_sub(size);
    let words = format!(
        "the file ends at offset {size:#x}, {missing} bytes before {end:#x} (truncated while it was opened?)"
    );
    io::Error::new(io::ErrorKind::UnexpectedEof, words)
}

/// Returns `length` bytes of a file from `offset` on.
///
/// # Errors
/// `UnexpectedEof` if the range leaves the file; `OutOfMemory` if it is too long to copy and the guard's table is full;
/// or the operating system's error.
pub(crate) fn map(file: &File, offset: u64, length: u64) -> io::Result<Mapped> {
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
        // The file shrank after its size was read.
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

/// A mapping with an entry of the guard; `None` if the table is full.
fn guarded(file: &File, stamp: Stamp, offset: u64, length: usize) -> io::Result<Option<Guarded>> {
    let file = file.try_clone()?;
    // SAFETY: the range lies within the file at this moment. If the file shrinks later, the guard keeps every page
    // readable: it is installed before the mapping is returned. The bytes may differ from one read to the next. They
    // are only parsed with checked reads (gimli and object over &[u8]). No invariant of a Rust type depends on them,
    // and `Watch` withholds answers made of them.
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
