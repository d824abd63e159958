//! Scores of the fault analysis over all cases: right instruction, right lanes, wrong certainty.
//!
//! Each case is tested at one distance with the report or at one without, in the long run at all of
//! [`DISTANCES`] with it and without: minutes. The test prints its table and the misses; `--nocapture` shows
//! them.

use std::sync::Mutex;

use lanescope::session::Session;
use lanescope::triage::{Cause, Confidence, Evidence, Question, Suspect, Triage, triage};

use super::cases::{BadAccess, Case, Cases, Moment, Truth, Wave, load_some, pick};
use super::table::{describe, table};
use crate::support::{least, sample::is_long};

const DISTANCES: [usize; 9] = [0, 1, 2, 3, 5, 8, 13, 20, 30];

/// The comparison of one answer with the truth.
pub(super) struct Score {
    pub(super) case: usize,
    pub(super) moment: Moment,
    /// The executed instructions after the access: a wave may end before `moment.distance`.
    pub(super) distance: usize,
    /// Whether the dump has a reported page.
    pub(super) has_page: bool,
    /// Position of the right instruction among the suspects.
    pub(super) rank: Option<usize>,
    /// Whether the lanes are right; `None`: the instruction is wrong, or its registers were written since.
    pub(super) lanes: Option<bool>,
    pub(super) errors: Vec<String>,
    pub(super) answer: String,
}

#[test]
#[allow(clippy::print_stdout, reason = "the table of scores")]
fn faults_are_found_and_certainty_is_never_wrong() {
    // Each fifth: all kernels, and all levels of all GPUs.
    let cases = load_some(|_| true, 5);
    assert!(cases.faults.len() > least(400, 90), "only {} cases", cases.faults.len());
    let jobs = jobs(&cases);
    let next = Mutex::new(jobs.into_iter());
    let scores = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((case, moment)) = { next.lock().unwrap().next() } {
                    let score = score(&cases, case, moment);
                    scores.lock().unwrap().push(score);
                }
            });
        }
    });
    let mut scores = scores.into_inner().unwrap();
    scores.sort_by_key(|score| (score.case, score.moment.has_report, score.moment.distance));
    let text = table(&cases, &scores);
    println!("{text}");
    let failures = failures(&cases, &scores);
    assert!(failures.is_empty(), "{}\n{text}", failures.join("\n"));
}

/// Cases and moments. In the sample each case has one distance, and the cases of a pattern have all together.
fn jobs(cases: &Cases) -> Vec<(usize, Moment)> {
    let mut jobs = Vec::new();
    for (index, case) in cases.faults.iter().enumerate() {
        for (has_report, what) in [(true, "report"), (false, "none")] {
            // By turns.
            if has_report == index.is_multiple_of(2) && !is_long() {
                continue;
            }
            for (at, distance) in DISTANCES.into_iter().enumerate() {
                let turn = |every: usize, what: &str| {
                    (at + pick(&format!("{what} {}", case.name), every)).is_multiple_of(every)
                };
                if is_long() || turn(DISTANCES.len(), what) {
                    jobs.push((index, Moment { distance, has_report, lacks_memory: turn(4, "memory") }));
                }
            }
        }
    }
    jobs
}

fn score(cases: &Cases, index: usize, moment: Moment) -> Score {
    let case = &cases.faults[index];
    let dump = cases.open(case, moment);
    let session = Session::new(std::sync::Arc::clone(&dump), None).unwrap();
    let found = triage(&[&session], &Question::default());
    let id = |suspect: &Suspect| dump.capture().waves[suspect.wave.0 as usize].id;
    let wave = |suspect: &Suspect| case.waves.iter().find(|wave| wave.id == id(suspect)).unwrap();
    let first = first_wave(case);
    let page = case.fault.as_ref().and_then(|fault| fault.page).filter(|_| moment.has_report);
    let mut score = Score {
        case: index,
        moment,
        distance: first.skid(case, moment),
        has_page: page.is_some(),
        rank: None,
        lanes: None,
        errors: Vec::new(),
        answer: describe(&found),
    };
    let truth = first.truth.as_ref().unwrap();
    if truth.kind == "execute" {
        score.rank = is_bad_pc(&found, truth).then_some(0);
    } else {
        score.rank = found.suspects.iter().position(|suspect| is_right(case, suspect, moment, page));
    }
    if let Some(suspect) =
        score.rank.and_then(|rank| found.suspects.get(rank)).filter(|_| score.rank == Some(0))
    {
        score.lanes = lanes(case, wave(suspect), suspect, moment, page);
    }
    for suspect in found.suspects.iter().filter(|suspect| suspect.confidence == Confidence::Exact) {
        let certain = wave(suspect).truth.as_ref().and_then(|truth| truth.access.as_ref());
        if certain.is_none_or(|access| access.instruction != suspect.instruction) {
            score.errors.push(format!("exact, but wrong: {:#x} {}", suspect.instruction, suspect.text));
        }
    }
    for suspect in found.suspects.iter().filter(|suspect| suspect.evidence.contains(&Evidence::Unmapped)) {
        let mapped = |address: u64| {
            case.memory.iter().any(|piece| (piece.address..piece.address + piece.size).contains(&address))
        };
        if let Some(address) =
            suspect.addresses.iter().filter_map(|address| address.global).find(|address| mapped(*address))
        {
            score.errors.push(format!("{address:#x} is mapped"));
        }
    }
    let faulted = case.waves.iter().filter(|wave| wave.truth.is_some()).count();
    if found.waves.faulted != faulted {
        score.errors.push(format!("{} waves faulted, expected {faulted}", found.waves.faulted));
    }
    if score.rank != Some(0)
        && found.missing.is_empty()
        && found.suspects.iter().all(|suspect| suspect.evidence.is_empty())
    {
        score.errors.push("wrong without a reason".to_owned());
    }
    score
}

