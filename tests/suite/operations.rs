//! The table of operations, compared with its document, and both with the cases of `tests/eval`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use lanescope::dwarf::text::{Field, OPERATIONS, Shape, codes};
use lanescope::dwarf::{Cause, Dialect, Encoding, Operation, Program};
use serde_json::Value;

use super::dwarf::bytes;
use crate::support::root;

/// The case files with their stems, in order.
fn files() -> Vec<(String, toml::Table)> {
    let files = fs::read_dir(root().join("tests/eval")).unwrap().map(|file| file.unwrap().path());
    let mut paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|ext| ext == "toml")).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        (stem, toml::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    };
    paths.iter().map(read).collect()
}

/// The cases of a file.
fn of_file(file: &toml::Table) -> impl Iterator<Item = &toml::Value> {
    file.get("case").and_then(toml::Value::as_array).into_iter().flatten()
}

fn text<'c>(case: &'c toml::Value, key: &str) -> &'c str {
    case.get(key).and_then(toml::Value::as_str).unwrap_or_default()
}

fn expected(case: &toml::Value) -> Value {
    match case.get("expect") {
        Some(toml::Value::String(json)) => serde_json::from_str(json).unwrap(),
        Some(table) => serde_json::to_value(table).unwrap(),
        None => Value::Null,
    }
}

fn dialect(case: &toml::Value) -> Dialect {
    Dialect::named(text(case, "dialect")).unwrap_or(Dialect::LlvmUser)
}

fn decoded(case: &toml::Value) -> Option<Program> {
    let dwarf64 = case.get("dwarf64").and_then(toml::Value::as_bool).unwrap_or(false);
    let encoding = Encoding { dialect: dialect(case), dwarf64 };
    Program::decode(&bytes(text(case, "bytes")), encoding).ok()
}

/// The cases of tests/eval that use an operation.
#[derive(Default)]
struct Cases {
    succeed: usize,
    fail: usize,
    files: Vec<String>,
    /// Dialects of the successful cases.
    dialects: BTreeSet<&'static str>,
}

/// Cases by the stem of the operation's name.
fn cases() -> BTreeMap<&'static str, Cases> {
    let mut all: BTreeMap<&'static str, Cases> = BTreeMap::new();
    for (stem, file) in files() {
        for case in of_file(&file) {
            let Some(program) = decoded(case) else { continue };
            let expect = expected(case);
            let failed =
                (expect["kind"] == "error").then(|| expect["op"].as_str().unwrap_or_default().to_owned());
            let mut used = Vec::new();
            operations(&program, &mut used);
            used.sort_by_key(|(row, name)| (row.name, failed.as_deref() != Some(name)));
            used.dedup_by_key(|(row, _)| row.name);
            for (row, name) in used {
                let cases = all.entry(row.name).or_default();
                match &failed {
                    Some(op) if op == name => cases.fail += 1,
                    Some(_) => continue,
                    None => {
                        cases.succeed += 1;
                        cases.dialects.insert(dialect(case).name());
                    }
                }
                if !cases.files.contains(&stem) {
                    cases.files.push(stem.clone());
                }
            }
        }
    }
    all
}

fn operations(program: &Program, into: &mut Vec<(&'static Shape, &'static str)>) {
    for placed in program.operations() {
        into.push((lanescope::dwarf::text::shape(placed.name).unwrap(), placed.name));
        if let Operation::EntryValue(inner) = &placed.operation {
            operations(inner, into);
        }
    }
}

