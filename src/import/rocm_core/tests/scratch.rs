use super::{NoScratch, Scratch};

/// The worked example: 256 waves of 4096 bytes on 8 engines; engine 3, slot 7 is wave 103.
#[test]
fn a_waves_part() {
    let scratch = Scratch { base: 0x7f00_0000_0000, wave_size: 4096, waves: 256 / 8 };
    assert_eq!(scratch.of(3, 7), Ok(0x7f00_0000_0000 + 0x67000));
    let scratch = Scratch { base: u64::MAX - 4095, wave_size: 4096, waves: 1 };
    assert_eq!(scratch.of(0, 0), Ok(u64::MAX - 4095));
    assert_eq!(scratch.of(0, 1), Err(NoScratch::Outside));
}
