//! The server from outside: transcripts of what clients send and get, sockets, debuggers, and documents compared with the code.

/// Where the made-up session takes the library from; the library's own unit tests use the same file.
pub(crate) use lanescope as lib;

mod amdgcn;
mod changed_captures;
mod changed_files;
mod clients;
mod documents;
mod fake;
mod flood;
mod properties;
mod regions;
mod served;
mod sockets;
mod transcripts;
