//! The page of captures with missing data, its options, and logs from pipes and terminals.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use lanescope::triage::MissingData;
use serde_json::{Value, json};

use crate::cli::{on_terminal, text};
use crate::fixtures::one_line;
use crate::support::root;

const COLUMNS: usize = 80;
/// A wave of a core whose values are in doubt; the dump has a warning of more than a line.
const CORE: &str = "tests/fixtures/gpucore/gfx1100.core";
/// A halt without a reason at line 23 (expected/lds-gfx90a-O0.json).
const HALT: &str = "tests/fixtures/dumps/lds-gfx90a-O0";
/// A wave without code.
const NO_CODE: &str = "tests/fixtures/logs/agent-2018.log";
/// A wave with the bytes at its PC, and without a code object.
const NO_FUNCTION: &str = "tests/fixtures/logs/umr-columns.txt";
/// The demo's dispatch without its report.
const UNREPORTED: &str = "tests/fixtures/dumps/saxpy-gfx90a-O0";
const REPORT: &str = "tests/fixtures/logs/faults/rocr.log";

fn program(words: &[&str]) -> Command {
    let mut command = crate::support::lanescope();
    command.args(words).env_remove("DEBUGINFOD_URLS").stdin(Stdio::null());
    command
}

fn output(words: &[&str]) -> Output {
    program(words).output().unwrap()
}

fn page(words: &[&str]) -> String {
    let output = output(words);
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn missing(dump: &str) -> Vec<Value> {
    let answer: Value = serde_json::from_str(&page(&["triage", "--json", dump])).unwrap();
    answer["missing"].as_array().unwrap().iter().map(|one| one["missing"].clone()).collect()
}

/// The commands of the row `Next`.
fn next(page: &str) -> Vec<Vec<String>> {
    let page = page.replace(&format!(" \\\n{}", " ".repeat(12)), " ");
    let commands = page.lines().map(|line| line.trim_start_matches("Next").trim_start());
    let commands = commands.filter_map(|line| line.strip_prefix("lanescope "));
    commands.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn a_halt_without_a_reason_has_its_line_and_the_missing_reason() {
    let text = page(&[HALT]);
    assert!(text.starts_with("lds: fatal halt in wave 2 at lds.cl:23\n"), "{text}");
    assert!(text.contains("\nMissing   the reason of the halt: add the program's output"), "{text}");
    assert_eq!(missing(HALT), [json!("stop_reason")]);
    let first = next(&text);
    assert_eq!(first[0][..1], ["locals"], "{text}");
    // A report has the reason.
    let reported = page(&["triage", HALT, "--log", REPORT]);
    assert!(!reported.contains("the reason of the halt"), "{reported}");
}

#[test]
fn missing_code_has_its_option() {
    let text = page(&[NO_CODE]).replace("\n          ", " ");
    assert!(
        text.contains("Missing   the code at 0x1101f0b1a4: add its code object with --code-object FILE"),
        "{text}"
    );
    // The report has the page.
    assert_eq!(missing(NO_CODE), [json!("code_object")]);
    // One known code object is no list of all: the PC may be in another one.
    let known = "tests/fixtures/code/saxpy-gfx90a-O2.hsaco@0x7f0000100000";
    let text = page(&["triage", NO_CODE, "--code-object", known]).replace("\n          ", " ");
    assert!(text.contains("Missing   the code at 0x1101f0b1a4") && !text.contains("is no code"), "{text}");
    // The log has the instruction at the PC alone.
    let text = page(&[NO_FUNCTION]).replace("\n          ", " ");
    let row = "the function at 0x1000e10d0: earlier accesses are no candidates; add its code object with --code-object";
    assert!(text.contains(row), "{text}");
    assert!(missing(NO_FUNCTION).contains(&json!("function")));
}

/// A wave without a PC has no accesses: the page has the reason.
#[test]
fn a_faulted_wave_without_a_pc_has_the_missing_pc() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.toml");
    let head = "format = 1\nagent = [{ id = 1, target = \"gfx90a\" }]\n";
    let wave = "[[wave]]\nid = 1\nagent = 1\nstop = [\"memory_violation\"]\nregisters = { exec = 1 }\n";
    fs::write(&dump, format!("{head}{wave}")).unwrap();
    let dump = dump.to_str().unwrap();
    assert!(missing(dump).contains(&json!("wave_pcs")), "{:?}", missing(dump));
    let text = page(&[dump]).replace("\n          ", " ");
    assert!(text.contains("the PC of 1 wave: its state and accesses are unknown "), "{text}");
    // A hang counts the same wave.
    let hang = page(&["triage", "--hang", dump]);
    assert_eq!(hang.matches("the PC of 1 wave").count(), 1, "{hang}");
}

#[test]
fn next_commands_have_answers() {
    let dumps = [
        HALT,
        NO_CODE,
        CORE,
        "tests/fixtures/gpucore/gfx90a-split.core",
        "tests/fixtures/logs/agent-plain.log",
        "tests/fixtures/logs/agent-kernargs.log",
        NO_FUNCTION,
    ];
    for dump in dumps {
        let commands = next(&page(&[dump]));
        assert!(commands.iter().any(|words| words[0] == "serve"), "{dump}: {commands:?}");
        for words in commands.iter().filter(|words| words[0] != "serve") {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let found = output(&words);
            assert!(found.status.success(), "{words:?}: {}", text(&found.stderr));
            let shown = text(&found.stdout);
            assert!(words[0] != "disassemble" || shown.contains("=> 0x"), "{words:?}: {shown}");
        }
    }
}

#[test]
fn pages_of_several_waves_fit_the_columns() {
    let text = page(&["triage", CORE, "--wave", "1-2"]);
    for line in text.lines().filter(|line| !line.contains("  lanescope ")) {
        assert!(line.chars().count() <= COLUMNS, "{line}");
    }
    assert_eq!(text.matches("wave 1 has unchecked values").count(), 1, "{text}");
}

/// Bad options are reported before the dump is read.
#[test]
fn bad_options_come_before_warnings() {
    for (words, status) in [
        (&["triage", CORE, "--wave", "x"][..], 2),
        (&["waves", CORE, "--wave", "2-1"], 2),
        (&["slim", CORE, "--wave", "1,"], 2),
        (&["locals", CORE, "--workgroup", "0/1", "--work-item", "0"], 1),
        (&["export", CORE, "--workgroup", "0", "--work-item", "(0)[1]"], 1),
        (&["serve", CORE, "--source-map", "x"], 1),
        (&["view", CORE, "-o", "view", "--source-map", "x"], 1),
    ] {
        let refused = output(words);
        let error = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(status), "{words:?}: {error}");
        assert!(!error.contains("warning:"), "{words:?}: {error}");
    }
    assert!(text(&output(&["waves", CORE]).stderr).contains("warning:"));
}

