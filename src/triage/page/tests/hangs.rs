//! Pages of hangs.

use std::sync::Arc;

use super::page;
use crate::triage::{Cause, GroupWait, Hang, PolledValue, Triage, WaitPlace, WaveState, WaveWait};
use crate::units::{LaneSet, Pc, WaveId};

fn waiting(wave: u32, state: WaveState, lines: &[u64], polls: &[PolledValue]) -> WaveWait {
    WaveWait {
        wave: WaveId(wave),
        state,
        at: Arc::new(WaitPlace {
            pc: Some(Pc(0x7f00_0010_2798)),
            function: Some("spin".to_owned()),
            file: Some("kernels/spin.hip".to_owned()),
            lines: lines.to_vec(),
            is_polling: !polls.is_empty(),
        }),
        polls: polls.to_vec(),
    }
}

/// Waves 1 to 3 wait for wave 4, which polls a flag.
pub(super) fn deadlock() -> Triage {
    let poll = PolledValue {
        address: 0x7f00_0020_0000,
        is_lds: false,
        bytes: 4,
        value: Some(0),
        compared: Some(0),
        comparison: Some("=="),
        lanes: LaneSet(0xf),
        name: Some("*flag".to_owned()),
        inferred: None,
    };
    let hang = Hang {
        groups: vec![GroupWait {
            workgroup: 1,
            position: Some([0, 0, 0]),
            waiting: vec![WaveId(0), WaveId(1), WaveId(2)],
            missing: vec![WaveId(3)],
            signalled: Vec::new(),
            ended: Some(0),
            not_captured: Some(0),
            is_deadlock: true,
        }],
        waves: vec![
            waiting(0, WaveState::AtBarrier, &[20], &[]),
            waiting(3, WaveState::Spinning, &[10, 11, 12], std::slice::from_ref(&poll)),
            waiting(4, WaveState::Spinning, &[10, 11, 12], std::slice::from_ref(&poll)),
        ],
        counts: vec![
            (Some(1), WaveState::AtBarrier, 3),
            (Some(1), WaveState::Spinning, 2),
            (Some(2), WaveState::Running, 3),
        ],
        is_hang: true,
        is_deadlock: true,
        proof: vec!["wave 4 polls a value that no live wave writes".to_owned()],
        is_cut: false,
    };
    Triage { cause: Some(Cause::Hang), hang: Some(hang), ..Triage::default() }
}

#[test]
fn a_hang_has_states_barriers_loops_and_the_proof() {
    let expected = "\
deadlock in saxpy: 3 waves of work-group (0,0,0) wait at a barrier that wave 4
has not reached (proven)

States    dispatch 1: 3 waves wait at a barrier, 2 spin in a loop
          dispatch 2: 3 waves run
Barriers  work-group (0,0,0): waves 1-3 wait; missing: wave 4 at spin.hip:10-12
Loops     waves 4-5 at spin.hip:10-12 poll *flag = 0x0 at 0x7f0000200000 (lanes
          0-3); the loop tests == 0x0
Because   wave 4 polls a value that no live wave writes
Next      Groups
          Debugger
";
    assert_eq!(page(&deadlock()), expected);
    let mut open = deadlock();
    let hang = open.hang.as_mut().unwrap();
    hang.is_deadlock = false;
    hang.groups.clear();
    let text = page(&open);
    let sentence = "hang in saxpy: 3 waves wait at a barrier, 2 spin in a loop, 3 run (likely)\n";
    assert!(text.starts_with(sentence), "{text}");
    assert!(text.contains("\nStates    dispatch 1: 3 waves wait"), "{text}");
    // One dispatch: the sentence has the states.
    open.hang.as_mut().unwrap().counts.truncate(2);
    let text = page(&open);
    assert!(
        text.starts_with("hang in saxpy: 3 waves wait at a barrier, 2 spin in a loop (likely)\n"),
        "{text}"
    );
    assert!(!text.contains("States"), "{text}");
}
