//! Detects a file's format by its bytes, never by its name.

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use memchr::{memchr, memmem, memrchr};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use super::text::{self, Order, Utf16, find};
use super::{agent_log, faults, umr};
use crate::elf::{
    DataEncoding, ELFCLASS32, ELFCLASS64, ELFDATA2LSB, ELFDATA2MSB, ELFMAG, ET_CORE, FileClass, FileType,
};
use crate::integers::u16_at;

/// Maximum number of bytes in the first look.
pub(super) const START: usize = 4096;

/// A supported format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A zip with a lanescope dump.
    Zip,
    /// A manifest of a lanescope dump: text.
    Manifest,
    /// An ELF core file: ROCm's GPU core, a host core with GPU waves, or one without.
    Core,
    /// Text with a log of ROCm's debug agent.
    AgentLog,
    /// umr's text on waves.
    UmrText,
    /// umr's JSON on waves, alone or in other text.
    UmrJson,
    /// A device core dump of amdgpu, which has no waves.
    DeviceDump,
}

/// The description of other text.
const UNKNOWN_TEXT: &str = "text of no known format";

/// The type of a file that is no capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OtherFileError {
    #[error("{0}")]
    Known(&'static str),
    /// Text with a fault report of a runtime.
    #[error("text without a report on waves; a fault is reported in it: {0}")]
    Fault(String),
}

impl OtherFileError {
    /// Whether the file is text of another program.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Known(UNKNOWN_TEXT) | Self::Fault(_))
    }
}

/// The format of a file by its first bytes, or a description of an unsupported one; `again` rereads the file from its
/// start if its first bytes do not decide.
pub(super) fn format<R: Read>(
    start: &[u8],
    again: impl FnMut() -> io::Result<R>,
) -> io::Result<Result<Format, OtherFileError>> {
    format_within(start, again, &MOST)
}

/// [`format()`] with given limits.
fn format_within<R: Read>(
    start: &[u8],
    mut again: impl FnMut() -> io::Result<R>,
    most: &Most,
) -> io::Result<Result<Format, OtherFileError>> {
    let Some(order) = Order::of(start) else {
        return match magic(start) {
            Some(format) => Ok(format),
            None => text_within(start, again, most),
        };
    };
    let mut decoded = Vec::new();
    Utf16::new(start, order).read_to_end(&mut decoded)?;
    let format = text_within(&decoded, || Ok(Utf16::new(again()?, order)), most)?;
    Ok(match format {
        Ok(Format::Manifest) => Err(OtherFileError::Known("a manifest in UTF-16, where UTF-8 is read")),
        format => format,
    })
}

/// [`format_within`] for text.
fn text_within<R: Read>(
    start: &[u8],
    mut again: impl FnMut() -> io::Result<R>,
    most: &Most,
) -> io::Result<Result<Format, OtherFileError>> {
    if is_manifest(start) {
        return Ok(Ok(Format::Manifest));
    }
    if text_of(start).starts_with(faults::DEVICE_DUMP.as_bytes()) {
        return Ok(Ok(Format::DeviceDump));
    }
    if let Some(format) = first_line_of_a_log(start).0 {
        return Ok(Ok(format));
    }
    let json = begins_json(start);
    let document = if json { document(again()?.take(most.document)) } else { Document::No };
    let found = search(again()?.take(most.searched))?;
    Ok(match found.format {
        // Other logs are no part of a JSON document: a string of it only resembles one.
        Some(format) if format == Format::UmrJson || document != Document::Whole => Ok(format),
        _ if document == Document::Whole => Ok(Format::Manifest),
        _ if found.idle => Ok(Format::UmrText),
        _ if start.is_empty() => Err(OtherFileError::Known("an empty file")),
        _ if start.contains(&0) => Err(OtherFileError::Known("a binary file")),
        _ if document == Document::Broken || (!json && resembles_toml(start)) => Ok(Format::Manifest),
        _ => Err(found.fault.map_or(OtherFileError::Known(UNKNOWN_TEXT), OtherFileError::Fault)),
    })
}

