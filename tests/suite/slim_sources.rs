//! Source files of a dump are included in each dump made of it, whatever their names.

use std::fs;

use serde_json::Value;

use crate::fixtures::copy_dump;
use crate::slim::{Scratch, said, words};
use crate::slim_messages::opened;

/// Paths that cannot exist together in a folder, or that cannot be file names.
fn paths() -> Vec<String> {
    let long = "x".repeat(300);
    let deep = "d/".repeat(200) + "k.hip";
    ["k.hip", "k.hip/below.h", "/k.hip", "/a/b.h", "a/b.h", "/a", "0-k.hip", "with space.h", "\u{e9}.h"]
        .map(str::to_owned)
        .into_iter()
        .chain([long, deep])
        .collect()
}

/// Many entries may have the same bytes: a dump of the dump has them all.
#[test]
fn sources_that_share_bytes_do_not_grow() {
    let scratch = Scratch::new("slim-shared");
    let from = scratch.path("dump");
    copy_dump("calls-gfx90a", &from);
    let mut manifest = fs::read_to_string(from.join("manifest.toml")).unwrap();
    for index in 0..40 {
        manifest.push_str(&format!("\n[[source]]\npath = \"{index}.hip\"\nfile = \"text\"\n"));
    }
    fs::write(from.join("manifest.toml"), manifest).unwrap();
    fs::File::create(from.join("text")).unwrap().set_len(16 << 20).unwrap();
    let (report, _) = said(&["slim", words(&from), "-o", words(&scratch.path("small.zip")), "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["sources"], &report["bytes"]["sources"]), (&16.into(), &(256 << 20).into()));
    let notes = report["notes"].to_string();
    assert!(notes.contains("24 source files of the capture left out"), "{notes}");
}

/// An argument that is not a pair of folders is rejected before anything is written.
#[test]
fn a_source_map_is_a_pair_of_folders() {
    let scratch = Scratch::new("slim-map");
    for (pair, why) in
        [("src", "expected OLD=NEW"), ("src=", "expected OLD=NEW"), ("..=x", "is no folder of source files")]
    {
        let to = scratch.path("small");
        let mut command = crate::support::lanescope();
        let output = command.args(["slim", "-o", words(&to), "--source-map", pair]).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(why), "{pair}: {error}");
        assert!(!to.exists());
    }
}

/// A name that is no folder is an error before any work: neither a dump nor the folder of `--dir` is made.
#[test]
fn sources_are_in_a_folder() {
    let scratch = Scratch::new("slim-no-folder");
    let file = scratch.path("file");
    fs::write(&file, "").unwrap();
    let missing = scratch.path("missing");
    for folder in [&missing, &file] {
        let dir = scratch.path("dir");
        let mut command = crate::support::lanescope();
        let output =
            command.args(["slim", "--dir", words(&dir), "--sources", words(folder)]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && error.contains("--sources"), "{error}");
        assert!(!dir.exists());
    }
}

#[test]
fn any_paths_of_sources_go_from_dump_to_dump() {
    let scratch = Scratch::new("slim-sources");
    let from = scratch.path("dump");
    copy_dump("calls-gfx90a", &from);
    let mut manifest = fs::read_to_string(from.join("manifest.toml")).unwrap();
    for (index, path) in paths().iter().enumerate() {
        manifest.push_str(&format!("\n[[source]]\npath = {path:?}\nhex = \"{index:02x}\"\n"));
    }
    fs::write(from.join("manifest.toml"), manifest).unwrap();
    for name in ["small", "small.zip"] {
        let to = scratch.path(name);
        let (report, _) = said(&["slim", words(&from), "-o", words(&to), "--json"]);
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!((&report["sources"], &report["bytes"]["sources"]), (&Value::from(11), &Value::from(11)));
        let dump = opened(&to);
        assert!(dump.problems().is_empty(), "{:?}", dump.problems());
        let capture = dump.capture();
        for (index, path) in paths().iter().enumerate() {
            let found = capture.sources.iter().find(|source| source.path == *path);
            let extent = found.unwrap_or_else(|| panic!("no {path}")).extent;
            let bytes = capture.backing(extent.backing).unwrap().view(extent.offset, extent.length).unwrap();
            assert_eq!((*bytes).as_ref(), [index as u8], "{path}");
        }
    }
}
