//! Start of a function's stack frame at each of its instructions.
//!
//! Debug information names one frame register for the whole function. It holds the frame's start only between prologue
//! and epilogue; outside it is the caller's. The code itself shows the start: the values of the stack, frame and base
//! pointers along every path from the function's first instruction, as [`super::callers`] follows them.
//!
//! Source: LLVM's AMDGPUUsage, "Non-Kernel Functions" and "Kernel Prolog"; frame setup of clang and flang 22.

mod ends;
mod objects;

pub use ends::{FrameSetup, FunctionExit, frame_setup, function_exit};
pub use objects::FrameObjects;

use super::Instruction;
use super::callers::{Around, CodeTarget, Paths, Pointers, Value};
use super::registers::{BASE_POINTER, FRAME_POINTER, RegisterFile, RegisterRange, STACK_POINTER};
use super::{Control, UndecidedError};

/// Start of the frame, in the units of the stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStart {
    /// 0: the frame of a kernel.
    Zero,
    /// The contents of a scalar register.
    Register(u8),
    /// The contents of a scalar register, moved and rounded: `(register + add) & mask`.
    Rounded {
        /// The number of the scalar register.
        register: u8,
        /// The addend, modulo 2^32.
        add: u32,
        /// The kept bits.
        mask: u32,
    },
    /// Unknown, with the reason.
    Unknown(&'static str),
}

/// The start of the frame throughout one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameCode {
    /// Spans by start address, ascending; `None`: no code of the function.
    spans: Vec<(u64, Option<Span>)>,
    /// Objects of a realigned frame, whose stack arguments are relative to the stack pointer at entry.
    objects: Option<FrameObjects>,
    reserves_memory: bool,
}

/// The state in a run of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: FrameStart,
    /// Whether the frame register holds the frame's start.
    is_held: bool,
    /// The stack pointer at the function's entry; `None`: no register gives it.
    entry: Option<FrameStart>,
}

/// A function, and known facts of its frame.
#[derive(Clone, Copy, Debug)]
pub struct FunctionCode<'c> {
    /// Its instructions by address, of all parts.
    pub code: &'c [Instruction],
    /// Address of its first instruction.
    pub entry: u64,
    /// The GPU.
    pub target: CodeTarget,
    /// Number of the scalar register that debug information names as frame base.
    pub frame_register: u8,
    /// Whether it is a kernel.
    pub is_kernel: bool,
}

impl FrameCode {
    /// Whether the analysis tracks a scalar register.
    #[must_use]
    pub fn follows(register: u8) -> bool {
        matches!(register, STACK_POINTER | FRAME_POINTER)
    }

    /// Analyses a function's code.
    ///
    /// # Errors
    /// The function has no instruction at its entry, or its paths are too many.
    pub fn read(function: FunctionCode<'_>) -> Result<Self, UndecidedError> {
        let FunctionCode { code, frame_register, is_kernel, target, .. } = function;
        let stack = if is_kernel { Value::Unknown } else { Value::Stack(0) };
        let states = Paths::follow(code, function.entry, target, stack)?.around();
        let followed = || code.iter().zip(&states);
        let frame = frame(frame_register, &states);
        // 0 is the start of a kernel's frame.
        let is_start = |after: Pointers| after.scalar(FRAME_POINTER) == Value::Constant(0);
        let sets = |(one, state): &(&Instruction, &Around)| {
            sets_frame(one) && state.after.is_some_and(|after| !is_start(after))
        };
        let last_set = followed().rev().find(sets).map(|(one, _)| one.address);
        let mut spans: Vec<(u64, Option<Span>)> = Vec::new();
        let mut end = None;
        for (one, state) in followed() {
            if let Some(end) = end.filter(|end| *end != one.address) {
                spans.push((end, None));
            }
            let span = match is_kernel {
                true => of_kernel(last_set, frame_register, one.address, state.before),
                false => of_function(frame_register, frame, state.before),
            };
            if spans.last().is_none_or(|(_, last)| *last != Some(span)) {
                spans.push((one.address, Some(span)));
            }
            end = Some(one.end());
        }
        spans.extend(end.map(|end| (end, None)));
        let rounded = frame.filter(|frame| matches!(frame, Value::Rounded { .. }) && !is_kernel);
        let objects = rounded.map(|frame| FrameObjects::read(followed(), frame, !target.buffer_scratch));
        let reserves_memory = is_kernel && reserves_memory(code, function.entry);
        Ok(Self { spans, objects, reserves_memory })
    }

    /// Number of kept spans, each about 40 bytes.
    #[must_use]
    pub fn spans(&self) -> usize {
        self.spans.len()
    }

    /// Whether a kernel computes its frame pointer before its first branch or call. It then keeps memory for the trap
    /// handler below its frame, as in dynamic VGPR mode of GFX12.
    #[must_use]
    pub fn reserves_memory(&self) -> bool {
        self.reserves_memory
    }

    /// Returns the start of the frame before the instruction at an address.
    #[must_use]
    pub fn at(&self, address: u64) -> FrameStart {
        let outside = FrameStart::Unknown("the address is outside of the function");
        self.span(address).map_or(outside, |span| span.start)
    }

    /// Whether the frame register of the debug information is valid at an address.
    #[must_use]
    pub fn is_held(&self, address: u64) -> bool {
        self.span(address).is_some_and(|span| span.is_held)
    }

    /// Returns the objects of a realigned frame, and the start of the stack arguments at an address.
    #[must_use]
    pub fn objects(&self, address: u64) -> Option<(FrameObjects, FrameStart)> {
        let unknown = FrameStart::Unknown("no register shows the stack pointer of the function's entry");
        Some((self.objects?, self.span(address).and_then(|span| span.entry).unwrap_or(unknown)))
    }

