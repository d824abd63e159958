//! Failed assertions of device code, by the programs' output.

use super::line::{Row, from, name};
use crate::capture::{FailedAssertion, Fault, FaultKind, FaultSource};
use crate::import::text::find;

/// ``scale.hip:12: void scale(int *): Device-side assertion `i < n' failed.`` of HIP's device code,
/// ``a.c:12: void f(void): Assertion `i < n` failed.`` of LLVM's device library, and with a message
/// ``Assertion message (`i < n`) failed.``. C libraries of hosts end the condition with an apostrophe.
pub(super) fn failed(text: &[u8], _: usize) -> Option<Row> {
    let whole = |fault| Row::Whole(Fault { kind: FaultKind::Assertion, ..fault });
    by_marks(text, ": Device-side assertion `", b"' failed.", FaultSource::Hip)
        .or_else(|| by_marks(text, ": Assertion `", b"` failed.", FaultSource::Offload))
        .or_else(|| with_message(text))
        .map(whole)
        .or_else(|| of_library(text).map(Row::Assertion))
}

/// A failed assertion: its place, `mark`, the condition, `end`.
fn by_marks(text: &[u8], mark: &str, end: &[u8], source: FaultSource) -> Option<Fault> {
    let at = find(text, mark)?;
    let condition = ended(from(text, at + mark.len()), end)?;
    failed_at(text.get(..at)?, condition, source)
}

/// The text before the last words of a line, or of a value in quotation marks.
fn ended<'t>(text: &'t [u8], end: &[u8]) -> Option<&'t [u8]> {
    let at = memchr::memmem::rfind(text, end)?;
    let behind = from(text, at + end.len()).trim_ascii();
    (behind.is_empty() || behind.starts_with(b"\"") || behind.starts_with(b"\\")).then(|| text.get(..at))?
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
        let condition = name(condition)?;
        let assertion =
            FailedAssertion { condition, file: file(before.get(..colon)?), line: Some(line), function: None };
        Some(Fault {
            kind: FaultKind::Assertion,
            assertion: Some(assertion),
            source: FaultSource::Hip,
            ..Fault::default()
        })
    })
}

/// A file name, which may have blanks, behind the prefix of a log: `[rank 3] 10:22:01 /src/my kernels/scale.hip`. An
/// absolute path is all from its first slash; else the last word with a colon or a bracket ends the prefix.
fn file(text: &[u8]) -> Option<String> {
    let is_prefix = |word: &[u8]| word.contains(&b':') || word.ends_with(b"]") || word.ends_with(b"|");
    let mut start = 0;
    for blank in memchr::memchr_iter(b' ', text) {
        let word = text.get(..blank).and_then(|text| text.rsplit(|byte| *byte == b' ').next());
        if word.is_some_and(is_prefix) {
            start = blank + 1;
        }
    }
    let rest = from(text, start);
    let path = if rest.starts_with(b"/") { 0 } else { find(rest, " /").map_or(0, |blank| blank + 1) };
    name(from(rest, path))
}

/// A failed assertion by the text before its wording and its condition.
fn failed_at(before: &[u8], condition: &[u8], source: FaultSource) -> Option<Fault> {
    let condition = name(condition)?;
    // `FILE:LINE: FUNCTION`; names of functions have colons, too. A log may have a prefix before the file.
    let colons = || memchr::memchr_iter(b':', before);
    let number = colons().zip(colons().skip(1)).find_map(|(first, second)| {
        let digits = before.get(first.checked_add(1)?..second)?;
        let line = std::str::from_utf8(digits).ok()?.parse().ok()?;
        before.get(second.checked_add(1)?)?.eq(&b' ').then_some((first, line, second))
    });
    let (file, line, function) = match number {
        Some((first, line, second)) => {
            (before.get(..first).and_then(file), Some(line), name(from(before, second + 1)))
        }
        None => (None, None, name(before)),
    };
    let assertion = Some(FailedAssertion { condition, file, line, function });
    Some(Fault { kind: FaultKind::Assertion, assertion, source, ..Fault::default() })
}
