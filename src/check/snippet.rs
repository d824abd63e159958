//! Messages about lines of a file as rustc prints them: the line with a caret, and notes below.

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet as Source};

use super::syntax::{MAX_LINE, SyntaxError, lines};
use crate::clean::clean;
use crate::report::fold::{CONSOLE, wrapped};

/// A message about a line of a file.
#[derive(Clone, Debug)]
pub struct Snippet<'t> {
    /// The file's name.
    pub file: &'t str,
    /// The line, from 1; `None`: the file as a whole, whose text and columns do not count.
    pub line: Option<usize>,
    /// The text of the line.
    pub text: &'t str,
    /// The marked columns: the first byte, and the one past the last, from 0; moved to boundaries of characters.
    pub columns: (usize, usize),
    /// The message.
    pub title: &'t str,
    /// The words beside the carets; may be empty.
    pub label: &'t str,
    /// Lines below: a name such as `expected`, and a text.
    pub notes: Vec<(&'t str, String)>,
}

impl Snippet<'_> {
    /// The text without a line end; with colours of terminals if `is_styled`.
    #[must_use]
    pub fn render(&self, is_styled: bool) -> String {
        let (start, end) = self.columns;
        let start = self.text.floor_char_boundary(start);
        let end = self.text.ceil_char_boundary(end).max(start);
        let label = Some(self.label).filter(|label| !label.is_empty()).map(clean);
        let mark = AnnotationKind::Primary.span(start..end).label(label);
        // In front of a name: the number of the line, and ` = `.
        let margin = self.line.unwrap_or_default().to_string().len() + 3;
        let folded = |margin: usize, label: &str, text: &str| {
            let width = CONSOLE.saturating_sub(margin + label.len() + 2);
            wrapped(&clean(text), width).join("\n")
        };
        let notes = self.notes.iter();
        let notes =
            notes.map(|(name, text)| Level::NOTE.with_name(*name).message(folded(margin, name, text)));
        let title = Level::ERROR.primary_title(folded(0, "error", self.title));
        let report = [match self.line {
            Some(line) => {
                let source = Source::source(self.text).line_start(line).path(clean(self.file));
                title.element(source.annotation(mark)).elements(notes)
            }
            None => title.element(Origin::path(clean(self.file))).elements(notes),
        }];
        let renderer = if is_styled { Renderer::styled() } else { Renderer::plain() };
        renderer.term_width(CONSOLE).render(&report)
    }
}

/// The errors of a file in the order of their lines; `bytes` are those that were parsed. Each text has no line end.
pub fn syntax_errors<'t>(
    errors: &'t [SyntaxError],
    file: &'t str,
    bytes: &'t [u8],
    is_styled: bool,
) -> impl Iterator<Item = String> + 't {
    let mut lines = lines(bytes);
    let mut passed = 0;
    errors.iter().map(move |error| {
        let ahead = error.line.saturating_sub(passed + 1);
        passed = passed.max(error.line);
        let line = lines.nth(ahead).unwrap_or_default();
        let text = String::from_utf8_lossy(line.get(..MAX_LINE).unwrap_or(line));
        let hint = error.hint.iter().map(|hint| ("hint", hint.clone()));
        Snippet {
            file,
            line: Some(error.line),
            text: &text,
            columns: error.columns,
            title: &error.problem,
            label: "",
            notes: hint.collect(),
        }
        .render(is_styled)
    })
}

#[cfg(test)]
#[path = "snippet_tests.rs"]
mod tests;
