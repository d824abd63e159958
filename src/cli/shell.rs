//! Commands for the user to type: words in the syntax of a POSIX shell and of the debuggers' command lines.

use std::borrow::Cow;

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

/// An argument of a gdb or lldb command: both escape a special character by a backslash.
pub(super) fn argument(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let escaped = |character| (!is_plain(character)).then_some('\\').into_iter().chain([character]);
    Cow::Owned(text.chars().flat_map(escaped).collect())
}
