//! The idioms for many lanes at once, and expressions that are not idioms.

use super::super::clang_xderef::{
    Idiom, Meaning, Reading, Scratch, check_size, in_local_memory, is_extension, lone_register, of_object,
    recognise,
};
use super::super::*;
use super::fake::Fake;
use super::program;
use crate::units::{BitSize, DwarfReg, LaneId, LaneSet};

const LANES: Focus = Focus::Lanes(LaneSet(0xf0));

fn meant(context: &Fake, hex: &str, focus: Focus) -> Option<Vec<Group<Location>>> {
    read(context, hex, None, focus, true).map(|meaning| meaning.groups)
}

fn read(context: &Fake, hex: &str, size: Option<u64>, focus: Focus, clang: bool) -> Option<Meaning> {
    let reading = Reading { clang, scratch: Scratch::Buffer };
    recognise(context, &program(hex), reading, size.map(|bytes| BitSize(bytes * 8)), focus)
}

/// The idiom, and the object's location in lane 5 or the reason that it is undefined.
fn bare(context: &Fake, hex: &str, size: Option<u64>) -> Option<(Idiom, String)> {
    let Meaning { idiom, groups } = read(context, hex, size, LANES, false)?;
    let words = match &groups[0].result {
        Ok(location) => print::location(&location.at(LaneId(5)), LaneId(5), &print::NoNames),
        Err(error) => error.to_string(),
    };
    Some((idiom, words))
}

#[test]
fn every_lane_has_its_own_slot_and_its_own_dword() {
    let context = Fake::with(program("30"), program("30"), program("53"));
    let words = |hex, lane| {
        let groups = meant(&context, hex, LANES).unwrap();
        print::location(groups[0].result.as_ref().unwrap(), LaneId(lane), &print::NoNames)
    };
    // Register 3 contains 3000, bytes of the wave: 46 of a lane.
    assert_eq!(words("91 14 35 16 18", 5), "space 0x5[5]+0x42");
    assert_eq!(words("91 14 35 16 18", 7), "space 0x5[7]+0x42");
    assert_eq!(words("92 14 00 35 16 18", 6), "register 20 lane 6");
}

#[test]
fn other_shapes_are_none() {
    let context = Fake::with(program("30"), program("30"), program("53"));
    for hex in [
        "",
        "93 04",
        "91 14 35 16",
        "91 14 32 16 18",
        "91 14 35 16 18 9f",
        "91 14 35 16 95 08 93 04 51",
        "92 14 04 35 16 18",
        "91 14 35 16 18 91 14 35 16 18",
        "91 14 35 16 18 93 04 51",
        "11 7f 35 16 18",
        "a1 00 35 16 18",
        "a1 07 31 16 18",
    ] {
        assert!(meant(&context, hex, LANES).is_none(), "{hex}");
    }
}

#[test]
fn missing_parts_are_reported() {
    let class = |context: &Fake, hex, focus| {
        meant(context, hex, focus).unwrap()[0].result.as_ref().unwrap_err().class()
    };
    let context = Fake::with(program("30"), program("30"), program("53"));
    assert_eq!(class(&context, "91 14 35 16 18", Focus::Wave), Class::Unavailable);
    assert_eq!(class(&context, "92 14 00 35 16 18", Focus::Wave), Class::Unavailable);
    let uncaptured = Fake::with(program("30"), program("30"), program("58"));
    assert_eq!(class(&uncaptured, "91 14 35 16 18", LANES), Class::Unavailable);
    assert_eq!(class(&Fake::default(), "91 14 35 16 18", LANES), Class::IllFormed);
}

#[test]
fn operations_of_the_extensions_are_known_as_such() {
    let any = |hex| program(hex).operations().iter().any(|placed| is_extension(&placed.operation));
    assert!(any("31 e9 03"));
    assert!(any("e9 08"));
    assert!(!any("91 14 35 16 18 93 04"));
}

#[test]
fn an_object_lies_within_what_its_idiom_describes() {
    let context = Fake::with(program("30"), program("30"), program("53"));
    let fits = |hex, bits| {
        let found = meant(&context, hex, LANES).unwrap().remove(0).result.unwrap();
        check_size(&found, LaneId(5), BitSize(bits)).map_err(|error| error.cause)
    };
    assert_eq!(fits("92 14 00 35 16 18", 32), Ok(()));
    let beyond = Err(Cause::NarrowRegister { wanted: 64, size: 32 });
    assert_eq!(fits("92 14 00 35 16 18", 64), beyond);
    // A scalar register of 32 bits, one of 64, a slot.
    assert_eq!(fits("92 04 00 35 16 18", 64), beyond);
    assert_eq!(fits("92 0a 00 35 16 18", 64), Ok(()));
    assert_eq!(fits("91 14 35 16 18", 1 << 16), Ok(()));
}

