//! The fallback target of each processor.

use super::{near, nearest, parse, version};
use crate::arch::{Processor, Targets};

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

#[test]
fn a_processor_without_a_target_is_read_as_one_alike() {
    let targets = Targets::builtin();
    let alike =
        |name: &str| nearest(&targets, Processor::named(name).unwrap()).map(|target| target.name.clone());
    for (name, target) in [
        ("gfx942", Some("gfx942")),
        ("gfx1031", Some("gfx1031")),
        ("gfx1012", Some("gfx1012")),
        ("gfx1103", Some("gfx1103")),
        ("gfx1150", Some("gfx1150")),
        ("gfx803", None),
        ("gfx1250", Some("gfx1250")),
        // AMDGPUUsage, "Generic Processors": the first processor with a target file among those that run the code.
        ("gfx9-generic", Some("gfx900")),
        ("gfx9-4-generic", Some("gfx942")),
        ("gfx10-3-generic", Some("gfx1030")),
        ("gfx12-generic", Some("gfx1200")),
        ("gfx12-5-generic", Some("gfx1250")),
    ] {
        assert_eq!(alike(name).as_deref(), target, "{name}");
    }
}
