//! The canonical form of a file: spaces and alignment, line by line. No line is added, removed or moved.

use std::fmt::Write as _;

use super::file::{
    AccessLine, At, Comparator, Content, Element, FaultLine, HangLine, Lanes, Line, Operand, Right,
    ScopeFile, Selector, SourceRange, StateName,
};
use super::syntax;
use crate::notation::range;

/// Spaces between the columns of a line.
const GAP: usize = 2;
/// Maximum width of a first column, or of a statement, that others are aligned with.
const MAX_ALIGNED: usize = 60;

/// A line in columns.
struct Row {
    /// Spaces before the first column.
    indent: usize,
    /// The columns of the statement; empty without one.
    columns: Vec<String>,
    /// The comment with its `#`.
    comment: Option<String>,
}

/// Formats a file. The result ends with a line feed and parses to the same contents.
#[must_use]
pub fn format(file: &ScopeFile) -> String {
    let rows = rows(file);
    // The lines before the first block, and each block.
    let is_block = |line: &Line| matches!(line.content, Content::Wave(_));
    let starts = file.lines.iter().enumerate().filter(|(_, line)| is_block(line)).map(|(index, _)| index);
    let mut text = String::new();
    let mut rest = rows.as_slice();
    let mut done = 0;
    for end in starts.chain([file.lines.len()]) {
        let (section, after) = rest.split_at_checked(end - done).unwrap_or((rest, &[]));
        write_section(section, &mut text);
        (rest, done) = (after, end);
    }
    text
}

/// The width of a text in characters.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// The largest of the widths that take part in the alignment.
fn aligned(widths: impl Iterator<Item = usize>) -> usize {
    widths.filter(|width| *width <= MAX_ALIGNED).max().unwrap_or(0)
}

/// Fills a text with spaces up to a width, at least one gap.
fn pad(text: &mut String, from: usize, to: usize) {
    text.extend(std::iter::repeat_n(' ', (to + GAP).saturating_sub(from).max(GAP)));
}

fn write_section(rows: &[Row], text: &mut String) {
    let first = aligned(rows.iter().filter(|row| row.columns.len() > 1).map(|row| width(row.first())));
    let statements: Vec<String> = rows.iter().map(|row| row.statement(first)).collect();
    let commented = rows.iter().zip(&statements).filter(|(row, _)| row.comment.is_some());
    let last = aligned(commented.map(|(_, statement)| width(statement)));
    for (row, statement) in rows.iter().zip(&statements) {
        text.push_str(statement);
        if let Some(comment) = &row.comment {
            match row.columns.is_empty() {
                true => text.extend(std::iter::repeat_n(' ', row.indent)),
                false => pad(text, width(statement), last),
            }
            text.push_str(comment);
        }
        text.push('\n');
    }
}

impl Row {
    fn first(&self) -> &str {
        self.columns.first().map_or("", String::as_str)
    }

    /// The statement with its first column of that width.
    fn statement(&self, first: usize) -> String {
        let mut text = String::new();
        let mut columns = self.columns.iter();
        if let Some(column) = columns.next() {
            text.extend(std::iter::repeat_n(' ', self.indent));
            text.push_str(column);
        }
        for (index, column) in columns.enumerate() {
            let from = width(&text);
            pad(&mut text, from, if index == 0 { self.indent + first } else { from });
            text.push_str(column);
        }
        text
    }
}

fn rows(file: &ScopeFile) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut in_block = false;
    for line in &file.lines {
        let is_start = matches!(line.content, Content::Wave(_));
        in_block |= is_start;
        let indent = if in_block && !is_start { 2 } else { 0 };
        let comment = line.comment.and_then(|at| line.text.get(at..)).map(|text| text.trim_end().to_owned());
        rows.push(Row { indent, columns: columns(line), comment });
    }
    // A comment at the margin before the next block, or at the end of the file, belongs to no block.
    let mut is_outside = true;
    for (row, line) in rows.iter_mut().zip(&file.lines).rev() {
        match line.content {
            Content::Empty if is_outside && line.comment == Some(0) => row.indent = 0,
            Content::Empty => {}
            _ => is_outside = matches!(line.content, Content::Wave(_)),
        }
    }
    rows
}

