//! Registers: absent dwords, and aliases in the last SGPRs.

use super::Maker;
use crate::arch::RegId;
use crate::session::{ChangeError, ReadError, Reader, Session, Storage as _, Waves as _};
use crate::units::{WaveId, WaveSize};

#[test]
fn absent_registers_and_lanes_are_unknown() {
    let mut maker = Maker::new("gfx90a");
    let lanes: Vec<u8> = (0u32..64).flat_map(u32::to_le_bytes).collect();
    maker.wave(WaveSize::W64, None, &[("pc", &[1, 2, 3, 4, 5, 6, 7, 8], 3), ("v3", &lanes, 0xff00)]);
    let session = Session::new(maker.finish(), None).unwrap();
    let read = |name: &str| session.register(WaveId(0), session.kind().named(name).unwrap().id).unwrap();
    assert_eq!(read("pc").scalar(), Some(0x0807_0605_0403_0201));
    assert_eq!(read("v3").known(), 0xff00);
    assert_eq!(read("v3").dword(9), Some(9));
    assert_eq!(read("v3").dword(7), None);
    assert_eq!(read("v4").known(), 0);
    assert_eq!(read("exec").scalar(), None);
    let described: Vec<String> =
        session.described().iter().map(|id| session.kind().register(*id).unwrap().name.clone()).collect();
    assert_eq!(described, ["pc", "exec", "v3"]);
}

/// A kind with more registers has indexes that another lacks.
#[test]
fn a_register_of_another_kind_is_refused() {
    let mut maker = Maker::new("gfx90a");
    maker.wave(WaveSize::W64, None, &[("pc", &[0; 8], 3)]);
    let session = Session::new(maker.finish(), None).unwrap();
    let count = u16::try_from(session.kind().registers().len()).unwrap();
    for index in [count, u16::MAX] {
        let expected = ReadError::NoSuchRegister { wave: WaveId(0), index };
        assert_eq!(session.register(WaveId(0), RegId(index)).unwrap_err(), expected);
        let mut writer = Reader::new(std::sync::Arc::clone(session.reader().dump()));
        let refused = writer.write_register(WaveId(0), RegId(index), &[0; 4]).unwrap_err();
        assert_eq!(refused, ChangeError::from(expected));
    }
    assert!(session.register(WaveId(0), RegId(count - 1)).is_ok());
}

/// capture-formats.md 2.6: a 32-SGPR allocation of gfx9 has vcc in s30:31 and flat_scratch in s26:27.
#[test]
fn aliases_live_in_the_last_allocated_sgprs() {
    let mut maker = Maker::new("gfx90a");
    let dword = |n: u32| n.to_le_bytes();
    maker.wave(
        WaveSize::W64,
        None,
        &[("s30", &dword(0x11), 1), ("s31", &dword(0x22), 1), ("s26", &dword(0x33), 1)],
    );
    maker.capture.waves[0].sgpr_count = Some(32);
    let session = Session::new(maker.finish(), None).unwrap();
    let read = |name: &str| session.register(WaveId(0), session.kind().named(name).unwrap().id).unwrap();
    assert_eq!(read("vcc").scalar(), Some(0x22_0000_0011));
    assert_eq!(read("flat_scratch").dword(0), Some(0x33));
    assert_eq!(read("flat_scratch").dword(1), None, "s27 was not captured");
    let described: Vec<String> =
        session.described().iter().map(|id| session.kind().register(*id).unwrap().name.clone()).collect();
    assert!(described.contains(&"vcc".to_owned()), "{described:?}");
}

#[test]
fn a_captured_alias_wins_over_its_slots() {
    let mut maker = Maker::new("gfx90a");
    let own = 0x0123_4567_89ab_cdef_u64.to_le_bytes();
    maker.wave(WaveSize::W64, None, &[("s30", &[1, 0, 0, 0], 1), ("vcc", &own, 3)]);
    maker.capture.waves[0].sgpr_count = Some(32);
    let session = Session::new(maker.finish(), None).unwrap();
    let vcc = session.kind().named("vcc").unwrap().id;
    assert_eq!(session.register(WaveId(0), vcc).unwrap().scalar(), Some(0x0123_4567_89ab_cdef));
}
