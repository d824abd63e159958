//! Lanes as a strip of characters, with a legend.

use super::layout::{Page, whole};
use super::words;
use crate::notation::counted;
use crate::triage::scene::LanesByState;
use crate::triage::{Confidence, Suspect};
use crate::units::{LaneId, LaneSet};

/// The strip of a wave: `suspect` marks the lanes of the access and those with an unknown address.
pub(super) fn rows(lanes: &LanesByState, suspect: Option<&Suspect>, page: &mut Page) {
    let faulting =
        suspect.filter(|suspect| !suspect.is_good()).map_or(LaneSet::EMPTY, |suspect| suspect.lanes);
    let unknown = suspect.and_then(|suspect| suspect.unknown.as_ref()).map_or(LaneSet::EMPTY, |of| of.lanes);
    let fault = suspect.map_or("", |suspect| certainty(suspect.is_bound, suspect.confidence));
    rows_with(lanes, (fault, faulting), unknown, page);
}

/// The name of lanes that fault.
pub(super) fn certainty(is_bound: bool, confidence: Confidence) -> &'static str {
    match (is_bound, confidence) {
        (true, _) => "at most",
        (false, Confidence::Possible) => "possible",
        (false, _) => "faulting",
    }
}

/// The same for other causes; `fault`: the name and the lanes of the fault.
pub(super) fn rows_with(lanes: &LanesByState, fault: (&str, LaneSet), unknown: LaneSet, page: &mut Page) {
    if lanes.count == 0 {
        return;
    }
    let (fault, faulting) = fault;
    let sets = [
        ('X', fault, faulting),
        ('?', "unknown address", unknown),
        ('+', "active", lanes.active),
        ('.', "inactive", lanes.inactive),
        ('-', "unused", lanes.unused),
    ];
    let all = || (0..lanes.count).map(LaneId);
    let mark = |lane: LaneId| sets.iter().position(|(_, _, set)| set.contains(lane));
    let letter = |lane| mark(lane).and_then(|index| sets.get(index)).map_or('~', |(letter, ..)| *letter);
    page.fixed("Lanes", &all().map(letter).collect::<String>());
    let names = sets.iter().map(|(letter, name, _)| (*letter, *name)).chain([('~', "unknown state")]);
    let legend = names.enumerate().filter_map(|(index, (letter, name))| {
        let index = Some(index).filter(|index| *index < sets.len());
        let lanes: LaneSet = all().filter(|lane| mark(*lane) == index).collect();
        let which = words::ranges_of(lanes).unwrap_or_else(|| counted(lanes.count(), "lane"));
        (!lanes.is_empty()).then(|| whole(&format!("{letter} {name}: {which}")))
    });
    let legend: Vec<String> = legend.collect();
    page.row("", &legend.join("   "));
}
