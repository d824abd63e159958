//! The page: an analysis as text that fits a screen of 80 columns.
//!
//! The first sentence has cause, kernel, lanes, place and certainty. Labelled rows follow: the access, the reasons, the
//! lanes, the stops, the stack, missing data, and the commands to type next.

mod access;
mod cause;
mod hang;
mod headline;
mod lanes;
mod layout;
pub(super) mod words;

use std::cmp::Reverse;
use std::iter::once;

use super::scene::Scene;
use super::steps::{Step, steps};
use super::{Cause, Evidence, MissingData, Triage, summary};
use crate::capture::{CAPTURES, Fault};
use crate::notation::{counted, plural};
use crate::report::{self, Style, fault};
use crate::session::WaveInfo;
use headline::headline;
pub(crate) use layout::plain;
use layout::whole;
pub use layout::{Page, Row};

/// Maximum number of frames of the stack.
const MAX_FRAMES: usize = 6;
/// Maximum number of PCs of faulted waves.
const MAX_PCS: usize = 3;
/// Maximum number of faults of other waves.
const MAX_OTHERS: usize = 3;
/// Maximum number of rows of missing data.
const MAX_MISSING: usize = 4;
/// Maximum number of reasons for absent waves.
const MAX_REASONS: usize = 3;
/// Maximum number of reported faults.
const MAX_REPORTS: usize = 2;

/// The page of an analysis as text. `command`: the front end's command of a step.
#[must_use]
pub fn text(
    triage: &Triage,
    scene: &Scene<'_>,
    command: &dyn Fn(&Step) -> Option<String>,
    style: Style,
) -> String {
    page(triage, scene, command).text(style)
}

/// The page of an analysis. `command`: the front end's command of a step.
#[must_use]
pub fn page(triage: &Triage, scene: &Scene<'_>, command: &dyn Fn(&Step) -> Option<String>) -> Page {
    let mut page = Page {
        headline: headline(triage, scene),
        is_alarm: triage.cause.is_some(),
        source: headline::source_line(triage, scene),
        rows: Vec::new(),
    };
    match &triage.cause {
        Some(Cause::Memory) => access::rows(triage, scene, &mut page),
        Some(cause) => cause::rows(cause, triage, scene, &mut page),
        None => {
            if let Some(wave) = triage.waves.chosen.filter(|_| triage.waves.faulted > 0) {
                lanes::rows(&scene.lanes(wave), None, &mut page);
            }
        }
    }
    reports(triage, &mut page);
    stops(triage, scene, &mut page);
    other_faults(triage, scene, &mut page);
    if let Some(hang) = &triage.hang {
        hang::rows(hang, hang::has_totals(triage), scene, &mut page);
    }
    stack(triage, scene, &mut page);
    let missing = triage.missing.iter().take(MAX_MISSING).map(ToString::to_string);
    page.list("Missing", missing.chain(words::more(triage.missing.len(), MAX_MISSING)));
    if triage.missing.contains(&MissingData::Waves) {
        for (index, (command, effect)) in CAPTURES.iter().enumerate() {
            page.fixed(if index == 0 { "Capture" } else { "" }, &format!("{command}  # {effect}"));
        }
    }
    let steps = steps(triage, scene);
    for (index, command) in steps.iter().filter_map(command).enumerate() {
        page.command(if index == 0 { "Next" } else { "" }, &command);
    }
    page
}

/// The first sentence of a page.
#[must_use]
pub fn sentence(triage: &Triage, scene: &Scene<'_>) -> String {
    layout::plain(&headline(triage, scene))
}

/// The reported faults: those that the first access explains first, then those that the page says no access explains,
/// those of others last. Of too many the newest.
fn reports(triage: &Triage, page: &mut Page) {
    let evidence = triage.suspects.first().into_iter().flat_map(|suspect| &suspect.evidence);
    let explained: Vec<u64> = evidence.filter_map(Evidence::page).collect();
    let is_explained = |fault: &Fault| fault.address.is_some_and(|at| explained.contains(&at.start));
    let is_unexplained = |fault: &Fault| {
        let page = fault.address.map(|at| at.start);
        triage.missing.iter().any(|of| matches!(of, MissingData::Access { page: own } if Some(*own) == page))
    };
    let rank = |fault: &Fault| (!fault.is_of_waves(), !is_explained(fault), !is_unexplained(fault));
    let mut faults: Vec<(usize, &Fault)> = triage.faults.iter().enumerate().collect();
    faults.sort_by_cached_key(|(index, fault)| (rank(fault), Reverse(*index)));
    faults.truncate(MAX_REPORTS);
    faults.sort_by_cached_key(|(index, fault)| (rank(fault), *index));
    let each = faults.into_iter().map(|(_, fault)| fault::sentence(fault));
    // The first sentence may be a report.
    let headline = layout::plain(&page.headline);
    let each = each.filter(|sentence| *sentence != headline);
    page.list("Report", each.chain(words::more(triage.faults.len(), MAX_REPORTS)));
}

