//! `lanescope check --debugger`: stock debuggers show the values and stacks of expectations.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use super::harness::{lanescope, lldb_name, tool};
use super::model::{Fixture, fixtures_folder, named};
use super::script::{Debugger, debuggers, half};

const DUMPS: [&str; 4] = ["regions-gfx90a", "saxpy-gfx90a-O0", "call-gfx1100-O0", "lds-gfx942-O0"];

/// Expectations about the first wave of a dump, from its model.
fn scope(fixture: &Fixture) -> String {
    let wave = &fixture.waves[0].expected;
    let text = |name: &str| wave[name].as_str().unwrap();
    let mut lines = format!("dump {}\n", fixture.dump.display());
    lines +=
        &format!("wave id {}\n  at {} {}:{}\n", wave["id"], text("function"), text("file"), wave["line"]);
    lines += &format!("  stack {} < ...\n", text("function"));
    for local in wave["locals"].as_array().unwrap() {
        let (name, lane) = (local["name"].as_str().unwrap(), fixture.waves[0].shown_lanes()[0]);
        let value =
            local["values"][lane].as_str().filter(|_| local["type"] == "int" && local["state"] == "ok");
        lines += &value.map_or_else(String::new, |value| format!("  lane {lane} {name} == {value}\n"));
    }
    lines
}

fn check(scope: &Path, debugger: &str) -> (Output, Value) {
    let output = tool(lanescope()).arg("check").arg(scope).args(["--json", "--debugger", debugger]).output();
    let output = output.unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output, json)
}

/// More threads than lldb names, and symbols of target regions.
#[test]
fn stock_debuggers_show_what_drafts_have() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let demo = crate::support::root().join("tests/fixtures/demo.zip");
    let every = format!("dump {}\n\nwave every\n  lane active n == 1024\n", demo.display());
    fs::write(path("demo.scope"), every).unwrap();
    let mut draft = tool(lanescope());
    // Its dump is named from the file's folder.
    draft.args(["check", "--new"]).arg(named("regions-gfx90a").dump).arg("-o").arg(path("regions.scope"));
    assert!(draft.status().unwrap().success());
    for debugger in ["gdb", &lldb_name()] {
        for name in ["demo.scope", "regions.scope"] {
            let (output, json) = check(&path(name), debugger);
            let opinion = &json["files"][0]["dumps"][0]["opinion"];
            assert_eq!(output.status.code(), Some(0), "{debugger} {name}: {json:#}");
            assert!(opinion["same"].as_u64() > Some(0), "{debugger} {name}: {opinion:#}");
        }
    }
}

/// lldb reads memory in lines of 512 bytes. The dump lacks the first element of `x`, with which a line begins.
#[test]
fn lldb_shows_values_beside_bytes_that_were_not_captured() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for entry in fs::read_dir(fixtures_folder().join("dumps/saxpy-gfx90a-O0")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let manifest = fs::read_to_string(path("manifest.toml")).unwrap();
    let whole = "address = \"0x7f0000200000\"\nfile = \"memory.bin\"\noffset = 0\nlength = 4096\n";
    assert!(manifest.contains(whole), "{manifest}");
    let part = "address = \"0x7f0000200004\"\nfile = \"memory.bin\"\noffset = 4\nlength = 4092\n";
    fs::write(path("manifest.toml"), manifest.replace(whole, part)).unwrap();
    let bytes = fs::read(path("memory.bin")).unwrap();
    let file = path("a.scope");
    let second = f32::from_le_bytes(bytes[4..8].try_into().unwrap());
    fs::write(&file, format!("dump .\nwave faulted\n  lane 17 x[1] == {second}\n")).unwrap();
    let (output, json) = check(&file, &lldb_name());
    assert_eq!(output.status.code(), Some(0), "{json:#}");
    let opinion = &json["files"][0]["dumps"][0]["opinion"];
    assert_eq!(
        (&opinion["same"], &opinion["differing"]),
        (&Value::from(1), &Value::from([0; 0])),
        "{json:#}"
    );
}

#[test]
fn stock_debuggers_show_the_values_of_expectations() {
    for debugger in debuggers() {
        let folder = tempfile::tempdir().unwrap();
        let dumps: Vec<&str> = half(DUMPS, &debugger).collect();
        for name in &dumps {
            fs::write(folder.path().join(format!("{name}.scope")), scope(&named(name))).unwrap();
        }
        let debugger = match &debugger {
            Debugger::Gdb(name) => *name,
            Debugger::Lldb(name) => name,
        };
        let (output, json) = check(folder.path(), debugger);
        assert_eq!(output.status.code(), Some(0), "{debugger}: {json:#}");
        let files = json["files"].as_array().unwrap();
        assert_eq!(files.len(), dumps.len());
        for file in files {
            let (dump, opinion) = (&file["dumps"][0], &file["dumps"][0]["opinion"]);
            assert_eq!(opinion["name"], debugger);
            // All lines but `wave` itself.
            assert_eq!(opinion["same"], dump["lines"].as_array().unwrap().len() - 1, "{debugger}: {file:#}");
            assert_eq!(
                (&opinion["differing"], &opinion["not_asked"]),
                (&Value::from([0; 0]), &Value::from([0; 0]))
            );
        }
    }
}

