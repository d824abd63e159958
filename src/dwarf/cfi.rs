//! Call frame information: instructions to a row of rules, rules to locations.
//!
//! Follows "Call Frame Information" of the 2020 AMDGPU text and DWARF 5 section 6.4, with the instructions that LLVM
//! added for address spaces. The canonical frame address is a location, generally in an address space of its own, and
//! lies on the stack when the expression of a rule begins. On AMDGPU a register without a rule keeps its value, so a
//! table that never defines a CFA says nothing at all and must not be unwound by.
//!
//! CIE and FDE headers, and which FDE covers a PC, are the caller's business.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::context::{
    Answer, Attribute, Context, Die, DieRef, MemoryAt, ObjectMap, RegisterBytes, SpaceInfo,
};
use super::decode::{sleb128, uleb128};
use super::error::{Cause, Error, Missing};
use super::fetch::Reader;
use super::limits::{MAX_CALL_DEPTH, MAX_REMEMBERED_ROWS};
use super::location::{Frame, Implicit, Location, Offset, Storage};
use super::machine::{Entry, Evaluator, Focus};
use super::operation::{Encoding, Operation, Placed, Program};
use super::value::{BaseType, Number, Type};
use crate::units::{AddressSpace, BitSize, DieOffset, DwarfReg, ExprOffset, LaneId, Pc, WaveSize};

/// What instructions need of their CIE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factors {
    /// `code_alignment_factor`: bytes of a unit of `DW_CFA_advance_loc*`.
    pub code: u64,
    /// `data_alignment_factor`: bytes of a unit of factored offsets.
    pub data: i64,
    /// `return_address_register`.
    pub return_address: DwarfReg,
    /// How expressions are encoded.
    pub encoding: Encoding,
}

/// How the CFA is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CfaRule {
    /// No instruction said.
    Unspecified,
    /// A register's contents plus bytes, in an address space.
    Register {
        /// The register.
        register: DwarfReg,
        /// Bytes to add, modulo the size of an address.
        displacement: i64,
        /// The address space.
        space: AddressSpace,
    },
    /// An expression.
    Expression(Arc<Program>),
}

/// Where the caller's value of a register is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterRule {
    /// Nowhere.
    Undefined,
    /// In the register itself.
    SameValue,
    /// At the CFA plus bytes.
    Offset(i64),
    /// It is the address of the CFA plus bytes.
    ValOffset(i64),
    /// In another register of this frame.
    Register(DwarfReg),
    /// Where the expression says, the CFA on its stack.
    Expression(Arc<Program>),
    /// What the expression computes, the CFA on its stack.
    ValExpression(Arc<Program>),
}

/// A rule and the instruction that set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement<T> {
    /// The rule.
    pub rule: T,
    /// Offset of the instruction, within the CIE's or the FDE's instructions.
    pub at: ExprOffset,
    /// DWARF's name of the instruction.
    pub name: &'static str,
}

/// The rules at one place of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// How the CFA is found.
    pub cfa: Placement<CfaRule>,
    /// Registers that have a rule; all others keep their value.
    pub registers: BTreeMap<DwarfReg, Placement<RegisterRule>>,
    /// The return address register.
    pub return_address: DwarfReg,
}

impl Row {
    /// The row that holds at a PC, of a function that starts at `start`. With no `pc`, the row after all instructions.
    ///
    /// # Errors
    /// Class decode for unknown or cut instructions and expressions, ill-formed for instructions out of place.
    pub fn find(
        factors: &Factors,
        initial: &[u8],
        instructions: &[u8],
        start: Pc,
        pc: Option<Pc>,
    ) -> Result<Self, Error> {
        let cfa = Placement { rule: CfaRule::Unspecified, at: ExprOffset(0), name: "DW_CFA_nop" };
        let empty = Self { cfa, registers: BTreeMap::new(), return_address: factors.return_address };
        let first = Interpreter::new(factors, initial, empty.clone(), None, start).run(None)?;
        Interpreter::new(factors, instructions, first.clone(), Some(first), start).run(pc)
    }

    /// Whether this is the outermost frame: the rule of the return address is undefined.
    #[must_use]
    pub fn is_outermost(&self) -> bool {
        let rule = self.registers.get(&self.return_address).map(|placed| &placed.rule);
        matches!(rule, Some(RegisterRule::Undefined))
    }
}

struct Interpreter<'b> {
    factors: &'b Factors,
    bytes: &'b [u8],
    at: usize,
    row: Row,
    /// The row after the CIE's instructions, which `DW_CFA_restore` goes back to; absent within those.
    initial: Option<Row>,
    remembered: Vec<Row>,
    place: u64,
}

impl<'b> Interpreter<'b> {
    fn new(factors: &'b Factors, bytes: &'b [u8], row: Row, initial: Option<Row>, start: Pc) -> Self {
        Self { factors, bytes, at: 0, row, initial, remembered: Vec::new(), place: start.0 }
    }

