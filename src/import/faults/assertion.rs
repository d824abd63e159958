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
    const SIGNS: [&str; 10] = ["\"", "\\", "'", "`", "<", "]]>", "\t", "  ", " {", ","];
    let at = memchr::memmem::rfind(text, end)?;
    let behind = from(text, at + end.len());
    let is_ended =
        behind.trim_ascii().is_empty() || SIGNS.iter().any(|sign| behind.starts_with(sign.as_bytes()));
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
    let middle = find(place, " at ")?;
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
    let is_sign = |byte: &u8| b" \t\0\"'`>])=;:,|".contains(byte);
    let begins = |at: &usize| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        before.is_none_or(is_sign) && !from(text, at + 1).starts_with(b"/")
    };
    let path = memchr::memrchr_iter(b'/', text).find(begins).map(|at| from(text, at));
    // `grep` puts a file and a line before it.
    if let Some(path) = path.filter(|path| !path.contains(&b':')) {
        return name(path);
    }
    let word = text.rsplit(is_sign).next().filter(|word| !word.is_empty()).unwrap_or(text);
    let has_drive = word.starts_with(b"\\") && text.len() >= word.len() + 2;
    let word = from(text, text.len() - word.len() - if has_drive { 2 } else { 0 });
    // The mark of UTF-8 begins a message of syslog (RFC 5424, 6.4).
    name(word.strip_prefix("\u{feff}".as_bytes()).unwrap_or(word))
}

/// A failed assertion by the text before its wording and its condition.
fn failed_at(before: &[u8], condition: &[u8], source: FaultSource) -> Option<Fault> {
    // `FILE:LINE: FUNCTION`; names of functions have colons, too. A log may have a prefix before the file, also with the
    // place of a logger: the last one with a file's name counts.
    let place = |colon: usize| {
        let mut cursor = Cursor::new(from(before, colon + 1));
        let line = cursor.decimal().filter(|_| cursor.rest.starts_with(b": "))?;
        Some((colon, line, cursor.rest.get(2..)?))
    };
    let is_of_source = |(colon, ..): &(usize, u64, &[u8])| {
        let words = before.get(..*colon).unwrap_or_default();
        words.rsplit(|byte| b"/\\ ".contains(byte)).next().is_some_and(|name| name.contains(&b'.'))
    };
    let last = memchr::memrchr_iter(b':', before).filter_map(place).find(is_of_source);
    let place = last.or_else(|| memchr::memchr_iter(b':', before).find_map(place));
    let (file, line, function) = match place {
        Some((colon, line, function)) => (before.get(..colon).and_then(file), Some(line), name(function)),
        None => (None, None, name(before)),
    };
    Some(Fault { source, ..failed_in(condition, file, line, function)? })
}
