//! Aligned columns, with colour if the reader can show it.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style as Ansi};

use super::fold::{CONSOLE, GAP, INDENT, columns_of, folded, terminal_columns};

/// The style of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    /// Characters alone: for `monitor`, pipes and files.
    #[default]
    Plain,
    /// With ANSI colours; the stream that prints it strips them if they are unwanted.
    Coloured,
    /// The same in whole lines, where no terminal bounds them: `--full`.
    Whole,
}

impl Style {
    /// A heading.
    #[must_use]
    pub fn heading(self, text: &str) -> String {
        self.paint(Ansi::new().bold(), text)
    }

    /// An error: a faulted wave.
    #[must_use]
    pub fn alarm(self, text: &str) -> String {
        self.paint(Ansi::new().fg_color(Some(AnsiColor::Red.into())).bold(), text)
    }

    /// A minor item: an absent value, an inactive lane.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.paint(Ansi::new().dimmed(), text)
    }

    /// Width of the reader's lines in characters; `None`: they have no bound. A terminal on standard output has its own
    /// width, files and pipes have that of the variable `COLUMNS`. Other readers do not report theirs: 80.
    #[must_use]
    pub fn columns(self) -> Option<usize> {
        match self {
            Self::Plain => Some(CONSOLE),
            Self::Coloured => Some(columns_of(std::io::stdout())),
            Self::Whole => terminal_columns(std::io::stdout()),
        }
    }

    /// Text in lines of at most [`Self::columns`], folded between words.
    #[must_use]
    pub fn folded(self, text: &str) -> String {
        folded(text, self.columns())
    }

    fn paint(self, style: Ansi, text: &str) -> String {
        match self {
            Self::Coloured | Self::Whole if !text.is_empty() => format!("{style}{text}{style:#}"),
            _ => text.to_owned(),
        }
    }
}

/// The style of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    Normal,
    Alarm,
    Dim,
}

/// Maximum width of a cell for the alignment of its column; a longer cell does not widen the column.
const MAX_WIDTH: usize = 256;

/// Rows of cells under headings; every column is as wide as its widest cell of up to 256 characters.
///
/// A cell is one line, or has several parts, one a line: they are joined by blanks. In a table wider than the reader's
/// lines they follow each other in the lines of their column.
#[derive(Clone, Debug, Default)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<(Weight, Vec<String>)>,
    is_grouped: bool,
    /// Maximum number of columns. `None`: those of the reader's lines.
    limit: Option<usize>,
}

impl Table {
    /// A table with those headings.
    #[must_use]
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { headings: headings.map(str::to_owned).to_vec(), ..Self::default() }
    }

    /// Moves the last column above the rows if the table is wider than the reader's lines, even if no neighbours share
    /// a cell.
    #[must_use]
    pub fn grouped(self) -> Self {
        Self { is_grouped: true, ..self }
    }

    /// Bounds the table's lines, for a text that indents them.
    #[must_use]
    pub fn within(self, columns: usize) -> Self {
        Self { limit: Some(columns), ..self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push((Weight::Normal, cells));
    }

    /// Adds a highlighted row.
    pub fn alarm_row(&mut self, cells: Vec<String>) {
        self.rows.push((Weight::Alarm, cells));
    }

    /// Adds a dimmed row.
    pub fn dim_row(&mut self, cells: Vec<String>) {
        self.rows.push((Weight::Dim, cells));
    }

    /// The table as lines; no line ends in spaces.
    ///
    /// A table wider than the reader's lines ([`Style::columns`]) with a filled last column that repeats in
    /// neighbouring rows prints each such cell once, with its heading in a line above its rows; the first one is above
    /// the headings. Then cells of several parts get further lines, and last, the columns that do not fit follow below
    /// their row, with an indent.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let whole: Vec<usize> =
            (0..self.headings.len()).map(|column| self.width(column, usize::MAX)).collect();
        let limit = self.limit.or(style.columns());
        let narrowed = |widths: &[usize]| limit.map_or(widths.to_vec(), |limit| self.narrowed(widths, limit));
        let is_too_wide = |widths: &[usize]| limit.is_some_and(|limit| total(widths) > limit);
        let shorter = whole.split_last().map_or(&[][..], |(_, shorter)| shorter);
        let is_filled = || self.rows.iter().all(|(_, row)| row.last().is_some_and(|cell| !cell.is_empty()));
        let is_better =
            || !is_too_wide(&narrowed(shorter)) && self.runs() * 2 <= self.rows.len() && is_filled();
        let is_grouped = is_too_wide(&whole) && (self.is_grouped || is_better());
        let widths = narrowed(if is_grouped { shorter } else { &whole });
        let above = self.headings.last().map_or("", String::as_str);
        let headings = style.heading(&line(&self.headings, &widths, limit)) + "\n";
        let (mut text, mut group) = (String::new(), None);
        for (index, (weight, row)) in self.rows.iter().enumerate() {
            let last = row.last();
            if is_grouped && group != last {
                let value = last.map_or("", String::as_str);
                text.push_str(&folded(&format!("{above}: {value}"), limit));
                text.push('\n');
                group = last;
            }
            if index == 0 {
                text.push_str(&headings);
            }
            let cells = line(row, &widths, limit);
            text.push_str(&match weight {
                Weight::Normal => cells,
                Weight::Alarm => style.alarm(&cells),
                Weight::Dim => style.dim(&cells),
            });
            text.push('\n');
        }
        if self.rows.is_empty() { headings } else { text }
    }

    /// Runs of rows with the same last cell.
    fn runs(&self) -> usize {
        self.rows.chunk_by(|(_, row), (_, next)| row.last() == next.last()).count()
    }

    /// The width of a column whose cells have lines of at most `limit` characters, if their parts allow it.
    fn width(&self, column: usize, limit: usize) -> usize {
        let cells = self.rows.iter().filter_map(|(_, row)| row.get(column));
        let longest = cells.map(|cell| longest(&lines_of(cell, limit)).min(MAX_WIDTH)).max();
        let heading = self.headings.get(column).map_or(0, |heading| heading.chars().count());
        heading.max(longest.unwrap_or_default())
    }

    /// Narrows columns whose cells have several parts, the widest first, until the table fits.
    fn narrowed(&self, widths: &[usize], limit: usize) -> Vec<usize> {
        let mut widths = widths.to_vec();
        let has_parts = |column: &usize| {
            self.rows.iter().any(|(_, row)| row.get(*column).is_some_and(|cell| cell.contains('\n')))
        };
        let mut left: Vec<usize> = match total(&widths) > limit {
            true => (0..widths.len()).filter(has_parts).collect(),
            false => Vec::new(),
        };
        while total(&widths) > limit {
            let width_of = |column: &usize| widths.get(*column).copied().unwrap_or_default();
            let Some(widest) = left.iter().copied().max_by_key(width_of) else { break };
            let narrower = self.width(widest, width_of(&widest).saturating_sub(1));
            match widths.get_mut(widest).filter(|width| **width > narrower) {
                Some(width) => *width = narrower,
                None => left.retain(|column| *column != widest),
            }
        }
        widths
    }
}

