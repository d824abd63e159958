use super::{Format, format};

/// The first 18 bytes of an ELF file: class, data, type (System V gABI, "ELF Header").
fn elf(class: u8, data: u8, kind: u8) -> Vec<u8> {
    let mut start = b"\x7fELF".to_vec();
    start.extend([class, data, 1]);
    start.resize(16, 0);
    start.extend([kind, 0]);
    start
}

#[test]
fn a_format_is_told_by_content() {
    assert_eq!(format(b"PK\x03\x04 rest"), Ok(Format::Zip));
    assert_eq!(format(b"format = 1\n"), Ok(Format::Manifest));
    assert_eq!(format(b""), Ok(Format::Manifest));
    assert_eq!(format(&elf(2, 1, 4)), Ok(Format::Core));
}

#[test]
fn what_is_not_read_is_said() {
    assert_eq!(format(&elf(2, 1, 3)), Err("an ELF file, but no core: a program, library or code object"));
    assert_eq!(format(&elf(1, 1, 4)), Err("a 32-bit ELF file"));
    assert_eq!(format(&elf(2, 2, 4)), Err("a big-endian ELF file"));
    assert_eq!(format(b"\x7fELF\x02\x01"), Err("the first bytes of an ELF file"));
    assert_eq!(format(b"\x7fELF\x09\x01"), Err("a damaged ELF file"));
    assert_eq!(format(b"\x1f\x8b\x08"), Err("a gzip file"));
    assert_eq!(format(b"text \0 text"), Err("a binary file"));
}
