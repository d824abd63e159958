//! A report as Markdown for an issue: the first screen, and the other parts folded.
//!
//! All text of the dump is in fenced blocks, whose fences are longer than any run of backticks within. So no name can
//! be markup, a mention or a link.

use super::model::Model;
use super::text::{Section, first_screen, sections};
use crate::notation::counted;
use crate::report::Style;

/// Maximum number of characters of the whole; GitHub takes 65,536.
const MAX_CHARACTERS: usize = 60_000;
/// Characters of a section beside its text: markup, and the line about left-out lines.
const MARKUP: usize = 200;
/// Least length of a fence.
const FENCE: usize = 3;

/// The report as Markdown.
#[must_use]
pub fn markdown(model: &Model) -> String {
    let mut text = fenced(&first_screen(model, Style::Plain), MAX_CHARACTERS / 4);
    let sections = sections(model);
    let mut left = MAX_CHARACTERS.saturating_sub(text.chars().count() + sections.len() * MARKUP);
    for (index, section) in sections.iter().enumerate() {
        // Short sections leave their share to those behind them.
        let share = left / (sections.len() - index);
        let folded = details(section, share);
        left = left.saturating_sub(folded.chars().count().saturating_sub(MARKUP));
        text += &folded;
    }
    text
}

fn details(section: &Section, most: usize) -> String {
    format!(
        "\n<details><summary>{}</summary>\n\n{}\n</details>\n",
        section.title,
        fenced(&section.text, most)
    )
}

/// A fenced block with the first lines of a text, at most that many characters.
fn fenced(text: &str, most: usize) -> String {
    let mut kept = String::new();
    let mut count = 0;
    let mut lines = text.lines();
    let mut left_out = 0;
    for line in lines.by_ref() {
        let length = line.chars().count() + 1;
        if count + length > most {
            left_out = 1;
            break;
        }
        count += length;
        kept += line;
        kept.push('\n');
    }
    left_out += lines.count();
    if left_out > 0 {
        kept += &format!("... {}\n", counted(left_out, "more line"));
    }
    let longest = kept.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(FENCE.max(longest + 1));
    format!("{fence}text\n{kept}{fence}\n")
}
