//! The commands `signature` and `bucket`: exit status, known signatures, text and JSON.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::fixtures::{fixtures, one_line, outside_ci};

/// Runs lanescope with an input.
pub(super) fn lanescope(words: &[&str], input: &[u8]) -> Output {
    let mut child = outside_ci(&mut crate::support::lanescope())
        .args(words)
        .env_remove("DEBUGINFOD_URLS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    // A command that reads no input closes the pipe.
    let _ = writer.join().unwrap();
    output
}

fn dump(name: &str) -> String {
    fixtures().join("dumps").join(name).to_str().unwrap().to_owned()
}

fn json(words: &[&str]) -> Value {
    serde_json::from_slice(&lanescope(words, b"").stdout).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

const SAXPY: &str = "memory violation | saxpy @ saxpy.hip | load";

fn written(folder: &Path, text: &str) -> String {
    let path = folder.join("known.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_signature_has_the_cause_the_function_and_the_access() {
    let dump = dump("saxpy-gfx90a-O2");
    let output = lanescope(&["signature", &dump], b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let (first, second) = lines.split_once('\n').unwrap();
    let (id, words) = first.split_once("  ").unwrap();
    assert_eq!(words, SAXPY);
    assert!(first.len() <= 80, "{first}");
    assert!(id.starts_with("ls1:") && id.len() == 16, "{id}");
    assert_eq!(second, format!("    1 wave, {dump}\n"));
    // The hash is MD5 of the version and the words (docs/signatures.md), by another program.
    let mut md5 = Command::new("md5sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    md5.stdin.take().unwrap().write_all(format!("ls1\n{SAXPY}").as_bytes()).unwrap();
    let sum = text(&md5.wait_with_output().unwrap().stdout);
    assert_eq!(id, format!("ls1:{}", &sum[..12]));
    // Files of known signatures have it: it changes with the version alone.
    assert_eq!(id, "ls1:52d6a45d46f3");
    let page = fs::read_to_string(concat!(env!("LANESCOPE_ROOT"), "docs/signatures.md")).unwrap();
    assert!(page.contains(&format!("{id}  {SAXPY}\n")));
    assert_eq!(lanescope(&["signature", &dump], b"").stdout, output.stdout);
}

#[test]
fn an_unreadable_dump_and_a_new_signature_have_an_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (dump("saxpy-gfx90a-O2"), dump("lds-gfx90a-O2"));
    let found = json(&["signature", "--json", &one]);
    assert_eq!(found["answers"][0]["schema"], "lanescope.signature/1");
    assert_eq!(found["answers"][0]["dump"], *one);
    let id = found["answers"][0]["signatures"][0]["id"].as_str().unwrap();
    let known = written(
        folder.path(),
        &format!("[[known]]\nsignature = \"{id}\"\nissue = 812\nnote = \"past the end\"\n"),
    );
    let output = lanescope(&["signature", &one, "--known", &known], b"");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        one_line(&text(&output.stdout)).ends_with(", known: issue 812, past the end"),
        "{}",
        text(&output.stdout)
    );
    let empty = written(folder.path(), "");
    let output = lanescope(&["signature", &one, "--known", &empty], b"");
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).ends_with(", new\n"), "{}", text(&output.stdout));
    let json = json(&["signature", &one, "--known", &empty, "--json"]);
    assert_eq!(json["answers"][0]["signatures"][0].get("known"), Some(&Value::Null));
    // The others are printed.
    let output = lanescope(&["signature", "/nowhere", &one, &other], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains(SAXPY) && text(&output.stdout).contains(&other));
    assert!(text(&output.stderr).contains("/nowhere: "), "{}", text(&output.stderr));
}

/// An unreadable dump does not hide a new crash, and an unreadable dump alone does not pass.
#[test]
fn a_new_signature_precedes_an_unreadable_dump() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (dump("saxpy-gfx90a-O2"), dump("lds-gfx90a-O2"));
    let broken = folder.path().join("z.zip");
    fs::write(&broken, "no archive").unwrap();
    let broken = broken.to_str().unwrap();
    let found = json(&["signature", "--json", &one]);
    let id = found["answers"][0]["signatures"][0]["id"].as_str().unwrap();
    let known = written(folder.path(), &format!("[[known]]\nsignature = \"{id}\"\nissue = 812\n"));
    for command in ["signature", "bucket"] {
        let status = |dumps: &[&str]| {
            lanescope(&[&[command, "--known", &known], dumps].concat(), b"").status.code().unwrap()
        };
        assert_eq!(status(&[&one, &other, broken]), 3, "{command}");
        assert_eq!(status(&[&one, broken]), 2, "{command}");
        assert_eq!(status(&[&one]), 0, "{command}");
    }
}

