//! Views: code objects in a form that a stock debugger loads.
//!
//! Input: a session over a dump. Output: for each code object an x86-64 ELF file with its sections, symbols, lines and
//! types. Every variable is in a *window*: memory outside of the capture, from a token in `rsp` on; [`read`] serves a
//! client's reads of it. The server sends views to clients.
//!
//! ```text
//! dwarf/    .debug_info and its kin rewritten: locations to windows, AMDGPU's types to x86's
//! frames    .debug_frame: every function's caller is in its window
//! elf, file the ELF file around both; the code object's own bytes are not copied
//! layout    positions of variables in a window
//! stacks    the functions on stacks: only they have variables
//! windows   reads and writes of addresses in windows
//! native    code objects for a gdb that knows AMDGPU: no windows
//! typed     pointers in private memory and LDS, by type
//! tagged    pointers: the program's form to the client's, and back
//! ```
//!
//! A debugger adds a location's offset (the slot of the variable's pointer) to the frame's `rsp` (a token that names
//! wave, lane and frame). At that address it reads eight bytes: the variable's address. For a variable in memory this
//! is the real, tagged address. For others it is the spill slot in the same window, for which the server composes the
//! variable's bytes.

mod build;
mod dwarf;
mod elf;
mod file;
mod frames;
mod layout;
mod lazy;
mod native;
mod sources;
mod stacks;
mod tagged;
#[cfg(test)]
mod tests;
mod typed;
mod windows;

pub use build::{Extent, Growth, View, ViewObject, file_name};
pub use dwarf::is_guarded;
pub use elf::HIDDEN_CODE;
pub use elf::{STUB, stub as stub_file};
pub use file::ViewFile;
pub(crate) use frames::LANE as LANE_NUMBER;
pub use layout::{MAX_FRAMES, Reading, STRIDE};
pub use lazy::{ViewFileError, Views};
pub use sources::{SOURCES, SourcePlaces};
pub use stacks::OnStacks;
pub use typed::TypedMemory;
pub use windows::{is_read_without, read, stack_pointer, write};
