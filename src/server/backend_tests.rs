use super::packets;

#[test]
fn packets_are_taken_out_of_acknowledgements() {
    let all: Vec<&[u8]> = packets(b"+$O6869#3b$OK#9a+").collect();
    assert_eq!(all, [b"O6869".as_slice(), b"OK"]);
}

#[test]
fn the_empty_reply_is_a_packet() {
    assert_eq!(packets(b"+$#00").count(), 1);
    assert_eq!(packets(b"+").count(), 0);
    assert_eq!(packets(b"$half").count(), 0);
}
