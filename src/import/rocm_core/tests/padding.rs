use super::super::headers;
use super::{correct, without};
use crate::capture::{Backing as _, MemoryBacking};
use crate::import::problem::Problems;

/// Sizes of a note and of two segments: 64 + 3 * 56 + 444 is 4 more than a multiple of 16: 12 bytes of padding follow.
const SIZES: [u64; 3] = [444, 8192, 4096];

/// A core like ROCr's; `padded`: written to a file. The memory is `fill` except for code objects in the second segment.
fn core(padded: bool, fill: u8, code: bool) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\x40".to_vec();
    bytes.resize(16, 0);
    bytes.extend(4u16.to_le_bytes());
    bytes.extend(224u16.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    for word in [0u64, 64, 0] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(0u32.to_le_bytes());
    for word in [64u16, 56, 3, 0, 0, 0] {
        bytes.extend(word.to_le_bytes());
    }
    let mut at = 64 + 3 * 56u64;
    for (index, size) in SIZES.iter().enumerate() {
        let (kind, align) = if index == 0 { (4u32, 2u64) } else { (1, 4) };
        bytes.extend(kind.to_le_bytes());
        bytes.extend(3u32.to_le_bytes());
        let address = 0x7f00_0000_0000 * index as u64;
        for word in [at.next_multiple_of(1 << align), address, 0, *size, *size, align] {
            bytes.extend(word.to_le_bytes());
        }
        at += size;
    }
    bytes.resize(bytes.len() + SIZES[0] as usize, 0);
    if padded {
        bytes.resize(bytes.len().next_multiple_of(16), 0);
    }
    let mut memory = vec![fill; (SIZES[1] + SIZES[2]) as usize];
    if code {
        let mut header = b"\x7fELF\x02\x01\x01\x40".to_vec();
        header.resize(16, 0);
        header.extend([3, 0, 224, 0]);
        header.resize(64, 0);
        memory[SIZES[1] as usize..SIZES[1] as usize + 64].copy_from_slice(&header);
    }
    bytes.extend(memory);
    bytes
}

fn offsets(bytes: Vec<u8>) -> (Vec<u64>, usize) {
    let file = MemoryBacking::new("core", bytes);
    let mut problems = Problems::new("core");
    let mut headers = headers::read(&file, &mut problems).unwrap();
    assert!(without(&headers).is_some());
    assert!(!file.is_empty());
    correct(&file, &mut headers, None, &mut problems);
    (headers.loads.iter().map(|load| load.offset).collect(), problems.finish().len())
}

/// Offsets by the writers' formula: 64 + 3 * 56 + 444 = 676, which the headers round up to 688.
const STATED: [u64; 2] = [688, 688 + 8192];
const SHIFTED: [u64; 2] = [676, 676 + 8192];

#[test]
fn the_file_s_length_shows_whether_padding_was_written() {
    assert_eq!(offsets(core(true, 0, false)), (STATED.to_vec(), 0));
    assert_eq!(offsets(core(false, 0, false)), (SHIFTED.to_vec(), 1));
}

#[test]
fn padding_has_no_data() {
    let mut cut = core(false, 7, false);
    cut.truncate(cut.len() - 1000);
    assert_eq!(offsets(cut), (SHIFTED.to_vec(), 1));
}

#[test]
fn code_objects_begin_segments_whatever_the_length() {
    let mut cut = core(false, 0, true);
    cut.truncate(cut.len() - 1000);
    assert_eq!(offsets(cut), (SHIFTED.to_vec(), 1));
    // Cut by the size of the padding.
    let mut cut = core(true, 0, true);
    cut.truncate(cut.len() - 12);
    assert_eq!(offsets(cut), (STATED.to_vec(), 0));
}
