use super::{near, parse, version};
use crate::arch::Targets;

/// gfx_target_version is decimal, names are hexadecimal in their last two digits.
#[test]
fn names_and_numbers() {
    for (number, name) in
        [(90010, "gfx90a"), (90402, "gfx942"), (110501, "gfx1151"), (120001, "gfx1201"), (90000, "gfx900")]
    {
        assert_eq!(parse(name), Some(version(number)), "{name}");
    }
    for name in ["gfx", "gfx9", "gfx1", "r600", "gfx9-generic", "gfx90ä"] {
        assert!(parse(name).is_none(), "{name}");
    }
}

#[test]
fn the_nearest_has_the_same_minor_version() {
    let targets = Targets::builtin();
    let first = |version| near(version, &targets).into_iter().next();
    assert_eq!(first((9, 4, 9)).as_deref(), Some("gfx942"));
    assert_eq!(first((10, 3, 9)).as_deref(), Some("gfx1030"));
    assert_eq!(first((11, 0, 9)).as_deref(), Some("gfx1102"));
    assert_eq!(first((12, 0, 7)).as_deref(), Some("gfx1201"));
    assert_eq!(first((13, 0, 0)), None);
}
