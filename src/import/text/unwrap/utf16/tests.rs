//! Compared with the standard library's encoder.

use std::io::{self, Read};

use super::{BLOCK, Order, Utf16};

fn encoded(text: &str, order: Order) -> Vec<u8> {
    let units = ['\u{feff}'].into_iter().chain(text.chars());
    let mut buffer = [0; 2];
    units
        .flat_map(|one| one.encode_utf16(&mut buffer).to_vec())
        .flat_map(|unit| if order == Order::Little { unit.to_le_bytes() } else { unit.to_be_bytes() })
        .collect()
}

fn decoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    Utf16::new(bytes, Order::of(bytes).unwrap()).read_to_string(&mut text).unwrap();
    text
}

#[test]
fn text_comes_out_as_it_went_in() {
    // For one of two shifts, surrogate pairs cross the ends of blocks.
    let long: String = "x\u{1f600}é\r\n".repeat(BLOCK / 5);
    for text in ["", "a", "wave_1: pc=0x10\r\n", "é\u{20ac}\u{1f600}", &long, &format!("y{long}")] {
        for order in [Order::Little, Order::Big] {
            assert_eq!(decoded(&encoded(text, order)), text, "{order:?}");
        }
    }
}

/// A lone surrogate (Unicode, 3.9, D91) and half a code unit are not characters.
#[test]
fn what_is_no_text_is_replaced() {
    let lone = [0xff, 0xfe, b'a', 0, 0x00, 0xd8, b'b', 0, 0x00, 0xdc, b'c', 0];
    assert_eq!(decoded(&lone), "a\u{fffd}b\u{fffd}c");
    assert_eq!(decoded(&lone[..6]), "a\u{fffd}");
    assert_eq!(decoded(&lone[..7]), "a\u{fffd}\u{fffd}");
    assert_eq!(decoded(&lone[..3]), "\u{fffd}");
}

#[test]
fn only_marked_text_is_utf_16() {
    for (start, order) in [
        (&[0xff, 0xfe, b'a', 0][..], Some(Order::Little)),
        (&[0xff, 0xfe], Some(Order::Little)),
        (&[0xfe, 0xff, 0, b'a'], Some(Order::Big)),
        (&[0xff, 0xfe, 0, 0], None),
        (&[0xef, 0xbb, 0xbf], None),
        (&[0xff], None),
        (b"text", None),
    ] {
        assert_eq!(Order::of(start), order, "{start:?}");
    }
}

/// Only one block is in memory, for any size of the text.
#[test]
fn reading_takes_no_more_than_a_block() {
    let mut source = io::repeat(b'x').take(1 << 30);
    let mut text = Utf16::new(&mut source, Order::Little);
    text.read_exact(&mut [0; 1000]).unwrap();
    assert!(text.raw.capacity() <= 2 * BLOCK && text.text.capacity() <= 4 * BLOCK);
    assert_eq!(source.limit(), (1 << 30) - BLOCK as u64);
}
