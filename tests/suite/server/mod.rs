//! The server from outside: transcripts of what clients send and get, sockets, debuggers, and documents compared with the code.

mod amdgcn;
mod changed_captures;
mod changed_files;
mod clients;
mod documents;
mod flood;
mod properties;
mod regions;
mod served;
mod sockets;
mod synthetic;
mod transcripts;
