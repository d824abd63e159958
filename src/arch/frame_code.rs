//! Where the stack frame of a function begins, at each of its instructions.
//!
//! Debug information names one register for the whole function. That register holds the frame's start only from the prologue
//! to the epilogue; before and after it is the caller's. The code itself shows it: this module follows the stack pointer, the
//! frame pointer and the base pointer along every path from the function's first instruction.
//!
//! Source: LLVM's AMDGPUUsage, "Non-Kernel Functions" and "Kernel Prolog"; frames as clang and flang 22 set them up.

use std::collections::BTreeSet;

use super::instruction::{Arithmetic, Effect, Encoding, Operand};
use super::processor::{Generation, Processor};

/// Code of a function that is followed, in bytes: a state for each of its dwords is kept meanwhile.
const MAX_CODE: usize = 1 << 20;
/// Instructions have dwords.
const DWORD: usize = 4;

/// The stack pointer of the calling convention, by its number among the scalar registers.
pub const STACK_POINTER: u8 = STACK;
/// The frame pointer of the calling convention.
pub const FRAME_POINTER: u8 = FRAME;

const STACK: u8 = 32;
const FRAME: u8 = 33;
const BASE: u8 = 34;

/// Where the frame begins, in the units of the stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStart {
    /// At 0: the frame of a kernel.
    Zero,
    /// At the contents of that scalar register.
    Register(u8),
    /// At the contents of a scalar register, rounded up: `(register + add) & mask`.
    Rounded {
        /// The number of the scalar register.
        register: u8,
        /// What is added, modulo 2^32.
        add: u32,
        /// The bits that are kept.
        mask: u32,
    },
    /// Not known here, and why.
    Unknown(&'static str),
}

/// Where the frame of one function begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameCode {
    start: u64,
    end: u64,
    /// From each address on, ascending.
    spans: Vec<(u64, Span)>,
}

/// What holds for a run of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: FrameStart,
    /// Whether the frame register holds it.
    is_held: bool,
}

/// A function's code and what is known of its frame.
#[derive(Clone, Copy, Debug)]
pub struct FunctionCode<'c> {
    /// The processor that it is for.
    pub processor: Processor,
    /// Address of its first instruction.
    pub start: u64,
    /// Its bytes.
    pub bytes: &'c [u8],
    /// The scalar register that debug information names as frame base, by its number.
    pub frame_register: u8,
    /// Whether it is a kernel.
    pub is_kernel: bool,
}

/// Contents of a register in terms of the stack pointer at the function's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Unknown,
    Constant(u32),
    /// The stack pointer at entry, plus a number.
    Entry(u32),
    /// The same with bits cleared.
    Rounded {
        add: u32,
        mask: u32,
    },
}

/// The stack pointer, the frame pointer and the base pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State([Value; 3]);

impl State {
    fn of(self, register: u8) -> Value {
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

    /// What is the same in both.
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
        (Arithmetic::Add, Entry(add), Constant(number)) | (Arithmetic::Add, Constant(number), Entry(add)) => {
            Entry(add.wrapping_add(number))
        }
        (Arithmetic::Sub, Entry(add), Constant(number)) => Entry(add.wrapping_sub(number)),
        (Arithmetic::And, Entry(add), Constant(mask)) | (Arithmetic::And, Constant(mask), Entry(add)) => {
            Rounded { add, mask }
        }
        (Arithmetic::Add, Constant(left), Constant(right)) => Constant(left.wrapping_add(right)),
        (Arithmetic::Sub, Constant(left), Constant(right)) => Constant(left.wrapping_sub(right)),
        (Arithmetic::And, Constant(left), Constant(right)) => Constant(left & right),
        _ => Unknown,
    }
}

impl FrameCode {
    /// Whether a scalar register is one whose contents are followed.
    #[must_use]
    pub fn follows(register: u8) -> bool {
        matches!(register, STACK | FRAME)
    }