    fn run(mut self, pc: Option<Pc>) -> Result<Row, Error> {
        while self.at < self.bytes.len() {
            let start = ExprOffset(self.at);
            let mut name = "instruction";
            let next = self.step(start, &mut name).map_err(|cause| Error { at: start, op: name, cause })?;
            if let Some(place) = next {
                if pc.is_some_and(|pc| pc.0 < place) {
                    break;
                }
                self.place = place;
            }
        }
        Ok(self.row)
    }

    /// Runs one instruction; returns the place where a new row begins, if it says so.
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
        *name = instruction_name(code).ok_or(Cause::UnknownOperation { code })?;
        match code {
            0x00 => {}
            0x01 => return self.fixed(8).map(Some),
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
                self.set_cfa(at, name, register, displacement, AddressSpace(0));
            }
            0x13 => {
                let displacement = self.factored_signed()?;
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
            // The size of arguments is of no use without a calling convention that pushes them.
            0x2e => drop(self.uleb()?),
            0x30 => {
                let (register, displacement) = (self.register()?, self.uleb()? as i64);
                let space = AddressSpace(self.uleb()?);
                self.set_cfa(at, name, register, displacement, space);
            }
            0x31 => {
                let (register, displacement) = (self.register()?, self.factored_signed()?);
                let space = AddressSpace(self.uleb()?);
                self.set_cfa(at, name, register, displacement, space);
            }
            _ => return Err(Cause::UnknownOperation { code }),
        }
        Ok(None)
    }

    fn advance(&self, units: u64) -> Result<u64, Cause> {
        Ok(self.place.wrapping_add(units.wrapping_mul(self.factors.code)))
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

    /// The parts of the CFA rule that instructions change one at a time.
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

    fn factored(&mut self) -> Result<i64, Cause> {
        Ok((self.uleb()? as i64).wrapping_mul(self.factors.data))
    }

    fn factored_signed(&mut self) -> Result<i64, Cause> {
        Ok(sleb128(self.bytes, &mut self.at)?.wrapping_mul(self.factors.data))
    }

    fn expression(&mut self) -> Result<Arc<Program>, Cause> {
        let length = usize::try_from(self.uleb()?).map_err(|_| Cause::Truncated)?;
        let end = self.at.checked_add(length).ok_or(Cause::Truncated)?;
        let block = self.bytes.get(self.at..end).ok_or(Cause::Truncated)?;
        self.at = end;
        let program = Program::decode(block, self.factors.encoding);
        program.map(Arc::new).map_err(|error| inside("its expression", error))
    }
}

fn inside(what: &'static str, error: Error) -> Cause {
    Cause::Inside { what, error: Box::new(error) }
}

/// Names of instructions with zero high bits (DWARF 5 table 7.29, GNU's, and LLVM's for address spaces).
fn instruction_name(code: u8) -> Option<&'static str> {
    Some(match code {
        0x00 => "DW_CFA_nop",
        0x01 => "DW_CFA_set_loc",
        0x02 => "DW_CFA_advance_loc1",
        0x03 => "DW_CFA_advance_loc2",
        0x04 => "DW_CFA_advance_loc4",
        0x05 => "DW_CFA_offset_extended",
        0x06 => "DW_CFA_restore_extended",
        0x07 => "DW_CFA_undefined",
        0x08 => "DW_CFA_same_value",
        0x09 => "DW_CFA_register",
        0x0a => "DW_CFA_remember_state",
        0x0b => "DW_CFA_restore_state",
        0x0c => "DW_CFA_def_cfa",
        0x0d => "DW_CFA_def_cfa_register",
        0x0e => "DW_CFA_def_cfa_offset",
        0x0f => "DW_CFA_def_cfa_expression",
        0x10 => "DW_CFA_expression",
        0x11 => "DW_CFA_offset_extended_sf",
        0x12 => "DW_CFA_def_cfa_sf",
        0x13 => "DW_CFA_def_cfa_offset_sf",
        0x14 => "DW_CFA_val_offset",
        0x15 => "DW_CFA_val_offset_sf",
        0x16 => "DW_CFA_val_expression",
        0x2e => "DW_CFA_GNU_args_size",
        0x30 => "DW_CFA_LLVM_def_aspace_cfa",
        0x31 => "DW_CFA_LLVM_def_aspace_cfa_sf",
        _ => return None,
    })
}

/// A frame with its rules: answers where the caller's registers are.
///
/// Rules are evaluated for the wave as a whole, since registers are saved for all lanes at once.
#[derive(Clone, Copy)]
pub struct Unwind<'c> {
    context: &'c dyn Context,
    row: &'c Row,
    /// Registers that are being asked for, the latest first: one that asks for itself never ends.
    asking: Option<&'c Asking<'c>>,
}

