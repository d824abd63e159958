//! A part of a line that knows its columns.

use super::super::file::Span;
use super::super::similar::similar;

/// An error within a line.
pub(super) struct Wrong {
    pub(super) span: Span,
    pub(super) problem: String,
    pub(super) hint: Option<String>,
}

impl Wrong {
    pub(super) fn new(span: Span, problem: impl Into<String>) -> Self {
        Self { span, problem: problem.into(), hint: None }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// An unknown word, with a similar one of those, or the expected form.
    pub(super) fn unknown(what: &str, word: Part<'_>, known: &[&str], expected: &str) -> Self {
        let hint = match similar(word.text, known.iter().copied()) {
            Some(known) => format!("did you mean `{known}`?"),
            None => expected.to_owned(),
        };
        Self::new(word.span(), format!("unknown {what} `{}`", word.text)).hint(hint)
    }
}

/// A part of a line. No method panics: a position outside of the text, or inside a character, is the end.
#[derive(Clone, Copy)]
pub(super) struct Part<'t> {
    pub(super) text: &'t str,
    /// The column of its first byte in the line, from 0.
    pub(super) start: usize,
}

impl<'t> Part<'t> {
    pub(super) fn span(self) -> Span {
        self.start..self.start + self.text.len()
    }

    pub(super) fn is_empty(self) -> bool {
        self.text.is_empty()
    }

    /// The part before a byte, and the part from it on.
    pub(super) fn split(self, at: usize) -> (Self, Self) {
        let (before, after) = self.text.split_at_checked(at).unwrap_or((self.text, ""));
        (Self { text: before, ..self }, Self { text: after, start: self.start + before.len() })
    }

    /// The bytes of that range.
    pub(super) fn slice(self, range: Span) -> Self {
        self.split(range.end).0.split(range.start).1
    }

    pub(super) fn after(self, at: usize) -> Self {
        self.split(at).1
    }

    pub(super) fn trim_start(self) -> Self {
        self.after(self.text.len() - self.text.trim_start().len())
    }

    pub(super) fn trim(self) -> Self {
        let part = self.trim_start();
        part.split(part.text.trim_end().len()).0
    }

    pub(super) fn strip(self, prefix: &str) -> Option<Self> {
        self.text.starts_with(prefix).then(|| self.after(prefix.len()))
    }

    /// The characters at the start that satisfy the condition, and the rest.
    pub(super) fn take(self, condition: impl Fn(char) -> bool) -> (Self, Self) {
        self.split(self.text.find(|c| !condition(c)).unwrap_or(self.text.len()))
    }

    /// The first word, and the trimmed rest.
    pub(super) fn word(self) -> (Self, Self) {
        let (word, rest) = self.trim_start().take(|c| !c.is_whitespace());
        (word, rest.trim())
    }

    /// An empty part: the position after the last character.
    pub(super) fn end(self) -> Self {
        self.after(self.text.len())
    }

    /// The text with one space for each run of spaces.
    pub(super) fn collapsed(self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The error for a number with a leading 0, which is octal in C and decimal elsewhere; `None`: it has none.
    pub(super) fn leading_zero(self) -> Option<Wrong> {
        let digits = self.take(|c| c.is_ascii_digit()).0;
        let value = digits.text.trim_start_matches('0');
        let value = if value.is_empty() { "0" } else { value };
        let has_zero = digits.text.len() > 1 && digits.text.starts_with('0');
        let octal = u64::from_str_radix(value, 8).ok().filter(|octal| octal.to_string() != value);
        let octal = octal.map_or_else(String::new, |octal| format!(", or {octal:#x} for the octal number"));
        has_zero.then(|| {
            let problem = format!("the number `{}` begins with 0", digits.text);
            Wrong::new(digits.span(), problem).hint(format!("write {value}{octal}"))
        })
    }

    /// A decimal number without a leading 0 or, with `0x`, a hexadecimal one.
    pub(super) fn number(self) -> Option<u64> {
        let digits = |text: &str, radix| {
            let is_number = !text.is_empty() && text.chars().all(|c| c.is_digit(radix));
            is_number.then(|| u64::from_str_radix(text, radix).ok()).flatten()
        };
        match self.text.strip_prefix("0x") {
            Some(hex) => digits(hex, 16),
            None => digits(self.text, 10).filter(|_| self.leading_zero().is_none()),
        }
    }
}
