//! Text of the scores.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lanescope::triage::Triage;

use super::cases::Cases;
use super::scores::{Score, first_wave};

/// Counts of a row.
#[derive(Default)]
struct Row {
    cases: usize,
    first: usize,
    three: usize,
    lanes: usize,
    with_lanes: usize,
    wrong: usize,
}

impl Row {
    fn add(&mut self, score: &Score) {
        self.cases += 1;
        self.first += usize::from(score.rank == Some(0));
        self.three += usize::from(score.rank.is_some_and(|rank| rank < 3));
        self.with_lanes += usize::from(score.lanes.is_some());
        self.lanes += usize::from(score.lanes == Some(true));
        self.wrong += usize::from(!score.errors.is_empty());
    }

    fn share(part: usize, all: usize) -> String {
        if all == 0 { "-".to_owned() } else { format!("{:.0}%", 100.0 * part as f64 / all as f64) }
    }
}

/// Counts by pattern, GPU, level and distance, and the misses.
pub(super) fn table(cases: &Cases, scores: &[Score]) -> String {
    let mut text = String::new();
    for has_page in [true, false] {
        let mut rows: BTreeMap<(usize, String), Row> = BTreeMap::new();
        for score in scores.iter().filter(|score| score.has_page == has_page) {
            let case = &cases.faults[score.case];
            let keys = [
                (0, case.pattern.clone()),
                (1, case.gpu.clone()),
                (2, format!("{} {}", case.language, case.level)),
                (3, format!("distance {:2}", score.distance.next_power_of_two().min(32))),
            ];
            for key in keys.into_iter().chain([(4, "all".to_owned())]) {
                rows.entry(key).or_default().add(score);
            }
        }
        let heading = if has_page { "with the page" } else { "without a page" };
        writeln!(text, "{heading:20} cases  first  first 3  lanes  wrong").unwrap();
        for ((_, name), row) in rows {
            let (first, three) = (Row::share(row.first, row.cases), Row::share(row.three, row.cases));
            let lanes = Row::share(row.lanes, row.with_lanes);
            writeln!(text, "{name:20} {:5} {first:>6} {three:>8} {lanes:>6} {:6}", row.cases, row.wrong)
                .unwrap();
        }
    }
    for score in scores.iter().filter(|score| is_miss(score)) {
        let case = &cases.faults[score.case];
        let truth = first_wave(case).truth.as_ref().unwrap();
        let right = truth
            .access
            .as_ref()
            .map(|access| format!("{:#x} {} lanes {:?}", access.instruction, access.text, access.lanes));
        let report = if score.has_page {
            "with page"
        } else if score.moment.has_report {
            "without page"
        } else {
            "without report"
        };
        let absent = if score.moment.lacks_memory { ", absent memory" } else { "" };
        let (rank, lanes) = (score.rank, score.lanes);
        writeln!(text, "miss: {} distance {} {report}{absent}: rank {rank:?} lanes {lanes:?} {:?}\n  truth: {} {}\n  answer: {}", case.name, score.distance, score.errors, truth.kind, right.unwrap_or_default(), score.answer).unwrap();
    }
    text
}

fn is_miss(score: &Score) -> bool {
    score.rank != Some(0) || score.lanes == Some(false) || !score.errors.is_empty()
}

/// The answer's first suspects, for a miss.
pub(super) fn describe(found: &Triage) -> String {
    let mut text =
        format!("cause {:?}", found.cause.as_ref().map(std::mem::discriminant).map(|_| name(found)));
    for suspect in found.suspects.iter().take(3) {
        let lanes: Vec<u8> = suspect.lanes.iter().map(|lane| lane.0).collect();
        let evidence: Vec<String> = suspect.evidence.iter().map(|reason| reason.of(suspect)).collect();
        write!(
            text,
            "\n    {:#x} {} [{:?}] lanes {lanes:?} of wave {}: {}",
            suspect.instruction,
            suspect.text,
            suspect.confidence,
            suspect.wave,
            evidence.join("; ")
        )
        .unwrap();
    }
    for missing in &found.missing {
        write!(text, "\n    missing: {missing}").unwrap();
    }
    text
}

fn name(found: &Triage) -> String {
    let text = format!("{:?}", found.cause);
    text.chars().take(40).collect()
}
