//! Instructions in the terms of the analysis.

use super::super::access::{Access, Direction, Family, Form, ScalarOperand};
use super::super::effects::{Control, Write};
use super::super::registers::{RegisterFile, RegisterRange};
use super::super::text::{Line, meant, number};
use super::CodeTarget;
use super::state::{VCC, Vector};

/// A scalar source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A scalar register.
    Scalar(u8),
    /// A half of EXEC.
    Exec,
    Constant(u32),
    Other,
}

/// A scalar destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The first of the scalar registers.
    Scalar(u8),
    Exec,
}

/// Operations on masks of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MaskOperation {
    And,
    Or,
    Xor,
    /// The first one without the second.
    AndNot,
}

/// The effect of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// `to` = the source; `dwords`: 1 or 2.
    Move { to: Target, from: Source, dwords: u8 },
    /// `to` = a sum, or a difference.
    Add { to: u8, left: Source, right: Source, subtract: bool },
    /// `to` = a conjunction, also of masks.
    Logic { to: Target, operation: MaskOperation, left: Source, right: Source, dwords: u8 },
    /// `to` = EXEC; then EXEC = the operand, the operation and EXEC.
    SaveExec { to: Target, operation: MaskOperation, left: Source, right: Source, dwords: u8 },
    /// `to` = lanes of EXEC; `narrows`: so is EXEC.
    Compare { to: Option<(u8, u8)>, narrows: bool },
    /// `to` = a lane of a vector register.
    ReadLane { to: u8, from: Vector, lane: u8 },
    /// A lane of a vector register = the source.
    WriteLane { to: Vector, from: Source, lane: u8 },
    /// A vector register = another one, in the lanes of EXEC.
    Copy { to: Vector, from: Vector },
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

