//! A flipped byte of a capture makes the lines about it fail, and no others.

use std::fs;

use lanescope::check::Verdict;

use super::bless::blessed;
use super::evaluate;
use crate::fixtures::{copy_dump, few_expected, fixtures, open};
use crate::support::{least, sample::sampled};

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
    for (name, path, expected) in few_expected() {
        let Ok(text) = fs::read_to_string(path.join("manifest.toml")) else { continue };
        let parts = parts(&toml::from_str(&text).unwrap(), &expected);
        // Each part has two lines: the wave, and a value that no part has.
        let line = |part: &Part| format!("wave id {}\n  lane 0 {} == -77\n", part.wave, part.path);
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
    assert!(flips > least(300, 75), "only {flips} bytes were flipped");
}

/// Vector registers and lanes of the lines about cores and archives.
const REGISTERS: u32 = 3;
const LANES: usize = 64;

/// The place of a value in a file, which has it beside the others of its register in save areas and register files, and
/// its changed bytes. `None`: the values are at no place, or at several.
fn changed(file: &[u8], row: &[u32], lane: usize) -> Option<(usize, Vec<u8>)> {
    let values: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut places = memchr::memmem::find_iter(file, &values);
    let at = places.next().filter(|_| places.next().is_none())?;
    Some((at + lane * 4, (row[lane] ^ 1 << (lane % 32)).to_le_bytes().to_vec()))
}

/// The lines about the registers of waves, each with its wave and register.
fn register_lines(ids: impl Iterator<Item = u32>) -> Vec<(u32, String, String)> {
    let mut lines = Vec::new();
    for id in ids {
        lines.push((id, "exec".to_owned(), "  exec 0x0".to_owned()));
        for register in 0..REGISTERS {
            let name = format!("$v{register}");
            lines
                .extend((0..LANES).map(|lane| (id, name.clone(), format!("  lane 0 {name}[{lane}] == -77"))));
        }
    }
    lines
}

/// The value of a blessed line: `  exec 0x1f`, `  lane 0 $v1[3] == 7`. Of EXEC the low half.
fn value(line: &str) -> u32 {
    let word = line.rsplit(' ').next().unwrap();
    let hexadecimal = word.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16).unwrap() as u32);
    hexadecimal.unwrap_or_else(|| word.parse().unwrap())
}

#[test]
fn a_flipped_byte_of_a_core_or_an_archive_fails_its_line() {
    let of = |folder: &str, ending: &str| {
        let files = fs::read_dir(fixtures().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.to_str().unwrap().ends_with(ending)).collect::<Vec<_>>()
    };
    let files = [of("gpucore", ".core"), of("", "demo.zip")];
    for path in files.concat() {
        let (dump, file) = (open(&path), fs::read(&path).unwrap());
        let ids = dump.capture().waves.iter().map(|wave| wave.id).take(4);
        let lines = register_lines(sampled(ids, 2));
        let with_wave = |id: u32, line: &str| format!("wave id {id}\n{line}\n");
        let text: String = lines.iter().map(|(id, _, line)| with_wave(*id, line)).collect();
        // A blessed line has the place of its keyword, and the value of the dump.
        let good: Vec<(u32, &str, String)> = blessed(&text, &evaluate(&dump, &text))
            .into_iter()
            .map(|(number, line)| {
                let (id, name, _) = &lines[number / 2 - 1];
                let line = if name == "exec" { format!("  exec {}", line.trim()) } else { line };
                (*id, name.as_str(), line)
            })
            .collect();
        let all: String = good.iter().map(|(id, _, line)| with_wave(*id, line)).collect();
        let (mut flips, mut start) = (0, 0);
        for row in good.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1)) {
            let values: Vec<u32> = row.iter().map(|(_, _, line)| value(line)).collect();
            let lane = flips * 7 % row.len();
            let index = start + lane;
            start += row.len();
            // The manifest in an archive has EXEC as text.
            let is_text =
                row[lane].1 == "exec" && path.extension().is_some_and(|extension| extension == "zip");
            let Some((at, bytes)) = changed(&file, &values, lane).filter(|_| !is_text) else { continue };
            let mut copy = file.clone();
            copy[at..at + bytes.len()].copy_from_slice(&bytes);
            let folder = tempfile::tempdir().unwrap();
            let name = folder.path().join(path.file_name().unwrap());
            fs::write(&name, copy).unwrap();
            let outcomes = evaluate(&open(&name), &all);
            let failing = outcomes.iter().filter(|outcome| outcome.verdict != Verdict::Holds);
            let failing: Vec<usize> = failing.map(|outcome| outcome.line).collect();
            assert_eq!(failing, [index * 2 + 2], "{}: {}", path.display(), good[index].2);
            flips += 1;
        }
        assert!(flips > 0, "{}: no register was found in the file", path.display());
    }
}
