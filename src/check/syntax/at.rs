//! Places in the source, and lists of functions.

use super::super::file::{At, SourceRange};
use super::part::{Part, Wrong};
use crate::debuginfo::outer_spaces;

/// The expected form of a place.
const FORM: &str = "write FUNCTION, FILE:LINE, FILE:FIRST-LAST or FILE, or a function and then a file";

/// `saxpy saxpy.hip:54`, `saxpy`, `saxpy.hip:50-60`, `saxpy "my file.hip":54`.
pub(super) fn at(part: Part<'_>) -> Result<At, Wrong> {
    if part.is_empty() {
        return Err(Wrong::new(part.span(), "expected a function or a file").hint(FORM));
    }
    let last = last_word(part);
    let is_source = is_source(last.text);
    let function = if is_source { part.split(last.start - part.start).0.trim() } else { part };
    let source = if is_source { Some(source(last)?) } else { None };
    let function = if function.is_empty() { None } else { Some(name(function)?) };
    Ok(At { function, source })
}

/// The words after a function's name and a comma in the name of a target region of OpenMP; the line's number follows.
const REGION: [&str; 4] = ["target", "region", "at", "line"];

/// Words of the types of conversion operators: `operator unsigned long const*`.
const TYPE: [&str; 10] =
    ["const", "volatile", "unsigned", "signed", "long", "short", "int", "char", "float", "double"];

/// A function: spaces count only within its brackets, in the type after `operator`, and in the name of a target region.
pub(super) fn name(part: Part<'_>) -> Result<String, Wrong> {
    let mut words: Vec<String> = Vec::new();
    let mut start = 0;
    for end in outer_spaces(part.text).into_iter().chain([part.text.len()]) {
        let word = part.slice(start..end).trim();
        start = end;
        if word.is_empty() {
            continue;
        }
        let is_converted = words.iter().any(|word| word.ends_with("operator")) && TYPE.contains(&word.text);
        let continues = word.text.starts_with(['(', '[', '<', '*', '&']) || word.text == "const";
        let is_one = words.last().is_none_or(|last| last.ends_with("operator"))
            || continues
            || is_converted
            || is_region(&words, word.text);
        if !is_one {
            let problem = format!("expected a file, found `{}`", word.text);
            return Err(Wrong::new(word.span(), problem).hint(FORM));
        }
        words.push(word.collapsed());
    }
    Ok(words.join(" "))
}

/// Whether the words end with a part of the name of a target region that the word continues.
fn is_region(words: &[String], word: &str) -> bool {
    let Some(comma) = words.iter().rposition(|word| word.ends_with(',')) else { return false };
    let region = words.get(comma + 1..).unwrap_or_default();
    let expected = REGION.get(region.len());
    region.iter().zip(REGION).all(|(own, expected)| own == expected)
        && region.len() <= REGION.len()
        && expected.map_or_else(|| word.parse::<u64>().is_ok(), |next| *next == word)
}

/// The last word outside of brackets, also one that begins with a name in quotes.
fn last_word(part: Part<'_>) -> Part<'_> {
    // A quote within a word is that of a literal operator.
    let is_first = |at: &usize| {
        part.text.get(..*at).is_some_and(|before| !before.ends_with(|c: char| !c.is_whitespace()))
    };
    let quote = part.text.rfind('"').and_then(|close| part.text.get(..close)?.rfind('"')).filter(is_first);
    let word = outer_spaces(part.text).last().copied().unwrap_or(0);
    part.after(quote.unwrap_or(usize::MAX).min(word)).trim_start()
}

/// Whether a word is a file: with a line, a folder, or an extension outside of brackets.
fn is_source(word: &str) -> bool {
    let has_line = word.rsplit_once(':').is_some_and(|(before, lines)| {
        // The position of a lambda is in brackets.
        !before.ends_with(':')
            && lines.starts_with(|c: char| c.is_ascii_digit())
            && !lines.contains([')', '>'])
    });
    let extension = word.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && !extension.is_empty() && extension.chars().all(|c| c.is_ascii_alphanumeric())
    });
    let is_plain =
        !word.contains(['(', '<', ')', '>']) && !word.ends_with("operator/") && !word.ends_with("operator/=");
    has_line || word.starts_with('"') || is_plain && (extension || word.contains(['/', '\\']))
}

