//! Captured code of a wave, decoded from an address on.

use super::{DisassemblyError, FunctionBounds, bounds};
use crate::isa::{Instruction, MAX_SIZE, Machine};
use crate::session::objects::Loaded;
use crate::session::reading::address::GLOBAL;
use crate::session::{MemoryAddress, Reader};
use crate::units::{Address, WaveId};

/// Bytes that are read at once.
const CHUNK: usize = 4096;
/// Maximum bytes of a function before an address whose instructions are decoded for MODE's bits (gfx12.5).
const MAX_BEFORE: u64 = 64 * 1024;

/// Captured code of a wave.
pub(super) struct Code<'a> {
    pub(super) reader: &'a Reader,
    pub(super) wave: WaveId,
    pub(super) loaded: Option<&'a Loaded>,
    pub(super) machine: Machine,
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
        // MODE's bits follow from the instructions behind the function's start.
        let function = if self.machine.extends_vgprs() { self.function(start) } else { None };
        let first = function.map(|function| function.start);
        let first =
            first.filter(|first| start - first <= MAX_BEFORE && self.read(*first, &mut [0; 4]).is_ok());
        let mut decoder = self.machine.reader(first.is_none())?;
        let mut found = Vec::new();
        let mut at = first.unwrap_or(start);
        while at < end && found.len() < count {
            let mut bytes = vec![0; CHUNK];
            let read = match self.read(at, &mut bytes) {
                Ok(read) => read,
                Err(why) => {
                    self.problems.push(format!("there are no instructions from {at:#x} on: {why}"));
                    break;
                }
            };
            bytes.truncate(read);
            let mut rest = bytes.as_slice();
            let is_last = read < CHUNK;
            while at < end && found.len() < count && (is_last || rest.len() as u64 >= MAX_SIZE) {
                let Some(one) = decoder.next(at, rest) else { break };
                let (own, after) = rest.split_at_checked(one.size.into()).unwrap_or((rest, &[]));
                (at, rest) = (one.end(), after);
                if one.address >= start {
                    found.push((one, own.to_vec()));
                }
            }
            if is_last && at < end && found.len() < count && !rest.is_empty() {
                let rest = rest.len();
                self.problems
                    .push(format!("the instruction at {at:#x} was captured in part: {rest} bytes of it"));
                break;
            }
        }
        Ok(found)
    }

    fn function(&self, at: u64) -> Option<FunctionBounds> {
        bounds::function(self.loaded?, self.reader.dump().capture(), at)
    }

    pub(super) fn read(&self, at: u64, buffer: &mut [u8]) -> Result<usize, crate::session::ReadError> {
        let place = MemoryAddress { space: GLOBAL, address: Address(at), wave: Some(self.wave), lane: None };
        self.reader.read(place, buffer)
    }
}
