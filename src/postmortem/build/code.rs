//! The source around the line of the fault, and the instructions around the PC.

use super::{Source, cut};
use crate::notation::lanes::ranges;
use crate::postmortem::{CodeView, Hex, InstructionRow, ShownWave, SourceLine, SourceView, StackGroup};
use crate::report::disassembly::instruction;
use crate::session::{Inspect, Instructions, ListedInstruction};
use crate::units::WaveId;

/// Number of source lines before and behind the line.
const LINES: u64 = 7;
/// Number of instructions before and behind the PC, at least and at most.
const AROUND: usize = 8;
const MAX_AROUND: usize = 40;

impl Source<'_> {
    /// The captured lines around a line; `None`: not captured.
    pub(super) fn source_view(&self, file: &str, line: u64, stacks: &[StackGroup]) -> Option<SourceView> {
        let name = self.paths.source(file);
        let waves = |number: u64| {
            let innermost = |group: &&StackGroup| {
                let frame = group.frames.first();
                frame.is_some_and(|of| of.line == Some(number) && of.file.as_deref() == Some(&*name))
            };
            stacks.iter().filter(innermost).map(|group| group.count).sum()
        };
        let first = line.saturating_sub(LINES).max(1);
        let count = line.saturating_add(LINES).saturating_sub(first).saturating_add(1);
        let texts = self.dump.capture().source_lines(file, first, usize::try_from(count).unwrap_or_default());
        let row = |(number, text): (u64, &String)| SourceLine {
            number,
            text: cut(text),
            is_current: number == line,
            waves: waves(number),
        };
        let lines: Vec<SourceLine> = (first..).zip(&texts).map(row).collect();
        lines.iter().any(|line| line.is_current).then_some(SourceView { file: name, lines })
    }

    pub(super) fn add_code(&self, session: &dyn Inspect, wave: WaveId, shown: &mut ShownWave) {
        let suspect = self.triage.suspects.first().filter(|suspect| suspect.wave == wave);
        let around =
            suspect.map_or(AROUND, |suspect| suspect.distance.saturating_add(2).clamp(AROUND, MAX_AROUND));
        let asked = Instructions { frame: shown.frame, around: Some(around), ..Instructions::default() };
        session.next_question();
        let found = match session.disassemble(wave, &asked) {
            Ok(found) => found,
            Err(error) => {
                shown.code_problem = Some(self.paths.text(&error.to_string()));
                return;
            }
        };
        let row = |one: &ListedInstruction| InstructionRow {
            address: Hex(one.address.0),
            offset: one.symbol.as_ref().map(|symbol| symbol.offset),
            text: cut(&instruction(one)),
            file: one.file.as_deref().map(|file| self.paths.source(file)),
            line: one.line,
            is_pc: one.is_pc,
            is_access: suspect.is_some_and(|suspect| suspect.instruction == one.address.0),
            lanes: (!one.lanes.is_empty()).then(|| ranges(one.active.unwrap_or(one.lanes))),
        };
        shown.code = Some(CodeView {
            function: found.function.as_ref().map(|function| cut(&function.name)),
            processor: found.processor.clone(),
            tool: found.tool().map(str::to_owned),
            instructions: found.instructions.iter().map(row).collect(),
            problems: found.problems.iter().map(|problem| self.paths.text(problem)).collect(),
        });
    }
}