/// The dump's name is once before its error.
#[test]
fn an_error_has_the_name_of_its_dump_once() {
    for command in ["signature", "bucket"] {
        let output = lanescope(&[command, "nope.zip", &dump("saxpy-gfx90a-O2")], b"");
        let all = one_line(&(text(&output.stdout) + &text(&output.stderr)));
        assert_eq!(all.matches("nope.zip").count(), 1, "{all}");
        assert!(all.contains("nope.zip: No such file or directory"), "{all}");
    }
}

/// A dump that is named twice is one crash.
#[test]
fn a_bucket_has_each_dump_once() {
    let one = dump("saxpy-gfx90a-O2");
    let again = dump("../dumps/saxpy-gfx90a-O2");
    assert_eq!(json(&["bucket", "--json", &one, &again, &one])["dumps"], 1);
}

/// An unwritable answer is no success, and no new signature.
#[test]
fn an_unwritable_answer_has_status_2() {
    let dump = dump("saxpy-gfx90a-O2");
    for words in [vec!["signature", &dump], vec!["signature", "--json", &dump], vec!["bucket", &dump]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let status = crate::support::lanescope()
            .args(&words)
            .stdin(Stdio::null())
            .stdout(full)
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(2), "{words:?}");
    }
}

/// An empty input is that of a job that failed before this one: it must not pass.
#[test]
fn buckets_without_dumps_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let known = written(folder.path(), "");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (empty, blank) = (file("empty.jsonl", ""), file("blank.jsonl", "\n \n"));
    let none = folder.path().join("none");
    fs::create_dir(&none).unwrap();
    for (words, part) in [
        (vec!["--from", "-", "--known", &known], "--from -: no line"),
        (vec!["--from", &empty, "--from", &blank], "blank.jsonl: no line"),
        (vec!["--from", &empty, "--json"], "empty.jsonl: no line"),
        (vec![none.to_str().unwrap()], "in this folder"),
    ] {
        let output = lanescope(&[&["bucket"], &words[..]].concat(), b"");
        assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{words:?}: {output:?}");
        assert!(text(&output.stderr).contains(part), "{words:?}: {output:?}");
    }
    // A part of a fleet without dumps is no error beside others.
    let lines = lanescope(&["signature", "--jsonl", &dump("saxpy-gfx90a-O2")], b"").stdout;
    let output = lanescope(&["bucket", "--from", &empty, "--from", "-"], &lines);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn rules_of_a_file_change_the_functions() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("signature.toml");
    fs::write(&rules, "irrelevant = [\"saxpy\"]\n").unwrap();
    let dump = dump("saxpy-gfx90a-O2");
    let output = lanescope(&["signature", &dump, "--rules", rules.to_str().unwrap(), "--explain"], b"");
    let printed = text(&output.stdout);
    assert!(printed.contains("saxpy: left out by `saxpy`"), "{printed}");
    assert!(!printed.contains("@ saxpy.hip"), "{printed}");
    // The dump has debug information.
    let unfolded = one_line(&printed);
    assert!(unfolded.contains("weak: the rules leave out all functions"), "{printed}");
    let log = fixtures().join("logs/agent-2018.log");
    let weak = text(&lanescope(&["signature", log.to_str().unwrap()], b"").stdout);
    assert!(weak.contains("weak: ") && !weak.contains("the rules"), "{weak}");
    // A report has the signature by the same rules.
    let report = lanescope(&["report", &dump, "--format", "json", "--rules", rules.to_str().unwrap()], b"");
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(printed.split("  ").next(), report["signatures"][0]["id"].as_str());
    fs::write(&rules, "irrelevant = 3\n").unwrap();
    let wrong = lanescope(&["report", &dump, "--rules", rules.to_str().unwrap()], b"");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("signature.toml: "), "{}", text(&wrong.stderr));
    let printed = text(&lanescope(&["signature", &dump, "--explain"], b"").stdout);
    assert!(printed.contains("saxpy: taken"), "{printed}");
}

