//! Exit statuses: 0 if all holds, 1 if something differs, 2 if something cannot be checked.

use super::{FILES, FORMS, Folder, check, command, json, text};
use crate::fixtures::one_line;
use crate::slim::words;
use crate::support::sample::{is_long, sampled};

/// The worst result of a run decides, in each combination of files and in each form.
#[test]
fn the_worst_result_decides_in_each_form() {
    let folder = Folder::new("check-status");
    let files: Vec<String> = FILES.iter().map(|(name, text, _)| folder.write(name, text)).collect();
    // The combination of all files comes first; also in the sample each form has one.
    for chosen in sampled((1..1usize << FILES.len()).rev(), 5) {
        let is_chosen = |index: &usize| chosen >> index & 1 == 1;
        let indexes: Vec<usize> = (0..FILES.len()).filter(is_chosen).collect();
        let expected = indexes.iter().map(|index| FILES[*index].2).max().unwrap();
        let form = FORMS[chosen % FORMS.len()];
        let paths = indexes.iter().map(|index| files[*index].as_str());
        let arguments: Vec<&str> = paths.chain(["--format", form]).collect();
        let output = check(&arguments);
        assert_eq!(output.status.code(), Some(expected.into()), "{arguments:?}: {output:?}");
        assert_eq!(text(&output.stderr), "", "{arguments:?}");
    }
    for (at, form) in FORMS.into_iter().enumerate() {
        for (index, (_, _, status)) in FILES.iter().enumerate() {
            // Of the three with status 2 one, by turns.
            if index > 1 && index % 3 != at % 3 && !is_long() {
                continue;
            }
            let output = check(&[&files[index], "--format", form]);
            assert_eq!(output.status.code(), Some((*status).into()), "{form}: {output:?}");
        }
    }
}

