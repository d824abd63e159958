//! Positions of a wave's lanes in each of its frames: `DW_AT_LLVM_lane_pc` for all lanes at once,
//! `DW_AT_LLVM_active_lane` if present, and EXEC otherwise.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use crate::debuginfo::{FunctionKey, LocationAttribute};
use crate::dwarf::{
    Attribute, Context as _, Dialect, Evaluator, Frame, RegisterBytes, active_lanes, fetch, lane_pcs,
    mask_lanes, print,
};
use crate::session::error::{AttributeCause, PositionError, SourceError};
use crate::session::objects::source::Source;
use crate::session::stack::backtrace::Frames;
use crate::session::stack::frame::FrameContext;
use crate::session::{LanePosition, PcSource};
use crate::units::{BitSize, LaneId, LaneSet, Pc};

/// The attribute with the lanes' own PCs.
const LANE_PC: &str = "DW_AT_LLVM_lane_pc";
/// Bits of an address of code.
const ADDRESS_BITS: u64 = 64;

/// The lanes' positions in a frame.
#[derive(Debug)]
pub(in crate::session) enum Positions {
    /// By `DW_AT_LLVM_lane_pc`; `None` for lanes that never entered the function.
    Said(Vec<Option<Pc>>),
    /// The function has no `DW_AT_LLVM_lane_pc`.
    Active(Active),
    /// The attribute cannot be evaluated.
    Failed(PositionError),
}

/// The active lanes in a frame.
#[derive(Clone, Debug)]
pub(in crate::session) struct Active {
    /// The lanes, or the reason that they are unknown.
    pub(in crate::session) lanes: Result<LaneSet, PositionError>,
    /// Whether they come from `DW_AT_LLVM_active_lane`, and not from EXEC.
    pub(in crate::session) by_attribute: bool,
}

/// One lane's position in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::session) enum Position {
    At(Pc),
    NotEntered,
    Unknown(PositionError),
}

/// Unknown positions share a hash: few lanes have one.
impl Hash for Position {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        if let Self::At(pc) = self {
            pc.hash(state);
        }
    }
}

impl Positions {
    /// Whether they are EXEC's: the same for all calls of a physical frame.
    fn is_by_exec(&self) -> bool {
        matches!(self, Self::Active(Active { by_attribute: false, .. }))
    }

    /// `pc`: the wave's PC in the frame.
    pub(in crate::session) fn of(&self, lane: LaneId, pc: Pc) -> Position {
        match self {
            Self::Said(pcs) => match pcs.get(usize::from(lane.0)).copied().flatten() {
                Some(pc) => Position::At(pc),
                None => Position::NotEntered,
            },
            Self::Active(active) => match &active.lanes {
                Ok(lanes) if lanes.contains(lane) => Position::At(pc),
                Ok(_) => Position::Unknown(PositionError::Inactive),
                Err(why) => Position::Unknown(why.clone()),
            },
            Self::Failed(why) => Position::Unknown(why.clone()),
        }
    }
}

/// Values of a physical frame's calls by frame, then from the function inwards. Each value may depend on the outer
/// call's.
#[derive(Debug)]
pub(in crate::session) struct Inwards<T>(RefCell<HashMap<usize, Vec<T>>>);

impl<T> Default for Inwards<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Clone> Inwards<T> {
    /// The value of a call by its depth, 0 for the function. `read` gets the depth and the outer call's value, once for
    /// each call.
    fn of(&self, level: usize, depth: usize, mut read: impl FnMut(usize, Option<&T>) -> T) -> T {
        let mut each = self.0.borrow_mut().remove(&level).unwrap_or_default();
        while each.len() <= depth {
            each.push(read(each.len(), each.last()));
        }
        let value = each.get(depth).cloned();
        let value = value.unwrap_or_else(|| read(depth, None));
        self.0.borrow_mut().insert(level, each);
        value
    }
}