/// Different crashes share a cause without a place, so no entry makes it known.
#[test]
fn a_cause_alone_is_never_known() {
    let folder = tempfile::tempdir().unwrap();
    let log = fixtures().join("logs/agent-2018.log").to_str().unwrap().to_owned();
    let printed = text(&lanescope(&["signature", &log], b"").stdout);
    let id = printed.split_whitespace().next().unwrap();
    let known = written(folder.path(), &format!("[[known]]\nsignature = \"{id}\"\nissue = 1\n"));
    for command in ["signature", "bucket"] {
        let output = lanescope(&[command, &log, "--known", &known], b"");
        assert_eq!(output.status.code(), Some(3), "{command}: {}", text(&output.stdout));
    }
}

#[test]
fn wrong_files_and_lines_are_errors_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let dump = dump("saxpy-gfx90a-O2");
    for (known, expected) in [
        ("[[known]]\nsignature = \"812\"\n", "`812` is no signature"),
        ("[[known]]\nsignature = \"ls1:3f9c2a71\"\n", "`ls1:3f9c2a71` is no signature"),
        (
            "[[known]]\nsignature = \"ls1:121212121212\"\n[[known]]\nsignature = \"ls1:121212121212\"\n",
            "ls1:121212121212 is in the file twice",
        ),
        ("[[known]]\nissue = 3\n", "missing field `signature`"),
        ("[[known]]\nsignature = \"ls1:121212121212\"\nowner = 3\n", "unknown field `owner`"),
    ] {
        let known = written(folder.path(), known);
        let output = lanescope(&["signature", &dump, "--known", &known], b"");
        assert_eq!(output.status.code(), Some(1), "{expected}");
        let message = text(&output.stderr);
        assert!(message.contains(&known) && message.contains(expected), "{message}");
    }
    let line = text(&lanescope(&["signature", &dump, "--jsonl"], b"").stdout);
    assert_eq!(line.matches('\n').count(), 1);
    for (lines, expected) in [
        (format!("{line}nonsense\n"), "line 2: not a line of `lanescope signature --jsonl`"),
        (
            format!("{line}{}\n{line}", &line[..40]),
            "line 2: not a line of `lanescope signature --jsonl` (column 40: EOF while parsing a",
        ),
        (
            format!("\n{}", line.replace("signature/1", "signature/9")),
            "line 2: the schema is `lanescope.signature/9`, expected `lanescope.signature/1`: another version of \
             lanescope printed the line; print it again",
        ),
        // Another version has other members.
        (
            "{\"schema\":\"lanescope.signature/2\",\"dumps\":[]}\n".to_owned(),
            "line 1: the schema is `lanescope.signature/2`, expected `lanescope.signature/1`: another version",
        ),
        (
            "{\"schema\":\"lanescope.check/1\"}\n".to_owned(),
            "line 1: the schema is `lanescope.check/1`, expected `lanescope.signature/1`: a line of `lanescope signature",
        ),
        (
            format!("{line}{}", line.replace("\"default\"", "\"line\"")),
            "the levels default and line are mixed",
        ),
    ] {
        let output = lanescope(&["bucket", "--from", "-"], lines.as_bytes());
        assert_eq!(output.status.code(), Some(1), "{expected}");
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
        assert!(!text(&output.stderr).contains(" at line "), "one position: {}", text(&output.stderr));
    }
    // The lines have the level and the rules already.
    for option in [["--level", "line"], ["--rules", "rules.toml"], ["--symbols", "build"], ["--jobs", "2"]] {
        let output = lanescope(&["bucket", "--from", "-", option[0], option[1]], line.as_bytes());
        assert_ne!(output.status.code(), Some(0), "{option:?}");
        assert!(text(&output.stderr).contains("cannot be used with"), "{}", text(&output.stderr));
    }
}

