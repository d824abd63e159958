//! Instructions of AMDGPU code as LLVM's own tools print them.
//!
//! *You give* bytes of code, where they lie, and the processor that they are for.
//! *You get* instructions with address, size, text and branch target, kept for the next who asks for the same.
//! *Not for* reading captures, nor for names: who asks knows both.
//!
//! `llvm-objdump` comes first, `llvm-mc` if it is missing. Both take 50 ms to start and 0.3 s for 256 KiB (LLVM 22),
//! but only the former prints addresses and branch targets: `llvm-mc` prints text alone, and sizes come from its
//! second encoding of the decoded text. `objdump` reads an ELF file, so one is made around the bytes.
//!
//! This is the only module that starts programs: without a shell, with bounded input, output and time.

mod cache;
mod elf;
mod error;
mod mc;
mod objdump;
mod run;
#[cfg(test)]
mod tests;
mod tools;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use cache::{Block, MAX_KEPT};
pub use error::{DisassembleError, ListingError};
pub use run::MAX_OUTPUT;
pub use tools::MAX_TRIED;

use cache::Kept;
use tools::{Program, Tool};

/// Every instruction of AMDGPU lies at a multiple of so many bytes, and is so many long or a multiple.
pub const ALIGNMENT: u64 = 4;
/// The most bytes that are decoded at once: what a tool does in a tenth of a second.
pub const MAX_BLOCK: usize = 64 * 1024;
/// How long a tool may take: a hundred times what it needs.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Zero bytes after the code for the tool alone, longer than any instruction: `llvm-objdump` 22 crashes if a literal
/// lies beyond the section's end. Instructions that reach into them are cut off.
const PADDING: usize = 32;

/// The processor that code is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// The processor as LLVM's `-mcpu` takes it: `gfx90a`, `gfx11-generic`.
    pub processor: String,
    /// Its features as `-mattr` takes them: `+wavefrontsize64`, `-xnack`.
    pub features: Vec<&'static str>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where it lies.
    pub address: u64,
    /// Its size in bytes: a multiple of 4.
    pub size: u8,
    /// The tool's text: `s_cbranch_execz 12`; for an invalid instruction its bytes, `.long 0xffffffff`.
    pub text: String,
    /// Whether it is an instruction.
    pub is_decoded: bool,
    /// Where it branches to, by the tool.
    pub target: Option<u64>,
}

impl Instruction {
    /// The address after it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.address.saturating_add(u64::from(self.size))
    }
}

/// Decodes code by a tool, and keeps what it has decoded. Shared by threads.
#[derive(Debug)]
pub struct Disassembler {
    /// The one that the user named; `None`: what is installed.
    named: Option<Tool>,
    /// The installed tools, after the first question; the preferred one at the front.
    found: Mutex<Vec<Tool>>,
    kept: Kept,
    time_limit: Duration,
}

impl Default for Disassembler {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Disassembler {
    /// One that runs that program, an `llvm-mc` if it is called so and an `llvm-objdump` else; `None`: what is installed.
    #[must_use]
    pub fn new(program: Option<PathBuf>) -> Self {
        let named = program.map(Tool::named);
        Self { named, found: Mutex::default(), kept: Kept::default(), time_limit: TIME_LIMIT }
    }

    /// The same with another limit of time for a tool.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// A block that was decoded before and has an instruction that begins at the address. Whether the bytes are still
    /// those ([`Block::bytes`]) is for the caller to see.
    #[must_use]
    pub fn kept(&self, machine: &Machine, address: u64) -> Option<Arc<Block>> {
        self.kept.at(machine, address)
    }

    /// Decodes bytes that lie at an address, at most [`MAX_BLOCK`], whole dwords only. Instructions of which the last bytes
    /// are missing are left out.
    ///
    /// # Errors
    /// No tool is installed, or none of them knows the processor; what keeps the tool from answering.
    pub fn decode(
        &self,
        machine: &Machine,
        address: u64,
        bytes: &[u8],
    ) -> Result<Arc<Block>, DisassembleError> {
        if !address.is_multiple_of(ALIGNMENT) {
            return Err(DisassembleError::Unaligned(address));
        }
        // Names come from a user's targets, too: an invalid name is not passed to a tool, which takes any for the
        // default.
        let is_name = machine.processor.starts_with("gfx");
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !is_name || !machine.processor.chars().all(is_letter) {
            let (tool, processor) = ("LLVM".to_owned(), machine.processor.clone());
            let words = "no name of a processor".to_owned();
            return Err(DisassembleError::UnknownProcessor { tool, processor, words });
        }
        // The padding is to lie within the address space, too.
        let capacity = usize::try_from(u64::MAX - address).unwrap_or(usize::MAX).saturating_sub(PADDING);
        let length = bytes.len().min(MAX_BLOCK).min(capacity) / 4 * 4;
        let bytes = bytes.get(..length).unwrap_or_default();
        let (tool, mut instructions) = match &self.named {
            Some(tool) => (tool.name(), self.by(tool, machine, address, bytes)?),
            None => self.by_installed(machine, address, bytes)?,
        };
        let end = address.saturating_add(length as u64);
        instructions.retain(|instruction| instruction.end() <= end);
        let block = Block { machine: machine.clone(), address, bytes: bytes.to_vec(), instructions, tool };
        Ok(self.kept.keep(block))
    }

    /// By the first of the installed tools that can.
    fn by_installed(
        &self,
        machine: &Machine,
        address: u64,
        bytes: &[u8],
    ) -> Result<(String, Vec<Instruction>), DisassembleError> {
        let lock = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tools = lock().clone();
        if tools.is_empty() {
            tools = tools::installed();
            lock().clone_from(&tools);
        }
        let (mut first, mut is_too_old) = (None, false);
        for tool in tools {
            match self.by(&tool, machine, address, bytes) {
                Ok(instructions) => {
                    // It will be asked first, where those before it do not know the GPU.
                    if is_too_old {
                        let mut found = lock();
                        found.retain(|other| *other != tool);
                        found.insert(0, tool.clone());
                    }
                    return Ok((tool.name(), instructions));
                }
                Err(error) if error.is_of_this_tool() => {
                    log::debug!("{error}");
                    is_too_old |= matches!(error, DisassembleError::UnknownProcessor { .. });
                    first.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(first.unwrap_or(DisassembleError::NoTool))
    }

    fn by(
        &self,
        tool: &Tool,
        machine: &Machine,
        address: u64,
        bytes: &[u8],
    ) -> Result<Vec<Instruction>, DisassembleError> {
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        log::debug!("{}: {} bytes at {address:#x} for {}", tool.name(), bytes.len(), machine.processor);
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len() + PADDING, 0);
        let limit = self.time_limit;
        match tool.program {
            Program::Objdump => objdump::decode(tool, machine, address, &padded, limit),
            Program::Mc => mc::decode(tool, machine, address, &padded, limit),
        }
    }
}
