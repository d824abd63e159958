//! Which lines are whose.

use super::{MOST_PREFIX, MOST_STREAMS, Streams};

/// The stream that a line is of, and the rest of the line.
fn of<'l>(streams: &mut Streams<u32>, line: &'l str) -> Option<(u32, &'l str)> {
    let found = streams.find(line.as_bytes())?;
    let wave = *streams.wave(found)?;
    Some((wave, std::str::from_utf8(found.line).unwrap()))
}

#[test]
fn a_line_is_of_the_header_with_its_prefix() {
    let mut streams = Streams::new();
    assert_eq!(of(&mut streams, "s0: 1"), None);
    assert_eq!(streams.begin(b"[1,0]: ", 1), None);
    assert_eq!(streams.begin(b"[1,1]: ", 2), None);
    assert_eq!(of(&mut streams, "[1,0]: s0"), Some((1, "s0")));
    assert_eq!(of(&mut streams, "[1,1]: s0"), Some((2, "s0")));
    // One whose header has not come resembles the last; what has no prefix is the last's, too.
    assert_eq!(of(&mut streams, "[1,7]: s0"), Some((2, "s0")));
    assert_eq!(of(&mut streams, "s0"), Some((2, "s0")));
    // A header of the same rank ends its wave.
    assert_eq!(streams.begin(b"[1,0]: ", 3), Some(1));
    assert_eq!(streams.begin(b"", 4), None);
    assert_eq!(of(&mut streams, "s0"), Some((4, "s0")));
    assert_eq!(streams.finish().collect::<Vec<_>>(), [2, 3, 4]);
}

/// A time differs from line to line: once a row came with another, the next header with a time ends the wave.
#[test]
fn times_make_one_stream() {
    let mut streams = Streams::new();
    streams.begin(b"09:00:01 ", 1);
    let found = streams.find(b"09:00:02 s0: 00000001").unwrap();
    assert_eq!(found.line, b"s0: 00000001");
    streams.was_row(found);
    assert_eq!(streams.begin(b"09:00:03 ", 2), Some(1));
    assert_eq!(streams.begin(b"09:00:04 ", 3), Some(2), "what has varied goes on to vary");
    assert_eq!(of(&mut streams, "10:11:12 x"), Some((3, "x")));
}

#[test]
fn streams_are_bounded() {
    let mut streams = Streams::new();
    for at in 0..MOST_STREAMS as u32 {
        assert_eq!(streams.begin(format!("rank {at:04}x ").as_bytes(), at), None);
    }
    assert_eq!(streams.begin(b"one more ", 9999), Some(0));
    assert_eq!(streams.finish().count(), MOST_STREAMS);
    let mut streams = Streams::new();
    streams.begin("x".repeat(MOST_PREFIX + 1).as_bytes(), 1);
    assert_eq!(of(&mut streams, "s0"), Some((1, "s0")), "no prefix is that long");
}
