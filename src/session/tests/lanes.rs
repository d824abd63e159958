//! Lanes: work-items of a partial group, focus, states.

use std::path::Path;
use std::sync::Arc;

use super::Maker;
use crate::arch::Targets;
use crate::import;
use crate::session::{
    Dump, DumpFacts as _, LaneState, ReadError, Reset, Session, Stacks as _, Waves as _, WhatIf as _,
};
use crate::units::{LaneId, WaveId, WaveSize};

/// Group (2,0,0) of a 100x2 grid in 48x2 groups has 4x2 work-items: 8 lanes used.
#[test]
fn a_partial_group_leaves_lanes_unused() {
    let mut maker = Maker::new("gfx90a");
    let group = maker.group([2, 0, 0], &[]);
    maker.wave(WaveSize::W64, Some(group), &[("exec", &[0b0010_0110, 0, 0, 0, 0, 0, 0, 0], 3)]);
    let mut session = Session::new(maker.finish(), None).unwrap();
    let lanes = session.lanes(WaveId(0)).unwrap();
    assert_eq!(lanes.len(), 64);
    let used: Vec<_> =
        lanes.iter().take(9).map(|lane| (lane.state.unwrap(), lane.local_id, lane.global_id)).collect();
    use LaneState::{Active, Inactive, Unused};
    assert_eq!(used[0], (Inactive, Some([0, 0, 0]), Some([96, 0, 0])));
    assert_eq!(used[1], (Active, Some([1, 0, 0]), Some([97, 0, 0])));
    assert_eq!(used[5], (Active, Some([1, 1, 0]), Some([97, 1, 0])));
    assert_eq!(used[7], (Inactive, Some([3, 1, 0]), Some([99, 1, 0])));
    assert_eq!(used[8], (Unused, None, None));
    // The focus starts on the first active lane and moves on request.
    assert_eq!(session.focus(WaveId(0)), LaneId(1));
    session.set_focus(WaveId(0), LaneId(5)).unwrap();
    assert!(session.lanes(WaveId(0)).unwrap()[5].focused);
    let error = session.set_focus(WaveId(0), LaneId(64)).unwrap_err();
    assert_eq!(error, ReadError::NoSuchLane { lane: LaneId(64), lanes: 64 });
    assert_eq!(session.focus(WaveId(0)), LaneId(5));
}

#[test]
fn without_exec_states_are_not_known() {
    let mut maker = Maker::new("gfx1100");
    maker.wave(WaveSize::W32, None, &[]);
    let session = Session::new(maker.finish(), None).unwrap();
    let lanes = session.lanes(WaveId(0)).unwrap();
    assert_eq!(lanes.len(), 32);
    assert!(lanes.iter().all(|lane| lane.state.is_none() && lane.local_id.is_none()));
    assert_eq!(session.focus(WaveId(0)), LaneId(0));
    assert_eq!(session.wave(WaveId(0)).unwrap().name, "AMDGPU Wave 1:?:?:1 (?,?,?)/0");
}

/// The session serves the faulted wave's kind, and a notice lists the others.
#[test]
fn mixed_kinds_serve_the_faulted_one() {
    let mut maker = Maker::new("gfx1100");
    maker.wave(WaveSize::W32, None, &[]);
    maker.wave(WaveSize::W64, None, &[]);
    maker.wave(WaveSize::W64, None, &[]);
    let fault = maker.capture.agents[0].target.reason_index("memory_violation").unwrap();
    maker.capture.waves[2].stop = Some(vec![fault]);
    let dump = maker.finish();
    let session = Session::new(dump.clone(), None).unwrap();
    assert_eq!(session.kind().wave_size, WaveSize::W64);
    assert_eq!(session.waves().as_ref(), [WaveId(1), WaveId(2)]);
    assert_eq!(session.first_wave(), WaveId(2));
    assert_eq!(session.wave(WaveId(2)).unwrap().signal, 11);
    assert!(!session.has_wave(WaveId(0)));
    let notices = session.notices();
    assert!(notices[0].contains("gfx1100:wave32 (1 wave)"), "{notices:?}");
    let other = Session::new(dump.clone(), Some("wave32")).unwrap();
    assert_eq!(other.waves().as_ref(), [WaveId(0)]);
    let error = Session::new(dump, Some("gfx90a")).unwrap_err().to_string();
    assert!(error.contains("no gfx90a waves"), "{error}");
}

/// The answer of a question whose budget is spent may depend on the budget: the next question computes it again.
#[test]
fn a_spent_budget_leaves_no_answer_about_own_stacks_behind() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps/regions-gfx90a");
    let opened = import::open(&path, &Targets::builtin(), &import::Options::default()).unwrap();
    let session = Session::new(Arc::new(Dump::new(opened.capture, Vec::new())), None).unwrap();
    let (wave, budget) = (session.first_wave(), session.reader().budget());
    // Work on a wave that is not the last one adds to the budget: whether the answer was computed is visible.
    let spent_at = |last: WaveId| {
        session.reader().next_wave(last);
        budget.take(budget.left(), 0).unwrap();
        session.has_own_stack(wave, LaneId(0)).unwrap();
        budget.left()
    };
    let other = WaveId(u32::MAX);
    assert_eq!(spent_at(wave), 0);
    assert_ne!(spent_at(other), 0, "computed again, within the budget");
    assert_eq!(spent_at(other), 0, "kept");
}

/// Whether a lane has a stack of its own is kept between questions, but not past a write.
#[test]
fn a_written_pc_leaves_no_lane_a_stack_of_its_own() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps/regions-gfx90a");
    let opened = import::open(&path, &Targets::builtin(), &import::Options::default()).unwrap();
    let mut session = Session::new(Arc::new(Dump::new(opened.capture, Vec::new())), None).unwrap();
    let pc = session.kind().named("pc").unwrap().id;
    let with_own = |session: &Session| {
        let waves = session.waves();
        let each = waves.iter().flat_map(|wave| (0..64).map(move |lane| (*wave, LaneId(lane))));
        each.filter(|(wave, lane)| session.has_own_stack(*wave, *lane).unwrap()).collect::<Vec<_>>()
    };
    let before = with_own(&session);
    assert!(!before.is_empty());
    assert_eq!(with_own(&session), before);
    for wave in session.waves().iter() {
        session.write_register(*wave, pc, &0x10u64.to_le_bytes()).unwrap();
    }
    assert_eq!(with_own(&session), []);
    session.reset(Reset::All);
    assert_eq!(with_own(&session), before);
}
