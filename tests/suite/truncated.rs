//! Captures whose file ends too early: the answer has it, and so has the exit status.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::fixtures::one_line;
use crate::slim::{Scratch, lanescope, words};
use crate::support::root;

const MARK: &str = "; the capture is truncated";

fn core() -> Vec<u8> {
    fs::read(root().join("tests/fixtures/gpucore/gfx1100.core")).unwrap()
}

/// Number of the core's PT_LOAD segments (System V gABI, "Program Header") that end behind that offset.
fn segments_behind(core: &[u8], end: u64) -> usize {
    let number = |at: usize, bytes: usize| {
        core[at..at + bytes].iter().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte))
    };
    let (table, size, count) = (number(0x20, 8) as usize, number(0x36, 2) as usize, number(0x38, 2) as usize);
    let ends = (0..count).map(|index| table + index * size).filter(|at| number(*at, 4) == 1);
    ends.filter(|at| number(at + 8, 8) + number(at + 32, 8) > end).count()
}

/// Exit status, sentence and text of the answer.
fn triage(dump: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let text = lanescope(&[&["triage", words(dump)], more].concat());
    let json = lanescope(&[&["triage", "--json", words(dump)], more].concat());
    assert_eq!(text.status.code(), json.status.code());
    let answer: Value = serde_json::from_slice(&json.stdout).unwrap();
    let sentence = answer["sentence"].as_str().unwrap().to_owned();
    let first = &answer["missing"][0]["missing"];
    assert_eq!(first == "truncated", sentence.ends_with(MARK), "{answer}");
    (text.status.code(), sentence, String::from_utf8(text.stdout).unwrap())
}

#[test]
fn a_truncated_core_has_the_mark_and_a_status() {
    let scratch = Scratch::new("truncated-core");
    let whole = core();
    let path = scratch.path("core");
    fs::write(&path, &whole).unwrap();
    let (status, sentence, _) = triage(&path, &[]);
    assert_eq!(status, Some(0));
    assert!(!sentence.contains("truncated"), "{sentence}");
    assert!(!String::from_utf8(lanescope(&["info", words(&path)]).stdout).unwrap().contains("truncated:"));
    // The save areas are in the file, and without them.
    for length in [150_000, 20_000] {
        fs::write(&path, &whole[..length]).unwrap();
        let (status, sentence, text) = triage(&path, &[]);
        assert_eq!(status, Some(1), "{length}");
        assert!(sentence.ends_with(MARK) && one_line(&text).contains(MARK), "{length}: {text}");
        let count = segments_behind(&whole, length as u64);
        let place = format!("the core ends at offset {length:#x}, before the end of {count} segments");
        assert!(one_line(&text).contains(&format!("the end of the capture: {place}")), "{text}");
        let info = String::from_utf8(lanescope(&["info", words(&path)]).stdout).unwrap();
        assert!(info.contains(&format!("truncated: {place}\n")), "{info}");
        let json: Value =
            serde_json::from_slice(&lanescope(&["info", "--json", words(&path)]).stdout).unwrap();
        assert_eq!(json["truncated"], place.as_str());
    }
}

