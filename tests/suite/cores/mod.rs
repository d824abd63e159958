//! ROCm cores: values that AMD's library reads from the samples (tests/fixtures/gpucore), through `lanescope export`
//! and over the remote protocol; and the same files damaged.

mod changed;
mod damaged;
mod debuginfod;
mod gaps;
mod objects;
mod reasons;
mod unchecked;
mod unconfirmed;
mod wire;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::fixtures::fixtures;

/// Names of the samples.
pub(crate) const SAMPLES: [&str; 5] =
    ["gfx1030-wave32", "gfx1100", "gfx90a-split", "gfx90a-unified", "gfx942-multi-xcc"];

/// A sample's core.
pub(crate) fn core(name: &str) -> PathBuf {
    fixtures().join("gpucore").join(format!("{name}.core"))
}

/// Values that AMD's library reads from it.
pub(crate) fn expected(name: &str) -> Value {
    let path = fixtures().join("gpucore").join(format!("{name}.expected.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The output of `lanescope export` for it.
fn export(arguments: &[&str]) -> Value {
    crate::in_samples_notation(lanescope(&[&["export", "--json"][..], arguments].concat()))
}

/// JSON output of a command, without debuginfod servers.
fn lanescope(arguments: &[&str]) -> Value {
    let output = crate::support::lanescope()
        .args(arguments)
        .env_remove("DEBUGINFOD_URLS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {told}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Collects differences.
struct Differences {
    name: String,
    compared: usize,
    found: Vec<String>,
}

impl Differences {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), compared: 0, found: Vec::new() }
    }

    fn compare(&mut self, what: &str, ours: &Value, expected: &Value) {
        self.compared += 1;
        if ours != expected {
            let short = |value: &Value| value.to_string().chars().take(120).collect::<String>();
            self.found.push(format!("{} {what}: {} expected {}", self.name, short(ours), short(expected)));
        }
    }

    fn finish(mut self, least: usize) {
        self.found.truncate(30);
        assert!(self.found.is_empty(), "{}", self.found.join("\n"));
        assert!(self.compared >= least, "{}: only {} values", self.name, self.compared);
    }
}

/// Pairs of two lists, which must have equal lengths.
fn pairs<'a>(ours: &'a Value, expected: &'a Value) -> impl Iterator<Item = (&'a Value, &'a Value)> {
    let (ours, expected) = (ours.as_array().unwrap(), expected.as_array().unwrap());
    assert_eq!(ours.len(), expected.len());
    ours.iter().zip(expected)
}

/// Hex digits of the private memory of all lanes in memory order: dwords of the lanes side by side.
fn swizzled(lanes: &Value) -> Option<String> {
    let lanes: Vec<&str> = lanes.as_array()?.iter().map(|lane| lane.as_str().unwrap()).collect();
    let dwords = lanes.first()?.len() / 8;
    Some((0..dwords).flat_map(|n| lanes.iter().map(move |lane| &lane[n * 8..n * 8 + 8])).collect())
}

fn sha256(hex: &str) -> String {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(digits).collect();
    let mut tool =
        Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("coreutils");
    tool.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = tool.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

/// The writer knows the line of each PC.
#[test]
fn info_names_wave_kernel_and_line_of_each_fault() {
    let faults = ["MEMORY_VIOLATION", "ASSERT_TRAP", "ILLEGAL_INSTRUCTION"];
    let name = "gfx1100";
    let path = fixtures().join("gpucore").join(format!("{name}.core"));
    let path = path.to_str().unwrap();
    let found = lanescope(&["info", "--json", path])["faulted_at"].clone();
    let expected = expected(name);
    let faulted = expected["waves"].as_array().unwrap().iter();
    let faulted: Vec<&Value> =
        faulted.filter(|wave| faults.iter().any(|one| wave["stop_reasons"][0] == *one)).collect();
    assert_eq!(found.as_array().unwrap().len(), faulted.len(), "{found}");
    let output = crate::support::lanescope().args(["info", path]).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for (ours, wave) in found.as_array().unwrap().iter().zip(faulted) {
        let (id, line) = (wave["ordinal"].as_u64().unwrap() + 1, &wave["writer"]["location"]["line"]);
        assert_eq!(ours["waves"], serde_json::json!([[id, id]]), "{ours}");
        assert_eq!((&ours["kernel"], &ours["line"]), (&"k".into(), line), "{ours}");
        let lines = text.lines().filter(|one| one.starts_with(&format!("  wave {id}: ")));
        let lines: Vec<&str> = lines.collect();
        assert!(lines.len() == 1 && lines[0].ends_with(&format!(" in k, stopped at k.cl:{line}")), "{text}");
    }
    // Without debug information the PC, in AMD's bytes lowest first.
    let split = fixtures().join("gpucore/gfx90a-split.core");
    let found = lanescope(&["info", "--json", split.to_str().unwrap()]);
    let (first, pc) = (&found["faulted_at"][0], self::expected("gfx90a-split"));
    let pc = pc["waves"][0]["registers"]["pc"].as_str().unwrap();
    let pc: String = (0..8).rev().map(|byte| &pc[2 * byte..2 * byte + 2]).collect();
    assert_eq!(first["pc"], format!("0x{}", pc.trim_start_matches('0')));
    assert!(first["line"].is_null(), "{first}");
}

#[test]
fn every_value_of_the_samples_is_exported() {
    for name in SAMPLES {
        let expected = expected(name);
        let ours = export(&[core(name).to_str().unwrap()]);
        let mut differences = Differences::new(name);
        lists(&ours, &expected, &mut differences);
        for (ours, expected) in pairs(&ours["workgroups"], &expected["workgroups"]) {
            for key in ["queue_id", "packet_id", "coord", "local"] {
                differences.compare(&format!("work-group {key}"), &ours[key], &expected[key]);
            }
        }
        for (ours, expected) in pairs(&ours["waves"], &expected["waves"]) {
            wave(ours, expected, &mut differences);
        }
        differences.finish(500);
    }
}

fn lists(ours: &Value, expected: &Value, differences: &mut Differences) {
    let tables: [(&str, &[&str]); 3] = [("agents", &["supported"]), ("queues", &[]), ("dispatches", &[])];
    for (table, not_ours) in tables {
        for (ours, expected) in pairs(&ours[table], &expected[table]) {
            for (key, value) in expected.as_object().unwrap() {
                if !not_ours.contains(&key.as_str()) {
                    differences.compare(&format!("{table} {key}"), &ours[key], value);
                }
            }
        }
    }
    let segments: Vec<Value> = expected["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| json!({ "address": segment["va"], "size": segment["filesz"], "name": null }))
        .collect();
    let mut memory: Vec<Value> = ours["memory"].as_array().unwrap().clone();
    let mut segments = segments;
    for list in [&mut memory, &mut segments] {
        list.sort_by_key(|segment| segment["address"].as_u64());
    }
    differences.compare("segments", &json!(memory), &json!(segments));
}

fn wave(ours: &Value, expected: &Value, differences: &mut Differences) {
    let ordinal = &expected["ordinal"];
    let keys = [
        "ordinal",
        "architecture",
        "gpu_id",
        "queue_id",
        "workgroup",
        "packet_id",
        "coord",
        "wave_in_group",
        "lanes",
        "pc",
        "exec",
        "stop_reasons",
        "private_wave_bytes",
    ];
    for key in keys {
        differences.compare(&format!("wave {ordinal} {key}"), &ours[key], &expected[key]);
    }
    // Registers that the library rewrites are listed apart, with the file's value.
    let rewritten = expected["rewritten_by_oracle"].as_object().unwrap();
    let rewritten = rewritten.iter().map(|(name, values)| (name, &values["file"]));
    let registers = expected["registers"].as_object().unwrap();
    for (register, value) in registers.iter().chain(rewritten.clone()) {
        differences.compare(&format!("wave {ordinal} {register}"), &ours["registers"][register], value);
    }
    for (register, value) in ours["registers"].as_object().unwrap() {
        let known = registers.contains_key(register) || rewritten.clone().any(|(name, _)| name == register);
        assert!(known || value.is_null(), "wave {ordinal} {register}: {value}, which the wave does not have");
    }
    let none = json!([]);
    let lanes = if expected["private_lane"].is_null() { &none } else { &expected["private_lane"] };
    differences.compare(&format!("wave {ordinal} private_lane"), &ours["private_lane"], lanes);
    // A wave without scratch has all 0 bytes of it.
    let all = swizzled(lanes).or((expected["private_wave_bytes"] == 0).then(String::new));
    differences.compare(&format!("wave {ordinal} private_wave"), &ours["private_wave"], &json!(all));
    if let Some(all) = all.filter(|all| !all.is_empty()) {
        let sum = json!(sha256(&all));
        differences.compare(&format!("wave {ordinal} private_wave"), &sum, &expected["private_wave_sha256"]);
    }
    assert_eq!(ours["registers"]["pc"], json!(bytes_of(expected["pc"].as_u64().unwrap())));
    let writer = &expected["writer"];
    if writer["counts"]["s"].is_u64() {
        differences.compare("sgpr_count", &ours["sgpr_count"], &writer["counts"]["s"]);
    }
}

fn bytes_of(number: u64) -> String {
    number.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file name does not matter, nor does the runtime's version if the file has it.
#[test]
fn the_content_determines_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manifest.toml");
    std::fs::copy(core("gfx1100"), &path).unwrap();
    let ours = export(&[path.to_str().unwrap()]);
    assert_eq!(
        ours["waves"].as_array().unwrap().len(),
        expected("gfx1100")["waves"].as_array().unwrap().len()
    );
    assert!(ours["provenance"]["format"].as_str().unwrap().starts_with("ROCm core of host and GPUs"));
}

/// A core split into the file of the host's dumper and that of ROCm reads as the whole one.
#[test]
fn a_host_core_beside_a_gpu_core_gives_what_a_merged_one_does() {
    for name in ["gfx90a-unified", "gfx1100", "gfx942-multi-xcc"] {
        let folder = tempfile::tempdir().unwrap();
        let file = std::fs::read(core(name)).unwrap();
        let (host, gpu) = (folder.path().join("core"), folder.path().join("gpucore"));
        std::fs::write(&host, part(name, &file, true)).unwrap();
        std::fs::write(&gpu, part(name, &file, false)).unwrap();
        let path = core(name);
        let mut whole = export(&[path.to_str().unwrap()]);
        for (first, second) in [(&gpu, &host), (&host, &gpu)] {
            let mut both = export(&[first.to_str().unwrap(), "--host-core", second.to_str().unwrap()]);
            assert_eq!(
                both["provenance"]["format"],
                "ROCm GPU core with its host core, driver interface 1.16"
            );
            for one in [&mut whole, &mut both] {
                for key in ["name", "provenance", "problems"] {
                    one.as_object_mut().unwrap().remove(key);
                }
            }
            assert!(whole == both, "{name}");
        }
    }
}

/// The host's part of a merged sample, or the GPU's with the notes, as a separate core.
pub(crate) fn part(name: &str, file: &[u8], host: bool) -> Vec<u8> {
    let segments = expected(name)["segments"].as_array().unwrap().clone();
    let is_host = |offset: u64| {
        let of = segments.iter().find(|segment| segment["off"].as_u64() == Some(offset));
        of.unwrap()["name"].as_str().unwrap().starts_with("host:")
    };
    let machine = if host { 62 } else { 224 };
    with_segments(file, machine, |kind, offset| match kind {
        4 => !host,
        _ => is_host(offset) == host,
    })
}

/// A core with some of its program headers, and the given e_machine.
fn with_segments(file: &[u8], machine: u16, keep: impl Fn(u32, u64) -> bool) -> Vec<u8> {
    let mut file = file.to_vec();
    file[18..20].copy_from_slice(&machine.to_le_bytes());
    let count = usize::from(u16::from_le_bytes([file[56], file[57]]));
    let table = u64::from_le_bytes(file[32..40].try_into().unwrap()) as usize;
    for at in (0..count).map(|index| table + index * 56) {
        let kind = u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let offset = u64::from_le_bytes(file[at + 8..at + 16].try_into().unwrap());
        if !keep(kind, offset) {
            // PT_LOPROC: an unassigned type.
            file[at..at + 4].copy_from_slice(&0x7000_0000u32.to_le_bytes());
        }
    }
    file
}
