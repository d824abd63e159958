//! Dumps that stop or end their reader: each costs its own results only. The reader of a log waits for a pipe that no
//! program writes.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Folder, check, command, json};
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