    /// Follows a function's code.
    ///
    /// # Errors
    /// The code cannot be followed, and why.
    pub fn read(function: FunctionCode<'_>) -> Result<Self, &'static str> {
        if !Self::follows(function.frame_register) {
            return Err("the frame register is none of the calling convention's");
        }
        if function.bytes.len() > MAX_CODE {
            return Err("the function has more than 1 MiB of code");
        }
        let encoding = Encoding::of(function.processor)
            .ok_or("the encoding of the processor's instructions is not known here")?;
        let paths = Paths::follow(encoding, function);
        let whole = function.bytes.len() as u64;
        let end = function.start.checked_add(whole).ok_or("its code goes past the last address")?;
        let mut spans: Vec<(u64, Span)> = Vec::new();
        let frame = paths.frame(function.frame_register);
        for (index, state) in paths.before.iter().enumerate() {
            // The dwords within an instruction are no place where a wave can be.
            if paths.is_inside(index) {
                continue;
            }
            let span = match function.is_kernel {
                true => paths.of_kernel(function.frame_register, index, *state),
                false => of_function(function.frame_register, frame, *state),
            };
            if spans.last().is_none_or(|(_, last)| *last != span) {
                spans.push((function.start + (index * DWORD) as u64, span));
            }
        }
        Ok(Self { start: function.start, end, spans })
    }

    /// Where the frame begins when the instruction at an address is the next one.
    #[must_use]
    pub fn at(&self, address: u64) -> FrameStart {
        let outside = FrameStart::Unknown("the address is outside of the function");
        self.span(address).map_or(outside, |span| span.start)
    }

    /// Whether the register that debug information names leads to the frame there.
    #[must_use]
    pub fn is_held(&self, address: u64) -> bool {
        self.span(address).is_some_and(|span| span.is_held)
    }

    fn span(&self, address: u64) -> Option<Span> {
        if !(self.start..self.end).contains(&address) {
            return None;
        }
        let after = self.spans.partition_point(|(from, _)| *from <= address);
        Some(self.spans.get(after.checked_sub(1)?)?.1)
    }
}

/// What holds at one instruction of a function that is no kernel. `frame`: what its frame pointer holds in its body.
fn of_function(register: u8, frame: Option<Value>, state: Option<State>) -> Span {
    let unknown = |why| Span { start: FrameStart::Unknown(why), is_held: false };
    let at = |start| Span { start, is_held: start == FrameStart::Register(register) };
    let Some(state) = state else {
        return unknown("no path from the function's entry leads here, as far as its code can be followed");
    };
    if register == STACK {
        return match state.of(STACK) {
            Value::Entry(0) => at(FrameStart::Register(STACK)),
            _ => unknown("the stack pointer s32 is no longer the one at the function's entry"),
        };
    }
    let Some(frame) = frame else {
        return unknown("the function's code does not set the frame register s33 from the stack pointer");
    };
    if state.of(FRAME) == frame {
        return at(FrameStart::Register(FRAME));
    }
    let entry = [STACK, BASE].into_iter().find(|register| state.of(*register) == Value::Entry(0));
    match (entry, frame) {
        (Some(register), Value::Entry(0)) => at(FrameStart::Register(register)),
        (Some(register), Value::Rounded { add, mask }) => at(FrameStart::Rounded { register, add, mask }),
        _ => unknown(
            "the frame register s33 is the caller's here: the prologue has not set it, or the epilogue restored it",
        ),
    }
}

/// States before each dword of a function.
struct Paths {
    before: Vec<Option<State>>,
    /// Indexes of the dwords within instructions that a path leads through.
    inside: Vec<bool>,
    /// The last instruction that sets the frame pointer to anything but 0, by its dword.
    frame_set: Option<usize>,
}

impl Paths {
    fn follow(encoding: Encoding, function: FunctionCode<'_>) -> Self {
        let count = function.bytes.len() / DWORD;
        let entry = if function.is_kernel { Value::Unknown } else { Value::Entry(0) };
        let first = State([entry, Value::Unknown, Value::Unknown]);
        let mut paths = Self { before: vec![None; count], inside: vec![false; count], frame_set: None };
        let mut work: BTreeSet<usize> = BTreeSet::new();
        let meet = |before: &mut Vec<Option<State>>, work: &mut BTreeSet<usize>, at: usize, state: State| {
            let Some(known) = before.get_mut(at) else { return };
            let merged = known.map_or(state, |known| known.merged(state));
            if *known != Some(merged) {
                *known = Some(merged);
                work.insert(at);
            }
        };
        meet(&mut paths.before, &mut work, 0, first);
        // A state changes four times at the most: three values can become unknown.
        while let Some(at) = work.pop_first() {
            let Some(mut state) = paths.before.get(at).copied().flatten() else { continue };
            let code = function.bytes.get(at * DWORD..).unwrap_or_default();
            let Some(instruction) = encoding.decode(code) else { continue };
            state.run(instruction.effect);
            // 0 is where the frame of a kernel begins.
            if sets_frame(instruction.effect) && state.of(FRAME) != Value::Constant(0) {
                paths.frame_set = paths.frame_set.max(Some(at));
            }
            let next = at + usize::from(instruction.size) / DWORD;
            (at + 1..next).for_each(|inside| {
                if let Some(inside) = paths.inside.get_mut(inside) {
                    *inside = true;
                }
            });
            let falls = !matches!(
                instruction.effect,
                Effect::End | Effect::Unknown | Effect::Branch { conditional: false, .. }
            );
            if falls {
                meet(&mut paths.before, &mut work, next, state);
            }
            if let Effect::Branch { by, .. } = instruction.effect {
                let target = i64::try_from(next).ok().and_then(|next| next.checked_add(i64::from(by / 4)));
                if let Some(target) = target.and_then(|target| usize::try_from(target).ok()) {
                    meet(&mut paths.before, &mut work, target, state);
                }
            }
        }
        paths
    }

