//! Exit statuses: 0 if all holds, 1 if something differs, 2 if something cannot be checked.

use super::{FILES, FORMS, Folder, check, command, json, text};
use crate::fixtures::one_line;
use crate::slim::words;

/// The worst result of a run decides, in each combination of files and in each form.
#[test]
fn the_worst_result_decides_in_each_form() {
    let folder = Folder::new("check-status");
    let files: Vec<String> = FILES.iter().map(|(name, text, _)| folder.write(name, text)).collect();
    for chosen in 1..1usize << FILES.len() {
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
    for form in FORMS {
        for (index, (_, _, status)) in FILES.iter().enumerate() {
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
        (vec![&*file, "--timeout", "0"], "expected a whole number of seconds, at least 1"),
        (vec!["--new", "/nowhere/dump.zip"], "/nowhere/dump.zip"),
    ] {
        let output = check(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let unfolded = one_line(&text(&output.stderr));
        assert!(unfolded.contains(part), "{arguments:?}: {output:?}");
        assert_eq!(text(&output.stdout), "", "{arguments:?}");
    }
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
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lanescope"));
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
