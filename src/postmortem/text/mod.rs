//! A report as text for logs: 80 columns, the fault first. [`sections`] are the parts that the Markdown form folds.
//!
//! `first` is the first screen, `wave` the parts about the wave of the fault, `dump` those about all waves and the dump.

mod dump;
mod first;
mod wave;

use std::fmt::Write as _;

use super::model::Model;
use crate::notation::counted;
use crate::report::Style;
use crate::report::fold::{continued, wrapped};

pub use dump::{argument, causes, position, size, some_ids, waves_of};
pub use first::{first_screen, legend, letter, rule_text};
pub use wave::frame;

/// Columns of a line, and those of labels.
const COLUMNS: usize = 80;
const LABEL: usize = 10;
/// The indent of tables and commands.
const INDENT: &str = "  ";
/// Maximum number of lines of the values of some lanes, and of signatures on the first screen.
const MAX_LINES: usize = 3;
/// Maximum number of stacks, kernel launches and code objects.
const MAX_STACKS: usize = 8;

/// A part of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// The lines, each with a line feed.
    pub text: String,
}

/// The report as text.
#[must_use]
pub fn text(model: &Model, style: Style) -> String {
    let mut text = first_screen(model, style);
    for section in sections(model) {
        let _ = write!(text, "\n{}\n{}", style.heading(section.title), section.text);
    }
    text
}

/// The parts below the first screen; parts without contents are left out.
#[must_use]
pub fn sections(model: &Model) -> Vec<Section> {
    let of_wave = model.wave.as_ref();
    let columns = COLUMNS - INDENT.len();
    let all = [
        ("Evidence", evidence(model)),
        ("Variables", of_wave.map(wave::variables).unwrap_or_default()),
        ("Source", of_wave.map(wave::source).unwrap_or_default()),
        ("Instructions", of_wave.map(wave::instructions).unwrap_or_default()),
        ("Memory", model.memory.iter().map(wave::memory).collect()),
        ("Stack", of_wave.map(wave::stack).unwrap_or_default()),
        ("Waves by call stack", dump::stacks(model)),
        ("Waves", dump::waves(model)),
        ("Kernel launches", dump::launches(model)),
        ("Code objects", dump::code_objects(model)),
        ("Problems", dump::problems(model)),
        ("Contents of this report", dump::contents(model)),
        (
            "Next",
            model.next.iter().map(|command| indented(&continued(command, columns).join("\n"))).collect(),
        ),
    ];
    let section = |(title, text): (&'static str, String)| Section { title, text };
    all.into_iter().map(section).filter(|section| !section.text.is_empty()).collect()
}

fn evidence(model: &Model) -> String {
    let mut rows = Rows { page: String::new(), style: Style::Plain };
    for evidence in &model.fault.evidence {
        rows.add(&evidence.label, evidence.texts.iter().flat_map(|text| wrapped(text, COLUMNS - LABEL)));
    }
    rows.page
}

/// Labelled rows.
struct Rows {
    page: String,
    style: Style,
}

impl Rows {
    fn add(&mut self, label: &str, lines: impl Iterator<Item = String>) {
        let mut label = label;
        for line in lines {
            let pad = " ".repeat(LABEL.saturating_sub(label.len()));
            let _ = writeln!(self.page, "{}{pad}{}", self.style.heading(label), line.trim_end());
            label = "";
        }
    }
}

/// `  and 3 more waves`, if there are more.
fn note(text: &mut String, count: usize, noun: &str) {
    if count > 0 {
        let _ = writeln!(text, "  and {}", counted(count, noun));
    }
}

/// Adds a text in lines of at most [`COLUMNS`], if its words allow it. The first line is indented by `first` columns, the
/// others by `rest`.
fn fold(text: &mut String, line: &str, first: usize, rest: usize) {
    for (index, part) in wrapped(line, COLUMNS - first.max(rest)).iter().enumerate() {
        let indent = if index == 0 { first } else { rest };
        let _ = writeln!(text, "{:indent$}{}", "", part.trim_end());
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("{INDENT}{line}\n")).collect()
}
