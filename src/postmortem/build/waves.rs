//! All waves, and waves by call stack.

use std::collections::HashMap;

use super::{Source, bounded, cut, cut_to};
use crate::debuginfo::{short_name, source_name};
use crate::notation::list;
use crate::postmortem::{FrameRow, Hex, StackGroup, WaveRow};
use crate::session::{Group, GroupBy, Grouping, Stack, StackFrame, WaveInfo};
use crate::triage::WaveState;
use crate::units::WaveId;

/// Maximum number of waves.
const MAX_WAVES: usize = 10_000;
/// Maximum number of stacks.
const MAX_STACKS: usize = 100;
/// Maximum number of frames of a stack.
const MAX_FRAMES: usize = 32;
/// Maximum bytes of the cause of a wave's stop in a row.
const MAX_STATE: usize = 128;
/// Maximum bytes of names in a row: 10,000 rows have them. Stacks and kernel launches have the whole names.
const MAX_NAME: usize = 48;

/// The innermost frame of a wave.
#[derive(Clone, Debug, Default)]
pub(super) struct Innermost {
    /// Index of the stack. `None`: left out.
    stack: Option<usize>,
    function: Option<String>,
    place: Option<String>,
}

impl Source<'_> {
    /// The waves by call stack, and the innermost frame of each wave.
    pub(super) fn stacks(&self) -> (Vec<StackGroup>, usize, HashMap<WaveId, Innermost>) {
        let grouping = Grouping { by: GroupBy::Line, lanes: false };
        let mut groups: Vec<Group> = Vec::new();
        for session in self.sessions {
            session.next_question();
            groups.extend(session.groups(grouping).map(|found| found.groups).unwrap_or_default());
        }
        groups.sort_by_key(|group| (!group.faulted, std::cmp::Reverse(group.count)));
        let mut innermost = HashMap::new();
        for (index, group) in groups.iter().enumerate() {
            let frame = group.stack.frames.first();
            let place = frame
                .and_then(|frame| Some(format!("{}:{}", self.base(frame.file.as_deref()?), frame.line?)));
            let function =
                frame.and_then(|frame| Some(cut_to(&short_name(frame.function.as_deref()?), MAX_NAME)));
            let of = Innermost { stack: Some(index).filter(|index| *index < MAX_STACKS), function, place };
            innermost.extend(group.members.iter().map(|member| (member.wave, of.clone())));
        }
        let (groups, left_out) = bounded(groups, MAX_STACKS);
        (groups.into_iter().map(|group| self.group(&group)).collect(), left_out, innermost)
    }

    fn group(&self, of: &Group) -> StackGroup {
        let mut ids: Vec<u32> = of.members.iter().map(|member| member.id).collect();
        ids.sort_unstable();
        StackGroup {
            count: of.count,
            faulted: of.faulted,
            unknown_stops: of.unknown_stops,
            causes: of.causes.iter().map(|(cause, count)| (cut(&self.paths.text(cause)), *count)).collect(),
            waves: list(ids),
            frames: self.frames(&of.stack),
            frames_left_out: of.stack.frames.len().saturating_sub(MAX_FRAMES),
            end: self.end(&of.stack),
        }
    }

    /// The first frames of a stack.
    pub(super) fn frames(&self, stack: &Stack) -> Vec<FrameRow> {
        let frame = |frame: &StackFrame| FrameRow {
            level: frame.level,
            function: frame.function.as_deref().map(cut),
            file: frame.file.as_deref().map(|file| cut(&self.paths.source(file))),
            line: frame.line,
            pc: frame.pc.map(|pc| Hex(pc.0)),
            inlined: frame.inlined,
            code_object: frame.code_object.as_deref().map(|name| cut(&self.paths.name(name))),
            inferred: Some(frame.inferred.to_string()).filter(|_| !frame.inferred.is_none()),
        };
        stack.frames.iter().take(MAX_FRAMES).map(frame).collect()
    }

    /// The reason for an incomplete stack.
    pub(super) fn end(&self, stack: &Stack) -> Option<String> {
        (!stack.end.is_normal()).then(|| cut(&self.paths.text(&stack.end.to_string())))
    }

    pub(super) fn waves(&self, innermost: &HashMap<WaveId, Innermost>) -> (Vec<WaveRow>, usize) {
        let states: HashMap<WaveId, WaveState> =
            self.triage.hang.iter().flat_map(|hang| &hang.waves).map(|of| (of.wave, of.state)).collect();
        let mut waves: Vec<WaveInfo> = Vec::new();
        for session in self.sessions {
            session.next_question();
            waves.extend(session.waves().iter().filter_map(|wave| session.wave(*wave).ok()));
        }
        let is_fault = |info: &WaveInfo| info.has_faulted() == Some(true);
        if waves.len() > MAX_WAVES {
            waves.sort_by_key(|info| (!is_fault(info), info.wave));
        }
        let (mut waves, left_out) = bounded(waves, MAX_WAVES);
        waves.sort_by_key(|info| info.wave);
        let mut kernels: HashMap<String, String> = HashMap::new();
        let mut kernel = |symbol: &String| {
            let name = || cut_to(&short_name(&source_name(symbol)), MAX_NAME);
            kernels.entry(symbol.clone()).or_insert_with(name).clone()
        };
        let mut row = |info: WaveInfo| {
            let of = innermost.get(&info.wave).cloned().unwrap_or_default();
            WaveRow {
                id: info.id,
                faulted: is_fault(&info),
                unknown_stop: info.stop.is_none(),
                state: cut_to(&self.paths.text(&info.cause), MAX_STATE),
                wait: states.get(&info.wave).copied(),
                pc: info.pc.map(|pc| Hex(pc.0)),
                active: info.exec.map(|exec| exec.count()),
                lanes: info.kind.wave_size.lanes(),
                dispatch: info.dispatch,
                workgroup: info.workgroup,
                wave_in_group: info.wave_in_group,
                kernel: info.kernel.as_ref().map(&mut kernel),
                stack: of.stack,
                function: of.function,
                place: of.place,
                unconfirmed: info.unconfirmed.is_some(),
            }
        };
        (waves.into_iter().map(&mut row).collect(), left_out)
    }
}
