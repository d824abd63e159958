//! Call stacks: physical frames with the calls inlined into them, for the wave or for one lane.
//!
//! "Conceptually the lane only has the call frames that it has a non-undefined DW_AT_LLVM_lane_pc" (2020 AMDGPU
//! text): a lane's stack leaves out functions that the lane never entered, and has the lane's own resume address. In
//! a function without the attribute, active lanes are at the wave's PC, and the position of the others is unknown.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::debuginfo::source_name;
use crate::dwarf::print;
use crate::session::disassembly::text;
use crate::session::error::SourceError;
use crate::session::objects::source::{Call, Source};
use crate::session::stack::unwind::{Physical, Unwinder};
use crate::session::stack::{LaneStack, Stack, StackEnd, StackFrame, TextId};
use crate::session::waves::lanes::States;
use crate::session::waves::positions::{Active, Inwards, Position, Positions};
use crate::session::{Inferred, InferredBy, ReadError, Reader};
use crate::units::{LaneId, LaneSet, Pc, WaveId};

/// Returns the call stack of a wave as a whole, or of one of its lanes.
///
/// # Errors
/// [`ReadError::NoSuchWave`], [`ReadError::NoSuchLane`], or the operating system's error for the file.
pub(crate) fn backtrace(reader: &Reader, wave: WaveId, lane: Option<LaneId>) -> Result<Stack, ReadError> {
    let frames = Frames::of(reader, wave)?;
    match lane {
        None => Ok(frames.of_wave()),
        Some(lane) => {
            frames.check(lane)?;
            let is_used = States::of(&frames)?.used(LaneSet::one(lane)).contains(lane);
            Ok(if is_used { frames.of_lane(lane) } else { frames.of_unused(lane) })
        }
    }
}

/// Returns the calls at an instruction of a wave's code, the innermost first; the last is the function.
///
/// # Errors
/// The errors of [`backtrace`].
pub(crate) fn calls_at(reader: &Reader, wave: WaveId, address: u64) -> Result<Vec<StackFrame>, ReadError> {
    let frames = Frames::along(Unwinder::new(reader, wave)?);
    Ok(frames.elsewhere(0, Pc(address)).collect())
}

/// Returns the call stacks of some lanes, lanes with equal stacks together.
///
/// # Errors
/// The errors of [`backtrace`].
pub(in crate::session) fn lane_stacks(
    reader: &Reader,
    wave: WaveId,
    lanes: LaneSet,
) -> Result<Vec<LaneStack>, ReadError> {
    lane_stacks_along(&Frames::of(reader, wave)?, lanes)
}

/// [`lane_stacks`] along a whole stack.
///
/// # Errors
/// The errors of [`lane_stacks`].
pub(in crate::session) fn lane_stacks_along(
    frames: &Frames<'_>,
    lanes: LaneSet,
) -> Result<Vec<LaneStack>, ReadError> {
    lanes.iter().try_for_each(|lane| frames.check(lane))?;
    let used = States::of(frames)?.used(lanes);
    let unused = LaneSet(lanes.0 & !used.0);
    let mut stacks: Vec<LaneStack> = Vec::new();
    for part in frames.alike(used) {
        let stack = frames.of_lane(part.first().unwrap_or_default());
        let alike = |other: &&mut LaneStack| other.stack.frames == stack.frames;
        match stacks.iter_mut().find(alike) {
            Some(known) => known.lanes = LaneSet(known.lanes.0 | part.0),
            None => stacks.push(LaneStack { lanes: part, stack }),
        }
    }
    if let Some(lane) = unused.first() {
        stacks.push(LaneStack { lanes: unused, stack: frames.of_unused(lane) });
    }
    Ok(stacks)
}

/// Unwinds a stack as far as a frame, by its number in the wave's stack. Returns the physical frame, the call inlined
/// there, and the source position; without such a frame, the number of frames of the stack.
pub(in crate::session) fn reach(
    walk: &mut Unwinder<'_>,
    frame: usize,
) -> Result<(usize, usize, Option<Arc<Source>>), usize> {
    let (mut level, mut before) = (0, 0);
    while let Some(physical) = walk.frames().get(level) {
        let source = physical.code.map(|code| code.loaded.source(walk.reader, code.elf));
        let calls = source.as_ref().map_or(1, |source| source.calls.len());
        if frame - before < calls {
            return Ok((level, frame - before, source));
        }
        before += calls;
        level += 1;
        if level == walk.frames().len() && !walk.step() {
            break;
        }
    }
    Err(before)
}

