//! Unit tests; the case files of `tests/eval` in the repository test whole expressions.

mod cfi;
mod clang_computed;
mod clang_xderef;
mod drafts;
mod explaining;
mod fake;
mod fetching;
mod lanes;
mod leb;
mod limits;
mod model;
mod numbers;
mod printing;
mod snapshot;
mod writing;

use super::{Dialect, Encoding, Program};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Decodes an expression in the default dialect.
fn program(hex: &str) -> Program {
    program_in(hex, Dialect::LlvmUser)
}

fn program_in(hex: &str, dialect: Dialect) -> Program {
    Program::decode(&bytes(hex), Encoding::new(dialect)).unwrap()
}
