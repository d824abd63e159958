//! Rules to locations: the CFA and the caller's registers.

use std::sync::Arc;

use super::super::context::{Answer, Attribute, CallFrame, Context, Machine, Unit};
use super::super::error::{Cause, ContextError, Error};
use super::super::fetch::Reader;
use super::super::limits::MAX_CALL_DEPTH;
use super::super::location::{Implicit, Location, Offset, Storage};
use super::super::machine::{Entry, Evaluator, Focus, Tracer};
use super::super::operation::{Dialect, Encoding, Operation, Placed, Program};
use super::super::origin::{Origin, WhyUndefined};
use super::super::value::{Number, Type};
use super::answers::Answers;
use super::row::{CfaRule, Decoded, Placement, RegisterRule, Row};
use crate::units::{BitSize, DwarfReg, ExprOffset, LaneId, Pc};

fn inside(what: &'static str, error: Error) -> Cause {
    Cause::Inside { what, error: Box::new(error) }
}

/// Returns the expression of a rule.
fn decoded(rule: &Decoded) -> Result<&Program, Cause> {
    rule.as_deref().map_err(|error| inside("its expression", (**error).clone()))
}

/// A frame with its rules, which give the locations of the caller's registers.
///
/// Rules are evaluated for the whole wave: registers are saved for all lanes at once.
#[derive(Clone, Copy)]
pub struct Unwind<'c> {
    context: &'c dyn Context,
    row: &'c Row,
    /// Cached results of the rules.
    answers: &'c Answers,
    /// Registers under evaluation, the latest first, to detect a cycle.
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
    /// Creates an unwinder for a context and a row of its function. `answers` must belong to this frame alone; each
    /// rule is evaluated once.
    #[must_use]
    pub fn new(context: &'c dyn Context, row: &'c Row, answers: &'c Answers) -> Self {
        Self { context, row, answers, asking: None }
    }

    /// Returns the canonical frame address: a byte in memory of some address space.
    ///
    /// # Errors
    /// Unavailable if no instruction defines it or its inputs were not captured; ill-formed if it is not such a byte.
    pub fn cfa(&self) -> Result<Location, Error> {
        self.answers.cfa_or(|| self.evaluated_cfa())
    }

    fn evaluated_cfa(&self) -> Result<Location, Error> {
        let Placement { rule, at, name } = &self.row.cfa;
        let error = |cause| Error { at: *at, op: name, cause };
        let synthetic;
        let (program, initial) = match rule {
            CfaRule::Unspecified => return Err(error(Cause::NoCallFrame("no instruction defines the CFA"))),
            CfaRule::Expression(program) => (decoded(program).map_err(error)?, vec![]),
            CfaRule::Register { register, displacement, space } => {
                let operation = Operation::AspaceBregx { register: *register, displacement: *displacement };
                let placed =
                    Placed { at: ExprOffset(0), name: "DW_OP_LLVM_aspace_bregx", operation, padding: None };
                let encoding = Encoding::new(Dialect::LlvmUser);
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

    /// Returns the location of a register's value in the caller. A computed value is an implicit location of the
    /// register's size; the location of an unrecoverable register is undefined.
    ///
    /// # Errors
    /// The errors of the rule. Unavailable for a return address without a rule in a row without a CFA: the default
    /// "same value" would make the callee its own caller.
    pub fn register(&self, register: DwarfReg) -> Result<Location, Error> {
        let Some(placed) = self.row.registers.get(&register) else {
            let Placement { rule, at, name } = &self.row.cfa;
            let error = |cause| Error { at: *at, op: name, cause };
            if *rule == CfaRule::Unspecified && register == self.row.return_address {
                return Err(error(Cause::NoCallFrame("no instruction defines the CFA")));
            }
            return self.own(register).map_err(error);
        };
        let evaluate = || {
            self.by_rule(register, placed).map_err(|cause| Error { at: placed.at, op: placed.name, cause })
        };
        self.answers.register_or(register, evaluate)
    }

    /// Returns the caller's value of a register, as an unsigned value of its width.
    ///
    /// # Errors
    /// The errors of [`Self::register`] and of reading that location.
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

    /// Traces the expression of the CFA's rule, if any.
    pub fn explain_cfa(&self, tracer: &mut dyn Tracer) {
        if let CfaRule::Expression(Ok(program)) = &self.row.cfa.rule {
            Evaluator::new(self).for_call_frames().traced(tracer).location(program, Focus::Wave, &[]);
        }
    }

    /// Traces the expression of a register's rule, if any; the CFA is on the stack at its start.
    pub fn explain_register(&self, register: DwarfReg, tracer: &mut dyn Tracer) {
        let Some(placed) = self.row.registers.get(&register) else { return };
        let Ok(asking) = self.asking_for(register) else { return };
        let inner = self.within(&asking);
        let Ok(cfa) = inner.cfa_entry() else { return };
        let mut evaluator = Evaluator::new(&inner).for_call_frames().traced(tracer);
        match &placed.rule {
            RegisterRule::Expression(Ok(program)) => {
                evaluator.location(program, Focus::Wave, &[cfa]);
            }
            RegisterRule::ValExpression(Ok(program)) => {
                evaluator.value(program, Focus::Wave, &[cfa]);
            }
            _ => {}
        }
    }

    fn by_rule(&self, register: DwarfReg, placed: &Placement<RegisterRule>) -> Result<Location, Cause> {
        let size = self.size(register)?;
        match &placed.rule {
            RegisterRule::Undefined => Ok(Location::undefined_by(self.lost(register, placed))),
            RegisterRule::SameValue => self.own(register),
            RegisterRule::Offset(bytes) => self.within(&self.asking_for(register)?).near_cfa(*bytes),
            RegisterRule::ValOffset(bytes) => {
                let location = self.within(&self.asking_for(register)?).near_cfa(*bytes)?;
                let address = location.offset.bytes.get(LaneId(0));
                let Storage::Memory { address_bits, .. } = location.storage else {
                    return Err(Cause::CallFrame("the CFA is not a byte in memory"));
                };
                if size.0 != u64::from(address_bits) {
                    let (of, found) = (None, u64::from(address_bits));
                    return Err(Cause::RuleSize { of, found, register, size: size.0 });
                }
                Ok(implicit(Number::from_limbs(Type::unsigned(size.0 as u32), &[address])))
            }
            RegisterRule::Register(other) => {
                let found = self.size(*other)?.0;
                if found != size.0 {
                    return Err(Cause::RuleSize { of: Some(*other), found, register, size: size.0 });
                }
                self.own(*other)
            }
            RegisterRule::Expression(program) => {
                let program = decoded(program)?;
                let asking = self.asking_for(register)?;
                let inner = self.within(&asking);
                let cfa = inner.cfa_entry()?;
                let found =
                    inner.location(program, &[cfa]).map_err(|error| inside("its expression", error))?;
                // A rule for some lanes leaves out the others.
                Ok(found.lost(self.lost(register, placed)))
            }
            RegisterRule::ValExpression(program) => {
                let program = decoded(program)?;
                let asking = self.asking_for(register)?;
                let inner = self.within(&asking);
                let cfa = inner.cfa_entry()?;
                let number =
                    inner.computed(program, &[cfa]).map_err(|error| inside("its expression", error))?;
                // The generic type has 64 bits, so no expression can match a 32-bit register exactly.
                let fits = number.ty() == Type::Generic && size.0 <= 64;
                if number.size() != size && !fits {
                    let (of, found) = (None, number.size().0);
                    return Err(Cause::RuleSize { of, found, register, size: size.0 });
                }
                Ok(implicit(Number::from_limbs(Type::unsigned(size.0 as u32), &number.limbs(LaneId(0)))))
            }
        }
    }

    /// The function of this frame does not preserve the register.
    fn lost(&self, register: DwarfReg, placed: &Placement<RegisterRule>) -> Origin {
        let why = WhyUndefined::Lost { register, frame: self.context.call_frame().frame_number() };
        Origin { at: placed.at, op: placed.name, within: None, why }
    }

    fn size(&self, register: DwarfReg) -> Result<BitSize, Cause> {
        let unknown = |reason| Cause::NoRegister { register, reason };
        self.context.machine().register_size(register).map_err(unknown)
    }

    fn own(&self, register: DwarfReg) -> Result<Location, Cause> {
        self.size(register).map(|size| Location::register(register, size))
    }

    /// Moves the CFA by bytes, without wrapping.
    fn near_cfa(&self, bytes: i128) -> Result<Location, Cause> {
        let mut location = self.cfa().map_err(|error| inside("the CFA", error))?;
        // Beyond 2^124 bytes the error has the nearest 128-bit number.
        let offset = (location.offset.get(LaneId(0)) as i128).saturating_add(bytes.saturating_mul(8));
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

    /// The same frame during the evaluation of a register.
    fn within<'a>(&'a self, asking: &'a Asking<'a>) -> Unwind<'a> {
        Unwind { context: self.context, row: self.row, answers: self.answers, asking: Some(asking) }
    }

    fn asking_for(&self, register: DwarfReg) -> Result<Asking<'_>, Cause> {
        let mut depth = 0;
        let mut next = self.asking;
        while let Some(asking) = next {
            depth += 1;
            if asking.register == register {
                return Err(Cause::CallFrame("the rule of a register asks for that register"));
            }
            if depth > MAX_CALL_DEPTH {
                return Err(Cause::Limit {
                    what: "rules inside one another",
                    limit: u64::from(MAX_CALL_DEPTH),
                });
            }
            next = asking.outer;
        }
        Ok(Asking { register, outer: self.asking })
    }

    fn location(&self, program: &Program, initial: &[Entry]) -> Result<Location, Error> {
        self.answers.check()?;
        let mut evaluator = Evaluator::new(self).for_call_frames();
        let groups = evaluator.location(program, Focus::Wave, initial);
        self.answers.spend(evaluator.worked());
        groups.into_iter().next().map_or_else(|| Ok(Location::undefined()), |group| group.result)
    }

    fn computed(&self, program: &Program, initial: &[Entry]) -> Result<Number, Error> {
        self.answers.check()?;
        let mut evaluator = Evaluator::new(self).for_call_frames();
        let groups = evaluator.value(program, Focus::Wave, initial);
        self.answers.spend(evaluator.worked());
        groups.into_iter().next().map_or_else(|| Ok(Number::generic(0)), |group| group.result)
    }
}

fn implicit(number: Number) -> Location {
    let storage = Storage::Implicit(Implicit::Number(Arc::new(number)));
    Location { storage, offset: Offset::ZERO }
}

/// The context of a rule's expression: the frame, with the caller's registers from the rules.
impl Context for Unwind<'_> {
    fn machine(&self) -> &dyn Machine {
        self.context.machine()
    }

    fn call_frame(&self) -> &dyn CallFrame {
        self
    }

    fn unit(&self) -> &dyn Unit {
        self.context.unit()
    }
}

impl CallFrame for Unwind<'_> {
    fn pc(&self) -> Option<Pc> {
        self.context.call_frame().pc()
    }

    fn cfa(&self) -> Answer<Location> {
        Self::cfa(self).map_err(ContextError::from)
    }

    fn lanes(&self) -> Answer<Option<Attribute>> {
        self.context.call_frame().lanes()
    }

    fn entry_register(&self, register: DwarfReg, _: BitSize) -> Answer<Location> {
        Self::register(self, register).map_err(ContextError::from)
    }

    fn loaded(&self, address: u64) -> Answer<u64> {
        self.context.call_frame().loaded(address)
    }
}
