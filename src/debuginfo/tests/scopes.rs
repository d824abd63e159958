//! Functions, scopes, variables, locations and lines against llvm-dwarfdump, at every address where an answer changes.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::debug_info;
use super::dwarfdump::{Die, Dump, assemble, range, tool};
use crate::codeobject::{ElfAddress, some_objects};
use crate::debuginfo::{DebugInfo, Location, VariableAt};
use crate::sample::least;

/// Objects of this folder, and the package's shared fixtures.
pub(super) fn objects() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = root.join("src/debuginfo/tests/objects");
    let shared = root.join("tests/fixtures/code");
    let folders = [own, shared].into_iter().filter(|folder| folder.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let mut objects = some_objects(files.map(|file| file.expect("a file").path()).collect());
    // llvm-dwarfdump does not support the drafts' operations; drafts.rs tests that object.
    objects.retain(|path| !path.to_string_lossy().contains("/draft_ops-"));
    assert!(objects.len() >= 8);
    objects
}

/// A variable in llvm-dwarfdump's text: name, type, and the bytes of its location at the PC.
#[derive(Debug, PartialEq)]
struct Expected {
    offset: u64,
    name: String,
    type_name: String,
    location: String,
}

/// One frame in llvm-dwarfdump's text: its function's DIE and the variables in scope, outermost scope first.
fn expected(dump: &Dump, pc: u64) -> Option<(String, Vec<Expected>)> {
    let holds = |die: &Die| die.ranges().iter().any(|range| range.contains(&pc));
    let function = dump.dies.iter().rfind(|die| die.tag == "DW_TAG_subprogram" && holds(die))?;
    let (mut frame, mut chain) = (function, vec![function]);
    let mut scope = function;
    while let Some(inner) = inner_scopes(dump, scope).into_iter().find(|die| holds(die)) {
        if inner.tag == "DW_TAG_inlined_subroutine" {
            (frame, chain) = (inner, Vec::new());
        }
        chain.push(inner);
        scope = inner;
    }
    let mut variables = Vec::new();
    for scope in chain {
        collect(dump, scope, pc, function.unit, &mut variables);
    }
    Some((Die::quoted(dump.inherited(frame, "name")?).to_owned(), variables))
}

/// Blocks and inlined calls with code directly in a scope; a block without code is replaced by its contents.
fn inner_scopes<'a>(dump: &'a Dump, scope: &'a Die) -> Vec<&'a Die> {
    let children = scope.children.iter().map(|child| &dump.dies[*child]);
    let scopes = |tag: &str| matches!(tag, "DW_TAG_lexical_block" | "DW_TAG_inlined_subroutine");
    children
        .filter(|die| scopes(&die.tag))
        .flat_map(|die| if die.ranges().is_empty() { inner_scopes(dump, die) } else { vec![die] })
        .collect()
}

fn collect(dump: &Dump, scope: &Die, pc: u64, unit: u64, variables: &mut Vec<Expected>) {
    let mut seen = HashSet::new();
    for child in scope.children.iter().map(|child| &dump.dies[*child]) {
        seen.extend(child.reference("abstract_origin"));
        match child.tag.as_str() {
            "DW_TAG_variable" | "DW_TAG_formal_parameter" => variables.push(variable(dump, child, pc, unit)),
            "DW_TAG_lexical_block" if child.ranges().is_empty() => collect(dump, child, pc, unit, variables),
            _ => {}
        }
    }
    if let Some(origin) = scope.reference("abstract_origin") {
        missing(dump, dump.at(origin), &seen, pc, unit, variables);
    }
}

/// Variables of the abstract instance that the concrete one omits.
fn missing(
    dump: &Dump,
    origin: &Die,
    seen: &HashSet<u64>,
    pc: u64,
    unit: u64,
    variables: &mut Vec<Expected>,
) {
    for child in origin.children.iter().map(|child| &dump.dies[*child]) {
        match child.tag.as_str() {
            _ if seen.contains(&child.offset) => {}
            "DW_TAG_variable" | "DW_TAG_formal_parameter" => variables.push(variable(dump, child, pc, unit)),
            "DW_TAG_lexical_block" => missing(dump, child, seen, pc, unit, variables),
            _ => {}
        }
    }
}

