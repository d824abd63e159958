//! The server from outside: transcripts of what clients send and get, sockets, debuggers, and documents compared with the code.

mod amdgcn;
mod changed_captures;
mod changed_files;
mod clients;
mod documents;
mod flood;
mod monitor_text;
mod properties;
mod regions;
mod served;
mod sockets;
mod synthetic;
mod transcripts;

/// A packet of the protocol: the body between its frame's marks, and the checksum.
pub(crate) fn framed(body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let sum = body.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    [b"$", body, format!("#{sum:02x}").as_bytes()].concat()
}
