//! Assignment of lines to streams.

use super::{MAX_PREFIX, MAX_STREAMS, Owner, Streams};

/// Stream of a line, and the rest of the line; `None`: the stream is unknown.
fn of<'l>(streams: &mut Streams<u32>, line: &'l str) -> Option<(u32, &'l str)> {
    let Owner::One(found) = streams.find(line.as_bytes()) else { return None };
    let wave = *streams.wave(&found)?;
    streams.was_row(&found);
    Some((wave, std::str::from_utf8(found.line).unwrap()))
}

fn begin(streams: &mut Streams<u32>, prefix: &str, wave: u32) -> Option<u32> {
    streams.begin(prefix.as_bytes(), wave).map(|(_, wave)| wave)
}

#[test]
fn a_line_is_of_the_header_with_its_prefix() {
    let mut streams = Streams::new();
    assert_eq!(streams.find(b"s0: 1"), Owner::Nobody);
    assert_eq!(begin(&mut streams, "[1,0]: ", 1), None);
    // The only stream: it gets lines without a prefix.
    assert_eq!(of(&mut streams, "s0"), Some((1, "s0")));
    assert_eq!(begin(&mut streams, "[1,1]: ", 2), None);
    assert_eq!(of(&mut streams, "[1,0]: s0"), Some((1, "s0")));
    assert_eq!(of(&mut streams, "[1,1]: s0"), Some((2, "s0")));
    // A line before its stream's header belongs to no stream; neither does a line without a prefix.
    assert_eq!(streams.find(b"[1,7]: s0"), Owner::Unclear(b"s0"));
    assert_eq!(streams.find(b"s0"), Owner::Unclear(b"s0"));
    // A header of the same rank ends its wave.
    assert_eq!(begin(&mut streams, "[1,0]: ", 3), Some(1));
    assert_eq!(begin(&mut streams, "", 4), None);
    assert_eq!(of(&mut streams, "s0"), Some((4, "s0")));
    assert_eq!(streams.finish().collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn times_make_one_stream_of_any_width() {
    for (header, row, next) in [
        ("09:00:01 ", "09:00:02 ", "10:11:12 "),
        ("2026-11-20T09:00:01.12345678Z ", "2026-11-20T09:00:01.5Z ", "2026-11-20T09:00:02Z "),
        ("[   999.5] ", "[  1000.25] ", "[10000.0] "),
        (
            "Jan  9 09:00:01 node app[77]: ",
            "Jan 10 09:00:01 node app[77]: ",
            "Feb  1 00:00:00 node app[77]: ",
        ),
        ("9.9s ", "10.0s ", "100.1s "),
    ] {
        let mut streams = Streams::new();
        begin(&mut streams, header, 1);
        assert_eq!(
            of(&mut streams, &format!("{row}             s0")),
            Some((1, "             s0")),
            "{header}"
        );
        assert_eq!(begin(&mut streams, next, 2), Some(1), "{header}");
        assert_eq!(of(&mut streams, &format!("{header}s0")), Some((2, "s0")), "{header}");
    }
}

#[test]
fn a_time_and_a_rank_are_distinguished() {
    for rank in ["[rank0] ", "app[1233]: ", "node-0 | "] {
        let other = rank.replace('0', "1").replace("1233", "1234");
        let mut streams = Streams::new();
        begin(&mut streams, &format!("09:00:01 {rank}"), 1);
        begin(&mut streams, &format!("09:00:02 {other}"), 2);
        assert_eq!(of(&mut streams, &format!("09:00:02 {rank}s0")), Some((1, "s0")));
        assert_eq!(of(&mut streams, &format!("09:00:03 {other}s0")), Some((2, "s0")));
        assert_eq!(begin(&mut streams, &format!("09:00:04 {rank}"), 3), Some(1));
    }
}

/// Line numbers of `cat -n` and `grep -n`: alone, and before ranks.
#[test]
fn a_number_that_goes_on_is_a_counter() {
    let mut streams = Streams::new();
    begin(&mut streams, "     9\t", 1);
    assert_eq!(of(&mut streams, "    10\ts0"), Some((1, "s0")));
    assert_eq!(begin(&mut streams, "  1000\t", 2), Some(1));
    assert_eq!(of(&mut streams, "100000\ts0"), Some((2, "s0")));
    let mut streams = Streams::new();
    begin(&mut streams, "9:[1,0]: ", 1);
    begin(&mut streams, "10:[1,1]: ", 2);
    assert_eq!(of(&mut streams, "11:[1,0]: s0"), Some((1, "s0")));
    assert_eq!(of(&mut streams, "12:[1,1]: s0"), Some((2, "s0")));
    assert_eq!(streams.find(b"13:[1,2]: s0"), Owner::Unclear(b"s0"));
}

#[test]
fn streams_are_bounded() {
    let mut streams = Streams::new();
    for at in 0..MAX_STREAMS as u32 {
        assert_eq!(begin(&mut streams, &format!("rank {at:04}x "), at), None);
    }
    assert_eq!(begin(&mut streams, "one more ", 9999), Some(0));
    assert_eq!(streams.finish().count(), MAX_STREAMS);
    let mut streams = Streams::new();
    begin(&mut streams, &"x".repeat(MAX_PREFIX + 1), 1);
    assert_eq!(of(&mut streams, "s0"), Some((1, "s0")), "no prefix is that long");
}
