//! What a file is, told by its first bytes and never by its name.

use std::io::{self, Read};

use memchr::{memchr, memmem, memrchr};

use super::text::{self, find};
use super::{agent_log, umr};

/// The most bytes that [`format()`] looks at.
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
    /// Text of a program with a log of ROCm's debug agent in it.
    AgentLog,
    /// umr's text on waves.
    UmrText,
    /// umr's JSON on waves.
    UmrJson,
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
    if start.contains(&0) { Err("a binary file") } else { Ok(text_format(start).unwrap_or(Format::Manifest)) }
}

/// How far a text is searched for the first line of a log. Other output may come before it, gigabytes of it in a long
/// run; searching takes half a second a gigabyte, which a user waits for once, and not a minute.
pub(super) const MOST_SEARCHED: u64 = 1 << 30;

/// The format of a text that begins so; `None`: its first lines do not say.
pub(super) fn text_format(start: &[u8]) -> Option<Format> {
    if start.trim_ascii_start().starts_with(b"{") {
        // A manifest has neither of these keys.
        let is_umr = find(start, "\"waves\"").is_some() && find(start, "\"format\"").is_none();
        return is_umr.then_some(Format::UmrJson);
    }
    first_line_of_a_log(start).0
}

/// Whether text that begins so is a manifest for sure: its `format` comes before its tables.
pub(super) fn is_manifest(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if start.trim_ascii_start().starts_with(b"{") {
        return true;
    }
    let lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut keys = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    keys.find(|line| line.starts_with(b"[") || line.starts_with(b"format"))
        .is_some_and(|line| line.get(6..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b"=")))
}

/// Searches a text for the first line of a log; `Ok(None)`: there is none as far as is searched.
pub(super) fn search(mut source: impl Read) -> io::Result<Option<Format>> {
    const CHUNK: usize = 1 << 20;
    // What may be the beginning of a line that goes on in the next chunk.
    const MOST_LEFT: usize = 64 << 10;
    let mut buffer = Vec::with_capacity(CHUNK + MOST_LEFT);
    let mut source = source.by_ref().take(MOST_SEARCHED);
    loop {
        if source.by_ref().take(CHUNK as u64).read_to_end(&mut buffer)? == 0 {
            return Ok(None);
        }
        let (found, searched) = first_line_of_a_log(&buffer);
        if found.is_some() {
            return Ok(found);
        }
        let keep = buffer.len().saturating_sub(searched).min(MOST_LEFT);
        buffer.drain(..buffer.len() - keep);
    }
}

/// The format of the first line that begins a log, and how far the text has whole lines.
fn first_line_of_a_log(text: &[u8]) -> (Option<Format>, usize) {
    let whole = memrchr(b'\n', text).map_or(0, |at| at + 1);
    let marks = [
        ("wave_", Format::AgentLog),
        (" wavefront(s) found in ", Format::AgentLog),
        ("simd", Format::UmrText),
        ("SIMD WAVE#", Format::UmrText),
    ];
    let mut best: Option<(usize, Format)> = None;
    for (mark, format) in marks {
        // Behind the one that was found nothing counts.
        let text = text.get(..best.map_or(text.len(), |(at, _)| at)).unwrap_or_default();
        let finder = memmem::Finder::new(mark);
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| finder.find(rest)) {
            let (start, end) = line_around(text, from + at);
            let line = text::uncoloured(text.get(start..end).unwrap_or_default());
            let begins = match format {
                Format::AgentLog => agent_log::begins_report(&line),
                _ => umr::begins_wave(&line),
            };
            if begins {
                best = Some((start, format));
                break;
            }
            // Each line once, however often it has the mark.
            from = end;
        }
    }
    (best.map(|(_, format)| format), whole)
}

/// Where the line around a place begins and ends.
fn line_around(text: &[u8], at: usize) -> (usize, usize) {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, &[]));
    let start = memrchr(b'\n', before).map_or(0, |at| at + 1);
    (start, before.len() + memchr(b'\n', after).unwrap_or(after.len()))
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
