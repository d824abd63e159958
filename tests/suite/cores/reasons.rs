//! Messages: plausible damage, options that contradict the core, and parts that never existed.

use std::process::Stdio;

use serde_json::Value;

use lanescope::arch::Targets;
use lanescope::capture::{FileLocation, Problem, Severity};
use lanescope::import;
use lanescope::server::{Client, ClientOptions, Facade};
use lanescope::session::{Dump, Session};

use super::changed::{opened, reported, sample};
use super::{SAMPLES, core, expected, export, fixtures};
use crate::fixtures::one_line;

pub(super) fn put(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

/// Standard output and standard error of a command on changed bytes.
pub(super) fn run(bytes: &[u8], command: &str, arguments: &[&str]) -> (bool, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    std::fs::write(&path, bytes).unwrap();
    let output = crate::support::lanescope()
        .arg(command)
        .arg(&path)
        .args(arguments)
        .env_remove("DEBUGINFOD_URLS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

pub(super) fn pcs(waves: &Value) -> Vec<Value> {
    waves.as_array().unwrap().iter().map(|wave| wave["pc"].clone()).collect()
}

/// A control stack longer than its area, by its header, has only the waves of its area.
#[test]
fn a_damaged_size_of_a_control_stack_makes_no_waves() {
    for (name, area, size) in [("gfx942-multi-xcc", "cwsr1", None), ("gfx1100", "cwsr6", Some(0x4014u32))] {
        let expected = expected(name);
        let (mut bytes, _) = sample(name);
        let segment = expected["segments"].as_array().unwrap().iter().find(|one| one["name"] == area);
        let at = segment.unwrap()["off"].as_u64().unwrap() as usize + 4;
        match size {
            // Its second byte: that of XCC 0.
            None => bytes[at + 1] = 0xff,
            Some(size) => put(&mut bytes, at, size),
        }
        let ours = opened(&bytes);
        assert_eq!(pcs(&ours["waves"]), pcs(&expected["waves"]), "{name}");
        assert_eq!(reported(&ours, "its header contradicts itself").len(), 1, "{name}: {}", ours["problems"]);
    }
}

/// `--r-version` is for cores without one.
#[test]
fn the_version_in_a_core_is_not_overridden() {
    for name in ["gfx1100", "gfx90a-unified", "gfx942-multi-xcc"] {
        let (path, expected) = (core(name), expected(name));
        let path = path.to_str().unwrap();
        for (given, what) in
            [("8", "--r-version: 8, but the core has 10"), ("10", "--r-version: without effect")]
        {
            let ours = export(&[path, "--r-version", given]);
            assert_eq!(pcs(&ours["waves"]), pcs(&expected["waves"]), "{name} {given}");
            assert_eq!(reported(&ours, what).len(), 1, "{name} {given}: {}", ours["problems"]);
        }
    }
    let path = core("gfx90a-split");
    let path = path.to_str().unwrap();
    let without = export(&[path]);
    for given in ["0", "7", "4294967295"] {
        let ours = export(&[path, "--r-version", given]);
        assert_eq!(ours["waves"], without["waves"], "{given}");
        let what = format!("--r-version: {given}: it counts as unknown (expected 8 or later)");
        assert_eq!(reported(&ours, &what).len(), 1, "{given}: {}", ours["problems"]);
    }
    let known = export(&[path, "--r-version", "10"]);
    assert!(reported(&known, "--r-version").is_empty(), "{}", known["problems"]);
}

/// The same file is loaded twice, and only its code identifies it: neither load address has its first page.
#[test]
fn a_file_is_placed_wherever_its_code_is() {
    let name = "gfx90a-split";
    let expected = expected(name);
    let mut loaded: Vec<u64> = expected["code_object_files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|object| object["load_address"].as_u64().unwrap())
        .collect();
    loaded.sort_unstable();
    assert_eq!(loaded.len(), 2);
    let mut bytes = std::fs::read(core(name)).unwrap();
    let count = usize::from(u16::from_le_bytes([bytes[56], bytes[57]]));
    for at in (0..count).map(|index| 64 + index * 56) {
        let number = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        if loaded.contains(&number(&bytes, at + 16)) {
            // p_offset, p_vaddr, p_filesz.
            for (field, change) in [(8, 0x1000i64), (16, 0x1000), (32, -0x1000)] {
                let value = number(&bytes, at + field).wrapping_add_signed(change);
                bytes[at + field..at + field + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    std::fs::write(&path, &bytes).unwrap();
    let path = path.to_str().unwrap();
    let code = fixtures().join("gpucore/code");
    let file = code.join("k-gfx90a-O0.hsaco").display().to_string();
    let placed = format!("{file}@{:#x}", loaded[1]);
    let cases: [&[&str]; 4] = [
        &["--code-object", &file],
        &["--symbols", code.to_str().unwrap()],
        &["--code-object", &file, "--code-object", &file],
        &["--code-object", &file, "--code-object", &placed],
    ];
    assert_eq!(export(&[path])["code_objects"], serde_json::json!([]));
    for with in cases {
        let ours = export(&[&[path], with].concat());
        let found = ours["code_objects"].as_array().unwrap().iter();
        let mut found: Vec<u64> = found.map(|object| object["load_address"].as_u64().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, loaded, "{with:?}: {}", ours["problems"]);
        assert!(
            reported(&ours, "it is none of the loaded code objects").is_empty(),
            "{with:?}: {}",
            ours["problems"]
        );
    }
}

/// Each cause of missing waves has its reason, also in `info`.
#[test]
fn that_there_are_no_waves_has_a_reason() {
    let name = "gfx90a-split";
    let (bytes, _) = sample(name);
    // Queue 1's entry in the note: ring, write and read pointer, save area at 8, 16, 24 and 32; type at 52.
    let ring = expected(name)["segments"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "ring1")
        .unwrap()["va"]
        .as_u64()
        .unwrap();
    let entry = bytes.windows(8).position(|bytes| bytes == ring.to_le_bytes()).unwrap() - 8;
    // Not a program header, which has the ring's address too.
    let entry = match u32::from_le_bytes(bytes[entry + 52..entry + 56].try_into().unwrap()) {
        2 => entry,
        _ => {
            let later = bytes[entry + 16..].windows(8).position(|bytes| bytes == ring.to_le_bytes());
            entry + 16 + later.unwrap() - 8
        }
    };
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(word(entry + 52), 2);
    let mut other = bytes.clone();
    put(&mut other, entry + 52, 0);
    let ours = opened(&other);
    assert_eq!(reported(&ours, "queue 1: it is of type 0; left out").len(), 1, "{}", ours["problems"]);
    // No queue has a readable save area.
    let mut empty = bytes.clone();
    for area in expected(name)["segments"].as_array().unwrap() {
        if area["name"].as_str().unwrap().starts_with("cwsr") {
            let at = area["off"].as_u64().unwrap() as usize;
            empty[at..at + 16].fill(0);
        }
    }
    let area = u64::from(word(entry + 32)) | u64::from(word(entry + 36)) << 32;
    let what = format!("queue 1: the save area at {area:#x} is empty");
    let ours = opened(&empty);
    assert_eq!(
        (ours["waves"].as_array().unwrap().len(), reported(&ours, &what).len()),
        (0, 1),
        "{}",
        ours["problems"]
    );
    let (_, text, _) = run(&empty, "info", &[]);
    assert!(text.contains("no waves: ") && text.contains(&what), "{text}");
    // One queue has no save area at all.
    put(&mut empty, entry + 32, 0);
    put(&mut empty, entry + 36, 0);
    let ours = opened(&empty);
    assert_eq!(reported(&ours, "queue 1: no save area").len(), 1, "{}", ours["problems"]);
    // If other queues have waves, a queue without waves is no problem.
    assert!(reported(&opened(&bytes), "save area").is_empty());
    // A queue without an area cannot have saved its waves: they are absent.
    let next = entry + 64;
    assert_eq!((word(next + 40) & 0x3fff_ffff, word(next + 52)), (3, 2), "the entry of queue 3");
    let mut other = bytes.clone();
    put(&mut other, next + 32, 0);
    put(&mut other, next + 36, 0);
    let ours = opened(&other);
    assert!(!ours["waves"].as_array().unwrap().is_empty());
    assert_eq!(reported(&ours, "queue 3: no save area").len(), 1, "{}", ours["problems"]);
    let (_, text, _) = run(&other, "signature", &[]);
    assert!(text.contains("incomplete: ") && text.contains("no save area"), "{text}");
}

/// Work-groups outside of their grids are reported with their number, the first of them and its grid.
#[test]
fn work_groups_outside_of_their_grids_are_counted() {
    for name in SAMPLES {
        let expected = expected(name);
        let numbers = |value: &Value| {
            value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect::<Vec<_>>()
        };
        let path = core(name);
        let ours = export(&[path.to_str().unwrap()]);
        let mut first: std::collections::BTreeMap<u64, (u32, String)> = Default::default();
        for group in expected["workgroups"].as_array().unwrap() {
            let mut dispatches = expected["dispatches"].as_array().unwrap().iter();
            let is_own =
                |one: &&Value| one["queue_id"] == group["queue_id"] && one["packet_id"] == group["packet_id"];
            let Some(dispatch) = dispatches.find(is_own).filter(|_| group["coord"].is_array()) else {
                continue;
            };
            let (grid, size) = (numbers(&dispatch["grid_sizes"]), numbers(&dispatch["workgroup_sizes"]));
            let groups: Vec<u64> = grid.iter().zip(size).map(|(grid, size)| grid.div_ceil(size)).collect();
            let at = numbers(&group["coord"]);
            if at.iter().zip(&groups).any(|(at, most)| at >= most) {
                let list = |numbers: &[u64]| format!("({}, {}, {})", numbers[0], numbers[1], numbers[2]);
                let text = format!("{}, and the grid has {} work-groups", list(&at), list(&groups));
                let queue = group["queue_id"].as_u64().unwrap();
                first.entry(queue).or_insert((0, text)).0 += 1;
            }
        }
        assert!(!first.is_empty(), "{name}");
        for (queue, (count, text)) in &first {
            let text = match count {
                1 => format!("queue {queue}: a work-group is outside of its dispatch's grid: {text}"),
                count => format!(
                    "queue {queue}: {count} work-groups are outside of their dispatch's grid: the first is {text}"
                ),
            };
            assert_eq!(reported(&ours, &text).len(), 1, "{name}: {text}: {}", ours["problems"]);
        }
        assert!(reported(&ours, "no place for").is_empty());
    }
}

/// A wave with number 32 of a work-group with fewer waves.
#[test]
fn a_place_that_a_work_group_does_not_have_is_a_line_of_its_own() {
    let (bytes, offset) = sample("gfx90a-unified");
    let waves = expected("gfx90a-unified")["waves"].clone();
    let wave = waves.as_array().unwrap().iter().find(|wave| wave["wave_in_group"].is_u64()).unwrap();
    let top = wave["writer"]["block"][1].as_u64().unwrap();
    let bottom = wave["writer"]["block"][0].as_u64().unwrap();
    let pc = wave["writer"]["hwreg_pc"].as_u64().unwrap().to_le_bytes();
    let block = offset(bottom)..offset(bottom) + (top - bottom) as usize;
    let at = bytes[block.clone()].windows(8).rposition(|window| window == pc).unwrap();
    // The PC is the second hardware register of 16; bits 5:0 of trap temporary 11 are the wave's number in the group.
    let ttmp = block.start + at - 4 + 64 + 11 * 4;
    let mut changed = bytes;
    changed[ttmp] |= 0x3f;
    let ours = opened(&changed);
    let id = wave["ordinal"].as_u64().unwrap() + 1;
    let what = format!("wave {id} has place 63 in its work-group, counted from 0 (expected one of the");
    assert_eq!(reported(&ours, &what).len(), 1, "{}", ours["problems"]);
}

/// A damaged note is reported, and does not hide the GPUs' note after it.
#[test]
fn the_gpus_note_is_found_behind_a_damaged_one() {
    let (bytes, _) = sample("gfx1100");
    // NT_PRSTATUS of CORE with 336 bytes, the first note: descsz is its second word.
    let start =
        bytes.windows(17).position(|window| window == b"\x05\0\0\0\x50\x01\0\0\x01\0\0\0CORE\0").unwrap();
    let whole = opened(&bytes);
    for size in [0u32, 0x40, 0x2000, u32::MAX] {
        let mut damaged = bytes.clone();
        put(&mut damaged, start + 4, size);
        let ours = opened(&damaged);
        assert_eq!(ours["waves"], whole["waves"], "{size:#x}: {}", ours["problems"]);
        assert_eq!(reported(&ours, "found by its name behind a damaged note").len(), 1, "{size:#x}");
    }
}

/// Each rejection has its reason.
#[test]
fn a_refusal_has_the_place_of_the_damage() {
    let (bytes, _) = sample("gfx1100");
    let mut far = bytes.clone();
    far[32..40].copy_from_slice(&(1u64 << 63).to_le_bytes());
    let (ok, _, told) = run(&far, "info", &[]);
    assert!(
        !ok && told.contains("offset 0x8000000000000000: program headers: the file ends after 0"),
        "{told}"
    );
    let (ok, _, told) = run(&bytes[..1500], "info", &[]);
    assert!(!ok && told.contains("offset 0x430: segment 0: the file ends within its"), "{told}");
}

/// A wave of a queue without scratch has no private memory: none is missing.
#[test]
fn that_there_is_no_private_memory_is_no_gap() {
    let (bytes, _) = sample("gfx1100");
    let expected = expected("gfx1100");
    let waves = expected["waves"].as_array().unwrap();
    let without: Vec<&Value> = waves.iter().filter(|wave| wave["private_wave_bytes"] == 0).collect();
    let [wave] = without[..] else { panic!("one wave") };
    let id = (wave["ordinal"].as_u64().unwrap() + 1).to_string();
    let why = "the wave has no private memory: its queue was given no scratch";
    let (ok, text, _) = run(&bytes, "locals", &["--wave", &id]);
    assert!(
        ok && text.contains(why) && !text.contains("private_lane[8]+0x69490411 was not captured"),
        "{text}"
    );
    for place in ["private_lane#0", "private_wave#0"] {
        let (ok, _, told) = run(&bytes, "memory", &["--wave", &id, "--at", place]);
        assert!(!ok && told.contains(why), "{told}");
        let (ok, _, told) = run(&bytes, "memory", &["--wave", "1", "--at", "private_wave#0x100000"]);
        assert!(!ok && told.contains("was not captured") && !told.contains(why), "{told}");
    }
    let (_, text, _) = run(&bytes, "info", &[]);
    assert!(text.contains("no scratch: 1 of 7 waves"), "{text}");
    assert_eq!(opened(&bytes)["waves"][wave["ordinal"].as_u64().unwrap() as usize]["private_wave"], "");
    // Allocated scratch that was not captured is missing.
    let mut gone = bytes;
    let segment = expected["segments"].as_array().unwrap().iter().find(|one| one["name"] == "scratch1");
    let address = segment.unwrap()["va"].as_u64().unwrap();
    let header = gone[64..].windows(8).position(|bytes| bytes == address.to_le_bytes()).unwrap() + 64 - 16;
    put(&mut gone, header, 0x7000_0000);
    let (_, text, _) = run(&gone, "info", &[]);
    let text = one_line(&text);
    let line = text.split("problem: ").find(|line| line.contains("private memory of 6 waves"));
    assert!(line.is_some_and(|line| line.contains("2560 bytes from 0x7f4000")), "{text}");
}

/// Debuggers list all problems, up to a limit.
#[test]
fn monitor_notices_lists_every_problem() {
    let bytes = std::fs::read(core("gfx1100")).unwrap();
    let said = |count: usize| {
        let opened = import::open_bytes("sample", bytes.clone(), &Targets::builtin()).unwrap();
        let problem = |number| Problem {
            severity: Severity::Warning,
            place: FileLocation { file: "sample".to_owned(), ..FileLocation::default() },
            what: format!("trouble {number};"),
            hint: None,
            hides_waves: false,
        };
        let problems = (0..count).map(problem).collect();
        let session = Session::new(std::sync::Arc::new(Dump::new(opened.capture, problems)), None).unwrap();
        let options = ClientOptions { facade: Some(Facade::Gdb), views: None, threads: None };
        let mut client = Client::new(Box::new(session), options);
        let hex: String = "notices".bytes().map(|byte| format!("{byte:02x}")).collect();
        let answer = crate::view::ask(&mut client, format!("qRcmd,{hex}").as_bytes());
        let answer = String::from_utf8(answer).unwrap();
        // Console packets, each with its checksum, and OK.
        let parts = answer.split('$').filter_map(|packet| packet.split('#').next()?.strip_prefix('O'));
        let bytes = parts.filter(|hex| *hex != "K").flat_map(|hex| {
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        });
        String::from_utf8(bytes.collect()).unwrap()
    };
    for (count, listed, more) in
        [(1, 1, None), (3, 3, None), (64, 64, None), (70, 64, Some("and 6 more problems"))]
    {
        let text = said(count);
        for number in 0..count {
            assert_eq!(text.contains(&format!("trouble {number};")), number < listed, "{count}: {text}");
        }
        assert!(
            more.is_none_or(|more| text.contains(more)) && text.contains("more") == more.is_some(),
            "{text}"
        );
    }
}

#[test]
fn a_file_that_is_no_host_core_is_rejected_with_a_hint() {
    let (bytes, _) = sample("gfx90a-split");
    let file = crate::support::root().join("Cargo.toml");
    let (ok, _, told) = run(&bytes, "info", &["--host-core", file.to_str().unwrap()]);
    assert!(!ok && told.contains("no ELF core (expected an ELF core of the host process)"), "{told}");
    assert!(told.contains("--host-core") && !told.contains("umr"), "{told}");
}

/// A name with line breaks forges no lines.
#[test]
fn names_of_code_objects_are_one_line() {
    let (mut bytes, _) = sample("gfx1100");
    let name = b"file:///srv/app/lib";
    let forged = b"file:\n\r\x1b[7mproblem:";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at..at + forged.len()].copy_from_slice(forged);
    let (ok, text, _) = run(&bytes, "info", &[]);
    assert!(ok && text.contains(r"file:\n\r\u{1b}[7mproblem:"), "{text}");
    assert!(!text.chars().any(|char| char.is_control() && char != '\n'), "{text:?}");
    assert!(!text.lines().any(|line| line.contains("[7mproblem") && !line.contains(r"file:\n")), "{text}");
    let uri = &opened(&bytes)["code_objects"][1]["uri"];
    assert!(uri.as_str().unwrap().starts_with(r"file:\n\r"), "{uri}");
}
