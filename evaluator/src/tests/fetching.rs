//! Bits and their states.

use super::super::*;
use super::fake::{Fake, byte, dword};
use super::program;
use crate::units::{BitSize, LaneId, LaneSet};

fn located(context: &Fake, hex: &str, lane: LaneId) -> Location {
    Evaluator::new(context).location_for(&program(hex), Some(lane)).unwrap()
}

#[test]
fn bytes_that_were_not_captured_are_marked_alone() {
    let context = Fake::default();
    let location = Location::memory(crate::units::AddressSpace(0), 64, crate::units::Address(20));
    let bits = fetch(&context, &location, None, BitSize(128)).unwrap();
    assert_eq!(bits.whole(), None);
    for index in 0..16 {
        let known = bits.byte(index);
        match byte(0, None, 20 + index as u64) {
            Some(byte) => assert_eq!(known, Ok(byte), "byte {index}"),
            None => assert_eq!(known, Err(Known::NotCaptured), "byte {index}"),
        }
    }
    assert_eq!(bits.byte(9), Err(Known::NotCaptured));
    assert_eq!((bits.bit(71), bits.bit(72), bits.bit(79), bits.bit(80)).1, Known::NotCaptured);
    assert_eq!(bits.bit(80), Known::Value);
    assert_eq!(bits.byte(16), Err(Known::Undefined));
}

