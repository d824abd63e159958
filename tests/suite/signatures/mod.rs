//! Signatures: equal for equal causes, different for others; the commands `signature` and `bucket`.

mod commands;
mod fleet;
mod names;
mod pairs;