fn operands(fields: &[Field]) -> String {
    let word = |field: &Field| match field {
        Field::Implied | Field::ImpliedRegister => None,
        Field::Address => Some("address".to_owned()),
        Field::Fixed(size) => Some(format!("u{}", 8 * size)),
        Field::Signed(0) => Some("SLEB128".to_owned()),
        Field::Signed(size) => Some(format!("s{}", 8 * size)),
        Field::Uleb => Some("ULEB128".to_owned()),
        Field::Displacement => Some("displacement (SLEB128)".to_owned()),
        Field::Register => Some("register (ULEB128)".to_owned()),
        Field::Branch => Some("target (s16)".to_owned()),
        Field::Die(size) => Some(format!("DIE in unit (u{})", 8 * size)),
        Field::SectionDie => Some("DIE in section (offset)".to_owned()),
        Field::Type => Some("DIE in unit (ULEB128)".to_owned()),
        Field::TypeOrGeneric => Some("type or 0 (ULEB128)".to_owned()),
        Field::Block => Some("bytes (ULEB128 length)".to_owned()),
        Field::ShortBlock => Some("bytes (u8 length)".to_owned()),
        Field::Expression => Some("expression (ULEB128 length)".to_owned()),
    };
    fields.iter().filter_map(word).collect::<Vec<_>>().join(", ")
}

/// The codes of a row in a dialect.
fn code(row: &Shape, dialect: Dialect) -> String {
    let all = codes(dialect);
    let find = |name: &str| all.iter().find(|(_, known)| *known == name).map(|(code, _)| *code);
    let (first, last) = match row.family {
        true => (find(&format!("{}0", row.name)), find(&format!("{}31", row.name))),
        false => (find(row.name), None),
    };
    match (first, last) {
        (Some(first), Some(last)) => format!("{:#04x}-{:#04x}", first.code, last.code),
        (Some(code), None) => match code.sub {
            Some(sub) => format!("{:#04x} {sub:#04x}", code.code),
            None => format!("{:#04x}", code.code),
        },
        (None, _) => "-".to_owned(),
    }
}

const INTRODUCTION: &str = "\
# Operations

This page lists every operation of the evaluator, from the table of `evaluator/src/text/shape.rs` and the codes of the
decoder. `BLESS=1 cargo nextest run --release -p lanescope-tests coverage` writes this file; the test compares it.

## Codes

The columns after the operands have the codes in each dialect. The codes of the draft dialect are this project's own
(`evaluator/src/draft.toml`).

";

const CASES: &str = "
## Cases

Each entry has the section that defines the operation, the number of cases in `tests/eval` that use it and succeed, the
number that expect it to fail, and the case files.

";

/// A list item, wrapped at 120 columns.
fn item(text: &str) -> String {
    const WIDTH: usize = 120;
    let (mut filled, mut column) = (String::from("-"), 1);
    for word in text.split(' ') {
        if column + 1 + word.len() > WIDTH {
            filled.push_str("\n ");
            column = 1;
        }
        write!(filled, " {word}").unwrap();
        column += 1 + word.len();
    }
    filled + "\n"
}

fn coverage() -> String {
    let names = Dialect::ALL.map(|dialect| dialect.name()).join(" | ");
    let rule = "---|".repeat(2 + Dialect::ALL.len());
    let mut table = format!("| operation | operands | {names} |\n|{rule}\n");
    let mut list = String::new();
    let cases = cases();
    let none = Cases::default();
    for row in OPERATIONS {
        let codes: Vec<String> = Dialect::ALL.into_iter().map(|dialect| code(row, dialect)).collect();
        if codes.iter().all(|code| code == "-") {
            continue;
        }
        let name = if row.family { format!("{}0-31", row.name) } else { row.name.to_owned() };
        writeln!(table, "| {name} | {} | {} |", operands(row.fields), codes.join(" | ")).unwrap();
        let Cases { succeed, fail, files, .. } = cases.get(row.name).unwrap_or(&none);
        let (section, files) = (row.section, files.join(", "));
        list += &item(&format!("{name} ({section}): {succeed} succeed, {fail} fail: {files}"));
    }
    [INTRODUCTION, &table, CASES, &list].concat()
}

#[test]
fn the_coverage_document_is_that_of_the_table() {
    let path = root().join("docs/dwarf-coverage.md");
    let (said, is) = (fs::read_to_string(&path).unwrap_or_default(), coverage());
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, is).unwrap();
        return;
    }
    assert_eq!(
        said, is,
        "BLESS=1 cargo nextest run --release -p lanescope-tests coverage writes docs/dwarf-coverage.md"
    );
}