/// The format of a file whose first bytes are no text, or its unsupported type; `None`: possibly text.
pub(super) fn magic(start: &[u8]) -> Option<Result<Format, OtherFileError>> {
    if is_zip(start) {
        return Some(Ok(Format::Zip));
    }
    if start.starts_with(&ELFMAG) {
        return Some(elf(start));
    }
    let others: [(&[u8], &str); 5] = [
        (b"\x1f\x8b", "a gzip file: unpack it first"),
        (b"\x28\xb5\x2f\xfd", "a zstd file: unpack it first"),
        (b"\xff\xfe\0\0", "text in UTF-32, where UTF-8 and UTF-16 are read"),
        (b"\xff\xfe", "text in UTF-16"),
        (b"\xfe\xff", "text in UTF-16"),
    ];
    others.iter().find(|(mark, _)| start.starts_with(mark)).map(|(_, what)| Err(OtherFileError::Known(what)))
}

/// Maximum searched bytes of a text for the first line of a log. A long run may print gigabytes before it; the search
/// takes half a second per gigabyte, once.
const MAX_SEARCHED: u64 = 1 << 30;

/// Maximum length of a line that the search recognizes across two chunks.
const MAX_LEFT: usize = 64 << 10;

/// Maximum bytes read to find out whether they are one JSON document: the size of the largest manifest.
const MAX_DOCUMENT: u64 = 64 << 20;

/// Limits in bytes for the detection of a format.
#[derive(Clone, Copy, Debug)]
struct Most {
    searched: u64,
    document: u64,
}

const MOST: Most = Most { searched: MAX_SEARCHED, document: MAX_DOCUMENT };

/// Text without a UTF-8 byte order mark, which some editors write, and without leading blanks.
fn text_of(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start()
}

/// Whether text with this start is certainly a manifest: its `format` precedes its tables, or is first in its object.
fn is_manifest(start: &[u8]) -> bool {
    let text = text_of(start);
    if text.starts_with(b"{") {
        return has_format(text);
    }
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut keys = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let first = keys.find(|line| line.starts_with(b"[") || line.starts_with(b"format"));
    first
        .and_then(|line| line.strip_prefix(b"format"))
        .is_some_and(|rest| rest.trim_ascii_start().starts_with(b"="))
}

/// Whether a JSON object, possibly truncated, has a number as its `format`.
fn has_format(text: &[u8]) -> bool {
    struct Keys<'k>(&'k Cell<bool>);
    impl<'de> Visitor<'de> for Keys<'_> {
        type Value = ();

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<String>()? {
                if key == "format" {
                    let value = map.next_value::<serde_json::Value>()?;
                    self.0.set(self.0.get() || value.is_u64());
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }
    let found = Cell::new(false);
    // Truncation is an error; the bytes before it count.
    let _ = serde_json::Deserializer::from_slice(text).deserialize_map(Keys(&found));
    found.get()
}

/// Whether text with this start is JSON: `{'lr': 0.1}` is another language.
fn begins_json(start: &[u8]) -> bool {
    let inner = text_of(start).strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|inner| matches!(inner.first(), None | Some(b'"' | b'}')))
}

/// The JSON extent of a text that begins like JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Document {
    /// One document.
    Whole,
    /// One truncated or malformed document.
    Broken,
    /// Text whose first line is a document.
    No,
}

fn document(source: impl Read) -> Document {
    let mut source = BufReader::new(source);
    let mut start = [0; 3];
    // A file with that mark is not read further: its reader reports errors.
    if source.read_exact(&mut start).is_ok() && start == *b"\xef\xbb\xbf" {
        return Document::Broken;
    }
    let source = start.as_slice().chain(source);
    let mut values = serde_json::Deserializer::from_reader(source).into_iter::<IgnoredAny>();
    match (values.next(), values.next()) {
        (Some(Ok(_)), None) => Document::Whole,
        (Some(Ok(_)), Some(_)) => Document::No,
        _ => Document::Broken,
    }
}

/// Whether text with this start is TOML: its first line is a key or a table, or a line belongs to a manifest.
fn resembles_toml(start: &[u8]) -> bool {
    let lines = text_of(start).split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).peekable();
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'"' | b' ');
    let is_key = |line: &&[u8]| {
        let key = line.split(|byte| *byte == b'=').next().unwrap_or_default();
        let table = line.strip_prefix(b"[").and_then(|line| line.strip_suffix(b"]"));
        let table = table.map(|table| table.strip_prefix(b"[").unwrap_or(table));
        let table = table.map(|table| table.strip_suffix(b"]").unwrap_or(table));
        let table = table
            .is_some_and(|table| table.iter().all(name) && table.first().is_some_and(u8::is_ascii_lowercase));
        table
            || (key.len() < line.len()
                && !key.is_empty()
                && key.trim_ascii().iter().all(|byte| name(byte) && *byte != b' '))
    };
    lines.peek().is_some_and(is_key)
        || lines.any(|line| line.starts_with(b"[[") || (line.starts_with(b"format") && is_key(&line)))
}

