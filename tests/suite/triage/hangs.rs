//! Hangs: states of waves, work-groups at barriers, lines and values of loops.

use std::sync::Arc;

use lanescope::report::Style;
use lanescope::session::{Dump, Inspect, Session};
use lanescope::triage::{Cause, Question, Scene, page, triage};
use lanescope::units::WaveId;

use super::cases::{Case, Moment, load_hangs};
use crate::support::{least, sample::sampled};

const MOMENT: Moment = Moment { distance: 0, has_report: false, lacks_memory: false };

/// Ids of the dump.
fn ids(dump: &Dump, waves: &[WaveId]) -> Vec<u32> {
    waves.iter().map(|wave| dump.capture().waves[wave.0 as usize].id).collect()
}

/// The polled expression of a kernel of tests/fixtures/kernels/hangs.hip; all of them compare it with 0.
fn source_of(case: &Case) -> Option<&'static str> {
    Some(if case.name.starts_with("spin_lock") { "*lock" } else { "*flag" })
}

/// Waves that poll, and those without a known address.
#[derive(Default)]
struct Polling {
    all: usize,
    unoptimised: usize,
}

fn differences(case: &Case, dump: &Arc<Dump>, wrong: &mut Vec<String>, polling: &mut Polling) {
    let session = Session::new(Arc::clone(dump), None).unwrap();
    let mut complain = |text: String| wrong.push(format!("{}: {text}", case.name));
    let unasked = triage(&[&session], &Question::default());
    if case.hangs.is_some_and(|hangs| (unasked.cause == Some(Cause::Hang)) != hangs) {
        complain(format!("cause {:?}", unasked.cause));
    }
    let found = triage(&[&session], &Question { wants_hang: true, ..Question::default() });
    let Some(hang) = found.hang else { return complain("no states".to_owned()) };
    if case.hangs == Some(false) && (hang.is_deadlock || hang.is_hang) {
        complain(format!("healthy, but a hang: {:?}", hang.proof));
    }
    if case.deadlock.is_some_and(|proven| hang.is_deadlock != proven) {
        complain(format!("deadlock {}, proof {:?}", hang.is_deadlock, hang.proof));
    }
    for wave in &case.waves {
        let expected = wave.expected.as_ref().unwrap();
        let Some(found) = hang.waves.iter().find(|found| ids(dump, &[found.wave]) == [wave.id]) else {
            complain(format!("wave {}: no state", wave.id));
            continue;
        };
        let state = found.state.name().replace('_', "-");
        if !expected.state.contains(&state) {
            complain(format!("wave {}: {}, expected {:?}", wave.id, state, expected.state));
        }
        if !expected.lines.is_empty() && !found.at.lines.iter().any(|line| expected.lines.contains(line)) {
            complain(format!(
                "wave {}: lines {:?}, expected some of {:?}",
                wave.id, found.at.lines, expected.lines
            ));
        }
        let Some(poll) = &expected.poll else { continue };
        polling.all += 1;
        polling.unoptimised += usize::from(case.level == "O0");
        let values: Vec<_> = found.polls.iter().map(|polled| (polled.address, polled.value)).collect();
        if !values.contains(&(poll.address, Some(poll.value))) {
            complain(format!(
                "wave {}: {state} at {:x?} polls {values:x?}, expected {:#x}",
                wave.id, found.at.pc, poll.address
            ));
        }
        let Some(polled) = found.polls.iter().find(|polled| polled.address == poll.address) else { continue };
        let terms = (polled.name.as_deref(), polled.compared);
        let wanted = (poll.name.as_deref().or(source_of(case)), poll.compared.or(Some(0)));
        let is_named = terms.0 == wanted.0 || terms.0.is_some() && terms.0 == poll.alias.as_deref();
        // The operands of unoptimised comparisons may be unknown.
        let is_compared = terms.1 == wanted.1 || case.level == "O0" && terms.1.is_none();
        if !is_named || !is_compared || polled.is_lds && polled.inferred.is_none() {
            complain(format!("wave {}: polls {terms:?}, expected {wanted:?}", wave.id));
        }
    }
    let groups: Vec<_> = hang
        .groups
        .iter()
        .map(|group| (group.workgroup, ids(dump, &group.waiting), ids(dump, &group.missing)))
        .collect();
    let expected: Vec<_> = case
        .groups
        .iter()
        .map(|group| (group.workgroup, group.waiting.clone(), group.missing.clone()))
        .collect();
    if groups != expected {
        complain(format!("groups {groups:?}, expected {expected:?}"));
    }
}

#[test]
fn hangs_have_states_lines_and_polled_values() {
    let cases = load_hangs();
    assert!(cases.hangs.len() >= 120, "only {} cases", cases.hangs.len());
    let (mut wrong, mut polling) = (Vec::new(), Polling::default());
    // Each seventh: all kernels, and both levels of all GPUs.
    for case in sampled(&cases.hangs, 7) {
        differences(case, &cases.open(case, MOMENT), &mut wrong, &mut polling);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let Polling { all, unoptimised } = polling;
    assert!(
        all > least(200, 35) && unoptimised > least(100, 19),
        "only {all} waves poll, {unoptimised} of -O0"
    );
}

/// The page names a deadlock only if the capture proves it: a barrier that a wave in a loop without an exit never
/// reaches. Waves that hold one lock and wait for another one hang for ever, too, but a capture has no holder of a lock.
#[test]
fn pages_name_proven_deadlocks_alone() {
    let cases = load_hangs();
    let mut proven = 0;
    for case in sampled(cases.hangs.iter().filter(|case| case.deadlock.is_some()), 3) {
        let session = Session::new(cases.open(case, MOMENT), None).unwrap();
        let sessions: [&dyn Inspect; 1] = [&session];
        let found = triage(&sessions, &Question::default());
        let page = page::text(&found, &Scene::new(&sessions), &|_| None, Style::Plain);
        let is_proven = case.deadlock == Some(true);
        let (has_word, has_proof) = (page.contains("deadlock in"), page.contains("(proven)"));
        assert_eq!((has_word, has_proof), (is_proven, is_proven), "{}: {page}", case.name);
        assert_eq!(found.cause == Some(Cause::Hang), case.hangs == Some(true), "{}: {page}", case.name);
        let proof = found.hang.map(|hang| hang.proof).unwrap_or_default();
        assert!(is_proven || !proof.iter().any(|step| step.contains("needs")), "{}: {proof:?}", case.name);
        proven += usize::from(is_proven);
    }
    assert_eq!(proven, least(5, 2), "optimised code of five GPUs, or of two of them");
}
