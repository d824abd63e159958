//! Limit of the full names of one name.

use super::super::using::{MAX_FULL_NAMES, Names};

#[test]
fn names_of_a_name_are_bounded() {
    let mut names = Names::default();
    (0..1000).for_each(|index| names.add(format!("ns{index}::x")));
    assert_eq!(names.0.len(), MAX_FULL_NAMES);
    assert_eq!(names.0[0], "ns0::x");
}
