//! A small dump's notes, which its readers print: missing parts of its source, unknown requested parts, losses.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lanescope::arch::Targets;
use lanescope::import::{self, Options};
use lanescope::session::{Bounds, Dump, DumpFacts as _, Session};
use lanescope::slim::{self, Choice, MAX_CARRIED, Progress};
use serde_json::{Value, json};

use crate::cores::core;
use crate::fixtures::{fixtures, one_line};
use crate::slim::{Scratch, answer, lanescope, piped, said, slim as slimmed, words};

pub(crate) fn opened(path: &Path) -> Arc<Dump> {
    let opened = import::open(path, &Targets::builtin(), &Options::default()).unwrap();
    Arc::new(Dump::new(opened.capture, opened.problems))
}

pub(crate) fn options() -> slim::Options {
    slim::Options {
        basis: slim::Basis::default(),
        choice: Choice::Representative,
        kind: None,
        bounds: Bounds {
            steps: 2,
            pages: 1 << 18,
            pointers: 1 << 20,
            values: 1 << 21,
            time: Duration::from_secs(60),
        },
        memory: Vec::new(),
        global: true,
        whole: false,
        notes: Vec::new(),
        sources: slim::Sources::default(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn info(dump: &Path) -> Value {
    serde_json::from_str(&said(&["info", words(dump), "--json"]).0).unwrap()
}

fn notices(dump: &Path) -> Vec<String> {
    Session::new(opened(dump), None).unwrap().notices()
}

#[test]
fn what_is_wrong_with_a_core_is_read_in_what_was_made_of_it() {
    let scratch = Scratch::new("slim-told");
    let whole = fs::read(core("gfx942-multi-xcc")).unwrap();
    let cut = scratch.path("gpucore");
    fs::write(&cut, &whole[..whole.len() - 20_000]).unwrap();
    let to = scratch.path("small.zip");
    let report: Value =
        serde_json::from_str(&said(&["slim", words(&cut), "-o", words(&to), "--json"]).0).unwrap();
    let (before, after) = (info(&cut), info(&to));
    let wrong: Vec<String> = before["problems"].as_array().unwrap().iter().map(crate::problem_text).collect();
    assert!(wrong.iter().any(|problem| problem.contains("truncated at offset")), "{wrong:?}");
    // Missing parts, without the name of their dump.
    let missing = texts(&before["missing"]).into_iter().map(|what| format!("{}: {what}", cut.display()));
    let notes = texts(&after["notes"]);
    for said in wrong.iter().cloned().chain(missing) {
        // A note leaves the machine: the dump has its name alone.
        let said = said.replace(&format!("{}/", cut.parent().unwrap().display()), "");
        assert!(notes.contains(&said), "{said} is not in {notes:?}");
    }
    assert_eq!(texts(&report["notes"]), notes);
    assert_eq!(texts(&after["problems"]), Vec::<String>::new());
    let text = one_line(&said(&["info", words(&to)]).0);
    let told = notices(&to);
    for note in &notes {
        assert!(text.contains(&format!(" noted: {note}")), "{note} is not in {text}");
        assert!(told.contains(&format!("the dump's writer noted: {note}")), "{note} is not in {told:?}");
    }
    // A dump of it has them once, beside its own.
    let again = scratch.path("again.zip");
    slimmed(&to, &again, &[]);
    let third = texts(&info(&again)["notes"]);
    for note in &notes {
        assert_eq!(third.iter().filter(|other| *other == note).count(), 1, "{third:?}");
    }
}

#[test]
fn what_a_stream_lacked_is_read_in_what_was_made_of_it() {
    let scratch = Scratch::new("slim-told-stream");
    let whole = fs::read(core("gfx90a-unified")).unwrap();
    let noted = |bytes: &[u8], more: &[&str], hold: bool| -> Vec<String> {
        let (status, report, error) = piped(bytes, &scratch.0, more, hold);
        assert_eq!(status, Some(0), "{error}");
        let report: Value = serde_json::from_str(&report).unwrap();
        texts(&info(Path::new(report["to"].as_str().unwrap()))["notes"])
    };
    let has = |notes: Vec<String>, start: &str| {
        assert!(notes.iter().any(|note| note.starts_with(start)), "{start}: {notes:?}");
    };
    has(noted(&whole[..100_000], &[], false), "the core ended early: ");
    has(
        noted(&whole[..100_000], &["--stall", "1"], true),
        "the writer of the core stalled after 100000 bytes",
    );
    has(noted(&whole, &["--spool-limit", "60K"], false), "the limit was reached (--spool-limit): ");
}

#[test]
fn notes_are_bounded_where_they_are_read_and_where_they_are_taken_over() {
    let scratch = Scratch::new("slim-told-many");
    let many: Vec<String> = (0..300).map(|index| format!("note {index}")).collect();
    let mut manifest = json!({
        "format": 1,
        "agent": [{"id": 1, "target": "gfx90a"}],
        "wave": [{"id": 7, "agent": 1, "wave_size": 64}],
        "x-slim": {"notes": many},
    });
    let dump = scratch.path("many.json");
    fs::write(&dump, manifest.to_string()).unwrap();
    let notes = texts(&info(&dump)["notes"]);
    assert_eq!(notes.len(), 257);
    assert_eq!((notes[255].as_str(), notes[256].as_str()), ("note 255", "44 more notes, not listed"));
    let told = notices(&dump);
    // The last one concerns the wave, which has no PC.
    assert_eq!(told.len(), 10, "{told:?}");
    assert_eq!(told[8], "the dump's writer noted 249 more notes; `lanescope info DUMP` lists them");
    // Terminal controls are escaped, long texts are cut, and entries that are not notes are ignored.
    manifest["x-slim"]["notes"] = json!(["red \u{1b}[31m", "x".repeat(5000), 7, {"a": 1}]);
    fs::write(&dump, manifest.to_string()).unwrap();
    let found = info(&dump);
    assert_eq!(texts(&found["notes"]), ["red \\u{1b}[31m".to_owned(), format!("{}...", "x".repeat(2000))]);
    for other in [json!(3), json!({"notes": "a"}), json!([]), json!({"notes": {}}), json!({})] {
        manifest["x-slim"] = other;
        fs::write(&dump, manifest.to_string()).unwrap();
        let found = info(&dump);
        assert_eq!((&found["notes"], &found["problems"]), (&json!([]), &json!([])));
    }
    // Each unknown key is a problem.
    manifest["x-slim"] = json!({});
    for index in 0..150 {
        manifest[format!("unknown{index}")] = json!(1);
    }
    fs::write(&dump, manifest.to_string()).unwrap();
    let to = scratch.path("small");
    let report = slim::slim(&opened(&dump), &options(), &to, &mut |_| ()).unwrap();
    assert_eq!(report.notes.len(), MAX_CARRIED + 1, "{:?}", report.notes);
    let all = info(&dump)["problems"].as_array().unwrap().len() + texts(&info(&dump)["missing"]).len();
    let more = all - MAX_CARRIED;
    let last = format!("{more} more notes on many.json, which `lanescope info` of it lists");
    assert_eq!(report.notes.last(), Some(&last));
}

#[test]
fn missing_ranges_are_reported() {
    let scratch = Scratch::new("slim-told-range");
    let dump = scratch.path("dump.json");
    let manifest = json!({
        "format": 1,
        "agent": [{"id": 1, "target": "gfx90a"}],
        "wave": [{"id": 7, "agent": 1, "wave_size": 64}],
        "memory": [{"address": "0x1000", "hex": "01020304"}, {"address": "0xfffffffffffffffe", "hex": "0506"}],
    });
    fs::write(&dump, manifest.to_string()).unwrap();
    let notes = |index: usize, ranges: &[&str]| -> Vec<String> {
        let more: Vec<&str> = ranges.iter().flat_map(|range| ["--memory", range]).collect();
        let report = slimmed(&dump, &scratch.path(&format!("{index}")), &more);
        let of_ranges = texts(&report["notes"]).into_iter().filter(|note| note.starts_with("--memory"));
        of_ranges.collect()
    };
    assert_eq!(notes(0, &["0x1000+4", "0x1001-0x1003"]), Vec::<String>::new());
    assert_eq!(
        notes(1, &["0x10-0x20", "0xffe+4", "0x1001+4", "0xfffffffffffffff8-0xffffffffffffffff"]),
        [
            "--memory 0x10-0x20: not captured",
            "--memory 0xffe-0x1002: 2 of 4 bytes were not captured",
            "--memory 0x1001-0x1005: 1 of 4 bytes was not captured",
            "--memory 0xfffffffffffffff8-0xffffffffffffffff: 6 of 7 bytes were not captured",
        ]
    );
    let (text, _) =
        said(&["slim", words(&dump), "-o", words(&scratch.path("text")), "--memory", "0x10-0x20"]);
    assert!(text.contains("note           --memory 0x10-0x20: not captured\n"), "{text}");
}

#[test]
fn a_report_is_plain_english() {
    let scratch = Scratch::new("slim-told-words");
    let dump = scratch.path("dump.json");
    let manifest = json!({
        "format": 1,
        "agent": [{"id": 1, "target": "gfx90a"}],
        "wave": [{"id": 7, "agent": 1, "wave_size": 64, "private": [{"address": 0, "hex": "01"}]}],
        "memory": [{"address": "0x1000", "hex": "01"}, {"address": "0x9000", "hex": "01"}],
        "code_object": [{"address": "0x100000", "name": "a"}],
    });
    fs::write(&dump, manifest.to_string()).unwrap();
    let text = |name: &str, more: &[&str]| {
        let to = scratch.path(name);
        said(&[&["slim", words(&dump), "-o", words(&to)], more].concat()).0
    };
    let plain = text("plain", &[]);
    assert!(plain.contains("global memory  0 bytes; no pointer was followed; 2 bytes stay out\n"), "{plain}");
    assert!(plain.contains("private memory 1 byte\n"), "{plain}");
    assert!(plain.contains("code objects   0 (0 bytes); 1 whose bytes are not available\n"), "{plain}");
    let one = text("one", &["--memory", "0x1000+1"]);
    assert!(one.contains("global memory  1 byte; no pointer was followed; 1 byte stays out\n"), "{one}");
    let none = text("none", &["--no-global"]);
    assert!(none.contains("none (--no-global); 2 bytes stay out\n"), "{none}");
    for text in [plain, one, none] {
        assert!(!text.contains("1 bytes") && !text.contains("in 0 "), "{text}");
    }
    // Without debug information the metadata identifies a kernel's buffer, and one pointer step follows.
    for dump in ["saxpy-gfx90a-O2", "lds-gfx90a-O0"] {
        let to = scratch.path(dump);
        let text = answer(&["slim", words(&fixtures().join("dumps").join(dump)), "-o", words(&to)]);
        let line = text.lines().find(|line| line.contains("global memory")).unwrap();
        assert!(!line.contains(" 0 step") && !line.contains("reached in"), "{line}");
    }
}

#[test]
fn code_objects_without_bytes_are_distinguished_from_unneeded_ones() {
    let scratch = Scratch::new("slim-told-objects");
    fs::copy(fixtures().join("code/calls-gfx90a.hsaco"), scratch.path("code")).unwrap();
    let object = |address: &str| json!({"address": address, "file": "code"});
    let dump = scratch.path("dump.json");
    let manifest = json!({
        "format": 1,
        "agent": [{"id": 1, "target": "gfx90a"}],
        "wave": [{"id": 7, "agent": 1, "wave_size": 64}],
        "code_object": [object("0x100000"), object("0x200000"), {"address": "0x300000", "name": "a"}],
    });
    fs::write(&dump, manifest.to_string()).unwrap();
    let text = said(&["slim", words(&dump), "-o", words(&scratch.path("text"))]).0;
    let line =
        "; 2 that no chosen wave needs are listed without their files; 1 whose bytes are not available ";
    assert!(one_line(&text).contains(line), "{text}");
    let report = slimmed(&dump, &scratch.path("json"), &[]);
    let left = &report["left_out"];
    assert_eq!((&left["code_objects"], &left["absent_code_objects"]), (&json!(3), &json!(1)));
    // A log names the code object of its waves, but has none of its bytes.
    let log = fixtures().join("logs/agent-plain.log");
    let text = said(&["slim", words(&log), "-o", words(&scratch.path("log"))]).0;
    assert!(text.contains("; 1 whose bytes are not available\n") && !text.contains("needs"), "{text}");
}

/// The contents of a dump, and those of one made of it with fewer parts.
#[test]
fn a_note_lists_the_contents_of_the_dump_and_how_all_were_made() {
    let scratch = Scratch::new("slim-told-chain");
    let [first, second, third] = ["first", "second", "third.zip"].map(|name| scratch.path(name));
    slimmed(&core("gfx90a-unified"), &first, &[]);
    slimmed(&first, &second, &["--no-global"]);
    slimmed(&second, &third, &["--follow", "0"]);
    let note = |dump: &Path| info(dump)["provenance"]["note"].as_str().unwrap().to_owned();
    let parts = |dump: &Path| {
        let note = note(dump);
        let (made, contains) = note.split_once("; contains ").unwrap();
        (made.to_owned(), contains.to_owned())
    };
    let (made, contains) = parts(&first);
    assert!(contains.contains(" of global memory"), "{contains}");
    let (made_again, contains) = parts(&second);
    assert!(made_again.starts_with(&format!("{made}; slimmed from lanescope dump 1: ")), "{made_again}");
    assert!(
        contains.ends_with("; global memory was left out") && !contains.contains("slimmed"),
        "{contains}"
    );
    let (last, contains) = parts(&third);
    assert!(last.starts_with(&format!("{made_again}; slimmed from lanescope dump 1: ")), "{last}");
    assert!(!contains.contains("left out") && !contains.contains("contains"), "{contains}");
    // Texts of other writers stay unchanged.
    let dump = scratch.path("dump.json");
    let manifest = json!({
        "format": 1,
        "provenance": {"producer": "by hand", "note": "slimmed from a core; contains no secrets"},
        "agent": [{"id": 1, "target": "gfx90a"}],
        "wave": [{"id": 7, "agent": 1, "wave_size": 64}],
    });
    fs::write(&dump, manifest.to_string()).unwrap();
    let to = scratch.path("of-others");
    slimmed(&dump, &to, &[]);
    assert!(
        note(&to).starts_with("slimmed from a core; contains no secrets; slimmed from lanescope dump 1: ")
    );
}

#[test]
fn options_without_effect_are_reported() {
    let scratch = Scratch::new("slim-told-idle");
    let dump = fixtures().join("demo.zip");
    let idle = |name: &str, more: &[&str]| -> Vec<String> {
        let to = scratch.path(name);
        let (out, error) = said(&[&["slim", words(&dump), "-o", words(&to)], more].concat());
        assert!(!out.is_empty(), "{error}");
        error.lines().map(str::to_owned).collect()
    };
    let file = "without effect: DUMP is a file; expected one from standard input, -";
    assert_eq!(
        idle("stream", &["--spool-limit", "1G", "--stall", "5", "--follow", "3"]),
        [format!("warning: --spool-limit: {file}"), format!("warning: --stall: {file}")]
    );
    let whole = "without effect: --whole keeps all memory; expected it without --whole";
    assert_eq!(
        idle("whole", &["--whole", "--follow", "3", "--most-global", "1M"]),
        [format!("warning: --follow: {whole}"), format!("warning: --most-global: {whole}")]
    );
    let none = "without effect: --no-global keeps no global memory; expected it without --no-global";
    assert_eq!(
        idle("none", &["--no-global", "--most-pointers", "7", "--most-seconds", "1"]),
        [format!("warning: --most-pointers: {none}"), format!("warning: --most-seconds: {none}")]
    );
    assert_eq!(idle("plain", &["--follow", "3", "--most-seconds", "7"]), Vec::<String>::new());
    let bytes = fs::read(core("gfx90a-unified")).unwrap();
    let (_, _, error) = piped(&bytes, &scratch.0, &["--spool-limit", "1G", "--stall", "5"], false);
    assert!(!error.contains("without effect"), "{error}");
}

#[test]
fn standard_output_is_rejected_with_a_reason() {
    let scratch = Scratch::new("slim-told-output");
    let dump = fixtures().join("demo.zip");
    let mut command = crate::support::lanescope();
    let output = command.args(["slim", words(&dump), "-o", "-"]).current_dir(&scratch.0).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(
        error.starts_with("lanescope: -o -: ") && error.contains("expected a file's name, as -o small.zip"),
        "{error}"
    );
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0);
    // A folder of that name is still a valid choice.
    let mut command = crate::support::lanescope();
    assert!(
        command
            .args(["slim", words(&dump), "-o", "./-"])
            .current_dir(&scratch.0)
            .output()
            .unwrap()
            .status
            .success()
    );
    assert!(lanescope(&["info", words(&scratch.path("-"))]).status.success());
}

#[test]
fn progress_is_printed_while_stacks_are_grouped() {
    let scratch = Scratch::new("slim-told-progress");
    let dump = opened(&fixtures().join("dumps/saxpy-gfx90a-O2"));
    let all = dump.capture().waves.len() as u64;
    assert!(all > 2);
    let mut told = Vec::new();
    slim::slim(&dump, &options(), &scratch.path("small"), &mut |progress| told.push(progress)).unwrap();
    let asked = told.iter().position(|progress| matches!(progress, Progress::Asking(..))).unwrap();
    // In sequence, and complete before the first question about a wave's variables.
    let grouping: Vec<Progress> = (0..=all).map(|done| Progress::Grouping(done, all)).collect();
    assert_eq!(told[..asked], grouping);
}

/// A client reads about inferred private memory on attaching, along with any other problems, also for a dump of `slim`.
#[test]
fn inferred_private_memory_is_noted_on_attaching() {
    let scratch = Scratch::new("slim-inferred");
    let mut bytes = fs::read(core("gfx942-multi-xcc")).unwrap();
    assert!(!notices(&core("gfx942-multi-xcc")).iter().any(|notice| notice.contains("inferred")));
    // The segments of `amd_queue_t` were not captured: p_filesz is 0.
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let headers = usize::try_from(word(&bytes, 32)).unwrap();
    let count = usize::from(u16::from_le_bytes([bytes[56], bytes[57]]));
    for header in (0..count).map(|index| headers + 56 * index) {
        if (0x7f21_0000_0000..0x7f22_0000_0000).contains(&word(&bytes, header + 16)) {
            bytes[header + 32..header + 40].fill(0);
        }
    }
    let (light, small) = (scratch.path("light.core"), scratch.path("small.zip"));
    fs::write(&light, bytes).unwrap();
    said(&["slim", words(&light), "-o", words(&small), "--all-waves"]);
    let expected =
        "7 waves' private memory is at an address inferred from registers: variables in it may be wrong";
    for dump in [light, small] {
        let told = notices(&dump);
        assert!(told.iter().any(|notice| notice == expected), "{told:?}");
    }
}

/// Lists and counts of a small dump name the waves that it lacks: 8 waves by the model of saxpy-gfx90a-O2, and those that
/// the report of `slim` keeps.
#[test]
fn lists_name_the_waves_that_are_left_out() {
    let scratch = Scratch::new("slim-lists");
    let dump = fixtures().join("dumps/saxpy-gfx90a-O2");
    let to = scratch.path("small.zip");
    let report = slimmed(&dump, &to, &[]);
    let kept = report["waves"].as_array().unwrap();
    let standing = kept.iter().filter(|wave| wave["stands_for"].is_u64());
    let standing: Vec<(&Value, u64)> =
        standing.map(|wave| (&wave["id"], wave["stands_for"].as_u64().unwrap())).collect();
    let [(id, more)] = standing[..] else { panic!("{standing:?}") };
    assert_eq!(kept.len() as u64 + more, 8);
    let out = format!("{more} waves are left out: others stand for them");
    for (command, row) in [
        ("waves", format!("running, stands for {more} more ")),
        ("groups", format!("wave {id}: running, stands for {more} more\n")),
        ("dispatches", format!(" {} of 8 ", kept.len())),
    ] {
        let text = answer(&[command, words(&to)]);
        assert!(text.contains(&row) && text.contains(&out), "{command}:\n{text}");
        let found: Value = serde_json::from_str(&answer(&[command, words(&to), "--json"])).unwrap();
        assert_eq!(found["left_out"], more, "{command}");
        let of = match command {
            "waves" => {
                &found["waves"].as_array().unwrap().iter().find(|of| of["id"] == *id).unwrap()["stands_for"]
            }
            "groups" => {
                let groups = found["kinds"][0]["groups"].as_array().unwrap();
                &groups.iter().find(|of| of["waves"] == json!([[id, id]])).unwrap()["stands_for"]
            }
            _ => &found["dispatches"][0]["left_out"],
        };
        assert_eq!(*of, more, "{command}");
        assert_eq!(answer(&[command, words(&to), "--wave", "all"]), text);
        // The user's choice is not all waves, and a whole dump lacks none.
        for arguments in [vec![command, words(&to), "--wave", "1"], vec![command, words(&dump)]] {
            let text = answer(&arguments);
            assert!(!text.contains("left out") && !text.contains("stands for"), "{arguments:?}:\n{text}");
        }
    }
    let text = one_line(&answer(&["report", words(&to)]));
    assert!(text.contains(&format!("{} waves, {more} more left out", kept.len())), "{text}");
}

/// A dump of waves that the user chose claims nothing about the others, and names them as far as its writer knew them.
#[test]
fn waves_that_the_user_left_out_are_named() {
    let scratch = Scratch::new("slim-chosen-lists");
    let (demo, to) = (fixtures().join("demo.zip"), scratch.path("faulted.zip"));
    slimmed(&demo, &to, &["--wave", "faulted"]);
    let why = "lanescope slim left out 7 waves of demo.zip that have no fault";
    for command in ["waves", "groups", "dispatches"] {
        let text = answer(&[command, words(&to)]);
        assert!(text.ends_with(&format!("Absent: {why}.\n")), "{command}:\n{text}");
        let found: Value = serde_json::from_str(&answer(&[command, words(&to), "--json"])).unwrap();
        assert_eq!(found["absent_waves"], json!([why]), "{command}");
    }
    let text = answer(&["info", words(&to)]);
    assert!(text.contains("\n1 of 1 wave of the dump faulted\n"), "{text}");
    assert!(text.contains(&format!("\nabsent: {why}\n")), "{text}");
    assert_eq!(info(&to)["absent_waves"], json!([why]));
    let text = answer(&["triage", words(&to)]);
    assert!(
        text.contains(&format!("\nWaves     1 of 1 wave of the dump faulted\n          {why}\n")),
        "{text}"
    );
    let found: Value = serde_json::from_str(&answer(&["triage", words(&to), "--json"])).unwrap();
    assert_eq!(found["waves"]["uncounted"], json!([why]));
    let text = answer(&["triage", words(&to), "--wave", "1"]);
    assert!(!text.contains("of the dump faulted") && !text.contains(why), "{text}");
    // Of the other waves no fault is known: one of them is another choice.
    let other = scratch.path("other.zip");
    slimmed(&demo, &other, &["--wave", "2"]);
    let text = answer(&["info", words(&other)]);
    assert!(text.contains("\nNo wave of the dump faulted\n"), "{text}");
    let both = ["1 wave, faulted or perhaps faulted,", "6 waves"].map(|waves| format!("left out {waves}"));
    assert!(both.iter().all(|words| text.contains(words)), "{text}");
}
