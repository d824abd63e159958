//! Assembly and printing of expressions: `DW_OP_regx VGPR3; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul`.
//!
//! [`print::program`](super::print::program) prints a decoded expression, [`assemble`] parses it, and
//! [`Program::encode`] returns the bytes. The round trip is exact for every producer: assembling the printed text gives
//! the original bytes. So nothing is normalised: an operation keeps its original name (`DW_OP_lit5` and
//! `DW_OP_const1u 5` differ), and a LEB128 number longer than minimal has a mark. `5:3` is 5 in three bytes,
//! `DW_OP_LLVM_push_lane:2` a sub-operation in two, `[01 02]:2` a block with a length in two.
//!
//! The assembler accepts more than the printer writes: operations without `DW_OP_`, commas, comments (`#` to the end of
//! the line), line breaks for semicolons, labels for branches (`loop: DW_OP_dup; DW_OP_bra loop`), names of address
//! spaces for constants. Printing the result gives the canonical text.
//!
//! ```
//! use dwarf_heterogeneous::print::{self, NoNames};
//! use dwarf_heterogeneous::{Dialect, Encoding, Program, text};
//!
//! let encoding = Encoding::new(Dialect::LlvmUser);
//! let bytes = text::assemble("regx 2563; LLVM_push_lane; lit4; mul; LLVM_offset", encoding, &NoNames)?;
//! assert_eq!(bytes, [0x90, 0x83, 0x14, 0xe9, 0x03, 0x34, 0x1e, 0xe9, 0x04]);
//! let program = Program::decode(&bytes, encoding)?;
//! let words = print::program(&program, &NoNames);
//! assert_eq!(words, "DW_OP_regx 2563; DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul; DW_OP_LLVM_offset");
//! assert_eq!(text::assemble(&words, encoding, &NoNames)?, bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod codes;
mod error;
mod lex;
mod operand;
mod parse;
mod shape;
#[cfg(test)]
mod tests;
mod write;

pub use codes::{Code, codes};
pub use error::AssembleError;
pub(super) use operand::words;
pub use shape::{Field, OPERATIONS, Shape, shape};
pub(super) use write::{sleb_length, uleb_length};

use super::operation::{Encoding, Program};
use super::print::Names;

/// Returns the bytes of an expression's text.
///
/// # Errors
/// The first syntax error, or an operation that the dialect lacks.
pub fn assemble(text: &str, encoding: Encoding, names: &dyn Names) -> Result<Vec<u8>, AssembleError> {
    parse::expression(text, encoding, names)
}

impl Program {
    /// Parses an expression's text; see [`assemble`].
    ///
    /// # Errors
    /// The errors of [`assemble`].
    pub fn assemble(text: &str, encoding: Encoding, names: &dyn Names) -> Result<Self, AssembleError> {
        let bytes = assemble(text, encoding, names)?;
        // Only the bounds on size and nesting can fail here, and the assembler checks them too.
        Self::decode(&bytes, encoding).map_err(|error| AssembleError {
            line: 1,
            column: 1,
            what: error.to_string(),
            expected: "an expression within the bounds".to_owned(),
        })
    }

    /// Returns the original bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let codes = codes(self.encoding().dialect);
        let mut bytes = Vec::with_capacity(self.end().0);
        operand::encode(self, &codes, &mut bytes);
        bytes
    }
}
