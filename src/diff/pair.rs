//! Pairs the waves of one dump with those of the other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Alone, DiffError, Lacks};
use crate::session::{
    Dump, Group, GroupBy, Grouping, Session, SessionError, Stack, Stacks as _, WaveInfo, Waves as _, is_kind,
};
use crate::units::WaveId;

/// The kinds in either dump, by the sessions' names.
pub(super) fn kinds(dumps: [&Arc<Dump>; 2], asked: Option<&str>) -> Result<Vec<String>, SessionError> {
    let mut kinds = Vec::new();
    for dump in dumps {
        for (kind, _) in dump.kinds().filter(|(kind, _)| asked.is_none_or(|asked| is_kind(kind, asked))) {
            let name = format!("{}:{}", kind.target.name, kind.wave_size);
            if !kinds.contains(&name) {
                kinds.push(name);
            }
        }
    }
    if kinds.is_empty() {
        // The session reports that error.
        for dump in dumps {
            Session::new(Arc::clone(dump), asked)?;
        }
    }
    Ok(kinds)
}

/// The kinds of wave in a dump, as text.
pub(super) fn words(dump: &Dump) -> String {
    let each = dump.kinds().map(|(kind, _)| format!("{}:{}", kind.target.name, kind.wave_size));
    let each: Vec<String> = each.collect();
    if each.is_empty() { "no waves".to_owned() } else { format!("waves of {}", each.join(", ")) }
}

/// Whether a dump has waves of that kind.
pub(super) fn has_kind(dump: &Dump, kind: &str) -> bool {
    dump.kinds().any(|(known, _)| is_kind(known, kind))
}

/// Waves with their counterparts, and the waves of each dump without one.
#[derive(Debug, Default)]
pub(super) struct Matched {
    pub(super) pairs: Vec<(WaveId, WaveId)>,
    pub(super) alone: [Vec<Alone>; 2],
}

/// The common key of two stacks: functions, inlined or not, and the end of the stack. Addresses and lines may differ.
type Key = (Vec<(Option<String>, bool)>, &'static str);

fn key(stack: &Stack) -> Key {
    let frames = stack.frames.iter().map(|frame| (frame.function.clone(), frame.inlined));
    (frames.collect(), stack.end.name())
}

/// Waves of one stack.
#[derive(Default)]
struct Side {
    waves: Vec<WaveId>,
    /// The same waves by stacks: PCs and lines may differ.
    places: Vec<(Vec<WaveId>, Stack)>,
}

impl Side {
    /// The common part of the stacks of those waves.
    fn common(&self, waves: &[WaveId]) -> Option<Stack> {
        let waves: HashSet<&WaveId> = waves.iter().collect();
        let with = |(members, _): &&(Vec<WaveId>, Stack)| members.iter().any(|wave| waves.contains(wave));
        let mut stacks = self.places.iter().filter(with).map(|(_, stack)| stack);
        let mut common = stacks.next()?.clone();
        for stack in stacks {
            for (frame, other) in common.frames.iter_mut().zip(&stack.frames) {
                if frame.file != other.file {
                    (frame.file, frame.line) = (None, None);
                }
                frame.line = frame.line.filter(|line| Some(*line) == other.line);
                frame.column =
                    frame.column.filter(|column| frame.line.is_some() && Some(*column) == other.column);
                frame.offset = frame.offset.filter(|offset| Some(*offset) == other.offset);
                frame.pc = frame.pc.filter(|pc| Some(*pc) == other.pc);
                if frame.problem != other.problem {
                    frame.problem = None;
                }
                for (words, others) in
                    [(&mut frame.cfa, &other.cfa), (&mut frame.code_object, &other.code_object)]
                {
                    if *words != *others {
                        *words = None;
                    }
                }
            }
        }
        Some(common)
    }
}

/// Pairs the waves of two sessions of that kind; if one dump lacks the kind, all waves are alone.
pub(super) fn matched(sessions: [Option<&Session>; 2], kind: &str) -> Result<Matched, DiffError> {
    let mut order = Vec::new();
    let mut stacks: HashMap<Key, [Option<Side>; 2]> = HashMap::new();
    for (index, session) in sessions.iter().enumerate() {
        let Some(session) = session else { continue };
        let groups = session.groups(Grouping { by: GroupBy::Pc, lanes: false })?;
        for Group { members, stack, .. } in groups.groups {
            let key = key(&stack);
            let sides = stacks.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                [None, None]
            });
            // Stacks of several code objects may have the same functions.
            let Some(side) = sides.get_mut(index) else { continue };
            let side = side.get_or_insert_default();
            let members: Vec<WaveId> = members.iter().map(|member| member.wave).collect();
            side.waves.extend(&members);
            side.places.push((members, stack));
        }
    }
    let mut matched = Matched::default();
    for key in order {
        let Some(sides) = stacks.remove(&key) else { continue };
        let lacks = match sessions.iter().all(Option::is_some) {
            false => Lacks::Kind(kind.to_owned()),
            true if sides.iter().all(Option::is_some) => Lacks::Counterpart,
            true => Lacks::Stack,
        };
        let mut left = match (&sides, sessions) {
            ([Some(a), Some(b)], [Some(first), Some(second)]) => {
                pairs([(first, &a.waves), (second, &b.waves)], &mut matched.pairs)?
            }
            _ => sides.each_ref().map(|side| side.as_ref().map_or_else(Vec::new, |side| side.waves.clone())),
        };
        let of_both = sides.into_iter().zip(sessions).zip(&mut left).zip(&mut matched.alone);
        for (((side, session), left), alone) in of_both {
            let (Some(side), Some(session)) = (side, session) else { continue };
            left.sort_unstable();
            let ids = left.iter().map(|wave| Ok(session.wave(*wave)?.id));
            let waves = ids.collect::<Result<Vec<u32>, DiffError>>()?;
            if let Some(stack) = side.common(left) {
                alone.push(Alone { waves, stack, lacks: lacks.clone() });
            }
        }
    }
    matched.pairs.sort_unstable();
    Ok(matched)
}

