//! AMDGPU instructions, decoded by LLVM's tools.
//!
//! Input: bytes of code, their address and the processor. Output: instructions with address, size, text and branch
//! target, cached for the next request. Reading captures and finding symbols is up to the caller.
//!
//! `llvm-objdump` is preferred, `llvm-mc` is the fallback. Both take 50 ms to start and 0.3 s for 256 KiB (LLVM 22).
//! Only `llvm-objdump` prints addresses and branch targets; it reads ELF files, so a minimal file is built around the
//! bytes. `llvm-mc` prints text alone; the sizes come from its second encoding of that text.
//!
//! No other module starts programs. They run without a shell, with bounded input, output and time.

mod batch;
mod cache;
mod elf;
mod error;
mod mc;
mod objdump;
mod run;
mod runs;
#[cfg(test)]
mod tests;
mod tools;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use cache::{Block, MAX_KEPT};
pub use error::{DisassembleError, ListingError, WITHOUT};
pub use run::MAX_OUTPUT;
pub use tools::MAX_TRIED;

use batch::Batch;
use cache::Kept;
use runs::Runs;
use tools::{Program, Tool};

/// The installed tools, in the order in which a disassembler tries them.
#[must_use]
pub fn found() -> Vec<PathBuf> {
    tools::installed().into_iter().map(|tool| tool.path).collect()
}

/// Alignment of AMDGPU instructions in bytes; sizes are multiples of it too.
pub const ALIGNMENT: u64 = 4;
/// Maximum bytes of a block; a tool takes about 0.1 s for them.
pub const MAX_BLOCK: usize = 64 * 1024;
/// Maximum bytes of all blocks of one tool run; a tool takes about 0.3 s for them.
pub const MAX_BATCH: usize = 256 * 1024;
/// Time limit of one tool run; typical runs take 0.1 s.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The target processor of code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// Name in the form of LLVM's `-mcpu`: `gfx90a`, `gfx11-generic`.
    pub processor: String,
    /// Features in the form of `-mattr`: `+wavefrontsize64`, `-xnack`.
    pub features: Vec<&'static str>,
    /// Whether the code begins within a function. Only processors that [`Self::extends_vgprs`] are concerned.
    pub begins_inside: bool,
}

/// The remark in the text of an instruction whose vector registers are unknown: MODE extends their numbers, and the
/// instructions that set MODE were not decoded.
pub const UNKNOWN_MSB: &str = "256, 512 or 768 may be missing in the numbers of vector registers";

impl Machine {
    /// Whether MODE has further bits of the numbers of vector registers, which `s_set_vgpr_msb` sets (gfx12.5).
    /// `llvm-objdump` follows it from the first instruction on, where the bits are 0 at the start of a function;
    /// `llvm-mc` does not.
    #[must_use]
    pub fn extends_vgprs(&self) -> bool {
        ["gfx125", "gfx12-5-"].iter().any(|name| self.processor.starts_with(name))
    }
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Address of its first byte.
    pub address: u64,
    /// Its size in bytes: a multiple of 4.
    pub size: u8,
    /// The tool's text: `s_cbranch_execz 12`; for an invalid instruction the bytes, `.long 0xffffffff`.
    pub text: String,
    /// Whether the bytes are a valid instruction.
    pub is_decoded: bool,
    /// Branch target according to the tool.
    pub target: Option<u64>,
}

impl Instruction {
    /// Returns the address past its last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.address.saturating_add(u64::from(self.size))
    }
}

/// Decodes code with a tool and caches the result. Threads share it.
#[derive(Debug)]
pub struct Disassembler {
    /// The user's tool; `None`: the installed tools.
    named: Option<Tool>,
    /// Installed tools, the preferred one first; filled by the first request.
    found: Mutex<Vec<Tool>>,
    kept: Kept,
    /// Results for other captures; `None`: the only capture has them in `kept`.
    runs: Option<Arc<Runs>>,
    time_limit: Duration,
}

impl Default for Disassembler {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Disassembler {
    /// Creates a disassembler that runs `program`: `llvm-mc` syntax if that is in its name, else `llvm-objdump` syntax.
    /// `None`: the installed tools.
    #[must_use]
    pub fn new(program: Option<PathBuf>) -> Self {
        let named = program.map(Tool::named);
        Self { named, found: Mutex::default(), kept: Kept::default(), runs: None, time_limit: TIME_LIMIT }
    }

    /// The error of every request, if no tool is installed or the file of the user's tool is missing. Starts no tool.
    #[must_use]
    pub fn missing(&self) -> Option<DisassembleError> {
        if let Some(Tool { path, .. }) = &self.named {
            // The system looks up a name without a folder.
            let error = path.metadata().err().filter(|_| path.is_absolute())?;
            let (tool, error) = (path.display().to_string(), error.to_string());
            return Some(DisassembleError::NotRun { tool, error });
        }
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_empty() {
            *found = tools::installed();
        }
        found.is_empty().then_some(DisassembleError::NoTool)
    }

    /// Shares the results of its tools with the disassemblers of [`Self::of_another`].
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.runs = Some(Arc::default());
        self
    }

