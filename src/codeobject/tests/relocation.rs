//! Relocations: each type against the table of AMDGPUUsage; compiler output against llvm-dwarfdump and llvm-readelf.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::newest_llvm;
use crate::codeobject::{CodeObject, SymbolKind};

/// Returns a tool's output for a text.
fn built(name: &str, tool: &str, arguments: &[&str], text: &str) -> (Vec<u8>, PathBuf) {
    let output = std::env::temp_dir().join(format!("lanescope-{}-{name}.o", std::process::id()));
    let mut command = Command::new(newest_llvm(tool));
    command.args(arguments).arg("-o").arg(&output).arg("-").stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the tool runs");
    child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("written");
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    (std::fs::read(&output).expect("its output"), output)
}

fn assembled(name: &str, text: &str, more: &[&str]) -> CodeObject {
    let target = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj"];
    let arguments: Vec<&str> = target.iter().chain(more).copied().collect();
    let (bytes, path) = built(name, "llvm-mc", &arguments, text);
    std::fs::remove_file(path).expect("removed");
    CodeObject::parse(bytes).expect("a code object")
}

/// `there` is at offset 8 of `.text`; each field is at 8 * its type in a section of 0xee bytes.
const TYPES: &str = r#"
    .text
    .long 0, 0
there:
    .long 0
    .globl elsewhere
    .amdgpu_lds shared, 16, 8
    .section .debug_test,"",@progbits
    .fill 128, 1, 0xee
    .reloc 0, R_AMDGPU_NONE, there
    .reloc 8, R_AMDGPU_ABS32_LO, there+0x100000002
    .reloc 16, R_AMDGPU_ABS32_HI, there+0x700000002
    .reloc 24, R_AMDGPU_ABS64, there+0x1122334455667788
    .reloc 32, R_AMDGPU_REL32, there+1
    .reloc 40, R_AMDGPU_REL64, there+1
    .reloc 48, R_AMDGPU_ABS32, there+3
    .reloc 56, R_AMDGPU_GOTPCREL, there
    .reloc 64, R_AMDGPU_GOTPCREL32_LO, there
    .reloc 72, R_AMDGPU_GOTPCREL32_HI, there
    .reloc 80, R_AMDGPU_REL32_LO, there
    .reloc 88, R_AMDGPU_REL32_HI, there
    .reloc 104, R_AMDGPU_RELATIVE64, there
    .reloc 112, R_AMDGPU_REL16, there
    .reloc 96, R_AMDGPU_ABS64, elsewhere
    .reloc 120, R_AMDGPU_ABS32, there+0x100000000
    .reloc 124, R_AMDGPU_ABS64, there
    .reloc 12, R_AMDGPU_ABS32, shared
"#;

#[test]
fn each_type_is_computed_by_the_table() {
    let object = assembled("types", TYPES, &[]);
    let bytes = object.section_bytes(".debug_test").expect("sound").expect("there");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let wide = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    // S = 8, A from the source, P the field's offset.
    assert_eq!(wide(0), 0xeeee_eeee_eeee_eeee, "NONE");
    assert_eq!(word(8), 8 + 2, "ABS32_LO");
    assert_eq!(word(16), 7, "ABS32_HI");
    assert_eq!(wide(24), 0x1122_3344_5566_7790, "ABS64");
    assert_eq!(word(32), (8i32 + 1 - 32) as u32, "REL32");
    assert_eq!(wide(40), (8i64 + 1 - 40) as u64, "REL64");
    assert_eq!(word(48), 11, "ABS32");
    assert_eq!(word(80), (8i32 - 80) as u32, "REL32_LO");
    assert_eq!(word(88), u32::MAX, "REL32_HI: the upper half of 8 - 88");
    for kept in [12, 20, 36, 52, 56, 64, 72, 84, 92, 96, 100, 104, 108, 112, 120, 124] {
        assert_eq!(word(kept), 0xeeee_eeee, "nothing was written at {kept}");
    }
    let problems: Vec<String> =
        object.relocation_problems(".debug_test").iter().map(ToString::to_string).collect();
    let said = |what: &str| problems.iter().any(|problem| problem.starts_with(what));
    assert!(said("R_AMDGPU_GOTPCREL at offset 0x38 of section .debug_test: a debug section has no place"));
    assert!(said("R_AMDGPU_GOTPCREL32_LO at offset 0x40 of section .debug_test"));
    assert!(said("R_AMDGPU_GOTPCREL32_HI at offset 0x48 of section .debug_test"));
    assert!(said("R_AMDGPU_RELATIVE64 at offset 0x68 of section .debug_test: only a loaded image"));
    assert!(said("R_AMDGPU_REL16 at offset 0x70 of section .debug_test: it is a branch's distance"));
    assert!(said(
        "R_AMDGPU_ABS64 at offset 0x60 of section .debug_test: symbol `elsewhere` is defined in another"
    ));
    assert!(said("R_AMDGPU_ABS32 at offset 0x78 of section .debug_test: the value 0x100000008 does not fit"));
    assert!(said(
        "R_AMDGPU_ABS64 at offset 0x7c of section .debug_test: its field of 8 bytes leaves the section"
    ));
    assert!(said(
        "R_AMDGPU_ABS32 at offset 0xc of section .debug_test: symbol `shared` has no address in LDS"
    ));
    assert_eq!(problems.len(), 9, "{problems:?}");
    let shared = object.symbol("shared").expect("the LDS symbol");
    assert_eq!((shared.kind, shared.size, shared.value), (SymbolKind::Lds, 16, 8));
}

