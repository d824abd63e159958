//! Stores of captured bytes, always read by range: a file, a stored zip entry, or memory.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use crate::work;

/// Shared bytes: mapped, owned or static.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Copies as many bytes as both slices have; returns the number.
pub(crate) fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let count = from.len().min(to.len());
    if let (Some(to), Some(from)) = (to.get_mut(..count), from.get(..count)) {
        to.copy_from_slice(from);
    }
    count
}

/// One of many reads of a store: [`Backing::read_many`].
#[derive(Debug)]
pub struct RangeRead<'b> {
    /// First byte.
    pub offset: u64,
    /// Receives the bytes.
    pub buffer: &'b mut [u8],
    /// Number of bytes read; fewer than the buffer only at the end of the store.
    pub count: usize,
}

/// A store of captured bytes.
pub trait Backing: Debug + Send + Sync {
    /// The name for messages: the file's name in the dump.
    fn name(&self) -> &str;

    /// Its size in bytes.
    fn len(&self) -> u64;

    /// Whether it holds nothing.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads up to `buffer.len()` bytes from `offset`; fewer only at the end of the store.
    ///
    /// # Errors
    /// The operating system's error for the file.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Reads many ranges. A store that checks its file after each [`Self::read_at`] checks it once after all ranges.
    ///
    /// # Errors
    /// The first error; the contents of the buffers are then undefined.
    fn read_many(&self, reads: &mut [RangeRead<'_>]) -> io::Result<()> {
        reads.iter_mut().try_for_each(|read| {
            read.count = self.read_at(read.offset, read.buffer)?;
            Ok(())
        })
    }

    /// Returns a lasting view of a range, mapped if possible: for code objects with large debug sections.
    ///
    /// # Errors
    /// `UnexpectedEof` if the range leaves the store, or the operating system's error for the file.
    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes>;
}

/// An index into a capture's backings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BackingId(pub u32);

/// A range of a backing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The store.
    pub backing: BackingId,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

impl Extent {
    /// One past the last byte; saturates.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

/// Merges overlapping and adjacent extents, by store and in order.
#[must_use]
pub fn distinct(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.retain(|extent| extent.length > 0);
    extents.sort_unstable_by_key(|extent| (extent.backing.0, extent.offset));
    extents.dedup_by(|next, before| {
        let touches = next.backing == before.backing && next.offset <= before.end();
        if touches {
            before.length = before.end().max(next.end()) - before.offset;
        }
        touches
    });
    extents
}

/// Bytes in memory: inline values of a manifest, or a dump embedded in the program.
#[derive(Debug)]
pub struct MemoryBacking<B> {
    name: String,
    bytes: Arc<B>,
}

impl<B: AsRef<[u8]> + Debug + Send + Sync + 'static> MemoryBacking<B> {
    /// A store over `bytes`.
    pub fn new(name: impl Into<String>, bytes: B) -> Self {
        Self { name: name.into(), bytes: Arc::new(bytes) }
    }
}

impl<B: AsRef<[u8]> + Debug + Send + Sync + 'static> Backing for MemoryBacking<B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        (*self.bytes).as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = (*self.bytes).as_ref();
        let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or(&[]);
        let count = copy(rest, buffer);
        work::count_read(count);
        Ok(count)
    }

    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        let end = usize::try_from(length)
            .ok()
            .and_then(|length| start.checked_add(length))
            .filter(|end| *end <= (*self.bytes).as_ref().len())
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Arc::new(Part { bytes: Arc::clone(&self.bytes), range: start..end }))
    }
}

struct Part<B> {
    bytes: Arc<B>,
    range: std::ops::Range<usize>,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Part<B> {
    fn as_ref(&self) -> &[u8] {
        // The owner may return fewer bytes than before.
        (*self.bytes).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}