/// The problems of gfx90a-split.core: a work-group outside of its grid, no memory of the host, and two code objects
/// without a file (README of the core's writer).
#[test]
fn problems_are_whole_in_triage_and_counted_elsewhere() {
    let split = CORE.replace("gfx1100", "gfx90a-split");
    let folded = text(&program(&["triage", &split]).env_remove("COLUMNS").output().unwrap().stderr);
    assert!(folded.lines().all(|line| line.chars().count() <= COLUMNS || !line.contains(' ')), "{folded}");
    assert!(!folded.contains("..."), "{folded}");
    let whole = text(&output(&["triage", &split, "--verbose"]).stderr);
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&folded), words(&whole));
    let reasons: Vec<&str> = whole.lines().filter_map(|line| line.strip_prefix("warning: ")).collect();
    assert_eq!(reasons.len(), 4, "{whole}");
    let info = one_line(&text(&output(&["info", &split]).stdout));
    for reason in &reasons {
        assert_eq!(info.matches(&format!("problem: {reason}")).count(), 1, "{reason}: {info}");
    }
    for command in ["waves", "lanes", "registers", "backtrace", "objects", "report", "export"] {
        let counted = text(&output(&[command, &split]).stderr);
        assert_eq!(counted, format!("warning: 4 problems: lanescope info {split}\n"), "{command}");
    }
    // The command has the options of the dump, also those that another command gives to one of its dumps.
    let listed = |words: &[&str]| {
        let counted = text(&output(words).stderr).replace(" \\\n    ", " ");
        let commands = counted.split_whitespace().collect::<Vec<_>>().join(" ");
        commands
            .split("problems: ")
            .nth(1)
            .and_then(|text| text.split(" warning:").next())
            .unwrap()
            .to_owned()
    };
    let typed = format!("lanescope info {split} --host-core {CORE}");
    assert_eq!(listed(&["waves", &split, "--host-core", CORE]), typed);
    assert_eq!(listed(&["diff", &split, "--a-host-core", CORE, &split]), typed);
    assert_eq!(listed(&["dwarf", &split, "--host-core", CORE]), typed);
    assert_eq!(listed(&["check", "--new", &split, "--host-core", CORE]), typed);
}

