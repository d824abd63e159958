//! Views: code objects as a stock debugger can load them.
//!
//! *You give* a session over a dump.
//! *You get* for each code object an x86-64 ELF file with its sections, symbols, lines and types, in which every variable
//! is a *window*: memory below a token in `rsp` that nobody has, and that [`read`] answers when a client asks for it.
//! *Not for* packets: how a view reaches a client is the server's.
//!
//! ```text
//! dwarf/    .debug_info and its kin rewritten: locations to windows, AMDGPU's types to x86's
//! frames    .debug_frame: every function's caller is in its window
//! elf, file the ELF file around both; what the code object has already is not copied
//! layout    where in a window a variable is
//! stacks    which functions are on stacks: only they have variables
//! windows   answers for addresses in windows
//! native    code objects for a gdb that knows AMDGPU: no windows
//! typed     which bytes of private memory and LDS are pointers
//! tagged    pointers as clients are shown them, and back
//! ```
//!
//! A debugger takes the frame's `rsp` (a token that names wave, lane and frame), adds what the location says (the slot of
//! the variable's pointer), and reads eight bytes: the address of the variable. That is the real, tagged address where
//! the variable is in memory, and else a place in the same window where the server puts its bytes together.

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
pub use lazy::Views;
pub use sources::SourcePlaces;
pub use stacks::OnStacks;
pub use typed::TypedMemory;
pub use windows::{is_read_without, read, stack_pointer, write};
