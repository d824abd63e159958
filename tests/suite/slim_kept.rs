//! Contents of small dumps of incomplete captures: no code object, odd sizes, damaged headers in a stream.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cores::core;
use crate::fixtures::fixtures;
use crate::slim::{Scratch, answer, exported, piped, said, slim, words};
use crate::support::sample::sampled;

fn bytes(dump: &Path, at: u64, count: usize) -> Value {
    let at = format!("{at:#x}");
    let (answer, _) = said(&["memory", words(dump), "--at", &at, "-n", &count.to_string(), "--json"]);
    if answer.is_empty() {
        Value::Null
    } else {
        serde_json::from_str::<Value>(&answer).unwrap()["bytes"].clone()
    }
}

/// Regions of global memory: address and bytes of each.
fn regions(dump: &Path) -> Vec<(u64, String)> {
    let export = crate::in_samples_notation(serde_json::from_str(&said(&["export", words(dump)]).0).unwrap());
    let region = |region: &Value| (region["address"].as_u64().unwrap(), region["size"].to_string());
    export["memory"].as_array().unwrap().iter().map(region).collect()
}

/// The words around PCs in umr's text are the only code.
#[test]
fn code_of_no_code_object_is_kept_from_umrs_text() {
    let scratch = Scratch::new("slim-umr");
    let log = fixtures().join("logs/umr-columns.txt");
    // In the text: a word at 0x1000e10ac, two at 0x1000e10cc.
    for (name, more) in [("with", &[][..]), ("without", &["--no-global"][..])] {
        let to = scratch.path(name);
        let more = [&["--wave", "1"], more].concat();
        let report: Value = serde_json::from_str(
            &said(&[&["slim", words(&log), "-o", words(&to), "--json"], &more[..]].concat()).0,
        )
        .unwrap();
        assert_eq!(bytes(&to, 0x1000e10cc, 8), "cf0800c4060b0c00", "{name}: {report}");
        assert_eq!(bytes(&to, 0x1000e10ac, 4), "0c040c2c", "{name}: {report}");
        let listing = |dump: &Path| said(&["disassemble", words(dump), "--wave", "1"]).0;
        assert!(listing(&log).contains("1000e10cc"), "{}", listing(&log));
        assert_eq!(listing(&log), listing(&to), "{name}");
    }
    let text = said(&["slim", words(&log), "-o", words(&scratch.path("text")), "--no-global"]).0;
    assert!(text.contains(" of code around PCs (--no-global); "), "{text}");
}

/// On gfx12 the hardware stores work-groups in TTMP8 and the next ones; their dispatch and queue are unknown.
#[test]
fn work_groups_of_no_known_queue_are_kept_from_umrs_text() {
    let scratch = Scratch::new("slim-umr-groups");
    let text = fs::read_to_string(fixtures().join("logs/umr-hardware.txt")).unwrap();
    let before = "4f42fcf2, c5ef21fd }\n";
    assert!(text.contains(before));
    let after = "4f42fcf2, 00030002 }\n>TTMP[8..11] = { 06000009, 00000005, 00000000, 00000000 }\n\
                 >TTMP[12..15] = { 00000000, 00000000, 00000000, 00000000 }\n";
    let log = scratch.path("umr.txt");
    fs::write(&log, text.replace(before, after)).unwrap();
    let to = scratch.path("to");
    slim(&log, &to, &[]);
    let (info, error) = said(&["info", words(&to)]);
    assert!(error.is_empty() && !info.contains("workgroup["), "{info}{error}");
    let groups = |dump: &Path| -> Value {
        let export: Value = serde_json::from_str(&said(&["export", words(dump)]).0).unwrap();
        json!([export["workgroups"], export["waves"][0]["coord"], export["waves"][0]["wave_in_group"]])
    };
    assert_eq!(groups(&log)[1], json!([5, 0, 0]));
    assert_eq!(groups(&log), groups(&to));
    assert_eq!(exported(&log, NO_TOOLS), exported(&to, NO_TOOLS));
}

#[test]
fn kernel_arguments_are_kept_from_an_agents_log() {
    let scratch = Scratch::new("slim-agent");
    let log = fixtures().join("logs/agent-kernargs.log");
    // In the text: six dwords at 0x7a0821e00014.
    let words_of_log = "78563412087a00002a000000000000000100000002000000";
    let to = scratch.path("with");
    said(&["slim", words(&log), "-o", words(&to)]);
    assert_eq!(bytes(&log, 0x7a0821e00014, 24), words_of_log);
    assert_eq!(bytes(&to, 0x7a0821e00014, 24), words_of_log);
    let to = scratch.path("without");
    said(&["slim", words(&log), "-o", words(&to), "--no-global"]);
    assert_eq!(regions(&to), []);
}

