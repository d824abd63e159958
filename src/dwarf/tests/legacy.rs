//! The idioms for many lanes at once, and what is none of them.

use super::super::legacy::{Scratch, check_size, is_extension, recognise};
use super::super::*;
use super::fake::Fake;
use super::program;
use crate::units::{BitSize, LaneId, LaneSet};

const LANES: Focus = Focus::Lanes(LaneSet(0xf0));

fn meant(context: &Fake, hex: &str, focus: Focus) -> Option<Vec<Group<Location>>> {
    recognise(context, &program(hex), Scratch::Buffer, focus)
}

#[test]
fn every_lane_has_its_own_slot_and_its_own_dword() {
    let context = Fake::with(program("30"), program("30"), program("53"));
    let words = |hex, lane| {
        let groups = meant(&context, hex, LANES).unwrap();
        print::location(groups[0].result.as_ref().unwrap(), LaneId(lane), &print::NoNames)
    };
    // Register 3 holds 3000 bytes of the wave: 46 of a lane.
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
        "91 14",
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
fn what_is_missing_is_said() {
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
        check_size(&found.at(LaneId(5)), BitSize(bits)).map_err(|error| error.cause)
    };
    assert_eq!(fits("92 14 00 35 16 18", 32), Ok(()));
    let beyond = Err(Cause::BeyondStorage { offset: 0, wanted: 64, size: 32 });
    assert_eq!(fits("92 14 00 35 16 18", 64), beyond);
    // A scalar register of 32 bits, one of 64, a slot.
    assert_eq!(fits("92 03 00 35 16 18", 64), beyond);
    assert_eq!(fits("92 0a 00 35 16 18", 64), Ok(()));
    assert_eq!(fits("91 14 35 16 18", 1 << 16), Ok(()));
}