/// The width of columns with the gaps between them.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

/// The parts of a cell in lines of at most that many characters, if the parts allow it.
fn lines_of(cell: &str, limit: usize) -> Vec<Cow<'_, str>> {
    let (mut lines, mut left) = (Vec::<Cow<'_, str>>::new(), 0_usize);
    for part in cell.lines() {
        let length = part.chars().count();
        match lines.last_mut().filter(|_| left > length) {
            Some(line) => {
                let line = line.to_mut();
                line.push(' ');
                line.push_str(part);
                left -= length + 1;
            }
            None => {
                lines.push(Cow::Borrowed(part));
                left = limit.saturating_sub(length);
            }
        }
    }
    lines
}

fn longest(lines: &[Cow<'_, str>]) -> usize {
    lines.iter().map(|line| line.chars().count()).max().unwrap_or_default()
}

/// The lines of a row: the cells under their columns, and below all of their lines, with an indent, the cells that do
/// not fit into the reader's lines.
fn line(cells: &[String], widths: &[usize], limit: Option<usize>) -> String {
    let mut bands: Vec<Vec<(usize, Vec<Cow<'_, str>>)>> = vec![Vec::new()];
    let (mut at, mut has_text) = (0, false);
    for (cell, width) in cells.iter().zip(widths) {
        let lines = lines_of(cell, *width);
        let own = longest(&lines);
        if has_text && own > 0 && limit.is_some_and(|limit| at + own > limit) {
            bands.push(Vec::new());
            (at, has_text) = (INDENT.len(), false);
        }
        // Below the row, cells are under no heading.
        let is_below = bands.len() > 1;
        if is_below && own == 0 {
            continue;
        }
        let taken = if is_below { own } else { own.max(*width) };
        at += taken + GAP.len();
        has_text |= own > 0;
        if let Some(band) = bands.last_mut() {
            band.push((taken, lines));
        }
    }
    let mut all = Vec::new();
    for (index, band) in bands.into_iter().enumerate() {
        let count = band.iter().map(|(_, lines)| lines.len()).max().unwrap_or_default().max(1);
        let mut text = vec![if index == 0 { String::new() } else { INDENT.to_owned() }; count];
        for (width, lines) in band {
            let parts = lines.into_iter().chain(std::iter::repeat(Cow::Borrowed("")));
            for (line, part) in text.iter_mut().zip(parts) {
                let pad = width.saturating_sub(part.chars().count()) + GAP.len();
                line.push_str(&part);
                line.extend(std::iter::repeat_n(' ', pad));
            }
        }
        all.extend(text.iter().map(|line| folded(line.trim_end(), limit)));
    }
    all.join("\n")
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