/// compiled-code.md, section 4: a vector register wider than the object means the lane's own dword.
#[test]
fn a_vector_register_that_is_wider_than_the_object_means_the_lanes_dword() {
    let context = Fake::default();
    let lane = |words: &str| Some((Idiom::LaneDword, words.to_owned()));
    for size in [1, 2, 3, 4] {
        assert_eq!(bare(&context, "90 14", Some(size)), lane("register 20 lane 5"), "{size}");
    }
    // Two registers: a pointer of 64 bits.
    let pair = bare(&context, "90 14 93 04 90 15 93 04", Some(8)).unwrap();
    assert_eq!(pair.0, Idiom::LaneDword);
    let bits = |hex: &str, size: u64| {
        let meaning = read(&context, hex, Some(size), LANES, false).unwrap();
        let location = meaning.groups[0].result.as_ref().unwrap().at(LaneId(6));
        fetch(&context, &location, Some(LaneId(6)), BitSize(size * 8)).unwrap()
    };
    let dword = |register: u64| register * 1000 + 6;
    assert_eq!(bits("90 14 93 04 90 15 93 04", 8).number(), Some(dword(20) | dword(21) << 32));
    assert_eq!(
        bits("90 14 93 02 90 15 93 02", 4).number(),
        Some(dword(20) & 0xffff | (dword(21) & 0xffff) << 16)
    );
    // A value computed from one: the lane's dword and 63.
    assert_eq!(bits("92 14 00 10 3f 1a 9f", 4).number(), Some(dword(20) & 63));
    // 16 bits from bit 16 on: the upper half (`bit_piece 16 16`).
    let half = bare(&context, "90 14 9d 10 10", Some(2)).unwrap();
    assert_eq!(half, (Idiom::LaneDword, "[register 20 lane 5 bit 16 16 bits]".to_owned()));
    assert_eq!(bits("90 14 9d 10 10", 2).number(), Some(dword(20) >> 16));
    assert_eq!(
        bits("90 14 9d 10 00 90 15 9d 10 00", 4).number(),
        Some(dword(20) & 0xffff | (dword(21) & 0xffff) << 16)
    );
    // The upper half of a dword has 16 bits.
    let wide = bare(&context, "90 14 9d 18 10", Some(3)).unwrap();
    assert!(wide.1.contains("24 bits at bit 16 exceed the storage of 32 bits"), "{wide:?}");
    // The next lane's dword is not part of an object of 8 bytes.
    let wide = bare(&context, "90 14 93 08", Some(8)).unwrap();
    assert!(wide.1.contains("64 bits at bit 0 exceed the storage of 32 bits"), "{wide:?}");
    for (hex, clang) in [("90 14", false), ("92 14 00 35 16 18", true)] {
        // clang's register of an object of 8 bytes would hold its address.
        let meaning = read(&context, hex, Some(if clang { 4 } else { 8 }), LANES, clang).unwrap();
        let location = meaning.groups[0].result.as_ref().unwrap().at(LaneId(6));
        assert!(check_size(&location, LaneId(6), BitSize(32)).is_ok(), "{hex}");
        assert_eq!(
            check_size(&location, LaneId(6), BitSize(64)).unwrap_err().class(),
            Class::IllFormed,
            "{hex}"
        );
    }
}

/// Specification texts: a register location is the whole register, for an object that fills it or has an unknown size.
#[test]
fn a_vector_register_that_the_object_fills_is_read_by_the_book() {
    let context = Fake::default();
    for size in [Some(256), Some(300), None] {
        assert_eq!(bare(&context, "90 14", size), None, "{size:?}");
    }
    assert_eq!(bare(&context, "90 14 93 80 02", Some(256)), None);
    // Scalars, constants and expressions with the extensions' operations keep DWARF's meaning.
    for hex in [
        "53",
        "5a",
        "30 9f",
        "90 14 e9 03",
        "90 14 28 00 00",
        "92 0a 00 31 22 9f",
        "92 14 00 93 04 92 15 00 93 04",
    ] {
        assert_eq!(bare(&context, hex, Some(4)), None, "{hex}");
    }
}

