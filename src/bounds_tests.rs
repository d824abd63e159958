use super::*;
use crate::dwarf::limits;

const PAGE: &str = include_str!("../docs/security.md");

/// Subjects and levels of the table "Nesting".
fn rows() -> Vec<(&'static str, &'static str)> {
    let section = PAGE.split("\n### Nesting\n").nth(1).unwrap().split("\n### ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        (cells[1], cells[2])
    })
    .collect()
}

#[test]
fn the_page_has_the_depths() {
    let calls = format!("{}, {}", limits::MAX_NESTING, limits::MAX_CALL_DEPTH);
    let metadata = format!("{MAX_DEPTH}; brackets in YAML 255 (the parser's own)");
    let paths = format!("{MAX_PATH_DEPTH}, in 1,024 characters");
    let symbols = format!("{MAX_SYMBOL_DEPTH} parts within parts, 4,096 characters");
    let [depth, chain, reads, templates, variants, origins, imports] = [
        MAX_DEPTH,
        MAX_TYPE_CHAIN,
        MAX_TYPE_READS,
        MAX_TEMPLATE_DEPTH,
        MAX_VARIANT_DEPTH,
        MAX_ORIGINS,
        MAX_IMPORTS,
    ]
    .map(|levels| levels.to_string());
    let [objects, values, pointers, members, references, enclosing, frames, folders, parts] = [
        MAX_OBJECT_DEPTH,
        MAX_VALUE_DEPTH,
        MAX_POINTER_DEPTH,
        MAX_MEMBER_DEPTH,
        MAX_REFERENCES,
        MAX_ENCLOSING,
        MAX_FRAMES,
        MAX_FOLDER_DEPTH,
        MAX_NAME_PARTS,
    ]
    .map(|levels| levels.to_string());
    let expected: [(&str, &str); 24] = [
        ("DIEs: functions, types, globals, namespaces of a unit", &depth),
        ("scopes and inlined calls of a function, blocks of an abstract one", &depth),
        ("DIEs of a view (gimli's writer is recursive), of copied type units", &depth),
        ("MessagePack and YAML of metadata", &metadata),
        ("paths (`print`, `monitor print`)", &paths),
        ("types of types: typedefs, qualifiers, elements, parameters", &chain),
        ("dimensions of an array", &chain),
        ("types read for another type: bit fields", &reads),
        ("types read for another type: template arguments", &templates),
        ("variants in variants", &variants),
        ("origins and declarations of a DIE", &origins),
        ("imports of imports", &imports),
        ("objects for attributes of other objects: lengths of arrays", &objects),
        ("members and elements of a printed value", &values),
        ("pointers in members and elements of an object", &pointers),
        ("unnamed members and base classes, for a member's name or a cast", &members),
        ("references to references", &references),
        ("functions around a nested function", &enclosing),
        ("JSON, TOML", "128, 80 (the parsers' own)"),
        ("C++ symbols", &symbols),
        ("expressions within expressions, calls (`DW_OP_call*`)", &calls),
        ("physical frames of a stack", &frames),
        ("folders of `--symbols`", &folders),
        ("parts of a side file's name", &parts),
    ];
    assert_eq!(rows(), expected);
    let stack = format!("stacks of {} MiB", CLIENT_STACK >> 20);
    assert!(PAGE.contains(&stack), "{stack}");
    assert!(PAGE.contains(&format!("one depth, {MAX_DEPTH} levels,")));
}

/// Each constant of the module is in the test above.
#[test]
fn the_test_has_each_constant() {
    let names = include_str!("bounds.rs").lines().filter_map(|line| line.strip_prefix("pub(crate) const "));
    let names: Vec<&str> = names.map(|line| line.split(':').next().unwrap()).collect();
    assert!(names.len() > 10, "{names:?}");
    let missing: Vec<_> =
        names.iter().filter(|name| !include_str!("bounds_tests.rs").contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
