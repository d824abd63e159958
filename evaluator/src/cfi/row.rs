//! Instructions to rows ("Call Frame Instructions").

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use gimli::{DW_CFA_GNU_args_size, DW_CFA_val_expression, DwCfa};

use super::super::budget::{Budget, Share};
use super::super::decode::{sleb128, uleb128};
use super::super::draft;
use super::super::error::{Cause, Error};
use super::super::limits::{FRAME_BYTE_WORK, MAX_COPIED_RULES, MAX_REMEMBERED_ROWS};
use super::super::operation::{Dialect, Encoding, Program};
use crate::units::{AddressSpace, DwarfReg, ExprOffset, Pc};

/// The CIE fields used by instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors {
    /// `code_alignment_factor`: unit of `DW_CFA_advance_loc*` in bytes.
    pub code: u64,
    /// `data_alignment_factor`: unit of factored offsets in bytes.
    pub data: i64,
    /// `return_address_register`.
    pub return_address: DwarfReg,
    /// `address_size`: operand size of `DW_CFA_set_loc` in bytes, at most 8.
    pub address_size: u8,
    /// The encoding of expressions.
    pub encoding: Encoding,
}

/// An expression or its decoding error, which affects only the rule of that expression.
pub type Decoded = Result<Arc<Program>, Box<Error>>;

/// The rule for the CFA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CfaRule {
    /// No instruction defines it.
    Unspecified,
    /// A register's contents plus bytes, in an address space.
    Register {
        /// The register.
        register: DwarfReg,
        /// Displacement in bytes, modulo the size of an address as in `DW_OP_aspace_bregx`; the low 64 bits.
        displacement: i64,
        /// The address space.
        space: AddressSpace,
    },
    /// An expression.
    Expression(Decoded),
}

/// The location of a register's value in the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterRule {
    /// No location.
    Undefined,
    /// The register itself.
    SameValue,
    /// CFA plus bytes. A factored offset may have more bits than an address; nothing wraps.
    Offset(i128),
    /// The value is the address CFA plus bytes.
    ValOffset(i128),
    /// Another register of this frame.
    Register(DwarfReg),
    /// The location given by the expression, with the CFA on its stack.
    Expression(Decoded),
    /// The value given by the expression, with the CFA on its stack.
    ValExpression(Decoded),
}

/// A rule and the instruction that set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement<T> {
    /// The rule.
    pub rule: T,
    /// Offset of the instruction in the CIE's or the FDE's instructions.
    pub at: ExprOffset,
    /// DWARF's name of the instruction.
    pub name: &'static str,
}

/// The rules for a range of PCs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The rule for the CFA.
    pub cfa: Placement<CfaRule>,
    /// Registers with a rule; all others keep their value.
    pub registers: BTreeMap<DwarfReg, Placement<RegisterRule>>,
    /// The return address register.
    pub return_address: DwarfReg,
}

impl Row {
    /// Finds the row for a PC in a function that starts at `start`. Without `pc`: the row after all instructions.
    ///
    /// # Errors
    /// Class decode for unknown or truncated instructions, ill-formed for misplaced instructions, limit for a bound. An
    /// undecodable expression affects only its own rule.
    pub fn find(
        factors: &Factors,
        initial: &[u8],
        instructions: &[u8],
        start: Pc,
        pc: Option<Pc>,
    ) -> Result<Self, Error> {
        Self::with_extent(factors, initial, instructions, start, pc, None).map(|(row, _)| row)
    }

    /// [`Self::find`] with the row's PCs by these instructions: from `start` to at most the end of the address space.
    /// Instructions beyond [`OWN_ROW_WORK`](super::super::limits::OWN_ROW_WORK) are charged to the budget.
    ///
    /// # Errors
    /// The errors of [`Self::find`]; class limit if the budget is spent.
    pub fn with_extent(
        factors: &Factors,
        initial: &[u8],
        instructions: &[u8],
        start: Pc,
        pc: Option<Pc>,
        budget: Option<&Budget>,
    ) -> Result<(Self, Range<Pc>), Error> {
        let cfa =
            Placement { rule: CfaRule::Unspecified, at: ExprOffset(0), name: "call frame instructions" };
        let empty = Self { cfa, registers: BTreeMap::new(), return_address: factors.return_address };
        let mut share = Share::of_row(budget);
        let first = Interpreter::new(factors, initial, empty, None, start).run(None, &mut share);
        let found = first.and_then(|(first, _)| {
            Interpreter::new(factors, instructions, first.clone(), Some(first), start).run(pc, &mut share)
        });
        share.spend();
        found
    }