/// The wave whose fault is reported.
pub(super) fn first_wave(case: &Case) -> &Wave {
    let reported = case.fault.as_ref().unwrap().wave;
    case.waves
        .iter()
        .find(|wave| wave.truth.is_some() && (reported.is_none() || reported == Some(wave.id)))
        .unwrap()
}

fn is_bad_pc(found: &Triage, truth: &Truth) -> bool {
    matches!(found.cause, Some(Cause::BadPc { pc, .. }) if Some(pc) == truth.pc)
}

/// Whether a wave had a bad access by that instruction, of the reported page if there is one. A second bad access before
/// the capture counts: nothing separates the two.
fn is_right(case: &Case, suspect: &Suspect, moment: Moment, page: Option<u64>) -> bool {
    let faults = case.waves.iter().filter_map(|wave| wave.truth.as_ref().map(|truth| (wave, truth)));
    faults.flat_map(|(wave, truth)| accesses(truth, wave.skid(case, moment))).any(|access| {
        access.instruction == suspect.instruction && page.is_none_or(|page| access.pages.contains(&page))
    })
}

fn accesses(truth: &Truth, skid: usize) -> impl Iterator<Item = &BadAccess> {
    let later = truth.later.iter().filter(move |later| later.step <= skid).map(|later| &later.access);
    truth.access.iter().chain(later)
}

/// Whether the lanes are right: all of the page, and none that is good. Without a page: exactly the bad ones.
fn lanes(case: &Case, wave: &Wave, suspect: &Suspect, moment: Moment, page: Option<u64>) -> Option<bool> {
    let truth = wave.truth.as_ref()?;
    let access = truth.access.as_ref().filter(|access| access.instruction == suspect.instruction)?;
    let written = truth.written.iter().take(wave.skid(case, moment) + 1).flatten();
    if written.clone().any(|register| register == "exec" || truth.registers.contains(register)) {
        return None;
    }
    let answer: Vec<u8> = suspect.lanes.iter().map(|lane| lane.0).collect();
    if access.lanes.is_empty() {
        return Some(answer.is_empty());
    }
    let on_page: Vec<u8> = access
        .lanes
        .iter()
        .zip(&access.pages)
        .filter(|(_, at)| page == Some(**at))
        .map(|(lane, _)| *lane)
        .collect();
    Some(match page {
        Some(_) if on_page.is_empty() => answer.iter().all(|lane| access.lanes.contains(lane)),
        Some(_) => {
            on_page.iter().all(|lane| answer.contains(lane))
                && answer.iter().all(|lane| access.lanes.contains(lane))
        }
        // Without a report a read-only page looks like any other, and absent memory like unmapped memory.
        None if truth.kind == "read-only" || moment.lacks_memory => return None,
        None => answer == access.lanes,
    })
}

/// The required numbers that the scores lack.
fn failures(cases: &Cases, scores: &[Score]) -> Vec<String> {
    let mut failures: Vec<String> = scores
        .iter()
        .flat_map(|score| {
            score.errors.iter().map(|error| format!("{}: {error}", cases.faults[score.case].name))
        })
        .collect();
    let mut require =
        |name: &str, share: f64, chosen: &dyn Fn(&Score) -> bool, good: &dyn Fn(&Score) -> bool| {
            let all = scores.iter().filter(|score| chosen(score)).count();
            let right = scores.iter().filter(|score| chosen(score) && good(score)).count();
            if all < least(50, 10) || (right as f64) < share * all as f64 {
                failures.push(format!("{name}: {right} of {all}, expected {share}"));
            }
        };
    let first = |score: &Score| score.rank == Some(0);
    require(
        "with the page, up to distance 8, first",
        0.9,
        &|score| score.has_page && score.distance <= 8,
        &first,
    );
    require(
        "with the page, distances 9 to 20, first",
        0.75,
        &|score| score.has_page && (9..=20).contains(&score.distance),
        &first,
    );
    // A read-only page looks like any other memory.
    let shows = |score: &Score| cases.faults[score.case].pattern != "read-only";
    let three = |score: &Score| score.rank.is_some_and(|rank| rank < 3);
    require(
        "without a page, up to distance 3, first three",
        0.85,
        &|score| !score.has_page && score.distance <= 3 && shows(score),
        &three,
    );
    require("lanes", 1.0, &|score| score.lanes.is_some(), &|score| score.lanes == Some(true));
    failures
}
