//! A reply as it is written: straight into the bytes that go out, checksum last.

use super::escape::escape_into;
use super::frame::checksum;
use super::outbox::Outbox;
use crate::clean::clean_lines;

/// The most text in one `O` packet, so that no client's buffer is too small for it.
pub(crate) const TEXT_BYTES: usize = 1024;

/// The reply to one packet. Nothing written is the empty reply: "not supported".
#[derive(Debug)]
pub(crate) struct Reply<'a> {
    out: &'a mut Vec<u8>,
    outbox: &'a mut Outbox,
    /// Where the first packet's `$` is: packets of text may come before the reply.
    first: usize,
    /// Where the packet's `$` is.
    start: usize,
}

impl<'a> Reply<'a> {
    /// Begins a reply at the end of `out`.
    pub(crate) fn new(out: &'a mut Vec<u8>, outbox: &'a mut Outbox) -> Self {
        let start = out.len();
        out.push(b'$');
        Self { out, outbox, first: start, start }
    }

    /// Ends it: checksum, and a copy in case it is asked for again.
    pub(crate) fn finish(self) {
        let sum = checksum(self.body());
        self.out.extend_from_slice(&[b'#', hex_digit(sum >> 4), hex_digit(sum)]);
        if self.outbox.keeps() {
            self.outbox.sent(self.out.get(self.start..).unwrap_or_default());
        }
    }

    /// What was written so far.
    pub(crate) fn body(&self) -> &[u8] {
        self.out.get(self.start + 1..).unwrap_or_default()
    }

    /// Takes everything back but the packets of text before it.
    pub(crate) fn clear(&mut self) {
        self.out.truncate(self.start + 1);
    }

    /// Takes everything back, and the packets of text before it.
    pub(crate) fn take_back(&mut self) {
        self.start = self.first;
        self.outbox.take_back();
        self.clear();
    }

    /// Text, which must hold none of `#`, `$`, `}` and `*`.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Bytes of which the same holds.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }

    /// Text with the escaping of binary data, for JSON.
    pub(crate) fn escaped(&mut self, data: &[u8]) -> &mut Self {
        escape_into(data, self.out);
        self
    }

    /// Bytes as hex digits.
    pub(crate) fn hex(&mut self, bytes: &[u8]) -> &mut Self {
        let at = self.out.len();
        self.out.resize(at + bytes.len() * 2, 0);
        if let Some(digits) = self.out.get_mut(at..) {
            // The buffer is twice as long as the bytes, which is all that the encoder asks for.
            let _ = faster_hex::hex_encode(bytes, digits);
        }
        self
    }

    /// That many bytes which are not known.
    pub(crate) fn unknown(&mut self, bytes: usize) -> &mut Self {
        let length = self.out.len() + bytes * 2;
        self.out.resize(length, b'x');
        self
    }

    /// A number in hex, without leading zeros.
    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        let digits = (64 - number.leading_zeros()).div_ceil(4).max(1);
        for place in (0..digits).rev() {
            self.out.push(hex_digit((number >> (place * 4)) as u8));
        }
        self
    }

    /// Text for the user, in packets of its own before the reply. Comes before anything else is written.
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

    /// Takes over packets that are complete, all but the last as packets before the reply.
    pub(crate) fn packet(&mut self, body: &[u8], last: bool) {
        self.clear();
        self.bytes(body);
        if !last {
            self.next();
        }
    }

    fn next(&mut self) {
        let next = Reply { out: self.out, outbox: self.outbox, first: self.first, start: self.start };
        next.finish();
        self.start = self.out.len();
        self.out.push(b'$');
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