    /// Creates the disassembler of another capture, with the same tools. Results are shared after [`Self::shared`].
    #[must_use]
    pub fn of_another(&self) -> Self {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (named, runs) = (self.named.clone(), self.runs.clone());
        Self { named, found: Mutex::new(found), kept: Kept::default(), runs, time_limit: self.time_limit }
    }

    /// Sets the time limit of a tool run.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Returns a cached block with an instruction that begins at the address; the caller compares [`Block::bytes`].
    #[must_use]
    pub fn kept(&self, machine: &Machine, address: u64) -> Option<Arc<Block>> {
        self.kept.at(machine, address)
    }

    /// Decodes bytes at an address, at most [`MAX_BLOCK`], whole dwords only. Drops a last instruction that is cut off.
    ///
    /// # Errors
    /// No tool is installed, no tool knows the processor, or the tool fails.
    pub fn decode(
        &self,
        machine: &Machine,
        address: u64,
        bytes: &[u8],
    ) -> Result<Arc<Block>, DisassembleError> {
        let blocks = self.decode_all(machine, &[(address, bytes)])?;
        blocks.into_iter().next().ok_or(DisassembleError::NoTool)
    }

    /// Decodes several pieces of code, each as [`Self::decode`], with one run of the tool. Pieces past [`MAX_BATCH`]
    /// are cut off.
    ///
    /// # Errors
    /// The errors of [`Self::decode`].
    pub fn decode_all(
        &self,
        machine: &Machine,
        pieces: &[(u64, &[u8])],
    ) -> Result<Vec<Arc<Block>>, DisassembleError> {
        // A tool would take the bits at the end of one piece for those at the start of the next.
        if machine.extends_vgprs() && pieces.len() > 1 {
            let each = pieces.iter().map(|piece| self.decode_all(machine, std::slice::from_ref(piece)));
            let blocks: Result<Vec<_>, _> = each.collect();
            return Ok(blocks?.into_iter().flatten().collect());
        }
        // The name may be a user's. LLVM replaces an invalid one by its default, so it is rejected here.
        let is_name = machine.processor.starts_with("gfx");
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !is_name || !machine.processor.chars().all(is_letter) {
            let (tool, processor) = ("LLVM".to_owned(), machine.processor.clone());
            let words = "no name of a processor".to_owned();
            return Err(DisassembleError::UnknownProcessor { tool, processor, words });
        }
        let batch = Batch::of(pieces)?;
        let known = self.runs.as_ref().and_then(|runs| runs.find(machine, &batch));
        let (tool, instructions) = match (known, &self.named) {
            (Some(known), _) => known,
            (None, Some(tool)) => self.keep(machine, &batch, (tool.name(), self.by(tool, machine, &batch)?)),
            (None, None) => self.keep(machine, &batch, self.by_installed(machine, &batch)?),
        };
        let blocks = batch.blocks(machine, &tool, instructions);
        Ok(blocks.into_iter().map(|block| self.kept.keep(block)).collect())
    }

    /// Keeps a result for other captures.
    fn keep(
        &self,
        machine: &Machine,
        batch: &Batch,
        result: (String, Vec<Instruction>),
    ) -> (String, Vec<Instruction>) {
        if let Some(runs) = &self.runs {
            runs.keep(machine, batch, &result);
        }
        result
    }

    /// Decodes with the first installed tool that succeeds.
    fn by_installed(
        &self,
        machine: &Machine,
        batch: &Batch,
    ) -> Result<(String, Vec<Instruction>), DisassembleError> {
        let lock = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tools = lock().clone();
        if tools.is_empty() {
            tools = tools::installed();
            lock().clone_from(&tools);
        }
        let (mut first, mut is_too_old) = (None, false);
        for tool in tools {
            match self.by(&tool, machine, batch) {
                Ok(instructions) => {
                    // This tool moves ahead of those that lack the GPU.
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
        batch: &Batch,
    ) -> Result<Vec<Instruction>, DisassembleError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let (address, code) = (batch.address(), batch.code());
        log::debug!("{}: {} bytes at {address:#x} for {}", tool.name(), code.len(), machine.processor);
        let limit = self.time_limit;
        let (mut found, is_following) = match tool.program {
            Program::Objdump => (objdump::decode(tool, machine, address, code, limit)?, true),
            Program::Mc => (mc::decode(tool, machine, address, code, limit)?, false),
        };
        if machine.extends_vgprs() {
            mark_unknown(&mut found, machine.begins_inside, is_following);
        }
        Ok(found)
    }
}

/// Adds [`UNKNOWN_MSB`] to the instructions with vector registers while MODE's bits for them are unknown, or, from a
/// tool that does not follow them, not 0.
fn mark_unknown(instructions: &mut [Instruction], mut is_unknown: bool, is_following: bool) {
    let is_vector = |word: &str| {
        word.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '['))
    };
    for one in instructions {
        if let Some(bits) = one.text.strip_prefix("s_set_vgpr_msb ") {
            let bits = bits.trim();
            let value = match bits.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => bits.parse().ok(),
            };
            is_unknown = !is_following && value.is_none_or(|value| value & 0xff != 0);
        } else if is_unknown && one.text.split([' ', ',', '-', '|', '(']).any(is_vector) {
            one.text = format!("{} ; {UNKNOWN_MSB}", one.text);
        }
    }
}
