//! Parser of `.scope` files: line by line, with all errors of the file. docs/check.md has the grammar.

mod at;
mod operand;
mod part;
mod statement;
#[cfg(test)]
mod tests;
mod value;

use super::file::{Content, Line, ScopeFile};
use crate::clean::is_unclean;
use part::{Part, Wrong};

pub use statement::SETTINGS;
pub(super) use statement::{ADDRESSES, is_keyword};

/// Maximum length of a line, in bytes.
pub const MAX_LINE: usize = 64 << 10;
/// Maximum number of lines.
pub const MAX_LINES: usize = 100_000;
/// Maximum length of a file, in bytes.
pub const MAX_FILE: usize = 16 << 20;

/// A line that is no statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {}: {problem}{}", columns.0 + 1, hint.as_ref().map_or_else(String::new, |hint| format!(". {hint}")))]
pub struct SyntaxError {
    /// The line of the file, from 1.
    pub line: usize,
    /// The columns: the first byte, and the one past the last, from 0. Equal columns are the place of missing text.
    pub columns: (usize, usize),
    /// The error.
    pub problem: String,
    /// An instruction: the expected form, a similar word.
    pub hint: Option<String>,
}

impl SyntaxError {
    fn of(line: usize, wrong: Wrong) -> Self {
        let Wrong { span, problem, hint } = wrong;
        Self { line, columns: (span.start, span.end), problem, hint }
    }
}

/// Parses the bytes of a file.
///
/// # Errors
/// One error for each wrong line, in the order of the lines; at most [`MAX_LINES`].
pub fn parse(bytes: impl AsRef<[u8]>) -> Result<ScopeFile, Vec<SyntaxError>> {
    let (file, errors) = parse_all(bytes.as_ref());
    if errors.is_empty() { Ok(file) } else { Err(errors) }
}

/// As [`parse`], with the right lines beside the errors; wrong lines are empty.
#[must_use]
pub fn parse_all(bytes: &[u8]) -> (ScopeFile, Vec<SyntaxError>) {
    if bytes.len() > MAX_FILE {
        let error = SyntaxError::of(1, too_long("the file", bytes.len(), MAX_FILE));
        return (ScopeFile::default(), vec![error]);
    }
    let mut file = ScopeFile::default();
    let mut errors = Vec::new();
    let mut is_block = false;
    for (index, bytes) in lines(bytes).enumerate() {
        let number = index + 1;
        if number > MAX_LINES {
            let wrong = Wrong::new(0..0, format!("more than {MAX_LINES} lines")).hint("split the file");
            errors.push(SyntaxError::of(number, wrong));
            break;
        }
        match parse_line(bytes, is_block) {
            Ok(line) => {
                is_block |= matches!(line.content, Content::Wave(_));
                file.lines.push(line);
            }
            Err(wrong) => {
                // Statements of a block whose selector is wrong are no errors of their own.
                is_block |= bytes.trim_ascii_start().starts_with(b"wave ");
                errors.push(SyntaxError::of(number, wrong));
                file.lines.push(Line {
                    text: String::new(),
                    span: 0..0,
                    comment: None,
                    content: Content::Empty,
                });
            }
        }
    }
    (file, errors)
}

/// Parses a line; `is_block`: it follows a `wave` line. `None`: it is wrong.
pub(super) fn line(text: &str, is_block: bool) -> Option<Line> {
    parse_line(text.as_bytes(), is_block).ok()
}

/// The lines without their ends, `\n` or `\r\n`.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let all = text.split(|byte| *byte == b'\n').filter(move |_| !bytes.is_empty());
    all.map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn too_long(what: &str, bytes: usize, limit: usize) -> Wrong {
    Wrong::new(0..0, format!("{what} has {bytes} bytes, expected at most {limit}"))
}

/// Parses the bytes of a line; `is_block`: it follows a `wave` line.
fn parse_line(bytes: &[u8], is_block: bool) -> Result<Line, Wrong> {
    if bytes.len() > MAX_LINE {
        return Err(too_long("the line", bytes.len(), MAX_LINE));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let byte = bytes.get(at).copied().unwrap_or_default();
        Wrong::new(at..at, format!("byte {byte:#04x} is not UTF-8")).hint("save the file as UTF-8")
    })?;
    let whole = Part { text, start: 0 };
    let comment = comment(text);
    let (statement, rest) = whole.split(comment.unwrap_or(text.len()));
    let statement = statement.trim();
    clean(statement, |c| c != '\t' && is_unclean(c))?;
    clean(rest, |c| c != '\t' && c.is_control())?;
    let content = if statement.is_empty() { Content::Empty } else { statement::parse(statement, is_block)? };
    Ok(Line { text: text.to_owned(), span: statement.span(), comment, content })
}

/// Rejects characters that no editor shows.
fn clean(part: Part<'_>, is_wrong: impl Fn(char) -> bool) -> Result<(), Wrong> {
    let Some((at, c)) = part.text.char_indices().find(|(_, c)| is_wrong(*c)) else { return Ok(()) };
    let code = u32::from(c);
    let hint = if c == '\u{feff}' { "save the file without a byte order mark" } else { "remove it" };
    let span = part.slice(at..at + c.len_utf8()).span();
    Err(Wrong::new(span, format!("invisible character U+{code:04X}")).hint(hint))
}

/// The column of a comment: a `#` at the start of a line or after a space, outside of quotes and of `/text/`.
fn comment(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut last = ' ';
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next()?;
        match first {
            '#' if last.is_whitespace() => return Some(at),
            '"' | '\'' => at += quoted(rest).unwrap_or(1),
            '/' if text.get(..at).is_some_and(is_error) => {
                at += operand::slashed(rest).unwrap_or(1);
            }
            _ => at += first.len_utf8(),
        }
        last = first;
    }
    None
}

/// Whether a text ends with the state before a `/text/`.
fn is_error(before: &str) -> bool {
    const STATE: &[u8] = b"is error";
    let before = before.trim_end().as_bytes();
    before
        .len()
        .checked_sub(STATE.len())
        .and_then(|at| before.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case(STATE))
}

/// The number of bytes of a text in quotes, or of a character in quotes, at the start; `None` without an end.
fn quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut escaped = false;
    for (count, (at, c)) in text.char_indices().skip(1).enumerate() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            // An apostrophe: the longest character is '\377'.
            _ if quote == '\'' && count > 4 => return None,
            _ => {}
        }
    }
    None
}
