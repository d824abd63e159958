//! Answers that cannot be written: on a full disk, to a closed standard output, to one without write access.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};

use crate::cli::{run, text};
use crate::fixtures::without_debuggers;
use crate::slim::{Scratch, words};
use crate::support::output;
use crate::support::sample::{is_long, sampled};

const ERROR: &str = "cannot write to the standard output";

/// A line for each command, with the arguments that it needs.
const COMMANDS: [&str; 37] = [
    "DUMP",
    "--help",
    "--version",
    "help triage",
    "info DUMP",
    "triage DUMP",
    "waves DUMP",
    "lanes DUMP",
    "lane-pc DUMP",
    "groups DUMP",
    "dispatches DUMP",
    "arguments DUMP",
    "disassemble DUMP",
    "registers -r pc DUMP",
    "memory --at 0x7f0000200000 DUMP",
    "locals DUMP",
    "backtrace DUMP",
    "eval DUMP DW_OP_lit0",
    "print DUMP i",
    "explain DUMP i",
    "objects DUMP",
    "faults DUMP",
    "code-object CODE",
    "export DUMP",
    "report DUMP",
    "check SCOPE",
    "signature DUMP",
    "bucket DUMP",
    "diff DUMP OTHER",
    "slim DUMP -o OUT",
    "dwarf CODE",
    "view DUMP -o OUT",
    "targets",
    "demo --print",
    "doctor",
    "completions bash",
    "--version --verbose",
];

/// Runs the program with the standard output of a redirection of the shell: `>/dev/full`, `>&-`.
fn start(arguments: &[String], redirection: &str) -> Child {
    let script = format!("exec \"$0\" \"$@\" {redirection}");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &script, crate::support::program()]).args(arguments).stdin(Stdio::null());
    command.env("COLUMNS", "100000");
    without_debuggers(&mut command, &arguments[0]).stderr(Stdio::piped()).spawn().unwrap()
}

fn fails(arguments: &[String], redirection: &str) {
    let what = format!("{} {redirection}", arguments.join(" "));
    let output = output(start(arguments, redirection), &what);
    let error = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{what}: {output:?}");
    assert!(error.contains(ERROR), "{what}: {error}");
}

/// The arguments of a line. `OUT` is removed: the command writes it again.
fn arguments(scratch: &Scratch, line: &str) -> Vec<String> {
    let root = crate::support::root().join("tests/fixtures");
    let dump = root.join("demo.zip");
    let scope = scratch.path("a.scope");
    fs::write(&scope, format!("dump {}\nwaves 1000000\n", words(&dump))).unwrap();
    let out = scratch.path("out");
    let _ = (fs::remove_dir_all(&out), fs::remove_file(&out));
    let of = |word: &str| match word {
        "DUMP" | "OTHER" => words(&dump).to_owned(),
        "CODE" => words(&root.join("code/saxpy-gfx90a-O2.hsaco")).to_owned(),
        "SCOPE" => words(&scope).to_owned(),
        "OUT" => words(&out).to_owned(),
        word => word.to_owned(),
    };
    line.split(' ').map(of).collect()
}

/// The options of a line that make its forms.
fn forms(line: &str) -> &'static [Option<&'static str>] {
    let name = line.split(' ').next().unwrap();
    let has_json = !matches!(name, "DUMP" | "--help" | "--version" | "help" | "check" | "report" | "export")
        && text(&run(&[name, "--help"]).stdout).contains("--json");
    if has_json { &[None, Some("--json")] } else { &[None] }
}

#[test]
fn an_answer_that_is_not_written_is_an_error() {
    let scratch = Scratch::new("standard-output");
    for (index, line) in COMMANDS.into_iter().enumerate() {
        for (form, json) in forms(line).iter().enumerate() {
            for (error, redirection) in [">/dev/full", ">&-"].into_iter().enumerate() {
                // The text with one of two errors, by turns, and each third JSON with the other one.
                let is_chosen = (index + form + error).is_multiple_of(2);
                if (!is_chosen || form > 0 && !index.is_multiple_of(3)) && !is_long() {
                    continue;
                }
                let arguments = arguments(&scratch, line).into_iter().chain(json.map(str::to_owned));
                fails(&arguments.collect::<Vec<_>>(), redirection);
            }
        }
    }
    // A descriptor without write access, and the forms of other options.
    for line in [
        "triage DUMP",
        "report DUMP --format json",
        "report DUMP -o /dev/stdout",
        "check SCOPE --format junit",
    ] {
        fails(&arguments(&scratch, line), "1</dev/null");
    }
}

/// The list above has all commands.
#[test]
fn every_command_is_tried_without_output() {
    let help = text(&run(&["--help"]).stdout);
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let names = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let is_tried = |name: &&str| COMMANDS.iter().any(|line| line.split(' ').next() == Some(name));
    let untried: Vec<&str> = names.filter(|name| !name.is_empty() && !is_tried(name)).collect();
    // The output of `capture` is its program's, `man` writes files.
    assert_eq!(untried, ["serve", "capture", "man"]);
}

/// The server announces its address on standard output: nobody could connect to a free port without it.
#[test]
fn a_server_without_output_ends_with_an_error() {
    let scratch = Scratch::new("standard-output-serve");
    for line in ["serve --port 0 DUMP", "serve --port 0", "serve --once --unix OUT DUMP"] {
        for redirection in [">/dev/full", ">&-", "1</dev/null"] {
            fails(&arguments(&scratch, line), redirection);
            assert!(!scratch.path("out").exists(), "{line}: the socket is left");
        }
    }
    let arguments = arguments(&scratch, "serve --stdio DUMP");
    let output = output(start(&arguments, ">&-"), "serve --stdio");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains(ERROR), "{output:?}");
}

/// A reader that leaves early is no error.
#[test]
fn a_closed_pipe_is_no_error() {
    let scratch = Scratch::new("standard-output-pipe");
    for (index, line) in COMMANDS.into_iter().chain(["targets gfx90a"]).enumerate() {
        // One of two forms, by turns.
        let forms = forms(line);
        for json in sampled(forms.iter().cycle().skip(index % forms.len()).take(forms.len()), 2) {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let mut command = crate::support::lanescope();
            command.args(arguments(&scratch, line)).args(*json).stdout(writer).stderr(Stdio::piped());
            let output = output(without_debuggers(&mut command, line).spawn().unwrap(), line);
            // The line of `check` differs.
            let status = i32::from(line.starts_with("check"));
            assert_eq!(output.status.code(), Some(status), "{line} {json:?}: {output:?}");
            assert!(!text(&output.stderr).contains("write"), "{line} {json:?}: {output:?}");
        }
    }
    // A file that takes all bytes.
    let file = File::create(scratch.path("whole")).unwrap();
    let mut command = crate::support::lanescope();
    command.args(arguments(&scratch, "triage DUMP")).stdout(file).stderr(Stdio::piped());
    assert_eq!(output(command.spawn().unwrap(), "a file").status.code(), Some(0));
    assert!(fs::metadata(scratch.path("whole")).unwrap().len() > 100);
}
