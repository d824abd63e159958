//! Kept parts of a stream: by rank, within the limit, with holes for zeros; and headers for exactly those parts.

use std::io::Read;

use super::keeper::MAX_GAPS;
use super::ranks::{Rank, Runs};
use super::retained::program_header;
use super::*;
use crate::elf::{PT_LOAD, bytes_of};
use crate::sample::sampled;
use crate::wait::until;

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
        file.extend(bytes_of(&program_header(PT_LOAD, offset, *address, *size)));
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

/// The segments of a spooled file: address, size, and the byte value if all bytes are equal.
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

fn spooled(stream: impl Read + Send + 'static, limit: u64) -> (Vec<(u64, u64, u8)>, SpoolStats) {
    let folder = tempfile::tempdir().unwrap();
    let patience = StallBudget { limit, stall: FOREVER };
    let spooled = spool(stream, folder.path(), patience, &mut |_| ()).unwrap();
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
    let (segments, came) = spooled(std::io::Cursor::new(core(&[BIG, ZEROS, SMALL])), 1 << 30);
    assert_eq!(segments, [BIG, ZEROS, SMALL]);
    assert_eq!((came.dropped, came.missing, came.stalled), (0, 0, false));
    assert_eq!(came.notes(), Vec::<String>::new());
}

#[test]
fn a_small_segment_that_comes_late_is_kept_before_a_large_one() {
    // The header's page, three pages of the large segment, two of the small one; zeros need no storage.
    let (segments, came) = spooled(std::io::Cursor::new(core(&[BIG, ZEROS, SMALL])), 0x5000 + 0xe8);
    assert_eq!(segments, [(BIG.0, 0x3000, 1), ZEROS, SMALL]);
    assert_eq!((came.dropped, came.needed), (0x5000, 0));
    assert_eq!(came.notes(), ["the limit was reached (--spool-limit): 20480 bytes of memory were dropped"]);
}

#[test]
fn a_stream_that_breaks_off_leaves_what_came() {
    let mut bytes = core(&[BIG, SMALL]);
    bytes.truncate(0x1000 + 0x8000 + 0x123);
    let (segments, came) = spooled(std::io::Cursor::new(bytes), 1 << 30);
    assert_eq!(segments, [BIG, (SMALL.0, 0x123, 3)]);
    assert_eq!((came.missing, came.stalled), (0x2000 - 0x123, false));
}

/// A stream that delivers its bytes and then waits.
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

/// The patience with a writer that stalls.
const SOON: Duration = Duration::from_millis(500);

/// Spools from a writer that stalls after `size` bytes: again, until a busy machine delivered those in time.
fn given_up<S: Read + Send + 'static>(
    size: u64,
    mut stream: impl FnMut() -> S,
) -> (Vec<(u64, u64, u8)>, SpoolStats) {
    until(format!("the end of patience after {size:#x} bytes"), || {
        let folder = tempfile::tempdir().unwrap();
        let patience = StallBudget { limit: 1 << 30, stall: SOON };
        let spooled = spool(stream(), folder.path(), patience, &mut |_| ()).ok()?;
        let came = spooled.came.clone();
        let is_stall = came.stalled && came.read >= size;
        is_stall.then(|| (segments(&std::fs::read(spooled.path()).unwrap()), came))
    })
}

#[test]
fn a_writer_that_stalls_is_given_up() {
    let mut bytes = core(&[BIG, SMALL]);
    bytes.truncate(0x1000 + 0x5000);
    let mut held = Vec::new();
    let (segments, came) = given_up(0x1000 + 0x5000, || {
        let (hold, wait) = channel();
        held.push(hold);
        Stalling(std::io::Cursor::new(bytes.clone()), wait)
    });
    assert_eq!(segments, [(BIG.0, 0x5000, 1)]);
    assert_eq!(came.missing, 0x3000 + 0x2000);
}

/// A stream that continues behind its core: the reader neither waits for the rest nor keeps it.
#[test]
fn reading_ends_with_the_last_segment() {
    let bytes = std::io::Cursor::new(core(&[BIG, SMALL]));
    let (segments, came) = spooled(bytes.chain(std::io::repeat(0)), 1 << 30);
    assert_eq!(segments, [BIG, SMALL]);
    assert_eq!((came.read, came.missing, came.stalled), (0x1000 + 0x8000 + 0x2000, 0, false));
}

