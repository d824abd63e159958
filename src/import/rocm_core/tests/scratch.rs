use super::{NoScratch, Scratch};

/// Worked example: 256 waves of 4096 bytes on 8 engines; engine 3, slot 7 is wave 103.
#[test]
fn a_waves_part() {
    let scratch =
        Scratch { base: 0x7f00_0000_0000, wave_size: 4096, waves: 256 / 8, engines: 8, inferred: None };
    assert_eq!(scratch.of(3, 7), Ok(0x7f00_0000_0000 + 0x67000));
    let scratch = Scratch { base: u64::MAX - 4095, wave_size: 4096, waves: 2, engines: 1, inferred: None };
    assert_eq!(scratch.of(0, 0), Ok(u64::MAX - 4095));
    assert_eq!(scratch.of(0, 1), Err(NoScratch::Outside));
}

/// Memory beyond an engine's waves is the next engine's.
#[test]
fn a_slot_that_an_engine_does_not_have_has_no_part() {
    let scratch = Scratch { base: 0x7f00_0000_0000, wave_size: 4096, waves: 2, engines: 4, inferred: None };
    assert_eq!(scratch.of(3, 1), Ok(0x7f00_0000_7000));
    for (engine, slot) in [(0, 2), (3, 3), (4, 0), (1, u32::MAX)] {
        assert_eq!(scratch.of(engine, slot), Err(NoScratch::Outside), "{engine} {slot}");
    }
}
