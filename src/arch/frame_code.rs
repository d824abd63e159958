//! Start of a function's stack frame at each of its instructions.
//!
//! Debug information names one frame register for the whole function. It holds the frame's start only between prologue
//! and epilogue; outside it is the caller's. The code itself shows the start: this module tracks the stack, frame and
//! base pointers along every path from the function's first instruction.
//!
//! Source: LLVM's AMDGPUUsage, "Non-Kernel Functions" and "Kernel Prolog"; frame setup of clang and flang 22.

use super::frame_objects::FrameObjects;
use super::frame_paths::{BASE, FRAME, Layout, Paths, STACK, State, Value};
use super::instruction::Encoding;
use super::processor::{Generation, Processor};

/// Maximum size of a function's code in bytes; the analysis keeps a state for each dword.
pub const MAX_FUNCTION_CODE: usize = 1 << 20;

/// Number of the scalar register with the stack pointer (calling convention).
pub const STACK_POINTER: u8 = STACK;
/// Number of the scalar register with the frame pointer (calling convention).
pub const FRAME_POINTER: u8 = FRAME;

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
    /// Start and end of each part of the code, ascending.
    parts: Vec<(u64, u64)>,
    /// Spans by start address, ascending. Each part begins one.
    spans: Vec<(u64, Span)>,
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

/// A part of a function's code.
#[derive(Clone, Copy, Debug)]
pub struct CodePart<'c> {
    /// Address of its first byte.
    pub start: u64,
    /// Its bytes.
    pub bytes: &'c [u8],
}

/// A function's code, and known facts of its frame.
#[derive(Clone, Copy, Debug)]
pub struct FunctionCode<'c> {
    /// The target processor.
    pub processor: Processor,
    /// Address of its first instruction.
    pub entry: u64,
    /// Its code, in any order.
    pub parts: &'c [CodePart<'c>],
    /// Number of the scalar register that debug information names as frame base.
    pub frame_register: u8,
    /// Whether it is a kernel.
    pub is_kernel: bool,
}

impl FrameCode {
    /// Whether the analysis tracks a scalar register.
    #[must_use]
    pub fn follows(register: u8) -> bool {
        matches!(register, STACK | FRAME)
    }

    /// Analyses a function's code.
    ///
    /// # Errors
    /// The reason that the analysis is impossible.
    pub fn read(function: FunctionCode<'_>) -> Result<Self, &'static str> {
        if !Self::follows(function.frame_register) {
            return Err("the frame register is none of the calling convention's");
        }
        let size = function.parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.bytes.len()));
        if size > MAX_FUNCTION_CODE {
            return Err("the function has more than 1 MiB of code");
        }
        let encoding = Encoding::of(function.processor)
            .ok_or("the encoding of the processor's instructions is not known here")?;
        let layout = Layout::new(function.parts);
        if layout.index(function.entry).is_none() {
            return Err("the function has no code at its first address");
        }
        let paths = Paths::follow(encoding, function, &layout);
        let frame = paths.frame(function.frame_register);
        let parts: Vec<(u64, u64)> = layout.ranges().collect();
        let mut spans: Vec<(u64, Span)> = Vec::new();
        for (index, state) in paths.before.iter().enumerate() {
            // A wave's PC is never at a dword within an instruction.
            let Some((address, _)) = layout.code(index).filter(|_| !paths.is_inside(index)) else { continue };
            let span = match function.is_kernel {
                true => of_kernel(&paths, function.frame_register, address, *state),
                false => of_function(function.frame_register, frame, *state),
            };
            let begins = parts.binary_search_by_key(&address, |(start, _)| *start).is_ok();
            if begins || spans.last().is_none_or(|(_, last)| *last != span) {
                spans.push((address, span));
            }
        }
        let by_lane = matches!(
            function.processor.generation,
            Generation::Gfx940 | Generation::Gfx11 | Generation::Gfx12 | Generation::Gfx125
        );
        let rounded = frame.filter(|frame| matches!(frame, Value::Rounded { .. }) && !function.is_kernel);
        let objects = rounded.map(|frame| FrameObjects::read(encoding, &layout, &paths, frame, by_lane));
        let reserves_memory = function.is_kernel && paths.reserves_memory;
        Ok(Self { parts, spans, objects, reserves_memory })
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
        let part = self.parts.partition_point(|(start, _)| *start <= address).checked_sub(1)?;
        self.parts.get(part).filter(|(_, end)| address < *end)?;
        let after = self.spans.partition_point(|(from, _)| *from <= address);
        Some(self.spans.get(after.checked_sub(1)?)?.1)
    }
}

/// The span of one instruction of a function other than a kernel. `frame`: the frame pointer's value in the body.
fn of_function(register: u8, frame: Option<Value>, state: Option<State>) -> Span {
    let unknown = |why| Span { start: FrameStart::Unknown(why), is_held: false, entry: None };
    let Some(state) = state else {
        return unknown("no path from the function's entry leads here, as far as its code can be followed");
    };
    let from_entry = |add, mask| {
        let by = |register| match state.of(register) {
            Value::Entry(by) => Some((register, by)),
            _ => None,
        };
        let found = || [STACK, BASE, FRAME].into_iter().filter_map(by);
        let (register, by) = found().find(|(_, by)| *by == 0).or_else(|| found().next())?;
        Some(computed(register, u32::wrapping_sub(add, by), mask))
    };
    let entry = from_entry(0, u32::MAX);
    let at = |start| Span { start, is_held: start == FrameStart::Register(register), entry };
    if register == STACK {
        let lost = "the stack pointer s32 is no longer the one at the function's entry";
        return entry.map_or_else(|| unknown(lost), at);
    }
    let Some(frame) = frame else {
        return unknown("the function's code does not set the frame register s33 from the stack pointer");
    };
    let start = match (state.of(FRAME), frame) {
        (held, frame) if held == frame => Some(FrameStart::Register(FRAME)),
        (Value::Rounded { add, mask, plus }, Value::Rounded { add: same, mask: bits, .. })
            if (add, mask) == (same, bits) =>
        {
            Some(computed(FRAME, plus.wrapping_neg(), u32::MAX))
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

/// The span of one instruction of a kernel.
fn of_kernel(paths: &Paths, register: u8, address: u64, state: Option<State>) -> Span {
    let at = |start, is_held| Span { start, is_held, entry: None };
    match paths.frame_set.filter(|_| register == FRAME) {
        None => at(FrameStart::Zero, state.is_some_and(|state| state.of(register) == Value::Constant(0))),
        // The trap handler uses memory below the kernel's frame: dynamic VGPRs.
        Some(last) if address > last => at(FrameStart::Register(FRAME), true),
        Some(_) => at(FrameStart::Unknown("the kernel has not set its frame register s33 yet"), false),
    }
}

/// Whether code ends with a call, so that the address past it may be a return address; `None` if unknown.
#[must_use]
pub fn ends_with_call(processor: Processor, code: &[u8]) -> Option<bool> {
    Some(Encoding::of(processor)?.ends_with_call(code))
}
