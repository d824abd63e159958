//! Properties for any bytes: nothing panics, nothing is lost, and the chunks make no difference.

use proptest::prelude::*;

use super::framed;
use super::synthetic::session;
use crate::support::least;
use lanescope::server::{Client, ClientOptions, Flow};

fn client() -> Client {
    Client::new(Box::new(session(4)), ClientOptions::default())
}

/// A stream as a confused client may send it: junk, packets with known beginnings and any end, all well framed or not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let names = prop::sample::select(vec![
        "m",
        "x",
        "p",
        "P",
        "g",
        "G",
        "H",
        "T",
        "Z0",
        "z",
        "M",
        "X",
        "?",
        "c",
        "s",
        "vCont",
        "qXfer:features:read",
        "qXfer:threads:read",
        "qRcmd",
        "qThreadExtraInfo",
        "qThreadStopInfo",
        "qMemoryRegionInfo",
        "qRegisterInfo",
        "qlanescope.Memory",
        "qlanescope.Locals",
        "qXfer:lanescope-locals:read",
        "qSupported",
    ]);
    let tail = prop_oneof![
        "[0-9a-f,:;=pgc.-]{0,24}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>().prop_filter("framing", |byte| !matches!(byte, b'#' | b'$')), 0..24),
    ];
    let packet = (names, tail).prop_map(|(name, tail)| framed([name.as_bytes(), &tail].concat()));
    let junk = prop::collection::vec(any::<u8>(), 0..16);
    prop::collection::vec(prop_oneof![4 => packet, 1 => junk], 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(least(256, 64) as u32))]

    #[test]
    fn the_session_survives_any_bytes(bytes in stream()) {
        let mut client = client();
        let mut out = Vec::new();
        if client.feed(&bytes, &mut out) == Flow::Close {
            return Ok(());
        }
        // A NAK looks like junk, and an open packet swallows the bytes after it; a packet's end and a fresh start
        // clear both.
        let _ = client.feed(b"#00", &mut out);
        out.clear();
        let _ = client.feed(&framed(b"T1"), &mut out);
        prop_assert!(out.ends_with(b"$OK#9a"), "{}", out.escape_ascii());
    }

    #[test]
    fn cutting_the_stream_makes_no_difference(bytes in stream(), cuts in prop::collection::vec(1..9usize, 1..40)) {
        let (mut whole, mut pieces) = (client(), client());
        let (mut expected, mut got) = (Vec::new(), Vec::new());
        let _ = whole.feed(&bytes, &mut expected);
        let mut rest = bytes.as_slice();
        for cut in cuts.into_iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at(cut.min(rest.len()));
            let _ = pieces.feed(now, &mut got);
            rest = later;
        }
        prop_assert_eq!(got.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }

    #[test]
    fn a_document_is_the_same_whatever_the_pieces(length in 1..5000u64) {
        let read = |object: &str, annex: &str, length: u64| {
            let mut client = client();
            let mut document = Vec::new();
            loop {
                let request = format!("qXfer:{object}:read:{annex}:{:x},{length:x}", document.len());
                let mut out = Vec::new();
                let _ = client.feed(&framed(request.as_bytes()), &mut out);
                let body = &out[2..out.len() - 3];
                let mut bytes = body[1..].iter();
                while let Some(byte) = bytes.next() {
                    document.push(if *byte == b'}' { bytes.next().unwrap() ^ 0x20 } else { *byte });
                }
                if body[0] == b'l' {
                    return document;
                }
            }
        };
        for object in ["features", "threads", "memory-map", "lanescope-waves"] {
            let annex = if object == "features" { "target.xml" } else { "" };
            prop_assert_eq!(read(object, annex, length), read(object, annex, 0x1000));
        }
    }
}