/// The columns of a statement.
fn columns(line: &Line) -> Vec<String> {
    let pair = |keyword: &str, rest: String| vec![keyword.to_owned(), rest];
    match &line.content {
        Content::Empty => Vec::new(),
        Content::Dump(files) => {
            pair("dump", files.iter().map(|name| file_name(name)).collect::<Vec<_>>().join(" "))
        }
        Content::Setting(setting) => {
            let value = setting.value.as_deref().map(file_name);
            std::iter::once(setting.name.clone()).chain(value).collect()
        }
        Content::Fault(FaultLine::None) => pair("fault", "none".to_owned()),
        Content::Fault(FaultLine::Causes(causes)) => pair("fault", causes.join(", ")),
        Content::At(at) => [vec!["at".to_owned()], place(at)].concat(),
        Content::Stack(functions) => pair("stack", functions.join(" < ")),
        Content::Access(access) => [vec!["access".to_owned()], accessed(access)].concat(),
        Content::Waves(counts) => {
            let of = |count: &super::file::Count| {
                format!("{}{}", count.of.name(), number(count.comparator, count.number))
            };
            let text = counts.iter().map(of).collect::<Vec<_>>().join(", ");
            let (first, rest) = text.split_once(' ').unwrap_or((&text, ""));
            pair(first, rest.to_owned())
        }
        Content::Hang(HangLine::Hang) => vec!["hang".to_owned()],
        Content::Hang(HangLine::None) => pair("hang", "none".to_owned()),
        Content::Hang(HangLine::Deadlock) => pair("hang", "deadlock".to_owned()),
        Content::Hang(HangLine::State(state, comparator, count)) => {
            pair("hang", format!("{state}{}", number(*comparator, *count)))
        }
        Content::Signature(signature) => pair("signature", signature.clone()),
        Content::Wave(selector) => vec![format!("wave {}", selected(selector))],
        Content::Exec(exec) => pair("exec", format!("{exec:#x}")),
        Content::State(state) => pair("state", state.clone()),
        Content::Stop(stop) => pair("stop", stop.clone()),
        Content::Value(value) => {
            let is_given = line
                .text
                .get(line.span.clone())
                .is_some_and(|text| text.split_whitespace().next() == Some("frame"));
            let frame = (value.frame > 0 || is_given).then(|| format!("frame {}", value.frame));
            let on = value.lanes.as_ref().map(lanes);
            let value = format!("{} {}", value.path, right(&value.right));
            frame.into_iter().chain(on).chain([value]).collect()
        }
    }
}

/// A file or value, in quotes if it has spaces or looks like a comment.
pub(super) fn file_name(name: &str) -> String {
    let needs_quotes = name.contains(char::is_whitespace) || name.starts_with(['#', '"']);
    if needs_quotes { format!("\"{name}\"") } else { name.to_owned() }
}

/// ` 8`, ` >= 8`
fn number(comparator: Comparator, number: u64) -> String {
    match comparator {
        Comparator::Equal => format!(" {number}"),
        _ => format!(" {} {number}", comparator.sign()),
    }
}

/// The function and the source, each a column.
fn place(at: &At) -> Vec<String> {
    at.function.iter().cloned().chain(at.source.as_ref().map(source)).collect()
}

fn source(source: &SourceRange) -> String {
    let with_lines = |file: &str| match &source.lines {
        Some(lines) => format!("{file}:{}", range(lines)),
        None => file.to_owned(),
    };
    let plain = with_lines(&source.file);
    // Without its quotes a name may be a function's, two words, a comment or a line.
    let read = syntax::line(&format!("at {plain}"), false).map(|line| line.content);
    let own = At { function: None, source: Some(source.clone()) };
    if read == Some(Content::At(own)) { plain } else { with_lines(&format!("\"{}\"", source.file)) }
}

