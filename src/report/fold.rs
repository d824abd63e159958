//! Text in lines of a bounded width: between words, as columns, and as commands to copy.

use std::borrow::Cow;
use std::os::fd::AsFd;

use crate::work::{self, Count};

/// Columns of a reader that does not report them.
pub(crate) const CONSOLE: usize = 80;
/// The separator of columns, and the indent of continued lines.
pub(super) const GAP: &str = "  ";
pub(super) const INDENT: &str = "    ";
/// The beginning of an ANSI style, and the end of one.
const ESCAPE: char = '\u{1b}';
const EQUALS: &str = "=";
const RESET: &str = "\u{1b}[0m";

/// Width of the terminal behind a stream.
pub(super) fn terminal_columns(stream: impl AsFd) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stream)?;
    Some(usize::from(width.0).max(CONSOLE / 2))
}

/// Width of a stream's lines: that of its terminal; else of the variable `COLUMNS`, else of a console.
pub(crate) fn columns_of(stream: impl AsFd) -> usize {
    let variable = || {
        let columns = std::env::var("COLUMNS").ok()?.parse().ok();
        columns.filter(|columns| *columns >= CONSOLE / 2)
    };
    terminal_columns(stream).or_else(variable).unwrap_or(CONSOLE)
}

/// Text with lines of at most that width, if its words allow it; further lines begin with an indent of their own, behind
/// that of their first line.
pub(crate) fn folded(text: &str, limit: Option<usize>) -> String {
    limit.map_or_else(|| text.to_owned(), |limit| in_lines(text, limit, |_, _| None))
}

/// A message in lines of at most that width. Quoted text is whole if it fits into a line: it is a name or a command. So
/// is a line above a mark, `^`.
pub(crate) fn folded_message(text: &str, limit: usize) -> String {
    let mut lines = text.split('\n').peekable();
    let mut folded = Vec::new();
    while let Some(line) = lines.next() {
        folded.push(match lines.peek().is_some_and(|next| next.trim() == "^") {
            true => line.to_owned(),
            false => in_lines(line, limit, quoted),
        });
    }
    folded.join("\n")
}

/// `unit`: the length of a unit of several words at the begin of a text.
fn in_lines(text: &str, limit: usize, unit: fn(&str, usize) -> Option<usize>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        work::count(Count::Bytes, line.len() as u64);
        if visible(line).count() <= limit {
            lines.push(line.to_owned());
            continue;
        }
        let own = line.bytes().take(limit / 2).take_while(|byte| *byte == b' ').count();
        let indent = own + INDENT.len();
        let (mut current, mut width, mut has_words) = (String::new(), 0, false);
        // Blanks stay with the next word: columns keep their places.
        for word in words(line, limit.saturating_sub(indent), unit) {
            let letters = visible(word.trim_end()).count();
            // A blank is no begin of a line.
            if letters > 0 && width + letters > limit && has_words {
                lines.push(current.trim_end().to_owned());
                (current, width, has_words) = (" ".repeat(indent), indent, false);
            }
            current.push_str(word);
            width += visible(word).count();
            has_words |= letters > 0;
        }
        lines.push(current.trim_end().to_owned());
    }
    lines.join("\n")
}

/// The characters of a text without its ANSI styles, which take no column.
fn visible(text: &str) -> impl Iterator<Item = char> {
    let mut chars = text.chars();
    std::iter::from_fn(move || {
        loop {
            match chars.next()? {
                ESCAPE => _ = chars.find(|char| *char == 'm'),
                char => return Some(char),
            }
        }
    })
}

/// The words of a line with the blanks after them; a location or a mark in brackets after a gap, `  [v0[3] (triton)]`, is
/// one word if it fits into `limit`.
fn words(line: &str, limit: usize, unit: fn(&str, usize) -> Option<usize>) -> impl Iterator<Item = &str> {
    let mut rest = line;
    let mut is_after_gap = false;
    std::iter::from_fn(move || {
        let end = |text: &str| text.find(' ').map_or(text.len(), |at| at + 1);
        let bracketed = || {
            let open = rest.chars().next().filter(|_| is_after_gap)?;
            let close = match open {
                '[' => ']',
                '(' => ')',
                _ => return None,
            };
            let inner = rest.get(open.len_utf8()..)?;
            // Locations and marks contain no gap.
            let part =
                inner.split_once(GAP).map_or(rest, |(part, _)| rest.get(..part.len() + 1).unwrap_or(rest));
            work::count(Count::Bytes, part.len() as u64);
            let is_whole = part.trim_end_matches(RESET).ends_with(close);
            (is_whole && visible(part).take(limit + 1).count() <= limit).then_some(part.len())
        };
        let at = bracketed().or_else(|| unit(rest, limit)).unwrap_or_else(|| end(rest));
        let (word, after) = rest.split_at_checked(at)?;
        rest = after;
        is_after_gap = word == " ";
        (!word.is_empty()).then_some(word)
    })
}

