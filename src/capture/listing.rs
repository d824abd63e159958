//! Disassembled code that a capture has as text.

use std::sync::Arc;

use super::model::Capture;

/// Maximum number of functions as text in a capture.
pub const MAX_CODE_TEXTS: usize = 4096;

/// Maximum number of instructions as text in a capture: each wave of a log lists its code.
pub const MAX_TEXT_INSTRUCTIONS: usize = 1 << 18;

/// The instructions of a function, as the writer of the capture disassembled them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeText {
    /// Index of its agent; `None`: all agents.
    pub agent: Option<usize>,
    /// The function's name.
    pub function: Arc<str>,
    /// The function's first address; `None`: the writer listed a part of it and not where it begins.
    pub start: Option<u64>,
    /// Instructions by address, each once. Parts of the function may be missing.
    pub instructions: Vec<TextInstruction>,
}

/// An instruction as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextInstruction {
    /// Address of its first byte.
    pub address: u64,
    /// The text, without symbol names.
    pub text: Box<str>,
    /// The branch target that the writer prints.
    pub target: Option<u64>,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// Source line.
    pub line: Option<u64>,
}

/// No instruction is longer: a larger distance is a gap.
const MAX_INSTRUCTION: u64 = 32;

impl CodeText {
    /// The instructions around an address, without gaps: each ends where the next one begins.
    #[must_use]
    pub fn around(&self, address: u64) -> &[TextInstruction] {
        let after = self.instructions.partition_point(|one| one.address <= address);
        let Some(at) = after.checked_sub(1) else { return &[] };
        let is_near = |one: &TextInstruction, next: u64| next - one.address <= MAX_INSTRUCTION;
        if !self.instructions.get(at).is_some_and(|one| is_near(one, address.saturating_add(1))) {
            return &[];
        }
        let gap = |pair: &[TextInstruction]| matches!(pair, [one, next] if !is_near(one, next.address));
        let before = self.instructions.get(..=at).unwrap_or_default();
        let first = before.windows(2).rposition(gap).map_or(0, |gap| gap + 1);
        let from = self.instructions.get(at..).unwrap_or_default();
        let last = from.windows(2).position(gap).map_or(self.instructions.len(), |gap| at + gap + 1);
        self.instructions.get(first..last).unwrap_or_default()
    }
}

impl Capture {
    /// The index of the text that has the instruction at an address, for code of that agent.
    #[must_use]
    pub fn code_text_at(&self, agent: usize, address: u64) -> Option<usize> {
        self.code_texts
            .iter()
            .position(|text| text.agent.is_none_or(|own| own == agent) && !text.around(address).is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::{CodeText, TextInstruction};

    #[test]
    fn gaps_end_the_instructions_around_an_address() {
        let one = |address| TextInstruction { address, ..TextInstruction::default() };
        let addresses = [0x100, 0x104, 0x10c, 0x200, 0x220, 0x300];
        let text = CodeText { instructions: addresses.map(one).to_vec(), ..CodeText::default() };
        let around = |at| text.around(at).iter().map(|one| one.address).collect::<Vec<_>>();
        assert_eq!(around(0x104), [0x100, 0x104, 0x10c]);
        // Within an instruction, and right after the last one.
        assert_eq!(around(0x108), [0x100, 0x104, 0x10c]);
        assert_eq!(around(0x200), [0x200, 0x220]);
        assert_eq!(around(0x300), [0x300]);
        for outside in [0, 0xff, 0x150, 0x250, 0x400, u64::MAX] {
            assert!(around(outside).is_empty(), "{outside:#x}");
        }
        assert!(CodeText::default().around(0).is_empty());
    }
}
