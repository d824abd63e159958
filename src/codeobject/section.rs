//! Sections by name, unpacked if compressed, and the segments of the loaded image.
//!
//! gABI "Sections" with "Section Compression" (`SHF_COMPRESSED`), and "Program Loading".

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::bytes::Bytes;
use super::error::{CodeObjectError, Result, UnpackError};
use super::names::Names;
use crate::elf::read::{self, range, record};
use crate::elf::{
    CompressedData, CompressionFormat, CompressionHeader, ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD, FileHeader, LE,
    PF_W, PF_X, PT_LOAD, SHF_ALLOC, SHF_COMPRESSED, SHT_NOBITS, SectionHeader,
};

/// The magic of a `.zdebug_` section, followed by the unpacked size in 8 bytes, big-endian, and a zlib stream.
const GNU_MAGIC: &[u8] = b"ZLIB";
/// Maximum unpacked size of all compressed parts of a file, as a multiple of the file's size. Debug sections stay below
/// 20, bundles of similar code objects below 60.
const MAX_RATIO: u64 = 64;
/// Minimum of that limit for a small file, in bytes.
const MIN_UNPACKED: u64 = 1 << 20;
/// Maximum of that limit for any file, in bytes.
pub const MAX_UNPACKED: u64 = 768 << 20;

/// Bytes that the compressed parts of all files that share it may still unpack to: at most [`MAX_UNPACKED`].
#[derive(Clone, Debug)]
pub struct UnpackMemory(Arc<AtomicU64>);

impl Default for UnpackMemory {
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(MAX_UNPACKED)))
    }
}

/// Remaining bytes that the compressed parts of one file may unpack to.
#[derive(Debug)]
pub(super) struct UnpackLimit {
    of_file: AtomicU64,
    of_all: UnpackMemory,
}

/// Takes units of a number.
///
/// # Errors
/// The number, if it is smaller.
fn take(from: &AtomicU64, units: u64) -> Result<(), u64> {
    let less = |left: u64| left.checked_sub(units);
    from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).map(drop)
}

impl UnpackLimit {
    pub(super) fn of(file: &[u8], memory: &UnpackMemory) -> Self {
        let most = (file.len() as u64).saturating_mul(MAX_RATIO).saturating_add(MIN_UNPACKED);
        Self { of_file: AtomicU64::new(most.min(MAX_UNPACKED)), of_all: memory.clone() }
    }

    /// Returns unused bytes to the limit.
    fn give_back(&self, bytes: u64) {
        self.of_file.fetch_add(bytes, Ordering::Relaxed);
        self.of_all.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Deducts bytes from the limit, before memory is reserved for them.
    pub(super) fn take(&self, bytes: u64) -> Result<(), UnpackError> {
        take(&self.of_file, bytes).map_err(|left| UnpackError::Limit { claimed: bytes, left })?;
        take(&self.of_all.0, bytes).map_err(|left| {
            self.of_file.fetch_add(bytes, Ordering::Relaxed);
            UnpackError::AllLimit { claimed: bytes, left }
        })
    }
}

/// A section's header, and its contents once read.
#[derive(Debug)]
pub struct Section {
    /// Name: `.debug_info`.
    pub name: String,
    /// `sh_type`.
    pub section_type: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// ELF address, 0 for unloaded sections.
    pub address: u64,
    /// File offset in bytes.
    pub offset: u64,
    /// Size in bytes: in the file, or in memory for a section without bits.
    pub size: u64,
    /// `sh_link`: index of an associated section.
    pub link: u32,
    /// `sh_info`: for relocations, the index of the target section.
    pub info: u32,
    contents: OnceLock<Result<Bytes>>,
    pub(super) relocated: OnceLock<(Result<Bytes>, Vec<CodeObjectError>)>,
}

impl Section {
    pub(super) fn new(name: &str, header: &SectionHeader) -> Self {
        Self { name: name.to_owned(), ..Self::unnamed(header) }
    }

    fn unnamed(header: &SectionHeader) -> Self {
        Self {
            name: String::new(),
            section_type: header.sh_type.get(LE).0,
            flags: header.sh_flags.get(LE).0,
            address: header.sh_addr.get(LE),
            offset: header.sh_offset.get(LE),
            size: header.sh_size.get(LE),
            link: header.sh_link.get(LE),
            info: header.sh_info.get(LE),
            contents: OnceLock::new(),
            relocated: OnceLock::new(),
        }
    }

    /// Whether the section's bytes are compressed in the file: `SHF_COMPRESSED`, or GNU's older `.zdebug_` sections.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.flags & SHF_COMPRESSED.0 != 0 || self.is_gnu_compressed()
    }

    fn is_gnu_compressed(&self) -> bool {
        self.flags & SHF_COMPRESSED.0 == 0 && self.name.starts_with(".zdebug_")
    }

