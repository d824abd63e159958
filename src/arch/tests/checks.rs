//! One invalid file for each check: a built-in one with a single change.

use crate::arch::TargetError;
use crate::arch::load::{BUILT_IN, parse};

/// Target, text to replace (all occurrences), replacement, and the expected problem.
type Case = (&'static str, &'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    (
        "gfx90a",
        "name = \"m0\"",
        "name = \"m 0\"",
        "[[register]] m 0: name: \"m 0\" is not a word of letters, digits and underscores [names_are_plain]",
    ),
    (
        "gfx90a",
        "name = \"gfx90a\"",
        "name = \"../x\"",
        "[target]: name: \"../x\" is not letters, digits and dashes [names_are_plain]",
    ),
    (
        "gfx90a",
        "SCC = 0",
        "\"S<C\" = 0",
        "[[fields]] status_flags: bits: \"S<C\" is not a field's name [names_are_plain]",
    ),
    (
        "gfx90a",
        "wave_sizes = [64]",
        "wave_sizes = [48]",
        "[target]: wave_sizes: [48] is not 32, 64 or both [wave_sizes_are_known]",
    ),
    (
        "gfx90a",
        "elf_machine = 0x03f",
        "elf_machine = 0x13f",
        "[target]: elf_machine: 0x13f is not within 1 and 0xff [wave_sizes_are_known]",
    ),
    (
        "gfx90a",
        "source = \"CDNA 2 ISA document, MODE; ROCdbgapi 0.77, register classes\"",
        "source = \" \"",
        "[[register]] mode: source: is empty; name the document and its section [every_block_has_a_source]",
    ),
    (
        "gfx90a",
        "name = \"m0\"",
        "name = \"mode\"",
        "[[register]] mode: name: mode is the name of another register [reject_duplicate_names]",
    ),
    (
        "gfx90a",
        "name = \"watchpoint\"",
        "name = \"trap\"",
        "[[stop_reason]] trap: name: is the name of another stop reason [reject_duplicate_names]",
    ),
    (
        "gfx90a",
        "type = \"lanes\"",
        "type = \"lanes\"\nbits = 32",
        "[[register]] v{0..255}: bits: one dword a lane is a lanes register's width [widths_are_possible]",
    ),
    (
        "gfx90a",
        "bits = 64\ndwarf = 16",
        "bits = 48\ndwarf = 16",
        "[[register]] pc: bits: 48 is not 32 or 64 [widths_are_possible]",
    ),
    (
        "gfx90a",
        "bits = 64\ndwarf = 16",
        "dwarf = 16",
        "[[register]] pc: bits: is missing [widths_are_possible]",
    ),
    (
        "gfx90a",
        "name = \"pc\"",
        "name = \"ip\"",
        "[[register]]: name: there is no pc in wave64 waves [required_registers_present]",
    ),
    (
        "gfx1100",
        "bits = { wave32 = 32, wave64 = 64 }\ndwarf",
        "bits = 64\ndwarf",
        "[[register]] exec: type: is to be LaneMask of 32 bits in wave32 waves [required_registers_present]",
    ),
    (
        "gfx90a",
        "alias_limit = 108",
        "alias_limit = 120",
        "[sgprs]: alias_limit: 120 is not within 1 and 112, the most slots [aliases_fit_the_sgprs]",
    ),
    (
        "gfx90a",
        "sgprs_from_end = 6",
        "sgprs_from_end = 1",
        "[[register]] flat_scratch: sgprs_from_end: 1 is not within 2, its width, and 108 [aliases_fit_the_sgprs]",
    ),
    (
        "gfx90a",
        "sgprs_from_end = 6",
        "sgprs_from_end = 3",
        "[[register]] flat_scratch: sgprs_from_end: shares slots with vcc [aliases_fit_the_sgprs]",
    ),
    (
        "gfx90a",
        "EXECZ = 9",
        "EXECZ = 32",
        "[[fields]] status_flags: bits: EXECZ ends at bit 32, status has 32 [fields_fit_their_register]",
    ),
    (
        "gfx90a",
        "EXECZ = 9",
        "EXECZ = 10",
        "[[fields]] status_flags: bits: EXECZ and VCCZ share bit 10 [fields_fit_their_register]",
    ),
    (
        "gfx90a",
        "SPI_PRIO = [2, 1]",
        "SPI_PRIO = [1, 2]",
        "[[fields]] status_flags: bits: SPI_PRIO is not [HIGH, LOW] [fields_fit_their_register]",
    ),
    (
        "gfx90a",
        "fields = \"mode_flags\"",
        "fields = \"mood_flags\"",
        "[[register]] mode: fields: there is no such block [fields_fit_their_register]",
    ),
    (
        "gfx90a",
        "dbgapi = 725",
        "dbgapi = 724",
        "[[register]]: dbgapi: 724 is used twice; the next number is 725 [dbgapi_numbers_match_layout]",
    ),
    (
        "gfx90a",
        "dbgapi = 733",
        "dbgapi = 734",
        "[[register]]: dbgapi: 734 follows a gap; the next number is 733 [dbgapi_numbers_match_layout]",
    ),
    (
        "gfx1030",
        "dbgapi = { wave32 = 740, wave64 = 741 }",
        "dbgapi = 740",
        "[[register]] exec: dbgapi: its width depends on the wave size, so its number does too [dbgapi_numbers_match_layout]",
    ),
    (
        "gfx90a",
        "dwarf_name = \"AGPR{0..255}\"",
        "dwarf_name = \"AGPR{1..256}\"",
        "[[register]] a{0..255}: dwarf_name: AGPR{1..256} does not count as a{0..255} does [dwarf_names_match_registers]",
    ),
    (
        "gfx90a",
        "dwarf_name = \"PC_64\"\n",
        "",
        "[[register]] pc: dwarf_name: is missing, there is a number [dwarf_names_match_registers]",
    ),
    (
        "gfx90a",
        "names = \"VGPR{256..511}\"",
        "names = \"VGPR{256..510}\"",
        "[[dwarf_reserved]] 1792-2047: names: VGPR{256..510} is 255 names for 256 numbers [dwarf_names_match_registers]",
    ),
    (
        "gfx90a",
        "what = \"padding\"\n",
        "",
        "[[dwarf_reserved]] 1024-1087: what: is missing [dwarf_names_match_registers]",
    ),
    (
        "gfx90a",
        "dwarf = 16\n",
        "dwarf = 100\n",
        "[[register]] and [[dwarf_...]]: dwarf: 96-127 and 100-100 share numbers; reserved numbers are not free [reject_overlapping_dwarf_numbers]",
    ),
    (
        "gfx90a",
        "last = 4095",
        "last = 4000",
        "[[dwarf_reserved]]: last: 4001-4095 are neither registers nor reserved [dwarf_numbers_leave_no_gap]",
    ),
    (
        "gfx90a",
        "number = 0x06",
        "number = 0x07",
        "[[space_reserved]] 0x7-0x1f: number: 0x7 belongs to [[space]] private_wave [reject_overlapping_spaces]",
    ),
    (
        "gfx90a",
        "name = \"local\"\nnumber",
        "name = \"lds\"\nnumber",
        "[[space]]: number: 0x3 is to be local [spaces_cover_the_standard_numbers]",
    ),
    (
        "gfx90a",
        "private_lane{0..63}",
        "private_lane{0..31}",
        "[[space]]: number: 0x20 is to begin a run of private memory of 64 lanes [spaces_cover_the_standard_numbers]",
    ),
    (
        "gfx90a",
        "last = 0x1f",
        "last = 0x1e",
        "[[space_reserved]]: first: 0x1f-0x1f are nothing [spaces_cover_the_standard_numbers]",
    ),
    (
        "gfx90a",
        "null = 0xffffffff",
        "null = 0x1ffffffff",
        "[[space]] local: null: 0x1ffffffff has more than 32 bits [addresses_fit_their_space]",
    ),
    (
        "gfx90a",
        "aperture = 0x0001000000000000",
        "aperture = 0x0001000000000004",
        "[[space]] local: aperture: 0x1000000000004 is not the base of 2^32 bytes [addresses_fit_their_space]",
    ),
    (
        "gfx90a",
        "absent = \"generic\"",
        "absent = \"flat\"",
        "[[address_classes]] [amd:v0.0]: absent: there is no space \"flat\" [address_classes_name_known_spaces]",
    ),
    (
        "gfx90a",
        "name = \"ecc_error\"",
        "name = \"ecc\"",
        "[[stop_reason]]: name: ecc_error is missing [all_stop_reasons_present]",
    ),
    (
        "gfx90a",
        "signal = 11",
        "signal = 0",
        "[[stop_reason]] memory_violation: signal: 0 is not one of gdb's, 1 to 151 [signals_are_gdbs]",
    ),
    (
        "gfx90a",
        "bit = 28, reason",
        "bit = 32, reason",
        "[[faults]] trapsts: register: trapsts has no bit 32 [faults_name_known_bits_and_reasons]",
    ),
    (
        "gfx90a",
        "enabled_by = \"mode\"",
        "enabled_by = \"mood\"",
        "[[faults]] trapsts: enabled_by: mood has no bit 12 [faults_name_known_bits_and_reasons]",
    ),
    (
        "gfx90a",
        "id = 3",
        "id = 2",
        "[[trap_id]] 2: id: is taken, or is 0, which is no trap [trap_ids_are_unique]",
    ),
];

