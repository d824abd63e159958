//! The option, and paths that debuggers have.

use super::*;

#[test]
fn a_program_is_known_by_its_name() {
    for (text, brand) in [
        ("gdb", Brand::Gdb),
        ("gdb-multiarch", Brand::Gdb),
        ("lldb", Brand::Lldb),
        ("/opt/lldb/lldb-22", Brand::Lldb),
    ] {
        assert_eq!(debugger(text), Ok(Debugger { brand, program: text.into() }));
    }
    for text in ["", "windbg", "/opt/gdb/bin/run"] {
        assert!(debugger(text).is_err(), "{text}");
    }
}

#[test]
fn paths_of_lanescope_alone_are_not_asked() {
    let (gdb, lldb) = (debugger("gdb").unwrap(), debugger("lldb").unwrap());
    assert!(gdb.has_syntax("p->next[i].x") && lldb.has_syntax("p->next[i].x"));
    assert!(gdb.has_syntax("*(p + 1)") && !lldb.has_syntax("*(p + 1)"));
    for path in ["i + $lane", "*p@4"] {
        assert!(!gdb.has_syntax(path) && !lldb.has_syntax(path), "{path}");
    }
}
