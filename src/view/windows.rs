//! Reads and writes in windows. A token names wave, lane and frame; an offset selects the part of the frame.

use std::sync::Arc;

use super::build::{View, ViewObject};
use super::layout::{self, Layout, MAX_FRAMES, OWN_STACK, RETURN_ADDRESS, Reading, STRIDE, Slot, Sort, Use};
use super::tagged::{self, Holder};
use super::typed::{self, Typed, TypedMemory};
use crate::session::address::{self, Token};
use crate::session::print::{VariableIn, Whereabouts};
use crate::session::{
    Activations, Byte, ChangeError, Inspect, MemoryAddress, PointerAt, ReadError, SourceError, StackEnd,
    ValueState, Waves,
};
use crate::units::{Address, LaneId, WaveId};

/// The target of a write outside of all variables.
const NO_ROOM: &str = "that place of the frame, which holds no variable outside of memory,";

/// The frame of an address in a window.
#[derive(Clone, Copy, Debug)]
struct Window {
    wave: WaveId,
    lane: LaneId,
    own_stack: bool,
    level: usize,
}

/// The token of a lane's frame 0: the value of `rsp`. With `explicit` it names the lane; without it means the lane in
/// focus. `None` if the wave's number is too large for an address.
///
/// # Errors
/// [`ReadError::NoSuchWave`], [`ReadError::NoSuchLane`].
pub fn stack_pointer(
    session: &dyn Inspect,
    wave: WaveId,
    lane: LaneId,
    explicit: bool,
) -> Result<Option<u64>, ReadError> {
    let own = session.has_own_stack(wave, lane)?;
    // A lane's own stack is valid for that lane only.
    let named = (explicit || own).then_some(lane);
    Ok(address::window(wave, named, if own { OWN_STACK * STRIDE } else { 0 }))
}

/// Reads from a window; returns the number of bytes. A read ends at the end of its part (a variable's spill slot or all
/// pointers), or of the known bytes. `wave`: the client's current wave; `typed`: the client's known types of memory.
///
/// # Errors
/// The address is in no window, names no wave, lane, frame or variable, or its contents are unknown: a text with the
/// variable's name.
pub fn read(
    view: &View,
    session: &dyn Inspect,
    typed: &TypedMemory,
    at: u64,
    wave: WaveId,
    reading: Reading,
    into: &mut [u8],
) -> Result<usize, ReadError> {
    let (window, offset) = window(session, at, wave)?;
    let count = (STRIDE - offset).min(u32::try_from(into.len()).unwrap_or(u32::MAX));
    let frame = Frame::find(view, session, typed, window, offset + count > RETURN_ADDRESS)?;
    if let Some(end) = frame.end_without_rules(view).filter(|_| reading == Reading::Exact) {
        let done = copy(&end.to_le_bytes(), offset, into);
        if done > 0 {
            return Ok(done);
        }
    }
    let (used, end) = frame.used(offset, reading).ok_or_else(|| frame.nothing(offset))?;
    // Each pointer needs a query of its variable: one answer is a line of pointers, and a client reads further ones in
    // another request.
    let end = match used {
        Use::Pointer { .. } => end.min(offset.saturating_add(layout::LINE)),
        _ => end,
    };
    let count = count.min(end - offset) as usize;
    let into = into.get_mut(..count).unwrap_or_default();
    // LLDB's expressions read the missing rest of a line as zeros.
    let is_line =
        reading == Reading::Lines && offset.is_multiple_of(layout::LINE) && count >= layout::LINE as usize;
    let mut done = 0;
    while let Some(rest) = into.get_mut(done..)
        && !rest.is_empty()
    {
        match frame.read(offset + done as u32, reading, rest) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(_) if done > 0 && !is_line => break,
            Err(error) => return Err(error),
        }
    }
    if is_line && done < count {
        return Err(ReadError::NotCaptured { what: "a part of that line".to_owned() });
    }
    Ok(done)
}

