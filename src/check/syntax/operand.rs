//! Paths, numbers, texts and constants of aggregates.

use std::collections::HashSet;

use super::super::file::{Element, Operand};
use super::part::{Part, Wrong};
use crate::session::print::{self, MAX_NESTING, MAX_PATH};

/// The expected form of a value.
pub(super) const VALUE: &str = "write a path, a number, \"text\" or {constants}";

/// A path of `print`. Names in casts are types if the text has no other meaning.
pub(super) fn path(part: Part<'_>) -> Result<String, Wrong> {
    let parsed = print::parse(part.text, &|_| false);
    match parsed.or_else(|error| print::parse(part.text, &|_| true).map_err(|_| error)) {
        Ok(_) => Ok(spaced(part.text)),
        Err(error) => {
            let at = part.text.char_indices().nth(error.column.saturating_sub(1));
            let range = at.map_or(part.text.len()..part.text.len(), |(at, c)| at..at + c.len_utf8());
            Err(Wrong::new(part.slice(range).span(), error.words))
        }
    }
}

/// The text with one space for each run of spaces, except in quotes.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    let mut quote = false;
    let mut last = ' ';
    for c in text.chars() {
        quote ^= c == '\'' && last != '\\';
        if quote || !c.is_whitespace() {
            spaced.push(c);
        } else if !last.is_whitespace() {
            spaced.push(' ');
        }
        last = c;
    }
    spaced
}

/// A path or a number.
pub(super) fn scalar(part: Part<'_>) -> Result<String, Wrong> {
    if part.is_empty() {
        return Err(Wrong::new(part.span(), "expected a value").hint(VALUE));
    }
    path(part)
}

/// A path, number, text or aggregate.
pub(super) fn operand(part: Part<'_>, depth: usize) -> Result<Operand, Wrong> {
    let part = part.trim();
    if depth > MAX_NESTING {
        return Err(Wrong::new(part.span(), format!("more than {MAX_NESTING} brackets inside one another")));
    }
    if part.text.starts_with('"') {
        return text(part);
    }
    if part.text.starts_with('{') {
        let (elements, is_open) = list(part, depth)?;
        return Ok(Operand::List { elements, is_open });
    }
    scalar(part).map(Operand::Path)
}

/// The elements in braces, and whether `...` follows them.
pub(super) fn list(part: Part<'_>, depth: usize) -> Result<(Vec<Element>, bool), Wrong> {
    let unclosed = || Wrong::new(part.slice(0..1).span(), "this `{` has no `}` at the end of the line");
    let inner = part.strip("{").filter(|inner| inner.text.ends_with('}')).ok_or_else(unclosed)?;
    let inner = inner.split(inner.text.len() - 1).0;
    if inner.trim().is_empty() {
        return Ok((Vec::new(), false));
    }
    let parts = split(inner, ',').ok_or_else(unclosed)?;
    let count = parts.len();
    let mut elements: Vec<Element> = Vec::new();
    let mut members = HashSet::new();
    for (index, part) in parts.into_iter().enumerate() {
        let part = part.trim();
        if part.text == "..." {
            if index + 1 < count {
                let wrong = Wrong::new(part.span(), "`...` is not the last element");
                return Err(wrong.hint("`...` stands for all further elements"));
            }
            return Ok((elements, true));
        }
        let element = element(part, depth)?;
        if let Some(name) = element.member.as_ref().filter(|name| !members.insert((*name).clone())) {
            let span = part.slice(1..1 + name.len()).span();
            return Err(Wrong::new(span, format!("a second value of the member `{name}`")));
        }
        elements.push(element);
    }
    Ok((elements, false))
}

/// `7` or `.x = 7`.
fn element(part: Part<'_>, depth: usize) -> Result<Element, Wrong> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let designator = part.strip(".").map(|rest| rest.take(is_name));
    let Some((name, rest)) =
        designator.filter(|(name, _)| !name.text.starts_with(|c: char| c.is_ascii_digit()))
    else {
        return Ok(Element { member: None, value: operand(part, depth + 1)? });
    };
    let value = rest.trim_start().strip("=");
    let value = value.ok_or_else(|| {
        Wrong::new(rest.trim().span(), "expected `=` after the member").hint("write {.x = 1, .y = 2}")
    })?;
    if name.is_empty() {
        return Err(Wrong::new(name.span(), "expected a member's name after `.`"));
    }
    Ok(Element { member: Some(name.text.to_owned()), value: operand(value, depth + 1)? })
}

