//! XML and JSON documents, built once and sent in pieces.
//!
//! gdb reads in steps of 4 KiB for any packet size, and repeats the thread list at each `info threads`; ten thousand
//! waves take 750 requests for one document.

use std::cell::OnceCell;
use std::io;
use std::sync::Arc;

use serde::Serialize;

use super::super::MAX_READ;
use super::super::error::{MALFORMED, PacketError};

/// Maximum size of one of our own documents in bytes: each client holds one.
pub(crate) const MAX_DOCUMENT: usize = 64 << 20;

/// The documents built so far for one client.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    /// The target description.
    pub(crate) target: OnceCell<Arc<[u8]>>,
    /// The memory map.
    pub(crate) memory_map: OnceCell<Arc<[u8]>>,
    /// The list of code objects.
    pub(crate) libraries: OnceCell<Arc<[u8]>>,
    /// The list of threads.
    pub(crate) threads: OnceCell<Arc<[u8]>>,
    /// The last of our own objects that a client began to read, with its object name and annex.
    pub(crate) own: Option<(String, Arc<[u8]>)>,
}

/// A value as JSON; `None` if it exceeds `most` bytes.
pub(crate) fn json(value: &impl Serialize, most: usize) -> Option<Vec<u8>> {
    let mut bounded = Bounded { bytes: Vec::new(), most };
    serde_json::to_writer(&mut bounded, value).ok()?;
    Some(bounded.bytes)
}

/// Bytes up to a bound.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(bytes.len()) > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A piece of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// The bytes.
    pub(crate) bytes: &'a [u8],
    /// Whether more follow.
    pub(crate) more: bool,
}

/// The piece of a document from `offset` on, of at most `length` bytes and at most a packet.
pub(crate) fn slice(document: &[u8], offset: u64, length: u64) -> Result<Piece<'_>, PacketError> {
    let rest = usize::try_from(offset).ok().and_then(|offset| document.get(offset..));
    let rest = rest.ok_or_else(|| PacketError::new(MALFORMED, format!("nothing at offset {offset:#x}")))?;
    let length = rest.len().min(MAX_READ).min(usize::try_from(length).unwrap_or(usize::MAX));
    let (bytes, left) = rest.split_at(length);
    Ok(Piece { bytes, more: !left.is_empty() })
}

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;
