//! **lanescope** serves captured AMDGPU wave states to stock gdb and lldb over the remote protocol.
//!
//! Input is a dump: waves with registers, LDS, scratch and global memory, and their code objects. Clients get threads,
//! AMD's register names, memory of every address space and the variables of every lane. Live GPUs are not supported:
//! nothing runs, captures stay unchanged, and missing data is reported as absent.
//!
//! `dwarf` is the crate `dwarf-heterogeneous`, which is independent of this one. Modules, lowest first; a module
//! imports only modules with a lower number, and modules of the same number do not import each other:
//!
//! ```text
//! 0 units, bounds, clean,      numbers with units | bounds on untrusted input | text that may be printed |
//!   signals, elf, integers     termination signals | records of ELF files | little-endian integers in slices
//! 1 dwarf, arch                DWARF expressions and CFI | what a GPU is
//! 2 capture, codeobject, isa   what was seen | an AMDGPU ELF as bytes | instructions and their effects
//! 3 import, debuginfo          foreign bytes to Capture | DWARF of a code object
//! 4 session                    a debugger's questions over all that
//! 5 report, view, slim         answers as text and JSON | what a stock debugger can load | small dumps of large ones
//! 6 diff, triage               two dumps side by side | the cause of a crash or hang
//! 7 questions, signature       the table of questions | equal names for equal crashes
//! 8 server, check, postmortem  the remote protocol | expectations about a dump | reports of a dump
//! 9 cli                        one file per command
//! ```
//!
//! Open a dump, pick the faulted wave, and read a variable in every lane:
//!
//! ```
//! use lanescope::session::{Dump, Session, Variables as _, Waves as _, print::Query};
//! use lanescope::{arch::Targets, import};
//!
//! let path = "tests/fixtures/demo.zip".as_ref();
//! let opened = import::open(path, &Targets::builtin(), &import::Options::default())?;
//! let session = Session::new(Dump::new(opened.capture, Vec::new()).into(), None)?;
//! let (wave, lanes) = (session.first_wave(), session.kind().wave_size.all());
//! let printed = session.print(wave, lanes, 0, &Query { path: "n".to_owned(), letter: None })?;
//! for lane in printed.lanes {
//!     println!("lane {}: {}", lane.value.lane, lanescope::report::text::value(&lane.value.state));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Input is hostile and must not end the process. Only tests may panic.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::panic_in_result_fn,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

pub mod arch;
mod bounds;
pub mod capture;
pub mod check;
mod clean;
mod cli;
pub mod clock;
pub mod codeobject;
pub mod debuginfo;
mod diff;
mod elf;
pub mod import;
mod integers;
pub mod isa;
mod mapping;
mod notation;
pub mod postmortem;
pub mod questions;
pub mod report;
#[cfg(test)]
#[path = "../tests/support/sample.rs"]
mod sample;
pub mod server;
pub mod session;
mod signals;
pub mod signature;
pub mod slim;
#[cfg(test)]
#[path = "../tests/support/tools.rs"]
mod tools;
pub mod triage;
pub mod units;
pub mod view;
#[cfg(test)]
#[path = "../tests/support/wait.rs"]
mod wait;
pub mod work;

pub use dwarf_heterogeneous as dwarf;

/// Escapes text for a terminal, line by line: for the program's log.
#[doc(hidden)]
pub use clean::clean_lines;
/// Runs the command line of this process.
#[doc(hidden)]
pub use cli::main as run;
