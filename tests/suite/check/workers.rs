//! Dumps that stop or end their reader: each costs its own results only. The reader of a log waits for a pipe that no
//! program writes.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Folder, check, command, json};
use crate::slim::words;
use crate::support::until;

/// Files of expectations: `a.scope` has a dump and a pipe as its log, `b.scope` a dump alone.
fn files(folder: &Folder) {
    let status = Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(status.success());
    folder.write("a.scope", "dump demo.zip\nlog pipe\nwaves 8\n");
    folder.write("b.scope", "dump demo.zip\nwaves 8\n");
}

/// The errors of the dumps of a run; `None`: the dump was checked.
fn errors(json: &Value) -> Vec<Option<String>> {
    let dumps = json["files"].as_array().unwrap().iter().flat_map(|file| file["dumps"].as_array().unwrap());
    dumps.map(|dump| dump["error"].as_str().map(str::to_owned)).collect()
}

/// The workers of a process: its children, by /proc.
fn workers(process: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap();
    let ids = all.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
    let is_worker = |id: &u32| {
        // After the name in brackets: the state, and the parent.
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        parent == Some(&process.to_string()) && words.ends_with(b"--worker\0")
    };
    ids.filter(is_worker).collect()
}

#[test]
fn a_reader_that_is_killed_costs_one_dump() {
    let folder = Folder::new("check-killed");
    files(&folder);
    // The first worker has the first file, and waits for the pipe until it is killed.
    let child = command(&[&folder.all(), "--json", "--jobs", "1"]).stdout(Stdio::piped()).spawn().unwrap();
    let worker = until("a worker", || workers(child.id()).into_iter().next());
    assert!(Command::new("kill").args(["-KILL", &worker.to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let errors = errors(&json(&output));
    let [Some(error), None] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!(error, "the reader ended by signal 9; report this dump as a bug");
}

#[test]
fn each_dump_has_its_own_time() {
    let folder = Folder::new("check-timeout");
    files(&folder);
    // The first dump takes all of its time: nothing is left of it for the second.
    let output = check(&[&folder.all(), "--json", "--jobs", "1", "--timeout", "10"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let errors = errors(&json(&output));
    assert_eq!(errors, [Some("no result after 10 s (--timeout)".to_owned()), None]);
}

/// Starting LLVM's tool costs more than all else about a small dump.
#[test]
fn dumps_of_one_program_need_one_run_of_the_disassembler() {
    let folder = Folder::new("check-tools");
    let (tool, log) = (folder.path("objdump"), folder.path("log"));
    let llvm = crate::ci::lanescope_tools("llvm-objdump");
    let script = format!("#!/bin/sh\necho run >> '{}'\nexec {} \"$@\"\n", log.display(), llvm.display());
    crate::install(std::path::Path::new(&folder.write("script", &script)), &tool);
    for name in ["a.zip", "b.zip", "c.zip"] {
        std::fs::copy(folder.path("demo.zip"), folder.path(name)).unwrap();
    }
    let file = folder.write("a.scope", "dump *.zip\naccess lane 24 load x[i] past end\n");
    let runs = |arguments: &[&str]| {
        let _ = std::fs::remove_file(&log);
        let output =
            command(arguments).args(["--jobs", "1", "--disassembler", words(&tool)]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        std::fs::read_to_string(&log).unwrap().lines().count()
    };
    let one = folder.write("b.scope", "dump a.zip\naccess lane 24 load x[i] past end\n");
    assert_eq!(runs(&[&file]), runs(&[&one]));
}

/// The processes whose arguments name a path.
fn processes_with(path: &str) -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let words = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let words = words.map(|words| String::from_utf8_lossy(&words).replace('\0', " "));
    words.filter(|words| words.contains(path)).collect()
}

/// A tool that hangs, with a child of its own: both end with the run that started them.
#[test]
fn tools_end_with_their_run() {
    let folder = Folder::new("check-hanging-tool");
    let scope = folder.write("a.scope", "dump demo.zip\naccess lane 24 load x[i] past end\n");
    let (mark, tool) = (folder.path("mark"), folder.path("objdump"));
    let script =
        format!("#!/bin/sh\nsh -c 'sleep 600; : {0}' &\necho > {0}\nsleep 600\n: {0}\n", words(&mark));
    crate::install(std::path::Path::new(&folder.write("script", &script)), &tool);
    let mut run = command(&["--disassembler", words(&tool), "--json", &scope]);
    let mut child = run.stdout(Stdio::null()).spawn().unwrap();
    until("the tool", || mark.exists().then_some(()));
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
    // They are killed; the system ends them when it comes to it.
    until("the end of all processes", || processes_with(&folder.all()).is_empty().then_some(()));
}
