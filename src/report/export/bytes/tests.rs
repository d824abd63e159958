//! Memory in the document, by its readable bytes.

use super::*;

/// The document of a memory with the readable bytes `there`, each the low byte of its address.
fn written(
    runs: &[(u64, u64)],
    size: Option<u64>,
    is_stored: bool,
    there: impl Fn(u64) -> bool,
) -> io::Result<String> {
    let read = &mut |at: u64, buffer: &mut [u8]| {
        let bytes = (at..=u64::MAX).take(buffer.len()).take_while(|at| there(*at));
        Ok(buffer.iter_mut().zip(bytes).map(|(to, at)| *to = at as u8).count())
    };
    let mut out = Vec::new();
    Memory { runs: runs.to_vec(), size, is_stored, read }.write(&mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn all_of_a_memory_is_digits_and_a_part_is_pieces() {
    let all = |_| true;
    let piece = r#"[{"address":"0x0","bytes":"000102"}]"#;
    for (runs, size, expected) in [
        (&[(0, 2)][..], Some(3), "\"000102\""),
        (&[(0, 0), (1, 2)], Some(3), "\"000102\""),
        (&[(0, 2)], Some(4), piece),
        (&[(0, 2)], None, piece),
        (&[(0, 0), (1, 2)], None, piece),
        (&[(1, 2)], Some(3), r#"[{"address":"0x1","bytes":"0102"}]"#),
        (&[(0, 0), (2, 2)], Some(3), r#"[{"address":"0x0","bytes":"00"},{"address":"0x2","bytes":"02"}]"#),
        (&[], Some(3), "null"),
        // The run ends at the last address.
        (&[(u64::MAX - 1, u64::MAX)], None, r#"[{"address":"0xfffffffffffffffe","bytes":"feff"}]"#),
    ] {
        assert_eq!(written(runs, size, true, all).unwrap(), expected, "{runs:?} of {size:?}");
    }
    // A store of known short length: only its readable bytes, never zeros.
    let expected = r#"[{"address":"0x0","bytes":"00"},{"address":"0x2","bytes":"0203"}]"#;
    assert_eq!(written(&[(0, 1), (2, 3)], Some(4), false, |at| at != 1).unwrap(), expected);
    assert_eq!(written(&[(0, 1)], Some(2), false, |_| false).unwrap(), "null");
}

/// The document has begun as digits before the file is known to be shorter than at its opening.
#[test]
fn a_file_that_became_shorter_is_an_error() {
    let error = written(&[(0, 9)], Some(10), true, |at| at < 4).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    assert!(error.to_string().contains("0x4 of 0x9"), "{error}");
}

#[test]
fn what_is_larger_than_a_chunk_is_one_string() {
    let size = CHUNK as u64 * 2 + 1;
    let text = written(&[(0, size - 1)], Some(size), true, |_| true).unwrap();
    let expected: String = (0..size).map(|at| format!("{:02x}", at as u8)).collect();
    assert!(text.trim_matches('"') == expected);
    let text = written(&[(0, size - 1)], None, true, |_| true).unwrap();
    assert!(text == format!("[{{\"address\":\"0x0\",\"bytes\":\"{expected}\"}}]"));
}