impl Effect {
    /// The effect of an instruction, and the way on.
    pub(super) fn of(text: &str, target: Option<u64>, of: CodeTarget) -> (Self, Flow) {
        let Ok(effects) = super::super::decode(text, of.generation) else {
            return (Self::Unknown, Flow::Next);
        };
        let text = &*meant(text);
        let line = Line::parse(text);
        let register = |index: usize| line.as_ref()?.operand(index).and_then(RegisterRange::parse);
        let flow = match effects.control {
            Control::Branch => Flow::Branch(target),
            Control::ConditionalBranch => Flow::Conditional(target),
            Control::Return => Flow::Jump(register(0).and_then(scalar)),
            Control::End => Flow::End,
            _ => Flow::Next,
        };
        if effects.control == Control::Call {
            let link = register(0).and_then(scalar);
            return (link.map_or(Self::Unknown, |link| Self::Call { link }), Flow::Next);
        }
        let followed = match &effects.access {
            // Values of M0 are not followed.
            Some(access) if access.is_block => Some(Self::Unknown),
            Some(access) => Self::of_access(access),
            None => line.as_ref().and_then(|line| Self::of_line(line, of.lanes)),
        };
        (followed.unwrap_or(Self::Writes(effects.writes)), flow)
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

    fn of_line(line: &Line<'_>, lanes: u8) -> Option<Self> {
        let dwords = match line.mnemonic.rsplit_once('_')?.1 {
            "b64" => 2,
            _ => 1,
        };
        let register = |index: usize| RegisterRange::parse(line.operand(index)?);
        let one = |index: usize| register(index).filter(|range| range.count == 1).and_then(scalar);
        let source = |index: usize| line.operand(index).map_or(Source::Other, |text| source(text, dwords));
        let to = || {
            let range = register(0).filter(|range| range.count == u16::from(dwords))?;
            match range.file {
                // EXEC as a whole.
                RegisterFile::Exec if range.first == 0 && lanes == 32 * dwords => Some(Target::Exec),
                _ => scalar(range).map(Target::Scalar),
            }
        };
        let lane = |index: usize| u8::try_from(line.operand(index).and_then(number)?).ok();
        Some(match line.mnemonic {
            "s_mov_b32" | "s_mov_b64" => Self::Move { to: to()?, from: source(1), dwords },
            "s_movk_i32" => Self::Move { to: to()?, from: signed_half(line.operand(1)?)?, dwords },
            "s_add_i32" | "s_add_u32" | "s_add_co_i32" | "s_add_co_u32" => {
                Self::Add { to: one(0)?, left: source(1), right: source(2), subtract: false }
            }
            "s_sub_i32" | "s_sub_u32" | "s_sub_co_i32" | "s_sub_co_u32" => {
                Self::Add { to: one(0)?, left: source(1), right: source(2), subtract: true }
            }
            "s_addk_i32" | "s_addk_co_i32" => {
                let (left, right) = (Source::Scalar(one(0)?), signed_half(line.operand(1)?)?);
                Self::Add { to: one(0)?, left, right, subtract: false }
            }
            "v_readlane_b32" => {
                Self::ReadLane { to: one(0)?, from: register(1).and_then(vector)?, lane: lane(2)? }
            }
            "v_writelane_b32" => {
                Self::WriteLane { to: register(0).and_then(vector)?, from: source(1), lane: lane(2)? }
            }
            "v_mov_b32" | "v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32"
                if matches!(line.suffix, "" | "e32" | "e64") =>
            {
                Self::Copy { to: register(0).and_then(vector)?, from: register(1).and_then(vector)? }
            }
            name if name.starts_with("v_cmp") => {
                // `v_cmpx` of GFX10 and later has no destination.
                let to = register(0)
                    .filter(|range| !Vector::is_file(range.file) && range.file != RegisterFile::Exec);
                let count = to.and_then(|range| u8::try_from(range.count).ok()).filter(|count| *count <= 2);
                let to = to.and_then(scalar).zip(count);
                Self::Compare { to, narrows: name.starts_with("v_cmpx") }
            }
            name => {
                let (operation, is_saving) = logic(name)?;
                let (left, right) = match is_saving {
                    // `s_and_not1_saveexec`: the operand without EXEC is the source first.
                    true => (source(1), Source::Exec),
                    false => (source(1), source(2)),
                };
                match is_saving {
                    true if lanes != 32 * dwords => return None,
                    true => Self::SaveExec { to: to()?, operation, left, right, dwords },
                    false => Self::Logic { to: to()?, operation, left, right, dwords },
                }
            }
        })
    }
}

/// The operation of a mnemonic on masks, and whether it saves EXEC.
fn logic(mnemonic: &str) -> Option<(MaskOperation, bool)> {
    let name = mnemonic.strip_prefix("s_")?;
    let name = name.strip_suffix("_b64").or_else(|| name.strip_suffix("_b32"))?;
    let (name, is_saving) = name.strip_suffix("_saveexec").map_or((name, false), |name| (name, true));
    let operation = match name {
        "and" => MaskOperation::And,
        "or" => MaskOperation::Or,
        "xor" => MaskOperation::Xor,
        "andn2" | "and_not1" => MaskOperation::AndNot,
        _ => return None,
    };
    Some((operation, is_saving))
}

/// The first of some tracked scalar registers.
fn scalar(range: RegisterRange) -> Option<u8> {
    let first = u8::try_from(range.first).ok()?;
    match range.file {
        RegisterFile::Scalar => Some(first).filter(|first| *first < VCC),
        RegisterFile::Vcc => Some(VCC + first),
        _ => None,
    }
}

fn vector(range: RegisterRange) -> Option<Vector> {
    Vector::of(range.file, range.first).filter(|_| range.count == 1)
}

fn source(text: &str, dwords: u8) -> Source {
    match RegisterRange::parse(text) {
        Some(range) if range.count != u16::from(dwords) => Source::Other,
        Some(range) if range.file == RegisterFile::Exec && range.first == 0 => Source::Exec,
        Some(range) => scalar(range).map_or(Source::Other, Source::Scalar),
        None => number(text).and_then(word).map_or(Source::Other, Source::Constant),
    }
}

/// A 32-bit operand by its number; 64-bit operands are its extension by sign.
fn word(number: i64) -> Option<u32> {
    (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&number).then_some(number as u32)
}

/// A 16-bit operand, extended by its sign: LLVM prints it without one.
fn signed_half(text: &str) -> Option<Source> {
    let number = number(text)?;
    let half = i16::try_from(number).ok().or_else(|| u16::try_from(number).ok().map(u16::cast_signed))?;
    Some(Source::Constant(i32::from(half).cast_unsigned()))
}
