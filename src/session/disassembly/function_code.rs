//! Instructions of a function in a code object's file.

use std::ops::Range;

use super::machine;
use crate::arch::{Generation, WaveArch};
use crate::codeobject::{CodeObject, ElfAddress};
use crate::isa::{CodeTarget, Instruction, UnknownProcessorError};

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
        let found = machine.decode(at, &bytes, at != part.start.0)?;
        if found.last().is_none_or(|last| last.end() < part.end.0) {
            return Err(ObjectCodeError::NotInFile);
        }
        code.extend(found);
    }
    Ok(code)
}
