//! Stacks of Triton's kernels in stock debuggers: lines of the Python source, and the name of an inlined helper.

use std::path::Path;

use super::harness::{Server, lldb_name};
use super::script::{Debugger, Script};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/compilers/triton");

/// Parts of the stacks of the waves 1 (in the inlined helper) and 2 (in a function), by the Python source.
/// The view has no unit for the function, so debuggers have its symbol without a line.
const STACKS: [(u64, &[&str]); 2] = [
    (1, &["softmax_kernel[helper]", "softmax.py:10", "softmax_kernel", "softmax.py:22"]),
    (2, &["softmax.scaled", "softmax_kernel", "softmax.py:24"]),
];

fn shows_the_source(debugger: &Debugger, dump: &str) {
    let server = Server::start(&Path::new(FOLDER).join(dump), &[]);
    let mut script = Script::new(dump);
    let is_gdb = matches!(debugger, Debugger::Gdb(_));
    script.say(format!("{} {}", if is_gdb { "target remote" } else { "gdb-remote" }, server.address));
    for (wave, parts) in STACKS {
        let number = format!("lldb.process.GetThreadByID({wave}).GetIndexID()");
        let chosen = format!("script lldb.debugger.HandleCommand('thread select %d' % {number})");
        script.say(if is_gdb { format!("thread {wave}") } else { chosen });
        script.check(format!("wave {wave}"), "bt", move |text| {
            let mut rest = text;
            for part in parts {
                rest = rest.split_once(part).ok_or_else(|| format!("no {part} in {text}"))?.1;
            }
            Ok(())
        });
    }
    script.must_pass(debugger);
    server.finish();
}

#[test]
fn gdb_shows_the_python_lines_of_triton() {
    for dump in ["softmax-gfx942.zip", "softmax-gfx1201.zip"] {
        shows_the_source(&Debugger::Gdb("gdb"), dump);
    }
}

#[test]
fn lldb_shows_the_python_lines_of_triton() {
    shows_the_source(&Debugger::Lldb(lldb_name()), "softmax-gfx942.zip");
}
