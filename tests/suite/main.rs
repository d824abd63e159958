//! The integration tests, as one program: linking once is cheaper than linking a dozen times.

mod cli;
mod dwarf;
mod fixtures;
mod house;
mod print;
mod server;
mod variables;
