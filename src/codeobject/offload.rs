//! LLVM's OffloadBinary: images with their triples and processors, in files and in sections `.llvm.offloading`.
//!
//! LLVM, "llvm-offload-binary", "Binary Format"; llvm/Object/OffloadBinary.h. Version 1 has one entry. Version 2 has a
//! table of entries, and a size with the value of each string. Offsets count from the start of the binary.

use std::ops::Range;

use super::error::{CodeObjectError, Result};
use super::fat::MAX_ID;
use crate::clean::clean;
use crate::elf::read::range;
use crate::integers::{u16_at, u32_at, u64_at};

/// First bytes of a binary.
pub(super) const MAGIC: &[u8] = &[0x10, 0xff, 0x10, 0xad];
/// Alignment of binaries in a section, in bytes.
const ALIGNMENT: usize = 8;
const HEADER: u64 = 32;
const ENTRY: u64 = 40;
/// Maximum strings of an entry; LLVM writes two, SYCL's compilers some more.
const MAX_STRINGS: u64 = 256;

/// One image of a binary.
#[derive(Debug)]
pub(super) struct Image {
    /// ID in the form of bundles: `openmp-amdgcn-amd-amdhsa--gfx90a`.
    pub(super) id: String,
    /// Its bytes, relative to the start of the binary.
    pub(super) bytes: Range<usize>,
}

/// The images of one binary.
#[derive(Debug)]
pub(super) struct OffloadBinary {
    /// Size of the binary in bytes: at least its header.
    pub(super) size: usize,
    /// The readable images.
    pub(super) images: Vec<Image>,
    /// The unreadable ones, with offsets relative to the start of the binary.
    pub(super) problems: Vec<CodeObjectError>,
}

impl OffloadBinary {
    /// Reads at most `most` images of a binary at the start of `bytes`.
    ///
    /// # Errors
    /// The header or the table of entries leaves the bytes; the version is unknown.
    pub(super) fn read(bytes: &[u8], most: usize) -> Result<Self> {
        let header = range(bytes, "offload binary's header", 0, HEADER)?;
        let version = u32_at(header, 4).unwrap_or_default();
        let [size, entries, count] = [8, 16, 24].map(|at| u64_at(header, at).unwrap_or_default());
        if !(1..=2).contains(&version) {
            let why = format!("version {version}, expected 1 or 2");
            return Err(CodeObjectError::Malformed { what: "offload binary".to_owned(), offset: 4, why });
        }
        if size < HEADER {
            let why = format!("a size of {size} bytes, less than its header");
            return Err(CodeObjectError::Malformed { what: "offload binary".to_owned(), offset: 8, why });
        }
        // In version 1 the field is the size of the one entry.
        let count = if version == 1 { 1 } else { count };
        let whole = range(bytes, "offload binary", 0, size)?;
        let mut read = Self { size: whole.len(), images: Vec::new(), problems: Vec::new() };
        for index in 0..count {
            if read.images.len() + read.problems.len() >= most {
                break;
            }
            let place = index.checked_mul(ENTRY).and_then(|skip| entries.checked_add(skip));
            let entry = range(whole, "offload binary's entry", place.unwrap_or(u64::MAX), ENTRY)?;
            match image(whole, entry, version) {
                Ok(image) => read.images.push(image),
                Err(problem) => read.problems.push(problem),
            }
        }
        Ok(read)
    }

    /// Returns the offset of the first binary at or after `at`.
    pub(super) fn next(bytes: &[u8], at: usize) -> Option<usize> {
        let starts = (at.checked_next_multiple_of(ALIGNMENT)?..bytes.len()).step_by(ALIGNMENT);
        starts.into_iter().find(|start| bytes.get(*start..).is_some_and(|rest| rest.starts_with(MAGIC)))
    }
}

/// Reads one entry.
fn image(whole: &[u8], entry: &[u8], version: u32) -> Result<Image> {
    let long = |at| u64_at(entry, at).unwrap_or_default();
    let kind = u16_at(entry, 2).unwrap_or_default();
    let (strings, count, start, size) = (long(8), long(16), long(24), long(32));
    let (mut triple, mut arch) = (None, None);
    let width = if version == 1 { 16 } else { 24 };
    for index in 0..count.min(MAX_STRINGS) {
        let place = strings.saturating_add(index * width);
        let row = range(whole, "offload binary's strings", place, width)?;
        let field = |at| u64_at(row, at).unwrap_or_default();
        let key = usize::try_from(field(0)).ok().and_then(|start| whole.get(start..)).unwrap_or_default();
        // Each key counts once, so that many strings cost no more than two.
        let value = match key {
            _ if key.starts_with(b"triple\0") && triple.is_none() => &mut triple,
            _ if key.starts_with(b"arch\0") && arch.is_none() => &mut arch,
            _ => continue,
        };
        let bytes = text(whole, field(8), (version > 1).then(|| field(16)))?;
        *value = Some(clean(String::from_utf8_lossy(bytes)).into_owned());
    }
    let id = id(&kind_name(kind), &triple.unwrap_or_default(), &arch.unwrap_or_default());
    let bytes = range(whole, &format!("image {id}"), start, size)?;
    let start = bytes.as_ptr() as usize - whole.as_ptr() as usize;
    Ok(Image { id, bytes: start..start + bytes.len() })
}

/// A string: of `size` bytes, or up to its NUL.
fn text(whole: &[u8], at: u64, size: Option<u64>) -> Result<&[u8]> {
    const WHAT: &str = "offload binary's string";
    let rest = (whole.len() as u64).saturating_sub(at);
    let bytes = range(whole, WHAT, at, size.unwrap_or(rest).min(MAX_ID + 1))?;
    let end = if size.is_none() { bytes.iter().position(|byte| *byte == 0) } else { Some(bytes.len()) };
    let fail = || {
        let why = format!("longer than {MAX_ID} bytes, or without an end");
        CodeObjectError::Malformed { what: WHAT.to_owned(), offset: at, why }
    };
    end.filter(|end| *end as u64 <= MAX_ID).and_then(|end| bytes.get(..end)).ok_or_else(fail)
}

/// The offload kind in the notation of bundles.
fn kind_name(kind: u16) -> String {
    match kind {
        0 => "none".to_owned(),
        1 => "openmp".to_owned(),
        2 => "cuda".to_owned(),
        4 => "hip".to_owned(),
        8 => "sycl".to_owned(),
        other => format!("kind{other}"),
    }
}

/// KIND-ARCH-VENDOR-OS-ENVIRONMENT-TARGET: a triple of three parts has no environment.
fn id(kind: &str, triple: &str, arch: &str) -> String {
    let missing = 3usize.saturating_sub(triple.matches('-').count());
    format!("{kind}-{triple}{}-{arch}", "-".repeat(missing))
}