/// A dump of one wave at `pc` without a code object, with memory that begins below it; kernel arguments elsewhere.
pub(crate) fn bare(scratch: &Scratch, start: u64, size: u64, pc: u64) -> std::path::PathBuf {
    let dump = scratch.path(&format!("bare-{start:x}-{size:x}-{pc:x}"));
    fs::create_dir(&dump).unwrap();
    let all: Vec<u8> = (0..size).map(|at| (at / 4096) as u8).collect();
    fs::write(dump.join("memory.bin"), all).unwrap();
    fs::write(dump.join("arguments.bin"), vec![7; 10_000]).unwrap();
    let manifest = json!({
        "format": 1,
        "agent": [{"id": 1, "target": "gfx90a"}],
        "queue": [{"id": 1, "agent": 1}],
        "dispatch": [{"id": 1, "queue": 1, "kernarg": "0x7f0000300010"}],
        "workgroup": [{"id": 1, "dispatch": 1}],
        "wave": [{"id": 7, "workgroup": 1, "wave_size": 64, "registers": {"pc": format!("{pc:#x}")}}],
        "memory": [
            {"address": format!("{start:#x}"), "file": "memory.bin"},
            {"address": "0x7f0000300000", "file": "arguments.bin"},
        ],
    });
    fs::write(dump.join("manifest.json"), manifest.to_string()).unwrap();
    dump
}

#[test]
fn of_large_captures_the_pages_around_a_pc_are_kept() {
    let scratch = Scratch::new("slim-bare");
    const START: u64 = 0x7f00_0001_0000;
    let arguments = (0x7f00_0030_0010, "4096".to_owned());
    let kept = |size: u64, pc: u64, more: &[&str]| {
        let dump = bare(&scratch, START, size, pc);
        let to = scratch.path(&format!("of-{size:x}-{pc:x}-{}", more.len()));
        slim(&dump, &to, more);
        regions(&to)
    };
    // 64 KiB are kept whole; of one byte more the PC's page and one on either side.
    assert_eq!(kept(65536, START + 0x5004, &[]), [(START, "65536".to_owned()), arguments.clone()]);
    let pages = (START + 0x4000, "12288".to_owned());
    assert_eq!(kept(65537, START + 0x5004, &[]), [pages, arguments.clone()]);
    let first = (START, "8192".to_owned());
    assert_eq!(kept(65538, START + 4, &[]), [first, arguments.clone()]);
    let last = (START + 0x10000, "3".to_owned());
    // After the end: the last page before it.
    assert_eq!(kept(65539, START + 0x11000, &["--no-global"]), [last]);
    assert_eq!(kept(65540, START - 0x9000, &[]), [arguments]);
    assert_eq!(kept(65541, u64::MAX - 3, &["--no-global"]), []);
}

/// AMDGPUUsage, private address space swizzle: byte 5 of lane l is byte 1 of dword `64 + l` of the wave's.
#[test]
fn private_memory_ends_with_the_last_lanes_last_dword() {
    let scratch = Scratch::new("slim-private");
    for (size, lanes, kept) in [(6u64, 64u64, 512u64), (6, 32, 256), (1, 64, 256), (4, 64, 256), (9, 32, 384)]
    {
        let dump = scratch.path(&format!("dump-{size}-{lanes}"));
        fs::create_dir(&dump).unwrap();
        let private: Vec<u8> = (0..1024u32).map(|at| (at / 4) as u8).collect();
        fs::write(dump.join("private.bin"), private).unwrap();
        let target = if lanes == 64 { "gfx90a" } else { "gfx1100" };
        let manifest = json!({
            "format": 1,
            "agent": [{"id": 1, "target": target}],
            "queue": [{"id": 1, "agent": 1}],
            "dispatch": [{"id": 1, "queue": 1, "private_segment_size": size}],
            "workgroup": [{"id": 1, "dispatch": 1}],
            "wave": [{
                "id": 7, "workgroup": 1, "wave_size": lanes, "private_size": 1024,
                "private": [{"address": 0, "file": "private.bin"}],
            }],
        });
        fs::write(dump.join("manifest.json"), manifest.to_string()).unwrap();
        let to = scratch.path(&format!("to-{size}-{lanes}"));
        let report = slim(&dump, &to, &[]);
        assert_eq!(report["bytes"]["private"], kept, "{size} of {lanes}");
        assert_eq!(report["left_out"]["private"], 1024 - kept, "{size} of {lanes}");
        let last = (lanes - 1).to_string();
        let at = format!("private_lane#{}", size - 1);
        let byte =
            |dump: &Path| answer(&["memory", words(dump), "--at", &at, "-n", "1", "--lane", &last, "--json"]);
        assert_eq!(byte(&dump), byte(&to), "{size} of {lanes}");
    }
}

