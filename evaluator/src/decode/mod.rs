//! Decoding of bytes to operations, for each [`Dialect`].
//!
//! A whole expression is decoded before evaluation: after an undecodable operation the start of the next one is
//! unknown, and a branch may lead anywhere.

#![allow(non_upper_case_globals, reason = "patterns are DWARF's own names")]

mod extension;
mod leb128;
mod reader;

use std::sync::Arc;

use gimli::DwOp;

use super::constants::{gnu, standard_name};
use super::context::DieRef;
use super::error::{Cause, Error};
use super::limits::{MAX_EXPRESSION_BYTES, MAX_NESTING};
use super::operation::{Binary, Dialect, Encoding, Operation, Placed, Program, Unary};

pub(super) use self::extension::{Extension, amdgpu_usage_2020, direct, draft, draft_named, user};
pub(super) use self::leb128::{sleb128, uleb128};
use self::reader::Reader;
use crate::units::{DieOffset, DwarfReg, ExprOffset};

impl Program {
    /// Decodes an expression.
    ///
    /// # Errors
    /// Class decode, at the first unknown or truncated operation; ill-formed if a bound is exceeded.
    pub fn decode(bytes: &[u8], encoding: Encoding) -> Result<Self, Error> {
        decode(bytes, encoding, 0, 0)
    }
}

const LLVM_USER: u8 = 0xe9;

fn decode(bytes: &[u8], encoding: Encoding, base: usize, nesting: u32) -> Result<Program, Error> {
    let limit = |what, limit| {
        let cause = Cause::Limit { what, limit };
        Error { at: ExprOffset(base), op: "expression", cause }
    };
    if bytes.len() > MAX_EXPRESSION_BYTES {
        return Err(limit("bytes of an expression", MAX_EXPRESSION_BYTES as u64));
    }
    if nesting > MAX_NESTING {
        return Err(limit("expressions within expressions", u64::from(MAX_NESTING)));
    }
    let (widths, padded) = (Vec::new(), false);
    let mut reader = Reader { bytes, at: 0, encoding, base, nesting, widths, padded };
    let mut operations = Vec::with_capacity(bytes.len().min(16));
    while reader.at < bytes.len() {
        let start = reader.at;
        let (name, operation) = reader.operation().map_err(|(name, problem)| match problem {
            Problem::Cause(cause) => Error { at: ExprOffset(base + start), op: name, cause },
            Problem::Inner(error) => error,
        })?;
        let padding = reader.padding(start);
        operations.push(Placed { at: ExprOffset(base + start), name, operation, padding });
    }
    resolve_branches(&mut operations, base, bytes.len());
    Ok(Program { operations: operations.into(), end: ExprOffset(base + bytes.len()), encoding })
}

/// Finds the targets of branches. A bad target is ill-formed when the branch runs, not undecodable.
fn resolve_branches(operations: &mut [Placed], base: usize, length: usize) {
    let is_branch = |placed: &Placed| matches!(placed.operation, Operation::Bra(_) | Operation::Skip(_));
    if !operations.iter().any(is_branch) {
        return;
    }
    let starts: Vec<usize> = operations.iter().map(|placed| placed.at.0 - base).collect();
    let ends = starts.iter().skip(1).copied().chain([length]);
    for (placed, end) in operations.iter_mut().zip(ends) {
        if let Operation::Bra(target) | Operation::Skip(target) = &mut placed.operation {
            let to = end.checked_add_signed(isize::from(target.by));
            target.to = match to {
                Some(to) if to == length => Some(starts.len() as u32),
                Some(to) => starts.binary_search(&to).ok().map(|index| index as u32),
                None => None,
            };
        }
    }
}

/// A decoding error, of the operation or of an expression within it.
enum Problem {
    Cause(Cause),
    Inner(Error),
}

impl From<Cause> for Problem {
    fn from(cause: Cause) -> Self {
        Self::Cause(cause)
    }
}