/// The function and line of a frame by the text of the capture.
fn by_text(walk: &Unwinder<'_>, frame: &Physical<'_>) -> Option<Call> {
    let reader = walk.reader;
    let wave = reader.wave(walk.wave).ok()?;
    let text = text::at(reader.dump().capture(), wave, frame.pc.0)?;
    let after = text.instructions.partition_point(|one| one.address <= frame.pc.0);
    let one = text.instructions.get(after.checked_sub(1)?)?;
    let function = Some(source_name(&text.function).into());
    Some(Call { function, file: one.file.clone(), line: one.line, ..Call::default() })
}

/// Values by physical frame, and by inlined call in it.
pub(in crate::session) type ByFrame<T> = HashMap<(usize, Option<usize>), T>;

/// All frames of a wave, with the data for its lanes.
#[derive(Debug)]
pub(in crate::session) struct Frames<'a> {
    pub(in crate::session) walk: Unwinder<'a>,
    /// Frames by physical number.
    each: Vec<Described>,
    /// By physical frame and inlined call: an attribute is evaluated once for all lanes.
    pub(in crate::session) positions: RefCell<ByFrame<Rc<Positions>>>,
    /// For each physical frame the lanes that may be in it, by the callers' EXEC.
    pub(in crate::session) called: OnceCell<Vec<LaneSet>>,
    /// Identities of long names, by the address of a text that a source position of a frame holds.
    text_ids: RefCell<HashMap<*const str, Option<TextId>>>,
    /// Source positions beside those of the frames.
    elsewhere: RefCell<Vec<Arc<Source>>>,
    /// The active lanes of each call.
    pub(in crate::session) active: Inwards<Active>,
    /// The lanes that never entered a call, or one around it.
    pub(in crate::session) outside: Inwards<LaneSet>,
}

#[derive(Debug)]
struct Described {
    source: Option<Arc<Source>>,
    /// The CFA as text, computed on demand: it needs the rules of call frame information.
    cfa: OnceCell<Option<String>>,
    code_object: Option<String>,
    /// The function and line of the capture's text, if nothing else names the function.
    by_text: Option<Call>,
    /// Number of its innermost call in the wave's stack.
    first: usize,
}

impl<'a> Frames<'a> {
    /// Unwinds the whole stack of a wave.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], or the operating system's error for the file.
    pub(in crate::session) fn of(reader: &'a Reader, wave: WaveId) -> Result<Self, ReadError> {
        let mut walk = Unwinder::new(reader, wave)?;
        while walk.step() {}
        Ok(Self::along(walk))
    }

    /// Unwinds the stack of a wave as far as a frame of it; later frames and the stack's end stay unknown. The first
    /// frame takes no table of call frame information.
    ///
    /// # Errors
    /// The errors of [`Self::of`].
    pub(in crate::session) fn near(
        reader: &'a Reader,
        wave: WaveId,
        frame: usize,
    ) -> Result<Self, ReadError> {
        let mut walk = Unwinder::new(reader, wave)?;
        // Without such a frame this unwinds the whole stack.
        let _ = reach(&mut walk, frame);
        Ok(Self::along(walk))
    }

    /// The frames of an unwound stack.
    pub(in crate::session) fn along(walk: Unwinder<'a>) -> Self {
        let reader = walk.reader;
        let capture = reader.dump().capture();
        let mut each = Vec::new();
        let mut first = 0;
        for frame in walk.frames() {
            let source = frame.code.map(|code| code.loaded.source(reader, code.elf));
            let code_object = frame.code.and_then(|code| code.loaded.name(capture)).map(str::to_owned);
            let calls = source.as_ref().map_or(1, |source| source.calls.len());
            let is_named =
                source.as_ref().is_some_and(|source| source.calls.iter().any(|call| call.function.is_some()));
            let by_text = if is_named { None } else { by_text(&walk, frame) };
            each.push(Described { source, cfa: OnceCell::new(), code_object, by_text, first });
            first += calls;
        }
        let (positions, called) = (RefCell::default(), OnceCell::new());
        let (text_ids, elsewhere) = (RefCell::default(), RefCell::default());
        let (active, outside) = (Inwards::default(), Inwards::default());
        Self { walk, each, positions, called, text_ids, elsewhere, active, outside }
    }

    /// Whether the stack was unwound to its end.
    pub(in crate::session) fn is_whole(&self) -> bool {
        self.walk.end().is_some()
    }

    /// The source position of a physical frame.
    pub(in crate::session) fn source(&self, level: usize) -> Option<&Source> {
        self.each.get(level)?.source.as_deref()
    }

    /// The number of a physical frame's innermost call in the wave's stack.
    pub(in crate::session) fn first_of(&self, level: usize) -> Option<usize> {
        self.each.get(level).map(|described| described.first)
    }

    /// The physical frame and the inlined call of a frame of the wave's stack.
    pub(in crate::session) fn located(&self, frame: usize) -> Option<(usize, usize)> {
        let level = self.each.iter().rposition(|described| described.first <= frame)?;
        let inlined = frame - self.each.get(level)?.first;
        let calls = self.source(level).map_or(1, |source| source.calls.len());
        (inlined < calls).then_some((level, inlined))
    }

