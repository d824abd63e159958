//! A header's prefix, determined by the following lines.

use std::io::{self, BufReader, Read};

use super::{Ahead, MAX_BYTES, MAX_LINES, MAX_LOOKED};

fn repeated<'p>(prefix: &'p str, text: &str) -> &'p str {
    let length = Ahead::new(text.as_bytes()).repeated(prefix.as_bytes());
    &prefix[..length]
}

#[test]
fn what_the_report_repeats_is_a_prefix() {
    let row = "             s0: 00000001              s1: 00000002";
    for prefix in
        ["12: ", "[1,0]<stderr>:", "worker-3  | ", "> ", "> > ", "+", "\t", "2026-11-20T09:00:01.5Z "]
    {
        for line in [row, "scalar registers:", "v0: [0] 00000001", "    0x0020: 00000001", "Lane 0x1F"] {
            let text = format!("{prefix}\na line of the program\n{prefix}{line}\n");
            assert_eq!(repeated(prefix, &text), prefix, "{text}");
        }
    }
    // A time increases, and so does a counter.
    assert_eq!(repeated("09:00:59 ", &format!("09:01:00 {row}\n")), "09:00:59 ");
}

#[test]
fn a_line_that_was_not_ended_is_none() {
    let begun = "iteration 17 of 100 ... ";
    for text in [
        "",
        "\n",
        "\nscalar registers:\n             s0: 00000001\n",
        // The program continues, and another header was written into its line, too.
        "\nscalar registers:\niteration 18 of 100 ... done\niteration 19 of 100 ... wave_3: pc=0x10 (running)\n",
        "iteration 18 of 100 ... \niteration 19 of 100 ... step: 12 loss: 0.25\n",
    ] {
        assert_eq!(repeated(begun, text), "", "{text}");
    }
    // After a rank, which stays the same.
    let text = "[1,0]: \n[1,1]: scalar registers:\n[1,0]: scalar registers:\n[1,0]:       s0: 00000001\n";
    assert_eq!(repeated("[1,0]: step 17 ... ", text), "[1,0]: ");
    let long = format!("[1,0]: {} ", "x".repeat(500));
    assert_eq!(repeated(&long, text), "[1,0]: ");
    let old = "3: printing the first one: \n3: \n3:    EXEC: 0x00000000FFFFFFFF\n";
    assert_eq!(repeated("3: step 17 ... ", old), "3: ");
    // A word with the same beginning as the class.
    assert_eq!(repeated("12: s", "12: scalar registers:\n"), "12: ");
}

#[test]
fn lines_come_once_and_in_order_whatever_was_looked_at() {
    let text = "a\nb\r\nc";
    let mut ahead = Ahead::new(text.as_bytes());
    let mut lines = Vec::new();
    for _ in 0..4 {
        ahead.repeated(b"x ");
        if let Some(line) = ahead.next().unwrap() {
            lines.push((line.number, line.text.to_vec(), line.ended));
        }
    }
    let line = |number, text: &str, ended| (number, text.as_bytes().to_vec(), ended);
    assert_eq!(lines, [line(1, "a", true), line(2, "b", true), line(3, "c", false)]);
}

/// A reader whose reads fail.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("a bad block"))
    }
}

#[test]
fn errors_of_reading_ahead_are_reported_when_reached() {
    let mut ahead = Ahead::new(b"a\nb\n".chain(BufReader::new(Broken)));
    assert_eq!(ahead.repeated(b"x "), 0);
    assert_eq!(ahead.next().unwrap().unwrap().text, b"a");
    assert_eq!(ahead.repeated(b"x "), 0);
    assert_eq!(ahead.next().unwrap().unwrap().text, b"b");
    assert_eq!(ahead.next().unwrap_err().to_string(), "a bad block");
}

/// Counts the bytes read from it.
struct Counted<'c>(&'c [u8], &'c std::cell::Cell<usize>);

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1.set(self.1.get() + count);
        Ok(count)
    }
}

#[test]
fn looking_ahead_is_bounded() {
    let row = "12: scalar registers:\n";
    let text = |lines: usize| "x\n".repeat(lines) + row;
    assert_eq!(repeated("12: ", &text(MAX_LINES - 1)), "12: ");
    assert_eq!(repeated("12: ", &text(MAX_LINES)), "");
    // Limit of bytes: at most one line beyond it is read.
    let lines = ("y".repeat(9_999) + "\n").repeat(MAX_BYTES / 10_000 * 2);
    let taken = std::cell::Cell::new(0);
    let mut ahead = Ahead::new(BufReader::with_capacity(1000, Counted(lines.as_bytes(), &taken)));
    assert_eq!(ahead.repeated(b"12: "), 0);
    assert!((MAX_BYTES - 20_000..MAX_BYTES + 20_000).contains(&taken.get()), "{}", taken.get());
    // Limit of all headers together.
    let text = text(MAX_LINES - 1);
    let mut ahead = Ahead::new(text.as_bytes());
    ahead.looked = MAX_LOOKED - 1;
    assert_eq!(ahead.repeated(b"13x: "), 0);
    assert_eq!(ahead.repeated(b"13x: "), 5, "what stands there is taken as it is");
}
