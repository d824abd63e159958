//! Tests of the room, by what they hold.

mod builtin;
