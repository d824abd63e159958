//! Tables shared by units, and lists shared by DIEs: present once in a file, and referenced repeatedly.

use super::dwarf::{
    BLOCK, Dies, HIGH, LINES, LOCATIONS, LOW, NAME, RANGES, SUBPROGRAM, TYPE, UNIT, VARIABLE, declaration,
    lines, place, uleb, unit,
};
use super::elf::{Section, TEXT, code_object};
use super::run::Hostile;
use super::{FRAME, SOME};
use crate::support::sample::{is_long, sampled};

/// Units that share a table of `codes` codes, with the root as the last. With `apart` each unit's offset is further by
/// that number of codes.
fn sharing(units: u32, codes: u64, apart: bool) -> Vec<u8> {
    let mut table = Vec::new();
    let mut at = Vec::new();
    for code in 1..codes {
        at.push(table.len() as u32);
        table.extend(declaration(code, VARIABLE, false, &[]));
    }
    table.extend(declaration(codes, UNIT, true, &[NAME, LOW, HIGH]));
    table.extend(declaration(codes + 1, SUBPROGRAM, false, &[NAME, LOW, HIGH]));
    table.push(0);
    let dies =
        [uleb(codes), b"a.cpp\0".to_vec(), place(), uleb(codes + 1), b"f\0".to_vec(), place(), vec![0]];
    let info = (0..units).flat_map(|index| {
        let offset = if apart { at[index as usize % at.len()] } else { 0 };
        unit(offset, &dies.concat())
    });
    code_object(vec![Section::new(".debug_info", info.collect()), Section::new(".debug_abbrev", table)])
}

#[test]
fn units_that_share_a_table_of_abbreviations() {
    let said = Hostile::with_code(&sharing(5_000, 50_000, false)).each(&SOME);
    said.prints("backtrace", FRAME).prints("code-object", "a.cpp");
}

#[test]
fn tables_of_abbreviations_that_overlap() {
    let said = Hostile::with_code(&sharing(5_000, 50_000, true)).each(&SOME);
    said.prints("info", "the tables of the file overlap by more than their size").prints("backtrace", FRAME);
}

/// A declaration of many attributes without bytes in a DIE: `DW_FORM_flag_present`.
#[test]
fn dies_of_many_attributes() {
    for (attributes, is_read) in [(64, true), (65, false)] {
        let mut dies = Dies::new();
        dies.declare(5, VARIABLE, false, &vec![(0x3c, 0x19); attributes]);
        let int = dies.int();
        dies.function();
        dies.variable("v", int);
        dies.dies(&[5].repeat(20_000));
        dies.close(2);
        let said = Hostile::with_code(&dies.object()).each(&SOME);
        match is_read {
            true => said.prints("locals", "7"),
            false => said.prints("info", "a declaration has more than 64 attributes"),
        };
    }
}

/// A unit with a function, then units of only a header and a root.
fn empty_units(count: usize) -> Vec<u8> {
    let mut info = unit(0, &[[1].as_slice(), &place(), &[2, b'f', 0], &place(), &[0]].concat());
    info.extend(unit(0, &[3]).repeat(count));
    let table = [
        declaration(1, UNIT, true, &[LOW, HIGH]),
        declaration(2, SUBPROGRAM, false, &[NAME, LOW, HIGH]),
        declaration(3, UNIT, false, &[]),
        vec![0],
    ];
    code_object(vec![Section::new(".debug_info", info), Section::new(".debug_abbrev", table.concat())])
}

#[test]
fn many_units() {
    let hostile = Hostile::with_code(&empty_units(275_000));
    let said = hostile.each(&["info DUMP", "backtrace DUMP", "view DUMP -o OUT"]);
    said.prints("info", "more than 262144 units").prints("backtrace", FRAME);
    if is_long() {
        hostile.each(&["print DUMP v", "code-object CODE", "dwarf CODE"]);
    }
}

/// Units with one line table of `rows` rows, a byte each: a special opcode that adds `step` to the address.
fn rows(units: usize, rows: usize, opcode: u8) -> Vec<u8> {
    with_rows(units, &vec![opcode; rows])
}

/// Units with one line table, whose program is these opcodes from the start of the code on.
pub(super) fn with_rows(units: usize, opcodes: &[u8]) -> Vec<u8> {
    let mut program = vec![0, 9, 2];
    program.extend(TEXT.to_le_bytes());
    program.extend(opcodes);
    // DW_LNS_advance_pc, DW_LNE_end_sequence.
    program.extend([2, 1, 0, 1, 1]);
    let dies =
        [vec![1], b"a.cpp\0".to_vec(), place(), vec![0; 4], vec![2], b"f\0".to_vec(), place(), vec![0]];
    let table = [
        declaration(1, UNIT, true, &[NAME, LOW, HIGH, LINES]),
        declaration(2, SUBPROGRAM, false, &[NAME, LOW, HIGH]),
        vec![0],
    ];
    code_object(vec![
        Section::new(".debug_info", unit(0, &dies.concat()).repeat(units)),
        Section::new(".debug_abbrev", table.concat()),
        Section::new(".debug_line", lines(&program)),
    ])
}

