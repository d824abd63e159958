//! `lanescope demo` in a terminal: real debuggers run the five steps.

use std::process::Command;

use super::harness::{lanescope, run};

/// Answers each prompt with a line; prints the terminal's output.
const TERMINAL: &str = "
import os, pty, sys, time
prompt, lines = sys.argv[1].encode(), sys.argv[2].split(';')
pid, master = pty.fork()
if pid == 0:
    os.environ.update(TERM='dumb', NO_COLOR='1')
    os.execvp(sys.argv[3], sys.argv[3:])
text, seen = b'', 0
while True:
    try:
        part = os.read(master, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
    # A prompt at the end is one that waits.
    if text.rstrip().endswith(prompt) and len(text) > seen and lines:
        time.sleep(0.2)
        os.write(master, lines.pop(0).encode() + b'\\n')
        seen = len(text) + 64
sys.stdout.buffer.write(text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

fn tour(debugger: &str, prompt: &str, lines: &str) -> String {
    let mut python = Command::new("python3");
    python.args(["-c", TERMINAL, prompt, lines, lanescope(), "demo", "--debugger", debugger]);
    python.env("HOME", "/nowhere");
    run(&mut python).replace('\r', "")
}

/// Values of the demo: README.md, from the model of its kernel.
fn check(text: &str, expected: &[&str]) {
    let mut rest = text;
    for words in expected {
        let Some((_, after)) = rest.split_once(words) else { panic!("no {words:?} in order in: {text}") };
        rest = after;
    }
}

#[test]
fn gdb_runs_the_tour() {
    let text = tour("gdb", "(gdb)", "tour;tour;tour;tour;quit");
    let expected = [
        "Step 1 of 5",
        "saxpy",
        "saxpy.hip:54",
        "Step 2 of 5",
        "i = 1000",
        "Step 3 of 5",
        "= 1017",
        "= 14.25",
        "Step 4 of 5",
        "= 1.25",
        "f9 03 -> 05 00",
        "Step 5 of 5",
        "saxpy reads x[1024]",
        "This was the tour",
    ];
    check(&text, &expected);
    assert!(!text.contains("Undefined command") && !text.contains("Error in"), "{text}");
}

#[test]
fn lldb_runs_the_tour() {
    let text = tour("lldb", "(lldb)", "tour;tour;tour;tour;quit");
    let expected = [
        "Step 1 of 5",
        "saxpy.hip:54",
        "Step 2 of 5",
        "(int) i = 1000",
        "Step 3 of 5",
        "(int) i = 1017",
        "x[1017] = 14.25",
        "Step 4 of 5",
        "x[i] = 1.25",
        "f9 03 -> 05 00",
        "Step 5 of 5",
        "saxpy reads x[1024]",
        "This was the tour",
    ];
    check(&text, &expected);
    assert!(!text.contains("error:"), "{text}");
}