struct Asking<'c> {
    register: DwarfReg,
    outer: Option<&'c Asking<'c>>,
}

impl std::fmt::Debug for Unwind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unwind").field("row", &self.row).finish_non_exhaustive()
    }
}

impl<'c> Unwind<'c> {
    /// The frame of a context with a row of its function.
    #[must_use]
    pub fn new(context: &'c dyn Context, row: &'c Row) -> Self {
        Self { context, row, asking: None }
    }

    /// The canonical frame address: a byte in memory of some address space.
    ///
    /// # Errors
    /// Unavailable if no instruction defined it or what it needs was not captured; ill-formed if it is no such byte.
    pub fn cfa(&self) -> Result<Location, Error> {
        let Placement { rule, at, name } = &self.row.cfa;
        let error = |cause| Error { at: *at, op: name, cause };
        let synthetic;
        let (program, initial) = match rule {
            CfaRule::Unspecified => return Err(error(Cause::NoCallFrame("the CFA is never defined"))),
            CfaRule::Expression(program) => (&**program, vec![]),
            CfaRule::Register { register, displacement, space } => {
                let operation = Operation::AspaceBregx { register: *register, displacement: *displacement };
                let placed = Placed { at: ExprOffset(0), name: "DW_OP_LLVM_aspace_bregx", operation };
                let encoding = Encoding::new(super::operation::Dialect::LlvmUser);
                synthetic = Program { operations: Box::new([placed]), end: ExprOffset(0), encoding };
                (&synthetic, vec![Entry::Number(Number::generic(space.0))])
            }
        };
        let location = self.location(program, &initial).map_err(|inner| error(inside("the CFA", inner)))?;
        let aligned = location.offset.bits.get(LaneId(0)) == 0;
        if !aligned || !matches!(location.storage, Storage::Memory { .. }) {
            return Err(error(Cause::CallFrame("the CFA is not a byte in memory")));
        }
        Ok(location)
    }

    /// Where the caller's value of a register is. A value that is computed is an implicit location of the register's
    /// size; a register that cannot be recovered is at the undefined location.
    ///
    /// # Errors
    /// As the rule has it. Unavailable if nothing is said of the register and the CFA was never defined.
    pub fn register(&self, register: DwarfReg) -> Result<Location, Error> {
        let Some(Placement { rule, at, name }) = self.row.registers.get(&register) else {
            let Placement { rule, at, name } = &self.row.cfa;
            let error = |cause| Error { at: *at, op: name, cause };
            if *rule == CfaRule::Unspecified {
                return Err(error(Cause::NoCallFrame("the CFA is never defined")));
            }
            return self.own(register).map_err(error);
        };
        self.by_rule(register, rule).map_err(|cause| Error { at: *at, op: name, cause })
    }

    /// The caller's value of a register, as an unsigned value of its width.
    ///
    /// # Errors
    /// As for [`Self::register`], or as reading that location has it.
    pub fn value(&self, register: DwarfReg) -> Result<Number, Error> {
        let location = self.register(register)?;
        let error = |cause| Error { at: ExprOffset(0), op: "read", cause };
        let size = self.size(register).map_err(error)?;
        let mut reader = Reader::new(self.context);
        let words = (0..size.0)
            .step_by(64)
            .map(|from| reader.word(&location, from, (size.0 - from).min(64) as u32, None).map_err(error));
        let limbs = words.collect::<Result<Vec<u64>, Error>>()?;
        Ok(Number::from_limbs(Type::unsigned(size.0 as u32), &limbs))
    }

    fn by_rule(&self, register: DwarfReg, rule: &RegisterRule) -> Result<Location, Cause> {
        let size = self.size(register)?;
        match rule {
            RegisterRule::Undefined => Ok(Location::undefined()),
            RegisterRule::SameValue => self.own(register),
            RegisterRule::Offset(bytes) => self.within(&self.asking_for(register)?).near_cfa(*bytes),
            RegisterRule::ValOffset(bytes) => {
                let location = self.within(&self.asking_for(register)?).near_cfa(*bytes)?;
                let address = location.offset.bytes.get(LaneId(0));
                let Storage::Memory { address_bits, .. } = location.storage else {
                    return Err(Cause::CallFrame("the CFA is not a byte in memory"));
                };
                if size.0 != u64::from(address_bits) {
                    return Err(Cause::SizesDiffer { said: u64::from(address_bits), actual: size.0 });
                }
                Ok(implicit(Number::from_limbs(Type::unsigned(size.0 as u32), &[address])))
            }
            RegisterRule::Register(other) => {
                let said = self.size(*other)?.0;
                if said != size.0 {
                    return Err(Cause::SizesDiffer { said, actual: size.0 });
                }
                self.own(*other)
            }
            RegisterRule::Expression(program) => {
                let asking = self.asking_for(register)?;
                let inner = self.within(&asking);
                let cfa = inner.cfa_entry()?;
                inner.location(program, &[cfa]).map_err(|error| inside("its expression", error))
            }
            RegisterRule::ValExpression(program) => {
                let asking = self.asking_for(register)?;
                let inner = self.within(&asking);
                let cfa = inner.cfa_entry()?;
                let number =
                    inner.computed(program, &[cfa]).map_err(|error| inside("its expression", error))?;
                // The generic type has 64 bits, which no expression could match to a register of 32.
                let fits = number.ty() == Type::Generic && size.0 <= 64;
                if number.size() != size && !fits {
                    return Err(Cause::SizesDiffer { said: number.size().0, actual: size.0 });
                }
                Ok(implicit(Number::from_limbs(Type::unsigned(size.0 as u32), &number.limbs(LaneId(0)))))
            }
        }
    }

