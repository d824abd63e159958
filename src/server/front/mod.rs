//! The packet front: the layers between a byte stream and the answer to one packet.
//!
//! gdbstub's own front does not suffice. Version 0.7.10 ends the session on a NAK, a wrong checksum or a malformed `m`.
//! It lacks LLDB's suffixes and our own packets, and writes byte by byte. The front therefore owns framing,
//! acknowledgement and routing. It passes other packets to gdbstub one by one.

pub(super) mod escape;
pub(super) mod frame;
pub(super) mod outbox;
pub(super) mod parse;
pub(super) mod reply;
pub(super) mod router;
