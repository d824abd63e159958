//! Lines, words, limits, and names of processors.

use super::lines::MAX_LINE;
use super::values::{MAX_KEPT, MAX_LANES, MAX_NAMES};
use super::{Cursor, Kept, Lines, Pieces, Sizes, hex, processors_in, unwrapped};
use crate::capture::BackingId;
use crate::units::WaveSize;

fn lines(text: &[u8]) -> Vec<(usize, String, bool, bool)> {
    let mut lines = Lines::new(text);
    let mut all = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        all.push((line.number, String::from_utf8_lossy(line.text).into_owned(), line.ended, line.cut));
    }
    all
}

#[test]
fn lines_are_as_a_terminal_shows_them() {
    // ECMA-48: CSI ends with a byte of 0x40 to 0x7e, OSC with BEL or ST; ESC ( B chooses a character set.
    for (raw, shown) in [
        ("plain", "plain"),
        ("crlf\r", "crlf"),
        ("\x1b[31mred\x1b[0m rest", "red rest"),
        ("\x1b[38;5;33m\x1b[1mx\x1b[K", "x"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]0;title\x1b\\text", "text"),
        ("\x1b(Btext\x1b=", "text"),
        ("10%\r20%\rdone", "done"),
        ("cut off \x1b[38;5", "cut off "),
        ("\x1b", ""),
    ] {
        assert_eq!(unwrapped(raw.as_bytes()), shown.as_bytes(), "{raw:?}");
        let found = lines(format!("{raw}\nnext").as_bytes());
        assert_eq!(found, [(1, shown.to_owned(), true, false), (2, "next".to_owned(), false, false)]);
    }
    assert_eq!(lines(b""), []);
    assert_eq!(lines(b"\n\n"), [(1, String::new(), true, false), (2, String::new(), true, false)]);
}

#[test]
fn a_line_is_looked_at_as_far_as_the_bound() {
    let most = "x".repeat(MAX_LINE);
    let found = lines(format!("{most}\n{most}y\nz\n").as_bytes());
    let seen: Vec<_> = found.iter().map(|(at, text, _, cut)| (*at, text.len(), *cut)).collect();
    assert_eq!(seen, [(1, MAX_LINE, false), (2, MAX_LINE, true), (3, 1, false)]);
}

/// A progress bar overwrites its line: the text behind it is read, with the number of the line.
#[test]
fn an_overwritten_line_is_read_to_its_end() {
    let bar = "step 1/9 [=>]\r".repeat(3 * MAX_LINE / 14);
    let found = lines(format!("first\n{bar}the report\nlast\n").as_bytes());
    assert!(found.iter().all(|(_, text, ended, cut)| text.len() <= MAX_LINE && *ended && !cut));
    let (last, rest) = found.split_last().unwrap();
    assert_eq!((last.0, last.1.as_str()), (3, "last"));
    let report = rest.last().unwrap();
    assert!(report.0 == 2 && report.1.ends_with("the report"), "{} {}", report.0, report.1.len());
    assert!(rest.len() > 3, "{}", rest.len());
}

#[test]
fn numbers_are_whole_words() {
    assert_eq!(hex(b"ffffffffffffffff"), Some(u64::MAX));
    assert_eq!(hex(b"0DeadBeef"), Some(0xdead_beef));
    for none in [&b""[..], b"1ffffffffffffffff", b"12g4", b"-1", b" 1"] {
        assert_eq!(hex(none), None, "{none:?}");
    }
    let mut cursor = Cursor::new(b"18446744073709551616");
    assert_eq!((cursor.decimal(), cursor.rest.len()), (None, 20));
    let mut cursor = Cursor::new(b"0xzz");
    assert_eq!((cursor.address(), cursor.rest), (None, &b"0xzz"[..]));
    assert_eq!(Cursor::new(b"ff").address(), None);
}

#[test]
fn what_is_kept_is_bounded() {
    let mut kept = Kept::with_capacity_of(200);
    let one = |kept: &mut Kept| kept.value(b"v0", true, &[1; 8], 0xff, 1).is_some();
    assert!(one(&mut kept) && one(&mut kept) && one(&mut kept));
    assert!(!one(&mut kept) && kept.full);
    // Positions count like bytes, so that the limit can be reached without bytes.
    let mut kept = Kept::default();
    assert!(kept.words(&[], MAX_KEPT - 4).is_some() && kept.words(&[7], 0).is_some() && !kept.full);
    assert!(kept.words(&[], 1).is_none() && kept.full);
    let mut kept = Kept::default();
    for at in 0..MAX_NAMES {
        assert!(kept.name(format!("r{at}").as_bytes()).is_some());
    }
    assert!(kept.name(b"one more").is_none() && kept.full);
    assert!(kept.name(b"R17").is_some(), "names that are known stay so, in any letters");
    let value = Kept::default().value(b"v0", true, &[7; 100], u64::MAX, 1).unwrap();
    assert_eq!(usize::from(value.dwords), MAX_LANES);
}

/// 16 digits mean wave64 and 8 wave32; a row of vectors may be truncated, but has no lanes beyond the wave's.
#[test]
fn the_wave_size_follows_from_widths() {
    for (lanes, exec, size, contradicts) in [
        (64, 2, Some(WaveSize::W64), false),
        (20, 2, Some(WaveSize::W64), false),
        (32, 2, Some(WaveSize::W64), false),
        (32, 1, Some(WaveSize::W32), false),
        (32, 0, Some(WaveSize::W32), false),
        (33, 0, Some(WaveSize::W64), false),
        (31, 0, None, false),
        (0, 0, None, false),
        (64, 1, Some(WaveSize::W64), true),
    ] {
        assert_eq!(Sizes { lanes, exec }.wave_size(), (size, contradicts), "{lanes} {exec}");
    }
}

#[test]
fn memory_contradicts_where_both_have_it() {
    let mut kept = Kept::default();
    let mut piece = |rows: &[(u64, &[u32])]| {
        let mut pieces = Pieces::default();
        rows.iter().for_each(|(address, words)| {
            pieces.push(&mut kept, *address, words);
        });
        pieces
    };
    let whole = piece(&[(0, &[1, 2, 3, 4, 5, 6])]);
    let holes = piece(&[(4, &[2]), (16, &[5, 6, 7])]);
    let other = piece(&[(8, &[3]), (20, &[9])]);
    let twice = piece(&[(0, &[1, 2]), (4, &[3])]);
    assert_eq!((whole.whole(), holes.whole(), whole.length()), (Some(24), None, 24));
    assert!(!whole.contradicts(&holes, &kept) && !holes.contradicts(&whole, &kept));
    assert!(whole.contradicts(&other, &kept) && other.contradicts(&whole, &kept));
    let (map, refused) = twice.map(BackingId(0));
    assert_eq!((map.segments().len(), refused), (1, 1));
}

/// AMDGPUUsage's names of processors; a name with only the same beginning is not one.
#[test]
fn processors_are_found_in_text() {
    let names = |text: &str| processors_in(text.as_bytes()).map(|one| one.name).collect::<Vec<_>>();
    assert_eq!(names("lib/Tensile_gfx90a.co and Kernels.so-000-gfx1100.hsaco"), ["gfx90a", "gfx1100"]);
    assert_eq!(names("gfx gfx9 gfx90a0 gfxgfx942 GFX908"), ["gfx942"]);
}