    /// Number of frames of the wave's stack.
    pub(in crate::session) fn count(&self) -> usize {
        let Some((level, last)) = self.each.iter().enumerate().next_back() else { return 0 };
        last.first + self.source(level).map_or(1, |source| source.calls.len())
    }

    fn check(&self, lane: LaneId) -> Result<(), ReadError> {
        let size = self.walk.kind.wave_size;
        if size.has(lane) { Ok(()) } else { Err(ReadError::NoSuchLane { lane, lanes: size.lanes() }) }
    }

    fn stack(&self, lane: Option<LaneId>, mut frames: Vec<StackFrame>) -> Stack {
        for (level, frame) in frames.iter_mut().enumerate() {
            frame.level = level;
        }
        let mut end = self.walk.end().cloned().unwrap_or(StackEnd::Outermost);
        // The capture's text has the function of the PC, but no rules for its caller.
        let is_by_text =
            frames.last().is_some_and(|last| matches!(last.problem, Some(SourceError::ByText(_))));
        if let StackEnd::NoCodeObject { pc } = end
            && is_by_text
        {
            let why = "the code object is not available".to_owned();
            end = StackEnd::NoUnwindInformation { pc, why, is_undecoded: false };
        }
        if let StackEnd::NoUnwindInformation { why, .. } = &mut end
            && let Some(hint) = self.stated_return()
        {
            *why = format!("{why}; {hint}");
        }
        Stack { wave: self.walk.wave, lane, frames, end }
    }

    /// The stack of the wave as a whole.
    pub(in crate::session) fn of_wave(&self) -> Stack {
        let frames = self.walk.frames().iter().enumerate();
        self.stack(None, frames.flat_map(|(level, frame)| self.calls(level, frame)).collect())
    }