    fn size(&self, register: DwarfReg) -> Result<BitSize, Cause> {
        let unknown = |reason: String| Cause::NoRegister { register, reason: reason.into() };
        self.context.register_size(register).map_err(unknown)
    }

    fn own(&self, register: DwarfReg) -> Result<Location, Cause> {
        self.size(register).map(|size| Location::register(register, size))
    }

    /// The CFA moved by bytes, without wrapping.
    fn near_cfa(&self, bytes: i64) -> Result<Location, Cause> {
        let mut location = self.cfa().map_err(|error| inside("the CFA", error))?;
        let offset = (location.offset.get(LaneId(0)) as i128).saturating_add(i128::from(bytes) * 8);
        let size = location.storage.size().unwrap_or(0);
        match u128::try_from(offset) {
            Ok(offset) if offset < size => location.offset = Offset::from_bits(offset),
            _ => return Err(Cause::OutsideStorage { offset, size }),
        }
        Ok(location)
    }

    fn cfa_entry(&self) -> Result<Entry, Cause> {
        self.cfa().map(Entry::Location).map_err(|error| inside("the CFA", error))
    }

    /// The same frame while a register is being asked for.
    fn within<'a>(&'a self, asking: &'a Asking<'a>) -> Unwind<'a> {
        Unwind { context: self.context, row: self.row, asking: Some(asking) }
    }

    fn asking_for(&self, register: DwarfReg) -> Result<Asking<'_>, Cause> {
        let mut depth = 0;
        let mut next = self.asking;
        while let Some(asking) = next {
            depth += 1;
            if asking.register == register || depth > MAX_CALL_DEPTH {
                return Err(Cause::CallFrame("the rule of a register asks for that register"));
            }
            next = asking.outer;
        }
        Ok(Asking { register, outer: self.asking })
    }

    fn location(&self, program: &Program, initial: &[Entry]) -> Result<Location, Error> {
        let groups = Evaluator::new(self).for_call_frames().location(program, Focus::Wave, initial);
        groups.into_iter().next().map_or_else(|| Ok(Location::undefined()), |group| group.result)
    }

    fn computed(&self, program: &Program, initial: &[Entry]) -> Result<Number, Error> {
        let groups = Evaluator::new(self).for_call_frames().value(program, Focus::Wave, initial);
        groups.into_iter().next().map_or_else(|| Ok(Number::generic(0)), |group| group.result)
    }
}

fn implicit(number: Number) -> Location {
    let storage = Storage::Implicit(Implicit::Number(Arc::new(number)));
    Location { storage, offset: Offset::ZERO }
}

/// The context of a rule's expression: that of the frame, with the caller's registers found by the rules themselves.
impl Context for Unwind<'_> {
    fn wave_size(&self) -> WaveSize {
        self.context.wave_size()
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        self.context.space(space)
    }

    fn register_size(&self, register: DwarfReg) -> Result<BitSize, String> {
        self.context.register_size(register)
    }

    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes) {
        self.context.read_register(register, frame, into);
    }

    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize {
        self.context.read_memory(at, into)
    }

    fn pc(&self) -> Option<Pc> {
        self.context.pc()
    }

    fn cfa(&self) -> Answer<Location> {
        Self::cfa(self).map_err(Missing::from)
    }

    fn entry_register(&self, register: DwarfReg, _: BitSize) -> Answer<Location> {
        Self::register(self, register).map_err(Missing::from)
    }

    fn lanes(&self) -> Answer<Option<Attribute>> {
        self.context.lanes()
    }

    fn die(&self, die: DieRef) -> Answer<Die> {
        self.context.die(die)
    }

    fn base_type(&self, die: DieOffset) -> Answer<BaseType> {
        self.context.base_type(die)
    }

    fn object_map(&self, die: DieOffset) -> Answer<Arc<ObjectMap>> {
        self.context.object_map(die)
    }
}
