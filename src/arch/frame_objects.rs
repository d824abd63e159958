//! Objects of a realigned frame: stack arguments and the function's own objects.
//!
//! Situation: arguments without a register lie at the stack pointer of the function's entry. A function with an
//! over-aligned object rounds its frame pointer up and accesses such arguments by the base pointer s34. Clang 22 (-O0
//! to -O2) describes both kinds of objects by offsets from the frame pointer, as if it were not rounded. LLVM lays out
//! the arguments first and the function's own objects after them, so the offset distinguishes them.
//!
//! Consequence: the code must show the register of each accessed object. The highest offset from the stack pointer at
//! entry belongs to an argument, the lowest offset from the frame pointer to an own object.

use super::frame_access::{Access, Holder};
use super::frame_paths::{BASE, FRAME, Layout, Paths, STACK, State, Value};
use super::instruction::{Effect, Encoding, Operand};

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

fn origin(state: State, register: u8, frame: Value) -> Option<Origin> {
    match state.of(register) {
        Value::Entry(0) if matches!(register, STACK | BASE) => Some(Origin::Entry),
        value if register == FRAME && value == frame => Some(Origin::Frame),
        _ => None,
    }
}

impl FrameObjects {
    /// `frame`: the frame pointer's value in the function's body. `by_lane`: stack registers count bytes of a lane.
    pub(super) fn read(
        encoding: Encoding,
        layout: &Layout<'_>,
        paths: &Paths,
        frame: Value,
        by_lane: bool,
    ) -> Self {
        let mut found = Self::default();
        // Registers with the address of a lane's frame, before an addition.
        let mut holders: Vec<(Holder, Origin)> = Vec::new();
        for (index, state) in paths.before.iter().enumerate() {
            if paths.is_inside(index) {
                continue;
            }
            let instruction = layout.code(index).and_then(|(_, code)| Some((code, encoding.decode(code)?)));
            let (Some(state), Some((code, instruction))) = (*state, instruction) else {
                holders.clear();
                continue;
            };
            if paths.is_target.get(index) == Some(&true) {
                holders.clear();
            }
            let of = |register| origin(state, register, frame);
            let access = encoding.access(code);
            let held = match access {
                Some(Access::Add { from, .. }) => holders.iter().position(|(held, _)| *held == from),
                _ => None,
            };
            let held = held.map(|at| holders.swap_remove(at).1);
            holders.retain(|(holder, origin)| {
                let is_read = encoding.reads(code, *holder);
                // The offset is 0 if the first reading instruction does not add. A sum of registers may get it later.
                if is_read && encoding.takes_address(code) {
                    found.note(*origin, 0);
                }
                !is_read && !encoding.writes(code, instruction.effect, *holder)
            });
            match access {
                Some(Access::Memory { base, offset }) => {
                    if let (Some(origin), Ok(offset)) = (of(base), u32::try_from(offset)) {
                        found.note(origin, offset);
                    }
                }
                Some(Access::Scale { to, base }) => holders.extend(of(base).map(|origin| (to, origin))),
                Some(Access::Add { number, .. }) if let Some(origin) = held => found.note(origin, number),
                Some(Access::Add { to, from: Holder::Sgpr(base), number }) if by_lane && !is_stack(to) => {
                    of(base).into_iter().for_each(|origin| found.note(origin, number));
                }
                Some(Access::Copy { base }) if by_lane => {
                    of(base).into_iter().for_each(|origin| found.note(origin, 0));
                }
                _ => {}
            }
            match instruction.effect {
                Effect::Move { to, from: Operand::Sgpr(base) } if by_lane && !is_stack(Holder::Sgpr(to)) => {
                    of(base).into_iter().for_each(|origin| found.note(origin, 0));
                }
                Effect::Branch { .. } | Effect::End | Effect::Unknown => holders.clear(),
                _ => {}
            }
        }
        found
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

fn is_stack(register: Holder) -> bool {
    matches!(register, Holder::Sgpr(STACK..=BASE))
}