    /// The calls of a physical frame at the wave's position.
    fn calls<'f>(&'f self, level: usize, frame: &'f Physical<'a>) -> impl Iterator<Item = StackFrame> + 'f {
        let source = self.source(level);
        let count = source.map_or(1, |source| source.calls.len());
        let first = self.first_of(level).unwrap_or(0);
        (0..count).map(move |index| StackFrame {
            of_wave: Some(first + index),
            inlined: index + 1 < count,
            pc: Some(frame.pc),
            problem: self.problem(level, source),
            ..self.blank(level, self.by_text(level).or(source.and_then(|source| source.calls.get(index))))
        })
    }

    fn by_text(&self, level: usize) -> Option<&Call> {
        self.each.get(level)?.by_text.as_ref()
    }

    /// The reason for missing parts of a frame.
    fn problem(&self, level: usize, source: Option<&Source>) -> Option<SourceError> {
        let problem = source.and_then(|source| source.problem.clone());
        match self.by_text(level) {
            Some(_) => Some(SourceError::ByText(problem.map(Box::new))),
            None => problem,
        }
    }

    /// The inferences behind a frame's PC and registers.
    fn inferred(&self, level: usize) -> Inferred {
        match self.walk.frames().get(level).is_some_and(|frame| frame.is_inferred) {
            true => Inferred::NONE.with(InferredBy::CallerCode),
            false => Inferred::NONE,
        }
    }

    fn cfa(&self, level: usize) -> Option<String> {
        let (cfa, inferred) = self.walk.cfa(level).ok()?;
        Some(print::location(&cfa, LaneId(0), &*self.walk.kind) + &inferred.suffix())
    }

    fn blank(&self, level: usize, call: Option<&Call>) -> StackFrame {
        let unknown = Call::default();
        let call = call.unwrap_or(&unknown);
        let described = self.each.get(level);
        StackFrame {
            level: 0,
            of_wave: None,
            physical: level,
            inlined: false,
            function: self.walk.reader.stack_text(call.function.as_deref()),
            symbol: self.walk.reader.stack_text(call.symbol.as_deref()),
            mangled: call.mangled.clone(),
            file: self.walk.reader.stack_text(call.file.as_deref()),
            line: call.line,
            column: call.column,
            // A caller's symbol is that of its call, and its PC is behind that.
            offset: call.offset.map(|offset| offset.saturating_add(self.behind(level))),
            pc: None,
            cfa: described.and_then(|described| described.cfa.get_or_init(|| self.cfa(level)).clone()),
            code_object: described.and_then(|described| described.code_object.clone()),
            problem: None,
            inferred: self.inferred(level),
            whole: [self.text_id(call.function.as_ref()), self.text_id(call.file.as_ref())],
        }
    }

    /// Bytes from the address whose function a frame has to its PC.
    fn behind(&self, level: usize) -> u64 {
        self.walk.frames().get(level).map_or(0, |frame| frame.pc.0.saturating_sub(frame.lookup.0))
    }

    /// The identity of a long name: inlined calls share names, and each is hashed once.
    fn text_id(&self, text: Option<&Arc<str>>) -> Option<TextId> {
        let text = text?;
        let read = || self.walk.reader.text_id(text);
        *self.text_ids.borrow_mut().entry(Arc::as_ptr(text)).or_insert_with(read)
    }

    /// The stack of a lane.
    pub(in crate::session) fn of_lane(&self, lane: LaneId) -> Stack {
        let frames = self.walk.frames().iter().enumerate();
        self.stack(Some(lane), frames.flat_map(|(level, frame)| self.calls_of(lane, level, frame)).collect())
    }

    /// The stack of a lane without a work-item: empty.
    fn of_unused(&self, lane: LaneId) -> Stack {
        Stack { wave: self.walk.wave, lane: Some(lane), frames: Vec::new(), end: StackEnd::NoWorkItem }
    }

    /// The innermost frame of a lane's stack.
    pub(in crate::session) fn innermost_of(&self, lane: LaneId) -> Option<StackFrame> {
        let mut frames = self.walk.frames().iter().enumerate();
        frames.find_map(|(level, frame)| self.calls_of(lane, level, frame).next())
    }

    /// The calls of a physical frame at a lane's position.
    fn calls_of<'f>(
        &'f self,
        lane: LaneId,
        level: usize,
        frame: &'f Physical<'a>,
    ) -> Box<dyn Iterator<Item = StackFrame> + 'f> {
        match self.positions(level, None).of(lane, frame.pc) {
            Position::NotEntered => Box::new(std::iter::empty()),
            Position::At(pc) if pc == frame.pc && self.is_in_call(lane, level) => {
                Box::new(self.inlined_of(lane, level, frame))
            }
            Position::At(pc) => Box::new(self.elsewhere(level, pc)),
            Position::Unknown(_) if self.is_left_out(lane, level) => Box::new(std::iter::empty()),
            Position::Unknown(why) => {
                // The lane's inlined call is unknown, too.
                let call = self.source(level).and_then(|source| source.calls.last());
                let function = call.and_then(|call| call.function.clone());
                let symbol = call.and_then(|call| call.symbol.clone());
                let mangled = call.and_then(|call| call.mangled.clone());
                let call = Call { function, symbol, mangled, ..Call::default() };
                let frame = StackFrame { problem: Some(why.into()), ..self.blank(level, Some(&call)) };
                Box::new(std::iter::once(frame))
            }
        }
    }

    /// Whether a lane at a caller's PC is in the next inner call. A lane outside of the call may wait at the
    /// instruction after it, which has the same address.
    pub(in crate::session) fn is_in_call(&self, lane: LaneId, level: usize) -> bool {
        level == 0 || self.exec(level).is_none_or(|active| active.contains(lane))
    }

    /// The calls at the wave's position, without inlined ones that the lane never entered.
    fn inlined_of<'f>(
        &'f self,
        lane: LaneId,
        level: usize,
        frame: &'f Physical<'a>,
    ) -> impl Iterator<Item = StackFrame> + 'f {
        self.calls(level, frame).enumerate().filter_map(move |(inlined, mut call)| {
            if !call.inlined {
                return Some(call);
            }
            match &*self.positions(level, Some(inlined)) {
                Positions::Active { .. } => {}
                positions => match positions.of(lane, frame.pc) {
                    Position::NotEntered => return None,
                    Position::At(pc) if pc == frame.pc => {}
                    Position::At(pc) => {
                        (call.pc, call.of_wave, call.line, call.column) = (Some(pc), None, None, None);
                    }
                    Position::Unknown(why) => {
                        (call.pc, call.of_wave, call.problem) = (None, None, Some(why.into()));
                    }
                },
            }
            Some(call)
        })
    }

    /// The calls at another PC than the wave's. That PC is no return address: the lane has yet to reach it.
    fn elsewhere(&self, level: usize, pc: Pc) -> impl Iterator<Item = StackFrame> + '_ {
        let capture = self.walk.reader.dump().capture();
        let agent = capture.wave(self.walk.wave).map(|wave| wave.agent);
        let loaded = self.walk.reader.dump().objects().at(capture, pc.0, agent);
        let source = loaded.map(|loaded| loaded.source(self.walk.reader, loaded.elf(pc.0)));
        // Its names have identities by address.
        self.elsewhere.borrow_mut().extend(source.clone());
        let count = source.as_ref().map_or(1, |source| source.calls.len());
        (0..count).map(move |index| StackFrame {
            inlined: index + 1 < count,
            pc: Some(pc),
            problem: source.as_ref().and_then(|source| source.problem.clone()),
            ..self.blank(level, source.as_ref().and_then(|source| source.calls.get(index)))
        })
    }
}
