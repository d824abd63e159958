//! The DWARF register mapping (AMDGPUUsage, AMDGPU DWARF Register Mapping), and errors for wrong numbers.

use super::{every_kind, kind};
use crate::arch::DwarfMeaning;
use crate::units::{DwarfReg, WaveSize};

#[test]
fn the_table_of_amdgpuusage() {
    let cases: [(u64, &str, Option<&str>, Option<&str>); 22] = [
        // number, spelling, register of wave32, register of wave64 (on gfx1100)
        (1, "EXEC_MASK_32", Some("exec"), None),
        (16, "PC_64", Some("pc"), Some("pc")),
        (17, "EXEC_MASK_64", None, Some("exec")),
        (32, "SGPR0", Some("s0"), Some("s0")),
        (65, "SGPR33", Some("s33"), Some("s33")),
        (95, "SGPR63", Some("s63"), Some("s63")),
        (128, "STATUS", Some("status"), Some("status")),
        (512, "VCC_32", Some("vcc"), None),
        (768, "VCC_64", None, Some("vcc")),
        (1088, "SGPR64", Some("s64"), Some("s64")),
        (1129, "SGPR105", Some("s105"), Some("s105")),
        (1536, "VGPR0", Some("v0"), None),
        (1575, "VGPR39", Some("v39"), None),
        (1791, "VGPR255", Some("v255"), None),
        (2560, "VGPR0", None, Some("v0")),
        (2600, "VGPR40", None, Some("v40")),
        (2815, "VGPR255", None, Some("v255")),
        (0, "PC_32", None, None),
        (2048, "AGPR0", None, None),
        (3327, "AGPR255", None, None),
        (1800, "VGPR264", None, None),
        (4095, "VGPR1023", None, None),
    ];
    for (number, spelling, wave32, wave64) in cases {
        for (size, expected) in [(WaveSize::W32, wave32), (WaveSize::W64, wave64)] {
            let kind = kind("gfx1100", size);
            let found = kind.dwarf(DwarfReg(number)).ok();
            assert_eq!(found.map(|register| register.name.as_str()), expected, "{number} {size}");
            assert_eq!(kind.dwarf_name(DwarfReg(number)).as_deref(), Some(spelling), "{number}");
        }
    }
    // AMDGPUUsage of September 2025: 1792-2047 are VGPR256-511 of wave32, 3584-4095 VGPR512-1023.
    let large = kind("gfx1250", WaveSize::W32);
    let cases =
        [(1536, "v0"), (1791, "v255"), (1792, "v256"), (1836, "v300"), (2047, "v511"), (3584, "v512")];
    for (number, name) in cases.into_iter().chain([(4095, "v1023"), (1, "exec"), (512, "vcc")]) {
        assert_eq!(large.dwarf(DwarfReg(number)).unwrap().name, name);
    }
    let matrix = kind("gfx90a", WaveSize::W64);
    assert_eq!(matrix.dwarf(DwarfReg(3072)).unwrap().name, "a0");
    assert_eq!(matrix.dwarf(DwarfReg(3327)).unwrap().name, "a255");
}

#[test]
fn every_register_is_found_by_its_number() {
    for kind in every_kind() {
        for register in kind.registers() {
            if let Some(number) = register.dwarf {
                assert_eq!(kind.dwarf(number).unwrap().id, register.id, "{} {number}", kind.target.name);
            }
        }
        let without: Vec<&str> = kind
            .registers()
            .iter()
            .filter(|register| register.dwarf.is_none())
            .map(|register| register.name.trim_end_matches(char::is_numeric))
            .collect();
        for name in ["m", "mode", "ttmp"] {
            assert!(without.contains(&name), "{} {name}", kind.target.name);
        }
    }
}

#[test]
fn wrong_numbers_are_named_with_their_meaning() {
    let cases = [
        ("gfx1100", WaveSize::W32, 2560, "DWARF register 2560 is VGPR0 of wave64, this is a wave32 wave"),
        ("gfx1100", WaveSize::W64, 1, "DWARF register 1 is EXEC_MASK_32 of wave32, this is a wave64 wave"),
        ("gfx90a", WaveSize::W64, 1536, "DWARF register 1536 is VGPR0 of wave32, this is a wave64 wave"),
        (
            "gfx90a",
            WaveSize::W64,
            1800,
            "DWARF register 1800 is reserved for VGPR264 of newer GPUs on gfx90a",
        ),
        (
            "gfx90a",
            WaveSize::W64,
            4000,
            "DWARF register 4000 is reserved for VGPR928 of newer GPUs on gfx90a",
        ),
        ("gfx90a", WaveSize::W64, 1129, "DWARF register 1129 is SGPR105, which gfx90a does not have"),
        ("gfx900", WaveSize::W64, 3073, "DWARF register 3073 is AGPR1, which gfx900 does not have"),
        ("gfx90c", WaveSize::W64, 3073, "DWARF register 3073 is AGPR1, which gfx90c does not have"),
        ("gfx900", WaveSize::W64, 1024, "DWARF register 1024 is reserved for padding on gfx900"),
        ("gfx900", WaveSize::W64, 1500, "DWARF register 1500 is reserved for future SGPRs on gfx900"),
        ("gfx900", WaveSize::W64, 4096, "DWARF register 4096 is not in the register mapping of gfx900"),
        (
            "gfx900",
            WaveSize::W64,
            u64::MAX,
            "DWARF register 18446744073709551615 is not in the register mapping of gfx900",
        ),
        ("gfx1251", WaveSize::W32, 2600, "DWARF register 2600 is VGPR40, of wave64; all waves have 32 lanes"),
        (
            "gfx1030",
            WaveSize::W32,
            0,
            "DWARF register 0 is PC_32, of 32-bit processes; processes with GPU waves are 64-bit and have PC_64, \
             number 16",
        ),
    ];
    for (name, size, number, message) in cases {
        assert_eq!(kind(name, size).dwarf(DwarfReg(number)).unwrap_err().to_string(), message);
    }
}

#[test]
fn the_ranges_cover_the_mapping_once_and_in_order() {
    for kind in every_kind() {
        let mut next = 0;
        for range in kind.dwarf_ranges() {
            assert_eq!(range.first.0, next, "{}", kind.target.name);
            next = range.last.0 + 1;
            let reserved = matches!(range.meaning, DwarfMeaning::Reserved(_));
            assert_eq!(
                reserved,
                kind.dwarf(range.first).is_err_and(|error| error.to_string().contains("reserved"))
            );
        }
        assert_eq!(next, 4096, "{}", kind.target.name);
    }
}
