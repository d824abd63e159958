//! Waves, or lanes of waves, grouped by equal call stacks.
//!
//! Stacks depend on each wave's saved data, so each is unwound. Its rows and source lines are cached by code object
//! and PC. A stack is described once for all waves with the same return addresses.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};

use crate::session::error::SourceError;
use crate::session::stack::backtrace::Frames;
use crate::session::stack::unwind::Unwinder;
use crate::session::stack::{Stack, StackEnd, StackFrame, TextId};
use crate::session::waves::lanes::States;
use crate::session::{LaneState, ReadError, Reader, waves};
use crate::units::{LaneSet, Pc, WaveId};

/// The criterion for equal stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// The same functions of the same code objects.
    Function,
    /// The same functions on the same source lines; a frame without a line compares by function, and without a
    /// function by PC.
    #[default]
    Line,
    /// The same PCs and lines, callers' too: at a return address a lane may be in the call or wait behind it.
    Pc,
}

impl GroupBy {
    /// All criteria with their names.
    pub const ALL: [(Self, &str); 3] = [(Self::Function, "function"), (Self::Line, "line"), (Self::Pc, "pc")];

    /// The criterion of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(by, _)| *by)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(by, _)| *by == self).map_or("", |(_, name)| name)
    }
}

/// The way of grouping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// The criterion for equal stacks.
    pub by: GroupBy,
    /// Whether to group lanes instead of waves, each by its own stack.
    pub lanes: bool,
}

/// Waves, or lanes, by call stack.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The way of grouping.
    pub grouping: Grouping,
    /// Groups with a faulted wave first, then by size, the largest first.
    pub groups: Vec<Group>,
}

/// Waves, or lanes, with the same call stack.
#[derive(Clone, Debug)]
pub struct Group {
    /// The waves, in the dump's order.
    pub members: Vec<Member>,
    /// Number of waves or lanes.
    pub count: usize,
    /// Number of waves that the dump leaves out, and that waves of the group stand for: their stacks are unknown. 0 for
    /// lanes, and if the client chose the waves.
    pub stands_for: usize,
    /// Whether one of the waves is known to have stopped for a fault. For lanes: only waves with a lane of the group that
    /// was not known to be inactive at the stop.
    pub faulted: bool,
    /// Number of such waves without a captured stop reason: each of them may have faulted.
    pub unknown_stops: usize,
    /// Number of waves by cause, as text; the most common first. For lanes, only waves with a lane of the group that
    /// was not known to be inactive: the other lanes did not cause the stop.
    pub causes: Vec<(String, usize)>,
    /// Number of lanes by state; empty for waves.
    pub states: Vec<(Option<LaneState>, usize)>,
    /// The stack of the first member: PCs of others may differ. Each frame has the inferences of all members.
    pub stack: Stack,
}

/// A wave of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The wave.
    pub wave: WaveId,
    /// The dump's id of it.
    pub id: u32,
    /// Its lanes in the group; `None` for groups of waves.
    pub lanes: Option<LaneSet>,
}

/// Bytes of memory of the stacks of an answer. Further stacks have [`FIRST_FRAMES`].
const MAX_STACK_BYTES: usize = 96 << 20;
/// Bytes of memory of a frame without its names.
const FRAME_BYTES: usize = 512;
/// Maximum bytes of the reason for a frame's missing parts, in text and in memory.
const PROBLEM_BYTES: usize = 512;
/// Number of frames that each stack has.
const FIRST_FRAMES: usize = 8;

/// The compared parts of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FrameKey {
    function: Option<Text>,
    code_object: Option<String>,
    line: Option<(Option<Text>, u64)>,
    pc: Option<Pc>,
    inlined: bool,
    /// Whether a lane's position is known.
    is_placed: bool,
}

/// A name, whole: long ones by their identity, because an answer may cut them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Text {
    Short(String),
    Long(TextId),
}

/// The number of frames, and two hashes of all of them with the stack's end, made before outer frames are left out.
type StackKey = (usize, [u64; 2]);