    /// Whether this is the outermost frame: the return address has the rule "undefined".
    #[must_use]
    pub fn is_outermost(&self) -> bool {
        let rule = self.registers.get(&self.return_address).map(|placed| &placed.rule);
        matches!(rule, Some(RegisterRule::Undefined))
    }
}

/// Cost of a copied rule in bytes of instructions.
const RULE_BYTES: u64 = 3;

struct Interpreter<'b> {
    factors: &'b Factors,
    bytes: &'b [u8],
    at: usize,
    row: Row,
    /// The row after the CIE's instructions, for `DW_CFA_restore`; absent within those.
    initial: Option<Row>,
    remembered: Vec<Row>,
    /// Number of rules copied by remembered rows.
    copied: u64,
    place: u64,
}

impl<'b> Interpreter<'b> {
    fn new(factors: &'b Factors, bytes: &'b [u8], row: Row, initial: Option<Row>, start: Pc) -> Self {
        Self { factors, bytes, at: 0, row, initial, remembered: Vec::new(), copied: 0, place: start.0 }
    }

    fn run(mut self, pc: Option<Pc>, share: &mut Share<'_>) -> Result<(Row, Range<Pc>), Error> {
        // DW_CFA_set_loc may move backward: a row begins at the furthest place before it.
        let (mut furthest, mut until) = (self.place, u64::MAX);
        while self.at < self.bytes.len() {
            let start = ExprOffset(self.at);
            let mut name = "instruction";
            let copied = self.copied;
            let next = self.step(start, &mut name).and_then(|next| {
                let work = (self.at - start.0) as u64 + RULE_BYTES.saturating_mul(self.copied - copied);
                share.take(work.saturating_mul(FRAME_BYTE_WORK)).map(|()| next)
            });
            let next = next.map_err(|cause| {
                let cause = if cause == Cause::Truncated { Cause::InstructionTruncated } else { cause };
                Error { at: start, op: name, cause }
            })?;
            if let Some(place) = next {
                if pc.is_some_and(|pc| pc.0 < place) {
                    until = place;
                    break;
                }
                self.place = place;
                furthest = furthest.max(place);
            }
        }
        Ok((self.row, Pc(furthest)..Pc(until)))
    }

    /// Runs one instruction; returns the start of the new row, if any.
    fn step(&mut self, at: ExprOffset, name: &mut &'static str) -> Result<Option<u64>, Cause> {
        let code = self.u8()?;
        let low = DwarfReg(u64::from(code & 0x3f));
        match code >> 6 {
            1 => {
                *name = "DW_CFA_advance_loc";
                return self.advance(low.0).map(Some);
            }
            2 => {
                *name = "DW_CFA_offset";
                let offset = self.factored()?;
                self.set(low, RegisterRule::Offset(offset), at, name);
                return Ok(None);
            }
            3 => {
                *name = "DW_CFA_restore";
                self.restore(low)?;
                return Ok(None);
            }
            _ => {}
        }
        if self.factors.encoding.dialect == Dialect::Draft {
            // The draft instructions have their own numbers; LLVM's numbers are not used there.
            let signed = match draft::numbers().forms_cfa(code) {
                Some(signed) => signed,
                None if code & 0x3e == 0x30 => return Err(Cause::UnknownOperation { code }),
                None => return self.standard(code, at, name),
            };
            *name = if signed { "DW_CFA_def_aspace_cfa_sf" } else { "DW_CFA_def_aspace_cfa" };
            return self.aspace_cfa(signed, at, name).map(|()| None);
        }
        self.standard(code, at, name)
    }

