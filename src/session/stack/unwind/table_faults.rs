//! Faults of LLVM's call frame information, where the code of the function decides.
//!
//! * The end of a function: no rule follows the reload of its vector registers. Rules that read their lanes then find
//!   the caller's data, in a recursion the valid return address of an outer activation.
//! * The start of a function that keeps the caller's frame pointer in a lane: no rule has it before it is there.
//! * A frame that is rounded up, for an over-aligned object: the CFA is the rounded frame pointer, and the slots are
//!   relative to it also where the CFA is the stack pointer.
//!
//! Measured with LLVM's main branch of 2026. A table without these faults agrees with the code, and counts.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::code_row;
use super::rules::{Found, Rules, RulesError, RulesOrigin};
use super::unwinder::{Code, Physical, Unwinder};
use crate::arch::Register;
use crate::codeobject::Bytes;
use crate::dwarf::cfi::{Answers, CfaRule, Placement, RegisterRule, Row, Unwind};
use crate::dwarf::{Answer, Bits, ContextError, Location, Machine as _, Operation, Program, fetch};
use crate::isa::{
    CodeReader, FRAME_POINTER, FrameSetup, FunctionExit, Instruction, frame_setup, function_exit,
};
use crate::session::disassembly::machine;
use crate::session::{Inferred, InferredBy};
use crate::units::DwarfReg;

/// A function's code, from its first address on.
struct FunctionBytes {
    reader: CodeReader,
    start: u64,
    bytes: Bytes,
}

impl FunctionBytes {
    /// The instruction at an address.
    fn at(&self, address: u64) -> Option<Instruction> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        self.reader.clone().next(address, self.bytes.get(offset..)?)
    }

    fn frame_setup(&self) -> Option<FrameSetup> {
        frame_setup(|address| self.at(address), self.start)
    }
}

