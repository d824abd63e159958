//! Instructions of machine code, with their texts as `llvm-objdump` prints them.
//!
//! Input: bytes of code, their address, the processor and the wave's size. Output: instructions with address, size, text
//! and branch target. Reading captures and finding symbols is up to the caller.

use amdgpu_isa::{Decoder, File, Op, Register, Role, VgprMsb};

use crate::arch::{Generation, Processor};
use crate::units::WaveSize;

/// Alignment of AMDGPU instructions in bytes; sizes are multiples of it too.
pub const ALIGNMENT: u64 = 4;
/// Maximum bytes of an instruction.
pub const MAX_SIZE: u64 = 24;
/// The remark in the text of an instruction whose vector registers are unknown: MODE extends their numbers, and the
/// instructions that set MODE were not decoded.
pub const UNKNOWN_MSB: &str = "256, 512 or 768 may be missing in the numbers of vector registers";

const SET_MSB: Op = Op::named("s_set_vgpr_msb");
const SIMM16: Role = Role::named("simm16");

/// The processor of code is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the instructions of {0} are not known: --processor names a processor that executes them (`lanescope targets`)"
)]
pub struct UnknownProcessorError(String);

/// The target of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Name in LLVM's form: `gfx90a`, `gfx11-generic`.
    pub processor: String,
    /// Lanes of a wave.
    pub wave_size: WaveSize,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Address of its first byte.
    pub address: u64,
    /// Its size in bytes: a multiple of 4.
    pub size: u8,
    /// Its text: `s_cbranch_execz 12`; for an invalid instruction the bytes, `.long 0xffffffff`.
    pub text: String,
    /// Whether the bytes are a valid instruction.
    pub is_decoded: bool,
    /// The target of a branch.
    pub target: Option<u64>,
}

impl Instruction {
    /// Returns the address past its last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.address.saturating_add(u64::from(self.size))
    }
}

/// Decodes code from an address on, in order.
#[derive(Clone, Debug)]
pub struct CodeReader {
    decoder: Decoder,
    /// MODE's bits of the numbers of vector registers, where the generation has them; `None`: unknown.
    msb: Option<VgprMsb>,
}

impl Machine {
    /// Whether MODE has further bits of the numbers of vector registers, which `s_set_vgpr_msb` sets (gfx12.5); they are 0
    /// at the start of a function.
    #[must_use]
    pub fn extends_vgprs(&self) -> bool {
        self.known().is_some_and(|processor| processor.generation == Generation::Gfx125)
    }

    fn known(&self) -> Option<Processor> {
        Processor::named(&self.processor)
    }

    /// Decodes from a function's start on, or from within a function, where MODE's bits are unknown.
    ///
    /// # Errors
    /// The processor is not known.
    pub fn reader(&self, begins_inside: bool) -> Result<CodeReader, UnknownProcessorError> {
        // Members of a generic processor execute its instructions.
        let member = self.known().and_then(|processor| processor.members().first());
        let decoder = Decoder::new(member.unwrap_or(&&*self.processor), self.wave_size.lanes());
        let decoder = decoder.ok_or_else(|| UnknownProcessorError(self.processor.clone()))?;
        let msb = (!begins_inside || !self.extends_vgprs()).then(VgprMsb::default);
        Ok(CodeReader { decoder, msb })
    }

    /// The instructions of bytes at an address. An instruction that the end cuts off is left out.
    ///
    /// # Errors
    /// The processor is not known.
    pub fn decode(
        &self,
        address: u64,
        bytes: &[u8],
        begins_inside: bool,
    ) -> Result<Vec<Instruction>, UnknownProcessorError> {
        let mut reader = self.reader(begins_inside)?;
        let (mut at, mut rest) = (address, bytes);
        Ok(std::iter::from_fn(|| {
            let one = reader.next(at, rest)?;
            (at, rest) = (one.end(), rest.get(usize::from(one.size)..)?);
            Some(one)
        })
        .collect())
    }
}

fn is_vgpr(of: Register) -> bool {
    matches!(of.file, File::Vgpr | File::VgprLow | File::VgprHigh)
}

impl CodeReader {
    /// The instruction at the start of bytes; `None`: they end within it.
    pub fn next(&mut self, address: u64, bytes: &[u8]) -> Option<Instruction> {
        let found = self.decoder.with_msb(self.msb.unwrap_or_default()).decode(bytes);
        let size = u8::try_from(found.size())
            .ok()
            .filter(|size| *size >= 4 && u64::from(*size).is_multiple_of(ALIGNMENT))?;
        let mut text = found.to_string();
        if found.op() == Some(SET_MSB) {
            let bits = found.operand_of(SIMM16).and_then(|of| of.number());
            self.msb = bits.map(|bits| VgprMsb(bits as u8));
        } else if self.msb.is_none() && found.operands().any(|of| of.register().is_some_and(is_vgpr)) {
            text = format!("{text} ; {UNKNOWN_MSB}");
        }
        Some(Instruction { address, size, text, is_decoded: found.is_valid(), target: found.target(address) })
    }
}