/// `saxpy.hip:54`, `saxpy.hip:50-60`, `saxpy.hip`
fn source(part: Part<'_>) -> Result<SourceRange, Wrong> {
    let close = part.text.strip_prefix('"').and_then(|rest| rest.find('"')).map_or(0, |at| at + 1);
    let colon = part.text.rfind(':').filter(|at| {
        *at >= close
            && part.text.get(at + 1..).is_some_and(|lines| lines.starts_with(|c: char| c.is_ascii_digit()))
    });
    let (file, lines) = part.split(colon.unwrap_or(part.text.len()));
    let lines = match lines.strip(":") {
        Some(lines) => Some(range(lines)?),
        None => None,
    };
    let file = match file.text.strip_prefix('"') {
        Some(rest) => match rest.strip_suffix('"') {
            Some(file) if !file.contains('"') => file,
            _ => return Err(Wrong::new(file.span(), "expected a file in quotes").hint(FORM)),
        },
        // A quote is never a part of a file's name, so the text is not one name.
        None if file.text.contains('"') => {
            return Err(Wrong::new(file.span(), "expected a file in quotes").hint(FORM));
        }
        None => file.text,
    };
    if file.is_empty() {
        return Err(Wrong::new(part.span(), "expected a file before the line").hint(FORM));
    }
    Ok(SourceRange { file: file.to_owned(), lines })
}

fn range(part: Part<'_>) -> Result<(u64, u64), Wrong> {
    let (first, last) = part.split(part.text.find('-').unwrap_or(part.text.len()));
    let number = |part: Part<'_>| {
        let no_line = || Wrong::new(part.span(), format!("`{}` is not a line", part.text)).hint(FORM);
        let wrong = || part.leading_zero().unwrap_or_else(no_line);
        part.number().filter(|line| *line > 0).ok_or_else(wrong)
    };
    let first = number(first)?;
    let last = last.strip("-").map_or(Ok(first), number)?;
    if last < first {
        return Err(Wrong::new(part.span(), "the last line is before the first"));
    }
    Ok((first, last))
}

/// The position of a `<` that ends no template arguments; `None`: there is none, or the name is that of an operator.
fn unclosed(name: &str) -> Option<usize> {
    if name.contains("operator") {
        return None;
    }
    let (mut opened, mut depth) = (Vec::new(), 0usize);
    for (at, c) in name.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '<' if depth == 0 => opened.push(at),
            '>' if depth == 0 => drop(opened.pop()),
            _ => {}
        }
    }
    opened.first().copied()
}

/// `leaf < middle < ... < launch`: names between `<` with spaces around it, outside of parentheses.
pub(super) fn stack(part: Part<'_>) -> Result<Vec<String>, Wrong> {
    let mut functions = Vec::new();
    let mut function = |from: usize, to: usize| -> Result<(), Wrong> {
        let function = part.slice(from..to).trim();
        if function.is_empty() {
            let wrong = Wrong::new(function.span(), "expected a function");
            return Err(wrong.hint("write the innermost function first: leaf < middle < ... < launch"));
        }
        if let Some(at) = unclosed(function.text) {
            let wrong =
                Wrong::new(function.slice(at..at + 1).span(), "expected spaces around `<` between functions");
            return Err(wrong.hint("write leaf < middle < ... < launch"));
        }
        functions.push(if function.text == "..." { "...".to_owned() } else { name(function)? });
        Ok(())
    };
    let (mut start, mut depth, mut last) = (0, 0usize, ' ');
    let mut characters = part.text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let is_alone = last.is_whitespace() && characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '<' if is_alone && depth == 0 => {
                function(start, at)?;
                start = at + 1;
            }
            _ => {}
        }
        last = c;
    }
    function(start, part.text.len())?;
    Ok(functions)
}