/// The waves that stopped for the cause, by PC: that of the described wave first.
fn stops(triage: &Triage, scene: &Scene<'_>, page: &mut Page) {
    let stops = &triage.waves;
    let absent = match stops.absent {
        0 => String::new(),
        count => format!(" {}", whole(&format!("({count} left out of the dump)"))),
    };
    let of = stops.of_dump();
    let uncounted = stops.uncounted.iter().take(MAX_REASONS).cloned();
    let uncounted = uncounted.chain(words::more(stops.uncounted.len(), MAX_REASONS));
    if stops.faulted == 0 {
        if stops.unknown > 0 {
            let waves = counted(stops.asked, "wave");
            let text = format!("{} of {waves}{of} with an unknown stop reason{absent}", stops.unknown);
            page.list("Waves", once(text).chain(uncounted));
        } else if headline::of_no_wave(triage).is_some() {
            let text = match stops.asked {
                1 => format!("the only wave{of} did not fault: the reported fault is not its own{absent}"),
                count => format!(
                    "none of {}{of} faulted: the reported fault is of none of them{absent}",
                    counted(count, "wave")
                ),
            };
            page.list("Waves", once(text).chain(uncounted));
        } else if stops.absent > 0 || !stops.uncounted.is_empty() {
            page.list(
                "Waves",
                once(format!("{}{of}{absent}", counted(stops.asked, "wave"))).chain(uncounted),
            );
        }
        return;
    }
    let mut text = format!("{} of {}{of} faulted", stops.faulted, counted(stops.asked, "wave"));
    if stops.pcs.len() > 1 {
        let own = stops.chosen.and_then(|wave| scene.info(wave)).and_then(|info| info.pc);
        let (own, others): (Vec<_>, Vec<_>) = stops.pcs.iter().partition(|(pc, _)| Some(*pc) == own);
        let pcs = own.into_iter().chain(others).take(MAX_PCS);
        let each = pcs.map(|(pc, count)| whole(&format!("{count} at {pc}")));
        text += &format!(" ({}", each.collect::<Vec<_>>().join(", "));
        if let Some(more @ 1..) = stops.pcs.len().checked_sub(MAX_PCS) {
            text += &format!(" and {more} more {}", plural(more, "PC", "PCs"));
        }
        text.push(')');
    }
    if stops.bystanders > 0 {
        text += &format!(", {}", whole(&format!("{} did not", stops.bystanders)));
    }
    if stops.unknown > 0 {
        text += &format!(", {} with an unknown stop reason", stops.unknown);
    }
    page.list("Waves", once(text + &absent).chain(uncounted));
}

/// Faults of waves beside that of the chosen one.
fn other_faults(triage: &Triage, scene: &Scene<'_>, page: &mut Page) {
    let others = &triage.waves.others;
    let chosen = triage.waves.chosen.and_then(|wave| scene.info(wave));
    let each = others.iter().take(MAX_OTHERS).filter_map(|other| {
        let info = scene.info(*other.waves.first()?)?;
        let mut text = words::waves(&other.waves, scene);
        let is_other = |differs: &dyn Fn(&WaveInfo) -> bool| chosen.as_ref().is_some_and(differs);
        if is_other(&|chosen| chosen.agent != info.agent) {
            text += &format!(" of agent {}", info.agent);
        }
        if let Some(dispatch) = info.dispatch.filter(|_| is_other(&|chosen| chosen.dispatch != info.dispatch))
        {
            text += &format!(" of dispatch {dispatch}");
        }
        let place = words::place(&scene.place(info.wave)).map_or_else(String::new, |at| format!(", {at}"));
        Some(format!("{text}: {}{place}", info.cause))
    });
    let more =
        words::more(others.len(), MAX_OTHERS).into_iter().chain(summary::left_out(triage.waves.left_out));
    page.list("Further", each.chain(more));
}

/// The stack of the chosen wave, below its name.
fn stack(triage: &Triage, scene: &Scene<'_>, page: &mut Page) {
    let Some(info) = triage.waves.chosen.and_then(|wave| scene.info(wave)) else { return };
    for doubt in scene.doubts(info.wave).lines() {
        page.row("Doubt", doubt);
    }
    page.row("Stack", &format!("{}: {}", info.name, info.cause));
    let Some(stack) = scene.stack(info.wave) else { return };
    // The page folds the lines itself.
    let text = report::stack::brief(&stack, Style::Plain).replace("\n    ", " ");
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(MAX_FRAMES) {
        page.row("", line);
    }
    if let Some(more) = words::more(lines.len(), MAX_FRAMES) {
        page.row("", &more);
    }
}

#[cfg(test)]
mod tests;
