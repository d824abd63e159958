//! Bytes to operations, for each [`Dialect`].
//!
//! A whole expression is decoded before any of it runs: an operation that cannot be decoded hides where the next one
//! begins, so nothing after it can be trusted, and a branch may lead anywhere.

#![allow(non_upper_case_globals, reason = "patterns are DWARF's own names")]

use std::sync::Arc;

use super::constants::{gnu, standard};
use super::context::DieRef;
use super::error::{Cause, Error};
use super::limits::{MAX_EXPRESSION_BYTES, MAX_NESTING};
use super::operation::{Binary, Dialect, Encoding, Operation, Padding, Placed, Program, Target, Unary};
use super::text::{sleb_length, uleb_length};
use crate::units::{DieOffset, DwarfReg, ExprOffset};

impl Program {
    /// Decodes an expression.
    ///
    /// # Errors
    /// Class decode, at the first operation that is unknown or cut short; ill-formed where a bound is exceeded.
    pub fn decode(bytes: &[u8], encoding: Encoding) -> Result<Self, Error> {
        decode(bytes, encoding, 0, 0)
    }
}

/// An operation of the extensions, whatever its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extension {
    Nop,
    FormAspaceAddress,
    PushLane,
    Offset,
    OffsetUconst,
    BitOffset,
    CallFrameEntryReg,
    Undefined,
    AspaceBregx,
    AspaceImplicitPointer,
    PieceEnd,
    Extend,
    SelectBitPiece,
    ObjectMap,
    Composite,
    Overlay,
    BitOverlay,
}

/// The code of `DW_OP_LLVM_user`.
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
    let mut ends = Vec::with_capacity(bytes.len().min(16));
    while reader.at < bytes.len() {
        let start = reader.at;
        let (name, operation) = reader.operation().map_err(|(name, problem)| match problem {
            Problem::Cause(cause) => Error { at: ExprOffset(base + start), op: name, cause },
            Problem::Inner(error) => error,
        })?;
        let padding = reader.padding(start);
        operations.push(Placed { at: ExprOffset(base + start), name, operation, padding });
        ends.push(reader.at);
    }
    resolve_branches(&mut operations, &ends, base, bytes.len());
    Ok(Program { operations: operations.into(), end: ExprOffset(base + bytes.len()), encoding })
}

