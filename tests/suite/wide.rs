//! gfx1250: more than 256 vector registers, by tests/fixtures/models/wide.py. The values of the registers and variables
//! are compared with those of all other dumps' (`disassemble.rs`, `variables.rs`).

use serde_json::Value;

use crate::fixtures::{copy_dump, fixtures};
use crate::slim::{lanescope, words};

fn ask(command: &str, options: &[&str]) -> String {
    let dump = fixtures().join("dumps/wide-gfx1250-O2");
    let output = lanescope(&[&[command, words(&dump)], options].concat());
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn info_and_registers_have_those_beyond_v255() {
    assert!(ask("info", &[]).contains("2 waves of gfx1250:wave32"));
    // In lane 17, work-item 49: 299 * 0.5 + 49 * 0.015625, and weight = 49 * 4 - 8.
    let json: Value =
        serde_json::from_str(&ask("registers", &["--wave", "2", "-r", "v300,v321", "--json"])).unwrap();
    for (name, value) in [("v300", 150.265_63_f32), ("v321", 188.0)] {
        // Bytes of 32 lanes.
        let bytes = json["registers"][name].as_str().unwrap();
        assert_eq!(bytes.len(), 32 * 8, "{name}");
        assert_eq!(bytes[17 * 8..18 * 8], format!("{:08x}", value.to_bits().swap_bytes()), "{name}");
    }
    let mode = ask("registers", &["--wave", "1", "-r", "mode"]);
    // `s_set_vgpr_msb 64`: destinations are 256 higher.
    assert!(mode.contains("DST_VGPR_MSB=1"), "{mode}");
}

/// The page from in + 18432 * 4 on: the loads of a388 (by v289) to v299, before the PC.
#[test]
fn a_fault_in_a_load_beyond_v255_is_found() {
    let text = ask("triage", &["--fault-address", "0x7f0000212b50"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.starts_with("wide reads in[18432 + lane]: lanes 0-31 of wave 1, wide.hip:17"), "{text}");
    assert!(
        text.contains("load of 4 bytes: global_load_b32 v33 /*v289*/, v0, s[4:5] offset:73728"),
        "{text}"
    );
    assert!(text.contains("0x7f0000212000 in lane 0 to 0x7f000021207c in lane 31"), "{text}");
}

/// The registers of the text are not those of a wave whose MODE has other bits than the code sets.
#[test]
fn a_wave_with_other_bits_in_mode_has_no_known_accesses() {
    let folder = tempfile::tempdir().unwrap();
    copy_dump("wide-gfx1250-O2", folder.path());
    let manifest = folder.path().join("manifest.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    assert!(text.contains("mode = \"0x12f0\""));
    std::fs::write(&manifest, text.replace("mode = \"0x12f0\"", "mode = \"0x22f0\"")).unwrap();
    let output = lanescope(&["triage", words(folder.path()), "--fault-address", "0x7f0000212b50"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("memory violation") && !text.contains("18432"), "{text}");
}

/// A listing from the middle begins at the function's start for the tool.
#[test]
fn listings_from_the_middle_have_the_same_registers() {
    let around = ask("disassemble", &["--wave", "1", "--around", "2"]);
    assert!(around.contains("v43 /*v299*/") && around.contains("v46 /*v302*/"), "{around}");
    let from = ask("disassemble", &["--wave", "1", "--address", "0x7f000010243c", "--count", "2"]);
    assert!(from.contains("v44 /*v300*/") && from.contains("v45 /*v301*/"), "{from}");
}