    fn span(&self, address: u64) -> Option<Span> {
        let after = self.spans.partition_point(|(from, _)| *from <= address);
        self.spans.get(after.checked_sub(1)?)?.1
    }
}

/// The frame pointer's value in the function's body; a rounded stack pointer anywhere takes precedence.
fn frame(register: u8, states: &[Around]) -> Option<Value> {
    let (mut rounded, mut is_entry, mut is_unclear) = (None, false, false);
    for before in states.iter().filter_map(|state| state.before) {
        match before.scalar(register) {
            value @ Value::Rounded { plus: 0, .. } => {
                is_unclear |= rounded.is_some_and(|known| known != value);
                rounded = Some(value);
            }
            Value::Stack(0) => is_entry = true,
            _ => {}
        }
    }
    rounded.or(is_entry.then_some(Value::Stack(0))).filter(|_| !is_unclear)
}

/// The span of one instruction of a function other than a kernel. `frame`: the frame pointer's value in the body.
fn of_function(register: u8, frame: Option<Value>, state: Option<Pointers>) -> Span {
    let unknown = |why| Span { start: FrameStart::Unknown(why), is_held: false, entry: None };
    let Some(state) = state else {
        return unknown("no path from the function's entry leads here, as far as its code can be followed");
    };
    let from_entry = |add, mask| {
        let by = |register| match state.scalar(register) {
            Value::Stack(by) => Some((register, by)),
            _ => None,
        };
        let found = || [STACK_POINTER, BASE_POINTER, FRAME_POINTER].into_iter().filter_map(by);
        let (register, by) = found().find(|(_, by)| *by == 0).or_else(|| found().next())?;
        Some(computed(register, u32::wrapping_sub(add, by), mask))
    };
    let entry = from_entry(0, u32::MAX);
    let at = |start| Span { start, is_held: start == FrameStart::Register(register), entry };
    if register == STACK_POINTER {
        let lost = "the stack pointer s32 is no longer the one at the function's entry";
        return entry.map_or_else(|| unknown(lost), at);
    }
    let Some(frame) = frame else {
        return unknown("the function's code does not set the frame register s33 from the stack pointer");
    };
    let start = match (state.scalar(FRAME_POINTER), frame) {
        (held, frame) if held == frame => Some(FrameStart::Register(FRAME_POINTER)),
        (Value::Rounded { add, mask, plus }, Value::Rounded { add: same, mask: bits, .. })
            if (add, mask) == (same, bits) =>
        {
            Some(computed(FRAME_POINTER, plus.wrapping_neg(), u32::MAX))
        }
        (_, Value::Rounded { add, mask, .. }) => from_entry(add, mask),
        _ => entry,
    };
    let lost = "the frame register s33 is the caller's here: the prologue has not set it, or the epilogue restored it";
    start.map_or_else(|| unknown(lost), at)
}

fn computed(register: u8, add: u32, mask: u32) -> FrameStart {
    match (add, mask) {
        (0, u32::MAX) => FrameStart::Register(register),
        _ => FrameStart::Rounded { register, add, mask },
    }
}

/// The span of one instruction of a kernel. `last_set`: the last instruction that sets the frame register to anything
/// but 0.
fn of_kernel(last_set: Option<u64>, register: u8, address: u64, state: Option<Pointers>) -> Span {
    let at = |start, is_held| Span { start, is_held, entry: None };
    match last_set.filter(|_| register == FRAME_POINTER) {
        None => at(FrameStart::Zero, state.is_some_and(|state| state.scalar(register) == Value::Constant(0))),
        // The trap handler uses memory below the kernel's frame: dynamic VGPRs.
        Some(last) if address > last => at(FrameStart::Register(FRAME_POINTER), true),
        Some(_) => at(FrameStart::Unknown("the kernel has not set its frame register s33 yet"), false),
    }
}

/// Whether an instruction writes the frame pointer.
fn sets_frame(one: &Instruction) -> bool {
    const RANGE: RegisterRange = RegisterRange::new(RegisterFile::Scalar, FRAME_POINTER as u16, 1);
    one.effects().is_ok_and(|effects| effects.writes.iter().any(|write| write.range.overlaps(RANGE)))
}

/// The instructions from an address on, up to the first branch or call. `at`: the instruction at an address.
fn straight(at: impl Fn(u64) -> Option<Instruction>, entry: u64) -> impl Iterator<Item = Instruction> {
    let is_next = |one: &Instruction| one.effects().is_ok_and(|effects| effects.control == Control::Next);
    std::iter::successors(at(entry), move |one| at(one.end())).take_while(is_next)
}

/// Whether the code before the first branch or call moves a hardware register, or on a condition a constant, to the
/// frame pointer. In dynamic VGPR mode a kernel keeps memory for the trap handler below its frame (LLVM,
/// `SIFrameLowering::emitEntryFunctionPrologue`): `s_getreg_b32 s33, hwreg(HW_REG_WAVE_HW_ID2, 8, 2)` and later
/// `s_cmovk_i32 s33, 0x1c0`.
fn reserves_memory(code: &[Instruction], entry: u64) -> bool {
    let is_it =
        |one: &Instruction| matches!(one.mnemonic(), "s_getreg_b32" | "s_cmovk_i32") && sets_frame(one);
    let index = |address: u64| code.binary_search_by_key(&address, |one| one.address).ok();
    straight(|address| code.get(index(address)?).cloned(), entry).any(|one| is_it(&one))
}
