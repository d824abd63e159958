//! Whether a path to the PC contradicts the registers at the PC.

use super::{First, Past, WriteKind};
use crate::isa::{Effects, ReadRegister as _, RegisterFile, RegisterRange};
use crate::units::LaneId;

/// SGPRs that the hardware may set when a wave begins (AMDGPUUsage, "Initial Kernel Execution State").
const USER_REGISTERS: u16 = 32;
/// Number of active lanes whose vector registers are compared.
const COMPARED: usize = 2;
/// Maximum dwords of a result that is compared.
const MAX_DWORDS: u16 = 2;

impl Past<'_, '_> {
    /// Whether the path is impossible: a register that it left alone has another value than the hardware or an
    /// instruction of the path gave it. Loads prove nothing, as memory may have changed.
    pub(in crate::triage::walk) fn is_refuted(&self) -> bool {
        self.is_without_loads.set(true);
        self.forget();
        let lanes: Vec<LaneId> = self.registers.exec().unwrap_or_default().iter().take(COMPARED).collect();
        let differs_at_start = |number| {
            let file = RegisterFile::Scalar;
            self.differs((file, number), LaneId::default(), 0, || self.registers.at_start(file, number))
        };
        let differs_behind = |at: usize| {
            let effects = self.effects(at).map(|(_, effects)| effects);
            let computed = effects.filter(|effects| effects.access.is_none());
            computed.is_some_and(|effects| self.differs_behind(at, effects, &lanes))
        };
        self.first == First::Start && (0..USER_REGISTERS).any(differs_at_start)
            || (0..self.nodes.len()).any(differs_behind)
    }

    /// Whether a register has another value than the instruction of an index computed.
    fn differs_behind(&self, at: usize, effects: &Effects, lanes: &[LaneId]) -> bool {
        let small = effects.writes.iter().map(|write| write.range).filter(|range| range.count <= MAX_DWORDS);
        let numbers = |range: RegisterRange| {
            (0..range.count).filter_map(move |dword| Some((range.file, range.first.checked_add(dword)?)))
        };
        small.flat_map(numbers).any(|(file, number)| {
            let lanes = match file {
                RegisterFile::Scalar => &[LaneId(0)],
                RegisterFile::Vector => lanes,
                _ => return false,
            };
            lanes.iter().any(|lane| {
                self.write(at, RegisterRange::new(file, number, 1), *lane) == WriteKind::Whole
                    && self.differs((file, number), *lane, at + 1, || self.written(at, file, number, *lane))
            })
        })
    }

    /// Whether a register that keeps its value from an index to the PC had another one.
    fn differs(
        &self,
        (file, number): (RegisterFile, u16),
        lane: LaneId,
        index: usize,
        had: impl FnOnce() -> Option<u32>,
    ) -> bool {
        self.is_kept(file, number, lane, index)
            && self.registers.dword(file, number, lane).zip(had()).is_some_and(|(found, had)| found != had)
    }
}
