//! Offload bundles from Clang's bundler, and hand-made ones for variants that it cannot write.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::newest_llvm;
use crate::codeobject::{Bytes, CodeObjectError, FatFile, MAX_UNPACKED};

const IDS: [&str; 3] = [
    "host-x86_64-unknown-linux-gnu-",
    "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
    "hipv4-amdgcn-amd-amdhsa--gfx1100",
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code").join(name)
}

fn inputs() -> [PathBuf; 2] {
    [fixture("saxpy-gfx90a-O0.hsaco"), fixture("saxpy-gfx1100-O2.hsaco")]
}

/// A bundle of two fixtures, compressed in the format `version` if given.
fn bundle(name: &str, version: Option<&str>) -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("lanescope-fat-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (empty, output) = (folder.join("empty"), folder.join("bundle"));
    std::fs::write(&empty, []).expect("a file");
    let mut command = Command::new(newest_llvm("clang-offload-bundler"));
    command.args(["--type=o", "--bundle-align=4096"]);
    let targets = format!("--targets={},{},{}", IDS[0], IDS[1], IDS[2]);
    command.arg(targets).arg(format!("--input={}", empty.display()));
    for input in inputs() {
        command.arg(format!("--input={}", input.display()));
    }
    if let Some(version) = version {
        command.arg("--compress").env("COMPRESSED_BUNDLE_FORMAT_VERSION", version);
    }
    command.arg(format!("--output={}", output.display()));
    assert!(command.status().expect("the bundler runs").success());
    let bytes = std::fs::read(&output).expect("a bundle");
    std::fs::remove_dir_all(folder).expect("removed");
    bytes
}

fn read(bytes: Vec<u8>) -> FatFile {
    FatFile::read(&Bytes::from(bytes)).expect("a bundle")
}

/// Checks the three entries of [`bundle`], from `first` on.
fn is_whole(fat: &FatFile, first: usize) {
    assert_eq!(fat.problems, []);
    let entries = &fat.entries[first..first + 3];
    let ids: Vec<_> = entries.iter().map(|entry| entry.id.as_deref().expect("an ID")).collect();
    assert_eq!(ids, IDS);
    assert!(entries[0].bytes.is_empty());
    for (entry, input) in entries[1..].iter().zip(inputs()) {
        assert_eq!(&*entry.bytes, std::fs::read(input).expect("a fixture"));
    }
    assert_eq!(entries[1].target_id(), Some("gfx90a:sramecc+:xnack-"));
    assert_eq!((entries[1].processor(), entries[1].offload_kind()), (Some("gfx90a"), Some("hipv4")));
    assert_eq!(entries[0].target_id(), None);
}

