//! A report as Markdown for an issue: the first screen, and the other parts folded.
//!
//! All text of the dump is in fenced blocks, whose fences are longer than any run of backticks within. So no name can
//! be markup, a mention or a link.

use askama::Template;

use super::RenderError;
use super::model::Model;
use super::text::{first_screen, sections};
use crate::notation::counted;
use crate::report::Style;

/// Maximum number of characters of the whole; GitHub takes 65,536.
const MAX_CHARACTERS: usize = 60_000;
/// Characters of a section beside its text: markup, and the line about left-out lines.
const MARKUP: usize = 200;
/// Least length of a fence.
const FENCE: usize = 3;

/// The page: a fenced block, and others below a summary.
#[derive(Template)]
#[template(path = "report/report.md", escape = "none")]
struct Page {
    first: String,
    sections: Vec<(&'static str, String)>,
}

/// The report as Markdown.
///
/// # Errors
/// A formatting error of the template engine.
pub fn markdown(model: &Model) -> Result<String, RenderError> {
    let first = fenced(&first_screen(model, Style::Plain), MAX_CHARACTERS / 4);
    let all = sections(model);
    let mut left = MAX_CHARACTERS.saturating_sub(first.chars().count() + all.len() * MARKUP);
    let mut sections = Vec::with_capacity(all.len());
    for (index, section) in all.iter().enumerate() {
        // Short sections leave their share to those behind them.
        let block = fenced(&section.text, left / (all.len() - index));
        left = left.saturating_sub(block.chars().count());
        sections.push((section.title, block));
    }
    Ok(Page { first, sections }.render()?)
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
