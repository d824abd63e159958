//! Labelled rows in lines of at most 80 columns, or those of a narrower reader.

use crate::report::Style;
use crate::report::fold::{continued, shortened, wrapped};

/// Maximum columns of a line.
const COLUMNS: usize = 80;
/// A blank at which no line ends; printed as a plain one. `clean` escapes control characters: no name or value has it.
const NO_BREAK: char = '\u{1}';
/// Begin of a shell's command.
const SHELL: &str = "lanescope ";
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
    /// How a long text continues in the next line.
    pub fold: Fold,
}

/// How a long text continues in the next line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// Between words.
    #[default]
    Words,
    /// It does not: columns.
    Never,
    /// A command to copy: a shell's command behind a backslash, any other does not.
    Command,
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
        self.rows.push(Row { label, text: text.to_owned(), fold: Fold::Words });
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
        self.rows.push(Row { label, text: text.to_owned(), fold: Fold::Never });
    }

    /// Adds a command to copy.
    pub(super) fn command(&mut self, label: &'static str, text: &str) {
        self.rows.push(Row { label, text: text.to_owned(), fold: Fold::Command });
    }

    /// The page in lines of at most 80 columns, or those of a narrower reader.
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        let columns = style.columns().map_or(COLUMNS, |columns| columns.min(COLUMNS));
        let mut text = String::new();
        let mut line = |line: &str| {
            text.push_str(&plain(line.trim_end()));
            text.push('\n');
        };
        for sentence in wrapped(&self.headline, columns) {
            line(&if self.is_alarm { style.alarm(&sentence) } else { style.heading(&sentence) });
        }
        if let Some(source) = &self.source {
            line(&format!("    {}", shortened(source.trim(), columns - 4)));
        }
        line("");
        for row in &self.rows {
            let mut label = row.label;
            let folded = match row.fold {
                Fold::Words => wrapped(&row.text, columns - LABEL),
                Fold::Command if row.text.starts_with(SHELL) => continued(&row.text, columns - LABEL),
                Fold::Never | Fold::Command => vec![row.text.clone()],
            };
            for part in folded {
                let pad = LABEL.saturating_sub(label.chars().count());
                line(&format!("{}{}{part}", style.heading(label), " ".repeat(pad)));
                label = "";
            }
        }
        text
    }
}

/// A text that is not folded.
pub(super) fn whole(text: &str) -> String {
    text.replace(' ', &NO_BREAK.to_string())
}

#[cfg(test)]
mod tests {
    use super::{plain, whole, wrapped};

    /// A no-break space of a name stays: the name would be another one.
    #[test]
    fn whole_texts_are_not_folded_and_have_plain_blanks() {
        let text = format!("fault in {}", whole("the kernel a\u{a0}b"));
        assert_eq!(
            wrapped(&text, 12).iter().map(|line| plain(line)).collect::<Vec<_>>(),
            ["fault in", "the kernel a\u{a0}b"]
        );
    }
}