#[test]
fn every_case_has_a_name_of_its_own_and_expects_something() {
    for (stem, file) in files() {
        let mut names = BTreeSet::new();
        for case in of_file(&file) {
            let name = text(case, "name");
            assert!(!name.is_empty() && names.insert(name), "{stem}: two cases are named {name:?}");
            assert!(case.get("expect").is_some(), "{stem}: {name}: expects nothing");
        }
        assert!(!names.is_empty(), "{stem} has no cases");
    }
}

/// Operations that always fail, and the reasons.
const NEVER_SUCCEED: &[(&str, &str)] = &[
    ("DW_OP_form_tls_address", "a GPU has no thread-local storage"),
    ("DW_OP_GNU_push_tls_address", "a GPU has no thread-local storage"),
];

#[test]
fn every_operation_has_a_case_that_succeeds() {
    let cases = cases();
    let none = Cases::default();
    let mut without = Vec::new();
    for row in OPERATIONS {
        let of = cases.get(row.name).unwrap_or(&none);
        if let Some((name, reason)) = NEVER_SUCCEED.iter().find(|(name, _)| *name == row.name) {
            assert!(of.succeed == 0 && of.fail > 0, "{name} should have a failing case only: {reason}");
            continue;
        }
        let dialects = Dialect::ALL.into_iter().filter(|dialect| code(row, *dialect) != "-");
        // DWARF's own operations have one number and one meaning in every dialect.
        if row.section.starts_with("DWARF 5") {
            without.extend((of.succeed == 0).then_some((row.name, "any")));
            continue;
        }
        let missing = dialects.filter(|dialect| !of.dialects.contains(dialect.name()));
        without.extend(missing.map(|dialect| (row.name, dialect.name())));
    }
    assert!(without.is_empty(), "no case in tests/eval succeeds with {without:?}");
}

#[test]
fn every_operation_that_takes_something_has_a_case_that_fails() {
    // These take nothing from the stack, have no operand that may be missing and work in any position.
    const CANNOT_FAIL: &[&str] = &[
        "DW_OP_addr",
        "DW_OP_const1u",
        "DW_OP_const1s",
        "DW_OP_const2u",
        "DW_OP_const2s",
        "DW_OP_const4u",
        "DW_OP_const4s",
        "DW_OP_const8u",
        "DW_OP_const8s",
        "DW_OP_constu",
        "DW_OP_consts",
        "DW_OP_nop",
        "DW_OP_implicit_value",
        "DW_OP_LLVM_nop",
        "DW_OP_LLVM_undefined",
        "DW_OP_undefined",
        "DW_OP_composite",
    ];
    let cases = cases();
    let fails = |row: &&Shape| cases.get(row.name).is_some_and(|of| of.fail > 0);
    let exists = |row: &&Shape| Dialect::ALL.into_iter().any(|dialect| code(row, dialect) != "-");
    let rows = OPERATIONS.iter().filter(exists).filter(|row| !CANNOT_FAIL.contains(&row.name));
    let without: Vec<_> = rows.filter(|row| !fails(row)).map(|row| row.name).collect();
    assert!(without.is_empty(), "no case in tests/eval fails in {without:?}");
}

/// Rows of the conformance list at the beginning of case names: inputs and results from the texts, from other tools'
/// tests and by hand. A decoding, B values, C locations, D composites, E vectors of locations, F call frames; G lanes,
/// H address spaces, J calls and implicit pointers, K clang's idioms.
const ROWS: &[(&str, &[u32])] = &[
    ("A", &[1, 2, 3]),
    ("B", &[1, 2, 3, 4, 5, 6, 7, 8, 13]),
    ("C", &[1, 2, 5, 7, 9, 11, 13, 15, 16, 18, 20, 21, 24, 26]),
    ("D", &[1, 2, 4, 5, 9, 10, 13, 17, 20]),
    ("E", &[1, 2, 3]),
    ("F", &[0, 1, 2, 4, 6, 7, 12, 15]),
    ("G", &[1, 2]),
    ("H", &[1, 2, 3, 7, 11, 13, 14]),
    ("J", &[1, 4]),
    ("K", &[1, 3, 6]),
];

