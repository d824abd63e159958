//! A reply under construction: written straight into the outgoing bytes, checksum last.

use super::escape::escape_into;
use super::frame::checksum;
use super::outbox::Outbox;
use crate::clean::clean_lines;

/// Maximum bytes of text in one `O` packet, within every client's buffer.
pub(crate) const TEXT_BYTES: usize = 1024;

/// The reply to one packet. A reply without bytes is the empty one: "not supported".
#[derive(Debug)]
pub(crate) struct Reply<'a> {
    out: &'a mut Vec<u8>,
    outbox: &'a mut Outbox,
    /// Position of the first packet's `$`: packets of text may precede the reply.
    first: usize,
    /// Position of the packet's `$`.
    start: usize,
    /// Position up to which `sum` is the checksum of the body.
    summed: usize,
    sum: u8,
}

/// Bytes to convert to digits at once: sum and copy then hit the nearest cache.
const HEX_BYTES: usize = 2048;

impl<'a> Reply<'a> {
    /// Begins a reply at the end of `out`.
    pub(crate) fn new(out: &'a mut Vec<u8>, outbox: &'a mut Outbox) -> Self {
        let start = out.len();
        out.push(b'$');
        Self { out, outbox, first: start, start, summed: start + 1, sum: 0 }
    }

    /// Ends the reply: adds the checksum, and keeps a copy for a NAK.
    pub(crate) fn finish(mut self) {
        self.end_packet();
    }

    /// Ends a packet of the reply.
    fn end_packet(&mut self) {
        self.sum_up();
        let sum = self.sum;
        self.out.extend_from_slice(&[b'#', hex_digit(sum >> 4), hex_digit(sum)]);
        if self.outbox.keeps() {
            self.outbox.sent(self.out.get(self.start..).unwrap_or_default());
        }
    }

    /// Adds the bytes since the last addition to the checksum.
    fn sum_up(&mut self) {
        self.sum = self.sum.wrapping_add(checksum(self.out.get(self.summed..).unwrap_or_default()));
        self.summed = self.out.len();
    }

    /// The bytes written so far.
    pub(crate) fn body(&self) -> &[u8] {
        self.out.get(self.start + 1..).unwrap_or_default()
    }

    /// Withdraws everything except the packets of text before the reply.
    pub(crate) fn clear(&mut self) {
        self.out.truncate(self.start + 1);
        (self.summed, self.sum) = (self.start + 1, 0);
    }

    /// Withdraws everything, with the packets of text before the reply.
    pub(crate) fn take_back(&mut self) {
        self.start = self.first;
        self.outbox.take_back();
        self.clear();
    }

    /// Appends text, which must lack `#`, `$`, `}` and `*`.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Appends bytes, under the same condition.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }

    /// Appends text with the escaping of binary data, for JSON.
    pub(crate) fn escaped(&mut self, data: &[u8]) -> &mut Self {
        escape_into(data, self.out);
        self
    }

    /// Appends bytes as hex digits.
    pub(crate) fn hex(&mut self, bytes: &[u8]) -> &mut Self {
        if bytes.len() <= HEX_BYTES {
            let at = self.out.len();
            self.out.resize(at + bytes.len() * 2, 0);
            if let Some(digits) = self.out.get_mut(at..) {
                // The buffer is twice as long as the bytes; the encoder requires nothing else.
                let _ = faster_hex::hex_encode(bytes, digits);
            }
            return self;
        }
        self.sum_up();
        self.out.reserve(bytes.len() * 2);
        let mut buffer = [0; 2 * HEX_BYTES];
        for part in bytes.chunks(HEX_BYTES) {
            let Ok(digits) = faster_hex::hex_encode(part, &mut buffer) else { break };
            self.sum = self.sum.wrapping_add(checksum(digits.as_bytes()));
            self.out.extend_from_slice(digits.as_bytes());
        }
        self.summed = self.out.len();
        self
    }

    /// Appends unknown bytes as `xx`.
    pub(crate) fn unknown(&mut self, bytes: usize) -> &mut Self {
        let length = self.out.len() + bytes * 2;
        self.out.resize(length, b'x');
        self
    }

    /// Appends a number in hex, without leading zeros.
    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        let digits = (64 - number.leading_zeros()).div_ceil(4).max(1);
        for place in (0..digits).rev() {
            self.out.push(hex_digit((number >> (place * 4)) as u8));
        }
        self
    }

    /// Appends text for the user, in packets of its own before the reply. It must precede all other writes.
    pub(crate) fn console(&mut self, text: &str) -> &mut Self {
        let text = clean_lines(text);
        let mut rest = &*text;
        while !rest.is_empty() {
            let mut end = rest.len().min(TEXT_BYTES);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (now, later) = rest.split_at(end);
            self.clear();
            self.text("O").hex(now.as_bytes());
            self.next();
            rest = later;
        }
        self
    }

    /// Appends complete packets; all but the last precede the reply.
    pub(crate) fn packet(&mut self, body: &[u8], last: bool) {
        self.clear();
        self.bytes(body);
        if !last {
            self.next();
        }
    }

    fn next(&mut self) {
        self.end_packet();
        self.start = self.out.len();
        self.out.push(b'$');
        (self.summed, self.sum) = (self.start + 1, 0);
    }
}

fn hex_digit(nibble: u8) -> u8 {
    match nibble & 0xf {
        digit @ 0..=9 => b'0' + digit,
        digit => b'a' + digit - 10,
    }
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
