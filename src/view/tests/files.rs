//! A file in parts reads like a whole one, at any offset and in chunks of any size.

use proptest::prelude::*;

use crate::codeobject::Bytes;
use crate::view::file::ViewFile;

/// Parts with their alignments, and the same file in one piece.
fn built(parts: &[(Vec<u8>, u64)]) -> (ViewFile, Vec<u8>) {
    let (mut file, mut flat) = (ViewFile::default(), Vec::new());
    for (part, alignment) in parts {
        flat.resize(flat.len().next_multiple_of(*alignment as usize), 0);
        assert_eq!(file.append(Bytes::from(part.clone()), *alignment), flat.len() as u64);
        flat.extend(part);
    }
    (file, flat)
}

proptest! {
    #[test]
    fn any_piece_is_that_of_the_whole(
        parts in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), 1u64..9), 0..8),
        offset in 0u64..400,
        length in 0usize..200,
    ) {
        let (file, flat) = built(&parts);
        prop_assert_eq!(file.len(), flat.len() as u64);
        let mut read = vec![0xee; length];
        let count = file.read(offset, &mut read);
        let start = flat.len().min(offset as usize);
        let expected = &flat[start..flat.len().min(start + length)];
        prop_assert_eq!(&read[..count], expected);
    }

    #[test]
    fn it_is_written_as_it_is_read(
        parts in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), 1u64..9), 0..8),
    ) {
        let (file, flat) = built(&parts);
        let mut written = Vec::new();
        file.write_to(&mut written).unwrap();
        prop_assert_eq!(written, flat);
    }
}

#[test]
fn an_offset_past_the_end_reads_nothing() {
    let (file, _) = built(&[(vec![1, 2, 3], 1)]);
    for offset in [3, 4, u64::MAX] {
        assert_eq!(file.read(offset, &mut [0; 8]), 0, "offset {offset}");
    }
}
