//! Vector registers that code uses as addresses of LDS.

use std::ops::Range;

use super::Instruction;
use super::access::{Access, Form, LdsBase};
use super::registers::{RegisterFile, RegisterRange};

/// Maximum number of registers of a sum.
const MAX_WRITTEN: u16 = 2;

/// The accesses to LDS at the address in a vector register.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LdsUse {
    /// Whether there is any.
    pub is_address: bool,
    /// Whether one of those that count is at a sum with the register.
    pub is_indexed: bool,
    /// The bytes behind the address that the others access which count.
    pub bytes: Vec<Range<u64>>,
}

/// The accesses to LDS of instructions, in the order of their addresses, at the address in a vector register, or at a sum
/// with it. The register has one value in all of them. `counts`: whether an instruction counts for the bytes.
#[must_use]
pub fn lds_use<'t>(code: impl IntoIterator<Item = (&'t Instruction, bool)>, register: u16) -> LdsUse {
    let mut found = LdsUse::default();
    // The registers with the address, or with a sum.
    let mut sums = vec![register];
    for (one, counts) in code {
        let Ok(effects) = one.effects() else { continue };
        if let Some(Access { form: Form::Lds { base: LdsBase::Lane(base), offset, second }, bytes, .. }) =
            effects.access
            && sums.contains(&base.first)
        {
            found.is_address = true;
            found.is_indexed |= counts && base.first != register;
            let at = |offset: u32| u64::from(offset)..u64::from(offset) + bytes.map_or(0, u64::from);
            let offsets = [Some(offset), second].into_iter().flatten();
            found.bytes.extend(offsets.map(at).filter(|_| counts && base.first == register));
        }
        let writes = effects.writes.iter().map(|write| write.range);
        let written: Vec<RegisterRange> = writes.filter(|range| range.file == RegisterFile::Vector).collect();
        let short = written.iter().filter(|range| range.count <= MAX_WRITTEN);
        let numbers = short.flat_map(|range| range.first..range.first.saturating_add(range.count));
        let is_sum = |number: &u16| {
            let summands = one.summands((RegisterFile::Vector, *number));
            summands.iter().any(|(file, of)| *file == RegisterFile::Vector && sums.contains(of))
        };
        let new: Vec<u16> = numbers.filter(|number| *number != register).filter(is_sum).collect();
        let is_kept = |number: u16| {
            let own = RegisterRange::new(RegisterFile::Vector, number, 1);
            number == register || !written.iter().any(|range| range.overlaps(own))
        };
        sums.retain(|number| is_kept(*number));
        sums.extend(new);
    }
    found
}