impl Unwinder<'_> {
    /// The rules of the innermost frame in place of those of its table, where the table is wrong; `None`: it is right.
    pub(super) fn corrected(&self, frame: &Physical<'_>, table: &Found) -> Option<Found> {
        let Ok(Rules { entry: RulesOrigin::Entry(entry), row, .. }) = &**table else { return None };
        // Outer frames are at a call, and kernels have no caller.
        if frame.pc != frame.lookup || row.is_outermost() || self.is_in_kernel(frame) {
            return None;
        }
        let code = frame.code?;
        let function = self.function_bytes(code)?;
        let exit = match self.returns_by_lanes(row) {
            true => function_exit(|address| function.at(address), code.elf.0),
            false => None,
        };
        let frame = self.kind.sgpr(FRAME_POINTER)?.dwarf?;
        let setup = if reads_frame(row, frame) { None } else { function.frame_setup() };
        let is_set = setup.is_some_and(|setup| setup.end <= code.elf.0);
        if exit.is_none() && !is_set && !setup.is_some_and(|setup| setup.is_rounded) {
            return None;
        }
        let why = RulesError::RulesOfBody(*entry);
        let by_code = self.rules_by_code(code, &why);
        let changed = |register: DwarfReg, rule: Placement<RegisterRule>| {
            let mut row = row.clone();
            row.registers.insert(register, rule);
            row
        };
        match &*by_code {
            Ok(rules) => {
                let registers = row.registers.keys().chain([&frame]);
                (!self.agree(row, &rules.row, registers)).then_some(by_code)
            }
            // A jump may stay within the function.
            Err(_) if exit == Some(FunctionExit::Return) => {
                let returned = changed(row.return_address, code_row::link(&self.kind)?);
                (!self.agree(row, &returned, [&row.return_address])).then_some(by_code)
            }
            Err(_) if is_set && !row.registers.contains_key(&frame) => {
                let row = changed(frame, code_row::unknown("no rule has the caller's frame pointer"));
                let uncertain = BTreeSet::new();
                Some(Arc::new(Ok(Rules { entry: RulesOrigin::Entry(*entry), row, uncertain })))
            }
            Err(_) => None,
        }
    }

    /// The canonical frame address of a frame, with the inferences behind it.
    ///
    /// # Errors
    /// Nothing gives it.
    pub(in crate::session) fn cfa(&self, level: usize) -> Answer<(Location, Inferred)> {
        let context = self.level(level);
        let unwind = context.unwind()?;
        let by_code = Inferred::NONE.with(InferredBy::CallerCode);
        let inferred = if self.is_caller_inferred(level) { by_code } else { Inferred::NONE };
        let rounded = match (self.rules(level), context.code()) {
            (Ok(Rules { entry: RulesOrigin::Entry(entry), row, .. }), Ok(code)) => {
                let frame = self.kind.sgpr(FRAME_POINTER).and_then(|register| register.dwarf);
                let is_framed = frame.is_some_and(|frame| reads_frame(row, frame));
                let function = is_framed.then(|| self.function_bytes(code)).flatten();
                let setup = function.and_then(|function| function.frame_setup());
                setup.is_some_and(|setup| setup.is_rounded).then_some((*entry, code))
            }
            _ => None,
        };
        let Some((entry, code)) = rounded else { return Ok((unwind.cfa()?, inferred)) };
        let why = RulesError::RoundedCfa(entry);
        let found = self.rules_by_code(code, &why);
        let unknown = |why: &RulesError| ContextError::not_captured(why.named(&*self.kind));
        let rules = found.as_ref().as_ref().map_err(unknown)?;
        let answers = self.answers.of_same_stack();
        Ok((Unwind::new(&context, &rules.row, &answers).cfa()?, by_code))
    }

    /// The code of the function by its entry of call frame information.
    fn function_bytes(&self, code: Code<'_>) -> Option<FunctionBytes> {
        let object = code.loaded.object(self.reader.dump().capture()).ok()?;
        let range = code.loaded.frame_entry(self.reader, &object, code.elf)?;
        let bytes = object.bytes_at(range.start, range.end.0.checked_sub(range.start.0)?)?;
        let reader = machine(Some(&object), &self.kind).reader(false).ok()?;
        Some(FunctionBytes { reader, start: range.start.0, bytes })
    }

    /// Whether the return address is in lanes of a vector register by these rules.
    fn returns_by_lanes(&self, row: &Row) -> bool {
        let rule = row.registers.get(&row.return_address).map(|placed| &placed.rule);
        let Some(RegisterRule::Expression(Ok(program))) = rule else { return false };
        registers(program).any(|register| self.kind.dwarf(register).is_ok_and(Register::is_vector))
    }

    /// Whether two rows give the innermost frame's caller the same registers, as far as both give them.
    fn agree<'r>(&self, one: &Row, other: &Row, registers: impl IntoIterator<Item = &'r DwarfReg>) -> bool {
        let context = self.level(0);
        let answers = [one, other].map(|row| (row, self.answers.of_same_stack()));
        let bits = |(row, answers): &(&Row, Answers), register: DwarfReg| -> Option<Bits> {
            let size = context.register_size(register).ok()?;
            let location = Unwind::new(&context, row, answers).register(register).ok()?;
            fetch(&context, &location, None, size).ok()
        };
        let is_same = |one: &Bits, other: &Bits| {
            let differs =
                |index| matches!((one.byte(index), other.byte(index)), (Ok(one), Ok(other)) if one != other);
            !(0..one.bytes().len()).any(differs)
        };
        let [one, other] = &answers;
        registers.into_iter().all(|register| {
            bits(one, *register).zip(bits(other, *register)).is_none_or(|(one, other)| is_same(&one, &other))
        })
    }
}

/// Whether a row computes the CFA from the frame pointer.
fn reads_frame(row: &Row, frame: DwarfReg) -> bool {
    match &row.cfa.rule {
        CfaRule::Register { register, .. } => *register == frame,
        CfaRule::Expression(Ok(program)) => registers(program).any(|register| register == frame),
        CfaRule::Expression(Err(_)) | CfaRule::Unspecified => false,
    }
}

fn registers(program: &Program) -> impl Iterator<Item = DwarfReg> {
    program.operations().iter().filter_map(|placed| match placed.operation {
        Operation::Register(register) | Operation::BaseRegister { register, .. } => Some(register),
        _ => None,
    })
}
