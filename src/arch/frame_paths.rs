//! Contents of the stack registers before each instruction of a function, along every path from its entry.

use std::collections::BTreeSet;

use super::frame_code::{CodePart, FunctionCode};
use super::instruction::{Arithmetic, Effect, Encoding, Operand};

/// Size of an instruction unit in bytes.
const DWORD: u64 = 4;

pub(super) const STACK: u8 = 32;
pub(super) const FRAME: u8 = 33;
pub(super) const BASE: u8 = 34;

/// Contents of a register in terms of the stack pointer at the function's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Unknown,
    Constant(u32),
    /// The stack pointer at entry, plus a number.
    Entry(u32),
    /// The same with bits cleared, plus a number.
    Rounded {
        add: u32,
        mask: u32,
        plus: u32,
    },
}

/// The stack pointer, the frame pointer and the base pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State([Value; 3]);

impl State {
    pub(super) fn of(self, register: u8) -> Value {
        let index = usize::from(register.wrapping_sub(STACK));
        self.0.get(index).copied().unwrap_or(Value::Unknown)
    }

    fn set(&mut self, register: u8, value: Value) {
        if let Some(slot) = self.0.get_mut(usize::from(register.wrapping_sub(STACK))) {
            *slot = value;
        }
    }

    fn operand(self, operand: Operand) -> Value {
        match operand {
            Operand::Sgpr(register) => self.of(register),
            Operand::Constant(number) => Value::Constant(number),
            Operand::Other => Value::Unknown,
        }
    }

    fn run(&mut self, effect: Effect) {
        match effect {
            Effect::Move { to, from } => self.set(to, self.operand(from)),
            Effect::Compute { to, how, left, right } => {
                self.set(to, compute(how, self.operand(left), self.operand(right)));
            }
            Effect::Writes { first, count } => {
                (first..first.saturating_add(count)).for_each(|register| self.set(register, Value::Unknown));
            }
            Effect::None | Effect::Branch { .. } | Effect::End | Effect::Unknown => {}
        }
    }

    /// Returns the values common to both states.
    fn merged(self, other: Self) -> Self {
        let mut merged = self;
        for (one, other) in merged.0.iter_mut().zip(other.0) {
            if *one != other {
                *one = Value::Unknown;
            }
        }
        merged
    }
}

fn compute(how: Arithmetic, left: Value, right: Value) -> Value {
    use Value::{Constant, Entry, Rounded, Unknown};
    match (how, left, right) {
        (Arithmetic::Add, Constant(left), Constant(right)) => Constant(left.wrapping_add(right)),
        (Arithmetic::Sub, Constant(left), Constant(right)) => Constant(left.wrapping_sub(right)),
        (Arithmetic::And, Constant(left), Constant(right)) => Constant(left & right),
        (Arithmetic::AndNot, Constant(left), Constant(right)) => Constant(left & !right),
        (Arithmetic::Add, value, Constant(number)) | (Arithmetic::Add, Constant(number), value) => {
            moved(value, number)
        }
        (Arithmetic::Sub, value, Constant(number)) => moved(value, number.wrapping_neg()),
        (Arithmetic::And, Entry(add), Constant(mask)) | (Arithmetic::And, Constant(mask), Entry(add)) => {
            Rounded { add, mask, plus: 0 }
        }
        (Arithmetic::AndNot, Entry(add), Constant(mask)) => Rounded { add, mask: !mask, plus: 0 },
        _ => Unknown,
    }
}

fn moved(value: Value, by: u32) -> Value {
    match value {
        Value::Entry(add) => Value::Entry(add.wrapping_add(by)),
        Value::Rounded { add, mask, plus } => Value::Rounded { add, mask, plus: plus.wrapping_add(by) },
        Value::Constant(_) | Value::Unknown => Value::Unknown,
    }
}

/// A function's code with an index for each of its dwords.
#[derive(Debug)]
pub(super) struct Layout<'c> {
    /// By address, without overlaps, each with the index of its first dword.
    parts: Vec<(CodePart<'c>, usize)>,
    /// Number of dwords of all parts.
    pub(super) count: usize,
}

impl<'c> Layout<'c> {
    /// The first one of overlapping parts counts.
    pub(super) fn new(parts: &[CodePart<'c>]) -> Self {
        let mut sorted: Vec<CodePart<'c>> = parts.to_vec();
        sorted.sort_by_key(|part| part.start);
        let mut layout = Self { parts: Vec::new(), count: 0 };
        for part in sorted {
            let end = layout.parts.last().map_or(0, |(last, _)| last.start + last.bytes.len() as u64);
            if part.start >= end && part.start.checked_add(part.bytes.len() as u64).is_some() {
                layout.parts.push((part, layout.count));
                layout.count += part.bytes.len() / DWORD as usize;
            }
        }
        layout
    }

    /// Returns the part that contains an address.
    fn part(&self, address: u64) -> Option<&(CodePart<'c>, usize)> {
        let after = self.parts.partition_point(|(part, _)| part.start <= address);
        let found = self.parts.get(after.checked_sub(1)?)?;
        (address - found.0.start < found.0.bytes.len() as u64).then_some(found)
    }

    pub(super) fn index(&self, address: u64) -> Option<usize> {
        let (part, first) = self.part(address)?;
        let offset = address - part.start;
        // A part may end within a dword.
        if !offset.is_multiple_of(DWORD) || part.bytes.len() as u64 - offset < DWORD {
            return None;
        }
        Some(first + usize::try_from(offset / DWORD).ok()?)
    }

    /// Returns the address of a dword and the code from it on.
    pub(super) fn code(&self, index: usize) -> Option<(u64, &'c [u8])> {
        let after = self.parts.partition_point(|(_, first)| *first <= index);
        let (part, first) = self.parts.get(after.checked_sub(1)?)?;
        let offset = (index - first) * DWORD as usize;
        Some((part.start + offset as u64, part.bytes.get(offset..)?))
    }

    /// Iterates over the address ranges of the parts, ends excluded.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.parts.iter().map(|(part, _)| (part.start, part.start + part.bytes.len() as u64))
    }
}

