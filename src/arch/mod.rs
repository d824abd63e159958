//! GPU models: `targets/*.toml` read into registers, widths, aliases, bit fields, address spaces and stop reasons.
//!
//! Facts are data: register numbers occur only in `targets/` and this module. A [`Target`] is one processor; a
//! [`WaveArch`] is a target at one wave size, with a fixed set of registers. [`Targets`] finds both by name. A
//! [`Processor`] is any processor of an ELF header, with the layout of its kernel descriptors.

mod address;
mod check;
mod dbgapi;
mod descriptor;
mod dwarf_map;
mod error;
mod fault_status;
mod load;
mod names;
mod processor;
mod register;
pub mod save_area;
mod schema;
mod stop;
mod target;
#[cfg(test)]
mod tests;
mod wave_arch;
pub mod wave_words;

pub use address::SWIZZLE_BYTES;
pub use dbgapi::DbgapiRun;
pub use descriptor::{DescriptorFacts, DescriptorWords};
pub use dwarf_map::{DwarfMeaning, DwarfRange};
pub use error::{DwarfRegError, RangeError, SpaceError, TargetError, TargetFileError};
pub use fault_status::FaultStatus;
pub use load::Targets;
pub use processor::{Generation, Processor};
pub use register::{BitField, BitFields, RegClass, RegId, Register, RegisterValue, SgprAlias, ValueType};
pub use stop::{StopKind, StopReason};
pub use target::{AddressClass, AddressClasses, FaultBits, Space, SpaceScope, Target};
pub use wave_arch::WaveArch;