/// The return addresses of a wave, each with whether it is inferred, the agent for the lookup of code objects, and the
/// reason for the stack's end.
type Trail = (usize, Vec<(Pc, bool)>, Option<StackEnd>);

/// Groups waves by their call stacks, or their lanes by each lane's stack. `progress` gets the number of finished
/// waves.
///
/// # Errors
/// [`ReadError::NoSuchWave`], or the operating system's error for a file.
pub(in crate::session) fn groups(
    reader: &Reader,
    waves: &[WaveId],
    grouping: Grouping,
    progress: &mut dyn FnMut(u64),
) -> Result<Groups, ReadError> {
    let (by_stack, hashes) = (HashMap::new(), [RandomState::new(), RandomState::new()]);
    let mut groups = Building { grouping, by_stack, hashes, groups: Vec::new(), left: MAX_STACK_BYTES };
    let mut by_trail: HashMap<Trail, usize> = HashMap::new();
    for (done, wave) in (0..).zip(waves) {
        progress(done);
        let captured = reader.wave(*wave)?;
        let mut walk = Unwinder::new(reader, *wave)?;
        while walk.step() {}
        if grouping.lanes {
            groups.lanes(reader, walk)?;
            continue;
        }
        let pcs = walk.frames().iter().map(|frame| (frame.pc, frame.is_inferred)).collect();
        let trail = (captured.agent, pcs, walk.end().cloned());
        let group = match by_trail.get(&trail) {
            Some(group) => *group,
            None => {
                let group = groups.of(Frames::along(walk).of_wave());
                by_trail.insert(trail, group);
                group
            }
        };
        groups.add(group, Member { wave: *wave, id: captured.id, lanes: None }, true, reader)?;
    }
    Ok(groups.finish())
}

struct Building {
    grouping: Grouping,
    by_stack: HashMap<StackKey, usize>,
    /// Random keys of the hashes: a capture cannot prepare collisions.
    hashes: [RandomState; 2],
    groups: Vec<Draft>,
    /// Bytes of memory that stacks may still take.
    left: usize,
}

struct Draft {
    group: Group,
    /// The last wave with a counted cause.
    blamed: Option<WaveId>,
    causes: BTreeMap<String, usize>,
    states: BTreeMap<Option<LaneState>, usize>,
}

impl Building {
    /// The group of a stack; created if missing.
    fn of(&mut self, mut stack: Stack) -> usize {
        let by = self.grouping.by;
        let hash = |state: &RandomState| {
            let mut hasher = state.build_hasher();
            stack.frames.iter().for_each(|frame| key(frame, by).hash(&mut hasher));
            stack.end.name().hash(&mut hasher);
            hasher.finish()
        };
        let key = (stack.frames.len(), self.hashes.each_ref().map(hash));
        self.cut(&mut stack);
        let next = self.groups.len();
        let index = *self.by_stack.entry(key).or_insert(next);
        if index == next {
            let (members, causes, states) = (Vec::new(), Vec::new(), Vec::new());
            let bytes: usize = stack.frames.iter().map(bytes).sum();
            self.left = self.left.saturating_sub(bytes);
            let (count, stands_for, unknown_stops) = Default::default();
            let group =
                Group { members, count, stands_for, faulted: false, unknown_stops, causes, states, stack };
            let (causes, states) = (BTreeMap::new(), BTreeMap::new());
            self.groups.push(Draft { group, blamed: None, causes, states });
        } else if let Some(Draft { group, .. }) = self.groups.get_mut(index) {
            for (known, frame) in group.stack.frames.iter_mut().zip(&stack.frames) {
                known.inferred = known.inferred.or(frame.inferred);
            }
        }
        index
    }

    /// Leaves out the outer frames of a stack that the answer has no capacity for.
    fn cut(&self, stack: &mut Stack) {
        let mut taken = 0;
        let fits = stack.frames.iter().take_while(|frame| {
            taken += bytes(frame);
            taken <= self.left
        });
        let left_out = stack.frames.len() - fits.count().max(FIRST_FRAMES).min(stack.frames.len());
        stack.frames.truncate(stack.frames.len() - left_out);
        if let Some(last) = stack.frames.last_mut().filter(|_| left_out > 0) {
            last.problem = Some(SourceError::LeftOut(left_out));
        }
    }

