//! Rows of every fixture's call frame information, compared with llvm-dwarfdump's output.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::codeobject::{Bytes, CodeObject, ElfAddress, newest_llvm, some_objects};
use crate::dwarf::cfi::{CfaRule, RegisterRule, Row};
use crate::dwarf::{Budget, Program};
use crate::session::stack::unwind::UnwindTable;
use crate::units::DwarfReg;

/// The number of `SGPR32`, `PC_REG`, `reg1576`, for the names in the fixtures.
fn number(name: &str) -> Option<DwarfReg> {
    let digits = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let number: Option<u64> = digits.parse().ok();
    let number = match (name.trim_end_matches(|letter: char| letter.is_ascii_digit()), number) {
        ("SGPR", Some(number)) => number + if number < 64 { 32 } else { 1024 },
        ("VGPR", Some(number)) => number + 2560,
        ("AGPR", Some(number)) => number + 3072,
        ("reg", Some(number)) => number,
        ("PC_REG", None) => 16,
        ("EXEC", None) => 17,
        ("EXEC_LO", None) => 1,
        _ => return None,
    };
    Some(DwarfReg(number))
}

/// The operations' names of our program in llvm-dwarfdump's spelling.
fn ours(program: &Program) -> Vec<String> {
    program.operations().iter().map(|placed| placed.name.to_owned()).collect()
}

fn theirs(text: &str) -> Vec<String> {
    let names =
        text.split([',', ' ']).filter(|word| word.starts_with("DW_OP_") && *word != "DW_OP_LLVM_user");
    names.map(str::to_owned).collect()
}

fn register_rule(row: &Row, name: &str, rule: &str, context: &str) {
    let register = number(name).unwrap_or_else(|| panic!("{context}: {name}"));
    let placed = row.registers.get(&register).unwrap_or_else(|| panic!("{context}: no rule for {name}"));
    match (&placed.rule, rule.strip_prefix('[').and_then(|rule| rule.strip_suffix(']'))) {
        (RegisterRule::Undefined, None) => assert_eq!(rule, "undefined", "{context} {name}"),
        (RegisterRule::SameValue, None) => assert_eq!(rule, "same", "{context} {name}"),
        (RegisterRule::ValOffset(0), None) => assert_eq!(rule, "CFA", "{context} {name}"),
        (RegisterRule::Offset(0), Some("CFA")) => {}
        (RegisterRule::Offset(bytes), Some(rule)) => {
            assert_eq!(rule, format!("CFA{bytes:+}"), "{context} {name}");
        }
        (RegisterRule::Expression(Ok(program)), Some(rule)) => {
            assert_eq!(ours(program), theirs(rule), "{context} {name}")
        }
        (RegisterRule::ValExpression(Ok(program)), None) => {
            assert_eq!(ours(program), theirs(rule), "{context} {name}")
        }
        (mine, _) => panic!("{context} {name}: {mine:?} is {rule}"),
    }
}

/// Splits at commas outside of brackets. A value expression has no brackets: its operations stay together.
fn rules(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let (mut depth, mut start) = (0, 0);
    let mut piece = |piece: &str| match piece.trim().split_once('=') {
        Some((name, rule)) => found.push((name.to_owned(), rule.to_owned())),
        None => {
            let last = found.last_mut().expect("a rule before its rest");
            last.1 = format!("{}, {}", last.1, piece.trim());
        }
    };
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => {
                piece(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    piece(&text[start..]);
    found
}

#[test]
fn rows_are_those_that_llvm_dwarfdump_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code");
    let (mut rows, mut count, mut of_eh_frame) = (0, 0, 0);
    let paths = some_objects(fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect());
    let mut command = Command::new(newest_llvm("llvm-dwarfdump"));
    let output = command.args(["--debug-frame", "--eh-frame"]).args(&paths).output().unwrap();
    let all = String::from_utf8(output.stdout).unwrap();
    // Each file's text begins behind its name.
    let mut texts = all.split(":\tfile format ").skip(1);
    for path in paths {
        let text = texts.next().unwrap();
        let object = CodeObject::parse(Bytes::from(fs::read(&path).unwrap())).unwrap();
        let table = UnwindTable::default();
        let budget = Budget::default();
        for line in text.lines().filter(|line| line.starts_with("  0x")) {
            let (pc, row) = line.trim().split_once(": ").unwrap();
            let context = format!("{} {pc}", path.display());
            let pc = ElfAddress(u64::from_str_radix(&pc[2..], 16).unwrap());
            let found = table.at(&object, || None, pc, None, &budget);
            let mine = &found.as_ref().as_ref().unwrap_or_else(|why| panic!("{context}: {why:?}")).row;
            let cfa = row.strip_prefix("CFA=").unwrap();
            let (cfa, registers) = cfa.split_once(": ").map_or((cfa, None), |(cfa, rest)| (cfa, Some(rest)));
            match &mine.cfa.rule {
                CfaRule::Unspecified => assert_eq!(cfa, "unspecified", "{context}"),
                CfaRule::Register { register, displacement, space } => {
                    let (name, rest) = cfa.split_once('+').unwrap();
                    assert_eq!(number(name), Some(*register), "{context}");
                    assert_eq!(rest, format!("{displacement} in addrspace{}", space.0), "{context}");
                }
                CfaRule::Expression(program) => {
                    assert_eq!(ours(program.as_ref().unwrap()), theirs(cfa), "{context}")
                }
            }
            let registers = registers.map(rules).unwrap_or_default();
            assert_eq!(registers.len(), mine.registers.len(), "{context}: {registers:?}");
            for (name, rule) in &registers {
                register_rule(mine, name, rule, &context);
            }
            // The row holds up to the next one, and is cached.
            assert!(
                std::sync::Arc::ptr_eq(&found, &table.at(&object, || None, pc, None, &budget)),
                "{context}"
            );
            rows += 1;
            of_eh_frame +=
                usize::from(found.as_ref().as_ref().unwrap().entry.to_string().starts_with("the .eh_frame"));
            count += registers.len();
        }
        // clang writes tables without instructions: no row may be invented.
        if text.contains("FDE") && !text.lines().any(|line| line.starts_with("  0x")) {
            let pc = text.split_once(" pc=").unwrap().1.split_once("...").unwrap().0;
            let found =
                table.at(&object, || None, ElfAddress(u64::from_str_radix(pc, 16).unwrap()), None, &budget);
            let row = &found.as_ref().as_ref().unwrap().row;
            assert_eq!((&row.cfa.rule, row.registers.len()), (&CfaRule::Unspecified, 0));
        }
    }
    assert!(of_eh_frame > 10, "only {of_eh_frame} rows of .eh_frame");
    assert!(rows > 30 && count > 1000, "only {rows} rows with {count} rules");
}