    /// Runs an instruction of DWARF 5, GNU or LLVM.
    fn standard(&mut self, code: u8, at: ExprOffset, name: &mut &'static str) -> Result<Option<u64>, Cause> {
        *name = instruction_name(code).ok_or(Cause::UnknownOperation { code })?;
        match code {
            0x00 => {}
            0x01 => return self.fixed(usize::from(self.factors.address_size)).map(Some),
            0x02 => return self.fixed(1).and_then(|by| self.advance(by)).map(Some),
            0x03 => return self.fixed(2).and_then(|by| self.advance(by)).map(Some),
            0x04 => return self.fixed(4).and_then(|by| self.advance(by)).map(Some),
            0x05 => self.register_rule(at, name, |this| this.factored().map(RegisterRule::Offset))?,
            0x06 => {
                let register = self.register()?;
                self.restore(register)?;
            }
            0x07 => self.register_rule(at, name, |_| Ok(RegisterRule::Undefined))?,
            0x08 => self.register_rule(at, name, |_| Ok(RegisterRule::SameValue))?,
            0x09 => self.register_rule(at, name, |this| this.register().map(RegisterRule::Register))?,
            0x0a => {
                if self.remembered.len() >= MAX_REMEMBERED_ROWS {
                    return Err(Cause::Limit { what: "remembered rows", limit: MAX_REMEMBERED_ROWS as u64 });
                }
                self.copied += self.row.registers.len() as u64 + 1;
                if self.copied > MAX_COPIED_RULES {
                    return Err(Cause::Limit { what: "rules in remembered rows", limit: MAX_COPIED_RULES });
                }
                self.remembered.push(self.row.clone());
            }
            0x0b => self.row = self.remembered.pop().ok_or(Cause::CallFrame("no row was remembered"))?,
            0x0c => {
                let (register, displacement) = (self.register()?, self.uleb()? as i64);
                self.set_cfa(at, name, register, displacement, AddressSpace(0));
            }
            0x0d => {
                let register = self.register()?;
                let (_, displacement, space) = self.current_cfa()?;
                self.set_cfa(at, name, register, displacement, space);
            }
            0x0e => {
                let displacement = self.uleb()? as i64;
                let (register, _, space) = self.current_cfa()?;
                self.set_cfa(at, name, register, displacement, space);
            }
            0x0f => {
                let program = self.expression()?;
                self.row.cfa = Placement { rule: CfaRule::Expression(program), at, name };
            }
            0x10 => self.register_rule(at, name, |this| this.expression().map(RegisterRule::Expression))?,
            0x11 => self.register_rule(at, name, |this| this.factored_signed().map(RegisterRule::Offset))?,
            0x12 => {
                let (register, displacement) = (self.register()?, self.factored_signed()?);
                self.set_cfa(at, name, register, modulo_address(displacement), AddressSpace(0));
            }
            0x13 => {
                let displacement = modulo_address(self.factored_signed()?);
                let (register, _, space) = self.current_cfa()?;
                self.set_cfa(at, name, register, displacement, space);
            }
            0x14 => self.register_rule(at, name, |this| this.factored().map(RegisterRule::ValOffset))?,
            0x15 => {
                self.register_rule(at, name, |this| this.factored_signed().map(RegisterRule::ValOffset))?
            }
            0x16 => {
                self.register_rule(at, name, |this| this.expression().map(RegisterRule::ValExpression))?
            }
            // The size of arguments is useless without a calling convention that pushes them.
            0x2e => drop(self.uleb()?),
            0x30 => self.aspace_cfa(false, at, name)?,
            0x31 => self.aspace_cfa(true, at, name)?,
            _ => return Err(Cause::UnknownOperation { code }),
        }
        Ok(None)
    }

    /// Sets the CFA to a register, a displacement (signed and factored, or neither) and an address space.
    fn aspace_cfa(&mut self, signed: bool, at: ExprOffset, name: &'static str) -> Result<(), Cause> {
        let register = self.register()?;
        let displacement = if signed { modulo_address(self.factored_signed()?) } else { self.uleb()? as i64 };
        let space = AddressSpace(self.uleb()?);
        self.set_cfa(at, name, register, displacement, space);
        Ok(())
    }

    fn advance(&self, units: u64) -> Result<u64, Cause> {
        advanced(Pc(self.place), units, self.factors.code).map(|place| place.0)
    }

    fn set(&mut self, register: DwarfReg, rule: RegisterRule, at: ExprOffset, name: &'static str) {
        self.row.registers.insert(register, Placement { rule, at, name });
    }

    fn register_rule(
        &mut self,
        at: ExprOffset,
        name: &'static str,
        rule: impl FnOnce(&mut Self) -> Result<RegisterRule, Cause>,
    ) -> Result<(), Cause> {
        let register = self.register()?;
        let rule = rule(self)?;
        self.set(register, rule, at, name);
        Ok(())
    }

