//! States of waves: barriers of each generation, waits, sleep, ends, halts, stops.

use super::{at, listing, place};
use crate::arch::Generation::{self, Gfx9, Gfx10, Gfx11, Gfx12, Gfx90a, Gfx940};
use crate::arch::StopKind;
use crate::triage::hang::WaveState::{
    self, AtBarrier, Ended, Faulted, Halted, Running, Sleeping, Unknown, WaitingMemory,
};
use crate::triage::hang::state::{Position, Status, state};

const NONE: Status = Status { is_halted: None, is_in_barrier: None, is_barrier_complete: None };

fn position(generation: Generation, text: &str, label: &str) -> Option<Position> {
    place(&listing(generation, text), at(text, label))
}

/// The state of a running wave at a label, by its code alone.
fn running(generation: Generation, text: &str, label: &str) -> WaveState {
    with(generation, text, label, NONE)
}

fn with(generation: Generation, text: &str, label: &str, status: Status) -> WaveState {
    state(&[], status, position(generation, text, label).as_ref(), false, false)
}

const BARRIER: &str = "
    first:
    s_mov_b32 s0, 1
    at:
    s_barrier
    behind:
    s_mov_b32 s1, 1
    later:
    s_mov_b32 s2, 1
    s_endpgm";

/// `s_barrier` of GFX9 to GFX11: at it, or directly behind it.
#[test]
fn a_wave_waits_at_or_directly_behind_s_barrier() {
    for generation in [Gfx9, Gfx90a, Gfx940, Gfx10, Gfx11] {
        let states = ["first", "at", "behind", "later"].map(|label| running(generation, BARRIER, label));
        assert_eq!(states, [Running, AtBarrier, AtBarrier, Running], "{generation:?}");
    }
}

/// A branch to the instruction behind the barrier: only IN_BARRIER tells.
#[test]
fn a_branch_behind_the_barrier_leaves_the_status_to_decide() {
    let text = "
        s_barrier
        behind:
        s_add_u32 s1, s1, 1
        s_cbranch_scc1 -> behind
        s_endpgm";
    let in_barrier = |bit| Status { is_in_barrier: Some(bit), ..NONE };
    assert_eq!(running(Gfx90a, text, "behind"), Running);
    assert_eq!(with(Gfx90a, text, "behind", in_barrier(false)), Running);
    assert_eq!(with(Gfx90a, text, "behind", in_barrier(true)), AtBarrier);
}

const SPLIT: &str = "
    before:
    s_mov_b32 s0, 1
    s_barrier_signal -1
    between:
    s_mov_b32 s1, 1
    wait:
    s_barrier_wait 0xffff
    behind:
    s_mov_b32 s2, 1
    s_endpgm";

/// GFX12: the wait is an instruction of its own, and BARRIER_COMPLETE releases the wave.
#[test]
fn gfx12_waits_at_the_wait_alone() {
    let states = ["before", "between", "wait", "behind"].map(|label| running(Gfx12, SPLIT, label));
    assert_eq!(states, [Running, Running, AtBarrier, Running]);
    let complete = |bit| Status { is_barrier_complete: Some(bit), ..NONE };
    assert_eq!(with(Gfx12, SPLIT, "wait", complete(false)), AtBarrier);
    assert_eq!(with(Gfx12, SPLIT, "wait", complete(true)), Running);
    // Barriers of clusters, -3, and named ones are not the work-group's.
    for other in ["0xfffd", "1"] {
        assert_eq!(running(Gfx12, &SPLIT.replace("0xffff", other), "wait"), Running, "{other}");
    }
}

