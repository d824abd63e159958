//! One whole session of each client with the demo, as the exact text for the user. `BLESS=1` rewrites the text, for a
//! review before the commit. Other tests compare its values with the models.

use std::fs;
use std::path::Path;

use super::harness::{Server, lldb_name};
use super::model::fixtures_folder;
use super::script::Debugger;

const GDB: &[&str] = &[
    "target remote SERVER",
    "info threads",
    "bt",
    "info args",
    "info locals",
    "p sample",
    "p &sample",
    "p *x@4",
    "p x[i]",
    "ptype sample",
    "whatis window",
    "p $lane",
    "set var $lane = 17",
    "p i",
    "monitor lane",
    "thread 2",
    "bt",
    "p $v0",
    "set var first = 5",
    "p first",
    "monitor changes",
    "next",
    "x/4xw y",
    "info symbol saxpy",
    "info sharedlibrary",
    "detach",
];

const LLDB: &[&str] = &[
    "gdb-remote SERVER",
    "thread list",
    "bt",
    "frame variable",
    "frame variable sample.taps",
    "frame variable x[0]",
    "expression first + stride",
    "register read lane pc exec",
    "register write lane 17",
    "frame variable i",
    "process plugin packet monitor lane",
    // The time of `thread select`'s output varies.
    "script lldb.process.SetSelectedThreadByID(2)",
    "bt",
    "expression first = 5",
    "frame variable first",
    "process plugin packet monitor changes",
    "thread step-over",
    "memory read --size 4 --format x --count 4 0x7f0000300000",
    "detach",
];

#[test]
fn gdb_reads_as_it_did() {
    compare(&Debugger::Gdb("gdb"), "gdb", GDB);
}

#[test]
fn gdb_multiarch_reads_as_gdb_does() {
    compare(&Debugger::Gdb("gdb-multiarch"), "gdb", GDB);
}

#[test]
fn lldb_reads_as_it_did() {
    compare(&Debugger::Lldb(lldb_name()), "lldb", LLDB);
}

fn compare(debugger: &Debugger, name: &str, commands: &[&str]) {
    // From the repository's folder: the greeting contains the name and is wrapped.
    let server = Server::start(Path::new("tests/fixtures/demo.zip"), &[]);
    let commands: Vec<String> =
        commands.iter().map(|command| command.replace("SERVER", &server.address)).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let (_, transcript) = debugger.run(&commands);
    let answers = debugger.answers(&commands, &transcript);
    assert_eq!(answers.len(), commands.len(), "{transcript}");
    let mut text = String::new();
    for (command, answer) in commands.iter().zip(&answers) {
        text.push_str(&format!("({name}) {command}\n{}\n", answer.trim_end()));
    }
    let text = steady(&text, &server.address);
    server.finish();
    let path = fixtures_folder().parent().unwrap().join("clients/golden").join(format!("{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    let differs = expected.lines().zip(text.lines()).find(|(expected, got)| expected != got);
    assert!(expected == text, "{}: {differs:?}; now it reads\n{text}", path.display());
}

/// Removes text that differs by run and machine: the port, the folder, and trailing spaces.
fn steady(text: &str, address: &str) -> String {
    let root = env!("LANESCOPE_ROOT");
    let text = text.replace(address, "SERVER").replace(&format!("{root}/"), "");
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
