//! Rows as in tests/fixtures/logs/README.md: at multiples of 32, nine blanks for each word before the first.

use super::{Row, row};
use crate::import::agent_log::wave::Section;

fn read(line: &str) -> Option<(Row, Vec<u32>)> {
    let mut words = Vec::new();
    row(line.as_bytes(), &mut words).map(|row| (row, words))
}

/// Address of the words of a line.
fn start(line: &str, section: Section, kernargs: Option<u64>, is_first: bool) -> Option<u64> {
    let (row, words) = read(line).unwrap();
    row.start(words.len(), section, kernargs, is_first)
}

#[test]
fn a_row_has_words_until_something_else_comes() {
    for (line, address, wanted, damaged) in [
        ("    0x0020: 00000001 ffffffff", 0x20, &[1, u32::MAX][..], false),
        ("0x0010:  0xAABBCCDD  0x00000001", 0x10, &[0xaabb_ccdd, 1], false),
        ("0x0010: 00000001 0000", 0x10, &[1], true),
    ] {
        let (row, words) = read(line).unwrap();
        assert_eq!((row.address, row.damaged, words.as_slice()), (address, damaged, wanted), "{line}");
    }
    assert_eq!(read("0x7f00 <+4>:    s_nop 0"), None);
    assert_eq!(read("0x10: 00000001"), None);
}

#[test]
fn words_before_the_first_are_nine_blanks_each() {
    for skipped in 0..8u64 {
        let blanks = " ".repeat(9 * skipped as usize);
        let line = format!("    0x7f00:{blanks} 00000001");
        let at = 0x7f00 + skipped * 4;
        for (section, kernargs) in
            [(Section::Kernarg, Some(at)), (Section::Kernarg, None), (Section::Local, None)]
        {
            assert_eq!(start(&line, section, kernargs, true), Some(at), "{skipped} {section:?}");
        }
    }
    assert_eq!(start("0x0010:  0xAABBCCDD", Section::Local, None, false), Some(0x10));
}

/// With fewer blanks the header's `kernargs=` has the address of the first row; without it the address is unknown.
#[test]
fn rows_without_their_blanks_are_placed_by_the_header_or_not_at_all() {
    let row =
        |words: usize, indent: usize| format!("{}0x7f00:{}", " ".repeat(indent), " 00000001".repeat(words));
    for (words, indent, kernargs, is_first, wanted) in [
        (3, 1, Some(0x7f14), true, Some(0x7f14)),
        (3, 4, Some(0x7f14), true, Some(0x7f14)),
        // More words than fit in the rest of the row.
        (4, 1, Some(0x7f14), true, None),
        (8, 1, Some(0x7f00), true, Some(0x7f00)),
        // Rows after the first are whole.
        (3, 1, Some(0x7ef4), false, Some(0x7f00)),
        // Without the header's field: a whole row, an unchanged row, a row after another one; otherwise unknown.
        (8, 1, None, true, Some(0x7f00)),
        (3, 4, None, true, Some(0x7f00)),
        (3, 1, None, false, Some(0x7f00)),
        (3, 1, None, true, None),
        (3, 0, None, true, None),
    ] {
        let found = start(&row(words, indent), Section::Kernarg, kernargs, is_first);
        assert_eq!(found, wanted, "{words} {indent} {kernargs:x?} {is_first}");
    }
    // Blanks for a fraction of a word, blanks that contradict the header, and blanks within memory.
    for (blanks, kernargs) in [(5, None), (18, None), (10, Some(0x7f08)), (10, Some(0x7ee0)), (73, None)] {
        let line = format!("    0x7f00:{}00000001", " ".repeat(blanks));
        assert_eq!(start(&line, Section::Kernarg, kernargs, true), None, "{blanks}");
    }
}