/// The demo's dispatch with a log: the report, from standard input and from a named pipe.
#[test]
fn logs_come_from_standard_input_and_pipes() {
    let report = fs::read(root().join(REPORT)).unwrap();
    let expected = page(&["triage", UNREPORTED, "--log", REPORT]);
    let unfolded = |page: &str| page.replace(" \\\n            ", " ").replace("\n          ", " ");
    assert!(unfolded(&expected).contains("reported by ROCm's runtime"), "{expected}");
    let mut child = program(&["triage", UNREPORTED, "--log", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&report).unwrap();
    let piped = child.wait_with_output().unwrap();
    assert!(piped.status.success());
    // The next commands name a file.
    let own = unfolded(&text(&piped.stdout))
        .replace("standard input", REPORT)
        .replace("--log FILE", &format!("--log {REPORT}"));
    assert_eq!(own, unfolded(&expected));
    assert_eq!(text(&piped.stderr), "", "a pipe needs no note");

    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let to = fifo.clone();
    let writer = std::thread::spawn(move || fs::write(to, report).unwrap());
    let path = fifo.to_str().unwrap();
    let found = page(&["triage", UNREPORTED, "--log", path]);
    writer.join().unwrap();
    assert_eq!(unfolded(&found).replace(path, REPORT), unfolded(&expected));
}

/// A terminal as standard input: a note precedes the wait. Python opens the terminal.
#[test]
fn a_terminal_as_log_has_a_note() {
    let script = "
import os, pty, subprocess, sys
master, slave = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=slave, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
first = child.stderr.readline()
os.write(master, b'\\n\\x04')
rest = child.stderr.read()
sys.stdout.buffer.write(first + rest)
sys.exit(child.wait())
";
    let words = ["-c", script, crate::support::program(), "triage", UNREPORTED, "--log", "-"];
    let mut python = Command::new("python3");
    let found = python.args(words).current_dir(root()).stdin(Stdio::null()).output().unwrap();
    let said = text(&found.stdout);
    assert!(found.status.success(), "{said}{}", text(&found.stderr));
    assert!(said.starts_with("note: reading a log from standard input; Ctrl-D ends it\n"), "{said}");
}

/// `info` with a fault of a log: a terminal shows the lines of a file.
#[test]
fn info_folds_faults_to_the_columns() {
    // Problems are on standard error.
    let words = ["sh", "-c", "exec \"$@\" 2> /dev/null", "sh", crate::support::program()];
    let mut terminal = on_terminal(COLUMNS, &[&words[..], &["info", UNREPORTED, "--log", REPORT]].concat());
    let found = terminal.current_dir(root()).env("NO_COLOR", "1").env("TERM", "xterm").output().unwrap();
    assert!(found.status.success(), "{}", text(&found.stderr));
    let shown = text(&found.stdout).replace('\r', "");
    assert!(shown.lines().all(|line| line.chars().count() <= COLUMNS), "{shown}");
    let piped = program(&["info", UNREPORTED, "--log", REPORT]).env_remove("COLUMNS").output().unwrap();
    let piped = text(&piped.stdout);
    assert!(piped.contains("\nfault: "), "{piped}");
    assert_eq!(shown, piped);
}

/// No page needs a program: without one on the PATH each is the same.
#[test]
fn pages_need_no_program() {
    let call = "tests/fixtures/dumps/call-gfx90a-O0";
    for words in [
        &["triage"][..],
        &["triage", "--hang", HALT],
        &["backtrace", call],
        &["groups", call],
        &["info"],
        &["report", "--format", "markdown"],
        &["disassemble"],
    ] {
        // The program itself is not looked up.
        let [with, without] = [std::env::var_os("PATH").unwrap(), "/nowhere".into()]
            .map(|path| program(words).env("PATH", path).env("ROCM_PATH", "/nowhere").output().unwrap());
        assert!(with.status.success() && !with.stdout.is_empty(), "{words:?}");
        assert_eq!((text(&without.stdout), text(&without.stderr)), (text(&with.stdout), text(&with.stderr)));
    }
}

/// docs/triage.md lists all names of missing data.
#[test]
fn the_page_of_triage_lists_all_missing_data() {
    let docs = fs::read_to_string(root().join("docs/triage.md")).unwrap();
    let section = docs.split("\n### Missing data\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let rows: Vec<&str> = rows.filter(|name| *name != "missing").collect();
    assert_eq!(rows, MissingData::NAMES);
}