/// Whether a read at x86-64's position of the return address shows that the debugger has not loaded the code's view.
#[must_use]
pub fn is_read_without(view: &View, session: &dyn Inspect, at: u64, wave: WaveId) -> bool {
    let Ok((window, 0)) = window(session, at, wave) else { return false };
    let typed = TypedMemory::default();
    Frame::find(view, session, &typed, window, false).is_ok_and(|frame| frame.object.is_some())
}

/// Writes into a window: a variable that is not in memory, or a part of it, in all its pieces.
///
/// # Errors
/// The address is in no variable's spill slot, the bytes exceed the slot, or the variable cannot be written; nothing
/// is written.
pub fn write(
    view: &View,
    session: &mut dyn Inspect,
    at: u64,
    wave: WaveId,
    bytes: &[u8],
) -> Result<(), ChangeError> {
    let (window, offset) = window(session, at, wave)?;
    let typed = TypedMemory::default();
    let (of, first, bytes) = Frame::find(view, session, &typed, window, false)?.written(offset, bytes)?;
    session.write_in(of, first, &bytes)
}

fn window(session: &dyn Waves, at: u64, looked_at: WaveId) -> Result<(Window, u32), ReadError> {
    let Token::Window { wave, lane, offset } = address::decode(at) else {
        return Err(ReadError::NotCaptured { what: format!("{at:#x}, which is in no window,") });
    };
    let wave = wave.unwrap_or(looked_at);
    let info = session.wave(wave)?;
    let lane = lane.unwrap_or_else(|| session.focus(wave));
    let lanes = session.kind().wave_size;
    if !lanes.has(lane) {
        return Err(ReadError::NoSuchLane { lane, lanes: lanes.lanes() });
    }
    debug_assert_eq!(info.wave, wave);
    let frame = offset / STRIDE;
    let own_stack = frame & OWN_STACK != 0;
    let level = (frame & !OWN_STACK) as usize;
    Ok((Window { wave, lane, own_stack, level }, offset % STRIDE))
}

/// A frame with the view of its code.
struct Frame<'a> {
    session: &'a dyn Inspect,
    typed: &'a TypedMemory,
    window: Window,
    object: Option<&'a ViewObject>,
    function: Option<&'a Layout>,
    /// The frames from the innermost to this one, and to its caller on request.
    stack: Activations,
}

impl<'a> Frame<'a> {
    fn find(
        view: &'a View,
        session: &'a dyn Inspect,
        typed: &'a TypedMemory,
        window: Window,
        with_caller: bool,
    ) -> Result<Self, ReadError> {
        let lane = window.own_stack.then_some(window.lane);
        let wanted = window.level + 1 + usize::from(with_caller);
        let stack = session.activations(window.wave, lane, wanted.min(MAX_FRAMES))?;
        let Some(frame) = stack.frames.get(window.level) else {
            let end = stack.end.clone().map(Box::new);
            return Err(SourceError::NoFrame { frame: window.level, count: None, end }.into());
        };
        let object = frame.code_object.and_then(|index| view.object(index));
        let function = object.zip(frame.function).and_then(|(object, die)| object.function(die));
        Ok(Self { session, typed, window, object, function, stack })
    }