/// A wave between signal and wait has arrived; on some paths only: unknown.
#[test]
fn a_signal_is_an_arrival() {
    let signalled = |text: &str, label: &str| position(Gfx12, text, label).unwrap().has_signalled;
    let each = ["before", "between", "wait", "behind"].map(|label| signalled(SPLIT, label));
    assert_eq!(each, [Some(false), Some(true), Some(true), Some(false)]);
    let some = "
        s_cbranch_scc1 -> join
        s_barrier_signal -1
        join:
        s_mov_b32 s1, 1
        s_barrier_wait 0xffff
        s_endpgm";
    assert_eq!(signalled(some, "join"), None);
    let call = "
        s_swappc_b64 s[30:31], s[0:1]
        behind:
        s_mov_b32 s1, 1
        s_endpgm";
    assert_eq!(signalled(call, "behind"), None);
    // Other generations have no signals: a call does not matter.
    assert_eq!(position(Gfx90a, call, "behind").unwrap().has_signalled, Some(false));
}

/// Signals and waits of other barriers than -1 are no arrivals at it; M0 may hold any number.
#[test]
fn signals_of_other_barriers_are_no_arrivals() {
    let signalled = |text: &str, label: &str| position(Gfx12, text, label).unwrap().has_signalled;
    for other in ["-3", "1"] {
        let text = SPLIT.replace("s_barrier_signal -1", &format!("s_barrier_signal {other}"));
        assert_eq!(signalled(&text, "between"), Some(false), "{other}");
    }
    assert_eq!(signalled(&SPLIT.replace("s_barrier_signal -1", "s_barrier_signal m0"), "between"), None);
    assert_eq!(
        signalled(&SPLIT.replace("s_barrier_signal -1", "s_barrier_signal_isfirst -1"), "wait"),
        Some(true)
    );
    // The wait of a named barrier between leaves the wave signalled.
    let named = SPLIT.replace("between:", "s_barrier_signal 1\n s_barrier_wait 1\n between:");
    assert_eq!(signalled(&named, "between"), Some(true));
}

/// A work-group of one wave does not wait.
#[test]
fn barriers_of_single_waves_do_nothing() {
    for (generation, text, label) in
        [(Gfx90a, BARRIER, "at"), (Gfx11, BARRIER, "behind"), (Gfx12, SPLIT, "wait")]
    {
        let position = position(generation, text, label);
        assert_eq!(state(&[], NONE, position.as_ref(), false, true), Running, "{generation:?}");
    }
}

/// HALT, a debugger's stop, or `s_sethalt`: not blocked by the program, also at a barrier.
#[test]
fn halted_waves_do_not_wait() {
    let halted = Status { is_halted: Some(true), ..NONE };
    assert_eq!(with(Gfx90a, BARRIER, "at", halted), Halted);
    let position = position(Gfx90a, BARRIER, "at");
    assert_eq!(state(&[StopKind::Debugger], NONE, position.as_ref(), false, false), Halted);
    let text = "
        s_sethalt 1
        set:
        s_mov_b32 s1, 1
        s_sethalt 0
        clear:
        s_mov_b32 s1, 1
        s_endpgm";
    assert_eq!(running(Gfx10, text, "set"), Halted);
    assert_eq!(running(Gfx10, text, "clear"), Running);
}

/// All reasons of all targets: a fault, or a stop for a debugger.
#[test]
fn stop_reasons_of_all_targets_are_faults_or_debugger_stops() {
    let targets = crate::arch::Targets::builtin();
    let position = position(Gfx90a, BARRIER, "at");
    let mut faults = 0;
    for name in targets.all_names() {
        let target = targets.target(name).unwrap();
        for reason in &target.stop_reasons {
            let found = state(&StopKind::of([reason]), NONE, position.as_ref(), false, false);
            let is_debugger =
                ["breakpoint", "watchpoint", "single_step", "debug_trap"].contains(&reason.name.as_str());
            assert_eq!(found, if is_debugger { Halted } else { Faulted }, "{}", reason.name);
            faults += usize::from(!is_debugger);
        }
    }
    assert!(faults > 100);
}

