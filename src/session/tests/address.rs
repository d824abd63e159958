//! The address codec against docs/protocol.md: tag [63:56], wave + 1 [55:39], lane [38:32], offset [31:0].

use crate::session::reading::address::{MAX_WAVES, Token, decode, encode, window};
use crate::units::{Address, AddressSpace, LaneId, WaveId};

#[test]
fn fields_are_at_the_bits_of_the_picture() {
    let token = |address| decode(address);
    // By hand: tag 5, wave field 2 (ordinal 1), lane 17, offset 0x10.
    let address = 5 << 56 | 2 << 39 | 17 << 32 | 0x10;
    assert_eq!(address, 0x0500_0111_0000_0010_u64);
    let expected =
        Token::Space { space: AddressSpace(5), wave: Some(WaveId(1)), lane: Some(LaneId(17)), offset: 0x10 };
    assert_eq!(token(address), expected);
    assert_eq!(encode(AddressSpace(5), Some(WaveId(1)), Some(LaneId(17)), 0x10), Some(address));
    // The focused wave and lane.
    let focused = 3 << 56 | 0x7f << 32 | 0xffff_fffc;
    let expected = Token::Space { space: AddressSpace(3), wave: None, lane: None, offset: 0xffff_fffc };
    assert_eq!(token(focused), expected);
    assert_eq!(encode(AddressSpace(3), None, None, 0xffff_fffc), Some(focused));
}

#[test]
fn plain_and_meaningless_tags() {
    for address in [0, 0x7f00_0000_1000, 0x00ff_ffff_ffff_ffff, 0xff00_0000_0000_0000, u64::MAX] {
        assert_eq!(decode(address), Token::Plain(Address(address)));
    }
    for tag in [0x01, 0x04, 0x07, 0x1f, 0x60, 0x71, 0x7e, 0x80, 0xfe] {
        let address = tag << 56 | 0x1000;
        assert_eq!(decode(address), Token::Nothing(address), "tag {tag:#x}");
        assert_eq!(encode(AddressSpace(tag), None, None, 0), None, "tag {tag:#x}");
    }
}

#[test]
fn windows_name_wave_and_lane_or_leave_them_to_the_focus() {
    let (wave, lane, offset) = (WaveId(1), LaneId(17), 0x8100_0200);
    // Tag 0x70, wave ordinal 1 plus 1 from bit 39, lane from bit 32 (docs/protocol.md).
    assert_eq!(window(wave, Some(lane), offset), Some(0x7000_0111_8100_0200));
    let explicit = Token::Window { wave: Some(wave), lane: Some(lane), offset };
    assert_eq!(decode(0x7000_0111_8100_0200), explicit);
    assert_eq!(window(wave, None, offset), Some(0x7000_017f_8100_0200));
    assert_eq!(decode(0x7000_017f_8100_0200), Token::Window { wave: Some(wave), lane: None, offset });
    let last = u32::try_from(MAX_WAVES).unwrap();
    assert_eq!(window(WaveId(last), None, 0), None);
}

#[test]
fn a_wave_that_does_not_fit_has_no_address() {
    let last = u32::try_from(MAX_WAVES - 1).unwrap();
    assert!(encode(AddressSpace(6), Some(WaveId(last)), None, 0).is_some());
    assert_eq!(encode(AddressSpace(6), Some(WaveId(last + 1)), None, 0), None);
    assert_eq!(encode(AddressSpace(0), None, None, 0), None);
}

#[test]
fn every_token_comes_back() {
    for tag in (0x20..=0x5f).chain([2, 3, 5, 6]) {
        for wave in [None, Some(WaveId(0)), Some(WaveId(131_069))] {
            for lane in (0..64).map(|lane| Some(LaneId(lane))).chain([None]) {
                let space = AddressSpace(tag);
                let address = encode(space, wave, lane, 0x1234_5678).unwrap();
                assert_eq!(decode(address), Token::Space { space, wave, lane, offset: 0x1234_5678 });
            }
        }
    }
}
