//! Where the stack frame of a function begins, at each of its instructions.
//!
//! Debug information names one register for the whole function. That register holds the frame's start only from the prologue
//! to the epilogue; before and after it is the caller's. The code itself shows it: this module follows the stack pointer, the
//! frame pointer and the base pointer along every path from the function's first instruction, through all parts of its code.
//!
//! Source: LLVM's AMDGPUUsage, "Non-Kernel Functions" and "Kernel Prolog"; frames as clang and flang 22 set them up.

use super::frame_objects::FrameObjects;
use super::frame_paths::{BASE, FRAME, Layout, Paths, STACK, State, Value};
use super::instruction::Encoding;
use super::processor::{Generation, Processor};

/// Code of a function that is followed, in bytes: a state for each of its dwords is kept meanwhile.
pub const MAX_FUNCTION_CODE: usize = 1 << 20;

/// The stack pointer of the calling convention, by its number among the scalar registers.
pub const STACK_POINTER: u8 = STACK;
/// The frame pointer of the calling convention.
pub const FRAME_POINTER: u8 = FRAME;

/// Where the frame begins, in the units of the stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStart {
    /// At 0: the frame of a kernel.
    Zero,
    /// At the contents of that scalar register.
    Register(u8),
    /// At the contents of a scalar register, moved and rounded: `(register + add) & mask`.
    Rounded {
        /// The number of the scalar register.
        register: u8,
        /// The addend, modulo 2^32.
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
    /// Start and end of each part of the code, ascending.
    parts: Vec<(u64, u64)>,
    /// From each address on, ascending. Each part begins one.
    spans: Vec<(u64, Span)>,
    /// Where the frame pointer is rounded up: arguments on the stack are counted from the stack pointer at entry.
    objects: Option<FrameObjects>,
}

/// The state for a run of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: FrameStart,
    /// Whether the frame register holds it.
    is_held: bool,
    /// Where the stack pointer of the function's entry leads; `None`: no register shows it.
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

/// A function's code and what is known of its frame.
#[derive(Clone, Copy, Debug)]
pub struct FunctionCode<'c> {
    /// The processor that it is for.
    pub processor: Processor,
    /// Address of its first instruction.
    pub entry: u64,
    /// Its code, in any order.
    pub parts: &'c [CodePart<'c>],
    /// The scalar register that debug information names as frame base, by its number.
    pub frame_register: u8,
    /// Whether it is a kernel.
    pub is_kernel: bool,
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
            // The dwords within an instruction are no place where a wave can be.
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
            Generation::Gfx940 | Generation::Gfx11 | Generation::Gfx12
        );
        let rounded = frame.filter(|frame| matches!(frame, Value::Rounded { .. }) && !function.is_kernel);
        let objects = rounded.map(|frame| FrameObjects::read(encoding, &layout, &paths, frame, by_lane));
        Ok(Self { parts, spans, objects })
    }

    /// The spans of addresses that are kept of it, each of some 40 bytes.
    #[must_use]
    pub fn spans(&self) -> usize {
        self.spans.len()
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

    /// Of a function that rounds its frame pointer up: its objects, and where arguments on the stack begin at an address.
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

/// The span of one instruction of a function other than a kernel. `frame`: its frame pointer's value in the body.
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
        // The trap handler has memory below the kernel's frame: dynamic VGPRs.
        Some(last) if address > last => at(FrameStart::Register(FRAME), true),
        Some(_) => at(FrameStart::Unknown("the kernel has not set its frame register s33 yet"), false),
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
