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
    assert!(taken(refused("[tags]\nobject_map = 0x34\n")));
    assert!(taken(refused("[attributes]\nnum_lanes = 0\n")));
    assert!(matches!(refused("[operations]\nfoo = 0xe2\n"), NumbersError::Unknown { .. }));
    assert!(matches!(refused("[tags]\nfoo = 1\n"), NumbersError::Unknown { .. }));
    assert!(matches!(refused("[words]\n"), NumbersError::Syntax(_)));
}

#[test]
fn errors_have_the_line_and_the_key() {
    let refused = |text: &str| Numbers::parse(text).unwrap_err().to_string();
    let text = "# numbers\n[attributes]\nnum_lanes = 0x3f85\n\nlane_pc = 0x49\n";
    assert_eq!(refused(text), "line 5: attributes.lane_pc: 0x49 is taken by DW_AT_type");
    let text = "[operations]\noffset = 0xe3\nlanes = 0xe4\n";
    assert_eq!(refused(text), "line 3: operations.lanes: no draft has that name");
    for (text, line, key) in [
        ("[operations]\n\noffset = 0x1e3\n", "line 3", "offset = 0x1e3"),
        ("[operations]\noffset = \"e3\"\n", "line 2", "offset = \"e3\""),
        ("[operations]\noffset = -1\n", "line 2", "offset = -1"),
        ("[operations]\noffset = 0xe3\noffset = 0xe4\n", "line 3", "offset = 0xe4"),
        ("[tags]\n[frames]\n", "line 2", "[frames]"),
        ("operations\n", "line 1", "operations"),
    ] {
        let words = refused(text);
        assert!(words.contains(line) && words.contains(key), "{words}");
    }
}

#[test]
fn numbers_of_vendors_may_be_taken() {
    // DW_AT_LLVM_lanes in LLVM's Dwarf.def, and an unused number of DWARF 5.
    let numbers = Numbers::parse("[attributes]\nnum_lanes = 0x3e11\nlane_pc = 0x8d\n").unwrap();
    assert_eq!(numbers.attribute_named(0x3e11), Some("num_lanes"));
    assert_eq!(numbers.attribute("lane_pc"), Some(0x8d));
    assert_eq!(numbers.attribute_named(0x3f85), None);
}
