//! Dumps whose code objects lie in one file: a program for several agents, and the entries of a bundle. Each is read,
//! and none is left out.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::fixtures::{copy_dump, fixtures, one_line};
use crate::slim::{Scratch, answer, said, slim, words};

const DUMP: &str = "saxpy-gfx90a-O0";
/// The fixture's load address.
const LOADED: u64 = 0x7f00_0010_0000;

fn kernel() -> Vec<u8> {
    fs::read(fixtures().join("dumps").join(DUMP).join(format!("{DUMP}.hsaco"))).unwrap()
}

/// An offload bundle (Clang Offload Bundler, "Bundled Binary File Layout") with this number of copies of the kernel.
fn bundle(count: usize) -> Vec<u8> {
    let kernel = kernel();
    let id = b"hipv4-amdgcn-amd-amdhsa--gfx90a";
    let place = |index: usize| 4096 + index * kernel.len().next_multiple_of(4096);
    let mut file = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    file.extend((count as u64).to_le_bytes());
    for index in 0..count {
        for number in [place(index), kernel.len(), id.len()] {
            file.extend((number as u64).to_le_bytes());
        }
        file.extend(id);
    }
    for index in 0..count {
        file.resize(place(index), 0);
        file.extend(&kernel);
    }
    file
}

/// A compressed bundle of version 2 ("Compression and Decompression") with zlib data by an independent packer.
fn compressed(bundle: &[u8]) -> Vec<u8> {
    let script = "import sys, zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read(), 1))";
    let mut python = Command::new("python3");
    let mut python =
        python.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    python.stdin.take().unwrap().write_all(bundle).unwrap();
    let packed = python.wait_with_output().unwrap().stdout;
    let mut file = b"CCOB\x02\0\0\0".to_vec();
    file.extend((24 + packed.len() as u32).to_le_bytes());
    file.extend((bundle.len() as u32).to_le_bytes());
    file.extend([0; 8]);
    file.extend(packed);
    file
}

/// The fixture's dump with other code objects: keys of each. The last one is at the fixture's place.
fn dump(scratch: &Scratch, agents: usize, file: &[u8], objects: &[String]) {
    copy_dump(DUMP, &scratch.0);
    fs::write(scratch.path("file.bin"), file).unwrap();
    let manifest = fs::read_to_string(scratch.path("manifest.toml")).unwrap();
    let (head, rest) = manifest.split_once("[[code_object]]").unwrap();
    let (_, rest) = rest.split_once("\n\n").unwrap();
    let mut text = head.to_owned();
    for id in 2..=agents {
        text.push_str(&format!("[[agent]]\nid = {id}\ntarget = \"gfx90a\"\n\n"));
    }
    for (index, keys) in objects.iter().enumerate() {
        let below = (objects.len() - 1 - index) as u64;
        let address = LOADED - 0x10_0000 * below;
        text.push_str(&format!(
            "[[code_object]]\nfile = \"file.bin\"\naddress = \"{address:#x}\"\n{keys}\n\n"
        ));
    }
    fs::write(scratch.path("manifest.toml"), text + rest).unwrap();
}

/// All code objects have debug information, in the dump and in its copies, and the variables are the fixture's.
fn is_complete(scratch: &Scratch, count: usize) {
    let to = scratch.path("copy");
    let report = slim(&scratch.0, &to, &["--whole"]);
    assert_eq!(report["code_objects"], count, "{report}");
    let fixture = fixtures().join("dumps").join(DUMP);
    let expected = answer(&["locals", words(&fixture), "--json"]);
    for dump in [&scratch.0, &to] {
        let objects: Value = serde_json::from_str(&answer(&["objects", words(dump), "--json"])).unwrap();
        let objects = objects["code_objects"].as_array().unwrap_or_else(|| panic!("{objects}")).clone();
        assert_eq!(objects.len(), count);
        for object in &objects {
            assert!(object["problem"].is_null() && !object["size"].is_null(), "{object}");
        }
        assert_eq!(said(&["locals", words(dump), "--json"]).0, expected);
    }
}

#[test]
fn each_entry_of_a_large_bundle_is_read() {
    let scratch = Scratch::new("shared-bundle");
    let mut file = bundle(8);
    file.resize(8 << 20, 0);
    let keys: Vec<String> = (0..8).map(|index| format!("entry = \"{index}\"")).collect();
    dump(&scratch, 1, &file, &keys);
    is_complete(&scratch, 8);
}

#[test]
fn agents_share_a_file_that_each_names_by_a_uri_of_its_own() {
    let scratch = Scratch::new("shared-agents");
    let mut file = kernel();
    file.resize(6 << 20, 0);
    let keys = (0..8).map(|index| {
        format!(
            "agent = {}\nname = \"{index}\"\nuri = \"memory://42#offset={index}000&size=6291456\"",
            8 - index
        )
    });
    dump(&scratch, 8, &file, &keys.collect::<Vec<_>>());
    is_complete(&scratch, 8);
    let stored = fs::read_dir(scratch.path("copy").join("code")).unwrap().count();
    assert_eq!(stored, 1, "copies of one file");
}

/// 100 code objects in a bundle that unpacks to 8 MiB: 800 MiB if each unpacks it, more than the bound of a dump.
#[test]
fn a_compressed_bundle_is_unpacked_once() {
    let scratch = Scratch::new("shared-packed");
    let mut file = bundle(4);
    // Bytes that do not shrink: a file unpacks to at most 64 times its size.
    let mut state = 1u32;
    file.extend((0..200 << 10).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    file.resize(8 << 20, 0);
    let keys = (0..100).map(|index| format!("entry = \"{}\"\nname = \"{index}\"", index % 4));
    dump(&scratch, 1, &compressed(&file), &keys.collect::<Vec<_>>());
    is_complete(&scratch, 100);
}

#[test]
fn a_missing_entry_names_the_damage() {
    let scratch = Scratch::new("shared-damaged");
    let mut file = compressed(&bundle(1));
    // The first byte of the zlib data.
    file[24] = 0xff;
    dump(&scratch, 1, &file, &["entry = \"0\"".to_owned()]);
    let info = answer(&["info", words(&scratch.0)]);
    let info = one_line(&info);
    assert!(info.contains("no entry 0; it has no entries; compressed offload bundle"), "{info}");
}

/// Bytes that are no code object, and a bundle without the entry: `slim --whole` copies both.
#[test]
fn a_whole_dump_keeps_files_that_cannot_be_parsed() {
    for (file, keys) in [(b"no code object".to_vec(), ""), (bundle(1), "entry = \"gfx942\"")] {
        let scratch = Scratch::new("shared-unread");
        dump(&scratch, 1, &file, &[keys.to_owned()]);
        let to = scratch.path("copy");
        let report = slim(&scratch.0, &to, &["--whole"]);
        assert_eq!(report["code_objects"], 1, "{report}");
        let copy = fs::read_dir(to.join("code")).unwrap().map(|file| file.unwrap().path());
        let copies: Vec<_> = copy.map(|path| fs::read(path).unwrap()).collect();
        assert_eq!(copies, [file]);
        assert_eq!(error(&to), error(&scratch.0));
    }
}

/// The code object's error.
fn error(dump: &Path) -> String {
    let objects: Value = serde_json::from_str(&answer(&["objects", words(dump), "--json"])).unwrap();
    objects["code_objects"][0]["problem"].as_str().unwrap_or_else(|| panic!("{objects}")).to_owned()
}
