//! Packet framing: `$body#cc`, acknowledgements, the interrupt byte, and junk between them.
//!
//! For any stream, memory is bounded and the next well-formed packet is found. A `$` within a body means that the end
//! of the previous packet was lost (data always escapes it). A body beyond [`MAX_BODY`] is dropped on arrival.

/// Maximum length of a body: the `PacketSize` of the handshake, and space for a `#cc`, which clients do not count.
pub(crate) const MAX_BODY: usize = super::super::PACKET_SIZE + 16;

/// An item of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// A packet whose checksum holds.
    Packet(&'a [u8]),
    /// A packet whose checksum is wrong or not hex.
    BadChecksum,
    /// A packet beyond [`MAX_BODY`], dropped.
    TooLong,
    /// The interrupt byte, 0x03, outside of a packet.
    Interrupt,
    /// `+`.
    Ack,
    /// `-`.
    Nack,
}

/// A finder of packets in the bytes read so far.
#[derive(Debug, Default)]
pub(crate) struct Framer {
    input: Vec<u8>,
    /// The number of bytes already returned.
    at: usize,
    /// The number of bytes of the open packet's body without `#` and `$`.
    scanned: usize,
    /// Whether the open packet's body exceeds the maximum.
    dropping: bool,
}

impl Framer {
    /// Takes bytes of the stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.at > 0 {
            self.input.drain(..self.at);
            self.at = 0;
        }
        self.input.extend_from_slice(bytes);
    }

    /// The next complete event.
    pub(crate) fn next(&mut self) -> Option<Event<'_>> {
        loop {
            let rest = self.input.get(self.at..)?;
            match rest.first()? {
                b'$' => {}
                byte => {
                    self.at += 1;
                    match byte {
                        b'+' => return Some(Event::Ack),
                        b'-' => return Some(Event::Nack),
                        0x03 => return Some(Event::Interrupt),
                        _ => continue,
                    }
                }
            }
            let body = rest.get(1..)?;
            let found = body.get(self.scanned..)?.iter().position(|byte| matches!(byte, b'#' | b'$'));
            let Some(end) = found.map(|found| found + self.scanned) else {
                self.wait(body.len());
                return None;
            };
            if body.get(end) == Some(&b'$') {
                log::debug!("a packet breaks off after {end} bytes, another begins");
                self.open(end + 1);
                continue;
            }
            // Without two digits after the `#` the packet is incomplete.
            let digits = body.get(end + 1..end + 3)?;
            let sent = hex_byte(digits);
            let too_long = self.dropping;
            // The body starts after the `$`. A `#` without digits is followed by junk or by the next packet.
            let start = self.at + 1;
            self.open(if sent.is_some() { end + 4 } else { end + 2 });
            if too_long {
                return Some(Event::TooLong);
            }
            let body = self.input.get(start..start + end)?;
            return Some(match sent {
                Some(sent) if sent == checksum(body) => Event::Packet(body),
                _ => Event::BadChecksum,
            });
        }
    }

    /// Skips bytes; no packet is open afterwards.
    fn open(&mut self, bytes: usize) {
        self.at += bytes;
        self.scanned = 0;
        self.dropping = false;
    }

    /// Records the length of the open body without an end; drops a body that is too long.
    fn wait(&mut self, length: usize) {
        self.scanned = length;
        if length > MAX_BODY {
            self.dropping = true;
        }
        if self.dropping {
            self.input.truncate(self.at + 1);
            self.scanned = 0;
        }
    }
}

/// The sum of all bytes modulo 256.
pub(crate) fn checksum(body: &[u8]) -> u8 {
    body.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// The byte of two hex digits.
pub(crate) fn hex_byte(digits: &[u8]) -> Option<u8> {
    match digits {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    }
}

/// The value of a hex digit.
pub(crate) fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
