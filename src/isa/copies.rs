//! Copies of registers: an instruction that leaves the values of registers in further ones.

use super::Instruction;
use super::computation::{Computation, Operation};
use super::registers::{RegisterFile, RegisterRange};
use crate::units::LaneId;

/// A copy that an instruction makes of consecutive registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterCopy {
    from: RegisterRange,
    /// The file and the first number of the copy.
    to: (RegisterFile, u16),
    /// Lanes of the values.
    lanes: Lanes,
}

/// Lanes of the values of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lanes {
    /// Each lane has its own value, or neither file has lanes.
    Own,
    /// A scalar becomes the value of this lane.
    To(LaneId),
    /// The value of this lane becomes a scalar.
    From(LaneId),
}

/// The register that has the copy of a dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOf {
    /// The file of the copy.
    pub file: RegisterFile,
    /// Its number.
    pub index: u16,
    /// The only lane that receives it; `None`: the lane of the source.
    pub lane: Option<LaneId>,
}

impl RegisterCopy {
    /// The copy of a dword, of vector files in that lane. `None`: the instruction does not copy it.
    #[must_use]
    pub fn of(&self, (file, index): (RegisterFile, u16), lane: LaneId) -> Option<CopyOf> {
        let count = self.from.count;
        let dword =
            index.checked_sub(self.from.first).filter(|dword| self.from.file == file && *dword < count)?;
        let lane = match self.lanes {
            Lanes::Own => None,
            Lanes::To(lane) => Some(lane),
            Lanes::From(of) if of == lane => None,
            Lanes::From(_) => return None,
        };
        let (file, first) = self.to;
        Some(CopyOf { file, index: first.checked_add(dword)?, lane })
    }
}

/// The copies that an instruction makes, as far as this function knows them.
pub(super) fn copies(one: &Instruction) -> Vec<RegisterCopy> {
    one.computations().filter_map(of).collect()
}

fn of(one: Computation) -> Option<RegisterCopy> {
    let [source, second, _] = one.sources;
    let (to, from) = (one.to?, source.register()?);
    let lane = || u8::try_from(second.constant()?).ok().map(LaneId);
    let lanes = match one.operation {
        // A scalar in all lanes is no copy of one register.
        Operation::Move if from.file.is_vector() || !to.file.is_vector() => Lanes::Own,
        Operation::Pack(0, 1) if source == second => Lanes::Own,
        Operation::WriteLane => Lanes::To(lane()?),
        Operation::ReadLane => Lanes::From(lane()?),
        _ => return None,
    };
    Some(RegisterCopy { from, to: (to.file, to.first), lanes })
}
