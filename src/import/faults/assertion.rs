//! Failed assertions of device code, by the programs' output.

use super::line::{Row, after, from, name};
use crate::capture::{FailedAssertion, Fault, FaultKind, FaultSource};
use crate::import::text::{Cursor, find};

/// ``scale.hip:12: void scale(int *): Device-side assertion `i < n' failed.`` of HIP's device code,
/// ``a.c:12: void f(void): Assertion `i < n` failed.`` of LLVM's device library, and with a message
/// ``Assertion message (`i < n`) failed.``. C libraries of hosts end the condition with an apostrophe.
pub(super) fn failed(text: &[u8], _: usize) -> Option<Row> {
    by_marks(text, ": Device-side assertion `", b"' failed.", FaultSource::Hip)
        .or_else(|| by_marks(text, ": Assertion `", b"` failed.", FaultSource::Offload))
        .or_else(|| with_message(text))
        .map(Row::Whole)
        .or_else(|| of_library(text).map(Row::Assertion))
}

/// A failed assertion: its place, `mark`, the condition, `end`.
fn by_marks(text: &[u8], mark: &str, end: &[u8], source: FaultSource) -> Option<Fault> {
    let at = find(text, mark)?;
    let condition = ended(from(text, at + mark.len()), end)?;
    failed_at(text.get(..at)?, condition, source)
}

/// The text before the last words of a message: at the end of its line, or before a quotation mark, a tag, or fields of a
/// log.
fn ended<'t>(text: &'t [u8], end: &[u8]) -> Option<&'t [u8]> {
    const SIGNS: [&str; 6] = ["\"", "\\", "]]>", "\t", "  ", " {"];
    let at = memchr::memmem::rfind(text, end)?;
    let behind = from(text, at + end.len());
    // In a page tags end the line.
    let mut shown = behind.trim_ascii();
    while let Some(end) = shown.strip_prefix(b"<").and_then(|tag| find(tag, ">")) {
        shown = from(shown, end + 2).trim_ascii();
    }
    let is_ended = shown.is_empty() || SIGNS.iter().any(|sign| behind.starts_with(sign.as_bytes()));
    is_ended.then(|| text.get(..at))?
}

/// A failed assertion of LLVM's device library with a message: its place, the message, the condition in parentheses.
/// Messages are free text, and C++ has no grave accents.
fn with_message(text: &[u8]) -> Option<Fault> {
    const MARK: &str = ": Assertion ";
    let at = find(text, MARK)?;
    let rest = ended(from(text, at + MARK.len()), b"`) failed.")?;
    let open = memchr::memmem::rfind(rest, b" (`")?;
    failed_at(text.get(..at)?, from(rest, open + 3), FaultSource::Offload)
}

/// The mark of Triton's message.
pub(super) const TRITON: &str = "device assertion failed: '";

/// `device assertion failed: 'index out of range', in kernel at /src/kernel.py:12` of Triton's code for AMD's GPUs.
pub(super) fn of_triton(text: &[u8], at: usize) -> Option<Row> {
    let whole = from(text, at);
    let text = until_next(whole, TRITON);
    let end = memchr::memmem::rfind(text, b"', in ")?;
    let place = from(text, end + "', in ".len());
    let middle = memchr::memmem::rfind(place, b" at ")?;
    let known = |text: &[u8]| name(text).filter(|name| name != "unknown");
    let path = from(whole, text.len() - place.len() + middle + " at ".len());
    let line = memchr::memchr_iter(b':', path).find_map(|colon| {
        let mut cursor = Cursor::new(from(path, colon + 1));
        // A number at the end of a text may lack digits.
        let line = cursor.decimal().filter(|_| cursor.rest.first().is_some_and(|next| *next != b':'));
        line.map(|line| (colon, line))
    });
    let (colon, line) = line.unzip();
    let file = colon.and_then(|colon| known(path.get(..colon)?));
    failed_in(text.get(..end)?, file, line, known(place.get(..middle)?)).map(Row::Whole)
}

/// The mark of PyTorch's message.
pub(super) const PYTORCH: &str = "[CUDA_KERNEL_ASSERT] ";

/// ``[CUDA_KERNEL_ASSERT] /src/Index.hip:94: kernel: block: [0,0,0], thread: [1,0,0]: Assertion failed: `i < n`: message``
/// of PyTorch.
pub(super) fn of_pytorch(text: &[u8], at: usize) -> Option<Row> {
    let text = until_next(from(text, at), PYTORCH);
    let before = text.get(..find(text, ": block: [")?)?;
    let condition = after(text, ": Assertion failed: `")?;
    let condition = condition.get(..find(condition, "`: ")?)?;
    failed_at(before, condition, FaultSource::Hip).map(Row::Whole)
}

/// The text before the next message in its line: lanes may print into one.
fn until_next<'t>(text: &'t [u8], mark: &str) -> &'t [u8] {
    text.get(..find(text, mark).unwrap_or(text.len())).unwrap_or_default()
}

