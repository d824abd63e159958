//! Zips with more directory entries than a dump has files. APPNOTE.TXT 4.3.7, 4.3.12, 4.3.14 and 4.3.16.

use super::run::Hostile;
use crate::support::sample::{is_long, sampled};

const MANIFEST: &[u8] = b"format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[wave]]\nid = 1\nagent = 1\n";

fn words(out: &mut Vec<u8>, words: &[u16]) {
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
}

/// A local header of a stored entry with its data.
fn local(name: &str, data: &[u8]) -> Vec<u8> {
    let size = data.len() as u32;
    let mut out = b"PK\x03\x04".to_vec();
    words(&mut out, &[10, 0, 0, 0, 0x21]);
    [0, size, size].iter().for_each(|word| out.extend(word.to_le_bytes()));
    words(&mut out, &[name.len() as u16, 0]);
    [&out, name.as_bytes(), data].concat()
}

/// A directory entry of the data at an offset.
fn entry(name: &str, size: u32, at: u32) -> Vec<u8> {
    let mut out = b"PK\x01\x02".to_vec();
    words(&mut out, &[10, 10, 0, 0, 0, 0x21]);
    [0, size, size].iter().for_each(|word| out.extend(word.to_le_bytes()));
    words(&mut out, &[name.len() as u16, 0, 0, 0, 0]);
    [0, at].iter().for_each(|word: &u32| out.extend(word.to_le_bytes()));
    [&out, name.as_bytes()].concat()
}

/// A zip of a manifest, its directory entry, and `count` other entries for the same bytes.
fn zip(count: u64, name: &dyn Fn(u64) -> String) -> Vec<u8> {
    let mut out = local("manifest.toml", MANIFEST);
    let start = out.len() as u64;
    let head = entry("", MANIFEST.len() as u32, 0);
    for name in ["manifest.toml".to_owned()].into_iter().chain((0..count).map(name)) {
        // The length of the name is at 28 (4.3.12).
        out.extend_from_slice(&head[..28]);
        out.extend_from_slice(&(name.len() as u16).to_le_bytes());
        out.extend_from_slice(&head[30..]);
        out.extend_from_slice(name.as_bytes());
    }
    let size = out.len() as u64 - start;
    // The zip64 end of the directory, its locator, and the old end, which refers to it.
    let at = out.len() as u64;
    out.extend(b"PK\x06\x06");
    out.extend(44u64.to_le_bytes());
    words(&mut out, &[45, 45, 0, 0, 0, 0]);
    [count + 1, count + 1, size, start].iter().for_each(|word| out.extend(word.to_le_bytes()));
    out.extend(b"PK\x06\x07\0\0\0\0");
    out.extend(at.to_le_bytes());
    out.extend(1u32.to_le_bytes());
    out.extend(b"PK\x05\x06");
    words(&mut out, &[0, 0, u16::MAX, u16::MAX]);
    out.extend([0xff; 8]);
    words(&mut out, &[0]);
    out
}

const COMMANDS: [&str; 2] = ["info DUMP", "waves DUMP"];

#[test]
fn a_directory_of_many_entries() {
    // The entries of a large dump are read.
    let said = Hostile::with_file("dump.zip", &zip(30_000, &|index| format!("{index}.bin"))).each(&COMMANDS);
    said.prints("info", "1 wave").prints("waves", "not captured");
    let directories = [
        (560, &(|index| format!("{}{index:04}", "0".repeat(65_496))) as &dyn Fn(u64) -> String),
        (700_000, &|index| format!("{index:x}")),
        (800_000, &|_| "a".to_owned()),
    ];
    for (count, name) in sampled(directories, 3) {
        let said = Hostile::with_file("dump.zip", &zip(count, name)).each(&["info DUMP"]);
        said.prints("info", "its directory has more than 33554432 bytes").prints("info", "1 wave");
    }
}

/// Without a directory, entries are found by their local headers.
#[test]
fn headers_of_many_entries() {
    let mut bytes = local("manifest.toml", MANIFEST);
    // Names of five characters.
    let head = local("00000", b"");
    let count = if is_long() { 1_000_000 } else { 250_000 };
    for index in 0..count {
        bytes.extend_from_slice(&head[..30]);
        bytes.extend_from_slice(format!("{index:05x}").as_bytes());
    }
    let said = Hostile::with_file("dump.zip", &bytes).each(&["info DUMP"]);
    said.prints("info", "entries were found before that offset");
    // Two reads for an entry, and a hundred others.
    let reads = said.work("info", "reads");
    assert!(reads <= 2 * count + 100, "{reads} reads of {count} entries");
}

#[test]
fn a_directory_that_promises_more() {
    // Impossible numbers of entries and offsets.
    for damage in [0xff, 0x7f] {
        let mut bytes = zip(3, &|index| index.to_string());
        let at = bytes.windows(4).position(|four| four == b"PK\x06\x06").unwrap();
        for field in [24, 32, 40, 48] {
            bytes[at + field..at + field + 8].fill(damage);
            Hostile::with_file("dump.zip", &bytes).each(&COMMANDS);
        }
    }
}
