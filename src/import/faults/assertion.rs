//! Failed assertions of device code, by the programs' output.

use super::lead::{is_level, is_prefix};
use super::line::{Row, after, from, name};
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
        .or_else(|| of_triton(text))
        .or_else(|| of_pytorch(text))
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

/// `device assertion failed: 'index out of range', in kernel at /src/kernel.py:12` of Triton's code for AMD's GPUs.
fn of_triton(text: &[u8]) -> Option<Fault> {
    const MARK: &str = "device assertion failed: '";
    let at = find(text, MARK).filter(|at| text.get(..*at).is_some_and(is_prefix))?;
    let rest = from(text, at + MARK.len()).trim_ascii_end();
    let end = memchr::memmem::rfind(rest, b"', in ")?;
    let place = from(rest, end + "', in ".len());
    let middle = find(place, " at ")?;
    let path = from(place, middle + " at ".len());
    let colon = memchr::memrchr(b':', path)?;
    let line = std::str::from_utf8(from(path, colon + 1)).ok()?.parse().ok()?;
    let function = name(place.get(..middle)?).filter(|name| name != "unknown");
    let file = name(path.get(..colon)?).filter(|name| name != "unknown");
    failed_in(rest.get(..end)?, file, Some(line), function)
}

/// ``[CUDA_KERNEL_ASSERT] /src/Index.hip:94: kernel: block: [0,0,0], thread: [1,0,0]: Assertion failed: `i < n`: message``
/// of PyTorch.
fn of_pytorch(text: &[u8]) -> Option<Fault> {
    let rest = after(text, "[CUDA_KERNEL_ASSERT] ")?;
    let before = rest.get(..find(rest, ": block: [")?)?;
    let condition = after(rest, ": Assertion failed: `")?;
    failed_at(before, condition.get(..find(condition, "`")?)?, FaultSource::Hip)
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

/// A failed assertion that programs print.
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

/// A file name, which may have blanks, behind the prefix of a log: `[rank 3] 10:22:01 /src/my kernels/scale.hip`. An
/// absolute path is all from its first slash on, a relative one the last words in small letters.
fn file(text: &[u8]) -> Option<String> {
    let text = memchr::memmem::rfind(text, b": ").map_or(text, |at| from(text, at + 2));
    let is_sign = |byte: &u8| b"\t\"'`>])=;:,|".contains(byte);
    let begins = |at: &usize| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        before.is_none_or(|byte| *byte == b' ' || is_sign(byte))
    };
    if let Some(path) = memchr::memchr_iter(b'/', text).find(begins) {
        return name(from(text, path));
    }
    let words = text.rsplit(is_sign).next().filter(|words| !words.is_empty()).unwrap_or(text);
    let is_of_name =
        |word: &&[u8]| word.iter().all(u8::is_ascii_lowercase) && !word.is_empty() && !is_level(word);
    let mut each = words.rsplit(|byte| *byte == b' ');
    let last = each.next()?.len();
    let before: usize = each.take_while(is_of_name).map(|word| word.len() + 1).sum();
    name(from(words, words.len().checked_sub(last + before)?))
}

/// A failed assertion by the text before its wording and its condition.
fn failed_at(before: &[u8], condition: &[u8], source: FaultSource) -> Option<Fault> {
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
    Some(Fault { source, ..failed_in(condition, file, line, function)? })
}
