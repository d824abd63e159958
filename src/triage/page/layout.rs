//! Labelled rows in lines of at most 80 columns.

use crate::report::Style;

/// Columns of a line.
const COLUMNS: usize = 80;
/// A blank at which no line ends; printed as a plain one.
const NO_BREAK: char = '\u{a0}';
/// Columns of the labels.
const LABEL: usize = 10;

/// The contents of a page, before they are folded to lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The first sentence, without a full stop.
    pub headline: String,
    /// Whether the sentence names a cause.
    pub is_alarm: bool,
    /// The source line below it, with its number.
    pub source: Option<String>,
    /// The evidence.
    pub rows: Vec<Row>,
}

/// A row of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The label; empty for a further item of the label before.
    pub label: &'static str,
    /// The text.
    pub text: String,
    /// Whether the text is never folded: columns, or a command to copy.
    pub is_fixed: bool,
}

impl Row {
    /// The text with plain blanks.
    #[must_use]
    pub fn plain(&self) -> String {
        plain(&self.text)
    }
}

/// A text with plain blanks.
pub(crate) fn plain(text: &str) -> String {
    text.replace(NO_BREAK, " ")
}

impl Page {
    /// Adds a row: a label and its text.
    pub(super) fn row(&mut self, label: &'static str, text: &str) {
        self.rows.push(Row { label, text: text.to_owned(), is_fixed: false });
    }

    /// Adds items of a label, one below the other; nothing without items.
    pub(super) fn list(&mut self, label: &'static str, items: impl Iterator<Item = String>) {
        let mut label = label;
        for item in items {
            self.row(label, &item);
            label = "";
        }
    }

    /// Adds a row that is never folded.
    pub(super) fn fixed(&mut self, label: &'static str, text: &str) {
        self.rows.push(Row { label, text: text.to_owned(), is_fixed: true });
    }

    /// The page in lines of at most 80 columns.
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let mut line = |line: &str| {
            text.push_str(&plain(line.trim_end()));
            text.push('\n');
        };
        for sentence in wrapped(&self.headline, COLUMNS) {
            line(&if self.is_alarm { style.alarm(&sentence) } else { style.heading(&sentence) });
        }
        if let Some(source) = &self.source {
            line(&format!("    {}", words_of(source, COLUMNS - 4)));
        }
        line("");
        for row in &self.rows {
            let mut label = row.label;
            let folded =
                if row.is_fixed { vec![row.text.clone()] } else { wrapped(&row.text, COLUMNS - LABEL) };
            for part in folded {
                let pad = LABEL.saturating_sub(label.chars().count());
                line(&format!("{}{}{part}", style.heading(label), " ".repeat(pad)));
                label = "";
            }
        }
        text
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
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
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
