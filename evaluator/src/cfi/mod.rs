//! Call frame information: instructions to rows of rules, rules to locations.
//!
//! Follows "Call Frame Information" of the 2020 AMDGPU text and DWARF 5 section 6.4, with LLVM's instructions for
//! address spaces. The canonical frame address (CFA) is a location, generally in an address space of its own. It is on
//! the stack at the start of a rule's expression. On AMDGPU a register without a rule keeps its value, with or without
//! a CFA in the table. The exception is the return address in a table without a CFA: such a table names no caller.
//!
//! The caller parses CIE and FDE headers and finds the FDE of a PC.
//!
//! ```
//! use dwarf_heterogeneous::cfi::{Answers, Factors, Row, Unwind};
//! use dwarf_heterogeneous::units::{AddressSpace, DwarfReg, LaneId, Pc, WaveSize};
//! use dwarf_heterogeneous::{Dialect, Encoding, LaneNeed, Snapshot, SpaceInfo};
//!
//! // CIE: DW_CFA_LLVM_def_aspace_cfa 64 (s32) 0 6. FDE: the return address (16) is in registers 62 and 63 (s30, s31).
//! let cie = [0x30, 0x40, 0x00, 0x06];
//! let fde = [0x10, 0x10, 0x08, 0x90, 0x3e, 0x93, 0x04, 0x90, 0x3f, 0x93, 0x04];
//! let encoding = Encoding::new(Dialect::LlvmUser);
//! let factors = Factors { code: 4, data: 4, return_address: DwarfReg(16), address_size: 8, encoding };
//! let row = Row::find(&factors, &cie, &fde, Pc(0x1000), Some(Pc(0x1010)))?;
//! let wave = Snapshot::new(WaveSize::W64)
//!     .with_space(AddressSpace(6), SpaceInfo { address_bits: 32, lane: LaneNeed::None })
//!     .with_register(DwarfReg(16), 0x1010_u64.to_le_bytes())
//!     .with_register(DwarfReg(62), 0x2000_u32.to_le_bytes())
//!     .with_register(DwarfReg(63), 0x7f00_u32.to_le_bytes())
//!     .with_register(DwarfReg(64), 0x0400_u32.to_le_bytes());
//! let answers = Answers::default();
//! let frame = Unwind::new(&wave, &row, &answers);
//! assert_eq!(frame.cfa()?.offset.bytes.get(LaneId(0)), 0x400);
//! assert_eq!(frame.value(DwarfReg(16))?.low().get(LaneId(0)), 0x7f00_0000_2000);
//! # Ok::<(), dwarf_heterogeneous::Error>(())
//! ```

mod answers;
mod listing;
mod row;
mod unwind;

pub use answers::Answers;
pub use listing::{FrameExpression, dialect, expressions};
pub(super) use row::standard_name;
pub use row::{CfaRule, Decoded, Factors, Placement, RegisterRule, Row};
pub use unwind::Unwind;
