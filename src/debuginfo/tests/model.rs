//! Units of another address model than AMDGPU's, assembled by hand: each costs only itself.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::debug_info;
use crate::codeobject::newest_llvm;
use crate::debuginfo::UnitId;

/// DWARF 5 sections 7.5.1.1 and 7.5.3: seven units, and the address tables of two (section 7.27).
const UNITS: &str = r#"
    .section .debug_abbrev,"",@progbits
    .byte 1, 0x11, 0, 0, 0              # unit without attributes
    .byte 2, 0x11, 0, 0x73, 0x17, 0, 0  # unit with DW_AT_addr_base
    .byte 0
    .section .debug_info,"",@progbits
    .long 9; .short 5; .byte 1, 8; .long 0; .byte 1     # 0x00: sound
    .long 9; .short 5; .byte 1, 4; .long 0; .byte 1     # 0x0d: addresses of 4 bytes
    .long 9; .short 5; .byte 1, 3; .long 0; .byte 1     # 0x1a: of 3 bytes, which no parser takes
    .long 8; .short 4; .long 0; .byte 4, 1              # 0x27: version 4, addresses of 4 bytes
    .long 13; .short 5; .byte 1, 8; .long 0; .byte 2; .long 8   # 0x33: a table with segment selectors
    .long 13; .short 5; .byte 1, 8; .long 0; .byte 2; .long 24  # 0x44: a table of 4-byte addresses
    .long 9; .short 5; .byte 1, 8; .long 0; .byte 1     # 0x55: sound
    .section .debug_addr,"",@progbits
    .long 12; .short 5; .byte 8, 4; .quad 0
    .long 12; .short 5; .byte 4, 0; .quad 0
"#;

#[test]
fn other_address_models_cost_their_unit_only() {
    let output = std::env::temp_dir().join(format!("lanescope-model-{}.o", std::process::id()));
    let mut command = Command::new(newest_llvm("llvm-mc"));
    command.args(["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o"]).arg(&output);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("llvm-mc runs");
    // A semicolon begins a comment in AMDGPU's assembly language.
    let code = UNITS.lines().map(|line| line.split('#').next().unwrap_or(""));
    let source: String = code.map(|line| line.replace("; ", "\n") + "\n").collect();
    child.stdin.take().expect("its input").write_all(source.as_bytes()).expect("written");
    assert!(child.wait().expect("it ends").success());
    let info = debug_info(std::fs::read(&output).expect("its output"));
    std::fs::remove_file(output).expect("removed");
    assert_eq!(info.unit_count(), 7);
    assert_eq!(info.problems().len(), 3);
    let said: Vec<String> = (0..7)
        .map(|unit| {
            info.unit(UnitId(unit)).map_or_else(|error| error.to_string(), |unit| unit.offset.to_string())
        })
        .collect();
    let expected = [
        "0x0",
        "address size of the unit at 0xd is 4 at 0x14 of .debug_info, expected 8",
        "address size of the unit at 0x1a is 3 at 0x21 of .debug_info, expected 8",
        "address size of the unit at 0x27 is 4 at 0x31 of .debug_info, expected 8",
        "segment selector size of the unit at 0x33 is 4 at 0x7 of .debug_addr, expected 0",
        "address size of the unit at 0x44 is 4 at 0x16 of .debug_addr, expected 8",
        "0x55",
    ];
    assert_eq!(said, expected);
}
