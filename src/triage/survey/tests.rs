//! Waves by their stops, with waves written by hand.

use super::{Stop, Survey};
use crate::arch::Targets;
use crate::session::{Inspect, MockInspect, WaveInfo};
use crate::units::{Pc, WaveId, WaveSize};

/// A wave at a PC with stop reasons.
pub(in crate::triage) fn info(wave: WaveId, pc: u64, stop: Option<&[&str]>, signal: u8) -> WaveInfo {
    WaveInfo {
        wave,
        id: wave.0 + 1,
        name: String::new(),
        kind: Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap(),
        pc: Some(Pc(pc)),
        exec: None,
        kernel: None,
        kernel_name: None,
        agent: 1,
        queue: None,
        dispatch: None,
        workgroup: None,
        wave_in_group: None,
        stop: stop.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
        cause: String::new(),
        unconfirmed: None,
        unchecked: None,
        signal,
        stands_for: 0,
    }
}

type Waves = &'static [(u64, Option<&'static [&'static str]>, u8)];

fn session(waves: Waves) -> MockInspect {
    let mut session = MockInspect::new();
    session.expect_waves().returning(move || (0..waves.len() as u32).map(WaveId).collect());
    session.expect_wave().returning(move |wave| {
        let (pc, stop, signal) = waves[wave.0 as usize];
        Ok(info(wave, pc, stop, signal))
    });
    session
}

const FAULT: Option<&[&str]> = Some(&["memory_violation"]);
const STOPPED: Option<&[&str]> = Some(&["debug_trap"]);

/// A wave that a debugger stopped is a bystander; the largest group of faulted waves comes first.
#[test]
fn faulted_waves_are_grouped_by_pc() {
    let session = session(&[
        (0x10, FAULT, 11),
        (0x20, STOPPED, 5),
        (0x18, FAULT, 11),
        (0x18, Some(&["address_error"]), 10),
        (0x20, Some(&[]), 0),
    ]);
    let survey = Survey::of(&[&session as &dyn Inspect], None);
    let groups: Vec<_> = survey.stopped().iter().map(|of| (of.pc.unwrap().0, of.waves.clone())).collect();
    assert_eq!(groups, [(0x18, vec![WaveId(2), WaveId(3)]), (0x10, vec![WaveId(0)])]);
    let stops = survey.stops();
    assert_eq!((stops.faulted, stops.bystanders, stops.chosen), (3, 2, Some(WaveId(2))));
    assert_eq!(stops.pcs, [(Pc(0x18), 2), (Pc(0x10), 1)]);
}

/// An access to memory precedes other faults, these precede unknown causes.
#[test]
fn the_most_telling_stop_counts() {
    let first = |waves: Waves| {
        let session = session(waves);
        Survey::of(&[&session as &dyn Inspect], None).stopped().first().map(|group| group.stop)
    };
    const ILLEGAL: Option<&[&str]> = Some(&["illegal_instruction"]);
    assert_eq!(first(&[(0, ILLEGAL, 4), (0, FAULT, 11), (0, None, 0)]), Some(Stop::Memory));
    assert_eq!(first(&[(0, None, 0), (0, ILLEGAL, 4)]), Some(Stop::OtherFault));
    const HALTED: Option<&[&str]> = Some(&["fatal_halt"]);
    assert_eq!(first(&[(0, None, 0), (0, HALTED, 6)]), Some(Stop::Halted));
    assert_eq!(first(&[(0, HALTED, 6), (0, ILLEGAL, 4)]), Some(Stop::OtherFault));
    assert_eq!(first(&[(0, STOPPED, 5), (0, None, 0)]), Some(Stop::Unknown));
    assert_eq!(first(&[(0, STOPPED, 5), (0, Some(&[]), 0)]), Some(Stop::Running));
    assert_eq!(first(&[]), None);
}

/// Without a faulted wave nothing is a bystander; a question about one wave ignores the others.
#[test]
fn bystanders_need_a_fault() {
    let session = session(&[(0x10, STOPPED, 5), (0x18, Some(&[]), 0)]);
    let stops = Survey::of(&[&session as &dyn Inspect], None).stops();
    assert_eq!((stops.faulted, stops.bystanders), (0, 0));
    let only = Survey::of(&[&session as &dyn Inspect], Some(WaveId(1)));
    assert_eq!(only.groups.iter().map(|group| group.waves.len()).sum::<usize>(), 1);
}

/// A trap of the program has the signal of a debugger's stop.
#[test]
fn a_trap_is_a_fault() {
    let session = session(&[(0x10, STOPPED, 5), (0x18, Some(&["trap"]), 5)]);
    assert_eq!(Survey::of(&[&session as &dyn Inspect], None).stops().faulted, 1);
}

/// Waves with another stop reason, GPU or dispatch stopped for another fault.
#[test]
fn faults_of_other_reasons_agents_and_dispatches_are_apart() {
    let place: [(u32, u32, &[&str]); 7] = [
        (1, 1, &["memory_violation"]),
        (1, 1, &["address_error"]),
        (1, 1, &["illegal_instruction"]),
        (1, 2, &["memory_violation"]),
        (2, 1, &["memory_violation"]),
        (1, 1, &["debug_trap"]),
        (1, 1, &["illegal_instruction"]),
    ];
    let mut session = MockInspect::new();
    session.expect_waves().returning(move || (0..place.len() as u32).map(WaveId).collect());
    session.expect_wave().returning(move |wave| {
        let (agent, dispatch, stop) = place[wave.0 as usize];
        let signal = if stop == ["debug_trap"] { 5 } else { 11 };
        Ok(WaveInfo { agent, dispatch: Some(dispatch), ..info(wave, 0x10, Some(stop), signal) })
    });
    let survey = Survey::of(&[&session as &dyn Inspect], None);
    let others = |wave| survey.others(WaveId(wave)).into_iter().map(|other| other.waves).collect::<Vec<_>>();
    let [memory, illegal] = [vec![WaveId(0), WaveId(1)], vec![WaveId(2), WaveId(6)]];
    assert_eq!(others(0), [illegal.clone(), vec![WaveId(3)], vec![WaveId(4)]]);
    assert_eq!(others(6), [memory, vec![WaveId(3)], vec![WaveId(4)]]);
    // A wave without a fault, and a dump without faults.
    assert_eq!(others(5).len(), 0);
    let only = Survey::of(&[&session as &dyn Inspect], Some(WaveId(0)));
    assert!(only.others(WaveId(0)).is_empty());
}
