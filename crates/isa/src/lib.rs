//! Decoder of AMDGPU machine code: GFX9 with its CDNA members, GFX10, GFX11, GFX12 and GFX12.5.
//!
//! You give a processor, a wave size and bytes. You get an instruction: size, mnemonic, operands with roles, registers and
//! directions, effects, and the text that llvm-objdump prints, without symbols. Nothing is executed, no process starts.
//! Decoding allocates nothing but the index of a processor, once.
//!
//! All facts are data: `isa.bin`, derived from LLVM's decoder tables by `scripts/make-isa` of the repository, whose
//! `targets/isa/README.md` describes the layout and lists each difference from LLVM's text.
//!
//! ```
//! use amdgpu_isa::{Decoder, Op};
//! const S_ENDPGM: Op = Op::named("s_endpgm");
//! let decoder = Decoder::new("gfx1100", 32).unwrap();
//! let instruction = decoder.decode(&0xbfb0_0000_u32.to_le_bytes());
//! assert_eq!(instruction.op(), Some(S_ENDPGM));
//! assert_eq!(instruction.to_string(), "s_endpgm");
//! ```

mod assemble;
mod decode;
mod effects;
mod gpu;
mod index;
mod operand;
mod table;
mod text;

pub use decode::{Decoder, Instruction, MAX_SIZE, VgprMsb};
pub use effects::{Effects, Encoding, Flags, Implicit};
pub use operand::{File, Operand, OperandInfo, Register, Value};
pub use table::{Op, Role, TableError, check};
pub use text::OperandText;
