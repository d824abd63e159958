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

#[test]
fn text_is_told_by_its_lines() {
    let header = "wave_1: pc=0x7f00 (running)\n";
    for (text, format_of_it) in [
        (header.to_owned(), Format::AgentLog),
        (format!("noise\n\x1b[1m{header}"), Format::AgentLog),
        ("1 wavefront(s) found in @PC: 0x10\n".to_owned(), Format::AgentLog),
        ("[WARNING]: x\n\n------\nse0.sh0.cu2.simd0.wave0\n".to_owned(), Format::UmrText),
        ("SE SA WGP SIMD WAVE# WAVE_STATUS PC_HI PC_LO\n".to_owned(), Format::UmrText),
        // The first of two counts.
        (format!("se0.sh0.cu2.simd0.wave0\n{header}"), Format::UmrText),
        (format!("{header}se0.sh0.cu2.simd0.wave0\n"), Format::AgentLog),
        ("{\"answer\": {\"waves\": [".to_owned(), Format::UmrJson),
        ("{\"format\": 1, \"x-note\": \"waves\"}".to_owned(), Format::Manifest),
        ("format = 1\n[provenance]\nnote = \"wave_1: pc\"\n".to_owned(), Format::Manifest),
        ("wave_1 is stopped; simd 4\n".to_owned(), Format::Manifest),
    ] {
        assert_eq!(format(text.as_bytes()), Ok(format_of_it), "{text}");
    }
}

/// TOML's keys of the document come before its tables.
#[test]
fn a_manifest_is_known_without_searching() {
    for (text, sure) in [
        ("# note\n\nformat = 1\n", true),
        ("\u{feff}format=1", true),
        ("{ \"wave\": [] }", true),
        ("[wave]\nformat = 1", false),
        ("formats are many = 1", false),
        ("text", false),
    ] {
        assert_eq!(super::is_manifest(text.as_bytes()), sure, "{text}");
    }
}

/// Wherever the line begins, also where the text is searched in parts.
#[test]
fn a_log_is_found_wherever_it_begins() {
    for before in [0, 1, (1 << 20) - 30, (1 << 20) - 5, 1 << 20, (3 << 20) + 17] {
        let mut text = "x".repeat(79).into_bytes();
        text.push(b'\n');
        let mut text = text.repeat(before / 80 + 1);
        text.truncate(before);
        text.extend_from_slice(b"\nwave_1: pc=0x7f00 (running)\nmore\n");
        assert_eq!(super::search(text.as_slice()).unwrap(), Some(Format::AgentLog), "{before}");
        text.truncate(before);
        assert_eq!(super::search(text.as_slice()).unwrap(), None, "{before}");
    }
}
