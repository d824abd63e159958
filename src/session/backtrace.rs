//! Call stacks: physical frames with the calls inlined into them, for the wave or as one lane sees them.
//!
//! "Conceptually the lane only has the call frames that it has a non-undefined DW_AT_LLVM_lane_pc" (2020 AMDGPU text): a
//! lane's stack leaves out functions that the lane never entered, and shows where the lane itself goes on. Where a function
//! has no such attribute, active lanes are where the wave is, and of the others nobody knows.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::frame::FrameContext;
use super::source::{Call, Source};
use super::stack::{LaneStack, Stack, StackEnd, StackFrame};
use super::unwind::{Physical, Walk};
use super::{Reader, Unreadable};
use crate::capture::Capture;
use crate::debuginfo::{LocationAttribute, SimdFacts};
use crate::dwarf::print;
use crate::dwarf::{
    Attribute, Context as _, Dialect, Encoding, Frame, Program, RegisterBytes, active_lanes, lane_pcs,
    mask_lanes,
};
use crate::units::{LaneId, LaneSet, Pc, WaveId};

/// The call stack of a wave as a whole, or of one of its lanes.
///
/// # Errors
/// [`Unreadable::NoSuchWave`], [`Unreadable::NoSuchLane`], or what the operating system says of the file.
pub(crate) fn backtrace(reader: &Reader, wave: WaveId, lane: Option<LaneId>) -> Result<Stack, Unreadable> {
    let frames = Frames::of(reader, wave)?;
    match lane {
        None => Ok(frames.of_wave()),
        Some(lane) => {
            frames.check(lane)?;
            Ok(frames.of_lane(lane))
        }
    }
}

/// The call stacks of some lanes, those that are alike together.
///
/// # Errors
/// As [`backtrace`].
pub(super) fn lane_stacks(
    reader: &Reader,
    wave: WaveId,
    lanes: LaneSet,
) -> Result<Vec<LaneStack>, Unreadable> {
    let frames = Frames::of(reader, wave)?;
    let mut stacks: Vec<LaneStack> = Vec::new();
    for lane in lanes.iter() {
        frames.check(lane)?;
        let stack = frames.of_lane(lane);
        let alike = |other: &&mut LaneStack| other.stack.frames == stack.frames;
        match stacks.iter_mut().find(alike) {
            Some(known) => known.lanes = LaneSet(known.lanes.0 | LaneSet::one(lane).0),
            None => stacks.push(LaneStack { lanes: LaneSet::one(lane), stack }),
        }
    }
    Ok(stacks)
}

/// By physical frame, and by inlined call in it.
type ByFrame<T> = HashMap<(usize, Option<usize>), T>;

/// All frames of a wave, with what lanes need of them.
struct Frames<'a> {
    walk: Walk<'a>,
    /// For each physical frame.
    each: Vec<Described>,
    /// By physical frame and inlined call: an attribute is evaluated once for all lanes.
    positions: RefCell<ByFrame<Rc<Positions>>>,
}

struct Described {
    source: Option<Arc<Source>>,
    cfa: Option<String>,
    code_object: Option<String>,
    /// Number of its innermost call in the wave's stack.
    first: usize,
}

/// Where the lanes are in a frame.
enum Positions {
    /// As `DW_AT_LLVM_lane_pc` says: `None` never entered the function.
    Said(Vec<Option<Pc>>),
    /// The function does not say; these lanes are active, if that is known.
    Active(Option<LaneSet>),
    /// It says so in a way that cannot be evaluated.
    Failed(String),
}

/// Where one lane is in a frame.
enum Position {
    At(Pc),
    NotEntered,
    Unknown(String),
}

impl Positions {
    fn of(&self, lane: LaneId, pc: Pc) -> Position {
        match self {
            Self::Said(pcs) => match pcs.get(usize::from(lane.0)).copied().flatten() {
                Some(pc) => Position::At(pc),
                None => Position::NotEntered,
            },
            Self::Active(Some(active)) if active.contains(lane) => Position::At(pc),
            Self::Active(Some(_)) => {
                let why = "the lane is inactive, and the function has no DW_AT_LLVM_lane_pc";
                Position::Unknown(why.to_owned())
            }
            Self::Active(None) => Position::Unknown("EXEC is not known in this frame".to_owned()),
            Self::Failed(why) => Position::Unknown(format!("DW_AT_LLVM_lane_pc: {why}")),
        }
    }
}

