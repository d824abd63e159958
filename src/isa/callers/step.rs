//! Instructions in the terms of the analysis.

use super::super::access::{Access, Direction, Family, Form, ScalarOperand};
use super::super::computation::Computation;
use super::super::effects::{Control, Write};
use super::super::registers::{RegisterFile, RegisterRange};
use super::super::{Effects, Instruction};
use super::state::{VCC, Vector};

/// The effect of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    /// A computation; if it is not followed, the registers that it writes become unknown.
    Compute(Computation, Vec<Write>),
    /// A store to private memory at a base register: its data, lowest address first.
    Store { base: Option<u8>, offset: i32, from: Vec<Option<Vector>> },
    /// A load from there.
    Load { base: Option<u8>, offset: i32, to: Vec<Option<Vector>> },
    /// The instruction writes registers, and what it writes is not followed.
    Writes(Vec<Write>),
    /// A call: `link` is the first register of the return address.
    Call { link: u8 },
    /// Any effect is possible.
    Unknown,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) address: u64,
    pub(super) size: u8,
    pub(super) effect: Effect,
    pub(super) flow: Flow,
}

/// The next instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    /// An address; `None`: unknown.
    Branch(Option<u64>),
    /// The next instruction, or that address.
    Conditional(Option<u64>),
    /// The address in a pair of scalar registers; `None`: unknown.
    Jump(Option<u8>),
    End,
}

impl Step {
    pub(super) fn of(one: &Instruction) -> Self {
        let (effect, flow) = match one.effects() {
            Ok(effects) => Effect::of(one, effects),
            Err(_) => (Effect::Unknown, Flow::Next),
        };
        Self { address: one.address, size: one.size, effect, flow }
    }
}

impl Effect {
    /// The effect of an instruction, and the way on.
    fn of(one: &Instruction, effects: &Effects) -> (Self, Flow) {
        let first = || one.named_registers().next().and_then(scalar);
        let flow = match effects.control {
            Control::Branch => Flow::Branch(one.target),
            Control::ConditionalBranch => Flow::Conditional(one.target),
            Control::Return => Flow::Jump(first()),
            Control::End => Flow::End,
            _ => Flow::Next,
        };
        if effects.control == Control::Call {
            return (first().map_or(Self::Unknown, |link| Self::Call { link }), Flow::Next);
        }
        let writes = || Self::Writes(effects.writes.clone());
        let mut computations = one.computations();
        let effect = match (&effects.access, computations.next(), computations.next()) {
            // Values of M0 are not followed.
            (Some(access), ..) if access.is_block => Self::Unknown,
            (Some(access), ..) => Self::of_access(access).unwrap_or_else(writes),
            (None, Some(only), None) => Self::Compute(only, effects.writes.clone()),
            _ => writes(),
        };
        (effect, flow)
    }

    /// An access to private memory at a scalar register plus a constant.
    fn of_access(access: &Access) -> Option<Self> {
        let (scalar_base, offset) = match (access.family, access.form) {
            (Family::Scratch, Form::Scratch { vector: None, scalar, offset, .. }) => (scalar, offset),
            (Family::Buffer, Form::Buffer { index: None, vector: None, scalar, offset, .. }) => {
                (Some(scalar), i32::try_from(offset).ok()?)
            }
            _ => return None,
        };
        let base = match scalar_base {
            Some(ScalarOperand::Register(range)) if range.count == 1 => Some(scalar(range)?),
            None | Some(ScalarOperand::Constant(0)) => None,
            Some(_) => return None,
        };
        // Narrow data keeps a part of the dword.
        if access.is_lds_copy || access.bytes.is_none_or(|bytes| bytes % 4 != 0 || bytes == 0) {
            return None;
        }
        let data = access.data.iter().flat_map(|range| {
            let last = range.first.saturating_add(range.count);
            (range.first..last).map(|number| Vector::of(range.file, number))
        });
        let data: Vec<Option<Vector>> = data.collect();
        match access.direction {
            Direction::Store => Some(Self::Store { base, offset, from: data }),
            Direction::Load => Some(Self::Load { base, offset, to: data }),
            Direction::Atomic { .. } => None,
        }
    }
}

/// The first of some tracked scalar registers.
pub(super) fn scalar(range: RegisterRange) -> Option<u8> {
    let first = u8::try_from(range.first).ok()?;
    match range.file {
        RegisterFile::Scalar => Some(first).filter(|first| *first < VCC),
        RegisterFile::Vcc => Some(VCC + first),
        _ => None,
    }
}
