//! Facts of every built-in file, with their sources.

use super::{every_kind, kind};
use crate::arch::{RegClass, RegisterValue, SpaceScope, Targets, ValueType};
use crate::units::{Address, AddressSpace, LaneId, WaveSize};

/// Processor, EF_AMDGPU_MACH (source: `clang-22 -mcpu=`, `llvm-readelf-22 -h`), lanes of its waves (the default
/// first), buffer scratch.
const PROCESSORS: &[(&str, u32, &[u8], bool)] = &[
    ("gfx900", 0x2c, &[64], true),
    ("gfx906", 0x2f, &[64], true),
    ("gfx908", 0x30, &[64], true),
    ("gfx90a", 0x3f, &[64], true),
    ("gfx942", 0x4c, &[64], false),
    ("gfx950", 0x4f, &[64], false),
    ("gfx1010", 0x33, &[32, 64], true),
    ("gfx1030", 0x36, &[32, 64], true),
    ("gfx1100", 0x41, &[32, 64], false),
    ("gfx1101", 0x46, &[32, 64], false),
    ("gfx1102", 0x47, &[32, 64], false),
    ("gfx1151", 0x4a, &[32, 64], false),
    ("gfx1200", 0x48, &[32, 64], false),
    ("gfx1201", 0x4e, &[32, 64], false),
    ("gfx1250", 0x49, &[32], false),
    ("gfx1251", 0x5a, &[32], false),
];

