use super::{Event, Framer, MAX_BODY};

/// Events of bytes that arrive in pieces, one word per event.
fn found(pieces: &[&[u8]]) -> String {
    let mut framer = Framer::default();
    let mut words = Vec::new();
    for piece in pieces {
        framer.push(piece);
        while let Some(event) = framer.next() {
            words.push(match event {
                Event::Packet(body) => format!("<{}>", body.escape_ascii()),
                Event::BadChecksum => "bad".to_owned(),
                Event::TooLong => "long".to_owned(),
                Event::Interrupt => "interrupt".to_owned(),
                Event::Ack => "+".to_owned(),
                Event::Nack => "-".to_owned(),
            });
        }
    }
    words.join(" ")
}

#[test]
fn packets_come_whole_or_in_pieces() {
    assert_eq!(found(&[b"$g#67"]), "<g>");
    assert_eq!(found(&[b"$", b"g", b"#", b"6", b"7"]), "<g>");
    assert_eq!(found(&[b"+$g#67-$T1#85\x03"]), "+ <g> - <T1> interrupt");
    assert_eq!(found(&[b"$#00"]), "<>");
}

#[test]
fn checksums_may_have_capitals() {
    assert_eq!(found(&[b"$qlanescope#3C"]), found(&[b"$qlanescope#3c"]));
}

#[test]
fn junk_between_packets_is_passed_over() {
    assert_eq!(found(&[b"hello\n$g#67\r\n$g#67"]), "<g> <g>");
}

#[test]
fn damage_is_found_and_ends_with_the_packet() {
    assert_eq!(found(&[b"$g#68$g#67"]), "bad <g>");
    assert_eq!(found(&[b"$g#zz$g#67"]), "bad <g>");
    assert_eq!(found(&[b"$g#6$g#67"]), "bad <g>");
}

#[test]
fn a_dollar_within_a_packet_begins_another() {
    assert_eq!(found(&[b"$m10,$g#67"]), "<g>");
    assert_eq!(found(&[b"$m10,", b"$g#67"]), "<g>");
}

#[test]
fn the_interrupt_byte_within_a_packet_is_data() {
    assert_eq!(found(&[b"$X0,1:\x03#22"]), "<X0,1:\\x03>");
}

#[test]
fn a_packet_without_end_takes_no_memory() {
    let mut framer = Framer::default();
    framer.push(b"$");
    for _ in 0..100 {
        framer.push(&[b'a'; 0x1_0000]);
        assert_eq!(framer.next(), None);
        assert!(framer.input.len() <= MAX_BODY + 0x1_0001, "{}", framer.input.len());
    }
    framer.push(b"#00$g#67");
    assert_eq!(framer.next(), Some(Event::TooLong));
    assert_eq!(framer.next(), Some(Event::Packet(b"g")));
}

#[test]
fn the_longest_packet_is_taken() {
    let body = vec![b'a'; MAX_BODY];
    let sum = super::checksum(&body);
    let mut packet = b"$".to_vec();
    packet.extend_from_slice(&body);
    packet.extend_from_slice(format!("#{sum:02x}").as_bytes());
    assert_eq!(found(&[&packet]).len(), MAX_BODY + 2);
}