fn number(file: &[u8], at: usize, size: usize) -> u64 {
    file[at..at + size].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn put(file: &mut [u8], at: usize, value: &[u8]) {
    file[at..at + value.len()].copy_from_slice(value);
}

/// Offset of the first note's program header.
fn note(file: &[u8]) -> usize {
    let (table, count) = (number(file, 32, 8) as usize, number(file, 56, 2) as usize);
    let mut headers = (0..count).map(|index| table + index * 56);
    headers.find(|at| number(file, *at, 4) == 4).unwrap()
}

type Damage = (&'static str, fn(&mut Vec<u8>));

/// gABI chapter 5, "Program Header", and chapter 4 for `PN_XNUM`.
const DAMAGES: [Damage; 7] = [
    ("notes of 10 MB", |file| {
        let at = note(file);
        put(file, at + 32, &10_000_000u64.to_le_bytes());
    }),
    ("notes without end", |file| {
        let at = note(file);
        put(file, at + 32, &u64::MAX.to_le_bytes());
    }),
    ("notes that end within the GPUs' state", |file| {
        let at = note(file);
        // The note's header has twelve bytes; its name follows.
        let name = file.windows(7).position(|part| part == b"AMDGPU\0").unwrap() as u64;
        let size = name + 8 - number(file, at + 8, 8);
        put(file, at + 32, &size.to_le_bytes());
    }),
    ("PN_XNUM without section 0", |file| {
        put(file, 40, &0u64.to_le_bytes());
        put(file, 56, &[0xff, 0xff]);
    }),
    ("notes of 2 GB", |file| {
        let at = note(file);
        put(file, at + 32, &0x7fff_fff0u64.to_le_bytes());
    }),
    ("PN_XNUM with section 0 at the end", |file| {
        let count = number(file, 56, 2) as u32;
        file.resize(file.len().next_multiple_of(8), 0);
        let at = file.len() as u64;
        file.resize(file.len() + 64, 0);
        put(file, at as usize + 44, &count.to_le_bytes());
        put(file, 40, &at.to_le_bytes());
        put(file, 56, &[0xff, 0xff]);
        put(file, 58, &[64, 0, 1, 0]);
    }),
    ("PN_XNUM with a count that is wrong", |file| {
        let at = file.len() as u64;
        file.resize(file.len() + 64, 0);
        put(file, at as usize + 44, &0x3_0000u32.to_le_bytes());
        put(file, 40, &at.to_le_bytes());
        put(file, 56, &[0xff, 0xff]);
        put(file, 58, &[64, 0, 1, 0]);
    }),
];

/// Without tools there are no callers that code gives: it is that of the whole core.
const NO_TOOLS: &[(&str, &str)] = &[("PATH", "")];

#[test]
fn a_stream_with_damaged_headers_is_taken_as_the_file_is() {
    let scratch = Scratch::new("slim-damaged");
    for (index, name) in ["gfx942-multi-xcc", "gfx90a-unified"].into_iter().enumerate() {
        let whole = fs::read(core(name)).unwrap();
        let sound = exported(&core(name), NO_TOOLS);
        assert!(!sound.is_empty());
        // Each kind of damage of one of the cores.
        let damages = DAMAGES.into_iter().cycle().skip(2 * index).take(DAMAGES.len());
        for (what, damage) in sampled(damages, 3) {
            let mut bytes = whole.clone();
            damage(&mut bytes);
            let file = scratch.path("gpucore");
            fs::write(&file, &bytes).unwrap();
            let to = scratch.path(&format!("{name} {what}.zip"));
            let (report, error) = said(&["slim", words(&file), "-o", words(&to), "--json", "--all-waves"]);
            assert!(!report.is_empty(), "{name}, {what}: {error}");
            let (status, report, error) = piped(&bytes, &scratch.0, &[], false);
            assert_eq!(status, Some(0), "{name}, {what}: {error}");
            let report: Value = serde_json::from_str(&report).unwrap();
            let streamed = exported(Path::new(report["to"].as_str().unwrap()), NO_TOOLS);
            assert_eq!(exported(&to, NO_TOOLS), streamed, "{name}, {what}");
            // None of these damages loses a wave.
            assert_eq!(streamed, sound, "{name}, {what}");
            // The file's own facts hold for the stream as well.
            let notes = report["notes"].as_array().unwrap();
            if what != "PN_XNUM with section 0 at the end" && !what.contains("GPUs' state") {
                let of_headers = |note: &&Value| {
                    let note = note.as_str().unwrap();
                    note.contains("program headers: ") || note.contains(" bytes of notes")
                };
                assert!(notes.iter().any(|note| of_headers(&note)), "{name}, {what}: {notes:?}");
            }
        }
        // More headers than arrived, and a stream that ends among them.
        let mut bytes = whole.clone();
        put(&mut bytes, 56, &[0xfe, 0xff]);
        let (status, report, error) = piped(&bytes, &scratch.0, &[], false);
        assert_eq!(status, Some(0), "{name}: {error}");
        assert!(report.contains(" program headers (expected a file that holds all 65534"), "{report}");
        let (status, _, error) = piped(&whole[..64 + 60], &scratch.0, &[], false);
        assert_eq!(status, Some(1));
        assert!(error.contains("an ELF core without the state of GPUs"), "{error}");
    }
}

/// A process's memory is readable only by its user, wherever the folder is moved or copied.
#[test]
fn every_file_of_a_folder_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new("slim-modes");
    let to = scratch.path("folder");
    slim(&core("gfx90a-unified"), &to, &["--all-waves"]);
    let (mut folders, mut files) = (vec![to], 0);
    while let Some(folder) = folders.pop() {
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
                files += 1;
            }
        }
    }
    assert!(files > 1, "{files}");
}