#[test]
fn the_list_has_these_processors_in_amds_order() {
    let targets = Targets::builtin();
    let names: Vec<&str> = targets.names().collect();
    assert_eq!(names, PROCESSORS.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
}

#[test]
fn machine_wave_size_and_scratch_are_those_of_the_compiler() {
    let targets = Targets::builtin();
    for &(name, machine, lanes, buffer) in PROCESSORS {
        let target = targets.target(name).unwrap();
        assert_eq!(target.name, name);
        assert_eq!(target.elf_machine, machine, "{name}");
        let sizes: Vec<u8> = target.wave_sizes.iter().map(|size| size.lanes()).collect();
        assert_eq!(sizes, lanes, "{name}");
        assert_eq!(target.buffer_scratch, buffer, "{name}");
        // e_flags of a code object has features above the machine.
        assert_eq!(targets.by_elf_machine(machine | 0x500).unwrap().name, name);
    }
    assert!(targets.by_elf_machine(0).is_none());
}

#[test]
fn registers_come_general_first_and_trap_last() {
    for kind in every_kind() {
        let classes: Vec<RegClass> = kind.registers().iter().map(|register| register.class).collect();
        assert!(classes.is_sorted(), "{} {}", kind.target.name, kind.wave_size);
        let first: Vec<&str> =
            kind.registers().iter().take(5).map(|register| register.name.as_str()).collect();
        assert_eq!(first, ["pc", "exec", "vcc", "m0", "s0"]);
    }
}

#[test]
fn ids_are_indexes_names_are_found_and_values_have_room() {
    for kind in every_kind() {
        for (index, register) in kind.registers().iter().enumerate() {
            assert_eq!(usize::from(register.id.0), index);
            assert_eq!(kind.named(&register.name).unwrap().id, register.id);
            assert_eq!(
                RegisterValue::unknown(register.dwords).bytes().len(),
                register.bytes(),
                "{}",
                register.name
            );
            assert_eq!(
                register.is_vector(),
                matches!(register.class, RegClass::Vector | RegClass::Accumulator)
            );
            assert_eq!(kind.fields(register).is_some(), register.value_type == ValueType::Flags);
        }
    }
}

#[test]
fn aliases_follow_the_allocation() {
    let gfx9 = kind("gfx90a", WaveSize::W64);
    let limit = gfx9.target.sgpr_alias_limit;
    let first = |name: &str, allocated| gfx9.named(name).unwrap().alias.unwrap().first(limit, allocated);
    // 112 slots: aliases end at 108; 32 slots: at 32.
    assert_eq!((first("vcc", 112), first("flat_scratch", 112)), (Some(106), Some(102)));
    assert_eq!((first("vcc", 32), first("flat_scratch", 32)), (Some(30), Some(26)));
    assert_eq!(first("vcc", 1), None);
    assert!(gfx9.named("xnack_mask").unwrap().alias.is_none(), "it is saved as a hardware register");

    let gfx11 = kind("gfx1100", WaveSize::W32);
    let vcc = gfx11.named("vcc").unwrap().alias.unwrap();
    assert_eq!((vcc.count, vcc.first(108, gfx11.target.sgpr_count)), (1, Some(106)));
    assert!(gfx11.named("flat_scratch").unwrap().alias.is_none(), "architected since gfx10");
}

#[test]
fn bit_fields_split_a_value() {
    let kind = kind("gfx90a", WaveSize::W64);
    let mode = kind.fields(kind.named("mode").unwrap()).unwrap();
    let values: Vec<(&str, u64)> =
        mode.values(0xe000_02f0).map(|(field, value)| (field.name.as_str(), value)).collect();
    assert_eq!(
        values[..4],
        [("FP_ROUND.32", 0), ("FP_ROUND.64_16", 0), ("FP_DENORM.32", 3), ("FP_DENORM.64_16", 3)]
    );
    assert!(values.contains(&("IEEE", 1)) && values.contains(&("CSP", 7)));
    let names = |target: &str, register: &str| {
        let kind = super::kind(target, WaveSize::W64);
        let fields = kind.fields(kind.named(register).unwrap()).unwrap();
        fields.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>()
    };
    assert!(names("gfx942", "trapsts").contains(&"HOST_TRAP".to_owned()));
    assert!(!names("gfx90a", "trapsts").contains(&"HOST_TRAP".to_owned()));
    assert!(names("gfx1200", "status").contains(&"DYN_VGPR_EN".to_owned()));
}

#[test]
fn spaces_have_amds_numbers_and_nulls() {
    for kind in every_kind() {
        let all: Vec<(u64, &str, u8, u64)> = kind.target.spaces[..6]
            .iter()
            .map(|space| (space.id.0, space.name.as_str(), space.address_bits, space.null.0))
            .collect();
        let local_null = 0xffff_ffff;
        assert_eq!(
            all,
            [
                (0, "global", 64, 0),
                (1, "generic", 64, 0),
                (2, "region", 32, 0),
                (3, "local", 32, local_null),
                (5, "private_lane", 32, local_null),
                (6, "private_wave", 32, local_null),
            ]
        );
        assert_eq!(kind.target.spaces.len(), 6 + 64);
        let lane = kind.space(AddressSpace(0x20 + 17)).unwrap();
        assert_eq!((lane.name.as_str(), lane.scope), ("private_lane17", SpaceScope::LaneN(LaneId(17))));
        // gfx12.5: only a capture has the base.
        let base = |base| kind.named("v256").is_none().then_some(Address(base));
        assert_eq!(kind.space(AddressSpace(3)).unwrap().aperture, base(1 << 48));
        assert_eq!(kind.space(AddressSpace(5)).unwrap().aperture, base(2 << 48));
        let last = kind.space(AddressSpace(0x5f)).map(|space| space.scope);
        match kind.wave_size {
            WaveSize::W64 => assert_eq!(last.unwrap(), SpaceScope::LaneN(LaneId(63))),
            WaveSize::W32 => assert_eq!(
                last.unwrap_err().to_string(),
                "address space 0x5f is private memory of lane 63, this is a wave32 wave"
            ),
        }
        for (number, message) in [
            (4, "address space 0x4 is reserved"),
            (0x1f, "address space 0x1f is reserved"),
            (0x60, "there is no address space 0x60"),
        ] {
            assert_eq!(kind.space(AddressSpace(number)).unwrap_err().to_string(), message);
        }
    }
}

#[test]
fn address_classes_depend_on_the_augmentation() {
    let kind = kind("gfx1030", WaveSize::W64);
    let name =
        |augmentation, class| kind.target.address_class(augmentation, class).map(|space| space.name.as_str());
    let seed = Some("[amd:v0.0]");
    let table = [None, Some(1), Some(2), Some(3), Some(4), Some(5), Some(6)].map(|class| name(seed, class));
    let spaces = ["generic", "global", "region", "local", "global", "private_lane"];
    assert_eq!(table[..6], spaces.map(Some));
    assert_eq!(table[6], None);
    for other in [None, Some(""), Some("[llvm:v0.0]")] {
        let table = [None, Some(1), Some(3), Some(4), Some(5), Some(0x21)].map(|class| name(other, class));
        let spaces = [
            Some("global"),
            Some("generic"),
            Some("local"),
            None,
            Some("private_lane"),
            Some("private_lane1"),
        ];
        assert_eq!(table, spaces);
    }
}

#[test]
fn stop_reasons_have_gdbs_signals() {
    let signals = [5, 5, 5, 8, 8, 8, 8, 8, 8, 8, 5, 6, 5, 11, 10, 4, 10, 6];
    for kind in every_kind() {
        let all: Vec<u8> = kind.target.stop_reasons.iter().map(|reason| reason.signal).collect();
        assert_eq!(all, signals);
        let violation = kind.target.stop_reason("memory_violation").unwrap();
        assert_eq!(violation.words, "memory violation (page fault)");
    }
}

/// AMD's library: stop reasons from register values, with the cases of its `signaled_exceptions`.
#[test]
fn faults_follow_from_registers() {
    /// Target, registers, whether only the library's conclusions, stop reasons.
    type Case = (&'static str, &'static [(&'static str, u64)], bool, &'static [&'static str]);
    let cases: [Case; 13] = [
        ("gfx90a", &[("trapsts", 0)], true, &[]),
        ("gfx90a", &[("trapsts", 1 << 28)], true, &["memory_violation"]),
        ("gfx90a", &[("trapsts", 1 << 8)], true, &["address_error"]),
        ("gfx90a", &[("trapsts", 1 << 28 | 1 << 8)], true, &["memory_violation"]),
        ("gfx90a", &[("trapsts", 1 << 11)], true, &["illegal_instruction"]),
        // A flag with a clear or unknown enable bit is left over from ordinary arithmetic.
        ("gfx90a", &[("trapsts", 1 << 2), ("mode", 0)], true, &[]),
        ("gfx90a", &[("trapsts", 1 << 2)], true, &[]),
        ("gfx90a", &[("trapsts", 1 << 2), ("mode", 1 << 14)], true, &["fp_divide_by_0"]),
        ("gfx90a", &[("trapsts", 7 << 12), ("mode", 1 << 19)], true, &["watchpoint"]),
        ("gfx942", &[("trapsts", 1 << 23 | 1 << 25)], true, &["single_step", "trap"]),
        ("gfx1100", &[("trapsts", 1 << 20)], true, &["single_step"]),
        (
            "gfx1201",
            &[("excp_flag_priv", 1 << 12 | 1 << 4), ("excp_flag_user", 1), ("trap_ctrl", 1)],
            true,
            &["fp_invalid_operation", "memory_violation"],
        ),
        ("gfx1030", &[("status", 1 << 23)], false, &["fatal_halt"]),
    ];
    for (name, registers, as_dbgapi, expected) in cases {
        let target = Targets::builtin().target(name).unwrap();
        let read = |name: &str| registers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let reasons = target.faults(as_dbgapi, read);
        let reasons: Vec<&str> =
            reasons.iter().map(|index| target.stop_reasons[*index].name.as_str()).collect();
        assert_eq!(reasons, expected, "{name} {registers:x?}");
    }
    let target = Targets::builtin().target("gfx1030").unwrap();
    assert!(target.faults(true, |name| (name == "status").then_some(1 << 23)).is_empty());
    let trap = |id| target.trap_reason(id).map(|index| target.stop_reasons[index].name.as_str());
    assert_eq!(
        [0, 1, 2, 3, 9].map(trap),
        [None, Some("breakpoint"), Some("assert_trap"), Some("debug_trap"), Some("trap")]
    );
}
