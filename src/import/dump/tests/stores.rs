//! Folders, zips and single manifests: accepted and rejected places of side files.

use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{Folder, HEAD, global, lines};
use crate::arch::Targets;
use crate::import::{LocalFiles, Opened, Options, open, open_bytes, open_zip_bytes};

const MEMORY: &str = "format = 1\nmemory = [{ address = 16, file = \"a/m.bin\", offset = 1 }]\n";

fn memory(file: &str) -> String {
    format!("format = 1\nmemory = [{{ address = 0, file = {file:?} }}]\n")
}

/// A zip of stored entries.
pub(super) fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in entries {
        zip.start_file(*name, stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn error_of(zip: &[u8]) -> String {
    open_bytes("d.zip", zip.to_vec(), &Targets::builtin()).unwrap_err().to_string()
}

fn open_zip(bytes: Vec<u8>) -> Opened {
    open_bytes("d.zip", bytes, &Targets::builtin()).unwrap()
}

#[test]
fn one_dump_in_every_form() {
    let targets = Targets::builtin();
    let folder = Folder::new().with("manifest.toml", MEMORY).with("a/m.bin", [9, 1, 2, 3]);
    let zip = zip_of(&[("a/m.bin", &[9, 1, 2, 3]), ("manifest.toml", MEMORY.as_bytes())]);
    let nested = zip_of(&[("dump/manifest.toml", MEMORY.as_bytes()), ("dump/a/m.bin", &[9, 1, 2, 3])]);
    let folder = folder.with("named.anything", MEMORY).with("d.zip", &zip).with("also.a.zip", &nested);
    let bom = folder.with(
        "bom.json",
        "\u{feff} {\"format\": 1, \"memory\": [{\"address\": 16, \"file\": \"a/./m.bin\", \"offset\": 1}]}",
    );
    let folder = bom;
    let memory: &'static [u8] = Box::leak(zip.into_boxed_slice());
    let opened = [
        ("folder", open(&folder.0, &targets, &Options::default())),
        ("manifest", open(&folder.0.join("named.anything"), &targets, &Options::default())),
        ("manifest.toml", open(&folder.0.join("manifest.toml"), &targets, &Options::default())),
        ("bom", open(&folder.0.join("bom.json"), &targets, &Options::default())),
        ("zip", open(&folder.0.join("d.zip"), &targets, &Options::default())),
        ("nested", open(&folder.0.join("also.a.zip"), &targets, &Options::default())),
        ("static", open_zip_bytes("demo", memory, &targets)),
    ];
    for (form, opened) in opened {
        let opened = opened.unwrap_or_else(|error| panic!("{form}: {error}"));
        assert!(opened.problems.is_empty(), "{form}: {:?}", opened.problems);
        assert_eq!(global(&opened.capture, 16, 9), [1, 2, 3], "{form}");
        let extent = opened.capture.global.segments()[0].extent;
        let view = opened.capture.view(extent).unwrap();
        assert_eq!((*view).as_ref(), [1, 2, 3], "{form}");
        let backing = opened.capture.backing(extent.backing).unwrap();
        assert_eq!(backing.len(), 4, "{form}");
        assert!(backing.view(2, 3).is_err(), "{form}");
        assert!(backing.view(u64::MAX, 2).is_err(), "{form}");
        let mut byte = [0; 4];
        assert_eq!(backing.read_at(3, &mut byte).unwrap(), 1, "{form}");
        assert_eq!(backing.read_at(u64::MAX, &mut byte).unwrap(), 0, "{form}");
    }
}

#[test]
fn names_stay_within_the_dump() {
    for (name, what) in [
        ("/etc/passwd", "an absolute path (expected a relative path"),
        ("../m.bin", "a path that leaves the dump (expected a relative path"),
        ("a/../../m.bin", "a path that leaves the dump (expected a relative path"),
        ("", "a path with an empty part (expected a relative path"),
        ("a//m.bin", "a path with an empty part (expected a relative path"),
        (".", "a path with an empty part (expected a relative path"),
        ("a", "not a regular file (expected a regular file"),
        ("none", "No such file or directory (os error 2) (expected a readable file"),
        ("a/m.bin/x", "Not a directory (os error 20) (expected a readable file"),
        ("out", "a symbolic link that leaves the dump (expected side files within the dump's folder"),
        ("up/m.bin", "a symbolic link that leaves the dump (expected side files within the dump's folder"),
        ("loop", "a loop of symbolic links, or too long a chain (expected links that lead to a file"),
        ("round/m.bin", "a loop of symbolic links, or too long a chain (expected links that lead to a file"),
    ] {
        let folder =
            Folder::new().with("d/manifest.toml", memory(name)).with("d/a/m.bin", [1]).with("m.bin", [2]);
        symlink("../m.bin", folder.0.join("d/out")).unwrap();
        symlink("..", folder.0.join("d/up")).unwrap();
        symlink("loop", folder.0.join("d/loop")).unwrap();
        symlink("about", folder.0.join("d/round")).unwrap();
        symlink("round", folder.0.join("d/about")).unwrap();
        let opened = open(&folder.0.join("d"), &Targets::builtin(), &Options::default()).unwrap();
        let line = opened.problems[0].to_string();
        // A problem without a file name is one of the manifest.
        let file = if name.is_empty() { "manifest.toml" } else { name };
        assert!(line.starts_with(&format!("{file}: memory[0]: {what}")), "{name}: {line}");
        assert!(opened.capture.global.segments().is_empty());
    }
}

#[test]
fn links_that_stay_within_the_dump_are_followed() {
    let folder = Folder::new().with("manifest.toml", memory("link")).with("a/m.bin", [7]);
    symlink("a/m.bin", folder.0.join("link")).unwrap();
    assert_eq!(global(&folder.open().unwrap().capture, 0, 2), [7]);
}

/// A fixture's code object, and the path of another one.
fn code() -> (Vec<u8>, PathBuf) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code");
    (fs::read(folder.join("masks-gfx90a.hsaco")).unwrap(), folder.join("masks-gfx1100.hsaco"))
}

#[test]
fn the_path_of_a_code_object_leaves_the_dump_where_the_user_allows_it() {
    let targets = Targets::builtin();
    let (own, other) = code();
    let text = format!(
        "format = 1\ncode_object = [{{ address = 0, path = \"../k.elf\" }}, {{ address = 1, path = \"in.elf\" }}, \
         {{ address = 2, path = {:?} }}, {{ address = 3, path = \"x\", hex = \"7f\" }}]\n",
        other.display().to_string()
    );
    let zip = zip_of(&[("manifest.toml", text.as_bytes()), ("in.elf", &[1])]);
    let folder = Folder::new()
        .with("k.elf", &own)
        .with("d/in.elf", [3])
        .with("d/manifest.toml", &text)
        .with("d/z", zip);
    let lengths = |opened: &Opened| -> Vec<Option<u64>> {
        let extents = opened.capture.code_objects.iter().map(|object| object.extent);
        extents.map(|extent| extent.map(|extent| extent.length)).collect()
    };
    let (own, other) = (Some(own.len() as u64), Some(fs::metadata(&other).unwrap().len()));
    let refused = "it lies outside of the dump, and is not opened";
    for (dump, by_default, allowed) in [
        ("d", [None, Some(1), None, Some(1)], [own, Some(1), other, Some(1)]),
        // A zip does not include files beside it.
        ("d/z", [None, None, None, Some(1)], [own, None, other, Some(1)]),
    ] {
        let path = folder.0.join(dump);
        for local_files in [LocalFiles::Auto, LocalFiles::No] {
            let opened = open(&path, &targets, &Options { local_files, ..Options::default() }).unwrap();
            assert_eq!(lengths(&opened), by_default, "{dump}");
            assert!(lines(&opened)[0].starts_with(&format!("../k.elf: code_object[0].path: {refused}")));
            assert_eq!(
                lines(&opened).last().unwrap(),
                "manifest.toml: code_object[3].path: beside data, ignored (expected either data or path)"
            );
        }
        let options = Options { local_files: LocalFiles::Yes, ..Options::default() };
        assert_eq!(lengths(&open(&path, &targets, &options).unwrap()), allowed, "{dump}");
    }
}

/// The error is the same for any file outside.
#[test]
fn refusals_of_files_outside_are_alike() {
    let (_, other) = code();
    let folder = Folder::new().with("text", "root:x:0:0").with("elf", b"\x7fELF\x02\x01 and no more");
    fs::create_dir(folder.0.join("folder")).unwrap();
    nix::unistd::mkfifo(&folder.0.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let at = |name: &str| folder.0.join(name).display().to_string();
    let paths = [at("nothing"), at("text"), at("elf"), at("folder"), at("fifo"), other.display().to_string()];
    for local_files in [LocalFiles::Auto, LocalFiles::Yes, LocalFiles::No] {
        let refusals = paths.iter().map(|path| {
            let text = format!(
                "format = 1\ncode_object = [{{ address = 0, path = {path:?}, build_id = \"00112233445566778899\" }}]\n"
            );
            let dump = Folder::new().with("manifest.toml", text);
            let opened =
                open(&dump.0, &Targets::builtin(), &Options { local_files, ..Options::default() }).unwrap();
            assert!(opened.capture.code_objects[0].extent.is_none(), "{path}");
            lines(&opened).join("\n").replace(path.as_str(), "PATH")
        });
        let refusals: std::collections::BTreeSet<String> = refusals.collect();
        assert_eq!(refusals.len(), 1, "{refusals:?}");
    }
}

#[test]
fn views_end_with_the_file() {
    let bytes: Vec<u8> = (0..200_000u32).map(|n| (n / 7) as u8).collect();
    let text = "format = 1\ncode_object = [{ address = 0, file = \"k\", offset = 5 }]\n";
    let zip = zip_of(&[("manifest.toml", text.as_bytes()), ("k", &bytes)]);
    let folder = Folder::new().with("manifest.toml", text).with("k", &bytes).with("z", zip);
    for path in [folder.0.clone(), folder.0.join("z")] {
        let capture = open(&path, &Targets::builtin(), &Options::default()).unwrap().capture;
        let extent = capture.code_objects[0].extent.unwrap();
        assert_eq!((*capture.view(extent).unwrap()).as_ref(), &bytes[5..]);
    }
    let capture = folder.open().unwrap().capture;
    fs::write(folder.0.join("k"), [1, 2, 3]).unwrap();
    let extent = capture.code_objects[0].extent.unwrap();
    assert!(capture.view(extent).is_err(), "the file was cut after the dump was opened");
    let mut buffer = [0; 8];
    assert!(capture.backing(extent.backing).unwrap().read_at(0, &mut buffer).is_err());
    assert_eq!(capture.changes.first(), Some("k"));
}

#[test]
fn many_side_files_need_few_descriptors() {
    let mut folder = Folder::new();
    let mut pieces = Vec::new();
    for index in 0..200 {
        folder = folder.with(&format!("f{index}"), [index as u8]);
        pieces.push(format!("{{ address = {index}, file = \"f{index}\" }}"));
    }
    let folder = folder.with("manifest.toml", format!("format = 1\nmemory = [{}]", pieces.join(", ")));
    let capture = folder.open().unwrap().capture;
    for _ in 0..2 {
        assert_eq!(global(&capture, 0, 300), (0..200).collect::<Vec<u8>>());
    }
    let root = folder.0.canonicalize().unwrap();
    let open =
        fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let open = open.filter(|path| path.starts_with(&root)).count();
    // The folder itself, too.
    assert!((1..=33).contains(&open), "{open} files are open");
}

/// Changes a field of the local and the central header of an entry.
fn patch(zip: &mut [u8], name: &str, local: usize, central: usize, value: &[u8]) {
    let mut places = Vec::new();
    for at in 0..zip.len() - name.len() {
        let header = |magic: &[u8], size: usize| at >= size && zip[at - size..].starts_with(magic);
        if zip[at..].starts_with(name.as_bytes()) {
            places.extend(header(b"PK\x03\x04", 30).then(|| at - 30 + local));
            places.extend(header(b"PK\x01\x02", 46).then(|| at - 46 + central));
        }
    }
    assert_eq!(places.len(), 2);
    for place in places {
        zip[place..place + value.len()].copy_from_slice(value);
    }
}

#[test]
fn zip_entries_are_stored_and_lie_within_the_zip() {
    let text = memory("m.bin");
    let whole = zip_of(&[("manifest.toml", text.as_bytes()), ("m.bin", &[1; 64]), ("f/", b"")]);
    type Patch = (usize, usize, &'static [u8]);
    let cases: [(Patch, &str); 4] = [
        ((8, 10, &[8, 0]), "the entry is compressed"),
        ((6, 8, &[1, 0]), "the entry is encrypted"),
        ((22, 24, &[0x40, 0, 1, 0]), "the entry has a size of 65600 bytes and a stored size of 64 bytes"),
        ((6, 8, &[0, 0]), ""),
    ];
    for ((local, central, value), what) in cases {
        let mut zip = whole.clone();
        patch(&mut zip, "m.bin", local, central, value);
        let opened = open_zip(zip);
        match what {
            "" => assert!(opened.problems.is_empty()),
            what => assert!(opened.problems[0].to_string().contains(what), "{}", opened.problems[0]),
        }
    }
    let mut zip = whole.clone();
    patch(&mut zip, "m.bin", 18, 20, &[0, 0, 1, 0, 0, 0, 1, 0]);
    let line = open_zip(zip).problems[0].to_string();
    assert!(line.starts_with("m.bin: memory[0]: "), "{line}");
    assert!(line.ends_with(" (expected an entry that lies within the zip)"), "{line}");

    let mut zip = whole.clone();
    patch(&mut zip, "manifest.toml", 8, 10, &[8, 0]);
    let error = open_bytes("d.zip", zip, &Targets::builtin()).unwrap_err().to_string();
    assert!(error.starts_with("d.zip: manifest.toml: the entry is compressed"), "{error}");
    assert!(
        error.ends_with(" (unpack it and open the folder, or pack it without compression, as `zip -0` does)"),
        "{error}"
    );

    let mut zip = zip_of(&[("manifest.toml", memory("m.bin").as_bytes()), ("m.bin", &[1]), ("n.bin", &[2])]);
    while let Some(at) = zip.windows(5).position(|name| name == b"n.bin") {
        zip[at] = b'm';
    }
    let opened = open_zip(zip);
    assert_eq!(
        lines(&opened),
        ["d.zip: two entries have one name; the last one counts (expected names that are unique)"]
    );
    assert_eq!(global(&opened.capture, 0, 2), [2]);

    let opened = open_zip(zip_of(&[("manifest.toml", memory("f").as_bytes()), ("f/", b"")]));
    assert_eq!(
        lines(&opened),
        ["f: memory[0]: there is no such entry in the zip (expected an entry of that name)"]
    );
}

#[test]
fn a_manifest_in_memory_has_no_side_files() {
    let opened =
        open_bytes("m", format!("{HEAD}{}", &memory("x")[11..]).into_bytes(), &Targets::builtin()).unwrap();
    assert_eq!(
        lines(&opened),
        ["x: memory[0]: there is no folder to look in (expected a manifest that is a file)"]
    );
}

/// A manifest is read as a whole, so its checksum is compared: with the directory, and without it.
#[test]
fn a_manifest_whose_checksum_differs_is_reported() {
    let text = "format = 1\nx-note = \"one\"\nmemory = [{ address = 0, file = \"a\" }]\n";
    let mut zip = zip_of(&[("manifest.toml", text.as_bytes()), ("a", &[1; 10])]);
    assert!(open_zip(zip.clone()).problems.is_empty());
    let at = zip.windows(3).position(|bytes| bytes == b"one").unwrap();
    zip[at..at + 3].copy_from_slice(b"two");
    let expected = format!(
        "manifest.toml: the entry's bytes are damaged: their CRC-32 is {:#010x} (expected {:#010x}, as in the zip)",
        crc32fast::hash(text.replace("one", "two").as_bytes()),
        crc32fast::hash(text.as_bytes())
    );
    let opened = open_zip(zip.clone());
    assert_eq!(lines(&opened), [expected.as_str()]);
    assert_eq!(global(&opened.capture, 0, 10), [1; 10]);
    let directory = zip.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    assert_eq!(lines(&open_zip(zip[..directory].to_vec()))[1], expected);
}

#[test]
fn a_zip_that_broke_off_gives_what_it_has() {
    let text = "format = 1\nmemory = [{ address = 0, file = \"a\" }, { address = 100, file = \"b\", length = 50 }, \
        { address = 200, file = \"c\" }]\n";
    let whole =
        zip_of(&[("manifest.toml", text.as_bytes()), ("a", &[1; 10]), ("b", &[2; 50]), ("c", &[3; 5])]);
    let b = whole.windows(50).position(|bytes| bytes == [2; 50]).unwrap();
    let opened = open_zip(whole[..b + 20].to_vec());
    let lines = lines(&opened);
    assert!(lines[0].starts_with(&format!("d.zip: offset {:#x}: ", b + 20)), "{lines:?}");
    assert!(lines[0].contains(": the zip is cut short or damaged: "), "{lines:?}");
    assert!(lines[0].ends_with(
        "; 3 entries were found before that offset (expected a whole zip, with its directory at the end)"
    ));
    assert_eq!(
        lines[1..],
        [
            "b: offset 0x0: memory[1]: the file ends after 20 bytes (at 0x14); \
             the rest is taken as not captured (expected 50 bytes there)",
            "c: memory[2]: there is no such entry in the zip (expected an entry of that name)",
        ]
    );
    assert_eq!(global(&opened.capture, 0, 50), [1; 10]);
    assert_eq!(global(&opened.capture, 100, 50), [2; 20]);

    // The first part of a manifest may be a manifest of fewer waves.
    let start = whole.windows(10).position(|bytes| bytes == b"format = 1").unwrap();
    for count in [0, 5, 11, text.len() - 1] {
        let error = error_of(&whole[..start + count]);
        let (at, bytes) = (start + count, text.len());
        assert_eq!(
            error,
            format!(
                "d.zip: the zip is cut short at offset {at:#x}: it ends within manifest.toml, after {count} of its {bytes} \
                 bytes (expected a whole zip, with its directory at the end)"
            )
        );
    }
    let error = error_of(&whole[..20]);
    assert!(error.starts_with("d.zip: offset 0x0: the zip is cut short or damaged: "), "{error}");

    let mut deflated = whole.clone();
    patch(&mut deflated, "a", 8, 10, &[8, 0]);
    let opened = open_zip(deflated[..b].to_vec());
    assert!(opened.problems[1].to_string().starts_with("a: memory[0]: the entry is compressed or encrypted"));
}
