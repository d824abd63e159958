//! Dumps that cannot be loaded at all: the error has the file, the place and the expected form.

use super::stores::zip_of;
use super::{Folder, open_text};
use crate::arch::Targets;
use crate::import::{Options, open, open_bytes};

#[track_caller]
fn refused(text: &str, expected: &str) {
    let error = open_text(text).expect_err("it opened").to_string();
    assert!(error.starts_with(expected), "{error}\nis not\n{expected}");
}

#[test]
fn formats_that_are_not_1() {
    refused("", "m: format: is missing (expected format = 1)");
    refused("format = 2\nwave = 7", "m: format: 2 is newer than this lanescope (expected format = 1)");
    refused("format = 0", "m: format: 0 is no format (expected format = 1)");
    refused("format = \"one\"", "m: format: \"one\" is no format (expected format = 1)");
    refused("{}", "m: format: is missing (expected format = 1)");
}

#[test]
fn syntax_errors_have_a_line_and_a_column() {
    refused("format = 1\n[[wave]\n", "m: line 2, column 8: unclosed array table");
    refused("format = 1\né = = 1\n", "m: line 2, column 5: ");
    refused(
        "format = 1\na = 1\na = 2\n",
        "m: line 3, column 1: duplicate key `a` (expected a TOML document)",
    );
    refused(
        "{\"format\": 1,\n \"wave\": [",
        "m: line 2, column 10: EOF while parsing a list (expected a JSON object)",
    );
    refused("{\"format\": 1} x", "m: line 1, column 15: trailing characters (expected a JSON object)");
    let error = open_bytes("m", b"format = 1\na = \"\xff\"".to_vec(), &Targets::builtin()).unwrap_err();
    assert_eq!(error.to_string(), "m: line 2, column 6: not UTF-8 (expected a TOML document)");
    refused(&format!("a = {}1", "[".repeat(100_000)), "m: line 1, column ");
    refused(&format!("{{\"a\": {}", "[".repeat(100_000)), "m: line 1, column ");
}

#[test]
fn folders_and_zips_with_no_manifest_or_two() {
    let targets = Targets::builtin();
    let both = [("manifest.toml", &b"format = 1"[..]), ("manifest.json", b"{}")];
    let folder = both.iter().fold(Folder::new(), |folder, (name, bytes)| folder.with(name, bytes));
    let error = folder.open().unwrap_err().to_string();
    assert!(
        error.ends_with(": both manifest.toml and manifest.json are there (expected one of them)"),
        "{error}"
    );
    let error = open_bytes("z", zip_of(&both), &targets).unwrap_err().to_string();
    assert_eq!(error, "z: both manifest.toml and manifest.json are there (expected one of them)");
    let error = Folder::new().open().unwrap_err().to_string();
    assert!(
        error.ends_with(": there is no manifest (expected manifest.toml or manifest.json in it)"),
        "{error}"
    );
    for entries in [
        &[][..],
        &[("x", &b""[..])],
        &[("a/manifest.toml", b"format = 1"), ("b/manifest.toml", b"format = 1")],
        &[("a/b/manifest.toml", b"format = 1")],
    ] {
        let error = open_bytes("z", zip_of(entries), &targets).unwrap_err().to_string();
        assert_eq!(error, "z: there is no manifest (expected manifest.toml or manifest.json in it)");
    }
    let entries = [("crash/run.log", &b""[..]), ("crash/gpucore.7", b"")];
    let error = open_bytes("z", zip_of(&entries), &targets).unwrap_err().to_string();
    let core = "; it holds crash/gpucore.7: unpack it and open that file)";
    assert!(error.ends_with(core), "{error}");
}

#[test]
fn files_that_are_no_dump() {
    for (bytes, found) in [
        (&b"\x7fELF\x02\x01\x01"[..], "the first bytes of an ELF file"),
        (b"\x1f\x8b\x08", "a gzip file: unpack it first"),
        (b"format\0", "a binary file"),
    ] {
        let folder = Folder::new().with("d", bytes);
        let error =
            open(&folder.0.join("d"), &Targets::builtin(), &Options::default()).unwrap_err().to_string();
        assert!(error.contains(&format!("/d: {found} (expected a lanescope dump")), "{error}");
        for format in ["ROCm core", "log of ROCm's debug agent", "umr"] {
            assert!(error.contains(format), "{error}");
        }
    }
    let error = open("/dev/null".as_ref(), &Targets::builtin(), &Options::default()).unwrap_err().to_string();
    assert!(error.starts_with("/dev/null: neither a file nor a folder (expected"), "{error}");
    let error =
        open("/nowhere/at/all".as_ref(), &Targets::builtin(), &Options::default()).unwrap_err().to_string();
    assert_eq!(error, "/nowhere/at/all: No such file or directory (os error 2)");
}

#[test]
fn manifests_that_hold_bulk_data() {
    let text = format!("format = 1\n{}", " ".repeat(16 << 20));
    refused(
        &text,
        "m: 16777227 bytes (expected a manifest of at most 16777216 bytes: bulk data belongs in side files)",
    );
    let json = format!("{{\"format\": 1}}{}", " ".repeat(16 << 20));
    assert!(open_text(&json).is_ok());
}