fn accessed(access: &AccessLine) -> Vec<String> {
    let on = access.lanes.as_ref().map(lanes);
    [on, access.kind.clone(), access.expression.clone(), access.state.clone()].into_iter().flatten().collect()
}

fn selected(selector: &Selector) -> String {
    match selector {
        Selector::Faulted => "faulted".to_owned(),
        Selector::Every => "every".to_owned(),
        Selector::Some => "some".to_owned(),
        Selector::Id(id) => format!("id {id}"),
        Selector::Position([x, y, z], None) => format!("({x},{y},{z})"),
        Selector::Position([x, y, z], Some(number)) => format!("({x},{y},{z})/{number}"),
        Selector::Kernel(kernel) => format!("kernel {kernel}"),
        Selector::At(at) => format!("at {}", place(at).join("  ")),
    }
}

/// `lane 17`, `lane 0-3,8`, `lane active`
fn lanes(lanes: &Lanes) -> String {
    match lanes {
        Lanes::Active => "lane active".to_owned(),
        Lanes::All => "lane all".to_owned(),
        Lanes::Listed(ranges) => {
            let ranges: Vec<String> = ranges.iter().map(|(first, last)| range(&(first.0, last.0))).collect();
            format!("lane {}", ranges.join(","))
        }
    }
}

/// Operator and value, in the notation of the file.
pub(super) fn right(right: &Right) -> String {
    match right {
        Right::Compare(comparator, value) => format!("{} {}", comparator.sign(), operand(value)),
        Right::Near { value, tolerance: None, .. } => format!("~= {value}"),
        Right::Near { value, tolerance: Some(tolerance), is_percent } => {
            format!("~= {value} +- {}{}", float(*tolerance), if *is_percent { "%" } else { "" })
        }
        Right::Between(first, last) => format!("in {first}..{last}"),
        Right::OneOf(values) => {
            format!("in {{{}}}", values.iter().map(operand).collect::<Vec<_>>().join(", "))
        }
        Right::Is(StateName::Unavailable) => "is unavailable".to_owned(),
        Right::Is(StateName::OptimizedOut) => "is optimized out".to_owned(),
        Right::Is(StateName::Inactive) => "is inactive".to_owned(),
        Right::Is(StateName::Available) => "is available".to_owned(),
        Right::Is(StateName::Nan) => "is nan".to_owned(),
        Right::Is(StateName::Infinite) => "is inf".to_owned(),
        Right::Is(StateName::Error(text)) if text.is_empty() => "is error".to_owned(),
        Right::Is(StateName::Error(text)) => {
            format!("is error /{}/", text.replace('\\', "\\\\").replace('/', "\\/"))
        }
    }
}

/// A number as people write it: `0.001`, and `1e-9` rather than `0.000000001`.
fn float(number: f64) -> String {
    let (plain, exponent) = (format!("{number}"), format!("{number:e}"));
    if plain.len() <= exponent.len() + 2 { plain } else { exponent }
}

/// A value in the notation of the file.
pub(super) fn operand(value: &Operand) -> String {
    match value {
        Operand::Path(path) => path.clone(),
        Operand::Text(bytes) => text(bytes),
        Operand::List { elements, is_open } => {
            let more = is_open.then(|| "...".to_owned());
            let elements: Vec<String> = elements.iter().map(element).chain(more).collect();
            format!("{{{}}}", elements.join(", "))
        }
    }
}

fn element(element: &Element) -> String {
    let value = operand(&element.value);
    element.member.as_ref().map_or_else(|| value.clone(), |member| format!(".{member} = {value}"))
}

/// A text in quotes, with escapes for quotes, controls and bytes that are not UTF-8.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                c if crate::clean::is_unclean(c) => hex(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut text),
                c => text.push(c),
            }
        }
        hex(chunk.invalid(), &mut text);
    }
    text.push('"');
    text
}

fn hex(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        let _ = write!(text, "\\x{byte:02x}");
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