    /// Puts the lanes of a wave into their groups.
    fn lanes(&mut self, reader: &Reader, walk: Unwinder<'_>) -> Result<(), ReadError> {
        let wave = walk.wave;
        let id = reader.wave(wave)?.id;
        let frames = Frames::along(walk);
        let states = States::of(&frames)?;
        for part in frames.alike(states.used(frames.walk.kind.wave_size.all())) {
            let group = self.of(frames.of_lane(part.first().unwrap_or_default()));
            let each: Vec<Option<LaneState>> =
                part.iter().map(|lane| states.of_used(&frames, lane)).collect();
            let ran = each.iter().any(|state| matches!(state, None | Some(LaneState::Active)));
            self.add(group, Member { wave, id, lanes: Some(part) }, ran, reader)?;
            let Some(draft) = self.groups.get_mut(group) else { continue };
            for state in each {
                *draft.states.entry(state).or_default() += 1;
            }
        }
        Ok(())
    }

    /// `ran`: whether one of these lanes may have caused the wave's stop.
    fn add(&mut self, group: usize, member: Member, ran: bool, reader: &Reader) -> Result<(), ReadError> {
        let Some(Draft { group, blamed, causes, .. }) = self.groups.get_mut(group) else { return Ok(()) };
        group.count += member.lanes.map_or(1, |lanes| lanes.count() as usize);
        if member.lanes.is_none() {
            group.stands_for += reader.dump().capture().left_out.of(member.wave) as usize;
        }
        if ran && *blamed != Some(member.wave) {
            *blamed = Some(member.wave);
            let of = reader.wave(member.wave)?;
            let (cause, _) = waves::cause(of);
            group.faulted |= waves::has_faulted(of);
            group.unknown_stops += usize::from(of.stop.is_none());
            match causes.get_mut(&cause) {
                Some(count) => *count += 1,
                None => drop(causes.insert(cause, 1)),
            }
        }
        match group.members.last_mut().filter(|last| last.wave == member.wave) {
            Some(last) => {
                // Two sets of a wave's lanes with equal stacks, for example at PCs of one line.
                last.lanes = last.lanes.zip(member.lanes).map(|(a, b)| LaneSet(a.0 | b.0));
            }
            None => group.members.push(member),
        }
        Ok(())
    }

    fn finish(self) -> Groups {
        let finished = self.groups.into_iter().map(|Draft { mut group, causes, states, .. }| {
            group.causes = causes.into_iter().collect();
            group.causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            group.states = states.into_iter().collect();
            group.states.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            group
        });
        let mut groups: Vec<Group> = finished.collect();
        groups.sort_by_key(|group| (!group.faulted, std::cmp::Reverse(group.count)));
        Groups { grouping: self.grouping, groups }
    }
}

/// Bytes of memory of a frame.
fn bytes(frame: &StackFrame) -> usize {
    let names = [&frame.function, &frame.file, &frame.code_object];
    let problem = frame.problem.as_ref().map_or(0, |_| PROBLEM_BYTES);
    FRAME_BYTES + problem + names.iter().map(|name| name.as_ref().map_or(0, String::len)).sum::<usize>()
}

fn key(frame: &StackFrame, by: GroupBy) -> FrameKey {
    let text = |text: &Option<String>, whole: Option<TextId>| {
        whole.map(Text::Long).or_else(|| text.clone().map(Text::Short))
    };
    let [function, file] = frame.whole;
    let line = frame.line.map(|line| (text(&frame.file, file), line));
    FrameKey {
        function: text(&frame.function, function),
        code_object: frame.code_object.clone(),
        line: line.filter(|_| by != GroupBy::Function),
        pc: frame.pc.filter(|_| by == GroupBy::Pc || frame.function.is_none()),
        inlined: frame.inlined,
        is_placed: frame.pc.is_some(),
    }
}

#[cfg(test)]
#[path = "groups_tests.rs"]
mod tests;
