//! Programs that run too long, print too much, fail, or are missing.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::machine;
use crate::codeobject::newest_llvm;
use crate::disassembler::{DisassembleError, Disassembler, MAX_KEPT, MAX_OUTPUT};

/// `s_nop 0`
const NOP: [u8; 4] = [0, 0, 0x80, 0xbf];

fn script(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("llvm-objdump");
    // Another process writes it: a program that another test starts at this moment would inherit the open file, and an
    // executable that is open for writing does not start.
    let mut install = Command::new("install")
        .args(["-m", "755", "/dev/stdin"])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    write!(install.stdin.take().unwrap(), "#!/bin/sh\n{text}\n").unwrap();
    assert!(install.wait().unwrap().success());
    path
}

/// Runs the script as a tool that ends by itself and returns the error.
fn ends_with(text: &str) -> DisassembleError {
    ends_within(Duration::from_secs(60), text)
}

/// Runs the script as a tool with a limit and returns the error.
fn ends_within(limit: Duration, text: &str) -> DisassembleError {
    let folder = tempfile::tempdir().unwrap();
    let disassembler = Disassembler::new(Some(script(&folder, text))).within(limit);
    disassembler.decode(&machine("gfx90a"), 0x1000, &NOP).unwrap_err()
}

#[test]
fn one_that_does_not_end_is_stopped() {
    for text in ["exec sleep 600", "exec >&- 2>&-; exec sleep 600", "trap '' TERM; exec sleep 600"] {
        let error = ends_within(Duration::from_millis(200), text);
        assert!(
            matches!(&error, DisassembleError::TimedOut { tool, .. } if tool == "llvm-objdump"),
            "{error}"
        );
    }
}

/// A child that has the tool's outputs open is not waited for: it still runs after the answer.
#[test]
fn a_child_that_stays_behind_delays_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let number = folder.path().join("number");
    let text = format!("sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", number.display());
    let tool = script(&folder, &text);
    // A slow machine may end the tool before it has started the child.
    let child = (1..=60).find_map(|seconds| {
        let disassembler = Disassembler::new(Some(tool.clone())).within(Duration::from_secs(seconds));
        let error = disassembler.decode(&machine("gfx90a"), 0x1000, &NOP).unwrap_err();
        assert!(matches!(&error, DisassembleError::TimedOut { .. }), "{error}");
        fs::read_to_string(&number).ok()
    });
    let child = child.expect("the tool starts its child");
    assert!(Command::new("kill").arg(child.trim()).status().unwrap().success(), "the child has ended");
}

#[test]
fn one_that_prints_without_end_is_stopped() {
    // `exec` replaces the shell, so that no child stays behind.
    for text in ["exec yes", "exec yes >&2"] {
        let error = ends_within(Duration::from_secs(1), text);
        let late = matches!(error, DisassembleError::TimedOut { .. });
        assert!(late || matches!(error, DisassembleError::TooMuch { limit: MAX_OUTPUT, .. }), "{error}");
    }
}

#[test]
fn a_failing_tool_gives_the_reason() {
    let error = ends_with("echo >&2; echo bad luck >&2; exit 3").to_string();
    assert_eq!(error, "llvm-objdump failed (exit status: 3): bad luck");
    let error = ends_with("kill -9 $$").to_string();
    assert!(error.contains("signal: 9") && error.contains("it printed no error"), "{error}");
    let long = ends_with("head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1").to_string();
    assert!(long.len() < 400, "{} letters", long.len());
    let error = ends_with("echo nonsense").to_string();
    assert!(error.contains("no listing of its input"), "{error}");
    let error = ends_with("echo \"LLVM ERROR: unable to get target for 'amdgcn'\" >&2; exit 1");
    assert!(matches!(error, DisassembleError::UnknownProcessor { .. }), "{error}");
}

#[test]
fn one_that_is_not_there_or_no_program_is_named() {
    let gone = Disassembler::new(Some(PathBuf::from("/nowhere/llvm-objdump")));
    let error = gone.decode(&machine("gfx90a"), 0x1000, &NOP).unwrap_err();
    assert!(error.to_string().starts_with("cannot run /nowhere/llvm-objdump: No such file"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("llvm-mc");
    fs::write(&file, "text").unwrap();
    let error = Disassembler::new(Some(file)).decode(&machine("gfx90a"), 0x1000, &NOP).unwrap_err();
    assert!(matches!(error, DisassembleError::NotRun { .. }), "{error}");
}

/// No shell sees the processor's name, and the tool gets no feature that the target table lacks.
#[test]
fn a_gpu_that_no_llvm_knows_is_an_error() {
    let disassembler = Disassembler::default();
    for processor in ["gfx9999", "$(exit)", "", "-x", "gfx90a,x", "gfx90a gfx90a"] {
        let error = disassembler.decode(&machine(processor), 0x1000, &NOP).unwrap_err();
        assert!(matches!(error, DisassembleError::UnknownProcessor { .. }), "{processor}: {error}");
    }
}

/// A client requests one instruction after the other: the tool runs once.
#[test]
fn what_was_decoded_is_kept_until_its_bytes_change() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let real = newest_llvm("llvm-objdump");
    let text = format!("echo run >> {}\nexec {} \"$@\"", count.display(), real.display());
    let disassembler = Disassembler::new(Some(script(&folder, &text)));
    let runs = || fs::read_to_string(&count).unwrap_or_default().lines().count();
    let gfx90a = machine("gfx90a");
    let code: Vec<u8> = NOP.repeat(10);
    let block = disassembler.decode(&gfx90a, 0x1000, &code).unwrap();
    assert_eq!((block.instructions.len(), runs()), (10, 1));
    for address in (0x1000..0x1028).step_by(4) {
        let kept = disassembler.kept(&gfx90a, address).unwrap();
        assert_eq!(kept.from(address).unwrap().len() as u64, (0x1028 - address) / 4);
    }
    assert!(disassembler.kept(&gfx90a, 0x1002).is_none());
    assert!(disassembler.kept(&gfx90a, 0x1028).is_none());
    assert!(disassembler.kept(&machine("gfx942"), 0x1000).is_none());
    assert_eq!(runs(), 1);
    // A block at the same address replaces the old one, and the number of blocks is bounded.
    let other = disassembler.decode(&gfx90a, 0x1000, &code[..8]).unwrap();
    assert_eq!(disassembler.kept(&gfx90a, 0x1000).unwrap(), other);
    assert!(disassembler.kept(&gfx90a, 0x1008).is_none());
    let more: Vec<(u64, &[u8])> =
        (1..=MAX_KEPT as u64).map(|number| (0x1000 + number * 0x100, &NOP[..])).collect();
    disassembler.decode_all(&gfx90a, &more).unwrap();
    assert!(disassembler.kept(&gfx90a, 0x1000).is_none());
    assert!(disassembler.kept(&gfx90a, 0x1100).is_some());
}