#[test]
fn every_row_of_the_conformance_list_has_a_case() {
    let files = files();
    let names = || files.iter().flat_map(|(_, file)| of_file(file)).map(|case| text(case, "name"));
    let has = |row: &str| names().any(|name| name.split(' ').next() == Some(row));
    let rows = ROWS.iter().flat_map(|(group, rows)| rows.iter().map(move |row| format!("{group}{row}")));
    let without: Vec<_> = rows.filter(|row| !has(row)).collect();
    assert!(without.is_empty(), "no case in tests/eval is named after {without:?}");
    // Region by region of the nested IF/THEN/ELSE, with its errors and without.
    for region in ["a", "b", "c", "d", "e", "f", "g"] {
        assert!(names().any(|name| name.starts_with(&format!("G1 {region} as written"))), "G1 {region}");
    }
    for region in ["b", "c", "d", "e", "f"] {
        assert!(names().any(|name| name == format!("G1 {region} as corrected")), "G1 {region}");
    }
    for issue in ["#209582", "#209451", "#220774"] {
        let starts = format!("llvm-project {issue}");
        assert!(names().any(|name| name.starts_with(&starts)), "{issue} has no case");
    }
}

/// First bytes of operations in a dialect, from the texts: DWARF 5 table 7.9, binutils' dwarf2.def for GNU's, LLVM's
/// Dwarf.def and its document of 2020 to 2022, the 2020 AMDGPU text, and `evaluator/src/draft.toml`.
fn known(dialect: Dialect) -> Vec<u8> {
    let standard = [0x03, 0x06].into_iter().chain(0x08..=0xa9);
    let gnu: &[u8] = &[0xe0, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf9, 0xfb, 0xfc];
    let own: Vec<u8> = match dialect {
        Dialect::LlvmUser => [&[0xe9], gnu].concat(),
        Dialect::LlvmDirect => (0xe1..=0xec).chain(gnu.iter().copied()).collect(),
        Dialect::AmdgpuUsage2020 => vec![0xe7, 0xe9, 0xea],
        Dialect::Draft => {
            let text = fs::read_to_string(root().join("evaluator/src/draft.toml")).unwrap();
            let file: toml::Table = toml::from_str(&text).unwrap();
            let codes = file["operations"].as_table().unwrap().values();
            codes.map(|code| u8::try_from(code.as_integer().unwrap()).unwrap()).collect()
        }
    };
    standard.chain(own).collect()
}

#[test]
fn bytes_that_begin_no_operation_are_undecodable() {
    for dialect in Dialect::ALL {
        let known = known(dialect);
        for code in 0..=u8::MAX {
            let failed = Program::decode(&[0x96, code], Encoding::new(dialect)).err();
            let cause = failed.map(|error| (error.at.0, error.cause));
            let is_unknown = cause == Some((1, Cause::UnknownOperation { code }));
            assert_eq!(is_unknown, !known.contains(&code), "{code:#04x} in {}", dialect.name());
        }
    }
    // LLVM's sub-operations: 1 to 0xc, and no others.
    for sub in 0..=u8::MAX {
        let bytes = if sub < 0x80 { vec![0xe9, sub] } else { vec![0xe9, sub, 0x01] };
        let number = u64::from(sub & 0x7f) | if sub < 0x80 { 0 } else { 0x80 };
        let failed = Program::decode(&bytes, Encoding::new(Dialect::LlvmUser)).err();
        let is_unknown = failed.map(|error| error.cause) == Some(Cause::UnknownSubOperation { sub: number });
        assert_eq!(is_unknown, !(1..=0x0c).contains(&sub), "sub-operation {number:#x}");
    }
}
