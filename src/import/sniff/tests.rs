use std::io::Read as _;

use super::{Document, Format, MAX_LEFT, MOST, Most, OtherFileError, START};
use crate::import::text::MAX_EXCERPT;

/// Detected format of a whole file.
fn format(text: &[u8]) -> Result<Format, String> {
    let found = super::format(&text[..text.len().min(START)], || Ok(text)).unwrap();
    found.map_err(|other| other.to_string())
}

fn search(text: &[u8]) -> Option<Format> {
    super::search(text).unwrap().format
}

/// First 18 bytes of an ELF file: class, data, type (System V gABI, "ELF Header").
fn elf(class: u8, data: u8, kind: u8) -> Vec<u8> {
    let mut start = b"\x7fELF".to_vec();
    start.extend([class, data, 1]);
    start.resize(16, 0);
    start.extend([kind, 0]);
    start
}

#[test]
fn a_format_is_detected_by_content() {
    assert_eq!(format(b"PK\x03\x04 rest"), Ok(Format::Zip));
    assert_eq!(format(b"format = 1\n"), Ok(Format::Manifest));
    assert_eq!(format(b""), Err("an empty file".to_owned()));
    assert_eq!(format(&elf(2, 1, 4)), Ok(Format::Core));
}

#[test]
fn unread_parts_are_reported() {
    assert_eq!(
        format(&elf(2, 1, 3)),
        Err("an ELF file, but no core: `lanescope code-object` describes programs, libraries and code objects".to_owned())
    );
    assert_eq!(format(&elf(1, 1, 4)), Err("a 32-bit ELF file".to_owned()));
    assert_eq!(format(&elf(2, 2, 4)), Err("a big-endian ELF file".to_owned()));
    assert_eq!(format(b"\x7fELF\x02\x01"), Err("the first bytes of an ELF file".to_owned()));
    assert_eq!(format(b"\x7fELF\x09\x01"), Err("a damaged ELF file".to_owned()));
    assert_eq!(format(b"\x1f\x8b\x08"), Err("a gzip file: unpack it first".to_owned()));
    assert_eq!(format(b"text \0 text"), Err("a binary file".to_owned()));
}

#[test]
fn text_is_recognised_by_its_lines() {
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
        ("**** AMDGPU Device Coredump ****\nversion: 1\n".to_owned(), Format::DeviceDump),
        ("{\"answer\": {\"waves\": [".to_owned(), Format::UmrJson),
        ("\u{feff}{\"waves\" :\n[\n{".to_owned(), Format::UmrJson),
        ("```json\n{\"waves\": []}\n```\n".to_owned(), Format::UmrJson),
        (format!("{{\"shaders\": \"{}\", \"waves\": [{{", "x".repeat(2 * START)), Format::UmrJson),
        // A program's own JSON, and its dicts.
        (format!("{{\"waves\": [1, 2]}}\n{header}"), Format::AgentLog),
        (format!("{{\"lr\": 0.1}}\n{header}"), Format::AgentLog),
        (format!("{{'lr': 0.1}}\n{header}"), Format::AgentLog),
        (format!("{{\"log\":\"{}\\n\",\"stream\":\"stderr\"}}\n", header.trim()).repeat(2), Format::AgentLog),
        // A row of VGPRs is not a TOML table.
        (format!("    [  4] = {{ 00000000 }}\n{}", "se0.sh0.cu2.simd0.wave0\n"), Format::UmrText),
        (
            format!("[  4] = {{ 00000000 }}\n{}\nse0.sh0.cu2.simd0.wave0\n", "x".repeat(2 * START)),
            Format::UmrText,
        ),
        ("> se0.sh0.cu2.simd0.wave0\n".to_owned(), Format::UmrText),
        ("No active waves!\n".to_owned(), Format::UmrText),
        (format!("No active waves!\n{}\n{header}", "x".repeat(2 << 20)), Format::AgentLog),
        (format!("progress \0 bar\n{header}"), Format::AgentLog),
        ("{\"format\": 1, \"x-note\": \"waves\"}".to_owned(), Format::Manifest),
        ("format = 1\n[provenance]\nnote = \"wave_1: pc\"\n".to_owned(), Format::Manifest),
        (format!("{{\"format\": 1, \"x-note\": \"{header}\"}}"), Format::Manifest),
        (
            format!("{{\"x\": \"{}\", \"x-note\": \"{}\"}}", "y".repeat(2 * START), header.trim()),
            Format::Manifest,
        ),
        ("{\"format\": 1} x".to_owned(), Format::Manifest),
        ("{\"wave\": [".to_owned(), Format::Manifest),
        ("[wave]\nx = 1\n".to_owned(), Format::Manifest),
        ("x = 1\n[[wave]]\n".to_owned(), Format::Manifest),
        ("what is this\nformat = 1\n".to_owned(), Format::Manifest),
    ] {
        assert_eq!(format(text.as_bytes()), Ok(format_of_it), "{text}");
    }
}

