//! A row of rules from the values that a function's code shows.
//!
//! The rules have the forms of LLVM's own call frame information: `SIFrameLowering::buildCFI*`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::arch::WaveArch;
use crate::dwarf::cfi::{CfaRule, Placement, RegisterRule, Row};
use crate::dwarf::{ContextError, Dialect, Encoding, Error, Program};
use crate::isa::{
    CallerState, Execution, Half, RETURN_ADDRESS, STACK_POINTER, Scalar, Slot, SlotBase, Vector,
};
use crate::units::{DwarfReg, ExprOffset, WaveSize};

/// The name of the rules' source in errors.
const NAME: &str = "code of the function";
/// Private memory of a wave, with the dwords of all lanes side by side.
const PRIVATE_WAVE: u8 = 6;
/// The number of scalar registers in LLVM's calling convention.
const SCALARS: u8 = 106;

/// The rules of a function's caller; `None`: the code shows no stack pointer or no return address.
pub(super) fn row(state: &CallerState, kind: &WaveArch) -> Option<Row> {
    let rules = Rules { state, kind };
    let cfa = CfaRule::Expression(Ok(rules.cfa()?));
    let return_address = kind.named("pc")?.dwarf?;
    let mut registers = BTreeMap::new();
    let mut add = |register: Option<DwarfReg>, rule: RegisterRule| {
        if let Some(register) = register {
            registers.insert(register, placed(rule));
        }
    };
    add(Some(return_address), rules.return_address()?);
    for number in 0..SCALARS {
        let register = rules.scalar_number(number);
        if number == STACK_POINTER {
            rules.stack_pointer().into_iter().for_each(|rule| add(register, rule));
            continue;
        }
        match state.scalar(number) {
            Some(Scalar::Register(same)) if same == number => {}
            Some(place) => add(register, rules.at(place).unwrap_or(RegisterRule::Undefined)),
            None => add(register, RegisterRule::Undefined),
        }
    }
    let has_vcc = (SCALARS..SCALARS + 2).all(|half| state.scalar(half) == Some(Scalar::Register(half)));
    if !has_vcc {
        add(kind.named("vcc").and_then(|vcc| vcc.dwarf), RegisterRule::Undefined);
    }
    let exec = rules.exec_number();
    match rules.execution() {
        // A rule shows that the lanes are those of the call.
        Execution::Same => add(exec, RegisterRule::SameValue),
        Execution::Saved(places) => add(exec, rules.halves(places).unwrap_or(RegisterRule::Undefined)),
        Execution::Within | Execution::Unknown => add(exec, RegisterRule::Undefined),
    }
    for register in state.changed_vectors() {
        add(rules.vector_number(register), rules.vector(register).unwrap_or(RegisterRule::Undefined));
    }
    Some(Row { cfa: placed(cfa), registers, return_address })
}

/// Registers without a rule that a callee which returned may have changed: LLVM relies on them only where it knows that
/// the callee does not change them.
pub(super) fn uncertain(state: &CallerState, kind: &WaveArch) -> BTreeSet<DwarfReg> {
    let rules = Rules { state, kind };
    let scalars = state.uncertain_scalars().filter_map(|number| rules.scalar_number(number));
    let vectors = state.uncertain_vectors().filter_map(|register| rules.vector_number(register));
    scalars.chain(vectors).collect()
}

/// The rule of a return address in the registers of the calling convention.
pub(super) fn link(kind: &WaveArch) -> Option<Placement<RegisterRule>> {
    let mut code = Code::default();
    for number in [RETURN_ADDRESS, RETURN_ADDRESS + 1] {
        code.register(kind.sgpr(number)?.dwarf?);
        code.piece(4);
    }
    code.rule().map(placed)
}

/// The rule of a register whose place is unknown, with the reason.
pub(super) fn unknown(why: &'static str) -> Placement<RegisterRule> {
    let error = Error { at: ExprOffset(0), op: NAME, cause: ContextError::not_captured(why).into() };
    placed(RegisterRule::Expression(Err(Box::new(error))))
}

fn placed<T>(rule: T) -> Placement<T> {
    Placement { rule, at: ExprOffset(0), name: NAME }
}

struct Rules<'s> {
    state: &'s CallerState,
    kind: &'s WaveArch,
}

