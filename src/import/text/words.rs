//! Words of a line: spaces, numbers, names.

use memchr::memmem;

use crate::clean::clean;
use crate::work::{self, Count};

/// Maximum bytes of an [`excerpt`].
pub(in crate::import) const MAX_EXCERPT: usize = 400;

/// The start of an untrusted line, for messages.
pub(in crate::import) fn excerpt(line: &[u8]) -> String {
    let start = line.get(..line.len().min(MAX_EXCERPT)).unwrap_or_default();
    clean(String::from_utf8_lossy(start.trim_ascii())).into_owned()
}

/// Offset of a word in a line.
pub(in crate::import) fn find(text: &[u8], word: &str) -> Option<usize> {
    work::count(Count::Bytes, text.len() as u64);
    memmem::find(text, word.as_bytes())
}

/// The value of at most 16 hex digits without other text.
pub(in crate::import) fn hex(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits.iter().try_fold(0u64, |value, digit| Some(value << 4 | u64::from(nibble(*digit)?)))
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

/// A line without leading blanks.
pub(in crate::import) fn skip_spaces(text: &[u8]) -> &[u8] {
    text.trim_ascii_start()
}

/// A read position in a line.
#[derive(Clone, Copy, Debug)]
pub(in crate::import) struct Cursor<'l> {
    pub(in crate::import) rest: &'l [u8],
}

impl<'l> Cursor<'l> {
    pub(in crate::import) fn new(rest: &'l [u8]) -> Self {
        Self { rest }
    }

    /// Skips blanks; returns their number.
    pub(in crate::import) fn spaces(&mut self) -> usize {
        self.run(|byte| matches!(byte, b' ' | b'\t')).len()
    }

    /// Skips that text if it is next.
    pub(in crate::import) fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text.as_bytes());
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes the bytes that `fits` accepts.
    pub(in crate::import) fn run(&mut self, fits: impl Fn(u8) -> bool) -> &'l [u8] {
        let end = self.rest.iter().position(|byte| !fits(*byte)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }

    /// A name: a letter, then letters, digits and `_`.
    pub(in crate::import) fn name(&mut self) -> Option<&'l [u8]> {
        let starts = self.rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        starts.then(|| self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    }

    /// Hex digits, with or without `0x`: their number and value.
    pub(in crate::import) fn hex(&mut self) -> Option<(usize, u64)> {
        let before = *self;
        let _ = self.take("0x") || self.take("0X");
        let digits = self.run(|byte| byte.is_ascii_hexdigit());
        let value = hex(digits);
        if value.is_none() {
            *self = before;
        }
        value.map(|value| (digits.len(), value))
    }

    /// A hex number with `0x`.
    pub(in crate::import) fn address(&mut self) -> Option<u64> {
        self.rest.starts_with(b"0x").then(|| self.hex())?.map(|(_, value)| value)
    }

    /// Decimal digits.
    pub(in crate::import) fn decimal(&mut self) -> Option<u64> {
        let before = *self;
        let digits = self.run(|byte| byte.is_ascii_digit());
        let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        if value.is_none() {
            *self = before;
        }
        value
    }

    /// Whether a word has ended: a blank or the end is next.
    pub(in crate::import) fn at_blank(&self) -> bool {
        matches!(self.rest.first(), None | Some(b' ' | b'\t'))
    }
}