/// The result of a search.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    format: Option<Format>,
    /// Whether umr reports that there are no waves.
    idle: bool,
    /// The runtime's fault report.
    fault: Option<String>,
}

/// Searches a text for the first line of a log.
fn search(mut source: impl Read) -> io::Result<Found> {
    const CHUNK: usize = 1 << 20;
    let mut buffer = Vec::with_capacity(CHUNK + MAX_LEFT);
    let mut found = Found::default();
    loop {
        if source.by_ref().take(CHUNK as u64).read_to_end(&mut buffer)? == 0 {
            return Ok(found);
        }
        let (format, searched) = first_line_of_a_log(&buffer);
        if format.is_some() {
            return Ok(Found { format, ..found });
        }
        found.idle |= find(&buffer, umr::IDLE).is_some();
        if found.fault.is_none()
            && let Some(at) = find(&buffer, faults::MARK)
        {
            let (start, end) = line_around(&buffer, at);
            found.fault = Some(text::excerpt(buffer.get(start..end).unwrap_or_default()));
        }
        let keep = buffer.len().saturating_sub(searched).min(MAX_LEFT);
        buffer.drain(..buffer.len() - keep);
    }
}

/// The format of the first line that begins a log, and the end of the last complete line.
fn first_line_of_a_log(text: &[u8]) -> (Option<Format>, usize) {
    let whole = memrchr(b'\n', text).map_or(0, |at| at + 1);
    let marks = [
        ("wave_", Format::AgentLog),
        (" wavefront(s) found in ", Format::AgentLog),
        ("simd", Format::UmrText),
        ("SIMD WAVE#", Format::UmrText),
    ];
    let mut best = umr::next_list(text, 0).map(|at| (at, Format::UmrJson));
    for (mark, format) in marks {
        // Lines after the found one do not count.
        let text = text.get(..best.map_or(text.len(), |(at, _)| at)).unwrap_or_default();
        let finder = memmem::Finder::new(mark);
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| finder.find(rest)) {
            let (start, end) = line_around(text, from + at);
            let line = text::unwrapped(text.get(start..end).unwrap_or_default());
            let begins = match format {
                Format::AgentLog => agent_log::begins_report(&line),
                _ => umr::begins_wave(&line),
            };
            if begins {
                best = Some((start, format));
                break;
            }
            // Checks each line once, even with several marks.
            from = end;
        }
    }
    (best.map(|(_, format)| format), whole)
}

/// Start and end of the line around an offset.
fn line_around(text: &[u8], at: usize) -> (usize, usize) {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, &[]));
    let start = memrchr(b'\n', before).map_or(0, |at| at + 1);
    (start, before.len() + memchr(b'\n', after).unwrap_or(after.len()))
}

/// Whether bytes begin like a zip; an empty zip begins with its directory's end.
pub(super) fn is_zip(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06")
}

/// Any ELF file, even truncated: EI_CLASS, EI_DATA and e_type. The core's reader checks its contents.
fn elf(start: &[u8]) -> Result<Format, OtherFileError> {
    let byte = |at: usize| start.get(at).copied();
    let other = match (byte(4).map(FileClass), byte(5).map(DataEncoding), u16_at(start, 16).map(FileType)) {
        (Some(ELFCLASS64), Some(ELFDATA2LSB), Some(ET_CORE)) => return Ok(Format::Core),
        (Some(ELFCLASS32), ..) => "a 32-bit ELF file",
        (_, Some(ELFDATA2MSB), _) => "a big-endian ELF file",
        (Some(ELFCLASS64), Some(ELFDATA2LSB), Some(_)) => {
            "an ELF file, but no core: `lanescope code-object` describes programs, libraries and code objects"
        }
        (Some(ELFCLASS64), Some(ELFDATA2LSB), None) => "the first bytes of an ELF file",
        _ => "a damaged ELF file",
    };
    Err(OtherFileError::Known(other))
}

#[cfg(test)]
mod tests;
