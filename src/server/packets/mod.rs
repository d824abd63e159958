//! One file per packet family.

mod changes;
pub(super) mod code;
pub(super) mod documents;
pub(super) mod features;
pub(super) mod focus;
pub(super) mod handshake;
pub(super) mod libraries;
pub(super) mod lldb;
pub(super) mod memory;
pub(super) mod memory_map;
pub(super) mod monitor;
pub(super) mod process;
pub(super) mod questions;
pub(super) mod registers;
pub(super) mod resume;
pub(super) mod stop;
pub(super) mod target_xml;
pub(super) mod threads;
pub(super) mod threads_xml;
pub(super) mod vendor;
pub(super) mod vfile;
pub(super) mod xfer;
