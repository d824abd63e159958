//! The command's output, as text and as JSON.

use serde_json::Value;

use super::run;
use crate::arch::Targets;

fn output(name: Option<&str>, json: bool) -> String {
    let mut out = Vec::new();
    run(name, &Targets::builtin(), json, &mut out).unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8(out).unwrap()
}

/// The text has a row, in one line or folded.
#[track_caller]
fn has_row(text: &str, expected: &str) {
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(squeezed.contains(expected), "no row {expected:?} in\n{text}");
}

#[test]
fn the_list_has_a_line_for_each_target() {
    let text = output(None, false);
    let rows = text.lines().filter(|line| !line.starts_with("    ")).count();
    assert_eq!(rows, 1 + Targets::builtin().names().count());
    has_row(&text, "gfx90a 0x3f wave64 buffer xnack, sramecc AMD Instinct MI210, MI250 and MI250X");
    has_row(&text, "gfx1100 0x41 wave32, wave64 flat - Radeon RX 7900 XT and XTX, Radeon PRO W7900");
    assert!(text.lines().all(|line| line == line.trim_end()), "no spaces at the ends of lines");
}

#[test]
fn one_target_is_shown_whole() {
    let text = output(Some("gfx1100"), false);
    for line in [
        "EF_AMDGPU_MACH 0x41",
        "Registers of wave32",
        "Registers of wave64",
        "s0-s63 scalar 32 32-95 512-575",
        "v0-v255 vector 1024 1536-1791 256-511",
        "v0-v255 vector 2048 2560-2815 0-255",
        "vcc general 32 512 742 in SGPRs, 2 from the end of the allocation",
        "status system 32 128 739 bits: status_flags",
        "2560-2815 VGPR0-VGPR255 of wave64",
        "1792-2047 VGPR256-VGPR511 reserved for newer GPUs",
        "24 NO_VGPRS",
        "0x05 private_lane 32 0xffffffff lane in focus 0x0002000000000000",
        "0x20+N private_laneN 32 0xffffffff lane N -",
        "Address classes in units with augmentation [amd:v0.0]",
        "4 constant global",
        "address_error 10 address error (misaligned or out of range) trapsts[8] without [28]",
    ] {
        has_row(&text, line);
    }
}

#[test]
fn json_has_the_same_values() {
    let list: Value = serde_json::from_str(&output(None, true)).unwrap();
    assert!(
        list["targets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .eq(Targets::builtin().names())
    );
    assert_eq!(list["targets"][3]["name"], "gfx90a");
    let one: Value = serde_json::from_str(&output(Some("gfx90a"), true)).unwrap();
    assert_eq!(one["name"], "gfx90a");
    assert_eq!(one["elf_machine"], 0x3f);
    let registers = one["kinds"][0]["registers"].as_array().unwrap();
    let vgprs = registers.iter().find(|run| run["first"] == "v0").unwrap();
    assert_eq!(vgprs["last"], "v255");
    assert_eq!((&vgprs["dwarf"], &vgprs["type"]), (&Value::from(2560), &Value::from("lanes")));
    assert_eq!(one["spaces"].as_array().unwrap().len(), 70);
    assert_eq!(one["stop_reasons"][13]["signal"], 11);
}

#[test]
fn an_unknown_target_is_an_error_that_lists_the_known_ones() {
    let error = run(Some("gfx1"), &Targets::builtin(), false, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("gfx1201"), "{error}");
}
