//! Target files repeat facts on purpose; similar processors must agree.

use super::{every_kind, kind};
use crate::arch::{Processor, Targets, WaveArch};
use crate::units::WaveSize;

/// Processors that differ only in name and machine.
const ALIKE: [&[&str]; 7] = [
    &["gfx900", "gfx906"],
    &["gfx908", "gfx90a"],
    &["gfx942", "gfx950"],
    &["gfx1010", "gfx1030"],
    &["gfx1100", "gfx1101", "gfx1102", "gfx1151"],
    &["gfx1200", "gfx1201"],
    &["gfx1250", "gfx1251"],
];

/// Everything about registers, without the target's name.
fn registers(kind: &WaveArch) -> String {
    let ranges: Vec<_> = kind.dwarf_ranges().map(|range| (range.first, range.last, range.names)).collect();
    format!("{:?} {:?} {:?} {ranges:?}", kind.registers(), kind.bit_fields(), kind.dbgapi())
}

#[test]
fn members_of_a_family_have_the_same_registers_and_faults() {
    for family in ALIKE {
        for size in [WaveSize::W32, WaveSize::W64] {
            let targets = Targets::builtin();
            let kinds: Vec<_> = family.iter().filter_map(|name| targets.kind(name, size).ok()).collect();
            for pair in kinds.windows(2) {
                let names = (&pair[0].target.name, &pair[1].target.name);
                assert!(registers(&pair[0]) == registers(&pair[1]), "{names:?} {size}");
                assert_eq!(pair[0].target.fault_bits, pair[1].target.fault_bits, "{names:?}");
            }
        }
    }
}

#[test]
fn all_targets_have_the_same_spaces_classes_and_stop_reasons() {
    let first = kind("gfx900", WaveSize::W64);
    for kind in every_kind() {
        let (target, first) = (&kind.target, &first.target);
        let mut spaces = first.spaces.clone();
        if kind.named("v256").is_some() {
            // gfx12.5 has other apertures.
            for space in &mut spaces {
                space.aperture = None;
                space.has_aperture &= space.name == "local";
            }
        }
        assert_eq!(format!("{:?}", target.spaces), format!("{spaces:?}"), "{}", target.name);
        assert_eq!(target.reserved_spaces, first.reserved_spaces, "{}", target.name);
        assert_eq!(target.address_classes, first.address_classes, "{}", target.name);
        assert_eq!(target.stop_reasons, first.stop_reasons, "{}", target.name);
        assert_eq!(target.trap_ids, first.trap_ids, "{}", target.name);
    }
}

#[test]
fn only_the_matrix_gpus_have_accumulation_registers() {
    for kind in every_kind() {
        let matrix = ["gfx908", "gfx90a", "gfx942", "gfx950"].contains(&kind.target.name.as_str());
        assert_eq!(kind.named("a0").is_some(), matrix, "{}", kind.target.name);
        assert_eq!(kind.named("a255").is_some(), matrix, "{}", kind.target.name);
    }
}

#[test]
fn gfx12_keeps_its_state_in_registers_of_its_own() {
    for kind in every_kind() {
        let gfx12 = kind.target.name.starts_with("gfx12");
        for name in ["state_priv", "excp_flag_priv", "excp_flag_user", "trap_ctrl", "scratch_base"] {
            assert_eq!(kind.named(name).is_some(), gfx12, "{} {name}", kind.target.name);
        }
        for name in ["trapsts", "flat_scratch"] {
            assert_eq!(kind.named(name).is_none(), gfx12, "{} {name}", kind.target.name);
        }
    }
}

/// AMDGPUUsage, "Generic Processors": compatible processors.
#[test]
fn code_runs_on_its_own_processor_and_generic_code_on_its_family() {
    let fits = |code: &str, gpu: &str| {
        let target = Targets::builtin().target(gpu).unwrap();
        Processor::named(code).unwrap().runs_on_target(&target)
    };
    let families: [(&str, &[&str]); 7] = [
        ("gfx9-generic", &["gfx900", "gfx906"]),
        ("gfx9-4-generic", &["gfx942", "gfx950"]),
        ("gfx10-1-generic", &["gfx1010"]),
        ("gfx10-3-generic", &["gfx1030"]),
        ("gfx11-generic", &["gfx1100", "gfx1101", "gfx1102", "gfx1151"]),
        ("gfx12-generic", &["gfx1200", "gfx1201"]),
        ("gfx12-5-generic", &["gfx1250", "gfx1251"]),
    ];
    let targets = Targets::builtin();
    for gpu in targets.names() {
        for code in targets.names() {
            assert_eq!(fits(code, gpu), code == gpu, "{code} on {gpu}");
        }
        for (generic, members) in families {
            assert_eq!(fits(generic, gpu), members.contains(&gpu), "{generic} on {gpu}");
        }
    }
    // Steppings are separate processors.
    assert!(!fits("gfx1036", "gfx1030") && fits("gfx1036", "gfx1036") && fits("gfx10-3-generic", "gfx1036"));
    assert!(fits("gfx9-4-generic", "gfx940") && fits("gfx9-generic", "gfx90c"));
}
