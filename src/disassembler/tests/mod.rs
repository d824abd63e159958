//! The disassembler against `llvm-objdump` listings of whole code objects, and against faulty tools.

mod fake;
mod listings;
mod real;
mod tools;

use super::Machine;

fn machine(processor: &str) -> Machine {
    Machine { processor: processor.to_owned(), features: Vec::new(), begins_inside: false }
}
