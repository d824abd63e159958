//! Unmodified gdb, gdb-multiarch and lldb over the real server: their output is compared with the models of the
//! fixtures (tests/fixtures/expected), never with lanescope's own output.
//!
//! One client process runs many commands on one dump, so that all dumps and clients take minutes, not hours. A hanging
//! client is a failure with its output so far; so is a missing client.

mod changes;
mod chosen;
mod code;
mod compilers;
mod conversation;
mod cores;
mod dap;
mod demo;
mod disassembly;
mod documents;
mod dropped;
mod edges;
mod extended;
mod first;
mod focus;
mod fortran;
mod gdb;
mod golden;
mod harness;
mod helpers;
mod lanes;
mod linked;
mod lldb;
mod locals;
mod logs;
mod many;
mod mi;
mod model;
mod reconnect;
mod release;
mod remote;
mod resume;
mod script;
mod shown;
mod sources;
mod stdio;
mod two_dumps;
mod unions;
mod view;
mod wide;
mod x86_facade;

#[allow(dead_code, reason = "some of it is for the suite alone")]
#[path = "../support/mod.rs"]
mod support;
