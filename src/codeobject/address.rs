//! Addresses as the ELF file counts them, apart from addresses of a run.

use std::fmt;

use crate::units::Pc;

/// An address as the ELF file and its DWARF count: run-time address minus load address.
///
/// In LLVM's terms the load address is what the loader added, 0 for code that runs where it was linked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ElfAddress(pub u64);

impl ElfAddress {
    /// The ELF address of a run-time address in a code object that was loaded at `load_address`.
    #[must_use]
    pub fn of(pc: Pc, load_address: u64) -> Self {
        Self(pc.0.wrapping_sub(load_address))
    }

    /// The run-time address when the code object is loaded at `load_address`.
    #[must_use]
    pub fn at(self, load_address: u64) -> Pc {
        Pc(self.0.wrapping_add(load_address))
    }
}

impl fmt::Display for ElfAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Debug for ElfAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ElfAddress({:#x})", self.0)
    }
}
