//! Damaged samples: cut at the edge of every structure, and with every word of their headers flipped.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lanescope::arch::Targets;
use lanescope::codeobject::hex;
use lanescope::import::{self, Opened};
use lanescope::session::{Dump, MemoryAddress, Reader};
use lanescope::units::{Address, AddressSpace, LaneId, WaveId};
use lanescope::work::{Count, done};

use super::{SAMPLES, core, expected};
use crate::support::{least, sample::sampled};

/// Bytes that are read for one damaged sample, in sizes of the sample.
const MAX_READ: u64 = 64;

/// Little-endian numbers of the file.
fn number(file: &[u8], at: usize, bytes: usize) -> u64 {
    file[at..at + bytes].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Offsets of headers, program headers, notes and save areas, computed independently of the importer.
struct Map {
    /// Bounds of structures.
    edges: BTreeSet<usize>,
    /// Dwords of headers, notes, save area headers and control stacks.
    words: BTreeSet<usize>,
    /// The words of them that locate control stacks and waves.
    areas: BTreeSet<usize>,
}

fn map(name: &str, file: &[u8]) -> Map {
    let mut map = Map {
        edges: BTreeSet::from([0, 16, 64]),
        words: (0..64).step_by(4).collect(),
        areas: BTreeSet::new(),
    };
    let table = number(file, 32, 8) as usize;
    for at in (0..number(file, 56, 2) as usize).map(|index| table + index * 56) {
        map.edges.extend([at, at + 56]);
        map.words.extend((at..at + 56).step_by(4));
        let (kind, offset, size) =
            (number(file, at, 4), number(file, at + 8, 8) as usize, number(file, at + 32, 8) as usize);
        map.edges.extend([offset, offset + size / 2, offset + size]);
        if kind == 4 {
            map.words.extend((offset..offset + size).step_by(4));
        }
    }
    for segment in expected(name)["segments"].as_array().unwrap() {
        let at = segment["off"].as_u64().unwrap() as usize;
        let kind = segment["name"].as_str().unwrap();
        if kind.starts_with("cwsr") {
            map.words.extend((at..at + 40).step_by(4));
            map.areas.extend((at..at + 16).step_by(4));
            let (stack, size) = (at + number(file, at, 4) as usize, number(file, at + 4, 4) as usize);
            map.words.extend((stack..(stack + size).min(file.len())).step_by(4));
            map.edges.extend([at + 40, stack, stack + 8, stack + size]);
        } else if kind.starts_with("amd_queue") {
            map.words.extend((at + 0x38..at + 0xb8).step_by(4));
        }
    }
    map.edges.retain(|edge| *edge <= file.len());
    map
}

/// Result of reading a damaged file: every register and some memory of each wave, and the problems.
fn read(targets: &Targets, file: &[u8], what: &str) -> Option<(BTreeSet<String>, String)> {
    let before = done(Count::Bytes);
    let opened = import::open_bytes("sample", file.to_vec(), targets);
    let text = opened.ok().map(|opened| (problems(&opened), everything(opened)));
    let read = done(Count::Bytes) - before;
    assert!(read <= MAX_READ * file.len() as u64, "{what}: {read} bytes");
    text
}

fn problems(opened: &Opened) -> BTreeSet<String> {
    opened.problems.iter().map(ToString::to_string).collect()
}

fn everything(opened: Opened) -> String {
    let mut text = String::new();
    let waves = opened.capture.waves.len() as u32;
    for problem in &opened.problems {
        assert!(
            !problem.what.is_empty() && problem.place.key.is_some() || problem.what.contains("not listed")
        );
    }
    writeln!(text, "{}", opened.problems.len()).unwrap();
    let reader = Reader::new(std::sync::Arc::new(Dump::new(opened.capture, Vec::new())));
    for wave in (0..waves).map(WaveId) {
        let kind = std::sync::Arc::clone(&reader.wave(wave).unwrap().kind);
        for register in kind.registers() {
            let value = reader.register(wave, register.id).unwrap();
            if value.is_whole() {
                writeln!(text, "{wave} {} {}", register.name, hex(value.bytes())).unwrap();
            } else {
                let dwords = (0..value.dwords()).map(|dword| value.dword(dword));
                writeln!(text, "{wave} {} {:?}", register.name, dwords.collect::<Vec<_>>()).unwrap();
            }
        }
        for space in [3, 5, 6] {
            let (space, lane) = (AddressSpace(space), Some(LaneId(1)));
            let place = MemoryAddress { space, address: Address(8), wave: Some(wave), lane };
            let mut bytes = [0; 64];
            let got = reader.read(place, &mut bytes).unwrap_or(0);
            writeln!(text, "{wave} {space} {:?}", &bytes[..got]).unwrap();
        }
    }
    text
}

#[test]
fn truncated_samples_give_the_existing_part_and_report_the_rest() {
    let targets = Targets::builtin();
    for name in SAMPLES {
        let file = std::fs::read(core(name)).unwrap();
        let whole = everything(import::open_bytes("sample", file.clone(), &targets).unwrap());
        let whole: BTreeSet<&str> = whole.lines().collect();
        let (mut opened, mut served) = (0, 0);
        for edge in sampled(map(name, &file).edges, 2) {
            for end in [edge.saturating_sub(1), edge] {
                let what = format!("{name} cut at {end:#x}");
                let Some((_, text)) = read(&targets, &file[..end], &what) else { continue };
                opened += 1;
                if end == file.len() {
                    continue;
                }
                assert!(!text.starts_with("0\n"), "{what}: no problem is reported");
                served += usize::from(text.lines().skip(1).any(|line| whole.contains(line)));
                // Known values are those of the whole file: a cut adds none.
                for line in text.lines().skip(1) {
                    let unknown = line.contains("None") || line.ends_with("[]");
                    let sgprs_only = whole.contains(line) || unknown;
                    let shorter = |line: &str| {
                        line.strip_suffix(']')
                            .is_some_and(|start| whole.iter().any(|known| known.starts_with(start)))
                    };
                    assert!(sgprs_only || shorter(line), "{what}: {line}");
                }
            }
        }
        assert!(opened > least(10, 5) && served > least(5, 2), "{name}: {opened} opened, {served} served");
    }
}

/// After a flip in a word that locates something, in headers of the file and of save areas, values are unchanged or
/// have a problem. Other words may have another plausible value (a queue's id, a wave's slot).
#[test]
fn flipped_dwords_are_reported_or_change_nothing() {
    let targets = Targets::builtin();
    for name in SAMPLES {
        let file = std::fs::read(core(name)).unwrap();
        let (before, whole) = read(&targets, &file, name).unwrap();
        // The first line counts the problems.
        let values = |text: &str| text.split_once('\n').unwrap().1.to_owned();
        let whole = values(&whole);
        let (mut opened, mut told, mut same) = (0, 0, 0);
        let map = map(name, &file);
        let flips = |at: usize| {
            [[0xffu8, 0xff, 0xff, 0xff], [1, 0, 0, 0], [0, 0, 0, 0x80], [0, 0, 0, 0x40]]
                .map(|flip| (at, flip))
        };
        let others = map.words.difference(&map.areas).copied().flat_map(flips);
        // The other words have one flip each, by turns.
        for (at, flip) in map.areas.iter().copied().flat_map(flips).chain(sampled(others, 75)) {
            let mut file = file.clone();
            for (byte, flip) in file[at..].iter_mut().zip(flip) {
                *byte ^= flip;
            }
            let what = format!("{name} with {flip:x?} at {at:#x}");
            let Some((said, text)) = read(&targets, &file, &what) else { continue };
            opened += 1;
            if values(&text) == whole {
                same += 1;
            } else if !said.is_subset(&before) {
                told += 1;
            } else {
                assert!(!map.areas.contains(&at), "{what}: other values, and nothing is reported");
            }
        }
        let least = least(50, 1);
        assert!(
            opened > 2 * least && told > least && same > least,
            "{name}: {opened}, {told} told, {same} the same"
        );
    }
}

/// A damaged control stack of one XCC does not change the other XCC's waves.
#[test]
fn an_xcc_that_is_damaged_does_not_take_the_other_with_it() {
    let (targets, name) = (Targets::builtin(), "gfx942-multi-xcc");
    let file = std::fs::read(core(name)).unwrap();
    let expected = expected(name);
    let waves = expected["waves"].as_array().unwrap();
    let second = waves.iter().filter(|wave| wave["writer"]["xcc"] == 1).count();
    assert!(second > 0 && second < waves.len());
    let segment = expected["segments"].as_array().unwrap().iter().find(|segment| segment["name"] == "cwsr1");
    let at = segment.unwrap()["off"].as_u64().unwrap() as usize;
    let mut damaged = file.clone();
    // Size of XCC 0's wave area: moves the end of its control stack and its waves.
    damaged[at + 12] ^= 0x40;
    let opened = import::open_bytes("sample", damaged, &targets).unwrap();
    let problems: Vec<String> = opened.problems.iter().map(ToString::to_string).collect();
    assert!(problems.iter().any(|problem| problem.contains("queue 1, XCC 0")), "{problems:#?}");
    assert!(opened.capture.waves.len() >= second);
    // The other XCC's waves come last and are complete; their ids count those before them.
    let whole = import::open_bytes("sample", file, &targets).unwrap();
    let lost = whole.capture.waves.len() - opened.capture.waves.len();
    let (ours, theirs) = (everything(opened), everything(whole));
    let of = |text: &str, wave: usize| {
        let start = format!("{} ", WaveId(wave as u32));
        let lines = text.lines().filter_map(|line| line.strip_prefix(&start));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    for wave in waves.len() - second..waves.len() {
        let lines = of(&theirs, wave);
        assert!(lines.len() > 100, "{wave}: {}", lines.len());
        assert_eq!(of(&ours, wave - lost), lines, "{wave}");
    }
}