    /// The variable of a write, the first of its bytes, and the bytes to write, with pointers in the program's form.
    fn written(&self, offset: u32, bytes: &[u8]) -> Result<(VariableIn, u64, Vec<u8>), ChangeError> {
        let Some((Use::Slot { slot, at }, _)) = self.used(offset, Reading::Exact) else {
            return Err(ChangeError::NoMemory(NO_ROOM.to_owned()));
        };
        if bytes.len() as u64 > u64::from(slot.size.saturating_sub(at)) {
            return Err(ChangeError::NoMemory(NO_ROOM.to_owned()));
        }
        let holder = self.holder();
        let pointers = self.pointers(slot);
        if slot.sort == Sort::SmallPointer
            && let Some(pointer) = pointers.first()
        {
            let Ok(written) = <[u8; 8]>::try_from(bytes) else {
                return Err(tagged::refused(tagged::PART_OF_POINTER));
            };
            let number = tagged::hardware(self.session, holder, pointer, u64::from_le_bytes(written))?;
            let number = number.to_le_bytes().get(..usize::from(pointer.bytes)).map(<[u8]>::to_vec);
            return Ok((self.asked(slot), 0, number.unwrap_or_default()));
        }
        let mut written = bytes.to_vec();
        for pointer in typed::shown(&pointers) {
            let first = u64::from(at);
            let (start, end) = (pointer.offset, pointer.offset.saturating_add(typed::POINTER));
            if end <= first || start >= first.saturating_add(bytes.len() as u64) {
                continue;
            }
            let mut current = [0; typed::POINTER as usize];
            // An unknown pointer must be written as a whole.
            let known = self.bytes(slot, start, &mut current).unwrap_or(0);
            let number = if known == current.len() { u64::from_le_bytes(current) } else { 0 };
            let shown =
                tagged::target(self.session, holder, pointer, number).map_or(number, |(_, shown)| shown);
            let mut new = shown.to_le_bytes();
            typed::overlay(&mut new, start, first, bytes);
            let last = first.saturating_add(bytes.len() as u64);
            let part = first.saturating_sub(start)..last.saturating_sub(start).min(typed::POINTER);
            let new = u64::from_le_bytes(new);
            if let Some(number) = tagged::stored(self.session, holder, pointer, shown, new, part)? {
                typed::overlay(&mut written, first, start, &number.to_le_bytes());
            }
        }
        tagged::refuse_addresses(self.session, at.into(), &written)?;
        Ok((self.asked(slot), u64::from(at), written))
    }

    /// The wave and lane for the reads of the variables' pointers.
    fn holder(&self) -> Holder {
        Holder { wave: self.window.wave, lane: Some(self.window.lane) }
    }

    /// The pointers in a variable.
    fn pointers(&self, slot: Slot) -> Arc<[PointerAt]> {
        let of = self.object.zip(slot.of);
        of.map_or_else(Arc::default, |(object, of)| self.session.pointers_in(object.index, of))
    }

    /// The use of an offset, and the end of that part.
    fn used(&self, offset: u32, reading: Reading) -> Option<(Use, u32)> {
        let none = Layout::default();
        let layout =
            if layout::is_global(offset) { self.object.map(ViewObject::globals) } else { self.function };
        layout.unwrap_or(&none).at(offset, reading)
    }

    fn nothing(&self, offset: u32) -> ReadError {
        SourceError::NothingInWindow { offset, frame: self.window.level }.into()
    }

    /// Reads from an offset on; at least one byte, and not beyond one part.
    fn read(&self, offset: u32, reading: Reading, into: &mut [u8]) -> Result<usize, ReadError> {
        match self.used(offset, reading) {
            Some((Use::Pointer { slot, at }, _)) => {
                Ok(copy(&self.pointer(slot, reading).to_le_bytes(), at, into))
            }
            Some((Use::Slot { slot, at }, _)) => self.slot_bytes(slot, at, into),
            Some((Use::ReturnAddress, _)) => {
                if let Some(at) = offset.checked_sub(RETURN_ADDRESS) {
                    return Ok(copy(&self.return_address().to_le_bytes(), at, into));
                }
                Ok(zeros(into, (RETURN_ADDRESS - offset) as usize))
            }
            Some((Use::Rest, end)) => Ok(zeros(into, end.saturating_sub(offset) as usize)),
            None => Err(self.nothing(offset)),
        }
    }

    /// The caller's PC, or the function whose name gives the reason for its absence.
    fn return_address(&self) -> u64 {
        let caller = self.window.level + 1;
        if let Some(frame) = self.stack.frames.get(caller) {
            return frame.pc.0;
        }
        let too_deep = StackEnd::TooDeep { limit: MAX_FRAMES };
        let end = if caller < MAX_FRAMES { self.stack.end.as_ref() } else { Some(&too_deep) };
        self.object.zip(end).and_then(|(object, end)| object.end(end)).unwrap_or(0)
    }

