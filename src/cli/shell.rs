//! Commands for the user to type: words in the syntax of a POSIX shell and of the debuggers' command lines.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;

use crate::clean::clean;
use crate::report::Style;
use crate::report::fold::continued;

fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "/._-+=:@%,".contains(character)
}

/// A word of a POSIX shell, in single quotes if it needs them.
pub(super) fn word(text: &str) -> Cow<'_, str> {
    match !text.is_empty() && text.chars().all(is_plain) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("'{}'", text.replace('\'', r"'\''"))),
    }
}

/// A word of a shell for any name: with control characters or bytes that are no UTF-8 in the notation `$'\n'` of bash
/// and POSIX 2024.
pub(super) fn word_of(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str().filter(|text| clean(*text) == *text) {
        return word(text);
    }
    let mut quoted = String::from("$'");
    for byte in name.as_encoded_bytes() {
        match byte {
            b'\'' | b'\\' | 0..0x20 | 0x7f.. => {
                let _ = write!(quoted, "\\x{byte:02x}");
            }
            _ => quoted.push(char::from(*byte)),
        }
    }
    quoted.push('\'');
    Cow::Owned(quoted)
}

/// A command to copy with an indent, in lines of standard output's width if its words allow it: each but the last ends with
/// a backslash.
pub(super) fn indented(command: &str) -> String {
    within(command, INDENT, Style::Coloured.columns().unwrap_or(usize::MAX))
}

const INDENT: usize = 2;

fn within(command: &str, indent: usize, columns: usize) -> String {
    let lines = continued(command, columns.saturating_sub(indent));
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// A text and a command to copy, in one line, or the command below the text.
pub(super) fn behind(text: &str, command: &str, columns: usize) -> String {
    let line = format!("{text} {command}");
    match line.chars().count() <= columns {
        true => line,
        false => {
            let indent = text.len() - text.trim_start().len() + INDENT;
            format!("{text}\n{}", within(command, indent, columns).trim_end())
        }
    }
}

/// An argument of a gdb or lldb command: both escape a special character by a backslash.
pub(super) fn argument(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let escaped = |character| (!is_plain(character)).then_some('\\').into_iter().chain([character]);
    Cow::Owned(text.chars().flat_map(escaped).collect())
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
