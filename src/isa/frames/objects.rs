//! Objects of a realigned frame: stack arguments and the function's own objects.
//!
//! Situation: arguments without a register lie at the stack pointer of the function's entry. A function with an
//! over-aligned object rounds its frame pointer up and accesses such arguments by the base pointer s34. Clang 22 (-O0
//! to -O2) describes both kinds of objects by offsets from the frame pointer, as if it were not rounded. LLVM lays out
//! the arguments first and the function's own objects after them, so the offset distinguishes them.
//!
//! Consequence: the code must show the register of each accessed object. The highest offset from the stack pointer at
//! entry belongs to an argument, the lowest offset from the frame pointer to an own object.

use super::{Around, Pointers, Value};
use crate::isa::registers::{BASE_POINTER, FRAME_POINTER, RegisterFile, RegisterRange, STACK_POINTER};
use crate::isa::{
    Access, Computation, Control, Effects, Form, Instruction, Operation, ScalarOperand, Source,
};

/// Offsets of a realigned frame's objects, in bytes of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameObjects {
    /// The highest offset at which the code accesses an argument.
    pub last_argument: Option<u32>,
    /// The lowest offset at which the code accesses an object of the function.
    pub first_own: Option<u32>,
}

/// The origin of an object's offset.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Entry,
    Frame,
}

/// A register with the address of a lane's frame, before an addition.
type Holder = (RegisterRange, Origin);

impl FrameObjects {
    /// `code`: the function's instructions with the states around them. `frame`: the frame pointer's value in the
    /// function's body. `by_lane`: stack registers count bytes of a lane.
    pub(super) fn read<'c>(
        code: impl Iterator<Item = (&'c Instruction, &'c Around)>,
        frame: Value,
        by_lane: bool,
    ) -> Self {
        let mut found = Self::default();
        let mut holders: Vec<Holder> = Vec::new();
        for (one, state) in code {
            let (Some(before), Ok(effects)) = (state.before, one.effects()) else {
                holders.clear();
                continue;
            };
            if state.is_target {
                holders.clear();
            }
            let of = |range: RegisterRange| origin(before, range, frame);
            found.note_all(one, effects, &mut holders, of, by_lane);
            if effects.control != Control::Next {
                holders.clear();
            }
        }
        found
    }

    /// Notes the objects that an instruction accesses, or whose addresses it computes.
    fn note_all(
        &mut self,
        one: &Instruction,
        effects: &Effects,
        holders: &mut Vec<Holder>,
        of: impl Fn(RegisterRange) -> Option<Origin>,
        by_lane: bool,
    ) {
        let of_access = effects.access.as_ref().and_then(memory);
        if let Some((origin, offset)) = of_access.and_then(|(base, offset)| Some((of(base)?, offset))) {
            self.note(origin, offset);
        }
        let computation = one.computations().next();
        let sum = computation.and_then(sum);
        // The sum of a holder and a number is an object's address.
        let held = sum.and_then(|(_, from, _)| holders.iter().position(|(held, _)| *held == from));
        let held = held.map(|at| holders.swap_remove(at).1);
        let reads = one.reads(effects);
        let takes = computation.is_some_and(takes_address);
        holders.retain(|(holder, origin)| {
            let is_read = reads.contains(holder);
            // The offset is 0 if the first reading instruction does not add. A sum of registers may get it later.
            if is_read && takes {
                self.note(*origin, 0);
            }
            !is_read && !effects.writes.iter().any(|write| write.range.overlaps(*holder))
        });
        let Some(Computation { operation, to: Some(to), sources: [first, second, third], .. }) = computation
        else {
            return;
        };
        let source = |of: Source| of.register().filter(|range| range.count == 1);
        match (operation, sum, held) {
            // Converts bytes of the wave to bytes of a lane.
            (Operation::ShiftRight, ..) if second.constant().is_some() => {
                holders.extend(source(first).and_then(&of).map(|origin| (to, origin)));
            }
            (_, Some((.., number)), Some(origin)) => self.note(origin, number),
            (_, Some((to, from, number)), None) if by_lane && !is_stack(to) => {
                of(from).into_iter().for_each(|origin| self.note(origin, number));
            }
            (Operation::Move, ..) if by_lane && !is_stack(to) => {
                source(first).and_then(&of).into_iter().for_each(|origin| self.note(origin, 0));
            }
            // An element's address relative to the object.
            (Operation::ShiftAdd | Operation::ShiftOr, ..) if by_lane => {
                source(third).and_then(&of).into_iter().for_each(|origin| self.note(origin, 0));
            }
            _ => {}
        }
    }

    fn note(&mut self, origin: Origin, offset: u32) {
        match origin {
            Origin::Entry => self.last_argument = self.last_argument.max(Some(offset)),
            Origin::Frame => {
                self.first_own = Some(self.first_own.map_or(offset, |first| first.min(offset)));
            }
        }
    }
}

fn origin(state: Pointers, range: RegisterRange, frame: Value) -> Option<Origin> {
    let register = u8::try_from(range.first).ok().filter(|_| range.file == RegisterFile::Scalar)?;
    match state.scalar(register) {
        Value::Stack(0) if matches!(register, STACK_POINTER | BASE_POINTER) => Some(Origin::Entry),
        value if register == FRAME_POINTER && value == frame => Some(Origin::Frame),
        _ => None,
    }
}

/// The scalar base and the constant offset of an access to private memory.
fn memory(access: &Access) -> Option<(RegisterRange, u32)> {
    let (base, offset) = match access.form {
        Form::Scratch { scalar, offset, .. } => (scalar?, u32::try_from(offset).ok()?),
        Form::Buffer { index: None, scalar, offset, .. } => (scalar, offset),
        _ => return None,
    };
    match base {
        ScalarOperand::Register(range) => Some((range, offset)),
        _ => None,
    }
}

/// The result, the register and the number of a sum. An object's offset has no bits in common with an aligned address:
/// compilers also use a disjunction.
fn sum(of: Computation) -> Option<(RegisterRange, RegisterRange, u32)> {
    if !matches!(of.operation, Operation::Add | Operation::Or) {
        return None;
    }
    let (from, number) = match of.sources {
        [Source::Register(from), Source::Constant(number), _]
        | [Source::Constant(number), Source::Register(from), _] => (from, number),
        _ => return None,
    };
    (from.count == 1).then_some((of.to?, from, number as u32))
}

/// Whether an instruction uses an operand unchanged: moves, comparisons, and array element addresses.
fn takes_address(of: Computation) -> bool {
    use Operation::{Compare, Move, Select, ShiftAdd, ShiftOr};
    matches!(of.operation, Compare(..) | Move | Select | ShiftAdd | ShiftOr)
}

fn is_stack(register: RegisterRange) -> bool {
    let range = RegisterRange::new(
        RegisterFile::Scalar,
        STACK_POINTER.into(),
        u16::from(BASE_POINTER - STACK_POINTER) + 1,
    );
    range.overlaps(register)
}
