//! Reads and writes in windows: a token says wave, lane and frame, and an offset says what of the frame.

use super::build::{View, ViewObject};
use super::layout::{self, Layout, MAX_FRAMES, OWN_STACK, RETURN_ADDRESS, Reading, STRIDE, Slot, Sort, Use};
use crate::session::address::{self, Token};
use crate::session::print::{VariableIn, Whereabouts};
use crate::session::{Activations, Byte, Inspect, Place, StackEnd, Unreadable, Unwritable, ValueState};
use crate::units::{Address, LaneId, WaveId};

/// A frame of a window's address.
#[derive(Clone, Copy, Debug)]
struct Window {
    wave: WaveId,
    lane: LaneId,
    /// Whether addresses that it gives name the lane.
    explicit: bool,
    own_stack: bool,
    level: usize,
}

/// The token of a lane's frame 0: what `rsp` holds. With `explicit` it names the lane; without it means whichever lane is
/// in focus. `None` where the wave's number is too large for an address.
///
/// # Errors
/// [`Unreadable::NoSuchWave`], [`Unreadable::NoSuchLane`].
pub fn stack_pointer(
    session: &dyn Inspect,
    wave: WaveId,
    lane: LaneId,
    explicit: bool,
) -> Result<Option<u64>, Unreadable> {
    let own = session.has_own_stack(wave, lane)?;
    // A stack of its own holds for one lane only.
    let named = (explicit || own).then_some(lane);
    Ok(address::window(wave, named, if own { OWN_STACK * STRIDE } else { 0 }))
}

/// Reads from a window; how many bytes. A read ends where what it begins in ends, a variable's room or all pointers, or
/// where what is known of it ends. `wave`: the one that the client looks at.
///
/// # Errors
/// The address is in no window, names no wave, lane, frame or variable, or what is there is not known: in words that
/// name the variable.
pub fn read(
    view: &View,
    session: &dyn Inspect,
    at: u64,
    wave: WaveId,
    reading: Reading,
    into: &mut [u8],
) -> Result<usize, Unreadable> {
    let (window, offset) = window(session, at, wave)?;
    let count = (STRIDE - offset).min(u32::try_from(into.len()).unwrap_or(u32::MAX));
    let frame = Frame::find(view, session, window, offset + count > RETURN_ADDRESS)?;
    let (used, end) = frame.used(offset, reading).ok_or_else(|| frame.nothing(offset))?;
    // Each pointer asks for its variable: one answer is a line of them, and a client that wants more asks again.
    let end = match used {
        Use::Pointer { .. } => end.min(offset.saturating_add(layout::LINE)),
        _ => end,
    };
    let count = count.min(end - offset) as usize;
    let into = into.get_mut(..count).unwrap_or_default();
    // LLDB's expressions take the rest of a line that came short for zeros.
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
        return Err(Unreadable::NoVariables("a part of that line was not captured".to_owned()));
    }
    Ok(done)
}

/// Writes into a window: a variable that is not in memory, or a part of it, wherever the parts are kept.
///
/// # Errors
/// The address is in no variable's room, the bytes run out of it, or the variable cannot be written; nothing was.
pub fn write(
    view: &View,
    session: &mut dyn Inspect,
    at: u64,
    wave: WaveId,
    bytes: &[u8],
) -> Result<(), Unwritable> {
    let (window, offset) = window(session, at, wave)?;
    let (of, first) = Frame::find(view, session, window, false)?.written(offset, bytes.len())?;
    session.write_in(of, first, bytes)
}

fn window(session: &dyn Inspect, at: u64, looked_at: WaveId) -> Result<(Window, u32), Unreadable> {
    let Token::Window { wave, lane, offset } = address::decode(at) else {
        return Err(Unreadable::NotCaptured { what: format!("{at:#x}, which is in no window,") });
    };
    let wave = wave.unwrap_or(looked_at);
    let explicit = lane.is_some();
    let info = session.wave(wave)?;
    let lane = lane.unwrap_or_else(|| session.focus(wave));
    let lanes = session.kind().wave_size;
    if !lanes.has(lane) {
        return Err(Unreadable::NoSuchLane { lane, lanes: lanes.lanes() });
    }
    debug_assert_eq!(info.wave, wave);
    let frame = offset / STRIDE;
    let own_stack = frame & OWN_STACK != 0;
    let level = (frame & !OWN_STACK) as usize;
    Ok((Window { wave, lane, explicit, own_stack, level }, offset % STRIDE))
}

