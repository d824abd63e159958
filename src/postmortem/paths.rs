//! Paths and host names of machines, reduced in the texts of a report.
//!
//! A report leaves the machine that made it. A file keeps its name and loses its folders; the host of the capture loses
//! its name. Relative paths of source files stay: they come from the program's build.

use std::borrow::Cow;

use crate::clean::clean;

/// Replacement of a home directory and of a host's name.
const HIDDEN: &str = "...";
/// Least number of bytes of a host's name that is looked for in texts: shorter ones are parts of words.
const MIN_HOST: usize = 3;

/// Least number of bytes of an argument that is looked for in notes.
const MIN_ARGUMENT: usize = 4;
/// Maximum number of known paths, and of known arguments.
const MAX_KNOWN: usize = 64;

/// The reduction of paths.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    /// Whether all texts stay as they are.
    is_off: bool,
    /// Known paths that a text does not show by themselves: with blanks, or relative. The longest first.
    known: Vec<String>,
    host: Option<String>,
    /// The capture's command, and its words behind the program. Empty: unknown.
    command: String,
    arguments: Vec<String>,
}

impl Paths {
    /// Paths that texts may have: `files` of the machine, and `sources` of the program's build.
    pub(super) fn new(
        is_off: bool,
        files: Vec<String>,
        mut sources: Vec<String>,
        host: Option<&str>,
    ) -> Self {
        let has_blank = |path: &String| is_absolute(path) && path.contains(char::is_whitespace);
        let has_folder = |path: &String| !path.contains("://") && name(path) != path;
        sources.retain(has_blank);
        let relative =
            files.into_iter().filter(|path| has_blank(path) || !is_absolute(path) && has_folder(path));
        let mut known: Vec<String> = relative.chain(sources).collect();
        known.sort_by_key(|path| std::cmp::Reverse(path.len()));
        known.dedup();
        known.truncate(MAX_KNOWN);
        let host = host.filter(|host| host.len() >= MIN_HOST).map(str::to_owned);
        Self { is_off, known, host, ..Self::default() }
    }

    /// The same reduction, which also hides the command of the capture.
    pub(super) fn hiding(mut self, command: &str) -> Self {
        let command = command.trim().trim_matches('"');
        let words = ESCAPES.iter().fold(command.to_owned(), |words, escape| words.replace(escape, " "));
        let arguments = words.split_whitespace().skip(1).filter(|word| word.len() >= MIN_ARGUMENT);
        self.arguments = arguments.map(str::to_owned).collect();
        self.arguments.sort_by_key(|word| std::cmp::Reverse(word.len()));
        self.arguments.dedup();
        self.arguments.truncate(MAX_KNOWN);
        // The program's name alone is a word of the language.
        self.command = if self.arguments.is_empty() { String::new() } else { command.to_owned() };
        self
    }

    /// A note of the capture: it may repeat arguments of the command, and begin with the path of another capture.
    pub(super) fn note(&self, text: &str) -> String {
        if self.is_off {
            return text.to_owned();
        }
        let mut text = match text.split_once(": ") {
            // A path with blanks has no end within a text; before a colon it has one.
            Some((path, rest)) if is_absolute(path) || is_file(path) => format!("{}: {rest}", name(path)),
            _ => text.to_owned(),
        };
        if !self.command.is_empty() {
            text = text.replace(&self.command, HIDDEN);
        }
        for argument in &self.arguments {
            text = text.replace(argument, HIDDEN);
        }
        self.text(&text)
    }

    /// A path of the machine: its name.
    pub(super) fn name(&self, path: &str) -> String {
        let path = self.source(path);
        if self.is_off || path.contains("://") || path == HIDDEN { path } else { name(&path).to_owned() }
    }

    /// A path of a source file: its name if it is absolute or leaves its folder.
    pub(super) fn source(&self, path: &str) -> String {
        let path = clean(path).into_owned();
        let leaves = || path.split(['/', '\\']).any(|part| part == "..");
        let is_url = path.contains("://") && !path.starts_with("memory://");
        if self.is_off || !is_absolute(&path) && !is_url && !leaves() {
            return path;
        }
        url(&path).map_or_else(|| name(&path), |(_, name)| name).to_owned()
    }

    /// A text that may have paths and the host's name.
    pub(super) fn text(&self, text: &str) -> String {
        if self.is_off {
            return text.to_owned();
        }
        let mut text = Cow::Borrowed(text);
        if !self.command.is_empty() && text.contains(&self.command) {
            text = Cow::Owned(text.replace(&self.command, HIDDEN));
        }
        for path in &self.known {
            if let Some(reduced) = replaced(&text, path) {
                text = Cow::Owned(reduced);
            }
        }
        if let Some(host) = self.host.as_deref().filter(|host| text.contains(*host)) {
            text = Cow::Owned(text.replace(host, HIDDEN));
        }
        without_folders(&text)
    }
}