    /// What holds at one instruction of a kernel.
    fn of_kernel(&self, register: u8, index: usize, state: Option<State>) -> Span {
        match self.frame_set.filter(|_| register == FRAME) {
            None => {
                let is_held = state.is_some_and(|state| state.of(register) == Value::Constant(0));
                Span { start: FrameStart::Zero, is_held }
            }
            // The trap handler has memory below the kernel's frame: dynamic VGPRs.
            Some(last) if index > last => Span { start: FrameStart::Register(FRAME), is_held: true },
            Some(_) => {
                let start = FrameStart::Unknown("the kernel has not set its frame register s33 yet");
                Span { start, is_held: false }
            }
        }
    }

    fn is_inside(&self, index: usize) -> bool {
        self.before.get(index).is_some_and(Option::is_none) && self.inside.get(index) == Some(&true)
    }

    /// What the frame pointer holds in the function's body: the rounded stack pointer where it is rounded anywhere.
    fn frame(&self, register: u8) -> Option<Value> {
        let values = self.before.iter().flatten().map(|state| state.of(register));
        let mut rounded = None;
        let mut is_entry = false;
        for value in values {
            match value {
                Value::Rounded { .. } if rounded.is_some_and(|known| known != value) => return None,
                Value::Rounded { .. } => rounded = Some(value),
                Value::Entry(0) => is_entry = true,
                _ => {}
            }
        }
        rounded.or(is_entry.then_some(Value::Entry(0)))
    }
}

fn sets_frame(effect: Effect) -> bool {
    match effect {
        Effect::Move { to, .. } | Effect::Compute { to, .. } => to == FRAME,
        Effect::Writes { first, count } => (first..first.saturating_add(count)).contains(&FRAME),
        _ => false,
    }
}

/// Whether code ends with a call, so that the address behind it can be a return address; `None` where the processor's calls are
/// not known here.
#[must_use]
pub fn ends_with_call(processor: Processor, code: &[u8]) -> Option<bool> {
    let encoding = match processor.generation {
        // Calls of gfx1250 have the codes of gfx12.
        Generation::Gfx125 => Processor::named("gfx1200").and_then(Encoding::of)?,
        _ => Encoding::of(processor)?,
    };
    Some(encoding.ends_with_call(code))
}