impl Rules<'_> {
    fn scalar_number(&self, number: u8) -> Option<DwarfReg> {
        let register = self.kind.sgpr(number)?;
        register.dwarf
    }

    fn vector_number(&self, register: Vector) -> Option<DwarfReg> {
        let file = if register.accumulator { 'a' } else { 'v' };
        self.kind.named(&format!("{file}{}", register.number))?.dwarf
    }

    fn exec_number(&self) -> Option<DwarfReg> {
        self.kind.named("exec")?.dwarf
    }

    fn execution(&self) -> Execution {
        match self.kind.wave_size {
            WaveSize::W32 => self.state.exec_of_32(),
            WaveSize::W64 => self.state.exec(),
        }
    }

    /// Bytes of a dword of all lanes.
    fn row_bytes(&self) -> i64 {
        i64::from(self.kind.wave_size.lanes()) * 4
    }

    fn cfa(&self) -> Option<Arc<Program>> {
        let mut code = Code::default();
        self.stack(&mut code)?;
        self.scale(&mut code);
        code.space(PRIVATE_WAVE);
        code.program()
    }

    /// Pushes the stack pointer of the caller, in the units of s32.
    fn stack(&self, code: &mut Code) -> Option<()> {
        let found = self.state.stack_pointer()?;
        self.contents(code, found.place)?;
        code.minus(found.by);
        Some(())
    }

    /// Converts the units of s32 to bytes of the wave.
    fn scale(&self, code: &mut Code) {
        if !self.kind.target.buffer_scratch {
            code.constant(i64::from(self.kind.wave_size.lanes()));
            code.byte(MUL);
        }
    }

    /// Pushes the location of a scalar value.
    fn place(&self, code: &mut Code, place: Scalar) -> Option<()> {
        match place {
            Scalar::Register(number) => code.register(self.scalar_number(number)?),
            Scalar::Lane(register, lane) => {
                code.register(self.vector_number(register)?);
                code.constant(i64::from(lane) * 4);
                code.extended(OFFSET);
            }
        }
        Some(())
    }

    /// Pushes a scalar value.
    fn contents(&self, code: &mut Code, place: Scalar) -> Option<()> {
        self.place(code, place)?;
        code.read(4);
        Some(())
    }

    fn at(&self, place: Scalar) -> Option<RegisterRule> {
        if let Scalar::Register(number) = place {
            return self.scalar_number(number).map(RegisterRule::Register);
        }
        let mut code = Code::default();
        self.place(&mut code, place)?;
        code.rule()
    }

    /// A register of 64 bits by the places of its halves; one of 32 bits by the first.
    fn halves(&self, places: [Scalar; 2]) -> Option<RegisterRule> {
        let count = if self.kind.wave_size == WaveSize::W32 { 1 } else { 2 };
        self.pieces(places.into_iter().take(count))
    }

    fn pieces(&self, places: impl Iterator<Item = Scalar>) -> Option<RegisterRule> {
        let mut code = Code::default();
        for place in places {
            self.place(&mut code, place)?;
            code.piece(4);
        }
        code.rule()
    }

    fn return_address(&self) -> Option<RegisterRule> {
        self.pieces([self.state.scalar(RETURN_ADDRESS)?, self.state.scalar(RETURN_ADDRESS + 1)?].into_iter())
    }

    /// The rule of s32; `None`: it keeps its value.
    fn stack_pointer(&self) -> Option<RegisterRule> {
        let found = self.state.stack_pointer();
        if found.is_some_and(|found| found.place == Scalar::Register(STACK_POINTER) && found.by == 0) {
            return None;
        }
        let mut code = Code::default();
        let value = self.stack(&mut code).and_then(|()| code.program());
        Some(value.map_or(RegisterRule::Undefined, |program| RegisterRule::ValExpression(Ok(program))))
    }

    fn vector(&self, register: Vector) -> Option<RegisterRule> {
        let [active, inactive] = self.state.vector(register);
        if active == inactive {
            return match active {
                Half::Unknown => Some(RegisterRule::Undefined),
                Half::Register(other) => self.vector_number(other).map(RegisterRule::Register),
                Half::Slot(Slot { base: SlotBase::Stack, offset }) => Some(RegisterRule::Offset(i128::from(
                    i64::from(offset).checked_mul(self.row_bytes() / 4)?,
                ))),
                Half::Slot(_) => {
                    let mut code = Code::default();
                    self.half(&mut code, active)?;
                    code.rule()
                }
            };
        }
        let execution = self.execution();
        // Lanes outside of a part of the mask may be active or inactive.
        let other = if execution == Execution::Within { Half::Unknown } else { inactive };
        if execution == Execution::Unknown || active == Half::Unknown && other == Half::Unknown {
            return Some(RegisterRule::Undefined);
        }
        let mut code = Code::default();
        self.half(&mut code, other)?;
        self.half(&mut code, active)?;
        self.mask(&mut code, execution)?;
        code.select(self.kind.wave_size.lanes());
        code.rule()
    }

    /// Pushes the location of all lanes of a place.
    fn half(&self, code: &mut Code, half: Half) -> Option<()> {
        match half {
            Half::Unknown => code.extended(UNDEFINED),
            Half::Register(register) => code.register(self.vector_number(register)?),
            Half::Slot(slot) => {
                match slot.base {
                    SlotBase::Stack => self.stack(code)?,
                    SlotBase::Rounded { add, mask } => match self.state.rounded(slot.base) {
                        Some((place, by)) => {
                            self.contents(code, place)?;
                            code.minus(by);
                        }
                        None => {
                            self.stack(code)?;
                            code.constant(i64::from(add));
                            code.byte(PLUS);
                            code.constant(i64::from(mask));
                            code.byte(AND);
                        }
                    },
                }
                self.scale(code);
                code.constant(i64::from(slot.offset).checked_mul(self.row_bytes() / 4)?);
                code.byte(PLUS);
                code.space(PRIVATE_WAVE);
            }
        }
        Some(())
    }

    /// Pushes the mask of the lanes that were active at entry, or of some of them.
    fn mask(&self, code: &mut Code, execution: Execution) -> Option<()> {
        match execution {
            Execution::Same | Execution::Within => {
                code.register(self.exec_number()?);
                code.read(if self.kind.wave_size == WaveSize::W32 { 4 } else { 8 });
            }
            Execution::Saved([low, high]) => {
                self.contents(code, low)?;
                if self.kind.wave_size == WaveSize::W64 {
                    self.contents(code, high)?;
                    code.constant(32);
                    code.byte(SHL);
                    code.byte(OR);
                }
            }
            Execution::Unknown => return None,
        }
        Some(())
    }
}

