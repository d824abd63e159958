//! Containers of several code objects: offload bundles, compressed or not, offload binaries, and host files with them.
//!
//! Clang Offload Bundler, "Bundled Binary File Layout" and "Compression and Decompression". A host ELF has bundles in
//! section `.hip_fatbin`, one per linked object, padded with zeros between them. A compiler's intermediate file has one
//! section `__CLANG_OFFLOAD_BUNDLE__ID` for each entry. Programs with OpenMP, and objects of `-fgpu-rdc` by the new
//! driver, have offload binaries in section `.llvm.offloading`; objects that `clang -r` linked, and the programs of such
//! objects, in `.llvm.offloading.relocatable`.

use std::ops::Range;

use super::bytes::Bytes;
use super::error::{CodeObjectError, Result};
use super::header::{BITCODE_MAGIC, BUNDLE_MAGIC, COMPRESSED_BUNDLE_MAGIC, SPIRV_MAGIC};
use super::offload::{self, OffloadBinary};
use super::section::{self, UnpackLimit, UnpackMemory};
use crate::clean::clean;
use crate::elf::read::{self, ElfError, machine, range};
use crate::elf::{CompressionFormat, ELFCLASS64, ELFDATA2LSB, ELFMAG, EM_AMDGPU, LE};
use crate::integers::{u16_at, u32_at, u64_at};
use crate::work::{self, Count};

/// Section of a host program with HIP's bundles.
const FATBIN_SECTION: &str = ".hip_fatbin";
/// Section of a host file with LLVM's offload binaries; more may follow its name after a point.
const OFFLOAD_SECTION: &str = ".llvm.offloading";
/// Maximum entries of all bundles of a file; ROCm's largest libraries have a few hundred.
pub const MAX_ENTRIES: usize = 65_536;
/// Maximum candidate ends tried for a compressed bundle of version 1, which has no size field.
const MAX_ENDS: usize = 8;
/// Maximum length of an entry ID in bytes.
pub(super) const MAX_ID: u64 = 1024;
/// The target of SPIR-V that the runtime compiles for any GPU.
const SPIRV_TARGET: &str = "amdgcnspirv";

/// One code object of a file.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its index among all entries of the file, from 0.
    pub index: usize,
    /// The bundle entry ID, `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-`; `None`: the file is the code object.
    pub id: Option<String>,
    /// Offset of its first byte: in the file, or in the unpacked bundle if that was compressed.
    pub offset: u64,
    /// File offset of the compressed bundle that contains it.
    pub compressed_at: Option<u64>,
    /// Its bytes: an ELF file, LLVM bitcode, nothing for most host entries.
    pub bytes: Bytes,
}

impl Entry {
    /// The runtime that manages it: `hip`, `hipv4`, `openmp`, `host`.
    #[must_use]
    pub fn offload_kind(&self) -> Option<&str> {
        self.id.as_deref()?.split('-').next()
    }

    /// The target ID: `gfx90a:sramecc+:xnack-`; `None` for the host and for an ID without one.
    #[must_use]
    pub fn target_id(&self) -> Option<&str> {
        let id = self.id.as_deref()?;
        // KIND-ARCH-VENDOR-OS-ENV-TARGET. A target may contain hyphens (gfx9-4-generic); its name begins with gfx.
        if id.ends_with("-amdgcnspirv") {
            return Some(SPIRV_TARGET);
        }
        let at = id.rfind("-gfx").map(|at| at + 1)?;
        id.get(at..)
    }

    /// The format of its bytes.
    #[must_use]
    pub fn format(&self) -> ImageFormat {
        ImageFormat::of(&self.bytes)
    }

    /// The processor of the target ID: `gfx90a`.
    #[must_use]
    pub fn processor(&self) -> Option<&str> {
        self.target_id()?.split(':').next()
    }

    /// Whether `asked` is its index, its ID, its target ID, or its ID without the offload kind.
    #[must_use]
    pub fn is(&self, asked: &str) -> bool {
        let Some(id) = self.id.as_deref() else { return asked.parse() == Ok(self.index) };
        asked.parse() == Ok(self.index)
            || asked == id
            || Some(asked) == self.target_id()
            || id.split_once('-').is_some_and(|(_, triple)| triple == asked)
    }
}

/// The format of an entry's bytes, by their first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    /// No bytes: the host entry of most bundles.
    Empty,
    /// An ELF file.
    Elf,
    /// LLVM bitcode, which the linker of the device code compiles.
    Bitcode,
    /// SPIR-V, which the runtime compiles for the GPU.
    Spirv,
    /// Another format.
    Other,
}