/// The lines of a file whose expectations gdb answers, in each form.
#[test]
fn each_form_has_the_opinion_of_the_debugger() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.scope"), scope(&named("regions-gfx90a"))).unwrap();
    let forms = ["human", "github", "gitlab", "junit", "tap"];
    let path = |form: &str| folder.path().join(form).to_str().unwrap().to_owned();
    let options = forms.map(|form| format!("--format={form}={}", path(form)));
    let output =
        tool(lanescope()).arg("check").arg(folder.path()).args(options).args(["--debugger", "gdb"]).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for form in forms {
        let text = fs::read_to_string(path(form)).unwrap();
        // Text for people is folded.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("gdb shows the same in "), "{form}: {text}");
        assert!(text.contains(" lines, and differs in 0"), "{form}: {text}");
    }
}

/// An executable script.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn another_value_of_a_debugger_is_a_fault_of_lanescope() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crash.scope");
    let dump = fixtures_folder().join("dumps/saxpy-gfx90a-O0");
    // Lane 17 has i = 1017; lane 30 is inactive at the fault; `$lane` is of lanescope alone.
    let lines = "lane 17 i == 1017\nlane 30 n == 1024\nlane 17 i - $lane == 1000\nat saxpy saxpy.hip:54\n";
    fs::write(&file, format!("dump {}\nwave faulted\n{lines}", dump.display())).unwrap();
    let (_, json) = check(&file, "gdb");
    let opinion = &json["files"][0]["dumps"][0]["opinion"];
    assert_eq!((&opinion["same"], &opinion["differing"]), (&2.into(), &Value::from([0; 0])), "{json:#}");
    let not_asked: Vec<u64> =
        opinion["not_asked"].as_array().unwrap().iter().map(|one| one["line"].as_u64().unwrap()).collect();
    assert_eq!(not_asked, [4, 5]);
    // A gdb whose answer has one other digit.
    let other = "#!/bin/sh\ngdb \"$@\"\nsed -i s/1017/1018/ \"$LANESCOPE_ANSWERS\"\n";
    let other = script(folder.path(), "gdb-other", other);
    let (output, json) = check(&file, other.to_str().unwrap());
    assert_eq!(output.status.code(), Some(2), "{json:#}");
    let dump = &json["files"][0]["dumps"][0];
    assert_eq!(dump["opinion"]["differing"], Value::from([3]));
    let line = &dump["lines"].as_array().unwrap().iter().find(|line| line["line"] == 3).unwrap()["verdict"];
    assert_eq!(line["result"], "not_checked", "{json:#}");
    let problem = line["problem"].as_str().unwrap();
    assert_eq!(problem, "gdb-other shows 1018 in lane 17 of wave 1, lanescope 1017");
}

/// tests/fixtures/logs/README.md: the code object of agent-plain.log is not available, and the log's text has the
/// function and the line. The protocol cannot carry them.
#[test]
fn lines_that_only_a_log_answers_are_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.scope");
    let dump = fixtures_folder().join("logs/agent-plain.log");
    fs::write(&file, format!("dump {}\nat axpy axpy.hip:12\nstack axpy < ...\n", dump.display())).unwrap();
    for debugger in ["gdb", &lldb_name()] {
        let (output, json) = check(&file, debugger);
        assert_eq!(output.status.code(), Some(0), "{debugger}: {json:#}");
        let opinion = &json["files"][0]["dumps"][0]["opinion"];
        assert_eq!((&opinion["same"], &opinion["differing"]), (&0.into(), &Value::from([0; 0])), "{json:#}");
        let not_asked = opinion["not_asked"].as_array().unwrap();
        assert_eq!(not_asked.len(), 2, "{json:#}");
        for line in not_asked {
            assert!(line["reason"].as_str().unwrap().contains("only the text of the log"), "{json:#}");
        }
    }
}

#[test]
fn a_debugger_without_answers_is_an_error_of_the_dump() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crash.scope");
    let dump = fixtures_folder().join("dumps/saxpy-gfx90a-O0");
    fs::write(&file, format!("dump {}\nat saxpy\n", dump.display())).unwrap();
    let silent = script(folder.path(), "gdb-silent", "#!/bin/sh\necho no Python here\n");
    let (output, json) = check(&file, silent.to_str().unwrap());
    assert_eq!(output.status.code(), Some(2), "{json:#}");
    let error = json["files"][0]["dumps"][0]["error"].as_str().unwrap();
    assert!(error.contains("no Python here"), "{error}");
}

/// Also where no line is to be asked.
#[test]
fn a_missing_debugger_is_an_error_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crash.scope");
    let dump = fixtures_folder().join("dumps/saxpy-gfx90a-O0");
    for line in ["at saxpy", "fault memory violation"] {
        fs::write(&file, format!("dump {}\n{line}\n", dump.display())).unwrap();
        let output =
            tool(lanescope()).arg("check").arg(&file).args(["--debugger", "gdb-nowhere"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains("--debugger gdb-nowhere: there is no such program"), "{error}");
    }
}