#[test]
fn rows_of_a_line_table() {
    // Line and address stay; or each row is 4 bytes on.
    for opcode in sampled([18, 32], 2) {
        let hostile = Hostile::with_code(&rows(1, 17_500_000, opcode));
        let said = hostile.each(&["view DUMP -o OUT", "code-object CODE"]);
        said.prints("code-object", "more than 16777216 rows").prints("view", "more than 2097152 rows");
        // `groups` reads as many rows of `tables_of_many_code_objects`.
        if is_long() {
            hostile.each(&["backtrace DUMP", "dwarf CODE"]).prints("backtrace", FRAME);
        }
    }
}

#[test]
fn units_that_share_a_line_table() {
    let said = Hostile::with_code(&rows(2_000, 200_000, 18)).each(&SOME);
    said.prints("backtrace", FRAME);
}

/// Line tables and abbreviation tables of the code objects of one file: all together are limited.
#[test]
fn tables_of_many_code_objects() {
    let commands: Vec<&str> = sampled(["info DUMP", "backtrace DUMP", "groups DUMP"], 2).collect();
    let said = Hostile::with_objects(&rows(1, 4_500_000, 18), 4, 1).without_tools().each(&commands);
    said.prints("info", "more than 16777216 rows").prints("groups", FRAME);
    if is_long() {
        said.prints("backtrace", FRAME);
    }
    // A declaration takes 112 bytes: 47 tables fit.
    let said = Hostile::with_objects(&sharing(1, 50_000, false), 52, 1).without_tools().each(&commands);
    said.prints("info", "the tables of all code objects take more than 256 MiB").prints("groups", FRAME);
}

/// Units of a header and a root each, in the files of many code objects.
#[test]
fn units_of_many_code_objects() {
    let hostile = Hostile::with_objects(&empty_units(100_000), 6, 1);
    let commands = sampled(["info DUMP", "groups DUMP", "backtrace DUMP"], 2);
    let said = hostile.each(&commands.collect::<Vec<_>>());
    said.prints("info", "more than 524288 units of all code objects").prints("backtrace", FRAME);
    if is_long() {
        said.prints("groups", FRAME);
    }
}

/// Code objects over one large file: one that all share is read once, and ones that differ are bounded together.
#[test]
fn code_objects_over_one_file() {
    let mut dies = Dies::new();
    // Classes, which have a place in the unit's index.
    dies.declare(5, 0x13, true, &[]);
    let int = dies.int();
    dies.function();
    dies.variable("v", int);
    dies.close(1);
    dies.dies(&[5, 0].repeat(50_000));
    dies.close(1);
    // 40 of 700 kB; read are four times that and 16 MiB.
    let mut sections = dies.sections();
    sections.push(Section::new(".pad", vec![0; 600_000]));
    let object = code_object(sections);
    let commands: Vec<&str> = sampled(["locals DUMP", "backtrace DUMP", "export DUMP"], 2).collect();
    let run = |file: &[u8], keys: &dyn Fn(u64) -> String| {
        Hostile::with_objects_of_one_file(file, 40, 1, keys).each(&commands)
    };
    let overlap = "code objects overlap in their files by more than 4 times";
    // One range, also under several names.
    let keys = [|index| format!("name = \"{index}\""), |_| String::new()];
    for keys in sampled(keys, 2) {
        let said = run(&object, &keys);
        said.prints("locals", "v = 7").prints("export", "\"f\"").lacks(overlap);
        if is_long() {
            said.prints("backtrace", FRAME);
        }
    }
    // Ranges that differ in their lengths.
    let padded = [&object[..], &[0; 4096]].concat();
    let length = |index: u64| padded.len() as u64 - index;
    let said = run(&padded, &|index| format!("length = {}", length(index)));
    said.prints("locals", "v = 7").prints("export", overlap);
    // The entries of a bundle, which differ in their lengths.
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend(40u64.to_le_bytes());
    for index in 0..40 {
        [4096, length(index), 1].iter().for_each(|number| bundle.extend(number.to_le_bytes()));
        bundle.push(b'e');
    }
    bundle.resize(4096, 0);
    bundle.extend(&padded);
    let said = run(&bundle, &|index| format!("entry = \"{index}\""));
    said.prints("locals", "v = 7").prints("export", overlap);
}

