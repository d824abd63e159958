//! What a file is, told by its first bytes and never by its name.

/// The most bytes that [`format`] looks at.
pub(super) const START: usize = 4096;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A zip with a lanescope dump in it.
    Zip,
    /// A manifest of a lanescope dump: text.
    Manifest,
    /// An ELF core file: ROCm's GPU core, a host core with GPU waves, or one without.
    Core,
}

/// The format of a file that begins so, or what it is instead.
pub(super) fn format(start: &[u8]) -> Result<Format, &'static str> {
    if is_zip(start) {
        return Ok(Format::Zip);
    }
    if start.starts_with(b"\x7fELF") {
        return elf(start);
    }
    if start.starts_with(b"\x1f\x8b") {
        return Err("a gzip file");
    }
    if start.starts_with(b"\x28\xb5\x2f\xfd") {
        return Err("a zstd file");
    }
    if start.contains(&0) { Err("a binary file") } else { Ok(Format::Manifest) }
}

/// Whether bytes begin as a zip does; an empty one begins with its directory's end.
pub(super) fn is_zip(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06")
}

/// ELF: EI_CLASS at 4, EI_DATA at 5, e_type at 16. What the core holds is for its reader to say.
fn elf(start: &[u8]) -> Result<Format, &'static str> {
    match (start.get(4), start.get(5), start.get(16..18)) {
        (Some(1), ..) => Err("a 32-bit ELF file"),
        (_, Some(2), _) => Err("a big-endian ELF file"),
        (Some(2), Some(1), Some([4, 0])) => Ok(Format::Core),
        (Some(2), Some(1), Some(_)) => Err("an ELF file, but no core: a program, library or code object"),
        (Some(2), Some(1), None) => Err("the first bytes of an ELF file"),
        _ => Err("a damaged ELF file"),
    }
}

#[cfg(test)]
mod tests;