/// Times of other zones, dumps without a time, and the nearest known signature.
#[test]
fn buckets_have_the_first_and_the_last_dump_and_the_nearest_signature() {
    let record = |dump: &str, captured: &str, id: &str, words: &str, kernel: &str| {
        let captured = if captured.is_empty() { "null".to_owned() } else { format!("\"{captured}\"") };
        format!(
            "{{\"schema\":\"lanescope.signature/1\",\"dump\":\"{dump}\",\"captured\":{captured},\"level\":\"default\",\"error\":null,\
             \"signatures\":[{{\"id\":\"{id}\",\"text\":\"{words}\",\"kernel\":\"{kernel}\",\"is_weak\":false,\"waves\":2}}]}}\n"
        )
    };
    let load = "memory violation | leaf < saxpy @ saxpy.hip | load";
    let store = "memory violation | leaf < saxpy @ saxpy.hip | store";
    let other = "illegal instruction | far @ far.hip";
    let lines = [
        // 11:30+02:00 is before 10:00Z.
        record("b.zip", "2026-11-20T10:00:00Z", "ls9:aa", load, "saxpy"),
        record("c.zip", "2026-11-20T11:30:00+02:00", "ls9:aa", load, "saxpy"),
        record("a.zip", "2026-11-20T10:00:01Z", "ls9:aa", load, "saxpy"),
        record("z.zip", "2026-11-19T10:00:01Z", "ls9:bb", store, "saxpy"),
        record("y.zip", "", "ls9:bb", store, "saxpy"),
        record("x.zip", "", "ls9:cc", other, "far"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let known = written(folder.path(), "[[known]]\nsignature = \"ls9:aa\"\nissue = \"GPU-812\"\n");
    let output = lanescope(&["bucket", "--from", "-", "--known", &known], lines.concat().as_bytes());
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        text(&output.stdout),
        "6 dumps, 3 signatures\n\n\
         ls9:aa  memory violation | leaf < saxpy @ saxpy.hip | load\n    3 dumps, 6 waves, known: issue GPU-812\n    \
         by time: first c.zip (2026-11-20T11:30:00+02:00), last a.zip (2026-11-20T10:00:01Z)\n\n\
         ls9:bb  memory violation | leaf < saxpy @ saxpy.hip | store\n    2 dumps, 4 waves, new\n    \
         nearest: ls9:aa (issue GPU-812): the same functions, another kind of access\n    \
         by name: first y.zip, last z.zip\n\n\
         ls9:cc  illegal instruction | far @ far.hip\n    1 dump, 2 waves, new\n    x.zip\n"
    );
}

/// The line of a .scope file holds for a signature of each level.
#[test]
fn expectations_name_a_signature_of_any_level() {
    let folder = tempfile::tempdir().unwrap();
    let dump = dump("saxpy-gfx90a-O2");
    let ids = ["coarse", "default", "line", "exact"].map(|level| {
        let found = json(&["signature", "--json", "--level", level, &dump]);
        found["answers"][0]["signatures"][0]["id"].as_str().unwrap().to_owned()
    });
    let checked = |ids: &[&str], status: i32| {
        let scopes = ids.iter().enumerate().map(|(index, id)| {
            let scope = folder.path().join(format!("{index}.scope"));
            fs::write(&scope, format!("dump {dump}\nsignature {id}\n")).unwrap();
            scope.to_str().unwrap().to_owned()
        });
        let scopes: Vec<String> = scopes.collect();
        // One process has the code of all.
        let words: Vec<&str> =
            ["check", "--jobs", "1"].into_iter().chain(scopes.iter().map(String::as_str)).collect();
        let output = lanescope(&words, b"");
        assert_eq!(output.status.code(), Some(status), "{ids:?}: {}", text(&output.stdout));
    };
    checked(&ids.each_ref().map(String::as_str), 0);
    checked(&["ls1:000000000000"], 1);
    checked(&["ls9:3f9c2a71"], 2);
}

/// A known signature by other rules is no error: lines of another version may have it. No dump does.
#[test]
fn known_signatures_by_other_rules_have_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let known = written(folder.path(), "[[known]]\nsignature = \"ls2:3f9c\"\n");
    let dump = dump("saxpy-gfx90a-O2");
    for command in ["signature", "bucket"] {
        let output = lanescope(&[command, &dump, "--known", &known], b"");
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let warning = format!("warning: {known}: ls2:3f9c has the rules ls2, expected ls1: no dump has it; ");
        assert!(text(&output.stderr).contains(&warning), "{}", text(&output.stderr));
    }
}