impl ImageFormat {
    /// Returns the format of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [] => Self::Empty,
            _ if bytes.starts_with(&ELFMAG) => Self::Elf,
            _ if bytes.starts_with(BITCODE_MAGIC) => Self::Bitcode,
            _ if bytes.starts_with(SPIRV_MAGIC) => Self::Spirv,
            _ => Self::Other,
        }
    }

    /// Describes code that is compiled later, which no wave runs in this form; `None` for other formats.
    #[must_use]
    pub fn uncompiled(self) -> Option<&'static str> {
        match self {
            Self::Bitcode => Some("LLVM bitcode: the linker makes the code object of it"),
            Self::Spirv => Some("SPIR-V: the runtime compiles it when it loads it"),
            Self::Empty | Self::Elf | Self::Other => None,
        }
    }
}

/// The code objects of a file.
#[derive(Debug, Default)]
pub struct FatFile {
    /// All entries in the file's order, host entries included.
    pub entries: Vec<Entry>,
    /// The unreadable parts, which are omitted.
    pub problems: Vec<CodeObjectError>,
    /// The entry after which nothing is read.
    last: Option<String>,
    /// Whether it was read.
    is_found: bool,
}

impl FatFile {
    /// Whether the bytes begin with a bundle or an offload binary.
    #[must_use]
    pub fn is_bundle(file: &[u8]) -> bool {
        [BUNDLE_MAGIC, COMPRESSED_BUNDLE_MAGIC, offload::MAGIC].iter().any(|magic| file.starts_with(magic))
    }