    fn restore(&mut self, register: DwarfReg) -> Result<(), Cause> {
        let initial =
            self.initial.as_ref().ok_or(Cause::CallFrame("nothing to restore in initial instructions"))?;
        match initial.registers.get(&register) {
            Some(rule) => drop(self.row.registers.insert(register, rule.clone())),
            None => drop(self.row.registers.remove(&register)),
        }
        Ok(())
    }

    fn set_cfa(
        &mut self,
        at: ExprOffset,
        name: &'static str,
        register: DwarfReg,
        displacement: i64,
        space: AddressSpace,
    ) {
        self.row.cfa = Placement { rule: CfaRule::Register { register, displacement, space }, at, name };
    }

    /// The parts of the CFA rule that instructions change separately.
    fn current_cfa(&self) -> Result<(DwarfReg, i64, AddressSpace), Cause> {
        match self.row.cfa.rule {
            CfaRule::Register { register, displacement, space } => Ok((register, displacement, space)),
            CfaRule::Unspecified => Err(Cause::CallFrame("there is no CFA rule to change")),
            CfaRule::Expression(_) => Err(Cause::CallFrame("the CFA rule is an expression")),
        }
    }

    fn u8(&mut self) -> Result<u8, Cause> {
        let byte = self.bytes.get(self.at).copied().ok_or(Cause::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    fn fixed(&mut self, bytes: usize) -> Result<u64, Cause> {
        let end = self.at.checked_add(bytes).ok_or(Cause::Truncated)?;
        let field = self.bytes.get(self.at..end).ok_or(Cause::Truncated)?;
        self.at = end;
        Ok(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn uleb(&mut self) -> Result<u64, Cause> {
        uleb128(self.bytes, &mut self.at)
    }

    fn register(&mut self) -> Result<DwarfReg, Cause> {
        self.uleb().map(DwarfReg)
    }

    /// Reads an unsigned operand and multiplies it by the data alignment factor; 128 bits hold every product.
    fn factored(&mut self) -> Result<i128, Cause> {
        Ok(i128::from(self.uleb()?) * i128::from(self.factors.data))
    }

    /// The same for a signed operand.
    fn factored_signed(&mut self) -> Result<i128, Cause> {
        Ok(i128::from(sleb128(self.bytes, &mut self.at)?) * i128::from(self.factors.data))
    }

    fn expression(&mut self) -> Result<Decoded, Cause> {
        let length = usize::try_from(self.uleb()?).map_err(|_| Cause::Truncated)?;
        let end = self.at.checked_add(length).ok_or(Cause::Truncated)?;
        let block = self.bytes.get(self.at..end).ok_or(Cause::Truncated)?;
        self.at = end;
        Ok(Program::decode(block, self.factors.encoding).map(Arc::new).map_err(Box::new))
    }
}

/// Advances a place by units of the code alignment factor.
pub(super) fn advanced(place: Pc, units: u64, factor: u64) -> Result<Pc, Cause> {
    let place = units.checked_mul(factor).and_then(|bytes| place.0.checked_add(bytes));
    place.map(Pc).ok_or(Cause::CallFrame("the location advances beyond the address space"))
}

/// Reduces a displacement modulo the size of an address: `DW_OP_aspace_bregx`, which defines the CFA rules, adds it and
/// keeps "the least significant S bits", 64 at most.
fn modulo_address(displacement: i128) -> i64 {
    displacement as i64
}

/// Returns the name of a DWARF 5 or GNU instruction.
pub(crate) fn standard_name(code: u8) -> Option<&'static str> {
    instruction_name(code).filter(|name| !name.starts_with("DW_CFA_LLVM"))
}

/// Names of instructions with zero high bits (DWARF 5 table 7.29, GNU's, and LLVM's for address spaces).
pub(super) fn instruction_name(code: u8) -> Option<&'static str> {
    match DwCfa(code) {
        DwCfa(0x30) => Some("DW_CFA_LLVM_def_aspace_cfa"),
        DwCfa(0x31) => Some("DW_CFA_LLVM_def_aspace_cfa_sf"),
        known if code <= DW_CFA_val_expression.0 || known == DW_CFA_GNU_args_size => known.static_string(),
        _ => None,
    }
}
