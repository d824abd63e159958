//! Registers that an instruction adds up, or copies, to a dword of its result: the way of a pointer into an address.

use super::Instruction;
use super::computation::{Operation, Source};
use super::registers::RegisterFile;

/// A dword of a register: file and number.
type Dword = (RegisterFile, u16);

impl Instruction {
    /// The registers of which a dword of the result is the sum or the copy, constants left out; of 64-bit operands the
    /// dword of the same significance. Of a difference that from which is subtracted. Factors and shifted values are no
    /// addends. `None`: the instruction computes something else.
    #[must_use]
    pub fn addends(&self, wanted: Dword) -> Option<Vec<Dword>> {
        self.sum(wanted, |operation, sources| {
            Some(match (operation, sources) {
                (Operation::Move | Operation::Subtract | Operation::SubtractBorrow, [a, ..]) => vec![a],
                (Operation::Add | Operation::AddCarry, [a, b, _]) => vec![a, b],
                (Operation::ShiftAdd, [a, Source::Constant(0), c]) => vec![a, c],
                (Operation::ShiftAdd | Operation::MultiplyAddWide(_), [.., c]) => vec![c],
                _ => return None,
            })
        })
    }

    /// [`Self::addends`] of the addresses of LDS: compilers write a sum without carries as `or`.
    pub(super) fn summands(&self, wanted: Dword) -> Vec<Dword> {
        let found = self.addends(wanted).or_else(|| {
            self.sum(wanted, |operation, sources| {
                Some(match (operation, sources) {
                    (Operation::ShiftOr | Operation::AndOr | Operation::MultiplyAdd24(_), [.., c]) => vec![c],
                    (Operation::Add3 | Operation::Or3, all) => all.to_vec(),
                    (Operation::Or, [a, b, _]) => vec![a, b],
                    _ => return None,
                })
            })
        });
        found.unwrap_or_default()
    }

    /// The dwords of sources that `choose` takes, where the wanted one is of the result.
    fn sum(
        &self,
        (file, number): Dword,
        choose: fn(Operation, [Source; 3]) -> Option<Vec<Source>>,
    ) -> Option<Vec<Dword>> {
        self.computations().find_map(|one| {
            let to = one.to.filter(|to| to.file == file)?;
            let dword = number.checked_sub(to.first).filter(|dword| *dword < to.count)?;
            let chosen = choose(one.operation, one.sources)?;
            let ranges = chosen.into_iter().filter_map(Source::register).filter(|range| dword < range.count);
            Some(ranges.filter_map(|range| Some((range.file, range.first.checked_add(dword)?))).collect())
        })
    }
}
