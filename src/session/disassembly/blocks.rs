//! Decoder of code, block by block.

use std::sync::Arc;

use super::bounds;
use super::{DisassemblyError, FunctionBounds};
use crate::disassembler::{Block, Instruction, MAX_BLOCK, Machine};
use crate::session::objects::Loaded;
use crate::session::reading::address::GLOBAL;
use crate::session::{MemoryAddress, Reader};
use crate::units::{Address, WaveId};

/// Bytes decoded at once if no function bounds the code.
pub(super) const WITHOUT_FUNCTION: usize = 4096;
/// Bytes read beyond a function's end, so that an instruction across the end (of damaged code) is whole.
const BEYOND: u64 = 32;

/// Captured code of a wave.
pub(super) struct Code<'a> {
    pub(super) reader: &'a Reader,
    pub(super) wave: WaveId,
    pub(super) loaded: Option<&'a Loaded>,
    pub(super) machine: Machine,
    pub(super) tool: Option<String>,
    pub(super) problems: Vec<String>,
}

impl Code<'_> {
    /// The instructions from an address up to another one, at most `count`. They end at missing code, with a problem.
    pub(super) fn forward(
        &mut self,
        start: u64,
        end: u64,
        count: usize,
    ) -> Result<Vec<(Instruction, Vec<u8>)>, DisassemblyError> {
        let mut found = Vec::new();
        let mut at = start;
        while at < end && found.len() < count {
            let block = match self.block(at) {
                Ok(Some(block)) => block,
                Ok(None) => break,
                Err(error) if found.is_empty() => return Err(error),
                Err(error) => {
                    self.problems.push(format!("there are no instructions from {at:#x} on: {error}"));
                    break;
                }
            };
            let instructions = block.from(at).unwrap_or_default();
            let wanted = instructions.iter().take_while(|one| one.address < end).take(count - found.len());
            for one in wanted {
                found.push((one.clone(), block.bytes_of(one).to_vec()));
                at = one.end();
            }
        }
        Ok(found)
    }

    /// A block with the instruction at an address; `None` and a problem if that was not captured.
    fn block(&mut self, at: u64) -> Result<Option<Arc<Block>>, DisassemblyError> {
        let capture = self.reader.dump().capture();
        let function = self.loaded.and_then(|loaded| bounds::function(loaded, capture, at));
        let machine = self.machine.clone();
        if !machine.extends_vgprs() {
            return self.block_from(&machine, at, at, function);
        }
        // The tool needs the instructions that set MODE's bits: it begins at the function's start.
        let whole = function.clone().filter(|function| function.end - function.start <= MAX_BLOCK as u64);
        if let Some(whole) = whole
            && self.read(whole.start, &mut [0; 4]).is_ok()
            && let Some(block) = self.block_from(&machine, whole.start, at, Some(whole))?
            && block.from(at).is_some()
        {
            return Ok(Some(block));
        }
        self.block_from(&Machine { begins_inside: true, ..machine }, at, at, function)
    }

    /// A block from `start` on with an instruction at `asked`.
    fn block_from(
        &mut self,
        machine: &Machine,
        start: u64,
        asked: u64,
        function: Option<FunctionBounds>,
    ) -> Result<Option<Arc<Block>>, DisassemblyError> {
        let disassembler = self.reader.dump().disassembler();
        if let Some(kept) = disassembler.kept(machine, asked)
            && self.is_unchanged(&kept, if start < asked { kept.address } else { asked })
        {
            self.tool = Some(kept.tool.clone());
            return Ok(Some(kept));
        }
        let want = function.map(|function| (function.end - start).saturating_add(BEYOND));
        let want = want.map_or(WITHOUT_FUNCTION, |want| usize::try_from(want).unwrap_or(MAX_BLOCK));
        let mut bytes = vec![0; want.min(MAX_BLOCK)];
        let read = match self.read(start, &mut bytes) {
            Ok(read) => read,
            Err(why) => {
                self.problems.push(format!("there are no instructions from {start:#x} on: {why}"));
                return Ok(None);
            }
        };
        bytes.truncate(read);
        let block = disassembler.decode(machine, start, &bytes)?;
        if block.instructions.is_empty() {
            self.problems
                .push(format!("the instruction at {start:#x} was captured in part: {read} bytes of it"));
            return Ok(None);
        }
        self.tool = Some(block.tool.clone());
        Ok(Some(block))
    }

    /// Whether the current bytes from an address on are still the decoded ones.
    fn is_unchanged(&self, block: &Block, at: u64) -> bool {
        let skip = usize::try_from(at - block.address).unwrap_or(usize::MAX);
        let then = block.bytes.get(skip..).unwrap_or_default();
        let mut now = vec![0; then.len()];
        self.read(at, &mut now).is_ok_and(|read| read == then.len()) && now == then
    }

    pub(super) fn read(&self, at: u64, buffer: &mut [u8]) -> Result<usize, crate::session::ReadError> {
        let place = MemoryAddress { space: GLOBAL, address: Address(at), wave: Some(self.wave), lane: None };
        self.reader.read(place, buffer)
    }
}
