//! Hangs: states of waves, work-groups at barriers, lines and values of loops.

use std::sync::Arc;

use lanescope::session::{Dump, Session};
use lanescope::triage::{Cause, Question, triage};
use lanescope::units::WaveId;

use super::cases::{Case, Moment, load};

const MOMENT: Moment = Moment { distance: 0, has_report: false, lacks_memory: false };

/// Ids of the dump.
fn ids(dump: &Dump, waves: &[WaveId]) -> Vec<u32> {
    waves.iter().map(|wave| dump.capture().waves[wave.0 as usize].id).collect()
}

/// The polled expression of a kernel of tests/fixtures/kernels/hangs.hip; all of them compare it with 0.
fn source_of(case: &Case) -> Option<&'static str> {
    Some(if case.name.starts_with("spin_lock") { "*lock" } else { "*flag" })
}

/// Waves of -O0 that poll, and those of them without a known address.
#[derive(Default)]
struct Unoptimised {
    all: usize,
    unknown: usize,
}

fn differences(case: &Case, dump: &Arc<Dump>, wrong: &mut Vec<String>, unoptimised: &mut Unoptimised) {
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
        let is_unoptimised = case.level == "O0";
        unoptimised.all += usize::from(is_unoptimised);
        // The code loads the pointer in each turn: between two parts of the load no register has it.
        if is_unoptimised && found.polls.is_empty() {
            unoptimised.unknown += 1;
            continue;
        }
        let values: Vec<_> = found.polls.iter().map(|polled| (polled.address, polled.value)).collect();
        if !values.contains(&(poll.address, Some(poll.value))) {
            complain(format!("wave {}: polls {values:x?}, expected {:#x}", wave.id, poll.address));
        }
        let Some(polled) = found.polls.iter().find(|polled| polled.address == poll.address) else { continue };
        let terms = (polled.name.as_deref(), polled.compared);
        let wanted = (poll.name.as_deref().or(source_of(case)), poll.compared.or(Some(0)));
        // Variables of LDS have no names, and the operands of unoptimised comparisons may be unknown.
        let is_named = terms.0 == wanted.0 || polled.is_lds && terms.0.is_none();
        let is_compared = terms.1 == wanted.1 || is_unoptimised && terms.1.is_none();
        if !is_named || !is_compared {
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
    let cases = load();
    assert!(cases.hangs.len() >= 120, "only {} cases", cases.hangs.len());
    let (mut wrong, mut unoptimised) = (Vec::new(), Unoptimised::default());
    for case in &cases.hangs {
        differences(case, &cases.open(case, MOMENT), &mut wrong, &mut unoptimised);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let Unoptimised { all, unknown } = unoptimised;
    assert!(all > 60 && unknown * 4 <= all, "{unknown} of {all} waves of -O0 poll unknown addresses");
}