    /// The function whose name gives the reason for the end of a stack at a PC outside of all code objects. The view
    /// has no rules for such a frame, and debuggers look for the return address at x86-64's position, `rsp`.
    fn end_without_rules(&self, view: &View) -> Option<u64> {
        if self.object.is_some() {
            return None;
        }
        let Window { wave, lane, own_stack, level } = self.window;
        let stack = self.session.activations(wave, own_stack.then_some(lane), level + 2).ok()?;
        view.main()?.end(stack.end.as_ref()?)
    }

    fn asked(&self, slot: Slot) -> VariableIn {
        let Window { wave, lane, own_stack, level, .. } = self.window;
        VariableIn { wave, lane, own_stack, level, variable: slot.variable }
    }

    /// A variable's address for the client: its address in memory, or its spill slot.
    fn pointer(&self, slot: Slot, reading: Reading) -> u64 {
        let Window { wave, lane, own_stack, level } = self.window;
        let frame = level as u32 | if own_stack { OWN_STACK } else { 0 };
        let capacity = || address::window(wave, Some(lane), frame * STRIDE + slot.capacity).unwrap_or(0);
        if slot.sort == Sort::SmallPointer {
            return capacity();
        }
        let Ok(Whereabouts::Memory(place)) = self.session.locate(self.asked(slot)) else { return capacity() };
        self.typed.stack(self.session, wave, lane, own_stack);
        if let (Some(object), Some(type_id)) = (self.object, slot.of) {
            let typed =
                Typed { code_object: object.index, type_id, size: slot.size.into(), is_shared: false };
            self.typed.variable(self.session, place, typed);
        }
        match reading {
            Reading::Lines if !self.is_in_lines(place, slot) => capacity(),
            _ => self.stated(place).unwrap_or_else(capacity),
        }
    }

    /// Whether LLDB can read a variable by whole lines: these are known from the start of its first line to its end,
    /// and from there to the end of the line or of memory.
    fn is_in_lines(&self, place: MemoryAddress, slot: Slot) -> bool {
        const LINE: u64 = layout::LINE as u64;
        let first = place.address.0 / LINE * LINE;
        let Some(end) = place.address.0.checked_add(u64::from(slot.size.max(1))) else { return false };
        let mut lines = [0; 16 * LINE as usize];
        let mut at = first;
        while at < end {
            let wanted = (end - at).next_multiple_of(LINE).min(lines.len() as u64) as usize;
            let Some(lines) = lines.get_mut(..wanted) else { return false };
            let read = self.session.read(MemoryAddress { address: Address(at), ..place }, lines).unwrap_or(0);
            let known = at.saturating_add(read as u64);
            if read < lines.len() {
                let next = MemoryAddress { address: Address(known), ..place };
                return known >= end && !self.session.exists(next);
            }
            at = known;
        }
        true
    }

    /// A place in the client's form; `None` if no address can express it.
    fn stated(&self, place: MemoryAddress) -> Option<u64> {
        if place.space == address::GLOBAL {
            let tag = place.address.0 >> 56;
            return (tag == 0 || tag == 0xff).then_some(place.address.0);
        }
        tagged::shown(self.session, MemoryAddress { wave: Some(self.window.wave), ..place })
    }

    /// Reads a variable's spill slot.
    fn slot_bytes(&self, slot: Slot, at: u32, into: &mut [u8]) -> Result<usize, ReadError> {
        let left = (slot.size - at) as usize;
        let count = left.min(into.len());
        let into = into.get_mut(..count).unwrap_or_default();
        if let Some(target) = self.shown_target(slot)? {
            return Ok(copy(&target.to_le_bytes(), at, into));
        }
        let done = match self.session.locate(self.asked(slot))? {
            Whereabouts::Memory(place) => {
                let address = Address(place.address.0.wrapping_add(u64::from(at)));
                self.session.read(MemoryAddress { address, ..place }, into)?
            }
            Whereabouts::Composed(bytes) => known(bytes.get(at as usize..).unwrap_or_default(), into)?,
            Whereabouts::Null => return Err(unreadable(&ValueState::Error("it is nowhere".into()))),
            Whereabouts::Nowhere(why) => return Err(unreadable(&why)),
        };
        let first = u64::from(at);
        for pointer in typed::shown(&self.pointers(slot)) {
            let end = pointer.offset.saturating_add(typed::POINTER);
            if end <= first || pointer.offset >= first + done as u64 {
                continue;
            }
            let mut raw = [0; 8];
            if self.bytes(slot, pointer.offset, &mut raw)? < raw.len() {
                continue;
            }
            let shown = tagged::target(self.session, self.holder(), pointer, u64::from_le_bytes(raw));
            if let Some((place, shown)) = shown {
                self.leads_to(pointer, place);
                typed::overlay(into, first, pointer.offset, &shown.to_le_bytes());
            }
        }
        Ok(done)
    }

