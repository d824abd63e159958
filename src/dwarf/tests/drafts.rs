//! Numbers of the draft dialect.

use super::super::draft::{Numbers, NumbersError, builtin};

#[test]
fn the_built_in_file_is_sound() {
    let numbers = Numbers::parse(include_str!("../draft.toml")).unwrap();
    assert_eq!(numbers, builtin());
    assert!(numbers.tag("object_map").is_some() && numbers.attribute("vec_location").is_some());
    assert_eq!(numbers.forms_cfa(0x31), Some(true));
}

#[test]
fn a_file_may_give_other_numbers() {
    let numbers = Numbers::parse("[operations]\npush_lane = 0xab\n").unwrap();
    assert_eq!(numbers.operation(0xab).map(|(name, _)| name), Some("DW_OP_push_lane"));
    assert!(numbers.operation(0xe2).is_none());
    assert_eq!(numbers.tag("object_map"), None);
}

#[test]
fn what_is_taken_or_unknown_is_refused() {
    let refused = |text: &str| Numbers::parse(text).unwrap_err();
    let taken = |error| matches!(error, NumbersError::Taken { .. });
    assert!(taken(refused("[operations]\npush_lane = 0x30\n")));
    assert!(taken(refused("[operations]\npush_lane = 0xe2\noffset = 0xe2\n")));
    assert!(taken(refused("[call_frame_instructions]\ndef_aspace_cfa = 0x0c\n")));
    assert!(taken(refused("[call_frame_instructions]\ndef_aspace_cfa = 0x41\n")));
    assert!(matches!(refused("[operations]\nfoo = 0xe2\n"), NumbersError::Unknown { .. }));
    assert!(matches!(refused("[tags]\nfoo = 1\n"), NumbersError::Unknown { .. }));
    assert!(matches!(refused("[words]\n"), NumbersError::Syntax(_)));
}
