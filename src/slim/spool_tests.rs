//! What is kept of a stream: by rank, within the limit, with holes for zeros; and headers that speak of that alone.

use std::io::Read;
use std::sync::mpsc::{Receiver, channel};

use super::*;

/// A core with the given segments, each of one byte repeated, by address; no notes.
fn core(segments: &[(u64, u64, u8)]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(64, 0);
    file[16] = 4;
    file[18] = 224;
    file[32] = 64;
    file[54] = 56;
    file[56] = segments.len() as u8;
    let mut offset = 0x1000u64;
    for (address, size, _) in segments {
        file.extend(program_header(1, offset, *address, *size));
        offset += size;
    }
    file.resize(0x1000, 0);
    for (_, size, byte) in segments {
        file.extend(std::iter::repeat_n(*byte, *size as usize));
    }
    file
}

fn number(file: &[u8], at: usize, size: usize) -> u64 {
    file[at..at + size].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The segments of a spooled file: address, size, and its bytes where they are all one.
fn segments(file: &[u8]) -> Vec<(u64, u64, u8)> {
    let (at, count) = (number(file, 32, 8) as usize, number(file, 56, 2) as usize);
    let each = (0..count).map(|index| at + index * 56).map(|at| {
        let (offset, size) = (number(file, at + 8, 8) as usize, number(file, at + 32, 8) as usize);
        let bytes = &file[offset..offset + size];
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        (number(file, at + 16, 8), size as u64, bytes[0])
    });
    each.collect()
}

const FOREVER: Duration = Duration::from_secs(60);

fn spooled(stream: impl Read + Send + 'static, limit: u64, stall: Duration) -> (Vec<(u64, u64, u8)>, Came) {
    let folder = tempfile::tempdir().unwrap();
    let spooled = spool(stream, folder.path(), Patience { limit, stall }, &mut |_| ()).unwrap();
    let found = (segments(&std::fs::read(spooled.path()).unwrap()), spooled.came.clone());
    drop(spooled);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    found
}

const BIG: (u64, u64, u8) = (0x10_0000, 0x8000, 1);
const ZEROS: (u64, u64, u8) = (0x20_0000, 0x40_0000, 0);
const SMALL: (u64, u64, u8) = (0x80_0000, 0x2000, 3);

#[test]
fn what_fits_is_kept_as_it_came() {
    let (segments, came) = spooled(std::io::Cursor::new(core(&[BIG, ZEROS, SMALL])), 1 << 30, FOREVER);
    assert_eq!(segments, [BIG, ZEROS, SMALL]);
    assert_eq!((came.dropped, came.missing, came.stalled), (0, 0, false));
    assert_eq!(came.notes(), Vec::<String>::new());
}

#[test]
fn a_small_segment_that_comes_late_is_kept_before_a_large_one() {
    // The header's page, three pages of the large segment, two of the small one; zeros take no room.
    let (segments, came) = spooled(std::io::Cursor::new(core(&[BIG, ZEROS, SMALL])), 0x5000 + 0xe8, FOREVER);
    assert_eq!(segments, [(BIG.0, 0x3000, 1), ZEROS, SMALL]);
    assert_eq!((came.dropped, came.needed), (0x5000, 0));
    assert_eq!(came.notes(), ["the limit was reached (--spool-limit): 20480 bytes of memory were dropped"]);
}

#[test]
fn a_stream_that_breaks_off_leaves_what_came() {
    let mut bytes = core(&[BIG, SMALL]);
    bytes.truncate(0x1000 + 0x8000 + 0x123);
    let (segments, came) = spooled(std::io::Cursor::new(bytes), 1 << 30, FOREVER);
    assert_eq!(segments, [BIG, (SMALL.0, 0x123, 3)]);
    assert_eq!((came.missing, came.stalled), (0x2000 - 0x123, false));
}

/// Gives what it has and then waits.
struct Stalling(std::io::Cursor<Vec<u8>>, Receiver<()>);

impl Read for Stalling {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => {
                let _ = self.1.recv();
                Ok(0)
            }
            count => Ok(count),
        }
    }
}

#[test]
fn a_writer_that_stalls_is_given_up() {
    let mut bytes = core(&[BIG, SMALL]);
    bytes.truncate(0x1000 + 0x5000);
    let (held, wait) = channel();
    let stream = Stalling(std::io::Cursor::new(bytes), wait);
    let (segments, came) = spooled(stream, 1 << 30, Duration::from_millis(200));
    assert_eq!(segments, [(BIG.0, 0x5000, 1)]);
    assert_eq!((came.stalled, came.missing), (true, 0x3000 + 0x2000));
    drop(held);
}

#[test]
fn what_is_no_core_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let patience = Patience { limit: 1 << 20, stall: FOREVER };
    let refused = |bytes: &[u8]| {
        let stream = std::io::Cursor::new(bytes.to_vec());
        spool(stream, folder.path(), patience, &mut |_| ()).unwrap_err().to_string()
    };
    let not_elf =
        "standard input: it does not begin as a little-endian 64-bit ELF file does; expected a core";
    assert_eq!(refused(b"PK\x03\x04 and more of it"), not_elf);
    let whole = core(&[SMALL]);
    let mut shared = whole.clone();
    shared[16] = 3;
    assert_eq!(refused(&shared), "standard input: it is an ELF file and no core; expected a core");
    assert_eq!(
        refused(&whole[..70]),
        "standard input: it ended after 70 bytes, before its headers and notes, which end at 120; expected a core"
    );
    assert_eq!(
        refused(b""),
        "standard input: it ended after 0 bytes, before its headers and notes, which end at 64; expected a core"
    );
    let mut far = whole;
    far[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(refused(&far).contains("program headers end at 0xffffffffffffffff, beyond"), "{}", refused(&far));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn every_truncation_ends_well() {
    let whole = core(&[(0x1000, 0x30, 7), (0x1010, 0x40, 7)]);
    for length in 0..whole.len() {
        let folder = tempfile::tempdir().unwrap();
        let stream = std::io::Cursor::new(whole[..length].to_vec());
        let patience = Patience { limit: 100, stall: FOREVER };
        let result = spool(stream, folder.path(), patience, &mut |_| ());
        assert_eq!(result.is_err(), length < 64 + 2 * 56, "{length}");
    }
}