#[test]
fn every_broken_rule_is_reported_with_block_key_and_name() {
    for (target, from, to, expected) in CASES {
        let text = BUILT_IN.iter().find(|(name, _)| name == target).unwrap().1;
        assert!(text.contains(from), "{target}.toml has no {from:?}");
        let error = parse("x.toml", &text.replace(from, to)).unwrap_err();
        let TargetError::Invalid { problems, .. } = error else { panic!("{from:?}: {error}") };
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(lines.iter().any(|line| line == expected), "expected {expected}\n got {lines:#?}");
    }
}

#[test]
fn misspelt_keys_and_wrong_shapes_are_refused_with_their_line() {
    let text = BUILT_IN[0].1;
    let cases = [
        ("dwarf = 16\n", "dwraf = 16\n", "unknown field `dwraf`"),
        ("dwarf = 16\n", "dwarf = \"16\"\n", "expected a number or { wave32 = N, wave64 = N }"),
        ("name = \"v{0..255}\"", "name = \"v{255..0}\"", "counts backwards"),
        ("name = \"v{0..255}\"", "name = \"v{0..60000}\"", "more than 1024 names"),
        ("name = \"v{0..255}\"", "name = \"v{0-255}\"", "a run is written v{0..255}"),
        ("class = \"vector\"", "class = \"vectors\"", "unknown variant `vectors`"),
        ("EXECZ = 9", "EXECZ = [9]", "expected a bit or [HIGH, LOW]"),
    ];
    for (from, to, expected) in cases {
        assert!(text.contains(from), "{from:?}");
        let error = parse("x.toml", &text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.starts_with("x.toml: TOML parse error at line "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

/// A megabyte of blocks is rejected before any processing.
#[test]
fn a_flood_of_blocks_is_refused() {
    let block =
        "\n[[register]]\nname = \"v{0..1023}\"\nclass = \"vector\"\ntype = \"lanes\"\nsource = \"x\"\n";
    let text = format!("{}{}", BUILT_IN[0].1, block.repeat(2000));
    let error = parse("x.toml", &text).unwrap_err().to_string();
    assert!(error.contains("[counts_are_bounded]"), "{error}");
}