/// A small dump of it has the same sentence.
#[test]
fn a_small_dump_of_a_truncated_core_has_the_mark() {
    let scratch = Scratch::new("truncated-slim");
    let (path, small) = (scratch.path("core"), scratch.path("small.zip"));
    fs::write(&path, &core()[..150_000]).unwrap();
    let made = lanescope(&["slim", words(&path), "-o", words(&small), "--all-waves"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (before, after) = (triage(&path, &[]), triage(&small, &[]));
    assert_eq!((before.0, &before.1), (after.0, &after.1));
    assert!(one_line(&String::from_utf8(made.stdout).unwrap()).contains(&before.1));
}

#[test]
fn other_truncated_captures_have_the_mark() {
    let scratch = Scratch::new("truncated-others");
    let zip = fs::read(root().join("tests/fixtures/demo.zip")).unwrap();
    let json = br#"{"waves":[{"se":0,"sa":0,"wgp":1,"sgpr":[1]},{"se":0,"sa":0"#;
    let complete = br#"{"waves":[{"se":0,"sa":0,"wgp":1,"sgpr":[1]}]}"#;
    let gpu = ["--processor", "gfx1100"];
    for (name, bytes, more, is_cut) in [
        // The last 22 bytes end the directory (APPNOTE.TXT 4.3.16).
        ("cut.zip", &zip[..zip.len() - 22], &[][..], true),
        ("list.json", &json[..44], &gpu, true),
        ("wave.json", &json[..], &gpu, true),
        ("whole.json", &complete[..], &gpu, false),
    ] {
        let path = scratch.path(name);
        fs::write(&path, bytes).unwrap();
        let (status, sentence, _) = triage(&path, more);
        assert_eq!(
            (status, sentence.ends_with(MARK)),
            (Some(i32::from(is_cut)), is_cut),
            "{name}: {sentence}"
        );
    }
}

/// Exit status and both streams of a command that reads these bytes from a pipe.
fn piped(arguments: &[&str], bytes: &[u8]) -> (Option<i32>, String, String) {
    let mut command = crate::support::lanescope();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, bytes) = (child.stdin.take().unwrap(), bytes.to_vec());
    // A command may end before it has read all.
    let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Each kind of command that takes a dump has the answer about the file, also where a stream is all that it has.
#[test]
fn a_dump_may_come_from_standard_input() {
    let scratch = Scratch::new("standard-input");
    let fixture = |name: &str| root().join("tests/fixtures").join(name);
    let manifest = scratch.path("manifest.toml");
    let wave = "[[wave]]\nid = 7\nagent = 1\n[wave.registers]\npc = 16\nexec = 3\n";
    fs::write(&manifest, format!("format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n{wave}")).unwrap();
    let views = scratch.path("views");
    for (path, commands) in [
        (
            fixture("gpucore/gfx1100.core"),
            &[
                "-",
                "triage -",
                "info -",
                "waves -",
                "locals -",
                "export -",
                "report - --format json",
                "signature -",
                "dwarf -",
                "objects -",
                "diff - FILE",
                "diff FILE -",
            ][..],
        ),
        (fixture("demo.zip"), &["waves -", "print - i", "info -", "view - -o VIEWS"]),
        (fixture("logs/agent-plain.log"), &["waves -", "registers - -r pc"]),
        (fixture("logs/umr-columns.txt"), &["waves - --processor gfx1100"]),
        (manifest, &["waves -", "info -"]),
    ] {
        let bytes = fs::read(&path).unwrap();
        for command in commands {
            let typed = |dump: &str| -> Vec<String> {
                let each = command.split(' ').map(|word| match word {
                    "-" => dump.to_owned(),
                    "FILE" => words(&path).to_owned(),
                    "VIEWS" => words(&views).to_owned(),
                    word => word.to_owned(),
                });
                each.collect()
            };
            let (of_file, of_pipe) = (typed(words(&path)), typed("-"));
            let _ = fs::remove_dir_all(&views);
            let expected = lanescope(&of_file.iter().map(String::as_str).collect::<Vec<_>>());
            let _ = fs::remove_dir_all(&views);
            let found = piped(&of_pipe.iter().map(String::as_str).collect::<Vec<_>>(), &bytes);
            let (name, shown) =
                (path.file_name().unwrap().to_str().unwrap(), String::from_utf8(expected.stdout).unwrap());
            // Names of the dump, also in next commands, which name a file.
            let line = |text: &str| {
                let text = [words(&path), name, "FILE"]
                    .iter()
                    .fold(text.to_owned(), |text, name| text.replace(name, "standard input"));
                one_line(&text).replace(" \\ ", " ").replace("serve - ", "serve standard input ")
            };
            assert_eq!(found.0, expected.status.code(), "{command}: {}", found.2);
            assert_eq!(line(&found.1), line(&shown), "{command}");
            assert!(!found.1.contains("/dev/"), "{command}: {}", found.1);
        }
    }
}

#[test]
fn a_core_that_ends_early_on_standard_input_is_truncated() {
    let whole = core();
    let (status, text, error) = piped(&["-"], &whole[..150_000]);
    assert_eq!(status, Some(1), "{error}");
    assert!(one_line(&text).contains(MARK), "{text}");
    assert!(one_line(&error).contains("standard input: the core ended early: "), "{error}");
    let (status, text, _) = piped(&["-"], &whole);
    assert!(status == Some(0) && !text.contains("truncated"), "{text}");
    // A file needs no copy.
    let output = crate::support::lanescope()
        .arg("-")
        .stdin(fs::File::open(root().join("tests/fixtures/gpucore/gfx1100.core")).unwrap())
        .output()
        .unwrap();
    assert_eq!(one_line(&String::from_utf8(output.stdout).unwrap()), one_line(&text));
}