/// Status 1 is for differences: a run that does not begin has status 2.
#[test]
fn a_run_that_does_not_begin_has_status_2() {
    let folder = Folder::new("check-begin");
    let file = folder.write("a.scope", FILES[0].1);
    let wrong_rules = folder.write("rules.toml", "irrelevant = 3\n");
    let empty = folder.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let nowhere = folder.path("nowhere.toml");
    for (arguments, part) in [
        (vec!["/nowhere/a.scope"], "/nowhere/a.scope"),
        (vec![words(&empty)], "no *.scope file"),
        (vec![&*file, "--rules", &wrong_rules], "irrelevant"),
        (vec![&*file, "--rules", words(&nowhere)], "nowhere.toml"),
        (vec![&*file, "--report", "/proc/nowhere"], "--report"),
        (vec![&*file, "--symbols", "build"], "--symbols goes with --new"),
        (vec![&*file, "--shard", "4/3"], "I/N"),
        (vec![&*file, "--timeout", "0"], "expected a whole number, at least 1"),
        (vec!["--new", "/nowhere/dump.zip"], "/nowhere/dump.zip"),
    ] {
        let output = check(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let unfolded = one_line(&text(&output.stderr));
        assert!(unfolded.contains(part), "{arguments:?}: {output:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
    }
}

/// Status 1 is for differences: unwritable results have status 2.
#[test]
fn unwritable_results_have_status_2() {
    let folder = Folder::new("check-full");
    // Each form prints a difference.
    let differing = FILES.iter().find(|(.., status)| *status == 1).unwrap();
    let file = folder.write("a.scope", differing.1);
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    for form in FORMS {
        let status = command(&[&file, "--format", form]).stdout(full()).output().unwrap().status;
        assert_eq!(status.code(), Some(2), "{form}");
    }
    assert_eq!(command(&[&file, "--json"]).stdout(full()).output().unwrap().status.code(), Some(2));
    assert_eq!(check(&[&file, "--format", "junit=/dev/full"]).status.code(), Some(2));
}

/// A file that several arguments name is checked once.
#[test]
fn a_file_is_checked_once() {
    let folder = Folder::new("check-once");
    let file = folder.write("a.scope", FILES[0].1);
    let results = |arguments: &[&str]| {
        let output = check(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        json(&output)["files"].as_array().unwrap().len()
    };
    let beside = format!("{}/./a.scope", folder.all());
    assert_eq!(results(&[&file, &file]), 1);
    assert_eq!(results(&[&file, &folder.all(), &beside]), 1);
}

/// An empty choice of waves is one error for people, and a difference for programs, as are the lines of its block.
#[test]
fn a_choice_without_waves_is_one_difference() {
    let folder = Folder::new("check-choice");
    let text =
        "dump demo.zip\nwave kernel nowhere\n  exec 0x1\n  lane 3 n == 3\nwave every\n  lane 0 n == 1024\n";
    let file = folder.write("a.scope", text);
    let output = check(&[&file]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let printed = self::text(&output.stdout);
    assert_eq!(printed.matches("error: ").count(), 1, "{printed}");
    assert!(printed.contains("note: 2 lines of the block have no wave to check"), "{printed}");
    assert!(printed.contains("1 dump, 5 lines: 2 hold, 3 differ\n"), "{printed}");
    let json = json(&check(&[&file, "--json"]));
    let lines = json["files"][0]["dumps"][0]["lines"].as_array().unwrap().clone();
    let found: Vec<(u64, Option<u64>)> =
        lines.iter().map(|line| (line["line"].as_u64().unwrap(), line["selected_by"].as_u64())).collect();
    assert_eq!(found, [(2, None), (3, Some(2)), (4, Some(2)), (5, None), (6, None)]);
}

/// tests/fixtures/models/saxpy.py: the demo faulted, and nothing hangs.
#[test]
fn each_difference_has_an_expected_text() {
    let folder = Folder::new("check-expected");
    let statements = ["fault none", "at nowhere", "waves 9", "hang", "hang deadlock", "wave id 99"];
    for statement in statements {
        let file = folder.write("a.scope", &format!("dump demo.zip\n{statement}\n"));
        let json = json(&check(&[&file, "--json"]));
        let verdict = &json["files"][0]["dumps"][0]["lines"][0]["verdict"];
        assert_eq!(verdict["result"], "differs", "{statement}: {json:#}");
        assert!(!verdict["expected"].as_str().unwrap().is_empty(), "{statement}: {json:#}");
    }
}

/// Each line with an expectation has a result in each dump, also after a `wave` line without waves.
#[test]
fn no_line_is_skipped() {
    let folder = Folder::new("check-lines");
    let text = "# comment
dump demo.zip
log log.txt

fault none
at f
stack f
access p
waves 8
hang
hang spinning 3
signature ls1:000000000000
wave id 99
  at f
  stack f
  exec 0x1
  state running
  stop trap
  n == 3
wave some
  n == 3
  n == 4
  exec 0x1
wave every
  lane 63 n == 3
";
    folder.write("log.txt", "Memory access fault by GPU node-1 on address 0x7f0000201000.\n");
    let file = folder.write("a.scope", text);
    let output = json(&check(&[&file, "--json"]));
    let lines = output["files"][0]["dumps"][0]["lines"].as_array().unwrap();
    let found: Vec<u64> = lines.iter().map(|line| line["line"].as_u64().unwrap()).collect();
    // All but the comment, the dump, the option and the blank line.
    let expected: Vec<u64> = (5..=text.lines().count() as u64).collect();
    assert_eq!(found, expected, "{output:#}");
}

/// tests/fixtures/kernels/saxpy.hip: `saxpy` is the only function; without it no frame counts.
#[test]
fn rules_of_signatures_apply() {
    let folder = Folder::new("check-rules");
    let rules = folder.write("signature.toml", "irrelevant = [\"saxpy\"]\n");
    let id = |options: &[&str]| {
        let mut command = crate::support::lanescope();
        let output = command.arg("signature").arg(folder.path("demo.zip")).args(options).output().unwrap();
        text(&output.stdout).split_whitespace().next().unwrap().to_owned()
    };
    let (plain, ruled) = (id(&[]), id(&["--rules", &rules]));
    assert_ne!(plain, ruled);
    for (signature, options, status) in [
        (&plain, vec![], 0),
        (&ruled, vec![], 1),
        (&plain, vec!["--rules", &*rules], 1),
        (&ruled, vec!["--rules", &*rules], 0),
    ] {
        let file = folder.write("a.scope", &format!("dump demo.zip\nsignature {signature}\n"));
        let output = command(&[&file]).args(&options).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{signature} {options:?}: {output:?}");
    }
    // The blessed signature is that of the rules.
    let file = folder.write("b.scope", "dump demo.zip\nsignature ls1:000000000000\n");
    let output = check(&["--bless", &file, "--rules", &rules]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("dump demo.zip\nsignature {ruled}\n"));
}

/// A reader that closes its pipe does not make a run pass; paths may stand behind `--`.
#[test]
fn a_closed_pipe_keeps_the_status() {
    let folder = Folder::new("check-closed");
    let lines = "waves >= 1000000\n".repeat(2000);
    let file = folder.write("many.scope", &format!("dump demo.zip\n{lines}"));
    for form in FORMS {
        let mut run = command(&["--format", form, "--", &file]);
        let mut child =
            run.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(1), "{form}");
    }
}

/// On GitHub's runner a document on standard output stays a document, and the annotations are on the other stream.
#[test]
fn annotations_are_not_in_a_document() {
    let folder = Folder::new("check-document");
    let file = folder.write("b.scope", FILES[1].1);
    let output = command(&[&file, "--format", "json"]).env("GITHUB_ACTIONS", "true").output().unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok(), "{output:?}");
    assert!(text(&output.stderr).starts_with("::error "), "{output:?}");
    let output = command(&[&file]).env("GITHUB_ACTIONS", "true").output().unwrap();
    assert!(text(&output.stdout).contains("\n::error "), "{output:?}");
}

/// A misspelt cause is an error of the file: no dump is opened for it.
#[test]
fn wrong_causes_are_errors_of_the_file() {
    let folder = Folder::new("check-causes");
    let lines = "dump nowhere.zip\nfault trap, memroy violation\nwave faulted\n  stop memory violaton # c\n";
    let file = folder.write("a.scope", lines);
    let output = check(&[&file]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let printed = text(&output.stdout);
    for part in [
        "error: unknown cause `memroy violation`",
        "a.scope:2:13\n",
        "  |             ^^^^^^^^^^^^^^^^\n",
        "error: unknown stop reason `memory violaton`",
        "a.scope:4:8\n",
        "  |        ^^^^^^^^^^^^^^^\n",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert_eq!(printed.matches("hint: did you mean `memory").count(), 2, "{printed}");
    assert!(printed.ends_with("0 dumps, 0 lines: 0 hold, 2 errors\n"), "{printed}");
}

/// A dump that was cut short is one error with the reason, the place and an instruction.
#[test]
fn a_cut_dump_is_an_error_of_its_container() {
    let folder = Folder::new("check-cut");
    let zip = std::fs::read(folder.path("demo.zip")).unwrap();
    let core = std::fs::read(crate::fixtures::fixtures().join("gpucore/gfx1100.core")).unwrap();
    std::fs::create_dir(folder.path("folder.zip")).unwrap();
    let file = folder.write("a.scope", "dump cut.zip\nfault none\n");
    let (long, short) = (1500, 40);
    for (bytes, parts) in [
        (&zip[..short], &["offset 0x0: the zip is cut short or damaged"][..]),
        (&zip[..60], &["cut short at offset 0x3c: it ends within manifest.toml"]),
        (&zip[..long], &["cut short at offset 0x5dc: it ends within manifest.toml"]),
        (&[], &["an empty file"]),
        (&core[..10], &["the first bytes of an ELF file"]),
        (&core[..60], &["ends after 60 bytes, within its header"]),
    ] {
        std::fs::write(folder.path("cut.zip"), bytes).unwrap();
        let output = check(&[&file]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let printed = one_line(&text(&output.stdout));
        for part in parts {
            assert!(printed.contains(part), "{part}: {printed}");
        }
        assert!(!printed.contains("TOML document"), "{printed}");
    }
    // A core without the part of its waves answers no line about all of them.
    for count in [64, 100, 1000] {
        std::fs::write(folder.path("cut.zip"), &core[..count]).unwrap();
        let output = check(&[&file]);
        assert_eq!(output.status.code(), Some(2), "{count}: {output:?}");
    }
    // A line without an answer has the first problem of its dump below; each form for people prints it.
    std::fs::write(folder.path("cut.zip"), &zip[..60_000]).unwrap();
    let file = folder.write("c.scope", "dump cut.zip\nwave id 1\n  i == 1017\n");
    for form in ["human", "github", "junit"] {
        let output = check(&[&file, "--format", form]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let printed = one_line(&text(&output.stdout));
        for part in ["problem of the dump: ", "offset 0xea60: ", "cut.zip` lists "] {
            assert!(printed.contains(part), "{form}: {part}: {printed}");
        }
    }
    let file = folder.write("d.scope", "dump cut.zip\nwaves 7\n");
    let printed = text(&check(&[&file]).stdout);
    assert!(!printed.contains("problem of the dump"), "the answer is another one: {printed}");
    let file = folder.write("b.scope", "dump folder.zip\nfault none\n");
    let printed = one_line(&text(&check(&[&file]).stdout));
    assert!(
        printed.contains("there is no manifest (expected manifest.toml or manifest.json in it)"),
        "{printed}"
    );
}

/// docs/check.md, "Absent waves": a wave whose fault is unknown may have the access. umr-hardware.txt has one.
#[test]
fn an_access_of_unknown_faults_cannot_be_checked() {
    let folder = Folder::new("check-unknown-access");
    let log = crate::fixtures::fixtures().join("logs/umr-hardware.txt");
    for line in ["access load", "at kern"] {
        let file = folder.write("a.scope", &format!("dump {}\n{line}\n", words(&log)));
        let output = check(&[&file]);
        assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
        assert!(one_line(&text(&output.stdout)).contains("stop reason"), "{line}: {output:?}");
    }
}