/// TOML's top-level keys precede its tables.
#[test]
fn a_manifest_is_known_without_searching() {
    for (text, sure) in [
        ("# note\n\nformat = 1\n", true),
        ("\u{feff}format=1", true),
        ("{ \"wave\": [] }", false),
        ("{ \"wave\": [], \"format\": 2, \"x", true),
        ("{ \"format\": \"png\" }", false),
        ("{ \"a\": {\"format\": 1} }", false),
        ("[  4] = { 00000000 }", false),
        ("[wave]\nformat = 1", false),
        ("formats are many = 1", false),
        ("text", false),
    ] {
        assert_eq!(super::is_manifest(text.as_bytes()), sure, "{text}");
    }
}

/// At any position of the line, also if the text is searched in parts.
#[test]
fn a_log_is_found_wherever_it_begins() {
    for before in [0, 1, (1 << 20) - 30, (1 << 20) - 5, 1 << 20, (3 << 20) + 17] {
        let mut text = "x".repeat(79).into_bytes();
        text.push(b'\n');
        let mut text = text.repeat(before / 80 + 1);
        text.truncate(before);
        text.extend_from_slice(b"\nwave_1: pc=0x7f00 (running)\nmore\n");
        assert_eq!(search(&text), Some(Format::AgentLog), "{before}");
        text.truncate(before);
        assert_eq!(search(&text), None, "{before}");
    }
}

/// The message for an unsupported file describes it.
#[test]
fn text_without_a_log_is_named() {
    for text in [
        "hello\n",
        "wave_1 is stopped; simd 4\n",
        "[WARNING]: x\n",
        "{'lr': 0.1}\n",
        "{\"lr\": 1}\nx\n",
        "a b = 1\n",
    ] {
        assert_eq!(format(text.as_bytes()), Err("text of no known format".to_owned()), "{text}");
    }
    let fault = format!("Running\nMemory access fault by GPU node-1 {}\n", "x".repeat(1000));
    let said = format(fault.as_bytes()).unwrap_err();
    assert!(said.contains("Memory access fault by GPU node-1 xx"), "{said}");
    assert!(!said.contains(&"x".repeat(MAX_EXCERPT)), "{said}");
    assert_eq!(
        format(b"\xff\xfe\0\0w\0\0\0"),
        Err("text in UTF-32, where UTF-8 and UTF-16 are read".to_owned())
    );
}