impl<'a> Frames<'a> {
    fn of(reader: &'a Reader, wave: WaveId) -> Result<Self, Unreadable> {
        let mut walk = Walk::new(reader, wave)?;
        while walk.step() {}
        let capture = reader.dump().capture();
        let mut each = Vec::new();
        let mut first = 0;
        for (level, frame) in walk.frames().iter().enumerate() {
            let source = frame.code.map(|code| code.loaded.source(capture, code.elf));
            let cfa = walk.level(level).cfa().ok();
            let cfa = cfa.map(|cfa| print::location(&cfa, LaneId(0), &*walk.kind));
            let code_object = frame.code.and_then(|code| code.loaded.name(capture)).map(str::to_owned);
            let calls = source.as_ref().map_or(1, |source| source.calls.len());
            each.push(Described { source, cfa, code_object, first });
            first += calls;
        }
        Ok(Self { walk, each, positions: RefCell::default() })
    }

    fn capture(&self) -> &'a Capture {
        self.walk.reader.dump().capture()
    }

    fn check(&self, lane: LaneId) -> Result<(), Unreadable> {
        let size = self.walk.kind.wave_size;
        if size.has(lane) { Ok(()) } else { Err(Unreadable::NoSuchLane { lane, lanes: size.lanes() }) }
    }

    fn stack(&self, lane: Option<LaneId>, mut frames: Vec<StackFrame>) -> Stack {
        for (level, frame) in frames.iter_mut().enumerate() {
            frame.level = level;
        }
        let end = self.walk.end().cloned().unwrap_or(StackEnd::Outermost);
        Stack { wave: self.walk.wave, lane, frames, end }
    }

    fn of_wave(&self) -> Stack {
        let frames = self.walk.frames().iter().enumerate();
        self.stack(None, frames.flat_map(|(level, frame)| self.calls(level, frame)).collect())
    }

    /// The calls of a physical frame where the wave is.
    fn calls(&self, level: usize, frame: &Physical<'a>) -> Vec<StackFrame> {
        let none = [Call::default()];
        let source = self.each.get(level).and_then(|described| described.source.as_deref());
        let calls = source.map_or(&none[..], |source| &source.calls);
        let first = self.each.get(level).map_or(0, |described| described.first);
        let frames = calls.iter().enumerate().map(|(index, call)| StackFrame {
            of_wave: Some(first + index),
            inlined: index + 1 < calls.len(),
            pc: Some(frame.pc),
            problem: source.and_then(|source| source.problem.clone()),
            ..self.blank(level, call)
        });
        frames.collect()
    }

    fn blank(&self, level: usize, call: &Call) -> StackFrame {
        let described = self.each.get(level);
        StackFrame {
            level: 0,
            of_wave: None,
            physical: level,
            inlined: false,
            function: call.function.clone(),
            file: call.file.clone(),
            line: call.line,
            column: call.column,
            pc: None,
            cfa: described.and_then(|described| described.cfa.clone()),
            code_object: described.and_then(|described| described.code_object.clone()),
            problem: None,
        }
    }

    fn of_lane(&self, lane: LaneId) -> Stack {
        let frames = self.walk.frames().iter().enumerate();
        self.stack(Some(lane), frames.flat_map(|(level, frame)| self.calls_of(lane, level, frame)).collect())
    }

    /// The calls of a physical frame where a lane is.
    fn calls_of(&self, lane: LaneId, level: usize, frame: &Physical<'a>) -> Vec<StackFrame> {
        let source = self.each.get(level).and_then(|described| described.source.as_deref());
        match self.positions(level, source, None).of(lane, frame.pc) {
            Position::NotEntered => Vec::new(),
            Position::At(pc) if pc == frame.pc && self.is_in_call(lane, level) => {
                self.inlined_of(lane, level, frame, source)
            }
            Position::At(pc) => self.elsewhere(level, pc),
            Position::Unknown(why) => {
                // Which of the calls inlined here the lane is in is not known either.
                let call = source.and_then(|source| source.calls.last());
                let function = call.and_then(|call| call.function.clone());
                let call = Call { function, ..Call::default() };
                vec![StackFrame { problem: Some(why), ..self.blank(level, &call) }]
            }
        }
    }

    /// Whether a lane that is at a caller's PC is in the call before it. A lane that the call left out may well wait at the
    /// instruction after it, which is the same address.
    fn is_in_call(&self, lane: LaneId, level: usize) -> bool {
        level == 0 || self.exec(level).is_none_or(|active| active.contains(lane))
    }

    /// The calls where the wave is, without inlined ones that the lane never entered.
    fn inlined_of(
        &self,
        lane: LaneId,
        level: usize,
        frame: &Physical<'a>,
        source: Option<&Source>,
    ) -> Vec<StackFrame> {
        let mut calls = self.calls(level, frame);
        let mut index = 0;
        calls.retain_mut(|call| {
            let inlined = index;
            index += 1;
            if !call.inlined {
                return true;
            }
            match &*self.positions(level, source, Some(inlined)) {
                Positions::Active(_) => true,
                positions => match positions.of(lane, frame.pc) {
                    Position::NotEntered => false,
                    Position::At(pc) if pc == frame.pc => true,
                    Position::At(pc) => {
                        (call.pc, call.of_wave, call.line, call.column) = (Some(pc), None, None, None);
                        true
                    }
                    Position::Unknown(why) => {
                        (call.pc, call.of_wave, call.problem) = (None, None, Some(why));
                        true
                    }
                },
            }
        });
        calls
    }

    /// The calls at another place of the code than the wave's. It is no return address: the lane has yet to go there.
    fn elsewhere(&self, level: usize, pc: Pc) -> Vec<StackFrame> {
        let capture = self.capture();
        let agent = capture.wave(self.walk.wave).map(|wave| wave.agent);
        let loaded = self.walk.reader.dump().objects().at(capture, pc.0, agent);
        let source = loaded.map(|loaded| loaded.source(capture, loaded.elf(pc.0)));
        let none = [Call::default()];
        let calls = source.as_ref().map_or(&none[..], |source| &source.calls);
        let frames = calls.iter().enumerate().map(|(index, call)| StackFrame {
            inlined: index + 1 < calls.len(),
            pc: Some(pc),
            problem: source.as_ref().and_then(|source| source.problem.clone()),
            ..self.blank(level, call)
        });
        frames.collect()
    }

    /// Where the lanes are, by the function of a frame, or by one of the calls inlined there.
    fn positions(&self, level: usize, source: Option<&Source>, inlined: Option<usize>) -> Rc<Positions> {
        let key = (level, inlined);
        if let Some(known) = self.positions.borrow().get(&key) {
            return Rc::clone(known);
        }
        let positions = Rc::new(self.read_positions(level, source, inlined));
        self.positions.borrow_mut().insert(key, Rc::clone(&positions));
        positions
    }

    fn read_positions(&self, level: usize, source: Option<&Source>, inlined: Option<usize>) -> Positions {
        let Some((debug, function)) = source.and_then(|source| source.function.as_ref()) else {
            return Positions::Active(self.exec(level));
        };
        let Some(code) = self.walk.frames().get(level).and_then(|frame| frame.code) else {
            return Positions::Active(self.exec(level));
        };
        let inlined = inlined.unwrap_or(function.frames.len().saturating_sub(1));
        let unit = debug.unit(function.function.unit).ok();
        let mut context = FrameContext {
            level: self.walk.level(level),
            debug: Ok(Arc::clone(debug)),
            function: Ok(function.clone()),
            inlined,
            elf_pc: code.elf,
            encoding: Encoding {
                dialect: Dialect::LlvmUser,
                dwarf64: unit.is_some_and(|unit| unit.offset_size == 8),
            },
            object: std::cell::RefCell::default(),
        };
        let SimdFacts { lane_pc, active_lane, .. } = function.simd(inlined);
        let augmentation = unit.and_then(|unit| unit.augmentation.as_deref());
        let said = unit.and_then(|unit| unit.dialect);
        let mut attribute = |attribute: &LocationAttribute, what| {
            let found = debug.location_at(function.function.unit, attribute, code.elf);
            let bytes = found.map_err(|error| error.to_string())?.expression().cloned();
            let by_bytes = || Dialect::of_unit(augmentation, bytes.iter().map(|bytes| &bytes[..]));
            context.encoding.dialect = said.unwrap_or_else(by_bytes);
            context.attribute(attribute, what).map_err(|missing| missing.to_string())
        };
        let lanes = attribute(lane_pc, "DW_AT_LLVM_lane_pc");
        let active = attribute(active_lane, "DW_AT_LLVM_active_lane");
        match lanes {
            Ok(None) => {}
            Ok(Some(Attribute::Constant(_))) => return Positions::Failed("a constant".to_owned()),
            Ok(Some(Attribute::Expression(program))) => return said_by(&context, &program),
            Err(why) => return Positions::Failed(why),
        }
        let mask = match active {
            Ok(Some(Attribute::Expression(program))) => active_lanes(&context, &program, None).ok(),
            _ => return Positions::Active(self.exec(level)),
        };
        Positions::Active(mask.map(|mask| mask_lanes(&context, &mask)))
    }

    /// EXEC as a frame has it.
    fn exec(&self, level: usize) -> Option<LaneSet> {
        let register = self.walk.kind.named("exec")?.dwarf?;
        let context = self.walk.level(level);
        let size = context.register_size(register).ok()?;
        let mut contents = RegisterBytes::unknown();
        context.read_register(register, Frame::Current, &mut contents);
        let bits = u32::try_from(size.0.min(64)).ok()?;
        let all = self.walk.kind.wave_size.all();
        contents.knows(0, size.0).then(|| LaneSet(contents.extract(0, bits)).and(all))
    }
}

fn said_by(context: &FrameContext<'_>, program: &Program) -> Positions {
    match lane_pcs(context, program, None) {
        Ok(pcs) => Positions::Said(pcs),
        Err(error) => Positions::Failed(error.to_string()),
    }
}