const KERNEL: &str = "
__attribute__((noinline)) int add(int a, int b) { return a + b; }
__kernel void first(__global int *p, int n) { for (int i = 0; i < n; i++) p[i] = add(p[i], i); }
__kernel void second(__global int *p) { p[0] = add(p[1], 2); }
";

fn compiled(name: &str, more: &[&str]) -> (CodeObject, PathBuf) {
    let common = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-g", "-O1", "-x", "cl", "-c"];
    let arguments: Vec<&str> = common.iter().chain(more).copied().collect();
    let (bytes, path) = built(name, "clang", &arguments, KERNEL);
    (CodeObject::parse(bytes).expect("a code object"), path)
}

/// Functions with their addresses, and the line of each first instruction.
#[test]
fn a_compilers_own_output_has_the_dwarf_that_dwarfdump_reads() {
    let (object, path) = compiled("dwarf", &[]);
    assert!(object.header().is_relocatable());
    let output = Command::new(newest_llvm("llvm-dwarfdump")).arg("--debug-info").arg(&path).output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("text");
    std::fs::remove_file(path).expect("removed");
    let values = |name: &str| -> Vec<String> {
        let rows = text.lines().filter_map(|line| line.trim_start().strip_prefix(name));
        rows.map(|row| row.trim_matches(|c: char| c.is_whitespace() || "()\"".contains(c)).to_owned())
            .collect()
    };
    let low: Vec<u64> = values("DW_AT_low_pc")
        .iter()
        .map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("an address"))
        .collect();
    let debug = crate::debuginfo::DebugInfo::new(Arc::new(object)).expect("DWARF");
    let unit = crate::debuginfo::UnitId(0);
    let mut ours: Vec<u64> = Vec::new();
    let mut names = Vec::new();
    for die in debug.functions(unit).expect("functions") {
        let function = debug.function(die).expect("a function");
        ours.push(function.low_pc().expect("an address").0);
        names.push(function.subprogram.name.as_deref().expect("a name").to_owned());
    }
    assert!(ours.len() >= 3, "{ours:?}");
    for address in &ours {
        assert!(low.contains(address), "{address:#x} of {ours:?}, dwarfdump has {low:?}");
    }
    let all = values("DW_AT_name");
    for name in ["add", "first", "second"] {
        assert!(names.iter().any(|found| found == name) && all.iter().any(|found| found == name), "{name}");
    }
    let line = debug.line_at(crate::codeobject::ElfAddress(*ours.iter().max().unwrap())).expect("lines");
    assert!(line.is_some_and(|row| (2..=4).contains(&row.place.line)));
}

/// A section has the same contents compressed or not, after unpacking and relocation.
#[test]
fn compressed_sections_are_relocated_too() {
    let (plain, path) = compiled("plain", &[]);
    std::fs::remove_file(path).expect("removed");
    for method in ["-gz=zlib", "-gz=zstd"] {
        let (packed, path) = compiled(&method[4..], &[method]);
        std::fs::remove_file(path).expect("removed");
        let mut compressed = 0;
        for section in packed.sections().iter().filter(|section| section.name.starts_with(".debug_")) {
            compressed += usize::from(section.is_compressed());
            let name = &section.name;
            assert_eq!(packed.section_bytes(name), plain.section_bytes(name), "{method} {name}");
            assert!(packed.relocation_problems(name).is_empty());
        }
        assert!(compressed > 0, "{method} compressed nothing");
    }
}

/// GNU's older form of a compressed section: another name, `ZLIB`, a big-endian size.
#[test]
fn zdebug_sections_are_found_by_their_plain_name() {
    let path = super::objects().into_iter().find(|path| path.ends_with("gfx90a-O2-zlib.hsaco")).expect("one");
    let mut bytes = std::fs::read(path).expect("a file");
    let sound = CodeObject::parse(bytes.clone()).expect("a code object");
    let expected = sound.section_bytes(".debug_info").expect("sound").expect("there");
    let index = |name: &str| sound.sections().iter().position(|section| section.name == name).expect(name);
    let read = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let headers = read(&bytes, 40) as usize;
    let (names, info) = (headers + index(".shstrtab") * 64, headers + index(".debug_info") * 64);
    // New section names, with one more at their end.
    let (old, size) = (read(&bytes, names + 24) as usize, read(&bytes, names + 32) as usize);
    let mut strings = bytes[old..old + size].to_vec();
    let name = strings.len() as u32;
    strings.extend(b".zdebug_info\0");
    let at = bytes.len() as u64;
    bytes.extend(&strings);
    let mut write = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    write(names + 24, &at.to_le_bytes());
    write(names + 32, &(strings.len() as u64).to_le_bytes());
    // The header of 24 bytes becomes 12 bytes of padding and GNU's header.
    let section = &sound.sections()[index(".debug_info")];
    write(info, &name.to_le_bytes());
    write(info + 8, &0u64.to_le_bytes());
    write(info + 24, &(section.offset + 12).to_le_bytes());
    write(info + 32, &(section.size - 12).to_le_bytes());
    let start = section.offset as usize + 12;
    write(start, b"ZLIB");
    write(start + 4, &(expected.len() as u64).to_be_bytes());
    let older = CodeObject::parse(bytes).expect("a code object");
    assert!(older.section(".zdebug_info").is_some_and(|section| section.is_compressed()));
    assert_eq!(older.section_bytes(".debug_info"), Ok(Some(expected)));
}