/// A permanent core is small: the parts that waves need first, then small segments.
#[test]
fn what_stays_of_a_core_is_bounded_and_opens() {
    let folder = tempfile::tempdir().unwrap();
    let large = (0x1000_0000, MAX_REMAINS, 5);
    let patience = StallBudget { limit: 1 << 30, stall: FOREVER };
    let stream = std::io::Cursor::new(core(&[BIG, large, SMALL]));
    let spooled = spool(stream, folder.path(), patience, &mut |_| ()).unwrap();
    let to = folder.path().join("kept");
    let left_out = spooled.keep(&to).unwrap();
    let found = segments(&std::fs::read(&to).unwrap());
    assert_eq!((found[0], *found.last().unwrap()), (BIG, SMALL));
    let kept: u64 = found.iter().filter(|(_, _, byte)| *byte == 5).map(|(_, size, _)| size).sum();
    assert_eq!(kept + left_out, MAX_REMAINS);
    assert!(kept > 0 && left_out > 0 && std::fs::metadata(&to).unwrap().len() <= MAX_REMAINS + 0x1000);
    assert_eq!(spooled.keep(&to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn what_is_no_core_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let patience = StallBudget { limit: 1 << 20, stall: FOREVER };
    let refused = |bytes: &[u8]| {
        let stream = std::io::Cursor::new(bytes.to_vec());
        match spool(stream, folder.path(), patience, &mut |_| ()) {
            Err(why) => {
                assert!(!bytes.starts_with(&ELFMAG));
                why.to_string()
            }
            // A stream that begins like a core stays unchanged.
            Ok(spooled) => {
                let to = folder.path().join("kept");
                assert_eq!(spooled.keep(&to).unwrap(), 0);
                assert_eq!(std::fs::read(&to).unwrap(), bytes);
                std::fs::remove_file(&to).unwrap();
                spooled.broken.unwrap().to_string()
            }
        }
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

/// A core may name any number of areas.
#[test]
fn parts_that_are_needed_are_bounded() {
    let (most, count) = (1000, 1008);
    let all = stream::Segment { offset: 0x1000, address: 0, size: count * 2, executable: false };
    let layout = stream::Layout {
        start: 0x1000,
        segments: vec![all],
        needed: (0..count).map(|index| (index * 2, index * 2)).collect(),
        ..stream::Layout::default()
    };
    assert_eq!(Runs::within(&layout, 1 << 30, most).before(Rank::Code), most as u64);
}

#[test]
fn one_is_one() {
    let one = SpoolStats {
        read: 1,
        dropped: 1,
        needed: 1,
        code: 1,
        scratch: 1,
        unplaced: 1,
        missing: 1,
        stalled: true,
        ..SpoolStats::default()
    };
    assert_eq!(
        one.notes(),
        [
            "the writer of the core stalled after 1 byte",
            "the core ended early: 1 byte of memory never came",
            "the limit was reached (--spool-limit): 1 byte of memory was dropped",
            "of this 1 is of code objects: variables may be missing",
            "of this 1 is in segments with private memory",
            "where the private memory of 1 queue is unknown: it may be among the dropped memory",
            "of this 1 is of queues and save areas: waves are missing",
        ]
    );
}

/// A note with a wrong size must not take memory for notes: memory that it does not mention is kept normally.
#[test]
fn notes_that_reach_into_memory_end_before_it() {
    for size in [0x1000u64, 0x2_0000, 100 << 20, 1 << 40, u64::MAX] {
        let mut bytes = core(&[(0, 0, 0), BIG, ZEROS, SMALL]);
        let at = 64;
        bytes[at..at + 4].copy_from_slice(&4u32.to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&0x200u64.to_le_bytes());
        bytes[at + 32..at + 40].copy_from_slice(&size.to_le_bytes());
        let folder = tempfile::tempdir().unwrap();
        let patience = StallBudget { limit: 0x5000, stall: FOREVER };
        let spooled = spool(std::io::Cursor::new(bytes), folder.path(), patience, &mut |_| ()).unwrap();
        let came = &spooled.came;
        let file = std::fs::read(spooled.path()).unwrap();
        // The note up to memory, and memory as if the note were right: the small segment before all of the large one.
        let table = number(&file, 32, 8) as usize;
        assert_eq!((number(&file, table, 4), number(&file, table + 32, 8)), (4, 0xe00), "{size:#x}");
        assert!(came.dropped > 0 && came.needed == 0 && !came.blind, "{size:#x}: {came:?}");
        assert_eq!(segments(&file).last(), Some(&SMALL), "{size:#x}");
        assert!(
            came.notes()[0].contains(" bytes of notes, of which those from 0x1000 on are memory"),
            "{came:?}"
        );
    }
}

/// PN_XNUM in a stream whose section 0 has not arrived: headers extend to the first segment.
#[test]
fn headers_of_unknown_count_end_before_the_first_segment() {
    let mut bytes = core(&[BIG, ZEROS, SMALL]);
    bytes[56..58].copy_from_slice(&[0xff, 0xff]);
    let (found, came) = spooled(std::io::Cursor::new(bytes.clone()), 1 << 30);
    assert_eq!(found, [BIG, ZEROS, SMALL]);
    assert!(came.notes()[0].contains("section 0 does not give the number"), "{came:?}");
    // A count beyond two bytes: 70000 headers, with their number behind all memory.
    const COUNT: u64 = 70_000;
    let data = (64 + COUNT * 56).next_multiple_of(0x1000);
    let mut many = bytes[..64].to_vec();
    for index in 0..COUNT {
        many.extend(bytes_of(&program_header(PT_LOAD, data + index * 8, 0x10_0000 + index * 0x1000, 8)));
    }
    many.resize(data as usize, 0);
    for index in 0..COUNT {
        many.extend((index + 1).to_le_bytes());
    }
    let section = many.len() as u64;
    many[40..48].copy_from_slice(&section.to_le_bytes());
    many.extend([0; 64]);
    let at = section as usize + 44;
    many[at..at + 4].copy_from_slice(&(COUNT as u32).to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    let patience = StallBudget { limit: 1 << 30, stall: FOREVER };
    let spooled = spool(std::io::Cursor::new(many), folder.path(), patience, &mut |_| ()).unwrap();
    let file = std::fs::read(spooled.path()).unwrap();
    let (table, sections) = (number(&file, 32, 8) as usize, number(&file, 40, 8) as usize);
    assert_eq!((number(&file, 56, 2), number(&file, sections + 44, 4)), (0xffff, COUNT));
    let last = table + (COUNT as usize - 1) * 56;
    let offset = number(&file, last + 8, 8) as usize;
    assert_eq!(
        (number(&file, last + 16, 8), number(&file, offset, 8)),
        (0x10_0000 + (COUNT - 1) * 0x1000, COUNT)
    );
    assert_eq!(spooled.came.missing, 0);
}

#[test]
fn every_truncation_ends_well() {
    let whole = core(&[(0x1000, 0x30, 7), (0x1010, 0x40, 7)]);
    for length in sampled(0..whole.len(), 13) {
        let folder = tempfile::tempdir().unwrap();
        let stream = std::io::Cursor::new(whole[..length].to_vec());
        let patience = StallBudget { limit: 100, stall: FOREVER };
        let result = spool(stream, folder.path(), patience, &mut |_| ());
        // With one program header: a core without its memory; with fewer bytes an ELF file stays unchanged.
        match result {
            Err(_) => assert!(length < 4, "{length}"),
            Ok(spooled) => assert_eq!(spooled.broken.is_some(), length < 64 + 56, "{length}"),
        }
    }
}

/// Single bytes of a trickle, after which the stream ends: their pauses are four times the patience.
const TRICKLE: usize = 100;

/// A stream whose first bytes come at once, and then single bytes with pauses.
struct Trickling(std::io::Cursor<Vec<u8>>, usize);

impl Read for Trickling {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.0.position() < self.1 as u64 {
            let left = self.1 - self.0.position() as usize;
            let count = left.min(buffer.len());
            return self.0.read(&mut buffer[..count]);
        }
        std::thread::sleep(Duration::from_millis(20));
        self.0.read(&mut buffer[..1])
    }
}

#[test]
fn a_writer_that_trickles_is_given_up_as_well() {
    let trickling = |mut bytes: Vec<u8>, at_once: usize| {
        bytes.truncate(at_once + TRICKLE);
        Trickling(std::io::Cursor::new(bytes), at_once)
    };
    let (segments, came) = given_up(0x6000, || trickling(core(&[BIG, SMALL]), 0x6000));
    assert_eq!(segments, [(BIG.0, came.read - 0x1000, 1)]);
    // The same before the headers arrived.
    let folder = tempfile::tempdir().unwrap();
    let patience = StallBudget { limit: 1 << 30, stall: SOON };
    let error = until("the end of patience before the headers", || {
        let stream = trickling(core(&[BIG]), 3);
        // Without the magic number's four bytes nothing is left.
        spool(stream, folder.path(), patience, &mut |_| ()).ok()?.broken
    });
    assert!(error.to_string().starts_with("standard input: no more data arrived after "), "{error}");
}

/// A core whose segments begin with those bytes, with noise elsewhere.
fn core_of(segments: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let plain: Vec<(u64, u64, u8)> =
        segments.iter().map(|(address, bytes)| (*address, bytes.len() as u64, 7)).collect();
    let mut file = core(&plain);
    file.truncate(0x1000);
    segments.iter().for_each(|(_, bytes)| file.extend(bytes));
    file
}

/// The start of a code object whose one segment ends at `size`: gABI chapter 4 and 5, EM_AMDGPU of LLVM's AMDGPUUsage.
fn code(size: u64, length: usize) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\x40".to_vec();
    bytes.resize(16, 0);
    bytes.extend([3, 0, 224, 0, 1, 0, 0, 0]);
    for word in [0u64, 64, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0]);
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(5u32.to_le_bytes());
    for word in [0, 0, 0, size, size, 4096] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.resize(length, 9);
    bytes
}

/// Addresses and sizes of the kept parts.
fn places(stream: Vec<u8>, limit: u64) -> (Vec<(u64, u64)>, SpoolStats) {
    let folder = tempfile::tempdir().unwrap();
    let patience = StallBudget { limit, stall: FOREVER };
    let spooled = spool(std::io::Cursor::new(stream), folder.path(), patience, &mut |_| ()).unwrap();
    let file = std::fs::read(spooled.path()).unwrap();
    let (at, count) = (number(&file, 32, 8) as usize, number(&file, 56, 2) as usize);
    let each = (0..count).map(|index| at + index * 56);
    let places = each.map(|at| (number(&file, at + 16, 8), number(&file, at + 32, 8))).collect();
    (places, spooled.came.clone())
}

#[test]
fn a_code_object_takes_the_room_of_what_is_worth_less() {
    // The header's page and four more; a code object of two pages in a segment that is larger than the rest.
    let limit = 0x5000;
    let small = |at: u64| (at, vec![5; 0x2000]);
    let large = (0x90_0000, code(0x1800, 0x6000));
    let before = core_of(&[small(0x10_0000), small(0x20_0000), large.clone()]);
    let (kept, came) = places(before, limit);
    // Among equal ones the later one is dropped.
    assert_eq!(kept, [(0x10_0000, 0x2000), (0x90_0000, 0x2000)]);
    assert_eq!((came.dropped, came.code), (0x2000 + 0x4000, 0));
    // A later and less valuable segment has no capacity left.
    let after = core_of(&[large.clone(), small(0x10_0000), small(0x20_0000)]);
    assert_eq!(places(after, limit).0, [(0x90_0000, 0x2000), (0x10_0000, 0x2000)]);
    // A code object at a page within a segment counts too; the bytes around it are not code, and the remaining
    // capacity holds one page of them.
    let mut inside = vec![6; 0x3000];
    inside.extend(code(0x1000, 0x4000));
    let (kept, _) = places(core_of(&[small(0x10_0000), small(0x20_0000), (0x90_0000, inside)]), limit);
    assert_eq!(kept, [(0x10_0000, 0x2000), (0x90_3000, 0x2000)]);
    // More code than capacity, which the notes report.
    let (kept, came) = places(core_of(&[small(0x10_0000), (0x90_0000, code(0x7000, 0x7000))]), limit);
    assert_eq!((kept, came.code), (vec![(0x90_0000, 0x4000)], 0x3000));
    assert_eq!(came.notes()[1], "of these 12288 are of code objects: variables may be missing");
    // A core within memory is not a code object, nor is an object of another machine.
    for (at, value) in [(16, 4), (18, 62), (4, 1), (5, 2)] {
        let mut other = code(0x1800, 0x6000);
        other[at] = value;
        let (kept, _) = places(core_of(&[small(0x10_0000), small(0x20_0000), (0x90_0000, other)]), limit);
        assert_eq!(kept, [(0x10_0000, 0x2000), (0x20_0000, 0x2000)]);
    }
}

#[test]
fn a_code_object_that_comes_in_small_pieces_is_known() {
    struct Bytewise(std::io::Cursor<Vec<u8>>);
    impl Read for Bytewise {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = buffer.len().min(7);
            self.0.read(&mut buffer[..count])
        }
    }
    let stream = core_of(&[(0x10_0000, vec![5; 0x2000]), (0x90_0000, code(0x1800, 0x6000))]);
    let folder = tempfile::tempdir().unwrap();
    let patience = StallBudget { limit: 0x3000, stall: FOREVER };
    let spooled =
        spool(Bytewise(std::io::Cursor::new(stream)), folder.path(), patience, &mut |_| ()).unwrap();
    assert_eq!((spooled.came.code, spooled.came.dropped), (0, 0x6000));
}

#[test]
fn segments_that_their_headers_call_code_come_first() {
    let large = (0x90_0000, vec![8; 0x2000]);
    let mut stream = core_of(&[(0x10_0000, vec![5; 0x1000]), (0x20_0000, vec![5; 0x1000]), large]);
    let flags = 64 + 2 * 56 + 4;
    // ROCr's SHF_EXECINSTR in a GPU core; PF_X in a host core, where ROCr sets it for writable memory.
    let kept = |stream: &[u8]| places(stream.to_vec(), 0x3000).0;
    let plain = vec![(0x10_0000, 0x1000), (0x20_0000, 0x1000)];
    for header in 0..3 {
        stream[64 + header * 56 + 4] = 3;
    }
    assert_eq!(kept(&stream), plain);
    stream[flags] = 7;
    assert_eq!(kept(&stream), [(0x90_0000, 0x2000)]);
    stream[18] = 62;
    (0..3).for_each(|header| stream[64 + header * 56 + 4] = 6);
    assert_eq!(kept(&stream), plain);
    stream[flags] = 5;
    assert_eq!(kept(&stream), [(0x90_0000, 0x2000)]);
}

/// Pages without end: every second one is zeros.
struct Striped(std::io::Cursor<Vec<u8>>, u64);

impl Read for Striped {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => {
                let page = (buffer.len() as u64).min(4096) as usize;
                buffer[..page].fill((self.1 % 2) as u8);
                self.1 += 1;
                Ok(page)
            }
            count => Ok(count),
        }
    }
}

