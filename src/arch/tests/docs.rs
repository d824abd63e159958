//! The manual's tables match the code: on failure, paste the expected text.

use crate::arch::load::{BUILT_IN, parse};
use crate::arch::{Targets, check};

const MANUAL: &str = include_str!("../../../docs/targets.md");

#[track_caller]
fn has(expected: &str) {
    assert!(MANUAL.contains(expected), "docs/targets.md is to contain\n{expected}");
}

#[test]
fn the_manual_lists_every_target() {
    let targets = Targets::builtin();
    let mut table = String::from("|---|---|---|---|---|---|---|\n");
    for name in targets.names() {
        let target = targets.target(name).unwrap();
        let kind = targets.kind(name, target.wave_sizes[0]).unwrap();
        let sizes: Vec<String> = target.wave_sizes.iter().map(|size| size.lanes().to_string()).collect();
        let scratch = if target.buffer_scratch { "buffer" } else { "flat" };
        let agprs = if kind.named("a0").is_some() { "yes" } else { "" };
        let (machine, registers, features) =
            (target.elf_machine, kind.registers().len(), target.features.join(", "));
        table.push_str(&format!(
            "| {name} | {machine:#04x} | {} | {scratch} | {registers} | {agprs} | {features} |\n",
            sizes.join(", ")
        ));
    }
    has(&table);
}

#[test]
fn the_manual_lists_every_stepping() {
    let mut table = String::from("|---|---|\n");
    for (name, text) in BUILT_IN {
        let steppings: Vec<String> =
            parse(name, text).unwrap().stepping.into_iter().map(|one| one.name).collect();
        if !steppings.is_empty() {
            table.push_str(&format!("| {name} | {} |\n", steppings.join(", ")));
        }
    }
    has(&table);
}

#[test]
fn the_page_of_amdgcn_lists_every_processor() {
    const PAGE: &str = include_str!("../../../docs/amdgcn-gdb.md");
    let targets = Targets::builtin();
    let mut listed = Vec::new();
    for row in PAGE.lines().filter(|line| line.starts_with("| gfx")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for name in cells[1].split(", ") {
            let expected = if cells[2].starts_with("the same") { name } else { cells[2] };
            assert_eq!(targets.target(name).unwrap().gdb_name(), expected, "{name}");
            listed.push(name);
        }
    }
    let lacking = targets.all_names().filter(|name| !listed.contains(name));
    let rows: Vec<String> =
        lacking.map(|name| format!("| {name} | {} |", targets.target(name).unwrap().gdb_name())).collect();
    assert!(rows.is_empty(), "docs/amdgcn-gdb.md lacks (same name: \"the same\")\n{}", rows.join("\n"));
    assert_eq!(listed.len(), targets.all_names().count(), "docs/amdgcn-gdb.md has a processor twice");
}

#[test]
fn the_manual_lists_every_check() {
    let names: Vec<String> = check::names().map(|name| format!("`{name}`")).collect();
    has(&format!("\n{}.\n", names.join(",\n")));
}