    /// Reads bytes of a variable in the program's form.
    fn bytes(&self, slot: Slot, first: u64, into: &mut [u8]) -> Result<usize, ReadError> {
        match self.session.locate(self.asked(slot))? {
            Whereabouts::Memory(place) => {
                let address = Address(place.address.0.wrapping_add(first));
                self.session.read(MemoryAddress { address, ..place }, into)
            }
            Whereabouts::Composed(bytes) => {
                let first = usize::try_from(first).unwrap_or(usize::MAX);
                known(bytes.get(first..).unwrap_or_default(), into)
            }
            Whereabouts::Null | Whereabouts::Nowhere(_) => Ok(0),
        }
    }

    /// The client form of a variable that is a pointer, if it differs: the client assumes a larger pointer, or the
    /// pointer leads to memory of the wave.
    fn shown_target(&self, slot: Slot) -> Result<Option<u64>, ReadError> {
        if slot.sort == Sort::Plain {
            return Ok(None);
        }
        let is_small = slot.sort == Sort::SmallPointer;
        let place = match self.session.leads_to(self.asked(slot)) {
            Ok(Whereabouts::Memory(place)) if is_small || place.space != address::GLOBAL => place,
            Ok(Whereabouts::Null) if is_small => return Ok(Some(0)),
            Ok(Whereabouts::Nowhere(why)) if is_small => return Err(unreadable(&why)),
            Err(why) if is_small => return Err(why),
            Ok(Whereabouts::Composed(_)) if is_small => {
                return Err(unreadable(&ValueState::Error("it has no address".into())));
            }
            _ => return Ok(None),
        };
        if let Some(pointer) = self.pointers(slot).first() {
            self.leads_to(pointer, place);
        }
        let told = self.stated(place);
        told.map(Some).ok_or_else(|| unreadable(&ValueState::Error("it has no address".into())))
    }

    /// Records a pointer's target.
    fn leads_to(&self, pointer: &PointerAt, place: MemoryAddress) {
        if let Some(object) = self.object {
            self.typed.target(self.session, place, object.index, pointer);
        }
    }
}

/// Copies the known bytes, up to the first unknown one.
fn known(bytes: &[Byte], into: &mut [u8]) -> Result<usize, ReadError> {
    let known = bytes.iter().map_while(|byte| match byte {
        Byte::Known(byte) => Some(*byte),
        Byte::NotCaptured | Byte::OptimizedOut => None,
    });
    let mut done = 0;
    for (to, from) in into.iter_mut().zip(known) {
        *to = from;
        done += 1;
    }
    if done > 0 {
        return Ok(done);
    }
    Err(unreadable(&ValueState::Unavailable("that part of it was not captured".into())))
}

/// Fills unused bytes with zeros, in a line with contents.
fn zeros(into: &mut [u8], count: usize) -> usize {
    let count = count.min(into.len());
    into.get_mut(..count).unwrap_or_default().fill(0);
    count
}

/// Copies the remaining bytes of a part from byte `at` on.
fn copy(bytes: &[u8], at: u32, into: &mut [u8]) -> usize {
    let bytes = bytes.get(at as usize..).unwrap_or_default();
    let mut done = 0;
    for (to, from) in into.iter_mut().zip(bytes) {
        *to = *from;
        done += 1;
    }
    done
}

fn unreadable(why: &ValueState) -> ReadError {
    SourceError::Value(why.clone()).into()
}
