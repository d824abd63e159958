//! The table of processors against all processors of the installed LLVM.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::arch::Generation;
use crate::codeobject::{CodeObject, newest_llvm};

/// Runs `llvm-mc` over a source.
fn mc(arguments: &[&str], source: &str) -> (Vec<u8>, String) {
    let mut command = Command::new(newest_llvm("llvm-mc"));
    command.args(["-triple=amdgcn-amd-amdhsa"]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The processors that `-mcpu=help` lists: `gfx90a - Select the gfx90a processor.`
fn processors() -> Vec<String> {
    let (_, help) = mc(&["-mcpu=help"], "");
    let (_, list) = help.split_once("Available CPUs").unwrap();
    let (list, _) = list.split_once("Available features").unwrap();
    let names = list.lines().filter_map(|line| Some(line.trim().split_once(" - ")?.0.trim().to_owned()));
    names.filter(|name| name.starts_with("gfx")).collect()
}

/// An object of each has the number of the table, and a generic processor its version; its family runs it.
#[test]
fn every_processor_of_llvm_is_in_the_table_with_its_number() {
    let (mut generic, mut count) = (Vec::new(), 0);
    for name in processors() {
        let cpu = format!("-mcpu={name}");
        let (object, messages) =
            mc(&[&cpu, "-filetype=obj", "--amdhsa-code-object-version=6"], "s_nop 0\ns_endpgm\n");
        assert!(messages.is_empty(), "{name}: {messages}");
        let object = CodeObject::parse(object).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = object.processor().unwrap_or_else(|| panic!("processor.rs lacks {name}"));
        assert_eq!(found.name, name);
        assert!(found.generation >= Generation::Gfx6, "{name}");
        let version = object.header().generic_version();
        assert_eq!(version, u8::from(name.ends_with("-generic")), "{name}");
        if version > 0 {
            generic.push(name);
        }
        count += 1;
    }
    assert!(count >= 53, "{count} processors");
    for name in ["gfx9", "gfx9-4", "gfx10-1", "gfx10-3", "gfx11", "gfx12"] {
        assert!(generic.contains(&format!("{name}-generic")), "{name}: {generic:?}");
    }
}