/// A text with the name of a path in its place; `None`: the path is not there, or only as a part of others.
fn replaced(text: &str, path: &str) -> Option<String> {
    let (mut reduced, mut end) = (String::new(), 0);
    for (at, _) in text.match_indices(path) {
        let before = text.get(..at)?.chars().next_back();
        let rest = text.get(at + path.len()..)?;
        let is_part_of = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        if before.is_some_and(|c| is_part(c) || matches!(c, '/' | '\\')) || rest.starts_with(is_part_of) {
            continue;
        }
        reduced.push_str(text.get(end..at)?);
        reduced.push_str(name(path));
        end = at + path.len();
    }
    (end > 0).then(|| reduced + text.get(end..).unwrap_or_default())
}

/// `/a/b`, `C:\a`, `\\host\a`
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with("\\\\") || is_drive(path)
}

fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

/// The last part of a path; a home directory has none.
fn name(path: &str) -> &str {
    let trimmed = path.trim_end_matches(['/', '\\']);
    let mut parts = trimmed.rsplit(['/', '\\']);
    let last = parts.next().unwrap_or(trimmed);
    let parent = parts.next().unwrap_or_default();
    let is_home = matches!(parent, "home" | "Users")
        && parts.next().is_none_or(|root| root.is_empty() || root.ends_with(':'));
    if is_home || last.is_empty() { HIDDEN } else { last }
}

/// Whether a text is a relative path with folders to a file with an extension.
fn is_file(text: &str) -> bool {
    let extension =
        |name: &str| name.rsplit_once('.').is_some_and(|(stem, of)| !stem.is_empty() && of.len() > 1);
    text.rsplit_once(['/', '\\']).is_some_and(|(_, name)| extension(name)) && !text.contains("://")
}

/// Escapes of blanks, as `clean` writes them.
const ESCAPES: [&str; 3] = ["\\n", "\\t", "\\r"];

/// A text whose absolute paths are names.
fn without_folders(text: &str) -> String {
    let mut reduced = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let is_start = !(is_part(before) || matches!(before, '/' | '\\' | ')' | ']'));
        let found = if is_start { url(rest).or_else(|| path(rest)) } else { None };
        if found.is_none()
            && let Some(escape) = ESCAPES.iter().find(|escape| rest.starts_with(**escape))
        {
            // An escaped blank is no part of a path behind it.
            reduced.push_str(escape);
            before = ' ';
            rest = rest.get(escape.len()..).unwrap_or_default();
            continue;
        }
        let (length, name) = found.unwrap_or_else(|| {
            let length = first.len_utf8();
            (length, rest.get(..length).unwrap_or_default())
        });
        reduced.push_str(name);
        before = rest.get(..length).and_then(|taken| taken.chars().next_back()).unwrap_or(' ');
        rest = rest.get(length..).unwrap_or_default();
    }
    reduced
}

/// Length and name of the URL at the start of a text. `memory://PID` names neither a file nor a host.
fn url(text: &str) -> Option<(usize, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_scheme || scheme == "memory" {
        return None;
    }
    let length = rest.find(|c: char| c != ':' && is_end(c)).unwrap_or(rest.len());
    let (_, path) = rest.get(..length)?.split_once('/').unwrap_or_default();
    Some((scheme.len() + 3 + length, name(path)))
}

/// Length and name of the path at the start of a text, which is absolute or begins with a folder's sign (`~user/`,
/// `../`, `$HOME/`). Absolute paths of one part are none: `/` divides, too.
fn path(text: &str) -> Option<(usize, &str)> {
    if is_of_folder(text) {
        let length = text.find(is_end).unwrap_or(text.len());
        return text.get(..length).map(|path| (length, name(path)));
    }
    let is_posix = text.strip_prefix('/').is_some_and(|rest| rest.starts_with(is_part));
    if !is_posix && !is_absolute(text) || text.starts_with("//") {
        return None;
    }
    let skipped = if is_drive(text) { 2 } else { 0 };
    let length = text.get(skipped..)?.find(is_end).map_or(text.len(), |at| at + skipped);
    // A backslash is a part of a path of Windows only.
    let escape = ESCAPES.iter().filter_map(|escape| text.find(escape)).min().filter(|_| is_posix);
    let path = text.get(..length.min(escape.unwrap_or(length)))?;
    let is_long = skipped > 0 || path.matches(['/', '\\']).count() > 1;
    is_long.then(|| (path.len(), name(path)))
}

/// `~/a`, `~user/a`, `./a`, `../a`, `$HOME/a`, `${HOME}/a`
fn is_of_folder(text: &str) -> bool {
    let (first, rest) = text.split_once('/').unwrap_or_default();
    let is_variable = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let of_variable = |word: &str| {
        is_variable(word)
            || word.strip_prefix('{').and_then(|word| word.strip_suffix('}')).is_some_and(is_variable)
    };
    let is_sign = matches!(first, "." | "..")
        || first.strip_prefix('~').is_some_and(|user| user.chars().all(is_part))
        || first.strip_prefix('$').is_some_and(of_variable);
    is_sign && rest.starts_with(is_part)
}

/// Whether a character ends a path within a text.
fn is_end(character: char) -> bool {
    character.is_whitespace() || "\"'`:,;()<>|#?".contains(character)
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '-' | '~' | '+' | '@')
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
