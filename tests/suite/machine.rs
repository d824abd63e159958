//! `--version --verbose`, `doctor`, `completions`, `man` and `demo --print`: commands about the program and the machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::cli::{run, text};

fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout).to_owned()
}

#[test]
fn the_version_has_its_build_in_either_order_of_options() {
    assert_eq!(printed(&["--version"]), concat!("lanescope ", env!("CARGO_PKG_VERSION"), "\n"));
    let details = printed(&["--version", "--verbose"]);
    assert_eq!(details, printed(&["--verbose", "--version"]));
    for name in ["commit: ", "target: ", "profile: ", "GPUs: "] {
        assert!(details.lines().any(|line| line.starts_with(name)), "{name}: {details}");
    }
    assert!(details.contains("gfx90a") && details.contains("gfx1251"), "{details}");
}

/// The versions are those that the programs print themselves.
#[test]
fn doctor_names_the_debuggers_and_tools_of_this_machine() {
    let text = printed(&["doctor"]);
    let gdb = Command::new("gdb").arg("--version").output().unwrap();
    let first = String::from_utf8(gdb.stdout).unwrap();
    let number = first.lines().next().unwrap().rsplit(' ').next().unwrap();
    let number: Vec<&str> = number.split('.').take(2).collect();
    assert!(text.contains(&format!("gdb: {}, with Python", number.join("."))), "{text}");
    assert!(text.contains("lldb: 2"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    let json = crate::cli::json(&["doctor", "--json"]);
    assert_eq!(json["schema"], "lanescope.doctor/2");
    assert_eq!(json["next"].as_array().unwrap().last().unwrap(), "lanescope demo");
}

fn with_path(folder: &Path, arguments: &[&str]) -> Output {
    crate::support::lanescope().args(arguments).env("PATH", folder).env("ROCM_PATH", folder).output().unwrap()
}

fn script(folder: &Path, name: &str, lines: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A PATH without programs, and one with broken ones: both are described, neither is an error.
#[test]
fn doctor_describes_missing_and_broken_programs() {
    let folder = tempfile::tempdir().unwrap();
    let output = with_path(folder.path(), &["doctor"]);
    assert!(output.status.success());
    let missing = text(&output.stdout);
    for line in ["missing  gdb: not on the PATH", "missing  lldb: not on the PATH", "  apt install gdb"] {
        assert!(missing.contains(line), "{line}: {missing}");
    }
    script(folder.path(), "gdb", "printf 'GNU gdb \\033[31m9.2\\n'; yes | /usr/bin/head -c 1000000");
    script(folder.path(), "lldb-7", "exit 3");
    let output = with_path(folder.path(), &["doctor"]);
    let broken = text(&output.stdout);
    assert!(output.status.success() && !broken.contains('\u{1b}'), "{broken:?}");
    for line in ["lldb: no version", "without Python"] {
        assert!(broken.contains(line), "{line}: {broken}");
    }
}

/// bash offers the commands and options.
#[test]
fn bash_completes_commands() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lanescope");
    fs::write(&file, printed(&["completions", "bash"])).unwrap();
    let ask = "source \"$1\"; COMP_WORDS=(lanescope tri); COMP_CWORD=1; COMP_LINE='lanescope tri'; COMP_POINT=13; \
               _lanescope lanescope tri lanescope; echo \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").args(["--norc", "-c", ask, "bash"]).arg(&file).output().unwrap();
    assert_eq!(text(&output.stdout).trim(), "triage", "{}", text(&output.stderr));
    for (shell, mark) in [("zsh", "#compdef lanescope"), ("fish", "complete -c lanescope")] {
        assert!(printed(&["completions", shell]).contains(mark), "{shell}");
    }
    assert_eq!(run(&["completions", "tcsh"]).status.code(), Some(2));
}

/// Each command of docs/commands.md has a page with its options.
#[test]
fn each_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("share/man1");
    printed(&["man", made.to_str().unwrap()]);
    let page = |name: &str| fs::read_to_string(made.join(name)).unwrap();
    assert!(page("lanescope.1").contains(".TH lanescope 1"));
    for command in ["triage", "serve", "check", "doctor", "demo", "completions"] {
        assert!(page(&format!("lanescope-{command}.1")).contains("OPTIONS"), "{command}");
    }
    // The usage is that of the help; `capture` has the words before a program with options.
    for (command, usage) in [
        ("capture", "capture\\fR [OPTIONS] \\-\\- PROGRAM [ARGUMENTS]"),
        ("man", "man\\fR [OPTIONS] <DIR>"),
        ("report", "report\\fR [OPTIONS] [DUMP]"),
    ] {
        let page = page(&format!("lanescope-{command}.1"));
        assert!(page.contains(usage), "{command}: {page}");
    }
    let file = made.join("lanescope.1");
    assert_eq!(run(&["man", file.to_str().unwrap()]).status.code(), Some(1));
}

/// Without a terminal the steps are printed, for each debugger, and nothing starts.
#[test]
fn the_demo_prints_its_steps() {
    for (options, prompt) in
        [(&["--print"][..], "(gdb)"), (&["--debugger", "lldb"], "(lldb)"), (&[], "(gdb)")]
    {
        let text = printed(&[&["demo"], options].concat());
        for step in 1..=5 {
            assert!(text.contains(&format!("Step {step} of 5: ")), "{text}");
        }
        assert!(text.contains(prompt) && text.contains("lanescope serve"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let output = with_path(folder.path(), &["demo"]);
    assert!(output.status.success() && text(&output.stdout).contains("`lanescope doctor`"));
}
