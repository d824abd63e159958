use std::collections::BTreeSet;

use super::*;

#[test]
fn each_source_has_a_bit_a_name_and_a_mark_of_its_own() {
    let bits: BTreeSet<u16> = InferredBy::ALL.iter().map(|by| by.bit()).collect();
    let names: BTreeSet<&str> = InferredBy::ALL.iter().map(|by| by.name()).collect();
    let marks: BTreeSet<&str> = InferredBy::ALL.iter().map(|by| by.mark()).collect();
    assert_eq!([bits.len(), names.len(), marks.len()], [InferredBy::ALL.len(); 3]);
    for by in InferredBy::ALL {
        assert!(by.words().starts_with("inferred: "), "{by:?}");
        assert_eq!(Inferred::NONE.with(by).by().collect::<Vec<_>>(), [by]);
        assert_eq!(Inferred::from_iter([by, by]), Inferred::NONE.with(by));
        assert_eq!(serde_json::to_value(by).unwrap(), by.name());
    }
}

#[test]
fn marks_of_locations() {
    let kernel = Inferred::NONE.with(InferredBy::KernelFrame);
    let both = Provenance::of(Some(Idiom::PrivateFrame));
    let both = Provenance { inferred: both.inferred.or(kernel), ..both };
    for (provenance, suffix) in [
        (Provenance::default(), ""),
        (Provenance::of(Some(Idiom::Xderef)), " (clang xderef)"),
        (Provenance::of(Some(Idiom::LaneDword)), " (inferred: lane's dword)"),
        (
            Provenance { idiom: Some(Idiom::Xderef), inferred: kernel },
            " (clang xderef; inferred: kernel's frame at 0)",
        ),
        (both, " (inferred: private frame, kernel's frame at 0)"),
        (Provenance { idiom: None, inferred: kernel }, " (inferred: kernel's frame at 0)"),
    ] {
        assert_eq!(provenance.suffix(), suffix);
    }
    assert_eq!(both.inferred.sources(), [InferredBy::PrivateFrame, InferredBy::KernelFrame]);
    assert_eq!(Inferred::NONE.suffix(), "");
}

/// The helpers of gdb and lldb have the marks of the names in packets.
#[test]
fn helpers_have_each_mark() {
    let helper = include_str!("../../clients/lanescope_format.py");
    for by in InferredBy::ALL {
        let entry = format!("    \"{}\": \"{}\",\n", by.name(), by.mark());
        assert!(helper.contains(&entry), "{entry}");
    }
}
