//! The view against independent readers of ELF and DWARF.
