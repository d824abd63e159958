//! Small dumps of captures that know a code object only by its image in memory: separate debug information is included,
//! and data that only memory had is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::cores::core;
use crate::dwarf::ran;
use crate::fixtures::fixtures;
use crate::slim::{Scratch, ids, said, slim, words};
use crate::support::newest;

fn number(file: &[u8], at: usize, size: usize) -> u64 {
    file[at..at + size].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Type, flags, offset, address, bytes in the file and in memory of each program header (gABI chapter 5).
fn segments(file: &[u8]) -> Vec<[usize; 6]> {
    let (table, count) = (number(file, 32, 8) as usize, number(file, 56, 2) as usize);
    let header = |index: usize| {
        let field = |at, size| number(file, table + index * 56 + at, size) as usize;
        [field(0, 4), field(4, 4), field(8, 8), field(16, 8), field(32, 8), field(40, 8)]
    };
    (0..count).map(header).collect()
}

/// Debug information of a file at a debugger's place for it.
fn debug_folder(scratch: &Scratch, file: &Path) -> PathBuf {
    let notes = ran(Command::new(newest("llvm-readelf")).arg("-n").arg(file));
    let id = notes.split("Build ID: ").nth(1).unwrap().split_whitespace().next().unwrap();
    let folder = scratch.path("debug").join(".build-id").join(&id[..2]);
    fs::create_dir_all(&folder).unwrap();
    let debug = folder.join(format!("{}.debug", &id[2..]));
    ran(Command::new(newest("llvm-objcopy")).arg("--only-keep-debug").arg(file).arg(debug));
    scratch.path("debug")
}

/// Output about the variables of waves, each below its name, which has no number of the order in the dump.
fn locals(dump: &Path, waves: &str, more: &[&str]) -> String {
    said(&[&["locals", words(dump), "--wave", waves, "--lane", "3"], more].concat()).0
}

#[test]
fn separate_debug_information_stays_with_an_image() {
    let scratch = Scratch::new("slim-image-debug");
    let from = core("gfx90a-split");
    let debug = debug_folder(&scratch, &fixtures().join("gpucore/code/k-gfx90a-O0.hsaco"));
    let with = ["--debug-dir", words(&debug)];
    let dumps: Vec<(PathBuf, Vec<&str>)> = vec![
        (scratch.path("with"), vec!["--all-waves"]),
        (scratch.path("whole.zip"), vec!["--whole"]),
        (scratch.path("without"), vec!["--all-waves", "--no-global"]),
    ];
    for (to, more) in &dumps {
        let report = slim(&from, to, &[&more[..], &with].concat());
        let waves = ids(&report).join(",");
        let before = locals(&from, &waves, &with);
        // The kernel's own variables, by its source.
        assert!(before.contains("sum") && before.contains("tile"), "{before}");
        assert_ne!(before, locals(&from, &waves, &[]), "the core alone knows as much");
        assert_eq!(before, locals(to, &waves, &[]), "{more:?}");
        let notes = report["notes"].to_string();
        assert!(notes.contains(": its separate debug information is put beside its image"), "{notes}");
        // And a dump of that dump.
        let again = to.with_extension("again");
        slim(to, &again, more);
        assert_eq!(before, locals(&again, &waves, &[]), "{more:?}");
    }
    // Debug information of another build does not match.
    let to = &dumps[0].0;
    let files = fs::read_dir(to.join("code")).unwrap().map(|file| file.unwrap().path());
    let debugs: Vec<PathBuf> = files.filter(|file| words(file).ends_with(".debug")).collect();
    assert!(!debugs.is_empty());
    for file in &debugs {
        fs::copy(fixtures().join("gpucore/code/k-gfx942-O0.hsaco"), file).unwrap();
    }
    let mut manifest: Value = serde_json::from_slice(&fs::read(to.join("manifest.json")).unwrap()).unwrap();
    for object in manifest["code_object"].as_array_mut().unwrap() {
        if let Some(debug) = object.get_mut("debug").and_then(Value::as_object_mut) {
            debug.remove("length");
        }
    }
    fs::write(to.join("manifest.json"), manifest.to_string()).unwrap();
    let export: Value = serde_json::from_str(&said(&["export", words(to)]).0).unwrap();
    let problem = export["code_objects"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("its file of debug information: it has build id "), "{problem}");
}

const LOADED: u64 = 0x7f00_0000_0000;

/// An image in memory in which everything outside of the file is secret.
#[test]
fn without_global_memory_an_image_has_the_bytes_of_its_file() {
    const SECRET: &[u8] = b"a-secret-of-memory-";
    let scratch = Scratch::new("slim-image-secret");
    let file = fs::read(fixtures().join("code/calls-gfx90a.hsaco")).unwrap();
    let segments = segments(&file);
    let loaded = || segments.iter().filter(|segment| segment[0] == 1);
    let end = loaded().map(|segment| segment[3] + segment[5]).max().unwrap().next_multiple_of(4096) + 4096;
    let mut image: Vec<u8> = SECRET.iter().copied().cycle().take(end).collect();
    let mut expected = vec![0; end];
    for [_, flags, offset, address, size, _] in loaded() {
        let bytes = &file[*offset..offset + size];
        // Of the writable segments only the dynamic section is the file's.
        if flags & 2 == 0 {
            image[*address..address + size].copy_from_slice(bytes);
            expected[*address..address + size].copy_from_slice(bytes);
        }
    }
    for [_, _, offset, address, size, _] in segments.iter().filter(|segment| segment[0] == 2) {
        let bytes = &file[*offset..offset + size];
        image[*address..address + size].copy_from_slice(bytes);
        expected[*address..address + size].copy_from_slice(bytes);
    }
    fs::write(scratch.path("image.bin"), &image).unwrap();
    let code = loaded().find(|segment| segment[1] & 1 != 0).unwrap()[3] as u64;
    let manifest = json!({
        "format": 1,
        "agent": [{"id": 1, "target": "gfx90a"}],
        "wave": [{"id": 7, "agent": 1, "wave_size": 64, "registers": {"pc": format!("{:#x}", LOADED + code)}}],
        "code_object": [{"address": format!("{LOADED:#x}"), "image": true, "file": "image.bin"}],
    });
    fs::write(scratch.path("manifest.json"), manifest.to_string()).unwrap();
    let to = scratch.path("to");
    slim(&scratch.0, &to, &["--no-global"]);
    let made: Vec<PathBuf> =
        fs::read_dir(to.join("code")).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(made.len(), 1);
    assert_eq!(fs::read(&made[0]).unwrap(), expected);
    let frames = |dump: &Path| said(&["backtrace", words(dump), "--wave", "7"]).0;
    assert!(!frames(&scratch.0).is_empty());
    assert_eq!(frames(&scratch.0), frames(&to));
}
