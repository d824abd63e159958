//! Files other than code objects; truncated and damaged code objects.

use super::{objects, parse};
use crate::codeobject::{CodeObject, CodeObjectError, ElfAddress};

fn sound() -> Vec<u8> {
    std::fs::read(&objects()[0]).expect("an object")
}

fn refusal(bytes: Vec<u8>) -> String {
    CodeObject::parse(bytes).expect_err("no code object").to_string()
}

#[test]
fn another_format_is_named() {
    let magic = "not an AMDGPU code object: the magic at file offset 0x0 is";
    assert_eq!(refusal(Vec::new()), format!("{magic} missing (the file is empty), expected 7f 45 4c 46"));
    assert_eq!(refusal(b"PK\x03\x04".to_vec()), format!("{magic} 50 4b 03 04, expected 7f 45 4c 46"));
    let bundle = b"__CLANG_OFFLOAD_BUNDLE__\0\0\0".to_vec();
    assert!(refusal(bundle).contains("an offload bundle's (unbundle it first)"));
    let with = |offset: usize, byte: u8| {
        let mut bytes = sound();
        bytes[offset] = byte;
        refusal(bytes)
    };
    assert!(with(4, 1).contains("ELF class at file offset 0x4 is 1, expected 2 (64-bit)"));
    assert!(with(5, 2).contains("ELF data encoding at file offset 0x5 is 2, expected 1"));
    assert!(with(18, 62).contains("e_machine at file offset 0x12 is 62, expected 224 (AMDGPU)"));
    assert!(with(7, 0).contains("OS ABI at file offset 0x7 is 0, expected 64 (AMDGPU_HSA)"));
}

#[test]
fn a_cut_file_keeps_what_it_has() {
    let whole = sound();
    let sections = u64::from_le_bytes(whole[40..48].try_into().expect("e_shoff")) as usize;
    let object = CodeObject::parse(whole[..sections].to_vec()).expect("headers are there");
    // Only the sections of the dynamic linker are left.
    let left: Vec<&str> = object.sections().iter().map(|section| section.name.as_str()).collect();
    assert_eq!(left, ["", ".dynsym", ".dynstr"]);
    let expected = CodeObjectError::Truncated {
        what: "section headers".to_owned(),
        offset: sections as u64,
        needed: 64,
        have: 0,
    };
    assert_eq!(object.problems(), [expected]);
    // Segments, notes and code do not need sections.
    let full = CodeObject::parse(whole.clone()).expect("a code object");
    assert_eq!(object.build_id(), full.build_id());
    assert_eq!(object.metadata(), full.metadata());
    let text = full.text().expect("code");
    assert!(object.bytes_at(text.start, 4).is_some());
    assert_eq!(
        CodeObject::parse(whole[..70].to_vec())
            .expect_err("no program headers")
            .to_string()
            .split(" needs")
            .next(),
        Some("program headers at file offset 0x40")
    );
}

#[test]
fn a_section_past_the_end_is_an_error_with_its_place() {
    let mut bytes = sound();
    let object = CodeObject::parse(bytes.clone()).expect("a code object");
    let index =
        object.sections().iter().position(|section| section.name == ".debug_info").expect("a section");
    let header = u64::from_le_bytes(bytes[40..48].try_into().expect("e_shoff")) as usize + index * 64;
    bytes[header + 32..header + 40].copy_from_slice(&u64::MAX.to_le_bytes());
    let damaged = CodeObject::parse(bytes).expect("a code object");
    let error = damaged.section_bytes(".debug_info").expect_err("too long");
    assert!(error.to_string().starts_with(".debug_info at file offset 0x"), "{error}");
}

#[test]
fn unpacked_sections_are_the_same() {
    let by_name = |name: &str| objects().into_iter().find(|path| path.ends_with(name)).expect(name);
    let plain = parse(&by_name("gfx90a-O2.hsaco"));
    for packed in ["gfx90a-O2-zlib.hsaco", "gfx90a-O2-zstd.hsaco"] {
        let packed = parse(&by_name(packed));
        let compressed = packed.sections().iter().filter(|section| section.is_compressed());
        let names: Vec<&str> = compressed.map(|section| section.name.as_str()).collect();
        assert!(names.contains(&".debug_loclists"));
        for name in names {
            assert_eq!(packed.section_bytes(name), plain.section_bytes(name), "{name}");
        }
    }
}

#[test]
fn a_claim_to_unpack_too_far_is_refused_before_memory_is_reserved() {
    let path = objects().into_iter().find(|path| path.ends_with("gfx90a-O2-zlib.hsaco")).expect("an object");
    let mut bytes = std::fs::read(&path).expect("a file");
    let object = parse(&path);
    let section = object.section(".debug_info").expect("a section");
    let size = section.offset as usize + 8;
    bytes[size..size + 8].copy_from_slice(&(1u64 << 60).to_le_bytes());
    let damaged = CodeObject::parse(bytes).expect("a code object");
    let error = damaged.section_bytes(".debug_info").expect_err("a bomb").to_string();
    assert!(error.contains("claims 1152921504606846976 bytes"), "{error}");
}

#[test]
fn parses_at_any_alignment() {
    let mut bytes = vec![0];
    bytes.extend(sound());
    let shifted = crate::codeobject::Bytes::from(bytes);
    let shifted = shifted.slice(1..shifted.len()).expect("a part");
    let object = CodeObject::parse(shifted).expect("a code object");
    assert_eq!(object.symbols(), CodeObject::parse(sound()).expect("a code object").symbols());
    assert_eq!(object.bytes_at(ElfAddress(u64::MAX), 1), None);
    assert_eq!(object.bytes_at(ElfAddress(0), u64::MAX), None);
}
