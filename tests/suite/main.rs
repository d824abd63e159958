//! The integration tests, as one program: linking once is cheaper than linking a dozen times.

mod cli;
mod code_object;
mod draft;
mod dwarf;
mod evaluate;
mod fixtures;
mod frames;
mod house;
mod lane_states;
mod lanes;
mod logs;
mod operations;
mod print;
mod scopes;
mod seed_coverage;
mod separate;
mod server;
mod variables;
mod view;
