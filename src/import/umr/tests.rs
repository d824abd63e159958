use std::fmt::Write as _;
use std::io::{Cursor, Read as _, Write as _};

use super::family::Families;
use super::text;
use super::wave::{MAX_SGPRS, MAX_VGPRS, Read, TTMPS};
use super::{MAX_JSON, open, open_json, zipped};
use crate::arch::Targets;
use crate::import::Options;
use crate::import::problem::Problems;
use crate::import::text::Kept;
use crate::import::text::MAX_EXCERPT;

fn reads(text: &str, most_code: usize) -> (Read, String) {
    let targets = Targets::builtin();
    let mut problems = Problems::new("text");
    let options = Options { target: Some("gfx1100".to_owned()), ..Options::default() };
    let mut families = Families::new(&targets, &options, None).unwrap();
    let read = text::read(text.as_bytes(), Kept::default(), most_code, &mut families, &mut problems);
    (read, problems.finish().iter().map(|problem| format!("{problem}\n")).collect())
}

const WAVE: &str = "se0.sa0.wgp0.simd0.wave0\nMain Registers:\nixSQ_WAVE_IB_STS2: 00000000 |\n";

#[test]
fn words_of_code_are_bounded() {
    let mut text = WAVE.to_owned();
    for word in 0..10 {
        writeln!(text, "pgm[5@0x1000 + {:#x} ] = 0xbf800000", word * 4).unwrap();
    }
    let (read, _) = reads(&text, 8);
    assert!(read.code.len() == 8 && read.kept.full);
    let (read, _) = reads(&text, 10);
    assert!(read.code.len() == 10 && !read.kept.full);
}

#[test]
fn registers_beyond_those_of_any_gpu_are_ignored() {
    let rows = [
        (format!(">SGPRS[{}..]= {{ 00000001 }}\n", MAX_SGPRS - 1), true),
        (format!(">SGPRS[{MAX_SGPRS}..]= {{ 00000001 }}\n"), false),
        (format!(">TTMP[{}..]= {{ 00000001 }}\n", TTMPS - 1), true),
        (format!(">TTMP[{TTMPS}..]= {{ 00000001 }}\n"), false),
        (format!("VGPRS:\n[{}] = {{ 00000001 }}\n", MAX_VGPRS - 1), true),
        (format!("VGPRS:\n[{}] = {{ 00000001 }}\n", MAX_VGPRS), true),
        (format!("VGPRS:\n[{}] = {{ 00000001 }}\n", MAX_VGPRS + 1), false),
    ];
    for (row, taken) in rows {
        let (_, said) = reads(&format!("{WAVE}{row}"), 8);
        assert_eq!(!said.contains("is ignored"), taken, "{row}: {said}");
    }
}

#[test]
fn columns_are_bounded() {
    let text = format!("SE SA WGP SIMD WAVE# {}\n0 0 0 0 0 {}\n", "M0 ".repeat(200), "00000001 ".repeat(200));
    let (read, said) = reads(&text, 8);
    assert_eq!(read.waves.len(), 1);
    assert!(said.contains("65 columns; those that have no heading"), "{said}");
}

#[test]
fn why_there_are_no_waves_is_kept_as_far_as_a_line_goes() {
    let (read, _) = reads(&format!("\nUMR GFX waves:\n\n{}\nnext\n", "x".repeat(2 * MAX_EXCERPT)), 8);
    assert_eq!(read.first.as_deref(), Some("x".repeat(MAX_EXCERPT).as_str()));
    assert!(read.radv && !read.idle);
}

/// Text beyond the limit is not read, and that is reported.
#[test]
fn an_answer_that_is_too_long_keeps_its_beginning() {
    let wave = br#"{"waves":[{"se":0,"sa":0,"wgp":1,"sgpr":[1]}"#;
    let targets = Targets::builtin();
    let options = Options { target: Some("gfx1100".to_owned()), ..Options::default() };
    let size = 3 * MAX_JSON;
    let mut source = wave.chain(std::io::repeat(b' ')).take(size);
    let opened = open_json("answer", &mut source, Some(size), &targets, &options).unwrap();
    assert_eq!((opened.capture.waves.len(), source.limit()), (1, 2 * MAX_JSON));
    let said: Vec<&str> = opened.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert!(
        said[0].contains("the first 268435456 are read")
            && said.iter().any(|what| what.contains("ends within")),
        "{said:?}"
    );
}

