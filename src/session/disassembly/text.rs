//! Instructions that the capture has as text, for code without bytes or without a tool.

use std::sync::Arc;

use super::{DisassemblyError, FunctionBounds, Instructions, ListedInstruction};
use crate::capture::{Capture, CodeText, TextInstruction, Wave};
use crate::debuginfo::source_name;
use crate::isa::{Instruction, Machine};

/// Instructions with the function that holds them.
pub(super) struct Listed<'c> {
    pub(super) function: FunctionBounds,
    instructions: &'c [TextInstruction],
}

/// The text at an address of a wave's code.
pub(in crate::session) fn at<'c>(capture: &'c Capture, wave: &Wave, address: u64) -> Option<&'c CodeText> {
    capture.code_texts.get(capture.code_text_at(wave.agent, address)?)
}

impl<'c> Listed<'c> {
    /// The instructions around an address.
    pub(super) fn of(capture: &'c Capture, wave: &Wave, address: u64) -> Option<Self> {
        let text = at(capture, wave, address)?;
        let instructions = text.around(address);
        let end = instructions.last().map(|last| last.address.saturating_add(LAST.into()))?;
        let first = instructions.first()?.address;
        let start = text.start.map_or(first, |start| start.min(first));
        let (name, begins_before) = (Arc::from(source_name(&text.function)), text.start.is_none());
        let function = FunctionBounds { name, start, end, begins_before };
        Some(Self { function, instructions })
    }

    /// The requested instructions, without bytes.
    pub(super) fn choose(
        &self,
        machine: &Machine,
        asked: &Instructions,
        anchor: u64,
    ) -> Vec<(Instruction, Vec<u8>)> {
        let at = self.instructions.partition_point(|one| one.address < anchor);
        let count = asked.count.unwrap_or(usize::MAX);
        let (first, count) = match asked.around {
            Some(around) => {
                let first = at.saturating_sub(around);
                (first, around.saturating_add(1).saturating_add(at - first))
            }
            None if asked.address.is_some() && asked.count.is_some() => (at, count),
            None => (0, count),
        };
        let ends = self.instructions.iter().skip(1).map(|next| Some(next.address)).chain([None]);
        let each = self.instructions.iter().zip(ends).skip(first).take(count);
        each.map(|(one, end)| {
            let size = end.and_then(|end| u8::try_from(end - one.address).ok()).unwrap_or(LAST);
            (machine.said(one.address, size, &one.text, one.target), Vec::new())
        })
        .collect()
    }

    /// Adds source lines of the text.
    pub(super) fn add_lines(&self, listed: &mut [ListedInstruction]) {
        for one in listed.iter_mut().filter(|one| one.file.is_none()) {
            let at = self.instructions.binary_search_by_key(&one.address.0, |known| known.address);
            if let Some(known) = at.ok().and_then(|at| self.instructions.get(at)) {
                one.file.clone_from(&known.file);
                one.line = known.line;
            }
        }
    }
}

/// Size of a text's last instruction: the smallest, since nothing bounds it.
const LAST: u8 = 4;

/// Whether decoded code has nothing, so that text may replace it.
pub(super) fn is_needed<T>(found: &Result<Vec<T>, DisassemblyError>) -> bool {
    match found {
        Ok(found) => found.is_empty(),
        Err(DisassemblyError::Processor(_)) => true,
        Err(_) => false,
    }
}