/// zlib without compression (RFC 1950, RFC 1951 section 3.2.4).
fn stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let mut chunks = data.chunks(0xffff).peekable();
    while let Some(chunk) = chunks.next() {
        out.push(u8::from(chunks.peek().is_none()));
        let length = chunk.len() as u16;
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(chunk);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for byte in data {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    out.extend((b << 16 | a).to_be_bytes());
    out
}

/// A compressed bundle with a header by "Compression and Decompression" of the bundler's documentation.
fn packed(version: u16, method: u16, size: u64, data: &[u8]) -> Vec<u8> {
    let mut out = b"CCOB".to_vec();
    out.extend(version.to_le_bytes());
    out.extend(method.to_le_bytes());
    let total = |header: usize| (header + data.len()) as u64;
    match version {
        1 => out.extend((size as u32).to_le_bytes()),
        2 => {
            out.extend((total(24) as u32).to_le_bytes());
            out.extend((size as u32).to_le_bytes());
        }
        _ => {
            out.extend(total(32).to_le_bytes());
            out.extend(size.to_le_bytes());
        }
    }
    out.extend([0; 8]);
    out.extend(data);
    out
}

#[test]
fn bundles_of_clang_are_read() {
    is_whole(&read(bundle("plain", None)), 0);
    let (second, third) = (bundle("v2", Some("2")), bundle("v3", Some("3")));
    assert_eq!((second[4], third[4]), (2, 3), "the bundler wrote the versions that were asked for");
    is_whole(&read(second), 0);
    is_whole(&read(third), 0);
}

#[test]
fn every_version_and_method_is_read() {
    let plain = bundle("methods", None);
    let size = plain.len() as u64;
    let zstd = bundle("zstd", Some("2"))[24..].to_vec();
    for version in 1..=3 {
        is_whole(&read(packed(version, 0, size, &stored(&plain))), 0);
        is_whole(&read(packed(version, 1, size, &zstd)), 0);
    }
}

#[test]
fn bundles_in_a_row_are_all_read() {
    let (plain, second) = (bundle("row", None), bundle("row2", Some("2")));
    let first = packed(1, 0, plain.len() as u64, &stored(&plain));
    let mut row = plain.clone();
    row.resize(row.len().next_multiple_of(4096), 0);
    let places = [row.len(), row.len() + second.len()];
    row.extend(&second);
    row.extend(&first);
    row.extend(&second);
    let fat = read(row.clone());
    assert_eq!(fat.entries.len(), 12, "{:?}", fat.problems);
    for first in [0, 3, 6, 9] {
        is_whole(&fat, first);
    }
    let at = |index: usize| fat.entries[index].compressed_at;
    assert_eq!([at(0), at(3), at(6)], [None, Some(places[0] as u64), Some(places[1] as u64)]);
    assert!(fat.entry("gfx1100").is_some_and(|entry| entry.index == 2));
    assert!(fat.entry("amdgcn-amd-amdhsa--gfx1100").is_some_and(|entry| entry.index == 2));
    assert!(fat.entry("7").is_some_and(|entry| entry.id.as_deref() == Some(IDS[1])));
    assert!(fat.entry("gfx942").is_none());
    // Bundles behind the one of the entry are not read, even one that claims too much.
    row.extend(packed(3, 1, MAX_UNPACKED, &[0; 64]));
    let up_to = |asked: &str| FatFile::read_up_to(&Bytes::from(row.clone()), asked).expect("a bundle");
    for (asked, entries, index) in [("gfx1100", 3, Some(2)), ("7", 9, Some(7)), ("11", 12, Some(11))] {
        let fat = up_to(asked);
        assert_eq!((fat.entries.len(), &fat.problems[..]), (entries, &[][..]), "{asked}");
        assert_eq!(fat.entry(asked).map(|entry| entry.index), index);
    }
    assert_eq!((up_to("gfx942").entries.len(), up_to("gfx942").problems.len()), (12, 1));
}

#[test]
fn what_is_damaged_is_a_problem_with_its_place() {
    let whole = bundle("damaged", None);
    let cut = read(whole[..whole.len() - 1].to_vec());
    assert_eq!(cut.entries.len(), 2);
    let problem = cut.problems[0].to_string();
    assert!(problem.starts_with("entry hipv4-amdgcn-amd-amdhsa--gfx1100 at file offset 0x5000"), "{problem}");
    let problems = |bytes: Vec<u8>| read(bytes).problems.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut far = vec![0; 16];
    far.extend(packed(2, 0, 5, &stored(b"hello")));
    let mut named = whole.clone();
    named.extend(&far);
    let expected =
        "compressed offload bundle at file offset 0x71e0: its unpacked content is no offload bundle";
    assert_eq!(problems(named), [expected]);
    assert!(problems(packed(4, 0, 1, &[]))[0].contains("version 4, expected 1, 2 or 3"));
    assert!(problems(packed(2, 7, 1, &[]))[0].contains("method 7, expected 0 (zlib) or 1 (zstd)"));
    // The limit of a small file is 1 MiB and 64 times its size: 96 bytes here.
    let bomb = packed(3, 1, MAX_UNPACKED, &[0; 64]);
    assert!(problems(bomb)[0].contains("claims 805306368 bytes; the bound leaves 1054720"));
    assert!(problems(packed(3, 1, (1 << 20) + 64 * 96 + 1, &[0; 64]))[0].contains("claims 1054721 bytes"));
    assert!(!problems(packed(3, 1, (1 << 20) + 64 * 96, &[0; 64]))[0].contains("claims"));
    // Hostile counts and lengths cost nothing.
    let mut many = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    many.extend(u64::MAX.to_le_bytes());
    many.extend([0; 24]);
    assert!(problems(many.clone())[0].contains("offload bundle's table"));
    many[48..56].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(problems(many)[0].contains("expected at most 1024"));
    // A bundle that contains itself compressed is read one level deep.
    let nested = packed(2, 0, whole.len() as u64, &stored(&whole));
    let mut table = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    table.extend([0; 8]);
    table.extend(&nested);
    let outer = packed(2, 0, table.len() as u64, &stored(&table));
    assert!(problems(outer)[0].contains("a compressed bundle in a compressed bundle"));
}

#[test]
fn host_programs_and_code_objects_are_distinguished() {
    let host = std::fs::read(std::env::current_exe().expect("this test")).expect("an ELF file");
    let error = FatFile::read(&Bytes::from(host)).expect_err("no code objects");
    assert!(matches!(error, CodeObjectError::Identity { what: "e_machine", .. }), "{error}");
    let code = std::fs::read(&inputs()[0]).expect("a fixture");
    let fat = read(code.clone());
    assert_eq!((fat.entries.len(), &fat.entries[0].id), (1, &None));
    assert_eq!(&*fat.entries[0].bytes, code);
    assert!(FatFile::read(&Bytes::from(b"hello".to_vec())).is_err());
}
