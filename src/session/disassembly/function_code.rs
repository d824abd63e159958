//! Instructions of a function in a code object's file.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::machine;
use crate::arch::{Generation, WaveArch};
use crate::codeobject::{CodeObject, ElfAddress};
use crate::isa::{CodeTarget, Instruction, Machine, UnknownProcessorError};

/// Maximum number of kept instructions.
const MAX_KEPT: usize = 1 << 14;

/// Decoded functions: analyses of one function share the effects of its instructions, be they of the file or of memory.
#[derive(Debug, Default)]
pub(in crate::session) struct DecodedFunctions(Mutex<HashMap<Key, Arc<[Instruction]>>>);

/// The bytes of a function, whether they begin inside of it, and the machine.
type Key = (Machine, bool, Vec<u8>);

impl DecodedFunctions {
    /// The instructions of bytes at an address: [`Machine::decode`].
    pub(in crate::session) fn decode(
        &self,
        machine: &Machine,
        address: u64,
        bytes: &[u8],
        begins_inside: bool,
    ) -> Result<Vec<Instruction>, UnknownProcessorError> {
        // Entries are inserted whole, so that a panic of a thread with the lock leaves them valid.
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (machine.clone(), begins_inside, bytes.to_vec());
        let known = lock().get(&key).cloned();
        if let Some(known) = known {
            let start = known.first().map_or(address, |first| first.address);
            let moved = |one: &Instruction| one.moved_to((one.address - start).wrapping_add(address));
            return Ok(known.iter().map(moved).collect());
        }
        let code = machine.decode(address, bytes, begins_inside)?;
        let mut kept = lock();
        let count: usize = kept.values().map(|known| known.len()).sum();
        if count.saturating_add(code.len()) > MAX_KEPT {
            kept.clear();
        }
        if code.len() <= MAX_KEPT {
            kept.insert(key, code.as_slice().into());
        }
        Ok(code)
    }
}

/// The reason that a function has no instructions.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::session) enum ObjectCodeError {
    #[error("the function's code is not in the code object's file")]
    NotInFile,
    #[error(transparent)]
    Processor(#[from] UnknownProcessorError),
}

/// The GPU of a code object's functions, for their analysis.
pub(in crate::session) fn target(object: &CodeObject, kind: &WaveArch) -> CodeTarget {
    CodeTarget {
        generation: object.processor().map_or(Generation::R600, |known| known.generation),
        buffer_scratch: kind.target.buffer_scratch,
        lanes: kind.wave_size.lanes(),
    }
}

/// The instructions of the parts of a function, by address. Of parts that overlap, the first one counts.
pub(in crate::session) fn instructions(
    decoded: &DecodedFunctions,
    object: &CodeObject,
    kind: &WaveArch,
    parts: &[Range<ElfAddress>],
) -> Result<Vec<Instruction>, ObjectCodeError> {
    let machine = machine(Some(object), kind);
    let mut parts = parts.to_vec();
    parts.sort_by_key(|range| range.start);
    let mut code: Vec<Instruction> = Vec::new();
    for part in parts {
        let at = part.start.0.max(code.last().map_or(0, Instruction::end));
        let Some(length @ 1..) = part.end.0.checked_sub(at) else { continue };
        let bytes = object.bytes_at(ElfAddress(at), length).ok_or(ObjectCodeError::NotInFile)?;
        let found = decoded.decode(&machine, at, &bytes, at != part.start.0)?;
        if found.last().is_none_or(|last| last.end() < part.end.0) {
            return Err(ObjectCodeError::NotInFile);
        }
        code.extend(found);
    }
    Ok(code)
}
