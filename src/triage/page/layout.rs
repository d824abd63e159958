//! Labelled rows in lines of at most 80 columns.

use crate::report::Style;

/// Columns of a line.
const COLUMNS: usize = 80;
/// A blank at which no line ends; printed as a plain one.
const NO_BREAK: char = '\u{a0}';
/// Columns of the labels.
const LABEL: usize = 10;

/// The lines of a page.
pub(super) struct Layout {
    style: Style,
    text: String,
}

impl Layout {
    /// A page with its first sentence, and the source line below it.
    pub(super) fn new(style: Style, headline: &str, is_alarm: bool, source: Option<&str>) -> Self {
        let mut page = Self { style, text: String::new() };
        for line in wrapped(headline, COLUMNS) {
            page.line(&if is_alarm { style.alarm(&line) } else { style.heading(&line) });
        }
        if let Some(source) = source {
            page.line(&format!("    {}", words_of(source, COLUMNS - 4)));
        }
        page.line("");
        page
    }

    /// A row: a label and its text.
    pub(super) fn row(&mut self, label: &str, text: &str) {
        let mut label = label;
        for line in wrapped(text, COLUMNS - LABEL) {
            self.fixed(label, &line);
            label = "";
        }
    }

    /// Items of a label, one below the other; nothing without items.
    pub(super) fn list(&mut self, label: &str, items: impl Iterator<Item = String>) {
        let mut label = label;
        for item in items {
            self.row(label, &item);
            label = "";
        }
    }

    /// A line that is never folded: columns, or a command to copy.
    pub(super) fn fixed(&mut self, label: &str, text: &str) {
        let pad = LABEL.saturating_sub(label.chars().count());
        let line = format!("{}{}{text}", self.style.heading(label), " ".repeat(pad));
        self.line(&line);
    }

    pub(super) fn end(self) -> String {
        self.text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(&line.trim_end().replace(NO_BREAK, " "));
        self.text.push('\n');
    }
}

/// The first line of a text, up to that width.
fn words_of(text: &str, width: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(3)).chain("...".chars()).collect()
}

/// A text that is not folded.
pub(super) fn whole(text: &str) -> String {
    text.replace(' ', &NO_BREAK.to_string())
}

/// A text in lines of at most that width, if its words allow it. A paragraph is folded by itself.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let (mut line, mut columns) = (String::new(), 0);
        for word in paragraph.split(' ') {
            let letters = word.chars().count();
            if columns > 0 && columns + 1 + letters > width {
                lines.push(std::mem::take(&mut line));
                columns = 0;
            } else if !line.is_empty() {
                line.push(' ');
                columns += 1;
            }
            line.push_str(word);
            columns += letters;
        }
        lines.push(line);
    }
    lines
}
