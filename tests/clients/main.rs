//! Unmodified gdb, gdb-multiarch and lldb over the real server: what a user would read is compared with the models that
//! the fixtures were made from (tests/fixtures/expected), never with lanescope's own words.
//!
//! One client process asks many questions of one dump, so that all dumps and all clients take minutes and not hours.
//! A client that hangs is a failure that prints what it said so far; so is a client that is not installed.

mod changes;
mod chosen;
mod code;
mod cores;
mod dap;
mod disassembly;
mod disguise;
mod documents;
mod dropped;
mod edges;
mod extended;
mod first;
mod focus;
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
mod remote;
mod resume;
mod script;
mod shown;
mod sources;
mod stdio;
mod talk;
mod two_dumps;
mod unions;
mod view;
