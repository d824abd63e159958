//! Save areas and steppings, with the sources of the facts.

use super::every_kind;
use crate::arch::load::{BUILT_IN, LISTED, UNLISTED, parse};
use crate::arch::save_area::BitRange;
use crate::arch::{Processor, Targets};
use crate::units::WaveSize;

/// Names of built-in processors with the names of their files.
fn processors() -> impl Iterator<Item = (&'static str, &'static str)> {
    LISTED.iter().chain(UNLISTED).copied()
}

#[test]
fn the_list_of_processors_is_that_of_the_files() {
    let listed: Vec<(String, String)> =
        processors().map(|(name, base)| (name.to_owned(), base.to_owned())).collect();
    let mut written: Vec<(String, String)> = Vec::new();
    for (name, text) in BUILT_IN {
        let file = parse(name, text).unwrap();
        written.push((file.target.name, (*name).to_owned()));
        written.extend(file.stepping.into_iter().map(|one| (one.name, (*name).to_owned())));
    }
    let lacking = |these: &[(String, String)], all: &[(String, String)]| -> Vec<_> {
        all.iter().filter(|row| !these.contains(row)).cloned().collect()
    };
    assert_eq!(lacking(&listed, &written), [], "rows that LISTED and UNLISTED of src/arch/load.rs lack");
    assert_eq!(lacking(&written, &listed), [], "processors that the files lack");
    assert_eq!(listed.len(), written.len(), "a processor twice");
}

#[test]
fn a_stepping_is_its_base_under_another_name_and_number() {
    let targets = Targets::builtin();
    for (name, base) in processors().filter(|(name, base)| name != base) {
        let (target, base) = (targets.target(name).unwrap(), targets.target(base).unwrap());
        assert_eq!(target.name, name);
        assert_eq!(target.save_area, base.save_area);
        assert_eq!(target.wave_sizes, base.wave_sizes);
        assert_ne!(target.elf_machine, base.elf_machine);
        let known = Processor::named(name).map(|processor| u32::from(processor.mach));
        assert_eq!(Some(target.elf_machine), known, "{name}");
        assert_eq!(targets.by_elf_machine(target.elf_machine).unwrap().name, name);
        let kind = targets.kind(name, target.wave_sizes[0]).unwrap();
        let own = kind.dwarf_ranges().map(|range| format!("{range:?}")).collect::<String>();
        assert!(!own.contains(&format!("{} ", base.name)), "{name} speaks of {}", base.name);
    }
    assert!(targets.all_names().eq(processors().map(|(name, _)| name)));
}

#[test]
fn every_target_has_a_save_area() {
    for kind in every_kind() {
        let area = kind.target.save_area.as_ref().unwrap();
        let gfx9 = kind.target.name.starts_with("gfx9");
        assert_eq!((area.gap, area.state_words), if gfx9 { (64, 1) } else { (0, 2) }, "{}", kind.target.name);
        assert_eq!(
            area.parked.is_none(),
            ["gfx942", "gfx950", "gfx1030"].contains(&kind.target.name.as_str())
        );
        // A register outside of the area's parts would never be known.
        for register in kind.registers() {
            let numbered = ["v", "a", "s", "ttmp"].iter().any(|stem| {
                let number = register.name.strip_prefix(stem).unwrap_or_default();
                !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
            });
            let held = numbered || register.alias.is_some() || area.hwregs.contains_key(&register.name);
            assert!(held, "{} {}", kind.target.name, register.name);
        }
    }
}

#[test]
fn bits_and_counts() {
    assert_eq!(BitRange { low: 4, high: 7 }.of(0xabcd_ef12), 1);
    assert_eq!(BitRange { low: 0, high: 31 }.of(u32::MAX), u32::MAX);
    assert_eq!(BitRange { low: 31, high: 31 }.of(1 << 31), 1);
    let gfx1100 = Targets::builtin().target("gfx1100").unwrap();
    let vgprs = gfx1100.save_area.as_ref().unwrap().state.vgprs;
    assert_eq!((vgprs.of(2, WaveSize::W32), vgprs.of(2, WaveSize::W64)), (24, 12));
    let gfx900 = Targets::builtin().target("gfx900").unwrap();
    let sgprs = gfx900.save_area.as_ref().unwrap().state.sgprs.unwrap();
    assert_eq!((sgprs.of(0, WaveSize::W64), sgprs.of(6 << 6, WaveSize::W64)), (0, 96));
}

/// An error in a save area names the check.
#[test]
fn wrong_save_areas_are_refused() {
    let (_, text) = BUILT_IN.iter().find(|(name, _)| *name == "gfx90a").unwrap();
    let cases = [
        ("state_words = 1\n", "state_words = 3\n", "save_area_counts_are_possible"),
        ("gap = 64\n", "gap = 64\nsgpr_slots = 128\n", "save_area_counts_are_possible"),
        ("times = 512 }", "times = 0 }", "save_area_counts_are_possible"),
        ("engine = [11, 9]", "engine = [9, 11]", "save_area_counts_are_possible"),
        ("granule = 1024", "granule = 0", "save_area_counts_are_possible"),
        ("trapsts = 6,", "trapsts = 16,", "save_area_names_known_registers"),
        ("trapsts = 6,", "trap_ctrl = 6,", "save_area_names_known_registers"),
        (
            "halt = { register = \"status\", bit = 13 }",
            "halt = { register = \"vcc\", bit = 13 }",
            "save_area_names_known_registers",
        ),
        ("x = { ttmp = 8 }", "x = { ttmp = 16 }", "save_area_names_known_registers"),
        ("skip_export = 18", "skip_export = 32", "save_area_names_known_registers"),
        (
            "trap_handler = { register = \"status\", bit = 6 }",
            "wave64 = { register = \"x\", bit = 6 }",
            "wave_words_are_possible",
        ),
        (
            "trap_handler = { register = \"status\", bit = 6 }",
            "trap_handler = { register = \"x\", bit = 32 }",
            "wave_words_are_possible",
        ),
        ("bits = [27, 24], plus = 1", "bits = [27, 24], plus = 2", "wave_words_are_possible"),
        (
            "# General registers\n",
            "[[stepping]]\nname = \"gfx90a\"\nproducts = \"\"\nelf_machine = 1\nsource = \"x\"\n",
            "steppings_are_other_processors",
        ),
        (
            "# General registers\n",
            "[[stepping]]\nname = \"gfx 9\"\nproducts = \"\"\nelf_machine = 1\nsource = \"x\"\n",
            "names_are_plain",
        ),
        ("gdb = \"gfx90a\"", "gdb = \"gfx90z\"", "gdb_names_are_processors"),
    ];
    for (from, to, check) in cases {
        assert!(text.contains(from), "{from}");
        let error = parse("own.toml", &text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(check), "{to}: {error}");
    }
}