#[test]
fn sleep_end_and_missing_code() {
    let text = "
        s_mov_b32 s0, 1
        sleep:
        s_sleep 2
        behind:
        s_mov_b32 s1, 1
        end:
        s_endpgm";
    assert_eq!(
        ["sleep", "behind", "end"].map(|label| running(Gfx9, text, label)),
        [Sleeping, Sleeping, Ended]
    );
    assert_eq!(state(&[], NONE, None, false, false), Unknown);
    assert!(place(&listing(Gfx9, text), 0x1002).is_none());
    assert!(place(&listing(Gfx9, "s_nop 0\n.long 0xffffffff"), 0x1004).is_none());
}

/// Section "Data Dependency Resolution" of the ISA documents: which counter counts what.
#[test]
fn a_wait_is_one_for_memory_if_an_operation_is_outstanding() {
    let wait = |generation, operation: &str, wait: &str| {
        running(generation, &format!("{operation}\nv_mov_b32_e32 v9, 0\nwait:\n{wait}\ns_endpgm"), "wait")
    };
    let load = "global_load_dword v1, v[2:3], off";
    let store = "global_store_dword v[2:3], v1, off";
    assert_eq!(wait(Gfx9, load, "s_waitcnt vmcnt(0)"), WaitingMemory);
    assert_eq!(wait(Gfx9, store, "s_waitcnt vmcnt(0)"), WaitingMemory);
    assert_eq!(wait(Gfx9, load, "s_waitcnt lgkmcnt(0)"), Running);
    // One operation may be outstanding.
    assert_eq!(wait(Gfx9, load, "s_waitcnt vmcnt(1)"), Running);
    assert_eq!(wait(Gfx9, &format!("{load}\n{load}"), "s_waitcnt vmcnt(1)"), WaitingMemory);
    // An earlier wait.
    assert_eq!(wait(Gfx9, &format!("{load}\ns_waitcnt vmcnt(0)"), "s_waitcnt vmcnt(0)"), Running);
    // Stores have a counter of their own from GFX10 on.
    assert_eq!(wait(Gfx10, store, "s_waitcnt vmcnt(0)"), Running);
    assert_eq!(wait(Gfx10, store, "s_waitcnt_vscnt null, 0x0"), WaitingMemory);
    assert_eq!(wait(Gfx11, "s_load_b32 s1, s[2:3], 0x0", "s_waitcnt lgkmcnt(0)"), WaitingMemory);
    assert_eq!(wait(Gfx12, "ds_load_b32 v1, v2", "s_wait_dscnt 0x0"), WaitingMemory);
    assert_eq!(wait(Gfx12, "ds_load_b32 v1, v2", "s_wait_loadcnt 0x0"), Running);
    assert_eq!(wait(Gfx12, "global_load_b32 v1, v[2:3], off", "s_wait_loadcnt_dscnt 0x0"), WaitingMemory);
    // Another path may lead to the wait.
    let joined = format!(
        "{load}\njoin:\nv_mov_b32_e32 v9, 0\nwait:\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 -> join\ns_endpgm"
    );
    assert_eq!(running(Gfx9, &joined, "wait"), Running);
}

/// A proof of a deadlock needs a wave that waits beyond doubt: directly behind a barrier it may be released.
#[test]
fn only_the_status_proves_a_wait_behind_a_barrier() {
    let proves = |generation, text, label, status| {
        position(generation, text, label).is_some_and(|position| position.waits_certainly(status))
    };
    let in_barrier = |bit| Status { is_in_barrier: Some(bit), ..NONE };
    let complete = |bit| Status { is_barrier_complete: Some(bit), ..NONE };
    assert!(proves(Gfx90a, BARRIER, "at", NONE) && !proves(Gfx90a, BARRIER, "first", NONE));
    assert!(
        !proves(Gfx90a, BARRIER, "behind", NONE) && !proves(Gfx90a, BARRIER, "behind", in_barrier(false))
    );
    assert!(proves(Gfx90a, BARRIER, "behind", in_barrier(true)));
    assert!(!proves(Gfx12, SPLIT, "wait", NONE) && !proves(Gfx12, SPLIT, "wait", complete(true)));
    assert!(proves(Gfx12, SPLIT, "wait", complete(false)));
}
