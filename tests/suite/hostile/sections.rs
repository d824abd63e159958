//! Sections that are small in the file, and metadata notes.

use super::SOME;
use super::dwarf::Dies;
use super::elf::{Section, code_object, zeros};
use super::run::Hostile;

const DEBUG: [&str; 8] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_str",
    ".debug_line",
    ".debug_line_str",
    ".debug_loclists",
    ".debug_rnglists",
    ".debug_addr",
];

/// 8 sections of 800 MB, each of 800 KB in the file.
#[test]
fn sections_that_unpack_to_gigabytes() {
    let (zlib, size) = zeros((800 << 20) / 258);
    assert!(size > 838_000_000 && zlib.len() < 900_000, "{size} of {}", zlib.len());
    let sections = DEBUG.map(|name| Section::compressed(name, &zlib, size));
    let said = Hostile::with_code(&code_object(sections.into())).each(&SOME);
    said.prints("code-object", "claims").prints("info", "claims");
    // The limit's size, many times.
    let (zlib, size) = zeros((100 << 20) / 258);
    let sections = DEBUG.map(|name| Section::compressed(name, &zlib, size));
    let said = Hostile::with_code(&code_object(sections.into())).each(&SOME);
    said.prints("code-object", "claims");
}

/// Five files of 190 MiB unpacked, more than the bound of a dump: the one that a wave runs is read, also by a question
/// about all.
#[test]
fn files_that_waves_run_unpack_first() {
    let (zlib, size) = zeros((190 << 20) / 258);
    let mut dies = Dies::new();
    let int = dies.int();
    dies.function();
    dies.variable("v", int);
    dies.close(2);
    let mut sections = dies.sections();
    sections.push(Section::compressed(".debug_str", &zlib, size));
    // A file unpacks to at most 64 times its size.
    sections.push(Section::new(".pad", vec![0; 3 << 20]));
    let hostile = Hostile::with_objects(&code_object(sections), 5, 1);
    hostile.keep_last_wave();
    let said = hostile.each(&["objects DUMP", "locals DUMP"]);
    said.prints("locals", "v = 7").counts("objects DUMP", "all code objects", 1);
    said.prints("objects", "code3.hsaco: ").lacks("code4.hsaco: ");
}

/// Consecutive compressed bundles (clang-offload-bundler, "Compression"): version 3, zlib, 64-bit sizes.
#[test]
fn bundles_that_unpack_to_gigabytes() {
    let (zlib, size) = zeros((800 << 20) / 258);
    let mut bundle = b"CCOB\x03\0\0\0".to_vec();
    bundle.extend((32 + zlib.len() as u64).to_le_bytes());
    bundle.extend(size.to_le_bytes());
    bundle.extend([0; 8]);
    bundle.extend(zlib);
    let hostile = Hostile::with_code(&bundle.repeat(8));
    hostile
        .each(&["code-object CODE", "code-object --json CODE", "info DUMP"])
        .prints("code-object", "claims");
}

/// MessagePack (AMDGPUUsage, "Code Object V3+ Metadata"): nested arrays, and an array of many values.
#[test]
fn metadata_in_messagepack() {
    for (contents, says) in [
        (vec![0x91; 1_000_000], "nests deeper than 512"),
        (
            [&[0xdd][..], &4_300_000u32.to_be_bytes(), &vec![0xc0; 4_300_000]].concat(),
            "more than 4194304 values",
        ),
        (
            [&[0xdf][..], &4_300_000u32.to_be_bytes(), &vec![0xc0; 8_600_000]].concat(),
            "more than 4194304 values",
        ),
    ] {
        let object = code_object(vec![Section::note(b"AMDGPU", 32, &contents)]);
        let said = Hostile::with_code(&object).each(&["info DUMP", "arguments DUMP", "code-object CODE"]);
        said.prints("code-object", says);
    }
}

/// YAML (AMDGPUUsage, "Code Object V2 Metadata"): nested lists by indentation and by brackets, and many of them.
#[test]
fn metadata_in_yaml() {
    for (contents, says) in [
        ("- ".repeat(1_000_000), "nests deeper than 512"),
        // The parser's own limit.
        ("[".repeat(1_000_000), "recursion limit exceeded"),
        ("{a: ".repeat(500_000), "recursion limit exceeded"),
        (format!("[{}]", "a,".repeat(1_000_000)), ".note"),
        ("- a\n".repeat(4_300_000), "expected at most 16777216"),
    ] {
        let object = code_object(vec![Section::note(b"AMD", 10, contents.as_bytes())]);
        let said = Hostile::with_code(&object).each(&["info DUMP", "arguments DUMP", "code-object CODE"]);
        said.prints("code-object", says);
    }
}

/// Many sections over the same bytes: relocations, notes.
#[test]
fn sections_that_overlap() {
    for kind in [4, 7] {
        let mut sections = vec![Section::new(".data", vec![1; 1_500_000])];
        sections.extend((0..20_000).map(|_| Section::over(".x", 0, kind)));
        let hostile = Hostile::with_code(&code_object(sections));
        hostile
            .each(&["info DUMP", "code-object CODE", "code-object --json CODE"])
            .prints("code-object", ".x");
    }
}

/// A host program with many sections of code objects over the same bytes.
#[test]
fn sections_of_a_host_program_that_overlap() {
    for name in [".hip_fatbin", ".llvm.offloading"] {
        let mut sections = vec![Section::new(".data", vec![1; 1_500_000])];
        sections.extend((0..20_000).map(|_| Section::over(name, 0, 1)));
        let mut program = code_object(sections);
        // EM_X86_64.
        program[18..20].copy_from_slice(&62u16.to_le_bytes());
        let said = Hostile::with_code(&program).each(&["info DUMP", "code-object CODE"]);
        said.prints("code-object", "it overlaps other sections with code objects");
    }
}