/// Nested line tables: headers whose lengths all reach to the end of one program.
#[test]
fn line_tables_that_overlap() {
    let headers = 5_000u32;
    let program = vec![18; 500_000];
    let one = lines(&[]).len();
    let mut section = Vec::new();
    for index in 0..headers {
        // The bytes after its own header, up to the section's end, are its program.
        let rest = one * (headers - 1 - index) as usize + program.len();
        let mut header = lines(&[]);
        header[..4].copy_from_slice(&((one - 4 + rest) as u32).to_le_bytes());
        section.extend(header);
    }
    section.extend(program);
    let info = (0..headers).flat_map(|index| {
        let at = (index * one as u32).to_le_bytes().to_vec();
        unit(
            0,
            &[vec![1], b"a.cpp\0".to_vec(), place(), at, vec![2], b"f\0".to_vec(), place(), vec![0]].concat(),
        )
    });
    let table = [
        declaration(1, UNIT, true, &[NAME, LOW, HIGH, LINES]),
        declaration(2, SUBPROGRAM, false, &[NAME, LOW, HIGH]),
        vec![0],
    ];
    let object = code_object(vec![
        Section::new(".debug_info", info.collect()),
        Section::new(".debug_abbrev", table.concat()),
        Section::new(".debug_line", section),
    ]);
    Hostile::with_code(&object).each(&SOME).prints("info", "overlap by more than their size");
}

/// A line table header with a million files, referenced by 1,000 units.
#[test]
fn files_of_a_line_table() {
    let files = 1_000_000;
    let mut rest = vec![4, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 8];
    rest.extend(uleb(files));
    rest.extend(b"a\0".repeat(files as usize));
    let mut line = vec![5, 0, 8, 0];
    line.extend((rest.len() as u32).to_le_bytes());
    line.extend(rest);
    let line = [(line.len() as u32).to_le_bytes().to_vec(), line].concat();
    let dies =
        [vec![1], b"a.cpp\0".to_vec(), place(), vec![0; 4], vec![2], b"f\0".to_vec(), place(), vec![1, 1, 0]];
    let table = [
        declaration(1, UNIT, true, &[NAME, LOW, HIGH, LINES]),
        // DW_AT_decl_file and DW_AT_decl_line as bytes.
        declaration(2, SUBPROGRAM, false, &[NAME, LOW, HIGH, (0x3a, 0x0b), (0x3b, 0x0b)]),
        vec![0],
    ];
    let object = code_object(vec![
        Section::new(".debug_info", unit(0, &dies.concat()).repeat(1_000)),
        Section::new(".debug_abbrev", table.concat()),
        Section::new(".debug_line", line),
    ]);
    Hostile::with_code(&object).each(&SOME).prints("backtrace", FRAME);
}

/// A list of `count` ranges of 4 bytes, `DW_RLE_start_length`, in a section with its header.
fn ranges(count: usize) -> Vec<u8> {
    let mut list = Vec::new();
    for _ in 0..count {
        list.push(7);
        list.extend(TEXT.to_le_bytes());
        list.push(0x40);
    }
    list.push(0);
    let mut section = ((list.len() + 8) as u32).to_le_bytes().to_vec();
    section.extend([5, 0, 8, 0, 0, 0, 0, 0]);
    section.extend(list);
    section
}

/// Functions, and blocks of one function, with one shared list of ranges.
#[test]
fn dies_that_share_a_list_of_ranges() {
    for tag in [SUBPROGRAM, BLOCK] {
        let mut dies = Dies::new();
        dies.declare(5, tag, false, &[RANGES]);
        let int = dies.int();
        dies.function();
        dies.variable("v", int);
        if tag == SUBPROGRAM {
            dies.close(1);
        }
        for _ in 0..5_000 {
            dies.die(5, &[&12u32.to_le_bytes()]);
        }
        dies.close(if tag == SUBPROGRAM { 1 } else { 2 });
        let mut sections = dies.sections();
        sections.push(Section::new(".debug_rnglists", ranges(5_000)));
        let said = Hostile::with_code(&code_object(sections)).each(&SOME);
        said.prints("info", "have more entries than their section has bytes");
    }
}

/// A code object of these DIEs, with one location list at offset 12 of its section.
pub(super) fn with_list(dies: Dies, list: &[u8]) -> Vec<u8> {
    let mut section = ((list.len() + 8) as u32).to_le_bytes().to_vec();
    section.extend([5, 0, 8, 0, 0, 0, 0, 0]);
    section.extend(list);
    let mut sections = dies.sections();
    sections.push(Section::new(".debug_loclists", section));
    code_object(sections)
}

/// Variables that share one long location list without an entry for the PC.
#[test]
fn variables_that_share_a_location_list() {
    let mut dies = Dies::new();
    dies.declare(5, VARIABLE, false, &[NAME, TYPE, LOCATIONS]);
    let int = dies.int();
    dies.function();
    dies.variable("v", int);
    for _ in 0..20_000 {
        dies.die(5, &[b"x\0", &int.to_le_bytes(), &12u32.to_le_bytes()]);
    }
    dies.close(2);
    let mut list = Vec::new();
    for _ in 0..20_000 {
        // DW_LLE_start_length of 4 bytes far away, `DW_OP_lit0`.
        list.push(8);
        list.extend(0x10_0000u64.to_le_bytes());
        list.extend([4, 1, 0x30]);
    }
    list.push(0);
    Hostile::with_code(&with_list(dies, &list)).each(&SOME).prints("locals", "v");
}