impl Frames<'_> {
    /// The lanes' positions, by the function of a frame, or by one of the calls inlined there.
    pub(in crate::session) fn positions(&self, level: usize, inlined: Option<usize>) -> Rc<Positions> {
        let key = (level, inlined);
        if let Some(known) = self.positions.borrow().get(&key) {
            return Rc::clone(known);
        }
        let positions = Rc::new(self.read_positions(level, inlined));
        self.positions.borrow_mut().insert(key, Rc::clone(&positions));
        positions
    }

    fn read_positions(&self, level: usize, inlined: Option<usize>) -> Positions {
        // Few functions have the attributes: a context of each would be wasted.
        let says = |key: &&FunctionKey| {
            let simd = key.simd(inlined);
            simd.lane_pc != LocationAttribute::Missing || simd.active_lane != LocationAttribute::Missing
        };
        let key = self.source(level).and_then(Source::key).filter(says);
        let Some(mut context) = key.and_then(|_| self.context(level, inlined)) else {
            return Positions::Active(self.exec_active(level));
        };
        let lane_pc = simd(&mut context, |simd| &simd.lane_pc, LANE_PC).and_then(|said| match said {
            None => Ok(None),
            Some(Attribute::Constant(_)) => Err(AttributeCause::Constant),
            Some(Attribute::Expression(program)) => Ok(Some(lane_pcs(&context, &program, None)?)),
        });
        match lane_pc {
            Ok(None) => {}
            Ok(Some(pcs)) => return Positions::Said(pcs),
            Err(cause) => return Positions::Failed(PositionError::of(LANE_PC, cause)),
        }
        Positions::Active(self.stated_active(&mut context).unwrap_or_else(|| self.exec_active(level)))
    }

    /// The active lanes in a frame: by the innermost inlined call with the attribute, starting at `inlined` and going
    /// outwards, else by EXEC.
    pub(in crate::session) fn active(&self, level: usize, inlined: usize) -> Active {
        let source = self.source(level);
        let calls = source.map_or(0, |source| source.calls.len());
        let Some(depth) = calls.checked_sub(inlined + 1) else { return self.exec_active(level) };
        let key = source.and_then(Source::key);
        self.active.of(level, depth, |depth, outer| {
            let call = calls - 1 - depth;
            let stated = key
                .filter(|key| key.simd(Some(call)).active_lane != LocationAttribute::Missing)
                .and_then(|_| self.stated_active(&mut self.context(level, Some(call))?));
            stated.or_else(|| outer.cloned()).unwrap_or_else(|| self.exec_active(level))
        })
    }

    /// `None`: there is no `DW_AT_LLVM_active_lane`, or not at this PC.
    fn stated_active(&self, context: &mut FrameContext<'_>) -> Option<Active> {
        let what = "DW_AT_LLVM_active_lane";
        let said = match simd(context, |simd| &simd.active_lane, what) {
            Ok(said) => said?,
            // The attribute means that the lanes differ from EXEC: EXEC would be a guess.
            Err(cause) => {
                return Some(Active { lanes: Err(PositionError::of(what, cause)), by_attribute: true });
            }
        };
        let all = self.walk.kind.wave_size.all();
        let lanes = match said {
            Attribute::Constant(mask) => Ok(LaneSet(mask).and(all)),
            Attribute::Expression(program) => match active_lanes(context, &program, None) {
                Ok(mask) => Ok(mask_lanes(context, &mask)),
                Err(error) => Err(PositionError::of(what, error)),
            },
        };
        Some(Active { lanes, by_attribute: true })
    }

    fn exec_active(&self, level: usize) -> Active {
        let unknown = if level == 0 { PositionError::NoExec } else { PositionError::NoExecInFrame };
        let lanes = self.exec(level).ok_or(unknown);
        Active { lanes, by_attribute: false }
    }

    /// A frame for the evaluation of its function's attributes; `None` without debug information.
    fn context(&self, level: usize, inlined: Option<usize>) -> Option<FrameContext<'_>> {
        self.source(level)?.key()?;
        Some(FrameContext::of(self.walk.level(level), inlined))
    }

    /// The value of `DW_AT_return_addr` of the outermost frame (DWARF 5 section 3.3.5); `None` without the attribute.
    /// A stack that ends for lack of call frame information reports it; the registers of that caller's frame stay
    /// unknown.
    pub(in crate::session) fn stated_return(&self) -> Option<String> {
        let what = "DW_AT_return_addr";
        let level = self.walk.frames().len().checked_sub(1)?;
        self.source(level)?.key().filter(|key| key.has_return_addr)?;
        let mut context = self.context(level, None)?;
        let said = context.function.as_ref().ok()?.function.return_addr.clone();
        let program = match attribute(&mut context, &said, what) {
            Ok(Some(Attribute::Expression(program))) => program,
            Ok(_) => return None,
            Err(why) => return Some(format!("{what}: {why}")),
        };
        let found = Evaluator::new(&context).location_for(&program, None);
        let found =
            found.and_then(|at| Ok((fetch(&context, &at, None, BitSize(ADDRESS_BITS))?.number(), at)));
        Some(match found {
            Ok((Some(address), _)) => {
                let symbol = context.symbol(address).map_or_else(String::new, |name| format!(" <{name}>"));
                format!("{what} gives the return address {address:#x}{symbol}")
            }
            Ok((None, at)) => {
                let place = print::location(&at, LaneId(0), &context);
                format!("{what} places its return address at {place}, which was not captured")
            }
            Err(why) => format!("{what}: {why}"),
        })
    }

    /// A frame's EXEC.
    pub(in crate::session) fn exec(&self, level: usize) -> Option<LaneSet> {
        let register = self.walk.kind.named("exec")?.dwarf?;
        let context = self.walk.level(level);
        let size = context.machine().register_size(register).ok()?;
        let mut contents = RegisterBytes::unknown();
        context.machine().read_register(register, Frame::Current, &mut contents);
        let bits = u32::try_from(size.0.min(64)).ok()?;
        let all = self.walk.kind.wave_size.all();
        contents.knows(0, size.0).then(|| LaneSet(contents.extract(0, bits)).and(all))
    }

    /// Whether a caller's EXEC proves that a lane is not in a frame: the EXEC that a rule of call frame information
    /// recovers leaves the lane out of the call. Without a rule EXEC is the inner frame's, and has no information
    /// about the caller's.
    pub(in crate::session) fn is_left_out(&self, lane: LaneId, level: usize) -> bool {
        let called = self.called.get_or_init(|| {
            let exec = self.walk.kind.named("exec").and_then(|exec| exec.dwarf);
            let mut called = self.walk.kind.wave_size.all();
            let mut each = Vec::new();
            let count = self.walk.frames().len();
            for level in (0..count).rev() {
                let (caller, is_said) = (level + 1, exec.is_some_and(|exec| self.walk.has_rule(level, exec)));
                if caller < count
                    && is_said
                    && let Some(mask) = self.exec(caller)
                {
                    called = called.and(mask);
                }
                each.push(called);
            }
            each.reverse();
            each
        });
        called.get(level).is_some_and(|called| !called.contains(lane))
    }

    /// Partitions lanes into sets with the same position in all frames, the set of the lowest lane first.
    pub(in crate::session) fn alike(&self, lanes: LaneSet) -> Vec<LaneSet> {
        let mut asked = Vec::new();
        for (level, frame) in self.walk.frames().iter().enumerate() {
            let calls = self.source(level).map_or(1, |source| source.calls.len());
            asked.push((
                frame.pc,
                self.positions(level, None),
                (level > 0).then(|| self.exec(level)).flatten(),
            ));
            let inlined = (1..calls).map(|call| self.positions(level, Some(call - 1)));
            // All calls without attributes have the lanes of EXEC.
            let mut by_exec = 0;
            let differs = |positions: &Rc<Positions>| {
                by_exec += usize::from(positions.is_by_exec());
                !positions.is_by_exec() || by_exec == 1
            };
            asked.extend(inlined.filter(differs).map(|positions| (frame.pc, positions, None)));
        }
        let mut parts: Vec<LaneSet> = Vec::new();
        let mut known: HashMap<(Vec<(Position, bool)>, usize), usize> = HashMap::new();
        for lane in lanes.iter() {
            let left_out = (0..asked.len()).take_while(|level| self.is_left_out(lane, *level)).count();
            let at = |(pc, positions, exec): &(Pc, Rc<Positions>, Option<LaneSet>)| {
                (positions.of(lane, *pc), exec.is_none_or(|exec| exec.contains(lane)))
            };
            let next = parts.len();
            let part = *known.entry((asked.iter().map(at).collect(), left_out)).or_insert(next);
            match parts.get_mut(part) {
                Some(part) => *part = LaneSet(part.0 | LaneSet::one(lane).0),
                None => parts.push(LaneSet::one(lane)),
            }
        }
        parts
    }

    /// Whether a lane never entered the function of a physical frame, or the call inlined there.
    pub(in crate::session) fn is_outside(&self, lane: LaneId, level: usize, inlined: Option<usize>) -> bool {
        let Some(frame) = self.walk.frames().get(level) else { return false };
        match self.positions(level, None).of(lane, frame.pc) {
            Position::NotEntered => return true,
            Position::Unknown(_) if self.is_left_out(lane, level) => return true,
            _ => {}
        }
        let calls = self.source(level).map_or(0, |source| source.calls.len());
        let Some(depth) = inlined.and_then(|inlined| calls.checked_sub(inlined + 1)) else { return false };
        let outside = self.outside.of(level, depth, |depth, outer| {
            let outer = outer.copied().unwrap_or_default();
            // The function itself has no call.
            if depth == 0 {
                return outer;
            }
            match &*self.positions(level, Some(calls - 1 - depth)) {
                Positions::Active(_) => outer,
                positions => {
                    let all = self.walk.kind.wave_size.all();
                    let is_outside = |lane: &LaneId| positions.of(*lane, frame.pc) == Position::NotEntered;
                    LaneSet(outer.0 | all.iter().filter(is_outside).collect::<LaneSet>().0)
                }
            }
        });
        outside.contains(lane)
    }

    /// A lane's resume position: the innermost frame of its own stack.
    pub(in crate::session) fn position(&self, lane: LaneId) -> LanePosition {
        let unknown = |why: PositionError| PcSource::Unknown(why.into());
        let Some(frame) = self.innermost_of(lane) else {
            let from = match self.walk.frames().is_empty() {
                true => unknown(PositionError::NoPc),
                false => unknown(PositionError::NotEntered),
            };
            return LanePosition { from, ..LanePosition::default() };
        };
        let of_wave = self.walk.frames().get(frame.physical).map(|physical| physical.pc);
        let from = match (&*self.positions(frame.physical, None), frame.pc) {
            (_, None) => {
                PcSource::Unknown(frame.problem.unwrap_or(SourceError::Position(PositionError::NoPc)))
            }
            (Positions::Active(active), pc) if pc == of_wave => match active.by_attribute {
                true => PcSource::ActiveLane,
                false => PcSource::Exec,
            },
            _ => PcSource::LanePc,
        };
        let (function, file, line) = (frame.function, frame.file, frame.line);
        LanePosition { pc: frame.pc, from, function, file, line, physical: Some(frame.physical) }
    }
}

/// An attribute of the context's function or inlined call.
fn simd(
    context: &mut FrameContext<'_>,
    which: impl Fn(&crate::debuginfo::SimdFacts) -> &LocationAttribute,
    what: &str,
) -> Result<Option<Attribute>, AttributeCause> {
    let Ok(function) = &context.function else { return Ok(None) };
    let said = which(function.simd(context.inlined)).clone();
    attribute(context, &said, what)
}

/// An attribute of the context's function, in the dialect of its unit.
fn attribute(
    context: &mut FrameContext<'_>,
    attribute: &LocationAttribute,
    what: &str,
) -> Result<Option<Attribute>, AttributeCause> {
    let (Ok(debug), Ok(function)) = (&context.debug, &context.function) else { return Ok(None) };
    let id = function.function.unit;
    let unit = debug.unit(id).ok();
    let augmentation = unit.and_then(|unit| unit.augmentation.as_deref());
    let found = debug.location_at(id, attribute, context.elf_pc)?;
    let by_bytes = || Dialect::of_unit(augmentation, found.expression().iter().map(|bytes| &bytes[..]));
    context.encoding.dialect = unit.and_then(|unit| unit.dialect).unwrap_or_else(by_bytes);
    Ok(context.stated(attribute, what)?)
}
