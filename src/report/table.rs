//! Aligned columns, with colour where the reader can show it.

use anstyle::{AnsiColor, Style as Ansi};

/// How text is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    /// Nothing but characters: for `monitor`, pipes and files.
    #[default]
    Plain,
    /// With ANSI colours; the stream that prints it strips them where they are not wanted.
    Coloured,
}

impl Style {
    /// A heading.
    #[must_use]
    pub fn heading(self, text: &str) -> String {
        self.paint(Ansi::new().bold(), text)
    }

    /// Something that went wrong: a faulted wave.
    #[must_use]
    pub fn alarm(self, text: &str) -> String {
        self.paint(Ansi::new().fg_color(Some(AnsiColor::Red.into())).bold(), text)
    }

    /// Something of less weight: an absent value, an inactive lane.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.paint(Ansi::new().dimmed(), text)
    }

    fn paint(self, style: Ansi, text: &str) -> String {
        match self {
            Self::Coloured if !text.is_empty() => format!("{style}{text}{style:#}"),
            _ => text.to_owned(),
        }
    }
}

/// How a cell is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    Normal,
    Alarm,
    Dim,
}

/// Characters of a cell that others of its column are aligned with: a longer one stands out alone.
const MAX_WIDTH: usize = 256;

/// Rows of cells under headings; every column is as wide as its widest cell of up to 256 characters.
#[derive(Clone, Debug, Default)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<(Weight, Vec<String>)>,
}

impl Table {
    /// A table with those headings.
    #[must_use]
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        Self { headings: headings.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push((Weight::Normal, cells));
    }

    /// Adds a row that stands out.
    pub fn alarm_row(&mut self, cells: Vec<String>) {
        self.rows.push((Weight::Alarm, cells));
    }

    /// Adds a row that stands back.
    pub fn dim_row(&mut self, cells: Vec<String>) {
        self.rows.push((Weight::Dim, cells));
    }

    /// The table as lines; no line ends in spaces.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        let mut widths: Vec<usize> = self.headings.iter().map(|heading| heading.chars().count()).collect();
        for (_, row) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count().min(MAX_WIDTH));
            }
        }
        let line = |cells: &[String]| {
            let mut text = String::new();
            for (cell, width) in cells.iter().zip(&widths) {
                text.push_str(cell);
                let pad = width.saturating_sub(cell.chars().count()) + 2;
                text.extend(std::iter::repeat_n(' ', pad));
            }
            text.trim_end().to_owned()
        };
        let mut text = style.heading(&line(&self.headings));
        text.push('\n');
        for (weight, row) in &self.rows {
            let cells = line(row);
            text.push_str(&match weight {
                Weight::Normal => cells,
                Weight::Alarm => style.alarm(&cells),
                Weight::Dim => style.dim(&cells),
            });
            text.push('\n');
        }
        text
    }
}