/// Finds the operations that branches lead to. A bad target is ill-formed when the branch runs, not undecodable.
fn resolve_branches(operations: &mut [Placed], ends: &[usize], base: usize, length: usize) {
    let starts: Vec<usize> = operations.iter().map(|placed| placed.at.0 - base).collect();
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

/// Why an operation cannot be decoded: its own fault, or that of an expression within it.
enum Problem {
    Cause(Cause),
    Inner(Error),
}

impl From<Cause> for Problem {
    fn from(cause: Cause) -> Self {
        Self::Cause(cause)
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    encoding: Encoding,
    base: usize,
    nesting: u32,
    /// Bytes of the LEB128 numbers of this operation, 0 for those with as few as they need.
    widths: Vec<u32>,
    /// Whether one of them has more.
    padded: bool,
}

impl<'b> Reader<'b> {
    fn operation(&mut self) -> Result<(&'static str, Operation), (&'static str, Problem)> {
        let code = self.u8().map_err(|cause| ("expression", cause.into()))?;
        if let Some(name) = standard::name(code) {
            return self.standard(code).map(|operation| (name, operation)).map_err(|problem| (name, problem));
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
            Dialect::Seed2020 => seed_2020(code).ok_or(("expression", unknown(code)))?,
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
            // The tables of the texts say that the displacement is unsigned, the texts themselves that it is signed.
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
        let name = gnu::name(code).ok_or(("expression", unknown(code)))?;
        let same = match code {
            gnu::DW_OP_GNU_push_tls_address => standard::DW_OP_form_tls_address,
            gnu::DW_OP_GNU_implicit_pointer => standard::DW_OP_implicit_pointer,
            gnu::DW_OP_GNU_entry_value => standard::DW_OP_entry_value,
            gnu::DW_OP_GNU_const_type => standard::DW_OP_const_type,
            gnu::DW_OP_GNU_regval_type => standard::DW_OP_regval_type,
            gnu::DW_OP_GNU_deref_type => standard::DW_OP_deref_type,
            gnu::DW_OP_GNU_convert => standard::DW_OP_convert,
            gnu::DW_OP_GNU_reinterpret => standard::DW_OP_reinterpret,
            gnu::DW_OP_GNU_addr_index => standard::DW_OP_addrx,
            gnu::DW_OP_GNU_const_index => standard::DW_OP_constx,
            _ => return Err((name, unknown(code))),
        };
        self.standard(same).map(|operation| (name, operation)).map_err(|problem| (name, problem))
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each row of the specification's table")]
    fn standard(&mut self, code: u8) -> Result<Operation, Problem> {
        use standard::*;
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
            DW_OP_lit0..=DW_OP_lit31 => constant(u64::from(code - DW_OP_lit0)),
            DW_OP_reg0..=DW_OP_reg31 => Operation::Register(DwarfReg(u64::from(code - DW_OP_reg0))),
            DW_OP_breg0..=DW_OP_breg31 => {
                let register = DwarfReg(u64::from(code - DW_OP_breg0));
                Operation::BaseRegister { register, displacement: self.sleb()? }
            }
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
            _ => return Err(unknown(code)),
        })
    }

    fn u8(&mut self) -> Result<u8, Cause> {
        let byte = self.bytes.get(self.at).copied().ok_or(Cause::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    fn block(&mut self, length: u64) -> Result<&'b [u8], Cause> {
        let length = usize::try_from(length).map_err(|_| Cause::Truncated)?;
        let end = self.at.checked_add(length).ok_or(Cause::Truncated)?;
        let block = self.bytes.get(self.at..end).ok_or(Cause::Truncated)?;
        self.at = end;
        Ok(block)
    }

    /// A little-endian number of up to 8 bytes.
    fn unsigned(&mut self, bytes: usize) -> Result<u64, Cause> {
        let mut word = [0u8; 8];
        for (to, from) in word.iter_mut().zip(self.block(bytes as u64)?) {
            *to = *from;
        }
        Ok(u64::from_le_bytes(word))
    }

    fn signed(&mut self, bytes: usize) -> Result<u64, Cause> {
        let unused = 64 - 8 * bytes as u32;
        Ok(((self.unsigned(bytes)? << unused) as i64 >> unused) as u64)
    }

    fn section_offset(&mut self) -> Result<DieOffset, Cause> {
        self.unsigned(if self.encoding.dwarf64 { 8 } else { 4 }).map(DieOffset)
    }

    fn register(&mut self) -> Result<DwarfReg, Cause> {
        self.uleb().map(DwarfReg)
    }

    fn type_or_generic(&mut self) -> Result<Option<DieOffset>, Cause> {
        self.uleb().map(|offset| (offset != 0).then_some(DieOffset(offset)))
    }

    fn branch(&mut self) -> Result<Target, Cause> {
        self.signed(2).map(|by| Target { by: by as i16, to: None })
    }

    fn uleb(&mut self) -> Result<u64, Cause> {
        let start = self.at;
        let value = uleb128(self.bytes, &mut self.at)?;
        self.measured(self.at - start, uleb_length(value));
        Ok(value)
    }

    fn sleb(&mut self) -> Result<i64, Cause> {
        let start = self.at;
        let value = sleb128(self.bytes, &mut self.at)?;
        self.measured(self.at - start, sleb_length(value));
        Ok(value)
    }

    fn measured(&mut self, width: usize, needed: usize) {
        self.padded |= width > needed;
        self.widths.push(if width > needed { width as u32 } else { 0 });
    }

    /// What of the operation that began there is longer than it needs to be.
    fn padding(&mut self, start: usize) -> Option<Box<Padding>> {
        let padding = std::mem::take(&mut self.padded).then(|| {
            let user =
                self.encoding.dialect == Dialect::LlvmUser && self.bytes.get(start) == Some(&LLVM_USER);
            let (code, operands) = self.widths.split_at(usize::from(user));
            Box::new(Padding { code: code.first().copied().unwrap_or(0), operands: operands.into() })
        });
        self.widths.clear();
        padding
    }
}

/// An unsigned LEB128 number; redundant bytes are accepted as long as the number fits 64 bits.
pub(super) fn uleb128(bytes: &[u8], at: &mut usize) -> Result<u64, Cause> {
    let mut value = 0u64;
    let mut shift = 0u32;
    loop {
        let byte = bytes.get(*at).copied().ok_or(Cause::Truncated)?;
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if bits != 0 && (shift >= 64 || shift > 57 && bits >> (64 - shift) != 0) {
            return Err(Cause::LebTooLong);
        }
        value |= bits.checked_shl(shift).unwrap_or(0);
        shift = shift.saturating_add(7);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
}

/// A signed LEB128 number; redundant bytes are accepted as long as the number fits 64 bits.
pub(super) fn sleb128(bytes: &[u8], at: &mut usize) -> Result<i64, Cause> {
    let mut value = 0i64;
    let mut shift = 0u32;
    loop {
        let byte = bytes.get(*at).copied().ok_or(Cause::Truncated)?;
        *at += 1;
        // Seven bits, sign-extended, so that past bit 63 only copies of the sign are left to be said.
        let bits = i64::from(byte & 0x7f) << 57 >> 57;
        let last = byte & 0x80 == 0;
        if shift < 57 {
            value |= i64::from(byte & 0x7f) << shift;
            if last {
                return Ok(value << (57 - shift) >> (57 - shift));
            }
        } else if shift < 64 {
            // Bits 63 down to `shift` of the number come from this byte; the others must repeat the sign.
            let kept = 64 - shift;
            value |= i64::from(byte & 0x7f) << shift;
            let rest = bits >> (kept - 1);
            if last && rest != 0 && rest != -1 || !last && !repeats(byte & 0x7f, kept - 1) {
                return Err(Cause::LebTooLong);
            }
            if last {
                return Ok(value);
            }
        } else {
            let sign = if value < 0 { 0x7f } else { 0 };
            if byte & 0x7f != sign {
                return Err(Cause::LebTooLong);
            }
            if last {
                return Ok(value);
            }
        }
        shift = shift.saturating_add(7);
    }
}

/// Whether bits `from` to 6 of a group are all alike.
fn repeats(group: u8, from: u32) -> bool {
    let high = group >> from;
    high == 0 || high == 0x7f >> from
}

fn unknown(code: u8) -> Problem {
    Problem::Cause(Cause::UnknownOperation { code })
}

/// Sub-operations of `DW_OP_LLVM_user` (LLVM's `Dwarf.def`: numbers are never reused). 0x0d is another vendor's, with
/// operands that are not documented, so nothing after it could be found.
pub(super) fn user(sub: u8) -> Option<(&'static str, Extension)> {
    Some(match sub {
        0x01 => ("DW_OP_LLVM_nop", Extension::Nop),
        0x02 => ("DW_OP_LLVM_form_aspace_address", Extension::FormAspaceAddress),
        0x03 => ("DW_OP_LLVM_push_lane", Extension::PushLane),
        0x04 => ("DW_OP_LLVM_offset", Extension::Offset),
        0x05 => ("DW_OP_LLVM_offset_uconst", Extension::OffsetUconst),
        0x06 => ("DW_OP_LLVM_bit_offset", Extension::BitOffset),
        0x07 => ("DW_OP_LLVM_call_frame_entry_reg", Extension::CallFrameEntryReg),
        0x08 => ("DW_OP_LLVM_undefined", Extension::Undefined),
        0x09 => ("DW_OP_LLVM_aspace_bregx", Extension::AspaceBregx),
        0x0a => ("DW_OP_LLVM_piece_end", Extension::PieceEnd),
        0x0b => ("DW_OP_LLVM_extend", Extension::Extend),
        0x0c => ("DW_OP_LLVM_select_bit_piece", Extension::SelectBitPiece),
        _ => return None,
    })
}

/// One byte for each operation, as LLVM's documents had it from 2020 to 2022.
pub(super) fn direct(code: u8) -> Option<(&'static str, Extension)> {
    Some(match code {
        0xe1 => ("DW_OP_LLVM_form_aspace_address", Extension::FormAspaceAddress),
        0xe2 => ("DW_OP_LLVM_push_lane", Extension::PushLane),
        0xe3 => ("DW_OP_LLVM_offset", Extension::Offset),
        0xe4 => ("DW_OP_LLVM_offset_uconst", Extension::OffsetUconst),
        0xe5 => ("DW_OP_LLVM_bit_offset", Extension::BitOffset),
        0xe6 => ("DW_OP_LLVM_call_frame_entry_reg", Extension::CallFrameEntryReg),
        0xe7 => ("DW_OP_LLVM_undefined", Extension::Undefined),
        0xe8 => ("DW_OP_LLVM_aspace_bregx", Extension::AspaceBregx),
        0xe9 => ("DW_OP_LLVM_aspace_implicit_pointer", Extension::AspaceImplicitPointer),
        0xea => ("DW_OP_LLVM_piece_end", Extension::PieceEnd),
        0xeb => ("DW_OP_LLVM_extend", Extension::Extend),
        0xec => ("DW_OP_LLVM_select_bit_piece", Extension::SelectBitPiece),
        _ => return None,
    })
}

/// The three numbers that the AMDGPU text of 2020 assigns.
pub(super) fn seed_2020(code: u8) -> Option<(&'static str, Extension)> {
    Some(match code {
        0xe7 => ("DW_OP_LLVM_form_aspace_address", Extension::FormAspaceAddress),
        0xe9 => ("DW_OP_LLVM_offset", Extension::Offset),
        0xea => ("DW_OP_LLVM_push_lane", Extension::PushLane),
        _ => return None,
    })
}

/// Numbers of the draft operations, from the one file that holds them.
pub(super) fn draft(code: u8) -> Option<(&'static str, Extension)> {
    super::draft::numbers().operation(code)
}

/// A draft operation by its key in the data file.
pub(super) fn draft_named(key: &str) -> Option<(&'static str, Extension)> {
    Some(match key {
        "form_aspace_address" => ("DW_OP_form_aspace_address", Extension::FormAspaceAddress),
        "push_lane" => ("DW_OP_push_lane", Extension::PushLane),
        "offset" => ("DW_OP_offset", Extension::Offset),
        "bit_offset" => ("DW_OP_bit_offset", Extension::BitOffset),
        "call_frame_entry_reg" => ("DW_OP_call_frame_entry_reg", Extension::CallFrameEntryReg),
        "undefined" => ("DW_OP_undefined", Extension::Undefined),
        "aspace_bregx" => ("DW_OP_aspace_bregx", Extension::AspaceBregx),
        "aspace_implicit_pointer" => ("DW_OP_aspace_implicit_pointer", Extension::AspaceImplicitPointer),
        "piece_end" => ("DW_OP_piece_end", Extension::PieceEnd),
        "extend" => ("DW_OP_extend", Extension::Extend),
        "select_bit_piece" => ("DW_OP_select_bit_piece", Extension::SelectBitPiece),
        "object_map" => ("DW_OP_object_map", Extension::ObjectMap),
        "composite" => ("DW_OP_composite", Extension::Composite),
        "overlay" => ("DW_OP_overlay", Extension::Overlay),
        "bit_overlay" => ("DW_OP_bit_overlay", Extension::BitOverlay),
        _ => return None,
    })
}