#[test]
fn every_bit_offset_and_size_of_memory() {
    let context = Fake::default();
    for offset in 0..24u64 {
        for size in 1..70u64 {
            let mut location = Location::memory(crate::units::AddressSpace(0), 64, crate::units::Address(30));
            location.offset.bytes = Lanes::Uniform(30 + offset / 8);
            location.offset.bits = Lanes::Uniform((offset % 8) as u8);
            let bits = fetch(&context, &location, None, BitSize(size)).unwrap();
            for bit in 0..size {
                let at = 30 * 8 + offset + bit;
                let expected = byte(0, None, at / 8).map(|byte| byte >> (at % 8) & 1);
                let found = (bits.bit(bit) == Known::Value).then(|| {
                    let whole = bits.byte((bit / 8) as usize);
                    whole.map(|byte| byte >> (bit % 8) & 1)
                });
                match (expected, found) {
                    (Some(expected), Some(Ok(found))) => assert_eq!(found, expected, "{offset} {size} {bit}"),
                    // Its byte is only partly known.
                    (Some(_), Some(Err(_))) | (None, None) => {}
                    other => panic!("{offset} {size} {bit}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn objects_are_equal_if_their_bits_and_states_are() {
    let context = Fake::default();
    // The unknown bits of the last three are 0, too.
    let objects = || {
        let missing = Location::memory(crate::units::AddressSpace(0), 64, crate::units::Address(29));
        let fetched = [
            (Location::implicit(&[]), 0),
            (Location::implicit(&[0]), 7),
            (Location::implicit(&[0]), 8),
            (Location::implicit(&[1]), 8),
            (missing, 8),
            (Location::undefined(), 8),
            (Location::undefined(), 7),
        ];
        fetched.map(|(location, size)| fetch(&context, &location, None, BitSize(size)).unwrap())
    };
    for (index, one) in objects().iter().enumerate() {
        for (other, two) in objects().iter().enumerate() {
            assert_eq!(one == two, index == other, "{one:?} {two:?}");
        }
    }
}

#[test]
fn undefined_and_not_captured_are_two_things() {
    let context = Fake::default();
    // Register 0, undefined, register 8, which was not captured.
    let location = located(&context, "50 93 01 93 01 58 93 01", LaneId(0));
    let bits = fetch(&context, &location, None, BitSize(24)).unwrap();
    assert_eq!(bits.byte(0), Ok(0));
    assert_eq!(bits.byte(1), Err(Known::Undefined));
    assert_eq!(bits.byte(2), Err(Known::NotCaptured));
    assert!(!bits.is_undefined());
    let nothing = fetch(&context, &Location::undefined(), None, BitSize(9)).unwrap();
    assert!(nothing.is_undefined());
    assert_eq!(nothing.number(), None);
}

#[test]
fn a_part_in_the_middle_of_bytes() {
    let context = Fake::default();
    // 3 bits of one register, 7 of another: bit k of the object is bit k of the first, then of the second.
    let location = located(&context, "51 9d 03 00 52 9d 07 02", LaneId(0));
    let bits = fetch(&context, &location, None, BitSize(10)).unwrap();
    let expected = u64::from(dword(1, 0) & 7 | (dword(2, 0) >> 2 & 0x7f) << 3);
    assert_eq!(bits.number(), Some(expected));
}

#[test]
fn a_register_is_read_for_every_lane() {
    let context = Fake::default();
    let groups = Evaluator::new(&context).location(
        &program("64 e9 03 34 1e e9 04"),
        Focus::Lanes(LaneSet(u64::MAX)),
        &[],
    );
    let location = groups[0].result.as_ref().unwrap();
    for (lane, bits) in fetch_lanes(&context, location, groups[0].lanes, BitSize(32)) {
        let expected = (lane.0 != 20).then(|| u64::from(dword(20, u32::from(lane.0))));
        assert_eq!(bits.unwrap().number(), expected, "lane {lane}");
    }
}

#[test]
fn objects_one_after_another_are_each_their_own() {
    let context = Fake::default();
    let registers = [(1, located(&context, "51", LaneId(0))), (2, located(&context, "52", LaneId(0)))];
    let mut fetcher = Fetcher::new(&context);
    for (register, location) in registers.iter().cycle().take(5) {
        let bits = fetcher.fetch(location, None, BitSize(32)).unwrap();
        assert_eq!(bits.number(), Some(u64::from(dword(*register, 0))), "register {register}");
    }
}

/// clang describes the lower half of a pointer alone if it keeps the upper one nowhere.
#[test]
fn bits_behind_the_last_piece_are_undefined_in_a_larger_object() {
    let context = Fake::default();
    // DW_OP_lit5, DW_OP_stack_value, DW_OP_piece 4.
    let half = located(&context, "35 9f 93 04", LaneId(3));
    assert!(fetch(&context, &half, Some(LaneId(3)), BitSize(64)).is_err());
    let whole = half.clone().filled(BitSize(64));
    let bits = fetch(&context, &whole, Some(LaneId(3)), BitSize(64)).unwrap();
    assert_eq!(bits.bit(0), Known::Value);
    assert_eq!(
        (bits.bit(31), bits.bit(32), bits.bit(63)),
        (Known::Value, Known::Undefined, Known::Undefined)
    );
    let named = explain::undefined(&whole, LaneId(3));
    assert!(
        named.iter().any(|part| part.to_string().contains("the pieces end before the object")),
        "{named:?}"
    );
    // Smaller objects, and places without pieces, are as they were.
    for (hex, size) in [("35 9f 93 04", 32), ("35 9f", 32), ("51", 32)] {
        let place = located(&context, hex, LaneId(3));
        let fetched = |at: &Location| format!("{:?}", fetch(&context, at, Some(LaneId(3)), BitSize(size)));
        assert_eq!(fetched(&place), fetched(&place.clone().filled(BitSize(size))), "{hex}");
    }
}

/// A reader of expressions alone finds the gaps that the evaluation finds.
#[test]
fn pieces_without_a_location_leave_out_bits() {
    let context = Fake::default();
    // lit5, stack_value, piece 4; with `DW_OP_LLVM_undefined`, and `DW_OP_LLVM_piece_end`.
    for (hex, bytes, is_left_out) in [
        ("35 9f 93 04", 8, true),
        ("35 9f 93 04", 4, false),
        ("35 9f 93 04", 2, false),
        ("93 04 35 9f 93 04", 8, true),
        ("35 9f 93 04 93 04", 8, true),
        ("35 9f 93 04 93 04", 4, false),
        ("35 9f 93 04 36 9f 93 04", 8, false),
        ("35 9f 93 04 e9 08 93 04", 8, true),
        ("35 9f 93 04 96 93 04", 8, true),
        ("35 9f 9d 10 00", 4, true),
        ("35 9f 93 04 e9 0a", 8, true),
    ] {
        let size = BitSize(bytes * 8);
        assert_eq!(program(hex).leaves_out(size), is_left_out, "{hex} {bytes}");
        let place = located(&context, hex, LaneId(3)).filled(size);
        let bits = fetch(&context, &place, Some(LaneId(3)), size).unwrap();
        let is_undefined = (0..size.0).any(|bit| bits.bit(bit) == Known::Undefined);
        assert_eq!(is_undefined, is_left_out, "{hex} {bytes}");
    }
    // Without pieces, and with pieces that a branch (`DW_OP_skip 0`) or a composite (draft) decides.
    for hex in ["", "51", "35 9f", "e9 08", "2f 00 00 93 04"] {
        assert!(!program(hex).leaves_out(BitSize(64)), "{hex}");
    }
}

#[test]
fn beyond_the_storage_is_ill_formed() {
    let context = Fake::default();
    let location = located(&context, "50", LaneId(0));
    assert!(fetch(&context, &location, None, BitSize(32)).is_ok());
    assert_eq!(fetch(&context, &location, None, BitSize(33)).unwrap_err().class(), Class::IllFormed);
    let pointer = located(&context, "a0 02 00 00 00 00", LaneId(0));
    assert_eq!(fetch(&context, &pointer, None, BitSize(64)).unwrap_err().class(), Class::IllFormed);
}
