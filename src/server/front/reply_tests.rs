use super::Reply;
use crate::server::front::outbox::Outbox;

fn written(write: impl FnOnce(&mut Reply<'_>)) -> String {
    let (mut out, mut outbox) = (Vec::new(), Outbox::default());
    let mut reply = Reply::new(&mut out, &mut outbox);
    write(&mut reply);
    reply.finish();
    out.escape_ascii().to_string()
}

#[test]
fn nothing_is_the_empty_reply() {
    assert_eq!(written(|_| {}), "$#00");
}

#[test]
fn numbers_have_no_leading_zeros() {
    assert_eq!(
        written(|reply| {
            reply.number(0);
        }),
        "$0#30"
    );
    assert!(
        written(|reply| {
            reply.number(0x10);
        })
        .starts_with("$10#")
    );
    assert!(
        written(|reply| {
            reply.number(u64::MAX);
        })
        .starts_with("$ffffffffffffffff#")
    );
}

#[test]
fn bytes_are_pairs_of_digits() {
    assert!(
        written(|reply| {
            reply.hex(&[0, 0x1f, 0xff]).unknown(2);
        })
        .starts_with("$001fffxxxx#")
    );
}

#[test]
fn long_data_has_its_checksum_wherever_it_is() {
    let bytes: Vec<u8> = (0..3 * super::HEX_BYTES + 5).map(|index| (index * 7) as u8).collect();
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let packet = |body: &str| {
        let sum = body.bytes().map(u32::from).sum::<u32>() % 256;
        format!("${body}#{sum:02x}")
    };
    let found = written(|reply| {
        reply.hex(&bytes);
    });
    assert_eq!(found, packet(&digits));
    let found = written(|reply| {
        reply.text("withdrawn").hex(&bytes);
        reply.clear();
        reply.text("m").hex(&bytes).text(";").hex(&bytes).number(0x10);
    });
    assert_eq!(found, packet(&format!("m{digits};{digits}10")));
    let found = written(|reply| {
        reply.packet(b"O31", false);
        reply.hex(&bytes);
    });
    assert_eq!(found, packet("O31") + &packet(&digits));
}

#[test]
fn text_goes_before_the_answer() {
    assert_eq!(
        written(|reply| {
            reply.console("hi\n").text("OK");
        }),
        "$O68690a#bd$OK#9a"
    );
}

#[test]
fn long_text_is_several_packets_cut_between_characters() {
    let text = "\u{e9}".repeat(super::TEXT_BYTES);
    let packets = written(|reply| {
        reply.console(&text).text("OK");
    });
    assert_eq!(packets.matches("$O").count(), 3, "two of text and the answer");
    for packet in packets.split('$').filter(|packet| packet.starts_with("Oc3a9")) {
        assert!(packet.split('#').next().unwrap().ends_with("c3a9"));
    }
}

#[test]
fn what_is_taken_back_is_not_sent() {
    assert_eq!(
        written(|reply| {
            reply.hex(&[1, 2, 3]);
            reply.clear();
            reply.text("E01");
        }),
        "$E01#a6"
    );
}

#[test]
fn every_packet_is_kept_until_it_is_acknowledged() {
    let (mut out, mut outbox) = (Vec::new(), Outbox::default());
    let mut reply = Reply::new(&mut out, &mut outbox);
    reply.console("hi").text("OK");
    reply.finish();
    let mut again = Vec::new();
    outbox.acked();
    outbox.nacked(&mut again);
    assert_eq!(again, b"$OK#9a");
}