/// The parts between separators outside of brackets and quotes; `None` if brackets do not match.
fn split(part: Part<'_>, separator: char) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, c) in Scan::new(part.text) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ if c == separator && depth == 0 => {
                parts.push(part.slice(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(part.after(start));
    (depth == 0).then_some(parts)
}

/// The characters outside of texts, characters in quotes and template arguments, with their positions.
pub(super) struct Scan<'t> {
    text: &'t str,
    at: usize,
    last: char,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, last: ' ' }
    }

    /// The text from the position on.
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips bytes.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

impl Iterator for Scan<'_> {
    type Item = (usize, char);

    fn next(&mut self) -> Option<(usize, char)> {
        loop {
            let rest = self.rest();
            let c = rest.chars().next()?;
            let skipped = match c {
                '"' | '\'' => super::quoted(rest),
                '<' if self.last.is_alphanumeric() || self.last == '_' => template(rest),
                _ => None,
            };
            let at = self.at;
            self.last = if skipped.is_some() { ')' } else { c };
            self.at += skipped.unwrap_or(c.len_utf8());
            if skipped.is_none() {
                return Some((at, c));
            }
        }
    }
}

/// The length of template arguments, as the lexer of paths finds them; `None`: an operator.
fn template(text: &str) -> Option<usize> {
    if text.starts_with("<<") || text.starts_with("<=") {
        return None;
    }
    let mut depth = 0usize;
    for (at, c) in text.char_indices().take(MAX_PATH) {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// The number of bytes of `/text/` at the start, with `\/` for a slash; `None` without an end.
pub(super) fn slashed(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '/' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// `"text"` with C's escapes.
fn text(part: Part<'_>) -> Result<Operand, Wrong> {
    if super::quoted(part.text) != Some(part.text.len()) {
        let wrong =
            Wrong::new(part.slice(0..1).span(), "this text does not end with `\"` at the end of the line");
        return Err(wrong.hint("write \\\" for a quote in the text"));
    }
    let inner = part.slice(1..part.text.len() - 1);
    let mut bytes = Vec::new();
    let mut rest = inner;
    while let Some(c) = rest.text.chars().next() {
        let (value, length) = match (c, escape(rest.text)) {
            ('\\', Some(escape)) => escape,
            ('\\', None) => {
                let wrong = Wrong::new(rest.slice(0..2).span(), "unknown escape");
                return Err(wrong.hint(r#"the escapes are \\ \" \' \n \t \r \a \b \f \v \e \0 \377 \xff"#));
            }
            _ => {
                let mut buffer = [0; 4];
                bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                rest = rest.after(c.len_utf8());
                continue;
            }
        };
        bytes.push(value);
        rest = rest.after(length);
    }
    Ok(Operand::Text(bytes))
}

/// The byte of an escape at the start, with the escape's length: as in the characters of paths.
fn escape(text: &str) -> Option<(u8, usize)> {
    let after = text.get(1..)?;
    let digits = |text: &str, radix: u32, most: usize| {
        text.chars().take(most).take_while(|c| c.is_digit(radix)).count()
    };
    let number = |from: usize, count: usize, radix: u32| {
        let digits = text.get(from..from + count)?;
        Some((u8::from_str_radix(digits, radix).ok()?, from + count))
    };
    Some(match after.chars().next()? {
        'x' => return number(2, digits(after.get(1..)?, 16, 2), 16),
        '0'..='7' => return number(1, digits(after, 8, 3), 8),
        'n' => (b'\n', 2),
        't' => (b'\t', 2),
        'r' => (b'\r', 2),
        'a' => (7, 2),
        'b' => (8, 2),
        'f' => (12, 2),
        'v' => (11, 2),
        'e' => (27, 2),
        '\\' => (b'\\', 2),
        '"' => (b'"', 2),
        '\'' => (b'\'', 2),
        _ => return None,
    })
}