/// Each byte order, with its byte order mark.
#[test]
fn utf_16_is_recognised_as_text() {
    let none = || Err("text of no known format".to_owned());
    for (text, wanted) in [
        ("noise é\r\nwave_1: pc=0x7f00 (running)\r\n".to_owned(), Ok(Format::AgentLog)),
        (format!("{}\nse0.sh0.cu2.simd0.wave0\n", "x".repeat(2 * START)), Ok(Format::UmrText)),
        ("{\"waves\": [{".to_owned(), Ok(Format::UmrJson)),
        ("hello\n".to_owned(), none()),
        (String::new(), Err("an empty file".to_owned())),
        ("format = 1\n".to_owned(), Err("a manifest in UTF-16, where UTF-8 is read".to_owned())),
    ] {
        let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
        assert_eq!(format(&units().flat_map(u16::to_le_bytes).collect::<Vec<_>>()), wanted, "{text}");
        assert_eq!(format(&units().flat_map(u16::to_be_bytes).collect::<Vec<_>>()), wanted, "{text}");
    }
}

/// Only a limited number of bytes is searched and inspected as one line or document.
#[test]
fn searching_is_bounded() {
    let header = b"\nwave_1: pc=0x7f00 (running)\n";
    let text = [&b"x".repeat(2 * START)[..], header].concat();
    let whole = text.len() as u64;
    let within = |searched: u64| {
        let most = Most { searched, ..MOST };
        super::format_within(&text[..START], || Ok(text.as_slice()), &most).unwrap()
    };
    assert_eq!(within(whole), Ok(Format::AgentLog));
    assert_eq!(within(whole - header.len() as u64), within(0));
    assert_eq!(within(0), Err(OtherFileError::Known("text of no known format")));
    // A document longer than the inspected part counts as truncated.
    let json = format!("{{\"x\": \"{}\"}}", "y".repeat(2 * START));
    let log = format!("{json}\n{}", std::str::from_utf8(header).unwrap());
    let within = |text: &str, document: u64| {
        let most = Most { document, ..MOST };
        super::format_within(&text.as_bytes()[..START], || Ok(text.as_bytes()), &most).unwrap()
    };
    assert_eq!(
        (within(&json, 1 << 20), within(&json, START as u64)),
        (Ok(Format::Manifest), Ok(Format::Manifest))
    );
    assert_eq!(
        (within(&log, 1 << 20), within(&log, START as u64)),
        (Ok(Format::AgentLog), Ok(Format::AgentLog))
    );
    let string = format!("{{\"x\": \"{}\", \"y\": \"wave_1: pc=0x7f00 (running)\"}}", "y".repeat(2 * START));
    assert_eq!(within(&string, 1 << 20), Ok(Format::Manifest));
    assert_eq!(within(&string, START as u64), Ok(Format::AgentLog));
    // A header after a line longer than the kept part of a line is found; one within it is not.
    let chunk = 1 << 20;
    let before = b"x".repeat(chunk + MAX_LEFT + 10);
    assert_eq!(search(&[&before[..], header].concat()), Some(Format::AgentLog));
    for endless in [b'{', b' '] {
        assert_eq!(super::document(std::io::repeat(endless).take(1 << 16)), Document::Broken);
    }
}

/// `format` reads as much of endless text, and of an endless document, as its limits, which are small here.
#[test]
fn endless_text_is_read_as_far_as_the_bounds() {
    let taken = std::cell::RefCell::new(Vec::new());
    let most = Most { searched: 4 << 20, document: 1 << 20 };
    for (start, wanted) in [(b"text", &[most.searched][..]), (b"{\"a\"", &[most.document, most.searched])] {
        taken.borrow_mut().clear();
        let again = || {
            taken.borrow_mut().push(0);
            Ok(Counted { taken: &taken })
        };
        super::format_within(start, again, &most).unwrap().unwrap_or(Format::Manifest);
        assert_eq!(taken.borrow().as_slice(), wanted);
    }
    assert_eq!((MOST.searched, MOST.document), (1 << 30, 64 << 20));
}

/// Endless blanks; the last field counts the bytes read.
struct Counted<'c> {
    taken: &'c std::cell::RefCell<Vec<u64>>,
}

impl std::io::Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(b' ');
        *self.taken.borrow_mut().last_mut().unwrap() += buffer.len() as u64;
        Ok(buffer.len())
    }
}