#[test]
fn holes_between_what_was_dropped_are_bounded() {
    let size = 2 * 4096 * (MAX_GAPS + 1000);
    let mut head = core(&[(0x10_0000, 0, 0)]);
    head[64 + 32..64 + 40].copy_from_slice(&size.to_le_bytes());
    head[64 + 40..64 + 48].copy_from_slice(&size.to_le_bytes());
    let stream = Striped(std::io::Cursor::new(head), 1).take(0x1000 + size);
    let folder = tempfile::tempdir().unwrap();
    let patience = StallBudget { limit: 0x1000, stall: FOREVER };
    let spooled = spool(stream, folder.path(), patience, &mut |_| ()).unwrap();
    use std::os::unix::fs::FileExt as _;
    let file = std::fs::File::open(spooled.path()).unwrap();
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0).unwrap();
    assert_eq!(number(&header, 56, 2), 0xffff);
    let mut section = [0; 64];
    file.read_exact_at(&mut section, number(&header, 40, 8)).unwrap();
    assert_eq!(number(&section, 44, 4), MAX_GAPS);
    assert_eq!(spooled.came.dropped, 4096 * (MAX_GAPS + 1000) + 4096 * 1000);
}

#[test]
fn late_notes_are_kept_and_reported() {
    // A note behind the inspected first 256 MiB, for which the reader does not wait.
    let late = (256 << 20) + 0x1000;
    let mut head = core(&[(0x10_0000, 0, 0), (0, 0, 0)]);
    for (header, kind, offset, size) in [(0, 1u32, 0x1000u64, late - 0x1000), (1, 4, late, 0x100)] {
        let at = 64 + header * 56;
        head[at..at + 4].copy_from_slice(&kind.to_le_bytes());
        head[at + 8..at + 16].copy_from_slice(&offset.to_le_bytes());
        head[at + 32..at + 40].copy_from_slice(&size.to_le_bytes());
    }
    let stream = std::io::Cursor::new(head).chain(std::io::repeat(1)).take(late + 0x100);
    let folder = tempfile::tempdir().unwrap();
    let patience = StallBudget { limit: 0x2000, stall: FOREVER };
    let spooled = spool(stream, folder.path(), patience, &mut |_| ()).unwrap();
    let (file, mut note) = (std::fs::File::open(spooled.path()).unwrap(), [0; 0x100]);
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut note, late).unwrap();
    assert_eq!(note, [1; 0x100]);
    assert!(
        spooled.came.blind && spooled.came.notes()[1].contains("came after memory"),
        "{:?}",
        spooled.came
    );
}