fn variable(dump: &Dump, die: &Die, pc: u64, unit: u64) -> Expected {
    let text = |name| dump.inherited(die, name).map(Die::quoted).unwrap_or_default().to_owned();
    let location = dump.inherited(die, "location").map(|location| {
        let mut lines = location.lines();
        let first = lines.next().unwrap_or_default();
        if !first.ends_with(": ") && !first.ends_with(':') {
            return hex(&assemble(first, unit));
        }
        let found = lines.find(|line| range(line).is_some_and(|range| range.contains(&pc)));
        let bytes = found.map(|line| hex(&assemble(line.split_once("): ").expect(line).1, unit)));
        bytes.unwrap_or_else(|| "not here".to_owned())
    });
    let constant = dump.inherited(die, "const_value").map(|value| format!("constant {value}"));
    Expected {
        offset: die.offset,
        name: text("name"),
        type_name: text("type").replace(' ', ""),
        location: location.or(constant).unwrap_or_else(|| "none".to_owned()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn found(info: &DebugInfo, at: &VariableAt) -> Expected {
    let variable = &at.variable;
    let location = match &at.location {
        Location::None => "none".to_owned(),
        Location::NotAtPc => "not here".to_owned(),
        Location::Broken(why) => panic!("{why}"),
        Location::Expression(bytes) | Location::ListEntry { expression: bytes, .. } => hex(bytes),
        Location::ConstValue(bytes) => {
            let number = bytes.iter().rev().fold(0i128, |number, byte| number << 8 | i128::from(*byte));
            format!("constant {number}")
        }
    };
    let type_name = variable.type_id.map(|id| info.type_name(Some(id)).expect("a name")).unwrap_or_default();
    Expected {
        offset: variable.die.0,
        name: variable.name.as_deref().unwrap_or_default().to_owned(),
        // The tool prints only the keyword for an unnamed type.
        type_name: type_name.replace("{...}", "").replace(' ', ""),
        location,
    }
}

/// Addresses where an answer may change: both sides of every range's ends.
fn edges(dump: &Dump) -> BTreeSet<u64> {
    let mut edges = BTreeSet::new();
    for die in &dump.dies {
        let lists = die.attribute("location").into_iter().flat_map(|list| list.lines().filter_map(range));
        for range in die.ranges().into_iter().chain(lists) {
            edges.extend([
                range.start,
                range.start.saturating_sub(4),
                range.end,
                range.end.saturating_sub(4),
            ]);
        }
    }
    edges
}

#[test]
fn variables_are_those_of_dwarfdump() {
    let mut checked = 0;
    for object in objects() {
        let dump = Dump::of(&object);
        let info = debug_info(std::fs::read(&object).expect("an object"));
        for pc in edges(&dump) {
            let place = format!("{} at {pc:#x}", object.display());
            let at = info.function_at(ElfAddress(pc)).expect(&place);
            let expected = expected(&dump, pc);
            let frame =
                at.as_ref().map(|at| at.frames[0].subprogram.name.as_deref().unwrap_or_default().to_owned());
            assert_eq!(frame, expected.as_ref().map(|(name, _)| name.clone()), "{place}");
            let variables = info.variables_at(ElfAddress(pc)).expect(&place);
            let variables: Vec<_> = variables.iter().map(|variable| found(&info, variable)).collect();
            let expected = expected.map(|(_, variables)| variables).unwrap_or_default();
            assert_eq!(variables, expected, "{place}");
            checked += variables.len();
        }
    }
    assert!(checked > least(2000, 600), "{checked}");
}

#[test]
fn lines_are_those_of_dwarfdump() {
    for object in objects() {
        let info = debug_info(std::fs::read(&object).expect("an object"));
        let text = tool(&["--debug-line"], &object);
        let mut rows: Vec<(u64, u64, u64, bool, bool)> = Vec::new();
        for line in text.lines().filter(|line| line.starts_with("0x")) {
            let mut fields = line.split_whitespace();
            let address = u64::from_str_radix(&fields.next().expect("an address")[2..], 16).expect(line);
            let mut number = || fields.next().and_then(|field| field.parse().ok()).expect(line);
            let (row, column) = (number(), number());
            let flags: HashSet<&str> = line.split_whitespace().collect();
            rows.push((address, row, column, flags.contains("is_stmt"), flags.contains("end_sequence")));
        }
        assert!(!rows.is_empty());
        for pair in rows.windows(2) {
            let [(address, line, column, is_stmt, ends), (next, ..)] = pair else { unreachable!() };
            // Of several rows for one address the last counts.
            if *ends || next == address {
                continue;
            }
            for pc in [*address, next - 4] {
                let found = info.line_at(ElfAddress(pc)).expect("a line table").expect("a row");
                let found = (found.place.line, found.place.column, found.is_stmt, found.address.0);
                assert_eq!(found, (*line, *column, *is_stmt, *address), "{} at {pc:#x}", object.display());
            }
        }
        // Sequences are not sorted by address.
        let end = rows.iter().map(|row| row.0).max().expect("rows");
        assert_eq!(info.line_at(ElfAddress(end)).expect("a line table"), None);
    }
}
