//! Code object URIs of a loader: `file:///tmp/a.out#offset=4096&size=8192`, `memory://1234#offset=0x7f00&size=64`.
//!
//! AMD's debugger API, "code object URI": the path is percent-encoded; a range follows `#` or `?`; numbers are decimal,
//! hexadecimal after `0x`, or octal after `0`. A `file` URI without a range means the whole file.

use std::path::Path;

use thiserror::Error;

use crate::clean::clean;

/// Maximum length of a URI; a path has at most 4096 bytes, three characters each when encoded.
const MAX_LENGTH: usize = 16 * 1024;

/// A decoded code object URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    /// The container of the bytes.
    pub place: UriPlace,
    /// Offset of the first byte in the file, or its address in the process.
    pub offset: Option<u64>,
    /// Size in bytes.
    pub size: Option<u64>,
}

/// The target of a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UriPlace {
    /// The decoded path of a file; bytes, because a path may be other than UTF-8.
    File(Vec<u8>),
    /// The memory of a host process.
    Memory {
        /// The process's id.
        pid: u64,
    },
}

/// A syntax error in a code object URI; positions are byte offsets in the text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UriError {
    /// Neither `file://` nor `memory://`.
    #[error("not a code object URI: begins with neither file:// nor memory://")]
    Scheme,
    /// Longer than any path can be.
    #[error("a URI of {0} bytes, expected at most {MAX_LENGTH}")]
    TooLong(usize),
    /// A `%` without two hex digits.
    #[error("`%` at byte {0} of the URI is not followed by two hex digits")]
    Escape(usize),
    /// Not a number.
    #[error("{what} at byte {at} of the URI is `{found}`, expected a number of 64 bits")]
    Number {
        /// `offset`, `size` or `process id`.
        what: &'static str,
        /// Its position.
        at: usize,
        /// The text found.
        found: String,
    },
    /// A range that is not `offset=N&size=N`.
    #[error("`{found}` at byte {at} of the URI, expected offset=N or size=N")]
    Range {
        /// Its position.
        at: usize,
        /// The text found.
        found: String,
    },
    /// A range of memory lacks one of its two numbers.
    #[error("a memory:// URI needs offset and size")]
    MemoryRange,
}

impl Uri {
    /// Whether text begins like a code object URI.
    #[must_use]
    pub fn is_uri(text: &str) -> bool {
        text.starts_with("file://") || text.starts_with("memory://")
    }

    /// Returns a file name for the code object of a path or URI: the last component of the path, or the address in a
    /// process's memory. The process ID is the same for all of them.
    #[must_use]
    pub fn file_name(name: &str) -> String {
        if let Ok(Self { place: UriPlace::Memory { .. }, offset: Some(offset), .. }) = Self::parse(name) {
            return format!("memory_{offset:#x}");
        }
        let is_file = |uri: Self| match uri.place {
            UriPlace::File(path) => Some(clean(String::from_utf8_lossy(&path)).into_owned()),
            UriPlace::Memory { .. } => None,
        };
        let decoded = Self::parse(name).ok().and_then(is_file);
        let path = decoded.as_deref().unwrap_or_else(|| name.split(['#', '?']).next().unwrap_or(name));
        Path::new(path).file_name().map(|last| last.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Parses a URI.
    ///
    /// # Errors
    /// [`UriError`] with the position.
    pub fn parse(text: &str) -> Result<Self, UriError> {
        if text.len() > MAX_LENGTH {
            return Err(UriError::TooLong(text.len()));
        }
        let (scheme, rest) = text.split_once("://").ok_or(UriError::Scheme)?;
        let start = scheme.len() + "://".len();
        let end = rest.find(['#', '?']).unwrap_or(rest.len());
        let (body, range) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let place = match scheme {
            "file" => UriPlace::File(decode(body, start)?),
            "memory" => UriPlace::Memory { pid: number("process id", body, start)? },
            _ => return Err(UriError::Scheme),
        };
        let (mut offset, mut size) = (None, None);
        let mut at = start + end + 1;
        for part in range.get(1..).unwrap_or("").split('&').filter(|_| range.len() > 1) {
            match part.split_once('=') {
                Some(("offset", value)) => offset = Some(number("offset", value, at + 7)?),
                Some(("size", value)) => size = Some(number("size", value, at + 5)?),
                _ => return Err(UriError::Range { at, found: part.to_owned() }),
            }
            at += part.len() + 1;
        }
        if matches!(place, UriPlace::Memory { .. }) && (offset.is_none() || size.is_none()) {
            return Err(UriError::MemoryRange);
        }
        Ok(Self { place, offset, size })
    }
}

fn number(what: &'static str, text: &str, at: usize) -> Result<u64, UriError> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    // `from_str_radix` accepts a sign.
    let plain = digits.chars().all(|digit| digit.is_digit(radix));
    let value = u64::from_str_radix(digits, radix).ok().filter(|_| plain);
    value.ok_or_else(|| UriError::Number { what, at, found: text.to_owned() })
}

fn decode(text: &str, start: usize) -> Result<Vec<u8>, UriError> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            decoded.push(*byte);
            continue;
        }
        let at = start + text.len() - after.len() - 1;
        let digit = |index: usize| after.get(index).and_then(|digit| char::from(*digit).to_digit(16));
        let (Some(high), Some(low)) = (digit(0), digit(1)) else { return Err(UriError::Escape(at)) };
        decoded.push((high * 16 + low) as u8);
        rest = after.get(2..).unwrap_or(&[]);
    }
    Ok(decoded)
}
