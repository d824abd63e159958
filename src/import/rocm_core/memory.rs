//! The process's memory in a core, by address, across files and segments.

use std::io;
use std::sync::Arc;

use super::code::Ranges;
use crate::capture::{Backing, Bytes, Extent, MemoryMap, RangeRead, Segment};
use crate::codeobject as code;
use crate::import::objects::Memory;

/// Maximum bytes of a copied view, for bytes that no file holds contiguously: a code object across segments.
const MAX_COPIED: u64 = 1 << 30;

/// Captured memory by address.
///
/// As a [`Backing`] its offsets are addresses. An extent of it may straddle segments (a wave's registers, a code object
/// in the process's memory).
#[derive(Clone, Debug)]
pub(in crate::import) struct CoreMemory {
    name: Arc<str>,
    map: Arc<MemoryMap>,
    files: Arc<[Arc<dyn Backing>]>,
    /// Whether it belongs to a GPU core without the host's.
    is_gpu_alone: bool,
    /// Executable segments by their flags.
    executable: Arc<Ranges>,
}

impl CoreMemory {
    /// The memory of a map whose extents lie in `files`, by their index.
    pub(in crate::import) fn new(name: &str, map: MemoryMap, files: Vec<Arc<dyn Backing>>) -> Self {
        let name = format!("memory of {name}");
        Self {
            name: name.into(),
            map: Arc::new(map),
            files: files.into(),
            is_gpu_alone: false,
            executable: Arc::default(),
        }
    }

    /// Sets whether the host's memory is in another core that was not given.
    pub(in crate::import) fn of_gpu_alone(self, is_gpu_alone: bool) -> Self {
        Self { is_gpu_alone, ..self }
    }

    /// Sets the executable segments.
    pub(super) fn with_executable(self, executable: Ranges) -> Self {
        Self { executable: Arc::new(executable), ..self }
    }

    /// Whether the flags of a segment at that address make it executable; some writers store no rights there.
    pub(super) fn is_executable(&self, address: u64) -> bool {
        self.executable.contains(address)
    }

    /// An expectation about memory that was not captured, with a hint at the host's core.
    pub(in crate::import) fn or_host(&self, expected: &str) -> String {
        match self.is_gpu_alone {
            true => format!("{expected}; it may be host memory: add the host's core with --host-core"),
            false => expected.to_owned(),
        }
    }

    /// The segments.
    pub(in crate::import) fn map(&self) -> &MemoryMap {
        &self.map
    }

    /// The files of the map's extents.
    pub(in crate::import) fn files(&self) -> &[Arc<dyn Backing>] {
        &self.files
    }

    /// Reads captured bytes from `address` on up to the first gap; an unreadable file is a gap.
    pub(in crate::import) fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        self.read_until(address, buffer).unwrap_or(0)
    }

    /// Reads `N` bytes at each address; `None`: no single segment holds them all, or the file is unreadable.
    pub(in crate::import) fn read_each<const N: usize>(&self, addresses: &[u64]) -> Vec<Option<[u8; N]>> {
        let mut last: Option<&Segment> = None;
        let places: Vec<Option<Extent>> = addresses
            .iter()
            .map(|address| {
                // Most addresses are adjacent.
                let is_in = |segment: &&Segment| (segment.address..=segment.last()).contains(address);
                let segment = last.filter(is_in).or_else(|| self.map.find(*address))?;
                last = Some(segment);
                let skip = address - segment.address;
                let fits = segment.extent.length - skip >= N as u64;
                let offset = segment.extent.offset.checked_add(skip).filter(|_| fits)?;
                Some(Extent { offset, length: N as u64, ..segment.extent })
            })
            .collect();
        let mut found = vec![None; addresses.len()];
        let mut buffers = vec![[0; N]; addresses.len()];
        for (index, file) in (0..).zip(&*self.files) {
            let is_here = |place: &Option<Extent>| place.is_some_and(|place| place.backing.0 == index);
            let here = places.iter().zip(&mut buffers).filter(|(place, _)| is_here(place));
            let mut reads: Vec<RangeRead<'_>> = here
                .filter_map(|(place, buffer)| Some(RangeRead { offset: (*place)?.offset, buffer, count: 0 }))
                .collect();
            if reads.is_empty() || file.read_many(&mut reads).is_err() {
                continue;
            }
            let counts: Vec<usize> = reads.iter().map(|read| read.count).collect();
            let here = places.iter().zip(&buffers).zip(&mut found).filter(|((place, _), _)| is_here(place));
            for (((_, buffer), found), count) in here.zip(counts) {
                *found = (count == N).then_some(*buffer);
            }
        }
        found
    }

    /// A number of eight bytes.
    pub(in crate::import) fn u64(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        (self.read(address, &mut bytes) == bytes.len()).then(|| u64::from_le_bytes(bytes))
    }

    /// A number of four bytes.
    pub(in crate::import) fn u32(&self, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        (self.read(address, &mut bytes) == bytes.len()).then(|| u32::from_le_bytes(bytes))
    }

    /// The place of that many bytes, if one file holds them contiguously.
    pub(in crate::import) fn extent(&self, address: u64, length: u64) -> Option<Extent> {
        let first = self.map.find(address)?;
        let extent = Extent {
            backing: first.extent.backing,
            offset: first.extent.offset.checked_add(address - first.address)?,
            length,
        };
        let end = address.checked_add(length)?;
        let mut reached = first.address.checked_add(first.extent.length)?;
        while reached < end {
            let next = self.map.find(reached)?;
            let follows = next.extent.backing == extent.backing
                && Some(next.extent.offset) == extent.offset.checked_add(reached - address);
            if !follows {
                return None;
            }
            reached = next.address.checked_add(next.extent.length)?;
        }
        Some(extent)
    }

    /// First and last address of the segment that holds `address`.
    pub(in crate::import) fn segment(&self, address: u64) -> Option<(u64, u64)> {
        self.map.find(address).map(|segment| (segment.address, segment.last()))
    }

    fn read_until(&self, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.map.read(&self.files, address, buffer)
    }
}

impl Memory for CoreMemory {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        Self::read(self, address, buffer)
    }

    fn segment(&self, address: u64) -> Option<(u64, u64)> {
        Self::segment(self, address)
    }

    fn view(&self, address: u64, length: u64) -> Option<code::Bytes> {
        Backing::view(self, address, length).ok().map(code::Bytes::new)
    }
}

impl Backing for CoreMemory {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        u64::MAX
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_until(offset, buffer)
    }

    fn view(&self, offset: u64, length: u64) -> io::Result<Bytes> {
        if let Some(extent) = self.extent(offset, length) {
            let file = self.files.get(extent.backing.0 as usize).ok_or(io::ErrorKind::NotFound)?;
            return file.view(extent.offset, extent.length);
        }
        let end = offset.checked_add(length).ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut at = offset;
        // Before the allocation: all of it must be captured.
        while at < end {
            let segment = self.map.find(at).ok_or(io::ErrorKind::UnexpectedEof)?;
            at = segment.address.saturating_add(segment.extent.length);
        }
        if length > MAX_COPIED {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?];
        if self.read_until(offset, &mut bytes)? < bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Arc::new(bytes))
    }
}