/// The length of a quoted text at the begin, up to the next blank behind it, if it has at most that many columns.
fn quoted(text: &str, limit: usize) -> Option<usize> {
    let is_mark = |letter: &char| matches!(letter, '\'' | '`' | '"');
    let mark = text.trim_start_matches('(').chars().next().filter(is_mark)?;
    // Styles may stand in the text.
    let near = text
        .char_indices()
        .nth(limit.saturating_mul(4))
        .map_or(text, |(end, _)| text.get(..end).unwrap_or(text));
    work::count(Count::Bytes, near.len() as u64);
    let is_closed = |at: &usize| {
        let next = near.get(at + mark.len_utf8()..).and_then(|after| after.chars().next());
        !next.is_some_and(char::is_alphanumeric)
    };
    let close = near.match_indices(mark).skip(1).map(|(at, _)| at).find(is_closed)?;
    let blank = near.get(close..)?.find(' ').map(|blank| close + blank + 1);
    let end = blank.or((near.len() == text.len()).then_some(text.len()))?;
    let part = near.get(..end)?;
    (visible(part.trim_end()).count() <= limit).then_some(end)
}

/// A first column, and beside it a text in lines of at most that many columns with it. Lines behind the first begin below
/// the text's begin, and rather at gaps of two blanks than within a part. A first column of more than half of the columns
/// has lines of its own.
pub(crate) fn beside(column: &str, text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return format!("{column}{text}") };
    let own = visible(column).count();
    let (head, indent) = match own > columns / 2 {
        true => (folded(column.trim_end(), Some(columns)) + "\n" + INDENT + INDENT, 2 * INDENT.len()),
        false => (column.to_owned(), own),
    };
    let width = columns.saturating_sub(indent);
    let mut lines: Vec<String> = Vec::new();
    for part in text.split(GAP) {
        match lines.last_mut() {
            Some(line) if visible(line.as_str()).chain(visible(part)).count() + GAP.len() <= width => {
                line.push_str(GAP);
                line.push_str(part);
            }
            _ => lines.extend(wrapped(part, width)),
        }
    }
    head + &lines.join(&format!("\n{:indent$}", ""))
}

/// A shell's command in lines of at most that width, if its words allow it: each but the last ends with a backslash.
/// Quoted words are whole.
pub(crate) fn continued(text: &str, width: usize) -> Vec<String> {
    let (mut is_quoted, mut before) = (false, ' ');
    let between = |letter: char| {
        let is_escaped = before == '\\' && !is_quoted;
        before = letter;
        is_quoted ^= letter == '\'' && !is_escaped;
        letter == ' ' && !is_quoted
    };
    let mut units: Vec<String> = Vec::new();
    for word in text.split(between) {
        match units.last_mut() {
            // An option stays with its value.
            Some(option)
                if option.starts_with('-')
                    && !option.contains(' ')
                    && !word.starts_with('-')
                    && option.chars().count() + word.chars().count() + 5 <= width =>
            {
                option.push(' ');
                option.push_str(word);
            }
            _ => units.push(word.to_owned()),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for word in units {
        match lines.last_mut() {
            // A blank before the word, and the continuation after it.
            Some(line) if line.chars().count() + 1 + word.chars().count() + 2 <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(line) => {
                line.push_str(" \\");
                lines.push(format!("  {word}"));
            }
            None => lines.push(word),
        }
    }
    lines
}

/// A text in lines of at most that width, if its words allow it. A paragraph is folded by itself; an equation, `n = 1024`,
/// is whole.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let (mut line, mut columns) = (String::new(), 0);
        let mut words = paragraph.split(' ').peekable();
        while let Some(word) = words.next() {
            let (mut word, mut letters) = (Cow::Borrowed(word), visible(word).count());
            while let Some(next) = words.next_if(|next| {
                (*next == EQUALS || word.ends_with(" =")) && letters + 1 + visible(next).count() <= width
            }) {
                letters += 1 + visible(next).count();
                word = Cow::Owned(format!("{word} {next}"));
            }
            if columns > 0 && columns + 1 + letters > width {
                lines.push(std::mem::take(&mut line));
                columns = 0;
            } else if !line.is_empty() {
                line.push(' ');
                columns += 1;
            }
            line.push_str(&word);
            columns += letters;
        }
        lines.push(line);
    }
    lines
}

/// A text of one line, cut behind that width.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(3)).chain("...".chars()).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
