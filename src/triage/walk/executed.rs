//! Instructions that may have run before a PC, with the registers that they read.

use super::recover::Past;
use super::registers::Registers;
use super::{Node, Paths, Way};
use crate::isa::{Control, Instruction, Operation, RegisterFile};
use crate::triage::listings::Decoded;
use crate::units::{LaneId, LaneSet};

/// Maximum number of instructions that the search for another path visits.
const MAX_OTHERS: usize = 4096;

/// An instruction that may have run before the PC.
#[derive(Clone, Debug)]
pub(in crate::triage) struct Executed {
    node: Node,
    /// Its paths to the PC, the shortest first.
    ways: Vec<Way>,
    /// Whether all paths to the PC have it, and all instructions after it are known.
    pub(in crate::triage) is_certain: bool,
}

/// The registers before an instruction, on one path to the PC.
pub(in crate::triage) struct Operands<'a, 'r> {
    past: Past<'a, 'r>,
    index: usize,
}

impl Paths {
    /// The instructions within that distance before the PC, the nearest first.
    pub(in crate::triage) fn executed(&self, most: usize) -> Vec<Executed> {
        let mut found: Vec<Executed> = Vec::new();
        let steps = self.steps.iter().enumerate().skip(1);
        for (step, of) in steps.take_while(|(_, of)| of.distance <= most) {
            let way = Way { step, distance: of.distance, completed: None };
            match found.iter_mut().find(|known| known.node == of.node) {
                Some(known) => known.ways.push(way),
                None => found.push(Executed { node: of.node, ways: vec![way], is_certain: false }),
            }
        }
        for one in &mut found {
            one.is_certain = !self.has_way_around(one.node);
        }
        found
    }

    /// The decoded instruction.
    pub(in crate::triage) fn text_of(&self, one: &Executed) -> Option<&Decoded> {
        self.decoded(one.node)
    }

    /// The registers that an instruction reads, for each known path to the PC.
    pub(in crate::triage) fn operands<'a, 'r>(
        &'a self,
        one: &Executed,
        registers: &'a Registers<'r>,
    ) -> Vec<Operands<'a, 'r>> {
        let each = one.ways.iter().map(|way| Past::new(self, way, registers));
        each.map(|(past, index)| Operands { past, index }).collect()
    }

    /// Whether some path to the PC may lack an instruction, or passes a call or unknown code after it.
    fn has_way_around(&self, node: Node) -> bool {
        let Some(pc) = self.steps.first().map(|step| step.node) else { return true };
        let (mut seen, mut open, mut visits) = (self.graph.marks(), vec![pc], 0);
        while let Some(at) = open.pop() {
            let (edges, gap) = self.graph.before(at);
            visits += 1;
            if gap.is_some() || edges.is_empty() || visits > MAX_OTHERS {
                return true;
            }
            for edge in edges.iter().filter(|edge| edge.node != node) {
                let effects = self.decoded(edge.node).and_then(|one| one.effects().ok());
                if effects.is_none_or(|effects| effects.control == Control::Call) {
                    return true;
                }
                if seen.is_new(edge.node) {
                    open.push(edge.node);
                }
            }
        }
        false
    }
}

impl Operands<'_, '_> {
    /// EXEC before the instruction.
    pub(in crate::triage) fn exec(&self) -> Option<LaneSet> {
        self.past.exec(self.index).or_else(|| self.saved())
    }

    /// EXEC behind `s_and_saveexec`, by its condition and the mask that it saved.
    fn saved(&self) -> Option<LaneSet> {
        let (at, one) = self.past.writer(RegisterFile::Exec, 0, LaneId::default(), self.index)?;
        let save = one.computations().find(|of| of.operation == Operation::And)?;
        let [condition, ..] = save.sources;
        let (saved, condition) = (save.saved?, condition.register()?);
        let dword = |index: u16| {
            let number = saved.first.checked_add(index)?;
            self.past.dword(saved.file, number, LaneId::default(), at + 1).map(u64::from)
        };
        let high = if saved.count > 1 { dword(1)? } else { 0 };
        let lanes = LaneSet(dword(0)? | high << 32);
        let is_in = |lane: LaneId| Some(self.past.lane_bit(condition, lane, at)?.then_some(lane));
        let each: Option<Vec<Option<LaneId>>> = lanes.iter().map(is_in).collect();
        Some(each?.into_iter().flatten().collect())
    }

    /// A dword before the instruction.
    pub(in crate::triage) fn dword(&self, file: RegisterFile, number: u16, lane: LaneId) -> Option<u32> {
        self.past.dword(file, number, lane, self.index)
    }

    /// The instruction that computed a dword, and a dword before it that a function chooses.
    pub(in crate::triage) fn source(
        &self,
        (file, number): (RegisterFile, u16),
        lane: LaneId,
        choose: impl Fn(&Instruction) -> Option<(RegisterFile, u16)>,
    ) -> Option<(&Instruction, (RegisterFile, u16), u32)> {
        let (at, one) = self.past.writer(file, number, lane, self.index)?;
        let (file, number) = choose(one)?;
        Some((one, (file, number), self.past.dword(file, number, lane, at)?))
    }
}
