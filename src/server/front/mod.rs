//! The packet front: what lies between a byte stream and the answer to one packet.
//!
//! Why not gdbstub's own: 0.7.10 ends the session on a NAK, a wrong checksum or a malformed `m`, knows neither
//! LLDB's suffixes nor packets of our own, and writes byte by byte. The front therefore owns framing,
//! acknowledgement and routing; what it does not answer itself it feeds to gdbstub packet by packet.

pub(super) mod escape;
pub(super) mod frame;
pub(super) mod outbox;
pub(super) mod parse;
pub(super) mod reply;
pub(super) mod router;
