//! Arbitrary bytes from a client. The first byte chooses the client type and the form of the rest: unchanged, as
//! well-formed packets line by line, or as a burst of 64 KiB of them. Random packets rarely have the right checksum.
//!
//! Properties: no panic, well-framed answers, one bounded answer for any input, and an answer to the next packet.

use std::sync::{Arc, LazyLock};

use lanescope::arch::Targets;
use lanescope::import;
use lanescope::server::{Client, ClientOptions, Facade, Flow};
use lanescope::session::{Dump, Session};

static DEMO: &[u8] = include_bytes!("../../tests/fixtures/demo.zip");

/// The transport's chunk size.
const BURST: usize = 64 << 10;
/// Number of checked answers of a burst.
const ANSWERS: usize = 200;
/// The largest answer: a packet, or the text of a `monitor` command about the whole demo, as hex digits in packets.
const MAX_ANSWER: usize = 4 << 20;

static DUMP: LazyLock<Arc<Dump>> = LazyLock::new(|| {
    let opened = import::open_zip_bytes("demo", DEMO, &Targets::builtin()).expect("the demo is sound");
    Arc::new(Dump::new(opened.capture, Vec::new()))
});

pub fn run(bytes: &[u8]) {
    let Some((choice, stream)) = bytes.split_first() else { return };
    let facade = Facade::NAMES.get(usize::from(choice >> 1 & 7)).map(|(_, facade)| *facade);
    let session = Session::new(Arc::clone(&DUMP), None).expect("the demo can be served");
    let mut client = Client::new(Box::new(session), ClientOptions { facade, ..ClientOptions::default() });
    let lines = || stream.split(|byte| *byte == b'\n').map(framed);
    let has_left = match choice & 0x11 {
        0x00 => answer_all(&mut client, stream),
        0x01 => lines().any(|line| answer_all(&mut client, &line)),
        choice => {
            let unit = if choice & 1 == 0 { stream.to_vec() } else { lines().flatten().collect() };
            let burst: Vec<u8> = unit.iter().copied().cycle().take(BURST.min(unit.len() * ANSWERS)).collect();
            answer_all(&mut client, &burst)
        }
    };
    if has_left {
        return;
    }
    // Ends the open packet and answers the remaining ones.
    let mut out = Vec::new();
    let _ = client.feed(b"#00", &mut Vec::new());
    let _ = client.feed(&framed(b"T1"), &mut out);
    assert!(out.ends_with(b"$OK#9a"), "the session was lost: {}", out.escape_ascii());
}

/// Answers the packets one by one, as the transport does. Returns whether the client has left, also within a long
/// burst.
fn answer_all(client: &mut Client, bytes: &[u8]) -> bool {
    client.take(bytes);
    let mut out = Vec::new();
    for _ in 0..ANSWERS {
        let Some(flow) = client.answer(&mut out) else { return false };
        assert!(out.len() <= MAX_ANSWER, "an answer of {} bytes", out.len());
        check_framing(&out);
        out.clear();
        if flow == Flow::Close {
            return true;
        }
    }
    true
}

fn framed(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

/// Requires only acknowledgements and packets with right checksums.
fn check_framing(out: &[u8]) {
    let mut rest = out;
    while let Some((first, after)) = rest.split_first() {
        rest = match first {
            b'+' | b'-' => after,
            b'$' => {
                let end = after.iter().position(|byte| *byte == b'#').expect("every packet ends");
                let (body, tail) = after.split_at(end);
                assert_eq!(framed(body)[body.len() + 1..], tail[..3], "{}", body.escape_ascii());
                &tail[3..]
            }
            other => panic!("{other:#x} between packets"),
        };
    }
}