/// compiled-code.md, section 5: `fbreg`, and a displacement from the frame register, mean private memory of the lane.
#[test]
fn an_offset_to_a_frame_register_of_32_bits_is_private_memory() {
    let context = Fake::with(program("30"), program("30"), program("53"));
    let private = |words: &str| Some((Idiom::PrivateFrame, words.to_owned()));
    // Register 3 contains 3000, bytes of the wave: 46 of a lane.
    for hex in ["91 14", "92 03 14"] {
        assert_eq!(bare(&context, hex, Some(4)), private("space 0x5[5]+0x42"), "{hex}");
    }
    // Other registers do not.
    assert_eq!(bare(&context, "92 04 14", Some(4)), None);
    // A slot's contents are a generic address.
    let bytes: Vec<u8> = (0x42..0x4a).filter_map(|at| super::fake::byte(5, Some(LaneId(5)), at)).collect();
    if let Ok(bytes) = <[u8; 8]>::try_from(bytes) {
        let address = u64::from_le_bytes(bytes);
        assert_eq!(bare(&context, "91 14 06", Some(4)), private(&format!("space 0x1[5]+{address:#x}")));
    }
    // A frame base other than a register, or a register wider than private addresses, follows DWARF's definitions.
    for base in ["70 00", "30"] {
        let context = Fake::with(program("30"), program("30"), program(base));
        assert_eq!(bare(&context, "91 14", Some(4)), None, "{base}");
    }
    // A register that was not captured.
    let uncaptured = Fake::with(program("30"), program("30"), program("58"));
    let (idiom, words) = bare(&uncaptured, "91 14", Some(4)).unwrap();
    assert_eq!(idiom, Idiom::PrivateFrame);
    assert!(words.contains("register 8 was not captured"), "{words}");
}

/// compiled-code.md, section 5: flang's expressions for the numbers of an array's descriptor.
#[test]
fn attributes_of_an_object_count_from_its_place() {
    let value = |hex: &str, initial: &[Entry]| {
        let program = of_object(&program(hex));
        Evaluator::new(&Fake::default()).value(&program, Focus::Lanes(LaneSet::one(LaneId(7))), initial)[0]
            .result
            .clone()
    };
    // The fake's object is at byte 0x40 of lane 7's private memory.
    let at = |address: u64, bytes: u64| {
        let byte = |at| super::fake::byte(5, Some(LaneId(7)), at).unwrap();
        (0..bytes).rev().fold(0, |number, index| number << 8 | u64::from(byte(address + index)))
    };
    assert_eq!(value("97 23 04 94 04", &[]).unwrap().low().get(LaneId(7)), at(0x44, 4));
    assert_eq!(value("97 34 22 94 04", &[]).unwrap().low().get(LaneId(7)), at(0x44, 4));
    assert_eq!(value("34 97 22 94 04", &[]).unwrap().low().get(LaneId(7)), at(0x44, 4));
    // The dimension is on the stack before: over, lit4, mul, plus.
    let dimension = [Entry::Number(Number::generic(2))];
    assert_eq!(value("97 14 34 1e 22 94 01", &dimension).unwrap().low().get(LaneId(7)), at(0x48, 1));
    // Additions to a read value stay additions.
    for hex in ["97 06 23 04 9f", "31 23 04 9f", "97 16 22"] {
        assert_eq!(of_object(&program(hex)), program(hex), "{hex}");
    }
}

/// LLVM describes an object that it moved to LDS like one in the register with its address.
#[test]
fn the_address_of_an_object_in_lds_is_in_a_lone_register() {
    let context = Fake::with(program("30"), program("30"), program("53"));
    let register = program("92 14 00 31 16 18");
    assert_eq!(lone_register(&context, &register), Some(DwarfReg(20)));
    let Meaning { idiom, groups } = in_local_memory(&context, &register, LANES).unwrap();
    assert_eq!(idiom, Idiom::LocalAddress);
    for lane in [5, 7] {
        let group = groups.iter().find(|group| group.lanes.contains(LaneId(lane))).unwrap();
        let location = group.result.as_ref().unwrap().at(LaneId(lane));
        let words = print::location(&location, LaneId(lane), &print::NoNames);
        assert_eq!(words, format!("space 0x3+{:#x}", 20_000 + u64::from(lane)));
    }
    // A piece, a scalar register, a slot, a computed value, a constant.
    for hex in [
        "92 14 00 31 16 18 93 04",
        "92 04 00 31 16 18",
        "91 14 31 16 18",
        "92 14 00 31 22 31 16 18 9f",
        "11 7f 31 16 18 9f",
    ] {
        assert_eq!(lone_register(&context, &program(hex)), None, "{hex}");
        assert!(in_local_memory(&context, &program(hex), LANES).is_none(), "{hex}");
    }
}