/// `stl_vector.h:1125: std::vector<int>::operator[](size_type): Assertion '__n < this->size()' failed.` of libstdc++, and
/// `vector:1393: assertion __n < size() failed: vector[] index out of bounds` of libc++. Both are printed by hosts, too.
fn of_library(text: &[u8]) -> Option<Fault> {
    by_marks(text, ": Assertion '", b"' failed.", FaultSource::Hip).or_else(|| {
        const MARK: &str = ": assertion ";
        let at = find(text, MARK)?;
        let rest = from(text, at + MARK.len());
        let condition = rest.get(..find(rest, " failed: ")?)?;
        // It names no function: the line number is the last word before the mark.
        let before = text.get(..at)?;
        let colon = memchr::memrchr(b':', before)?;
        let line = std::str::from_utf8(from(before, colon + 1)).ok()?.parse().ok()?;
        failed_in(condition, file(before.get(..colon)?), Some(line), None)
    })
}

/// A failed assertion with its parts.
fn failed_in(
    condition: &[u8],
    file: Option<String>,
    line: Option<u64>,
    function: Option<String>,
) -> Option<Fault> {
    let assertion = FailedAssertion { condition: name(condition)?, file, line, function };
    let (kind, source) = (FaultKind::Assertion, FaultSource::Hip);
    Some(Fault { kind, assertion: Some(assertion), source, ..Fault::default() })
}

/// A file name behind the prefix of a log: `[rank 3] 10:22:01 /src/my kernels/scale.hip`. An absolute path, which may have
/// blanks, begins at the last word with a slash; a relative one is the last word.
fn file(text: &[u8]) -> Option<String> {
    let text = memchr::memmem::rfind(text, b": ").map_or(text, |at| from(text, at + 2));
    let text = after(text, "<![CDATA[").unwrap_or(text);
    // Whether a file may begin behind a byte; names have brackets and equals signs, too.
    let is_sign = |at: usize| match text.get(at) {
        Some(b')' | b']') => !text.get(at + 1).is_some_and(|next| b"./".contains(next)),
        Some(b'=') => {
            let key = text.get(..at).and_then(|text| text.rsplit(|byte| *byte == b' ').next());
            !key.is_some_and(|key| key.iter().any(|byte| b"/.".contains(byte)))
        }
        byte => byte.is_some_and(|byte| b" \t\0\"'`>;:|".contains(byte)),
    };
    let drive = |at: usize| match at.checked_sub(2).and_then(|start| Some((start, text.get(start..at)?))) {
        Some((start, [letter, b':']))
            if letter.is_ascii_alphabetic() && start.checked_sub(1).is_none_or(is_sign) =>
        {
            start
        }
        _ => at,
    };
    let begins = |at: &usize| at.checked_sub(1).is_none_or(is_sign) && !from(text, at + 1).starts_with(b"/");
    let path = memchr::memrchr_iter(b'/', text).find(begins).map(drive);
    // `grep` puts a file and a line before it.
    let is_alone = |start: &usize| !from(text, start + 2).contains(&b':');
    if let Some(path) = path.filter(is_alone) {
        return name(from(text, path));
    }
    let word = (0..text.len()).rev().find(|at| is_sign(*at)).map_or(0, |at| at + 1);
    let word = if text.get(word) == Some(&b'\\') { drive(word) } else { word };
    // The mark of UTF-8 begins a message of syslog (RFC 5424, 6.4).
    let mut word = from(text, word);
    while word.starts_with(b"//") {
        word = from(word, 1);
    }
    name(word.strip_prefix("\u{feff}".as_bytes()).unwrap_or(word))
}

/// Maximum number of places before an assertion.
const MAX_PLACES: usize = 16;

/// A failed assertion by the text before its wording and its condition.
fn failed_at(before: &[u8], condition: &[u8], source: FaultSource) -> Option<Fault> {
    // `FILE:LINE: FUNCTION`; names of functions have colons, too. A log may have a prefix before the file, also with the
    // place of a logger: the last place before a parenthesis counts.
    let place = |colon: usize| {
        let mut cursor = Cursor::new(from(before, colon + 1));
        let line = cursor.decimal().filter(|_| cursor.rest.starts_with(b": "))?;
        Some((colon, line, cursor.rest.get(2..)?))
    };
    let places = || memchr::memchr_iter(b':', before).filter_map(place).take(MAX_PLACES);
    let is_of_source = |(colon, ..): &(usize, u64, &[u8])| {
        let words = before.get(..*colon).unwrap_or_default();
        words.rsplit(|byte| b"/\\ ".contains(byte)).next().is_some_and(|name| name.contains(&b'.'))
    };
    let is_last = |(colon, ..): &(usize, u64, &[u8])| {
        let rest = from(before, colon + 1);
        let open = memchr::memchr(b'(', rest).map_or(before.len(), |at| colon + 1 + at);
        !places().any(|(other, ..)| other > *colon && other < open)
    };
    let found = places().find(|place| is_of_source(place) && is_last(place)).or_else(|| places().next());
    let (file, line, function) = match found {
        Some((colon, line, function)) => (before.get(..colon).and_then(file), Some(line), name(function)),
        None => (None, None, name(before)),
    };
    Some(Fault { source, ..failed_in(condition, file, line, function)? })
}