/// No dump of a folder is skipped.
#[test]
fn a_dangling_link_is_an_unreadable_dump() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixtures().join("demo.zip"), folder.path().join("a.zip")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("b.zip")).unwrap();
    let output = lanescope(&["bucket", folder.path().to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("b.zip: "), "{output:?}");
    assert!(text(&output.stdout).starts_with("2 dumps, 1 signature, 1 unreadable"), "{output:?}");
}

/// Every wave that faulted counts, whatever the order of the waves.
#[test]
fn waves_at_many_pcs_all_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut waves: Vec<String> = (0..80u64)
        .map(|number| {
            let reason = if number == 79 { "ILLEGAL_INSTRUCTION" } else { "MEMORY_VIOLATION" };
            let pc = 0x7f10_0000_1000 + number * 8;
            format!(
                "wave_{number}: pc={pc:#x} (stopped, reason: {reason})\n\ngeneral registers:\n{0}pc: {pc:016x}{0}exec: 0000ffff\n\n",
                " ".repeat(14)
            )
        })
        .collect();
    for _ in 0..2 {
        fs::write(&path, waves.concat()).unwrap();
        let answers = json(&["signature", path.to_str().unwrap(), "--json"]);
        let found = &answers["answers"][0];
        let signatures = found["signatures"].as_array().unwrap();
        let counted: Vec<(&str, u64)> = signatures
            .iter()
            .map(|one| (one["text"].as_str().unwrap(), one["waves"].as_u64().unwrap()))
            .collect();
        assert_eq!(counted, [("memory violation", 79), ("illegal instruction", 1)], "{found:#}");
        assert!(found["unknown_waves"].as_array().unwrap().is_empty(), "{found:#}");
        waves.reverse();
    }
}

/// docs/signatures.md: a dump whose faults are unknown may have a signature that is not known; whole dumps have none.
#[test]
fn an_incomplete_dump_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let known = written(folder.path(), "[[known]]\nsignature = \"ls1:000000000000\"\n");
    let incomplete = fixtures().join("logs/umr-hardware.txt").to_str().unwrap().to_owned();
    let lines = lanescope(&["signature", "--jsonl", &incomplete], b"").stdout;
    for (words, input) in [
        (vec!["signature", &*incomplete], &b""[..]),
        (vec!["bucket", &incomplete], b""),
        (vec!["bucket", "--from", "-"], &lines),
    ] {
        assert_eq!(lanescope(&words, input).status.code(), Some(0), "{words:?}");
        let output = lanescope(&[words.as_slice(), &["--known", &known]].concat(), input);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {output:?}");
        let printed = one_line(&text(&output.stdout));
        assert!(printed.contains("incomplete: the stop reason of 1 wave"), "{words:?}: {printed}");
    }
    // A new signature precedes.
    let new = dump("saxpy-gfx90a-O0");
    let both = lanescope(&["signature", &incomplete, &new, "--known", &known], b"");
    assert_eq!(both.status.code(), Some(3), "{both:?}");
    let whole = lanescope(&["signature", &new], b"").stdout;
    let id = text(&whole).split_whitespace().next().unwrap().to_owned();
    let known = written(folder.path(), &format!("[[known]]\nsignature = \"{id}\"\n"));
    assert_eq!(lanescope(&["signature", &new, "--known", &known], b"").status.code(), Some(0));
}
