//! A fleet: 1,000 dumps in parts give the same buckets as in one process, in any order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::commands::lanescope;

const DUMPS: usize = 1000;
const PROCESSES: usize = 7;

/// A generator of numbers (xorshift64): the same order in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A dump of one wave without a code object: its manifest has all values.
fn manifest(index: usize) -> String {
    let kernels = ["saxpy", "_Z5scaleIfEvPT_i", "gemm_0d1d2de", "reduce"];
    let stops = ["[\"memory_violation\"]", "[\"illegal_instruction\"]", "[]"];
    let created = match index % 4 {
        0 => String::new(),
        // The same minute in two zones.
        1 => format!("[provenance]\ncreated = \"2026-11-{:02}T10:{:02}:00Z\"\n", index % 28 + 1, index % 60),
        _ => format!(
            "[provenance]\ncreated = \"2026-11-{:02}T12:{:02}:00+02:00\"\n",
            index % 28 + 1,
            index % 60
        ),
    };
    format!(
        "format = 1\n{created}\n[[agent]]\nid = 1\ntarget = \"{}\"\n\n[[queue]]\nid = 1\nagent = 1\n\n[[dispatch]]\nid = {id}\nqueue = 1\n\
         kernel = \"{}\"\ngrid = [{grid}]\nworkgroup = [64]\n\n[[workgroup]]\nid = 1\ndispatch = {id}\nposition = [0, 0, 0]\n\n\
         [[wave]]\nid = {id}\nworkgroup = 1\nwave_in_group = 0\nsgpr_count = 32\nstop = {}\n\n[wave.registers]\npc = \"{:#x}\"\nexec = \"0x1\"\n",
        ["gfx90a", "gfx942"][index / 7 % 2],
        kernels[index % kernels.len()],
        stops[index / 5 % stops.len()],
        0x7f00_0000_0000u64 + 4096 * index as u64,
        id = index + 1,
        grid = 64 * (index + 1),
    )
}

fn dumps(folder: &Path) -> Vec<PathBuf> {
    let dumps = (0..DUMPS).map(|index| {
        let dump = folder.join(format!("{index:04}"));
        fs::create_dir_all(&dump).unwrap();
        let text = if index % 100 == 99 { "format = 1\n[[wave\n".to_owned() } else { manifest(index) };
        fs::write(dump.join("manifest.toml"), text).unwrap();
        dump
    });
    dumps.collect()
}

fn run(words: &[&str], input: &[u8]) -> Output {
    lanescope(words, input)
}

#[test]
fn parts_of_a_fleet_give_the_same_buckets_as_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("fleet");
    let mut paths = dumps(&root);
    let known = folder.path().join("known.toml");
    fs::write(&known, "").unwrap();
    let options = ["--known", known.to_str().unwrap()];
    let words = [&["bucket", root.to_str().unwrap(), "--json"], &options[..]].concat();
    let whole = run(&words, b"");
    // Ten dumps are unreadable; a new signature precedes them.
    assert_eq!(whole.status.code(), Some(3), "{}", String::from_utf8_lossy(&whole.stderr));
    let json: serde_json::Value = serde_json::from_slice(&whole.stdout).unwrap();
    assert_eq!(json["dumps"], DUMPS);
    assert_eq!(json["unreadable"].as_array().unwrap().len(), DUMPS / 100);
    // Four kernels, each with two causes: a wave of the third did not stop.
    assert_eq!(json["buckets"].as_array().unwrap().len(), 8);
    let running = (0..DUMPS).filter(|index| index % 100 != 99 && index / 5 % 3 == 2).count();
    assert_eq!(json["without_fault"], running);

    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    numbers.shuffle(&mut paths);
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for part in 0..PROCESSES {
        let own = paths.iter().skip(part).step_by(PROCESSES).map(|path| path.to_str().unwrap());
        let words: Vec<&str> = ["signature", "--jsonl"].into_iter().chain(own).collect();
        let output = run(&words, b"").stdout;
        lines.extend(output.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    }
    assert_eq!(lines.len(), DUMPS);
    // A part that ran twice changes nothing.
    let again: Vec<Vec<u8>> = lines.iter().take(100).cloned().collect();
    lines.extend(again);
    for form in [Some("--json"), None] {
        let whole = [&["bucket", root.to_str().unwrap()], &options[..], form.as_slice()].concat();
        let joined = [&["bucket", "--from", "-"], &options[..], form.as_slice()].concat();
        let whole = run(&whole, b"");
        numbers.shuffle(&mut lines);
        let joined = run(&joined, &lines.concat());
        assert_eq!(String::from_utf8_lossy(&joined.stdout), String::from_utf8_lossy(&whole.stdout));
        assert_eq!(joined.status.code(), whole.status.code());
    }
}
