//! Grammars that packets share: hex numbers, thread ids, `key:value;` pairs.

use super::frame::{digit, hex_byte};

/// A number of 1 to 16 hex digits.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter().try_fold(0, |number: u64, byte| Some(number << 4 | u64::from(digit(*byte)?)))
}

/// Bytes as pairs of hex digits.
pub(crate) fn bytes(text: &[u8]) -> Option<Vec<u8>> {
    text.chunks(2).map(hex_byte).collect()
}

/// Two parts around the first `separator`; the second is `None` without a separator.
pub(crate) fn split(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|byte| *byte == separator) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    }
}

/// `address,length`.
pub(crate) fn range(text: &[u8]) -> Option<(u64, u64)> {
    let (address, length) = split(text, b',');
    Some((number(address)?, number(length?)?))
}

/// The `key:value` pairs of `key:value;key:value;`.
pub(crate) fn pairs(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    text.split(|byte| *byte == b';').filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = split(pair, b':');
        (key, value.unwrap_or_default())
    })
}

/// A parsed thread id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thread {
    /// 0, or a process without a thread.
    Any,
    /// -1.
    All,
    /// One thread.
    Id(u64),
}

/// `TID`, or `pPID.TID` from clients that asked for processes. The session has one process, so its id is ignored.
pub(crate) fn thread(text: &[u8]) -> Option<Thread> {
    let tid = match text.strip_prefix(b"p") {
        Some(text) => match split(text, b'.') {
            (pid, tid) if pid == b"-1" || number(pid).is_some() => tid.unwrap_or(b"-1"),
            _ => return None,
        },
        None => text,
    };
    match tid {
        b"-1" => Some(Thread::All),
        tid => number(tid).map(|id| if id == 0 { Thread::Any } else { Thread::Id(id) }),
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
