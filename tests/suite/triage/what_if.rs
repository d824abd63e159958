//! What-if changes: an analysis reads the written registers.

use lanescope::session::{Session, Storage as _, Waves as _, WhatIf as _};
use lanescope::triage::{Question, triage};
use lanescope::units::{LaneId, LaneSet, WaveId};

use crate::fixtures::{fixtures, open};

/// The demo's access is `flat_load_dword v2, v[0:1]`, one instruction before the PC of wave 1.
#[test]
fn an_analysis_follows_written_registers() {
    const FAULTED: WaveId = WaveId(0);
    let mut session = Session::new(open(&fixtures().join("demo.zip")), None).unwrap();
    let accesses = |session: &Session| triage(&[session], &Question::default()).suspects;
    let captured = &accesses(&session)[0];
    assert_eq!((captured.wave, captured.lanes), (FAULTED, LaneSet::one(LaneId(24))));
    // Lane 24 gets the address of the last element, and lane 3 the one behind it.
    for (name, lane_24, lane_3) in [("v0", 0x0020_0ffc, 0x0020_1000), ("v1", 0x7f00, 0x7f00)] {
        let register = session.kind().named(name).unwrap().id;
        let mut value = session.register(FAULTED, register).unwrap();
        value.set_dword(24, lane_24);
        value.set_dword(3, lane_3);
        session.write_register(FAULTED, register, value.bytes()).unwrap();
    }
    let written = &accesses(&session)[0];
    assert_eq!((written.instruction, written.lanes), (captured.instruction, LaneSet::one(LaneId(3))));
    assert_eq!(written.addresses.iter().map(|at| at.address).collect::<Vec<_>>(), [0x7f00_0020_1000]);
}
