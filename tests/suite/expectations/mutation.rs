//! A flipped byte of a capture makes the lines about it fail, and no others.

use std::fs;

use lanescope::check::Verdict;

use super::bless::blessed;
use super::evaluate;
use crate::fixtures::{copy_dump, expected, open};

/// Bytes of a file of a dump with a path to them.
struct Part {
    file: String,
    /// Offset of the first byte in the file, and the number of bytes.
    offset: usize,
    length: usize,
    /// The id of a wave, and the path.
    wave: u64,
    path: String,
}

/// Bytes of a line about memory.
const LINE: u64 = 32;
/// Vector registers of a wave that lines are about.
const VECTORS: u64 = 1;

fn number(value: &toml::Value) -> u64 {
    match value {
        toml::Value::Integer(number) => *number as u64,
        toml::Value::String(text) => u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap(),
        other => panic!("{other}"),
    }
}

fn list<'m>(of: &'m toml::Value, key: &str) -> &'m [toml::Value] {
    of.get(key).and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The places of captured bytes by the manifest, and paths to them (docs/dump-format.md).
fn parts(manifest: &toml::Value, expected: &serde_json::Value) -> Vec<Part> {
    let waves: Vec<&toml::Value> =
        list(manifest, "wave").iter().filter(|wave| wave.get("image").is_some()).collect();
    let mut all = Vec::new();
    let mut memory = |segment: &toml::Value, wave: u64, space: &str, address: u64| {
        let Some(file) = segment.get("file").and_then(toml::Value::as_str) else { return };
        let offset = segment.get("offset").map_or(0, number);
        for index in 0..number(&segment["length"]) / LINE {
            let (at, count) = (address + index * LINE, LINE / 4);
            all.push(Part {
                file: file.to_owned(),
                offset: (offset + index * LINE) as usize,
                length: LINE as usize,
                wave,
                path: format!("*({space} unsigned int *) {at:#x}@{count}"),
            });
        }
    };
    let Some(first) = waves.first() else { return Vec::new() };
    for segment in list(manifest, "memory") {
        memory(segment, number(&first["id"]), "global", number(&segment["address"]));
    }
    for group in list(manifest, "workgroup") {
        let own = waves.iter().find(|wave| wave.get("workgroup") == group.get("id"));
        let (Some(wave), [segment, ..]) = (own, list(group, "lds")) else { continue };
        memory(segment, number(&wave["id"]), "local", 0);
    }
    for wave in &waves {
        let image = &wave["image"];
        let layout =
            list(manifest, "layout").iter().find(|layout| Some(&layout["name"]) == image.get("layout"));
        let blocks = layout.map(|layout| list(layout, "blocks")).unwrap_or_default();
        let vectors = blocks.iter().find(|block| block["registers"].as_str().unwrap().starts_with("v0-"));
        let (Some(block), Some(file)) = (vectors, image.get("file").and_then(toml::Value::as_str)) else {
            continue;
        };
        let offset = image.get("offset").map_or(0, number) + block.get("offset").map_or(0, number);
        let id = number(&wave["id"]);
        let own = expected["waves"].as_array().unwrap().iter().find(|own| own["id"].as_u64() == Some(id));
        let Some(lanes) = own.and_then(|own| own["wave_size"].as_u64()) else { continue };
        for dword in 0..VECTORS * lanes {
            all.push(Part {
                file: file.to_owned(),
                offset: (offset + dword * 4) as usize,
                length: 4,
                wave: id,
                path: format!("$v{}[{}]", dword / lanes, dword % lanes),
            });
        }
    }
    all
}

#[test]
fn a_flipped_byte_fails_its_line() {
    let (mut flips, mut wrong) = (0, Vec::new());
    for (name, path, expected) in expected() {
        let Ok(text) = fs::read_to_string(path.join("manifest.toml")) else { continue };
        let parts = parts(&toml::from_str(&text).unwrap(), &expected);
        // Each part has two lines: the wave, and a value that differs from itself.
        let line = |part: &Part| format!("wave id {}\n  lane 0 {} != {}\n", part.wave, part.path, part.path);
        let text: String = parts.iter().map(line).collect();
        let good = blessed(&text, &evaluate(&open(&path), &text));
        let parts: Vec<&Part> = good.iter().map(|(line, _)| &parts[(line - 1) / 2]).collect();
        let text: String = good
            .iter()
            .zip(&parts)
            .map(|((_, line), part)| format!("wave id {}\n{line}\n", part.wave))
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        copy_dump(path.file_name().unwrap().to_str().unwrap(), &copy);
        // One byte of some lines of each file, at different places and bits.
        let chosen: Vec<usize> = (0..parts.len()).step_by(parts.len().div_ceil(12).max(1)).collect();
        for (count, index) in chosen.iter().enumerate() {
            let Part { file, offset, length, .. } = parts[*index];
            let mut data = fs::read(copy.join(file)).unwrap();
            data[offset + (count * 7 + flips) % length] ^= 1 << (count % 8);
            fs::write(copy.join(file), data).unwrap();
        }
        let outcomes = evaluate(&open(&copy), &text);
        for (index, outcome) in outcomes.iter().filter(|outcome| outcome.line % 2 == 0).enumerate() {
            if (outcome.verdict != Verdict::Holds) != chosen.contains(&index) {
                wrong.push(format!("{name}: {} {:?}", parts[index].path, outcome.verdict));
            }
        }
        flips += chosen.len();
    }
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(20)].join("\n"));
    assert!(flips > 300, "only {flips} bytes were flipped");
}
