//! ELF addresses, as distinct from run-time addresses.

use std::fmt;

use crate::units::Pc;

/// An address in an ELF file and its DWARF: run-time address minus load address.
///
/// LLVM's load address is the loader's offset, 0 for code that runs at its link address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ElfAddress(pub u64);

impl ElfAddress {
    /// Converts a run-time address in a code object loaded at `load_address`.
    #[must_use]
    pub fn of(pc: Pc, load_address: u64) -> Self {
        Self(pc.0.wrapping_sub(load_address))
    }

    /// Returns the run-time address in a code object loaded at `load_address`.
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
