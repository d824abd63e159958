//! Tests of states by the rules of the ISA documents, over listings from LLVM's texts.

mod deadlocks;
mod dumps;
mod endless;
mod loops;
mod states;

use std::cell::Cell;
use std::sync::Arc;

use crate::arch::Generation;
use crate::isa::tests::of_generation;
use crate::triage::hang::analysis::MAX_WORK;
use crate::triage::hang::flow::Flow;
use crate::triage::hang::state::Position;
use crate::triage::listings::{Decoded, Listing};

/// Address of the first instruction.
const START: u64 = 0x1000;

/// A listing of lines: `label:` names the next instruction; `-> label` ends a branch. Each instruction has 4 bytes and
/// the number of its text line as source line.
fn listing(generation: Generation, text: &str) -> Arc<Listing> {
    let mut labels = Vec::new();
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        match line.trim().strip_suffix(':') {
            Some(label) => labels.push((label.to_owned(), START + 4 * lines.len() as u64)),
            None if line.trim().is_empty() => {}
            None => lines.push((number, line.trim())),
        }
    }
    let each = lines.iter().enumerate().map(|(index, (number, line))| {
        let (text, label) = line.split_once("->").map_or((*line, None), |(text, label)| (text, Some(label)));
        let target = label.map(|label| {
            labels.iter().find(|(known, _)| known == label.trim()).unwrap_or_else(|| panic!("{label}")).1
        });
        let text = format!("{}{}", text.trim(), if label.is_some() { " 1" } else { "" });
        let code = of_generation(generation, &text).moved(START + 4 * index as u64, 4, target);
        Decoded { code, file: Some(Arc::from("k.hip")), line: Some(*number) }
    });
    let instructions = each.collect();
    Arc::new(Listing { function: None, generation: Some(generation), instructions })
}

/// The address of a label.
fn at(text: &str, label: &str) -> u64 {
    let mut count = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_suffix(':') {
            Some(known) if known == label => return START + 4 * count,
            Some(_) => {}
            None => count += 1,
        }
    }
    panic!("no label {label}");
}

/// The place of a PC in a listing.
fn place(listing: &Arc<Listing>, pc: u64) -> Option<Position> {
    Position::of(listing, &Flow::new(listing, &work()), pc)
}

/// The work of one analysis.
fn work() -> Cell<usize> {
    Cell::new(MAX_WORK)
}
