//! Binary data in packets: `}` and the byte with bit 5 flipped stand for `#`, `$`, `}` and, in replies, `*`.

/// Size of a block in bytes; a block without a byte to escape is copied whole.
///
/// Escaping by bytes costs more than the rest of an `x` reply. A test of a whole block takes a few vector instructions,
/// and most blocks of real data pass it.
const BLOCK: usize = 16;

/// Appends binary data with a reply's escaping.
pub(crate) fn escape_into(data: &[u8], out: &mut Vec<u8>) {
    out.reserve(data.len() + data.len() / 16);
    for block in data.chunks(BLOCK) {
        if block.iter().fold(false, |found, byte| found | special(*byte)) {
            for byte in block {
                if special(*byte) {
                    out.extend_from_slice(&[b'}', byte ^ 0x20]);
                } else {
                    out.push(*byte);
                }
            }
        } else {
            out.extend_from_slice(block);
        }
    }
}

fn special(byte: u8) -> bool {
    byte == b'#' || byte == b'$' || byte == b'}' || byte == b'*'
}

/// Removes a request's escaping. A trailing escape without a byte is dropped.
pub(crate) fn unescape(data: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(data.len());
    let mut bytes = data.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'}' => plain.extend(bytes.next().map(|escaped| escaped ^ 0x20)),
            byte => plain.push(*byte),
        }
    }
    plain
}

#[cfg(test)]
#[path = "escape_tests.rs"]
mod tests;