/// A frame with the view of its code.
struct Frame<'a> {
    session: &'a dyn Inspect,
    window: Window,
    object: Option<&'a ViewObject>,
    function: Option<&'a Layout>,
    /// The frames from the innermost to this one, and to its caller where that was asked for.
    stack: Activations,
}

impl<'a> Frame<'a> {
    fn find(
        view: &'a View,
        session: &'a dyn Inspect,
        window: Window,
        with_caller: bool,
    ) -> Result<Self, Unreadable> {
        let lane = window.own_stack.then_some(window.lane);
        let wanted = window.level + 1 + usize::from(with_caller);
        let stack = session.activations(window.wave, lane, wanted.min(MAX_FRAMES))?;
        let Some(frame) = stack.frames.get(window.level) else {
            let why = stack.end.as_ref().map_or_else(String::new, |end| format!(": {end}"));
            return Err(Unreadable::NoVariables(format!("there is no frame {}{why}", window.level)));
        };
        let object = frame.code_object.and_then(|index| view.object(index));
        let function = object.zip(frame.function).and_then(|(object, die)| object.function(die));
        Ok(Self { session, window, object, function, stack })
    }

    /// The variable that a write goes to, and the first of its bytes.
    fn written(&self, offset: u32, length: usize) -> Result<(VariableIn, u64), Unwritable> {
        let no_room = || {
            let what = "that place of the frame, which holds no variable outside of memory,".to_owned();
            Unwritable::NoMemory(what)
        };
        match self.used(offset, Reading::Exact).map(|(used, _)| used) {
            Some(Use::Room { slot, at }) if length as u64 <= u64::from(slot.size.saturating_sub(at)) => {
                if self.is_translated(slot) {
                    let why = "a pointer of 4 bytes is shown with 8 here; `monitor set` writes it";
                    return Err(Unwritable::State(ValueState::Error(why.to_owned())));
                }
                Ok((self.asked(slot), u64::from(at)))
            }
            _ => Err(no_room()),
        }
    }

    /// What an offset is for, and where that ends.
    fn used(&self, offset: u32, reading: Reading) -> Option<(Use, u32)> {
        let none = Layout::default();
        let layout =
            if layout::is_global(offset) { self.object.map(ViewObject::globals) } else { self.function };
        layout.unwrap_or(&none).at(offset, reading)
    }

    fn nothing(&self, offset: u32) -> Unreadable {
        let words = format!("nothing is {offset:#x} bytes into the window of frame {}", self.window.level);
        Unreadable::NoVariables(words)
    }