const AND: u8 = 0x1a;
const MINUS: u8 = 0x1c;
const MUL: u8 = 0x1e;
const OR: u8 = 0x21;
const PLUS: u8 = 0x22;
const SHL: u8 = 0x24;
/// Operations after `DW_OP_LLVM_user`.
const FORM_ASPACE_ADDRESS: u8 = 0x02;
const OFFSET: u8 = 0x04;
const UNDEFINED: u8 = 0x08;
const SELECT_BIT_PIECE: u8 = 0x0c;

/// The bytes of an expression.
#[derive(Default)]
struct Code(Vec<u8>);

impl Code {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn uleb(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn extended(&mut self, operation: u8) {
        self.byte(0xe9);
        self.byte(operation);
    }

    /// `DW_OP_regx`.
    fn register(&mut self, register: DwarfReg) {
        self.byte(0x90);
        self.uleb(register.0);
    }

    /// `DW_OP_const8s`.
    fn constant(&mut self, number: i64) {
        self.byte(0x0f);
        self.0.extend(number.to_le_bytes());
    }

    /// `DW_OP_deref_size`.
    fn read(&mut self, bytes: u8) {
        self.byte(0x94);
        self.byte(bytes);
    }

    /// `DW_OP_piece`.
    fn piece(&mut self, bytes: u8) {
        self.byte(0x93);
        self.byte(bytes);
    }

    /// Subtracts a number modulo 2^32.
    fn minus(&mut self, by: u32) {
        if by != 0 {
            self.constant(i64::from(by));
            self.byte(MINUS);
            self.constant(i64::from(u32::MAX));
            self.byte(AND);
        }
    }

    fn space(&mut self, space: u8) {
        self.constant(i64::from(space));
        self.extended(FORM_ASPACE_ADDRESS);
    }

    /// Selects lanes of 32 bits.
    fn select(&mut self, lanes: u8) {
        self.extended(SELECT_BIT_PIECE);
        self.uleb(32);
        self.uleb(u64::from(lanes));
    }

    fn program(&self) -> Option<Arc<Program>> {
        Program::decode(&self.0, Encoding::new(Dialect::LlvmUser)).ok().map(Arc::new)
    }

    fn rule(&self) -> Option<RegisterRule> {
        self.program().map(|program| RegisterRule::Expression(Ok(program)))
    }
}