/// The position of a wave in its grid, if known.
type Position = ([u32; 3], u32);

fn position(info: &WaveInfo) -> Option<Position> {
    Some((info.workgroup?, info.wave_in_group?))
}

/// Pairs waves of one stack; returns the unpaired waves of each dump.
fn pairs(
    sides: [(&Session, &Vec<WaveId>); 2],
    found: &mut Vec<(WaveId, WaveId)>,
) -> Result<[Vec<WaveId>; 2], DiffError> {
    let infos = |(session, waves): (&Session, &Vec<WaveId>)| {
        waves.iter().map(|wave| session.wave(*wave)).collect::<Result<Vec<WaveInfo>, _>>()
    };
    let (mut a, mut b) = (infos(sides[0])?, infos(sides[1])?);
    // A position shared by several waves, such as those of two dispatches, identifies none.
    take(&mut a, &mut b, found, |info| position(info).map(|at| (info.dispatch, at)));
    take(&mut a, &mut b, found, position);
    // The position may be in one dump alone.
    take(&mut a, &mut b, found, |info| Some(info.id));
    // The remaining waves are indistinguishable: they are paired in order.
    let waves = |infos: Vec<WaveInfo>| infos.iter().map(|info| info.wave).collect::<Vec<WaveId>>();
    let (mut one, mut other) = (waves(a), waves(b));
    let both = one.len().min(other.len());
    found.extend(one.drain(..both).zip(other.drain(..both)));
    Ok([one, other])
}

/// Pairs and removes the waves whose key occurs once in each dump.
fn take<K: std::hash::Hash + Eq>(
    a: &mut Vec<WaveInfo>,
    b: &mut Vec<WaveInfo>,
    found: &mut Vec<(WaveId, WaveId)>,
    key: impl Fn(&WaveInfo) -> Option<K>,
) {
    let mut known: HashMap<K, [Vec<WaveId>; 2]> = HashMap::new();
    for info in &*a {
        key(info).into_iter().for_each(|key| known.entry(key).or_default()[0].push(info.wave));
    }
    for info in &*b {
        key(info).into_iter().for_each(|key| known.entry(key).or_default()[1].push(info.wave));
    }
    let mut taken = [std::collections::HashSet::new(), std::collections::HashSet::new()];
    for sides in known.into_values() {
        if let [[one], [other]] = sides.each_ref().map(Vec::as_slice) {
            found.push((*one, *other));
            taken[0].insert(*one);
            taken[1].insert(*other);
        }
    }
    a.retain(|info| !taken[0].contains(&info.wave));
    b.retain(|info| !taken[1].contains(&info.wave));
}