    /// Reads what begins at an offset; at least one byte, and not beyond one thing.
    fn read(&self, offset: u32, reading: Reading, into: &mut [u8]) -> Result<usize, Unreadable> {
        match self.used(offset, reading) {
            Some((Use::Pointer { slot, at }, _)) => Ok(copy(&self.pointer(slot).to_le_bytes(), at, into)),
            Some((Use::Room { slot, at }, _)) => self.room(slot, at, into),
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

    /// Where the caller goes on, or the function that says why there is none.
    fn return_address(&self) -> u64 {
        let caller = self.window.level + 1;
        if let Some(frame) = self.stack.frames.get(caller) {
            return frame.pc.0;
        }
        let too_deep = StackEnd::TooDeep { limit: MAX_FRAMES };
        let end = if caller < MAX_FRAMES { self.stack.end.as_ref() } else { Some(&too_deep) };
        self.object.zip(end).and_then(|(object, end)| object.end(end)).unwrap_or(0)
    }

    fn asked(&self, slot: Slot) -> VariableIn {
        let Window { wave, lane, own_stack, level, .. } = self.window;
        VariableIn { wave, lane, own_stack, level, variable: slot.variable }
    }

    /// The address that a client is told of a variable: where it is in memory, or else its room.
    fn pointer(&self, slot: Slot) -> u64 {
        let Window { wave, lane, explicit, own_stack, level } = self.window;
        let frame = level as u32 | if own_stack { OWN_STACK } else { 0 };
        let named = explicit.then_some(lane);
        let room = || address::window(wave, named, frame * STRIDE + slot.room).unwrap_or(0);
        if self.is_translated(slot) {
            return room();
        }
        match self.session.locate(self.asked(slot)) {
            Ok(Whereabouts::Memory(place)) if !explicit || self.fills_lines(place, slot) => {
                self.told(place).unwrap_or_else(room)
            }
            _ => room(),
        }
    }

    /// Whether the lines of 512 bytes at both ends of a variable can be read to their ends: LLDB reads whole lines, and
    /// the first time that one comes short it reports an error with what it was given.
    fn fills_lines(&self, place: Place, slot: Slot) -> bool {
        const LINE: u64 = layout::LINE as u64;
        let first = place.address.0 / LINE * LINE;
        let Some(last) = place.address.0.checked_add(u64::from(slot.size.max(1)) - 1) else { return false };
        let last = last / LINE * LINE;
        let mut line = [0; LINE as usize];
        let mut whole = |at: u64| {
            let place = Place { address: Address(at), ..place };
            self.session.read(place, &mut line).is_ok_and(|read| read == LINE as usize)
        };
        whole(first) && (last == first || whole(last))
    }

    /// Whether a client is shown another pointer than there is: a larger one, or, where it keeps memory by address, one
    /// that names the lane.
    fn is_translated(&self, slot: Slot) -> bool {
        match slot.sort {
            Sort::Plain => false,
            Sort::SmallPointer => true,
            Sort::Pointer if !self.window.explicit => false,
            Sort::Pointer => match self.session.leads_to(self.asked(slot)) {
                Ok(Whereabouts::Memory(place)) => place.space != address::GLOBAL,
                _ => false,
            },
        }
    }

    /// A place as this client is told of it; `None` where no address can say it.
    fn told(&self, place: Place) -> Option<u64> {
        if place.space == address::GLOBAL {
            let tag = place.address.0 >> 56;
            return (tag == 0 || tag == 0xff).then_some(place.address.0);
        }
        let Window { wave, lane, explicit, .. } = self.window;
        let of = place.lane.filter(|of| *of != lane || explicit);
        address::encode(place.space, Some(wave), of, u32::try_from(place.address.0).ok()?)
    }

    /// Reads what a variable's room holds.
    fn room(&self, slot: Slot, at: u32, into: &mut [u8]) -> Result<usize, Unreadable> {
        let left = (slot.size - at) as usize;
        let count = left.min(into.len());
        let into = into.get_mut(..count).unwrap_or_default();
        if self.is_translated(slot) {
            let target = match self.session.leads_to(self.asked(slot))? {
                Whereabouts::Memory(place) => self.told(place),
                Whereabouts::Null => Some(0),
                Whereabouts::Composed(_) => None,
                Whereabouts::Nowhere(why) => return Err(unreadable(&why)),
            };
            let target =
                target.ok_or_else(|| unreadable(&ValueState::Error("no address says it".to_owned())))?;
            return Ok(copy(&target.to_le_bytes(), at, into));
        }
        match self.session.locate(self.asked(slot))? {
            Whereabouts::Memory(place) => {
                let address = Address(place.address.0.wrapping_add(u64::from(at)));
                self.session.read(Place { address, ..place }, into)
            }
            Whereabouts::Composed(bytes) => {
                let bytes = bytes.get(at as usize..).unwrap_or_default();
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
                Err(unreadable(&ValueState::Unavailable("that part of it was not captured".to_owned())))
            }
            Whereabouts::Null => Err(unreadable(&ValueState::Error("it is nowhere".to_owned()))),
            Whereabouts::Nowhere(why) => Err(unreadable(&why)),
        }
    }
}

/// Fills what belongs to nothing in a line that something is in.
fn zeros(into: &mut [u8], count: usize) -> usize {
    let count = count.min(into.len());
    into.get_mut(..count).unwrap_or_default().fill(0);
    count
}

/// Copies what is left of a thing from byte `at` on.
fn copy(bytes: &[u8], at: u32, into: &mut [u8]) -> usize {
    let bytes = bytes.get(at as usize..).unwrap_or_default();
    let mut done = 0;
    for (to, from) in into.iter_mut().zip(bytes) {
        *to = *from;
        done += 1;
    }
    done
}

fn unreadable(why: &ValueState) -> Unreadable {
    Unreadable::NoVariables(why.words().to_owned())
}
