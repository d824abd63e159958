//! Paths: what they parse to, that they print as what they are, and where errors point.

mod arithmetic;
mod parsing;
mod properties;
mod using;
