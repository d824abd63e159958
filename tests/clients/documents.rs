//! Transcripts in README.md and docs. The test runs each `console` block and compares the output with the page.
//!
//! `$ lanescope ...` runs the command. `$ lanescope serve ...` runs a server for the following blocks; the demo is
//! served before the first one. `$ gdb ...` and `$ lldb ...` run a client of the server, whose commands follow `(gdb)`
//! and `(lldb)`. A block that begins with a client's command has its own client. `...` matches any lines, or any text
//! within a line.

use std::ffi::OsStr;
use std::fs;

use super::harness::{Server, lanescope, lldb_name, run, scratch, tool};
use super::script::{Debugger, Script, fail_with};

/// Words that match anything.
const ANY: &str = "...";

/// A typed line, and the lines of its output.
struct Step<'a> {
    typed: &'a str,
    shown: Vec<&'a str>,
}

#[test]
fn readme_shows_what_is_printed() {
    play("README.md", 12);
}

#[test]
fn the_tutorial_shows_what_is_printed() {
    play("docs/tutorial.md", 18);
}

#[test]
fn the_reference_pages_show_what_is_printed() {
    play("docs/paths.md", 2);
    play("docs/commands.md", 2);
    play("docs/evaluator.md", 5);
}

#[test]
fn the_pages_of_the_debuggers_show_what_is_printed() {
    play("docs/gdb.md", 4);
    play("docs/lldb.md", 4);
}

/// Runs the blocks of a page, which has at least `least` typed lines.
fn play(page: &str, least: usize) {
    let root = crate::support::root();
    let text = fs::read_to_string(root.join(page)).unwrap();
    // Commands name fixtures relative to the repository, and write files.
    let folder = scratch("documents");
    fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(root.join("tests"), folder.join("tests")).unwrap();
    let mut server = Server::with([]);
    let (mut wrong, mut typed) = (Vec::new(), 0);
    for block in blocks(&text) {
        typed += block.len();
        let mut steps = block.into_iter().peekable();
        while let Some(step) = steps.next() {
            if let Some(command) = step.typed.strip_prefix("$ lanescope ") {
                let words = words(command);
                if words[0] == "serve" {
                    server = Server::with(words[1..].iter().map(OsStr::new));
                } else {
                    let printed = run(tool(lanescope()).args(words).current_dir(&folder));
                    wrong.extend(compare(page, &step, &printed));
                }
                continue;
            }
            let lldb = step.typed.starts_with("$ lldb ") || step.typed.starts_with("(lldb) ");
            let prompt = if lldb { "(lldb) " } else { "(gdb) " };
            let mut script = Script::new(page);
            let connect = if lldb { "gdb-remote" } else { "target remote" };
            let connect = format!("{connect} {}", server.address);
            match step.typed.strip_prefix(prompt) {
                Some(command) => {
                    script.say(connect);
                    add(&mut script, page, command, step);
                }
                None => {
                    assert!(step.typed.contains(":1234") || step.typed.contains(" 1234"), "{}", step.typed);
                    add(&mut script, page, &connect, step);
                }
            }
            while let Some(next) = steps.next_if(|next| next.typed.starts_with(prompt)) {
                add(&mut script, page, &next.typed[prompt.len()..], next);
            }
            // Its text is not part of the last command's.
            script.say("detach");
            let debugger = if lldb { Debugger::Lldb(lldb_name()) } else { Debugger::Gdb("gdb") };
            wrong.extend(script.run(&debugger));
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    fail_with(wrong);
    assert!(typed >= least, "{page} has {typed} lines to type");
}

/// A client's command and its output on the page; a command without output on the page is not checked.
fn add(script: &mut Script, page: &str, command: &str, step: Step<'_>) {
    if step.shown.is_empty() {
        return script.say(command);
    }
    let (page, typed) = (page.to_owned(), step.typed.to_owned());
    let shown: Vec<String> = step.shown.iter().map(|line| (*line).to_owned()).collect();
    script.check("", command, move |printed| {
        let shown = shown.iter().map(String::as_str).collect();
        compare(&page, &Step { typed: &typed, shown }, printed).map_or(Ok(()), Err)
    });
}

/// The steps of each `console` block.
fn blocks(text: &str) -> Vec<Vec<Step<'_>>> {
    let parts = text.split("\n```console\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
    parts
        .map(|block| {
            let mut steps: Vec<Step<'_>> = Vec::new();
            for line in block.lines() {
                if ["$ ", "(gdb) ", "(lldb) "].iter().any(|prompt| line.starts_with(prompt)) {
                    steps.push(Step { typed: line, shown: Vec::new() });
                } else {
                    steps.last_mut().expect("a block begins with a prompt").shown.push(line);
                }
            }
            steps
        })
        .collect()
}

/// Shell words: quotes keep blanks, a comment ends the line.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in command.chars() {
        let word = words.last_mut().unwrap();
        match letter {
            '\'' => quoted = !quoted,
            '#' if !quoted && word.is_empty() => break,
            ' ' if !quoted && !word.is_empty() => words.push(String::new()),
            ' ' if !quoted => {}
            _ => word.push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn compare(page: &str, step: &Step<'_>, printed: &str) -> Option<String> {
    let printed: Vec<&str> = printed.trim_matches('\n').lines().map(str::trim_end).collect();
    (!step.shown.is_empty() && !fits(&step.shown, &printed)).then(|| {
        format!(
            "{page}: `{}` shows\n{}\nand prints\n{}",
            step.typed,
            step.shown.join("\n"),
            printed.join("\n")
        )
    })
}

/// Whether lines equal those of the page.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], printed) => printed.is_empty(),
        ([ANY, rest @ ..], printed) => (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..])),
        ([line, rest @ ..], [first, others @ ..]) => is_like(line, first) && fits(rest, others),
        _ => false,
    }
}

/// Whether a line equals the one of the page.
fn is_like(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split(ANY);
    let Some(mut rest) = printed.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}