    /// The entries of the bundles that begin in a range of the file.
    ///
    /// A loader's URI may name a bundle instead of one code object.
    pub fn within(&self, range: Range<u64>) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| range.contains(&entry.compressed_at.unwrap_or(entry.offset)))
    }

    /// Finds the code objects of a file: a code object, an offload bundle or binary or several, a host file with them.
    ///
    /// # Errors
    /// [`CodeObjectError::Identity`] if it is none of these, or a host ELF without code objects.
    pub fn read(file: &Bytes) -> Result<Self> {
        Self::read_within(file, &UnpackMemory::default())
    }

    /// [`Self::read`] up to the first entry that `asked` names: bundles behind it are not unpacked.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_up_to(file: &Bytes, asked: &str) -> Result<Self> {
        let last = Some(asked.to_owned());
        Self { last, ..Self::default() }.filled(file, &UnpackMemory::default())
    }

    /// [`Self::read`] of a file whose compressed bundles share a bound with those of others.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_within(file: &Bytes, memory: &UnpackMemory) -> Result<Self> {
        Self::default().filled(file, memory)
    }

    fn filled(self, file: &Bytes, memory: &UnpackMemory) -> Result<Self> {
        let mut found = self;
        let unpack_limit = UnpackLimit::of(file, memory);
        if file.starts_with(offload::MAGIC) {
            found.offload_binaries(file, 0);
        } else if Self::is_bundle(file) {
            found.bundles(file, 0, None, &unpack_limit);
        } else if file.starts_with(&ELFMAG) && machine(file) != Some(EM_AMDGPU) {
            found.host(file, &unpack_limit)?;
        } else {
            super::header::Header::read(file)?;
            found.push(None, 0, None, file.clone());
        }
        Ok(found)
    }

    /// Returns the entry that `asked` names.
    #[must_use]
    pub fn entry(&self, asked: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.is(asked))
    }

    fn push(&mut self, id: Option<String>, offset: u64, compressed_at: Option<u64>, bytes: Bytes) {
        let index = self.entries.len();
        let entry = Entry { index, id, offset, compressed_at, bytes };
        self.is_found |= self.last.as_deref().is_some_and(|last| entry.is(last));
        self.entries.push(entry);
    }

    /// Reads the bundles of a host ELF.
    fn host(&mut self, file: &Bytes, unpack_limit: &UnpackLimit) -> Result<()> {
        let header = read::file_header(file)?;
        let (class, data) = (header.e_ident.class, header.e_ident.data);
        if (class, data) != (ELFCLASS64, ELFDATA2LSB) {
            let found = format!("of class {class} and encoding {data}");
            let expected = "2 and 1 (64-bit, little-endian)";
            return Err(CodeObjectError::Identity { what: "the host ELF", offset: 4, found, expected });
        }
        let sections = section::read_all(file, header, unpack_limit)?;
        let (mut found, mut left) = (false, file.len());
        for section in &sections {
            if self.is_found {
                break;
            }
            let id = section.name.strip_prefix("__CLANG_OFFLOAD_BUNDLE__");
            let rest = section.name.strip_prefix(OFFLOAD_SECTION);
            let has_binaries = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            if id.is_none() && !has_binaries && section.name != FATBIN_SECTION {
                continue;
            }
            found = true;
            let bytes = match (section.contents(file, unpack_limit), id) {
                (Err(problem), _) => {
                    self.problems.push(problem);
                    continue;
                }
                (Ok(bytes), Some(id)) => {
                    self.push(Some(id.to_owned()), section.offset, None, bytes);
                    continue;
                }
                (Ok(bytes), None) => bytes,
            };
            // The unpacked bytes of compressed sections have a bound of their own.
            if file.slice_ref(&bytes).is_some() {
                let Some(rest) = left.checked_sub(bytes.len()) else {
                    let what = format!("section {}", section.name);
                    let why = "it overlaps other sections with code objects; the rest is left out".to_owned();
                    self.problems.push(CodeObjectError::Malformed { what, offset: section.offset, why });
                    break;
                };
                left = rest;
            }
            work::count(Count::Bytes, bytes.len() as u64);
            match has_binaries {
                true => self.offload_binaries(&bytes, section.offset),
                false => self.bundles(&bytes, section.offset, None, unpack_limit),
            }
        }
        if found {
            return Ok(());
        }
        Err(CodeObjectError::Identity {
            what: "e_machine",
            offset: 18,
            found: format!(
                "{} and no section is {FATBIN_SECTION} or {OFFLOAD_SECTION}",
                header.e_machine.get(LE)
            ),
            expected: "224 (AMDGPU), or a host program with code objects",
        })
    }

    /// Reads all bundles of `bytes`, which begin at offset `base` of the file; skips the bytes between them.
    fn bundles(&mut self, bytes: &Bytes, base: u64, compressed_at: Option<u64>, unpack_limit: &UnpackLimit) {
        let mut at = 0;
        while let Some(start) = next_bundle(bytes, at) {
            let Some(rest) = bytes.slice(start..bytes.len()) else { return };
            let place = base.saturating_add(start as u64);
            let done = if rest.starts_with(BUNDLE_MAGIC) {
                self.plain(&rest, place, compressed_at)
            } else if compressed_at.is_none() {
                self.compressed(&rest, place, unpack_limit)
            } else {
                // clang never nests compressed bundles; hostile files could nest without end.
                let why = "a compressed bundle in a compressed bundle".to_owned();
                Err(CodeObjectError::Malformed { what: "offload bundle".to_owned(), offset: place, why })
            };
            // The bundle's size leads to the next one, so a magic within code is ignored.
            at = start.saturating_add(match done {
                Ok(size) => size.max(1),
                Err(problem) => {
                    self.problems.push(problem);
                    1
                }
            });
            if self.is_found || self.is_full("offload bundle", place) {
                return;
            }
        }
    }

    /// Whether there are as many entries as are read; reports that.
    fn is_full(&mut self, what: &str, offset: u64) -> bool {
        let is_full = self.entries.len() >= MAX_ENTRIES || self.problems.len() >= MAX_ENTRIES;
        if is_full {
            let why = format!("more than {MAX_ENTRIES} entries; the others are left out");
            self.problems.push(CodeObjectError::Malformed { what: what.to_owned(), offset, why });
        }
        is_full
    }

    /// Reads all offload binaries of `bytes`, which begin at offset `base` of the file.
    fn offload_binaries(&mut self, bytes: &Bytes, base: u64) {
        let mut at = 0;
        while let Some(start) = OffloadBinary::next(bytes, at) {
            let Some(rest) = bytes.slice(start..bytes.len()) else { return };
            let place = base.saturating_add(start as u64);
            let most = MAX_ENTRIES.saturating_sub(self.entries.len());
            // The size leads to the next binary, so a magic within an image is ignored.
            at = start.saturating_add(match OffloadBinary::read(&rest, most) {
                Ok(read) => {
                    for image in read.images {
                        let offset = place.saturating_add(image.bytes.start as u64);
                        let bytes = rest.slice(image.bytes).unwrap_or_else(Bytes::empty);
                        self.push(Some(image.id), offset, None, bytes);
                    }
                    self.problems.extend(read.problems.into_iter().map(|problem| problem.moved(place)));
                    read.size
                }
                Err(problem) => {
                    self.problems.push(problem.moved(place));
                    1
                }
            });
            if self.is_found || self.is_full("offload binary", place) {
                return;
            }
        }
    }

    /// Reads an uncompressed bundle; returns its size in bytes.
    fn plain(&mut self, bundle: &Bytes, base: u64, compressed_at: Option<u64>) -> Result<usize> {
        let at = |offset: usize| base.saturating_add(offset as u64);
        let table = |offset: usize, length: u64| {
            range(bundle, "offload bundle's table", offset as u64, length).map_err(|error| moved(error, base))
        };
        let mut next = BUNDLE_MAGIC.len() + 8;
        let long = |bytes, at| u64_at(bytes, at).unwrap_or_default();
        let count = long(table(BUNDLE_MAGIC.len(), 8)?, 0);
        let mut end = next;
        for _ in 0..count {
            if self.entries.len() >= MAX_ENTRIES {
                break;
            }
            let fields = table(next, 24)?;
            let (offset, size, length) = (long(fields, 0), long(fields, 8), long(fields, 16));
            if length > MAX_ID {
                let why = format!("an entry ID of {length} bytes, expected at most {MAX_ID}");
                let what = "offload bundle's table".to_owned();
                return Err(CodeObjectError::Malformed { what, offset: at(next + 16), why });
            }
            let id = clean(String::from_utf8_lossy(table(next + 24, length)?)).into_owned();
            next += 24 + length as usize;
            end = end.max(next);
            match range(bundle, &format!("entry {id}"), offset, size) {
                Ok(bytes) => {
                    end = end.max((offset + size) as usize);
                    let bytes = bundle.slice_ref(bytes).unwrap_or_else(Bytes::empty);
                    self.push(Some(id), base.saturating_add(offset), compressed_at, bytes);
                }
                Err(error) => self.problems.push(moved(error, base)),
            }
        }
        Ok(end)
    }

    /// Reads a compressed bundle; returns its size in bytes.
    fn compressed(&mut self, bundle: &Bytes, base: u64, unpack_limit: &UnpackLimit) -> Result<usize> {
        let malformed = |why: String| {
            let what = "compressed offload bundle".to_owned();
            CodeObjectError::Malformed { what, offset: base, why }
        };
        let header = |length| {
            range(bundle, "compressed offload bundle's header", 0, length).map_err(|error| moved(error, base))
        };
        let half = |bytes, at| u16_at(bytes, at).unwrap_or_default();
        let word = |bytes, at| u32_at(bytes, at).map_or(0, u64::from);
        let long = |bytes, at| u64_at(bytes, at).unwrap_or_default();
        let start = header(8)?;
        let (version, method) = (half(start, 4), half(start, 6));
        let (length, total, size) = match version {
            1 => (20, None, word(header(20)?, 8)),
            2 => (24, Some(word(header(24)?, 8)), word(header(24)?, 12)),
            3 => (32, Some(long(header(32)?, 8)), long(header(32)?, 16)),
            _ => return Err(malformed(format!("version {version}, expected 1, 2 or 3"))),
        };
        let format = match method {
            0 => CompressionFormat::Zlib,
            1 => CompressionFormat::Zstandard,
            _ => {
                return Err(malformed(format!("compression method {method}, expected 0 (zlib) or 1 (zstd)")));
            }
        };
        let unpack = |total: u64| {
            let data = range(bundle, "compressed offload bundle", length, total - length);
            let data = data.map_err(|error| moved(error, base))?;
            section::unpack(format, data, size, unpack_limit).map_err(|why| malformed(why.to_string()))
        };
        let (total, unpacked) = match total {
            Some(total) if total < length => {
                return Err(malformed(format!("a size of {total} bytes, less than its header")));
            }
            Some(total) => (total, unpack(total)?),
            // Version 1 has no size: the bundle ends at the next magic, unless that is part of its data.
            None => {
                let mut ends = Vec::new();
                let mut at = length as usize;
                while let Some(next) = next_bundle(bundle, at).filter(|_| ends.len() < MAX_ENDS) {
                    ends.push(next as u64);
                    at = next + 1;
                }
                ends.push(bundle.len() as u64);
                let found = ends.iter().find_map(|end| Some((*end, unpack(*end).ok()?)));
                match found {
                    Some(found) => found,
                    None => (bundle.len() as u64, unpack(bundle.len() as u64)?),
                }
            }
        };
        if unpacked.starts_with(BUNDLE_MAGIC) {
            self.bundles(&Bytes::from(unpacked), 0, Some(base), unpack_limit);
        } else {
            self.problems.push(malformed("its unpacked content is no offload bundle".to_owned()));
        }
        Ok(usize::try_from(total).unwrap_or(usize::MAX))
    }
}

/// Converts an error whose offset is relative to `base`.
fn moved(error: ElfError, base: u64) -> CodeObjectError {
    CodeObjectError::from(error).moved(base)
}

/// Returns the start of the next bundle at or after `at`.
fn next_bundle(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    // CCOB may be data: a header has a version and a method after it.
    let is_compressed = |window: &[u8]| {
        let half = |at| u16_at(window, at);
        window.starts_with(COMPRESSED_BUNDLE_MAGIC)
            && half(4).is_some_and(|version| (1..=3).contains(&version))
            && half(6).is_some_and(|method| method <= 1)
    };
    if rest.starts_with(COMPRESSED_BUNDLE_MAGIC) {
        return Some(at);
    }
    let starts = rest.iter().enumerate().filter(|(_, byte)| matches!(byte, b'_' | b'C'));
    let mut found = starts.filter(|(index, _)| {
        let window = rest.get(*index..).unwrap_or(&[]);
        window.starts_with(BUNDLE_MAGIC) || (window.len() >= 20 && is_compressed(window))
    });
    found.next().map(|(index, _)| at + index)
}