impl Reader<'_> {
    fn operation(&mut self) -> Result<(&'static str, Operation), (&'static str, Problem)> {
        let code = self.u8().map_err(|cause| ("expression", cause.into()))?;
        if let Some(name) = standard_name(code) {
            return self
                .standard(DwOp(code))
                .map(|operation| (name, operation))
                .map_err(|problem| (name, problem));
        }
        let (name, extension) = match self.encoding.dialect {
            Dialect::LlvmUser if code == LLVM_USER => {
                let name = "DW_OP_LLVM_user";
                let sub = self.uleb().map_err(|cause| (name, cause.into()))?;
                let found = u8::try_from(sub).ok().and_then(user);
                found.ok_or((name, Cause::UnknownSubOperation { sub }.into()))?
            }
            Dialect::LlvmUser => return self.gnu(code),
            Dialect::LlvmDirect => match direct(code) {
                Some(found) => found,
                None => return self.gnu(code),
            },
            Dialect::AmdgpuUsage2020 => amdgpu_usage_2020(code).ok_or(("expression", unknown(code)))?,
            Dialect::Draft => draft(code).ok_or(("expression", unknown(code)))?,
        };
        self.extension(extension)
            .map(|operation| (name, operation))
            .map_err(|cause| (name, Problem::Cause(cause)))
    }

    fn extension(&mut self, extension: Extension) -> Result<Operation, Cause> {
        Ok(match extension {
            Extension::Nop => Operation::Nop,
            Extension::FormAspaceAddress => Operation::FormAspaceAddress,
            Extension::PushLane => Operation::PushLane,
            Extension::Offset => Operation::Offset,
            Extension::OffsetUconst => Operation::OffsetUconst(self.uleb()?),
            Extension::BitOffset => Operation::BitOffset,
            Extension::CallFrameEntryReg => Operation::CallFrameEntryReg(self.register()?),
            Extension::Undefined => Operation::Undefined,
            // The displacement is unsigned in the documents' tables and signed in their text.
            Extension::AspaceBregx => {
                Operation::AspaceBregx { register: self.register()?, displacement: self.sleb()? }
            }
            Extension::AspaceImplicitPointer => {
                Operation::AspaceImplicitPointer { die: self.section_offset()?, displacement: self.sleb()? }
            }
            Extension::PieceEnd => Operation::PieceEnd,
            Extension::Extend => Operation::Extend { size: self.uleb()?, count: self.uleb()? },
            Extension::SelectBitPiece => {
                Operation::SelectBitPiece { size: self.uleb()?, count: self.uleb()? }
            }
            Extension::ObjectMap => Operation::ObjectMap(DieOffset(self.uleb()?)),
            Extension::Composite => Operation::Composite,
            Extension::Overlay => Operation::Overlay,
            Extension::BitOverlay => Operation::BitOverlay,
        })
    }

    fn gnu(&mut self, code: u8) -> Result<(&'static str, Operation), (&'static str, Problem)> {
        let (name, same) = gnu(code).ok_or(("expression", unknown(code)))?;
        self.standard(same).map(|operation| (name, operation)).map_err(|problem| (name, problem))
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each row of the specification's table")]
    fn standard(&mut self, code: DwOp) -> Result<Operation, Problem> {
        use gimli::constants::*;
        let constant = Operation::Constant;
        Ok(match code {
            DW_OP_addr => Operation::Addr(self.unsigned(8)?),
            DW_OP_deref => Operation::Deref { bytes: 8 },
            DW_OP_const1u => constant(self.unsigned(1)?),
            DW_OP_const1s => constant(self.signed(1)?),
            DW_OP_const2u => constant(self.unsigned(2)?),
            DW_OP_const2s => constant(self.signed(2)?),
            DW_OP_const4u => constant(self.unsigned(4)?),
            DW_OP_const4s => constant(self.signed(4)?),
            DW_OP_const8u => constant(self.unsigned(8)?),
            DW_OP_const8s => constant(self.signed(8)?),
            DW_OP_constu => constant(self.uleb()?),
            DW_OP_consts => constant(self.sleb()? as u64),
            DW_OP_dup => Operation::Pick(0),
            DW_OP_drop => Operation::Drop,
            DW_OP_over => Operation::Pick(1),
            DW_OP_pick => Operation::Pick(self.u8()?),
            DW_OP_swap => Operation::Swap,
            DW_OP_rot => Operation::Rot,
            DW_OP_xderef => Operation::Xderef { bytes: 8 },
            DW_OP_abs => Operation::Unary(Unary::Abs),
            DW_OP_and => Operation::Binary(Binary::And),
            DW_OP_div => Operation::Binary(Binary::Div),
            DW_OP_minus => Operation::Binary(Binary::Minus),
            DW_OP_mod => Operation::Binary(Binary::Mod),
            DW_OP_mul => Operation::Binary(Binary::Mul),
            DW_OP_neg => Operation::Unary(Unary::Neg),
            DW_OP_not => Operation::Unary(Unary::Not),
            DW_OP_or => Operation::Binary(Binary::Or),
            DW_OP_plus => Operation::Binary(Binary::Plus),
            DW_OP_plus_uconst => Operation::PlusUconst(self.uleb()?),
            DW_OP_shl => Operation::Binary(Binary::Shl),
            DW_OP_shr => Operation::Binary(Binary::Shr),
            DW_OP_shra => Operation::Binary(Binary::Shra),
            DW_OP_xor => Operation::Binary(Binary::Xor),
            DW_OP_bra => Operation::Bra(self.branch()?),
            DW_OP_eq => Operation::Binary(Binary::Eq),
            DW_OP_ge => Operation::Binary(Binary::Ge),
            DW_OP_gt => Operation::Binary(Binary::Gt),
            DW_OP_le => Operation::Binary(Binary::Le),
            DW_OP_lt => Operation::Binary(Binary::Lt),
            DW_OP_ne => Operation::Binary(Binary::Ne),
            DW_OP_skip => Operation::Skip(self.branch()?),
            DW_OP_regx => Operation::Register(self.register()?),
            DW_OP_fbreg => Operation::FrameBase(self.sleb()?),
            DW_OP_bregx => Operation::BaseRegister { register: self.register()?, displacement: self.sleb()? },
            DW_OP_piece => Operation::Piece(self.uleb()?),
            DW_OP_deref_size => Operation::Deref { bytes: self.u8()? },
            DW_OP_xderef_size => Operation::Xderef { bytes: self.u8()? },
            DW_OP_nop => Operation::Nop,
            DW_OP_push_object_address => Operation::PushObjectAddress,
            DW_OP_call2 => Operation::Call(DieRef::Unit(DieOffset(self.unsigned(2)?))),
            DW_OP_call4 => Operation::Call(DieRef::Unit(DieOffset(self.unsigned(4)?))),
            DW_OP_call_ref => Operation::Call(DieRef::Section(self.section_offset()?)),
            DW_OP_form_tls_address => Operation::FormTlsAddress,
            DW_OP_call_frame_cfa => Operation::CallFrameCfa,
            DW_OP_bit_piece => Operation::BitPiece { size: self.uleb()?, offset: self.uleb()? },
            DW_OP_implicit_value => {
                let length = self.uleb()?;
                Operation::ImplicitValue(self.block(length)?.into())
            }
            DW_OP_stack_value => Operation::StackValue,
            DW_OP_implicit_pointer => {
                Operation::ImplicitPointer { die: self.section_offset()?, displacement: self.sleb()? }
            }
            DW_OP_addrx => Operation::Addrx(self.uleb()?),
            DW_OP_constx => Operation::Constx(self.uleb()?),
            DW_OP_entry_value => {
                let length = self.uleb()?;
                let block = self.block(length)?;
                let base = self.base + self.at - block.len();
                let inner = decode(block, self.encoding, base, self.nesting + 1).map_err(Problem::Inner)?;
                Operation::EntryValue(Arc::new(inner))
            }
            DW_OP_const_type => {
                let ty = DieOffset(self.uleb()?);
                let length = self.u8()?;
                Operation::ConstType { ty, bytes: self.block(u64::from(length))?.into() }
            }
            DW_OP_regval_type => {
                Operation::RegvalType { register: self.register()?, ty: DieOffset(self.uleb()?) }
            }
            DW_OP_deref_type => Operation::DerefType { bytes: self.u8()?, ty: DieOffset(self.uleb()?) },
            DW_OP_xderef_type => Operation::XderefType { bytes: self.u8()?, ty: DieOffset(self.uleb()?) },
            DW_OP_convert => Operation::Convert(self.type_or_generic()?),
            DW_OP_reinterpret => Operation::Reinterpret(self.type_or_generic()?),
            DwOp(code @ 0x30..=0x4f) => constant(u64::from(code - DW_OP_lit0.0)),
            DwOp(code @ 0x50..=0x6f) => Operation::Register(DwarfReg(u64::from(code - DW_OP_reg0.0))),
            DwOp(code @ 0x70..=0x8f) => {
                let register = DwarfReg(u64::from(code - DW_OP_breg0.0));
                Operation::BaseRegister { register, displacement: self.sleb()? }
            }
            _ => return Err(unknown(code.0)),
        })
    }
}

fn unknown(code: u8) -> Problem {
    Problem::Cause(Cause::UnknownOperation { code })
}
