//! Instructions of machine code.
//!
//! Input: bytes of code, their address, the processor and the wave's size; or texts that a log has instead of bytes.
//! Output: instructions with address, size, text, branch target and what the analyses of this module need. Reading
//! captures and finding symbols is up to the caller.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use amdgpu_isa::{Decoder, Op, Role, VgprMsb};

use super::facts::{self, Facts};
use super::registers::RegisterRange;
use super::{Computation, DecodeError, Effects};
use crate::arch::{Generation, Processor};
use crate::units::WaveSize;

/// Alignment of AMDGPU instructions in bytes; sizes are multiples of it too.
pub const ALIGNMENT: u64 = 4;
/// Maximum bytes of an instruction.
pub const MAX_SIZE: u64 = amdgpu_isa::MAX_SIZE as u64;
/// The remark in the text of an instruction whose vector registers are unknown: MODE extends their numbers, and the
/// instructions that set MODE were not decoded.
pub const UNKNOWN_MSB: &str = "256, 512 or 768 may be missing in the numbers of vector registers";

const SET_MSB: Op = Op::named("s_set_vgpr_msb");
const SIMM16: Role = Role::named("simm16");

/// The processor of code is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the instructions of {0} are not known, only those of built-in processors (`lanescope targets`)")]
pub struct UnknownProcessorError(String);

/// The target of code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// Name in LLVM's form: `gfx90a`, `gfx11-generic`.
    pub processor: String,
    /// Lanes of a wave.
    pub wave_size: WaveSize,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Address of its first byte.
    pub address: u64,
    /// Its size in bytes: a multiple of 4.
    pub size: u8,
    /// The target of a branch.
    pub target: Option<u64>,
    /// `None`: no processor is known that has the text.
    code: Option<(amdgpu_isa::Instruction, &'static Facts)>,
    /// The text of a log that has no bytes.
    text: Option<Box<str>>,
    /// Whether MODE extends the numbers of its vector registers by an unknown value.
    has_unknown_vectors: bool,
    /// Its effects and computations, once someone asked for them; copies share them.
    pub(super) known: Arc<Known>,
}

/// The meaning of an instruction, as far as it was asked for.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) effects: OnceLock<Result<Box<Effects>, DecodeError>>,
    pub(super) computations: OnceLock<Vec<Computation>>,
}

/// The same instruction at the same address.
impl PartialEq for Instruction {
    fn eq(&self, other: &Self) -> bool {
        let key = |of: &Self| (of.address, of.size, of.target);
        key(self) == key(other) && self.text() == other.text()
    }
}

impl Eq for Instruction {}

impl Instruction {
    /// The same instruction elsewhere.
    #[must_use]
    pub fn moved_to(&self, address: u64) -> Self {
        let target = self.target.map(|target| target.wrapping_sub(self.address).wrapping_add(address));
        Self { address, target, ..self.clone() }
    }

    /// Returns the address past its last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.address.saturating_add(u64::from(self.size))
    }

    /// Its text: `s_cbranch_execz 12`; for an invalid instruction the bytes, `.long 0xffffffff`.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match (&self.text, &self.code) {
            (Some(text), _) => Cow::Borrowed(text),
            (None, Some((code, _))) if self.has_unknown_vectors => format!("{code} ; {UNKNOWN_MSB}").into(),
            (None, code) => code.map_or(Cow::Borrowed(""), |(code, _)| code.to_string().into()),
        }
    }

    /// Whether the bytes are a valid instruction; true of a log's text.
    #[must_use]
    pub fn is_decoded(&self) -> bool {
        self.text.is_some() || self.code.is_some_and(|(code, _)| code.is_valid())
    }

    /// Leaves its vector registers unknown.
    pub fn forget_vectors(&mut self) {
        self.has_unknown_vectors = self.uses_vectors();
        self.known = Arc::default();
    }

    /// The mnemonic without the suffix of the encoding: `v_add_f32`; empty for an invalid instruction.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        self.code().and_then(|(code, _)| code.mnemonic()).unwrap_or_default()
    }

    /// Whether its operands name a vector register.
    fn uses_vectors(&self) -> bool {
        self.named_registers().any(|range| range.file.is_vector())
    }

    /// The registers of its operands, destinations included.
    pub fn named_registers(&self) -> impl Iterator<Item = RegisterRange> + '_ {
        let operands = self.code.iter().flat_map(|(code, _)| code.operands());
        // Tied operands are not in the text.
        operands.filter(|of| of.tied.is_none()).filter_map(|of| RegisterRange::of(of.register()?))
    }

    pub(super) fn code(&self) -> Option<(&amdgpu_isa::Instruction, &'static Facts)> {
        let (code, facts) = self.code.as_ref()?;
        code.is_valid().then_some((code, facts))
    }

    pub(super) fn has_unknown_vectors(&self) -> bool {
        self.has_unknown_vectors
    }
}

/// Decodes code from an address on, in order.
#[derive(Clone, Debug)]
pub struct CodeReader {
    decoder: Decoder,
    facts: &'static Facts,
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
        let known = self.known();
        let member = known.and_then(|processor| processor.members().first());
        let decoder = Decoder::new(member.unwrap_or(&&*self.processor), self.wave_size.lanes());
        let facts = known.and_then(|processor| facts::of(processor.generation));
        let (decoder, facts) =
            decoder.zip(facts).ok_or_else(|| UnknownProcessorError(self.processor.clone()))?;
        let msb = (!begins_inside || !self.extends_vgprs()).then(VgprMsb::default);
        Ok(CodeReader { decoder, facts, msb })
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

    /// The instruction that a log has as text, with the size and the target that the log shows.
    #[must_use]
    pub fn said(&self, address: u64, size: u8, text: &str, target: Option<u64>) -> Instruction {
        let code = self.reader(false).ok().and_then(|of| Some((of.decoder.assemble(text)?, of.facts)));
        let target = target.or_else(|| code?.0.target(address));
        let has_unknown_vectors = text.contains(UNKNOWN_MSB);
        let known = Arc::default();
        Instruction { address, size, target, code, text: Some(text.into()), has_unknown_vectors, known }
    }
}

impl CodeReader {
    /// The instruction at the start of bytes; `None`: they end within it.
    pub fn next(&mut self, address: u64, bytes: &[u8]) -> Option<Instruction> {
        let found = self.decoder.with_msb(self.msb.unwrap_or_default()).decode(bytes);
        if found.is_cut() {
            return None;
        }
        let size = u8::try_from(found.size())
            .ok()
            .filter(|size| *size >= 4 && u64::from(*size).is_multiple_of(ALIGNMENT))?;
        let target = found.target(address);
        let code = Some((found, self.facts));
        let (has_unknown_vectors, known) = (false, Arc::default());
        let mut one = Instruction { address, size, target, code, text: None, has_unknown_vectors, known };
        if found.op() == Some(SET_MSB) {
            let bits = found.operand_of(SIMM16).and_then(|of| of.number());
            self.msb = bits.map(|bits| VgprMsb(bits as u8));
        } else if self.msb.is_none() {
            one.forget_vectors();
        }
        Some(one)
    }
}
