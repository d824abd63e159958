//! Aligned columns, with colour if the reader can show it.

use anstyle::{AnsiColor, Style as Ansi};

use super::fold::{CONSOLE, GAP, INDENT, folded};

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
        let terminal = || {
            let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
            Some(usize::from(width.0).max(CONSOLE / 2))
        };
        let variable = || {
            let columns = std::env::var("COLUMNS").ok()?.parse().ok();
            columns.filter(|columns| *columns >= CONSOLE / 2)
        };
        match self {
            Self::Plain => Some(CONSOLE),
            Self::Coloured => terminal().or_else(variable).or(Some(CONSOLE)),
            Self::Whole => terminal(),
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
    /// A table wider than the reader's lines ([`Style::columns`]) with a filled last column that repeats in neighbouring rows
    /// prints each such cell once, with its heading in a line above its rows; the first one is above the headings. Rows
    /// that are still too wide continue in further lines, with an indent.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let mut widths: Vec<usize> = self.headings.iter().map(|heading| heading.chars().count()).collect();
        for (_, row) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                let longest = cell.lines().map(|line| line.chars().count()).max().unwrap_or_default();
                *width = (*width).max(longest.min(MAX_WIDTH));
            }
        }
        let limit = self.limit.or(style.columns());
        let is_too_wide = |widths: &[usize]| {
            let gaps = GAP.len() * widths.len().saturating_sub(1);
            limit.is_some_and(|limit| widths.iter().sum::<usize>() + gaps > limit)
        };
        let shorter = widths.split_last().map_or(&[][..], |(_, shorter)| shorter);
        let is_filled = || self.rows.iter().all(|(_, row)| row.last().is_some_and(|cell| !cell.is_empty()));
        let is_better = || !is_too_wide(shorter) && self.runs() * 2 <= self.rows.len() && is_filled();
        let is_grouped = is_too_wide(&widths) && (self.is_grouped || is_better());
        let shown = if is_grouped { shorter } else { &widths };
        let above = self.headings.last().map_or("", String::as_str);
        let headings = style.heading(&line(&self.headings, shown, limit)) + "\n";
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
            let cells = line(row, shown, limit);
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
}

/// The lines of a row. A cell with several lines continues in its column.
fn line(cells: &[String], widths: &[usize], limit: Option<usize>) -> String {
    let count = cells.iter().map(|cell| cell.lines().count()).max().unwrap_or_default().max(1);
    let each = (0..count).map(|index| {
        let part: Vec<&str> = cells.iter().map(|cell| cell.lines().nth(index).unwrap_or_default()).collect();
        single_line(&part, widths, limit)
    });
    each.collect::<Vec<_>>().join("\n")
}

/// The cells under their columns; those that do not fit into the reader's lines follow in further lines.
fn single_line(cells: &[&str], widths: &[usize], limit: Option<usize>) -> String {
    let mut whole = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        whole.push_str(cell);
        let pad = width.saturating_sub(cell.chars().count()) + GAP.len();
        whole.extend(std::iter::repeat_n(' ', pad));
    }
    let whole = whole.trim_end();
    let Some(limit) = limit.filter(|limit| whole.chars().count() > *limit) else { return whole.to_owned() };
    let (mut lines, mut current, mut is_first) = (Vec::new(), String::new(), true);
    for (cell, width) in cells.iter().zip(widths) {
        let length = cell.chars().count();
        if current.chars().count() + length > limit && !current.trim().is_empty() {
            lines.push(current.trim_end().to_owned());
            current = INDENT.to_owned();
            is_first = false;
        }
        if !is_first && cell.is_empty() {
            continue;
        }
        current.push_str(cell);
        let pad = if is_first { width.saturating_sub(length) } else { 0 } + GAP.len();
        current.extend(std::iter::repeat_n(' ', pad));
    }
    lines.push(current.trim_end().to_owned());
    folded(&lines.join("\n"), Some(limit))
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