/// Words that differ between address spaces count once per address.
#[test]
fn words_that_differ_between_address_spaces_are_counted() {
    let mut text = WAVE.to_owned();
    for (vmid, word) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let value = if (vmid, word) == (2, 2) { 9 } else { word };
        writeln!(text, "pgm[{vmid}@0x1000 + {:#x} ] = 0x{value:08x}", word * 4).unwrap();
    }
    let targets = Targets::builtin();
    let opened = open("text", text.as_bytes(), None, &targets, &Options::default()).unwrap();
    let said: Vec<String> = opened.problems.iter().map(ToString::to_string).collect();
    assert!(
        said.iter().any(|what| what.contains("1 words of code lie where another VMID has others")),
        "{said:?}"
    );
    assert_eq!(opened.capture.global.captured(), 8);
}

/// A zip of many blanks in a few bytes: it is unpacked up to the limit, and that is reported.
#[test]
fn a_zip_is_unpacked_as_far_as_the_bound() {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    zip.start_file("radv_dumps_1/umr_waves.log", options).unwrap();
    let most = 1 << 16;
    zip.write_all(format!("\nUMR GFX waves:\n\n{WAVE}").as_bytes()).unwrap();
    zip.write_all(&vec![b'\n'; 256 << 10]).unwrap();
    zip.write_all(WAVE.replace("wave0", "wave1").as_bytes()).unwrap();
    let zip = zip.finish().unwrap().into_inner();
    assert!(zip.len() < 1 << 15);
    let targets = Targets::builtin();
    let open = |most: u64| {
        let opened = zipped::open_within("zip", Cursor::new(&zip), &targets, &Options::default(), most);
        let opened = opened.unwrap().unwrap();
        let said = opened
            .problems
            .iter()
            .any(|problem| problem.what.ends_with(&format!("the first {most} are read")));
        (opened.capture.waves.len(), said)
    };
    assert_eq!((open(most), open(1 << 23)), ((1, true), (2, false)));
    assert_eq!(zipped::MAX_UNPACKED, 256 << 20);
}

/// Entries beyond the limit are ignored.
#[test]
fn entries_of_a_zip_are_bounded() {
    let targets = Targets::builtin();
    let open = |before: usize| {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for at in 0..before {
            zip.start_file(format!("{at}"), options).unwrap();
        }
        zip.start_file("umr_waves.log", options).unwrap();
        zip.write_all(WAVE.as_bytes()).unwrap();
        let zip = zip.finish().unwrap();
        zipped::open("zip", zip, &targets, &Options::default()).unwrap().is_some()
    };
    assert_eq!((open(zipped::MAX_ENTRIES - 1), open(zipped::MAX_ENTRIES)), (true, false));
}

/// Damaged entries are reported, stored and deflated, umr's text and files beside it; their bytes count.
#[test]
fn entries_whose_checksums_differ_are_reported() {
    const PAGE: &str = "VM fault report.\n\nFailing VM page: 0x800000200000\n";
    let targets = Targets::builtin();
    for damaged in ["umr_waves.log", "vm_fault.log", ""] {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let stored =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for (name, text) in [("umr_waves.log", WAVE), ("vm_fault.log", PAGE)] {
            zip.start_file(name, stored).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        let mut zip = zip.finish().unwrap().into_inner();
        let text = if damaged == "umr_waves.log" { WAVE } else { PAGE };
        let at = zip.windows(text.len()).position(|bytes| bytes == text.as_bytes()).unwrap();
        // The last line feed: all else is as before.
        if !damaged.is_empty() {
            zip[at + text.len() - 1] = b' ';
        }
        let opened = zipped::open("zip", Cursor::new(&zip), &targets, &Options::default()).unwrap().unwrap();
        let of_file =
            |what: &&String| what.starts_with(&format!("zip: {damaged}: ")) && what.contains("checksum");
        let problems: Vec<String> = opened.problems.iter().map(ToString::to_string).collect();
        let found: Vec<&String> = problems.iter().filter(of_file).collect();
        assert_eq!(found.len(), usize::from(!damaged.is_empty()), "{damaged}: {problems:?}");
        assert_eq!((opened.capture.waves.len(), opened.capture.faults.len()), (1, 1), "{damaged}");
    }
}