/// States before each dword of a function.
pub(super) struct Paths {
    pub(super) before: Vec<Option<State>>,
    /// Whether a branch targets a dword.
    pub(super) is_target: Vec<bool>,
    /// Whether a dword lies within an instruction on some path.
    inside: Vec<bool>,
    /// Address of the last instruction that sets the frame pointer to anything but 0.
    pub(super) frame_set: Option<u64>,
    /// Whether the first straight run of code computes the frame pointer from a hardware register: dynamic VGPRs.
    pub(super) reserves_memory: bool,
}

impl Paths {
    pub(super) fn follow(encoding: Encoding, function: FunctionCode<'_>, layout: &Layout<'_>) -> Self {
        let entry = if function.is_kernel { Value::Unknown } else { Value::Entry(0) };
        let first = State([entry, Value::Unknown, Value::Unknown]);
        let count = layout.count;
        let mut paths = Self {
            before: vec![None; count],
            is_target: vec![false; count],
            inside: vec![false; count],
            frame_set: None,
            reserves_memory: reserves_memory(encoding, function.entry, layout),
        };
        let mut work: BTreeSet<usize> = BTreeSet::new();
        let meet = |before: &mut Vec<Option<State>>, work: &mut BTreeSet<usize>, at: u64, state: State| {
            let at = layout.index(at)?;
            let known = before.get_mut(at)?;
            let merged = known.map_or(state, |known| known.merged(state));
            if *known != Some(merged) {
                *known = Some(merged);
                work.insert(at);
            }
            Some(at)
        };
        meet(&mut paths.before, &mut work, function.entry, first);
        // A state changes at most four times: three values can become unknown.
        while let Some(at) = work.pop_first() {
            let Some(mut state) = paths.before.get(at).copied().flatten() else { continue };
            let Some((address, code)) = layout.code(at) else { continue };
            let Some(instruction) = encoding.decode(code) else { continue };
            state.run(instruction.effect);
            // 0 is the start of a kernel's frame.
            if sets_frame(instruction.effect) && state.of(FRAME) != Value::Constant(0) {
                paths.frame_set = paths.frame_set.max(Some(address));
            }
            // Within one part: the instruction was decoded from its bytes.
            (at + 1..at + usize::from(instruction.size / 4)).for_each(|inside| {
                if let Some(inside) = paths.inside.get_mut(inside) {
                    *inside = true;
                }
            });
            let falls = !matches!(
                instruction.effect,
                Effect::End | Effect::Unknown | Effect::Branch { conditional: false, .. }
            );
            let Some(next) = address.checked_add(u64::from(instruction.size)) else { continue };
            if falls {
                meet(&mut paths.before, &mut work, next, state);
            }
            if let Effect::Branch { by, .. } = instruction.effect
                && let Some(target) = next.checked_add_signed(i64::from(by))
                && let Some(target) = meet(&mut paths.before, &mut work, target, state)
                && let Some(is_target) = paths.is_target.get_mut(target)
            {
                *is_target = true;
            }
        }
        paths
    }

    pub(super) fn is_inside(&self, index: usize) -> bool {
        self.before.get(index).is_some_and(Option::is_none) && self.inside.get(index) == Some(&true)
    }

    /// Returns the frame pointer's value in the function's body; a rounded stack pointer anywhere takes precedence.
    pub(super) fn frame(&self, register: u8) -> Option<Value> {
        let values = self.before.iter().flatten().map(|state| state.of(register));
        let mut rounded = None;
        let mut is_entry = false;
        for value in values {
            match value {
                Value::Rounded { plus: 0, .. } if rounded.is_some_and(|known| known != value) => return None,
                Value::Rounded { plus: 0, .. } => rounded = Some(value),
                Value::Entry(0) => is_entry = true,
                _ => {}
            }
        }
        rounded.or(is_entry.then_some(Value::Entry(0)))
    }
}

/// Whether the code before the first branch or call moves a hardware register, or on a condition a constant, to the
/// frame pointer. In dynamic VGPR mode a kernel keeps memory for the trap handler below its frame (LLVM,
/// `SIFrameLowering::emitEntryFunctionPrologue`): `s_getreg_b32 s33, hwreg(HW_REG_WAVE_HW_ID2, 8, 2)` and later
/// `s_cmovk_i32 s33, 0x1c0`.
fn reserves_memory(encoding: Encoding, entry: u64, layout: &Layout<'_>) -> bool {
    let mut at = entry;
    while let Some((_, code)) = layout.index(at).and_then(|index| layout.code(index)) {
        let Some(instruction) = encoding.decode(code) else { return false };
        match instruction.effect {
            Effect::Branch { .. } | Effect::End | Effect::Unknown => return false,
            _ if encoding.ends_with_call(code.get(..4).unwrap_or_default()) => return false,
            effect if sets_frame(effect) && encoding.is_conditional_constant(code) => return true,
            _ => {}
        }
        let Some(next) = at.checked_add(u64::from(instruction.size)) else { return false };
        at = next;
    }
    false
}

/// Whether an instruction writes the frame pointer.
pub(super) fn sets_frame(effect: Effect) -> bool {
    match effect {
        Effect::Move { to, .. } | Effect::Compute { to, .. } => to == FRAME,
        Effect::Writes { first, count } => (first..first.saturating_add(count)).contains(&FRAME),
        _ => false,
    }
}
