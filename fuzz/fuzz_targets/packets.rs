//! Any bytes from a client. The first byte chooses what the client is taken for and how the rest is sent: as it is, or
//! line by line as well-formed packets, because hardly any random packet has the right checksum.
//!
//! What must hold: no panic, all that comes back is well framed, and the next packet is answered.
#![no_main]

use std::sync::{Arc, LazyLock};

use lanescope::arch::Targets;
use lanescope::disassembler::Disassembler;
use lanescope::import;
use lanescope::server::{Client, ClientOptions, Facade, Flow};
use lanescope::session::{Dump, Session};
use libfuzzer_sys::fuzz_target;

static DEMO: &[u8] = include_bytes!("../../tests/fixtures/demo.zip");

static DUMP: LazyLock<Arc<Dump>> = LazyLock::new(|| {
    let opened = import::open_zip_bytes("demo", DEMO, &Targets::builtin()).expect("the demo is sound");
    // No program is started by a fuzzer.
    let none = Disassembler::new(Some("/nowhere/llvm-objdump".into()));
    Arc::new(Dump::new(opened.capture, Vec::new()).with_disassembler(none))
});

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, stream)) = bytes.split_first() else { return };
    let facade = Facade::NAMES.get(usize::from(choice >> 1 & 7)).map(|(_, facade)| *facade);
    let session = Session::new(Arc::clone(&DUMP), None).expect("the demo can be served");
    let mut client = Client::new(Box::new(session), ClientOptions { facade, ..ClientOptions::default() });
    let mut out = Vec::new();
    if choice & 1 == 0 {
        if client.feed(stream, &mut out) == Flow::Close {
            return;
        }
    } else {
        for line in stream.split(|byte| *byte == b'\n') {
            if client.feed(&framed(line), &mut out) == Flow::Close {
                return;
            }
        }
    }
    check_framing(&out);
    // Ends a packet that is open.
    let _ = client.feed(b"#00", &mut out);
    out.clear();
    let _ = client.feed(&framed(b"T1"), &mut out);
    assert!(out.ends_with(b"$OK#9a"), "the session was lost: {}", out.escape_ascii());
});

fn framed(body: &[u8]) -> Vec<u8> {
    let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}

/// Acknowledgements and packets with right checksums, nothing else.
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
