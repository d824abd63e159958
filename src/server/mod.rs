//! The remote protocol: the only module that knows gdb and lldb.
//!
//! ```text
//! transport   bytes of TCP, unix socket or stdio; one thread and one session for each client
//! front       packet framing, acknowledgements, the table of packets, replies
//! packets     one file per packet family: this server's own answers
//! backend     gdbstub's state machine for the rest, behind an in-memory connection (target: its view of a client)
//! facade      the server's appearance for a client; registers: its numbering; threads: waves or lanes
//! numbering   the client's own numbers of threads; monitor_lanes: the lanes of `monitor` that the client does not show
//! ```
//!
//! **A packet never loses a captured state.** Every packet gets an answer or, without one in the protocol, the empty
//! reply. An error in gdbstub costs an error reply and a new machine.
//!
//! **Replies never invent values.** A register with a missing part is `xx`; a read of memory ends where the capture
//! ends.
//!
//! docs/protocol.md lists every packet and the component that answers it.

mod backend;
mod client;
mod error;
mod facade;
mod front;
mod messages;
mod monitor_lanes;
mod numbering;
mod packets;
mod registers;
mod selection;
mod state;
mod target;
mod threads;
mod transport;
mod view_update;

pub use client::{Client, ClientOptions, Flow};
pub use facade::Facade;
pub use messages::triage_hint;
#[cfg(test)]
pub(crate) use packets::{focus::Found, focus::Selected, vendor::Version};
pub use threads::{MAX_LANES, Thread, Threads, ThreadsAs, ThreadsError};
pub use transport::{Endpoint, Listen, ServeOptions, serve};

/// Every packet with a reply other than the empty one, in the order of the router's table, with the component that
/// answers it: `own`, `gdbstub`, or `gdbstub, reviewed`.
pub fn packet_table() -> impl Iterator<Item = (&'static str, &'static str)> {
    front::router::table()
}

/// The longest packet in either direction, from the handshake. gdb requests about half of it in one `m`.
const PACKET_SIZE: usize = 0x2_0000;
/// Maximum bytes of memory in one reply; as hex digits they fill a packet.
const MAX_READ: usize = PACKET_SIZE / 2;
