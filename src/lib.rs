//! **lanescope** serves captured AMDGPU wave states to stock gdb and lldb over the remote protocol.
//!
//! *You give* a dump: waves with registers, LDS, scratch and global memory, and the code objects they ran.
//! *You get* threads, registers by AMD's names, memory of every address space and the variables of every lane.
//! *Not for* live GPUs: nothing runs, captures stay unchanged, and missing data is reported as absent.
//!
//! `dwarf` is the crate `dwarf-heterogeneous`, which depends on nothing of this one. Modules, lowest first; a module
//! imports only modules with a lower number, and equals do not see each other:
//!
//! ```text
//! 0 units, bounds, clean,      numbers with units | bounds on untrusted input | text that may be printed |
//!   signals, elf, integers     termination signals | records of ELF files | little-endian integers in slices
//! 1 dwarf, arch, disassembler  DWARF expressions and CFI | what a GPU is | LLVM's tools for instructions
//! 2 capture, codeobject        what was seen | an AMDGPU ELF as bytes
//! 3 import, debuginfo          foreign bytes to Capture | DWARF of a code object
//! 4 session                    a debugger's questions over all that
//! 5 report, view, slim         answers as text and JSON | what a stock debugger can load | small dumps of large ones
//! 6 server, diff               the remote protocol | two dumps side by side
//! 7 cli                        one file per command
//! ```

// Input is hostile, so that nothing in it may end the process. Only tests may panic.
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
pub mod clean;
pub mod cli;
pub mod codeobject;
pub mod debuginfo;
pub mod diff;
pub mod disassembler;
mod elf;
pub mod import;
mod integers;
pub mod mapping;
pub mod report;
pub mod server;
pub mod session;
mod signals;
pub mod slim;
pub mod units;
pub mod view;

pub use dwarf_heterogeneous as dwarf;
