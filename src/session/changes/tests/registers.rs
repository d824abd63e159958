//! Registers by all their names, and the effect of EXEC and PC on other answers.

use super::dump;
use crate::session::{ChangeError, LaneState, Session, Stacks as _, Storage as _, Waves as _, WhatIf as _};
use crate::units::{LaneId, WaveId};

const WAVE: WaveId = WaveId(0);

fn session() -> Session {
    Session::new(dump(), None).unwrap()
}

fn write(session: &mut Session, name: &str, bytes: &[u8]) -> Result<(), ChangeError> {
    let register = session.kind().named(name).unwrap().id;
    session.write_register(WAVE, register, bytes)
}

fn scalar(session: &Session, name: &str) -> Option<u64> {
    session.register(WAVE, session.kind().named(name).unwrap().id).unwrap().scalar()
}

/// capture-formats.md 2.6: with 32 SGPRs allocated vcc is s30 and s31.
#[test]
fn an_alias_and_its_slots_are_one() {
    let mut session = session();
    write(&mut session, "vcc", &0x1111_2222_3333_4444_u64.to_le_bytes()).unwrap();
    assert_eq!(scalar(&session, "s30"), Some(0x3333_4444));
    assert_eq!(scalar(&session, "s31"), Some(0x1111_2222));
    write(&mut session, "s31", &7u32.to_le_bytes()).unwrap();
    assert_eq!(scalar(&session, "vcc"), Some(0x7_3333_4444));
    let changes = session.changes(10).unwrap();
    let named: Vec<(&str, Vec<String>)> =
        changes.registers.iter().map(|change| (change.name.as_str(), change.aliases.clone())).collect();
    assert_eq!(named, [("s30", vec!["vcc".to_owned()]), ("s31", vec!["vcc".to_owned()])]);
    assert_eq!(changes.registers[1].old, None, "s31 was not captured");
}

/// If the capture has vcc itself with another value than its slots, both read a write to either.
#[test]
fn a_captured_alias_takes_writes_too() {
    let mut maker = crate::session::tests::Maker::new("gfx90a");
    let own = 0x0123_4567_89ab_cdef_u64.to_le_bytes();
    let registers: [(&str, &[u8], u64); 2] = [("s30", &[1, 0, 0, 0], 1), ("vcc", &own, 3)];
    maker.wave(crate::units::WaveSize::W64, None, &registers);
    maker.capture.waves[0].sgpr_count = Some(32);
    let mut session = Session::new(maker.finish(), None).unwrap();
    // One has the captured value of s30, and not that of vcc.
    write(&mut session, "vcc", &1u64.to_le_bytes()).unwrap();
    assert_eq!((scalar(&session, "vcc"), scalar(&session, "s30")), (Some(1), Some(1)));
    assert_eq!(scalar(&session, "s31"), Some(0));
    // s30 reads as vcc's captured value only if the layer keeps that value.
    write(&mut session, "vcc", &own).unwrap();
    assert_eq!(scalar(&session, "vcc"), Some(0x0123_4567_89ab_cdef));
    assert_eq!(scalar(&session, "s30"), Some(0x89ab_cdef));
}

#[test]
fn exec_selects_the_active_lanes() {
    let mut session = session();
    let active = |session: &Session| -> Vec<u8> {
        let lanes = session.lanes(WAVE).unwrap();
        lanes.iter().filter(|lane| lane.state == Some(LaneState::Active)).map(|lane| lane.lane.0).collect()
    };
    assert_eq!(session.focus(WAVE), LaneId(0));
    write(&mut session, "exec", &0x14u64.to_le_bytes()).unwrap();
    assert_eq!(active(&session), [2, 4]);
    assert_eq!(session.wave(WAVE).unwrap().exec.unwrap().0, 0x14);
    assert_eq!(session.focus(WAVE), LaneId(2));
}

#[test]
fn the_pc_is_where_it_was_set_to() {
    let mut session = session();
    write(&mut session, "pc", &0x7f00_0000_1234_u64.to_le_bytes()).unwrap();
    assert_eq!(session.wave(WAVE).unwrap().pc.unwrap().0, 0x7f00_0000_1234);
    assert_eq!(session.backtrace(WAVE, None).unwrap().frames[0].pc.unwrap().0, 0x7f00_0000_1234);
}

#[test]
fn a_register_is_written_as_a_whole() {
    let mut session = session();
    for bytes in [&[][..], &[1, 2, 3], &[1, 2, 3, 4, 5]] {
        let refused = write(&mut session, "s0", bytes).unwrap_err();
        assert_eq!(refused.to_string(), format!("s0 takes 4 bytes, not {}", bytes.len()));
    }
    assert_eq!(scalar(&session, "s0"), Some(0x0403_0201));
    let nobody = session.write_register(WaveId(9), session.kind().named("s0").unwrap().id, &[0; 4]);
    assert!(matches!(nobody, Err(ChangeError::ReadError(_))), "{nobody:?}");
}