    /// Whether it is loaded (`SHF_ALLOC`); debug sections are not.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.flags & SHF_ALLOC.0 != 0
    }

    /// Returns the section's bytes: a slice of the file, or an unpacked copy, cached after the first call.
    pub(super) fn contents(&self, file: &Bytes, unpack_limit: &UnpackLimit) -> Result<Bytes> {
        self.contents.get_or_init(|| self.read(file, unpack_limit)).clone()
    }

    fn read(&self, file: &Bytes, unpack_limit: &UnpackLimit) -> Result<Bytes> {
        if self.section_type == SHT_NOBITS.0 {
            return Ok(Bytes::empty());
        }
        let raw = range(file, &self.name, self.offset, self.size)?;
        if !self.is_compressed() {
            return Ok(file.slice_ref(raw).unwrap_or_else(Bytes::empty));
        }
        let fail =
            |why| CodeObjectError::Compression { section: self.name.clone(), offset: self.offset, why };
        let (format, uncompressed_size, data) =
            if self.is_gnu_compressed() { gnu_header(raw) } else { compression_header(raw) }.map_err(fail)?;
        unpack(format, data, uncompressed_size, unpack_limit).map(Bytes::from).map_err(fail)
    }
}

/// gABI, "Section Compression".
fn compression_header(raw: &[u8]) -> Result<(CompressionFormat, u64, &[u8]), UnpackError> {
    let header: &CompressionHeader = record(raw, 0).ok_or(UnpackError::Header(raw.len()))?;
    let data = raw.get(size_of::<CompressionHeader>()..).unwrap_or(&[]);
    let format = match header.ch_type.get(LE) {
        ELFCOMPRESS_ZLIB => CompressionFormat::Zlib,
        ELFCOMPRESS_ZSTD => CompressionFormat::Zstandard,
        other => return Err(UnpackError::Type(other.0)),
    };
    Ok((format, header.ch_size.get(LE), data))
}

fn gnu_header(raw: &[u8]) -> Result<(CompressionFormat, u64, &[u8]), UnpackError> {
    let sized = raw.strip_prefix(GNU_MAGIC).and_then(|rest| rest.split_first_chunk());
    let (size, data) = sized.ok_or(UnpackError::NoSize)?;
    Ok((CompressionFormat::Zlib, u64::from_be_bytes(*size), data))
}

/// Unpacks zlib or zstd data to the announced size, within the limit.
pub(super) fn unpack(
    format: CompressionFormat,
    data: &[u8],
    size: u64,
    unpack_limit: &UnpackLimit,
) -> Result<Vec<u8>, UnpackError> {
    unpack_limit.take(size)?;
    let packed = CompressedData { format, data, uncompressed_size: size };
    let unpacked = packed.decompress().map(std::borrow::Cow::into_owned);
    unpacked
        .map_err(|error| UnpackError::Data(error.to_string()))
        .inspect_err(|_| unpack_limit.give_back(size))
}

/// Reads all sections in the file's order; section 0 included.
pub(super) fn read_all(
    file: &Bytes,
    header: &FileHeader,
    unpack_limit: &UnpackLimit,
) -> Result<Vec<Section>> {
    let (headers, names_index) = read::section_headers(file, header)?;
    let mut sections: Vec<Section> = headers.iter().map(Section::unnamed).collect();
    let names = match sections.get(names_index) {
        Some(section) => section.contents(file, unpack_limit)?,
        None => Bytes::empty(),
    };
    let mut names = Names::of(&names);
    for (section, header) in sections.iter_mut().zip(headers) {
        section.name = names.at(header.sh_name.get(LE));
    }
    Ok(sections)
}

/// A program header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// `p_type`.
    pub segment_type: u32,
    /// `p_flags`: 1 execute, 2 write, 4 read.
    pub flags: u32,
    /// File offset in bytes.
    pub offset: u64,
    /// Bytes in the file.
    pub file_size: u64,
    /// ELF addresses in memory; the part past `file_size` is zero at load.
    pub addresses: Range<u64>,
}

impl Segment {
    /// Whether the loader maps it.
    #[must_use]
    pub fn is_loaded(&self) -> bool {
        self.segment_type == PT_LOAD.0
    }

    /// Whether the program may write it.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.flags & PF_W.0 != 0
    }

    /// Whether it holds code.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.flags & PF_X.0 != 0
    }
}

/// Reads all program headers in the file's order.
pub(super) fn segments(file: &[u8], header: &FileHeader) -> Result<Vec<Segment>> {
    let headers = read::program_headers(file, header)?.iter();
    let segments = headers.map(|header| {
        let start = header.p_vaddr.get(LE);
        Segment {
            segment_type: header.p_type.get(LE).0,
            flags: header.p_flags.get(LE).0,
            offset: header.p_offset.get(LE),
            file_size: header.p_filesz.get(LE),
            addresses: start..start.saturating_add(header.p_memsz.get(LE)),
        }
    });
    Ok(segments.collect())
}
