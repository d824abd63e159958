//! Which wave of one dump is compared with which of the other.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Alone, DiffError};
use crate::session::{
    Dump, Group, GroupBy, Grouping, Inspect as _, NoSession, Session, Stack, WaveInfo, is_kind,
};
use crate::units::WaveId;

/// The kinds that either dump has, as sessions name them.
pub(super) fn kinds(dumps: [&Arc<Dump>; 2], asked: Option<&str>) -> Result<Vec<String>, NoSession> {
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
        // The session knows what to say of that.
        for dump in dumps {
            Session::new(Arc::clone(dump), asked)?;
        }
    }
    Ok(kinds)
}

/// Whether a dump has waves of that kind.
pub(super) fn has_kind(dump: &Dump, kind: &str) -> bool {
    dump.kinds().any(|(known, _)| is_kind(known, kind))
}

/// Waves with their counterparts, and those of either dump that have none.
#[derive(Debug, Default)]
pub(super) struct Matched {
    pub(super) pairs: Vec<(WaveId, WaveId)>,
    pub(super) alone: [Vec<Alone>; 2],
}

/// What two stacks must share: functions, inlined or not, and how the stack ends. Addresses and lines may differ.
type Key = (Vec<(Option<String>, bool)>, &'static str);

fn key(stack: &Stack) -> Key {
    let frames = stack.frames.iter().map(|frame| (frame.function.clone(), frame.inlined));
    (frames.collect(), stack.end.name())
}

/// Waves of one stack.
struct Side {
    stack: Stack,
    waves: Vec<WaveId>,
}

/// Pairs the waves of two sessions; of a kind that one dump lacks all are alone.
pub(super) fn matched(sessions: [Option<&Session>; 2]) -> Result<Matched, DiffError> {
    let mut order = Vec::new();
    let mut stacks: HashMap<Key, [Option<Side>; 2]> = HashMap::new();
    for (index, session) in sessions.iter().enumerate() {
        let Some(session) = session else { continue };
        let groups = session.groups(Grouping { by: GroupBy::Function, lanes: false })?;
        for Group { members, stack, .. } in groups.groups {
            let key = key(&stack);
            let sides = stacks.entry(key.clone()).or_insert_with(|| {
                order.push(key);
                [None, None]
            });
            // Stacks of several code objects may have the same functions.
            let side = sides[index].get_or_insert_with(|| Side { stack, waves: Vec::new() });
            side.waves.extend(members.iter().map(|member| member.wave));
        }
    }
    let mut matched = Matched::default();
    for key in order {
        let Some(sides) = stacks.remove(&key) else { continue };
        let is_shared = sides.iter().all(Option::is_some);
        let mut left = match (&sides, sessions) {
            ([Some(a), Some(b)], [Some(first), Some(second)]) => {
                pairs([(first, &a.waves), (second, &b.waves)], &mut matched.pairs)?
            }
            _ => sides.each_ref().map(|side| side.as_ref().map_or_else(Vec::new, |side| side.waves.clone())),
        };
        for (index, side) in sides.into_iter().enumerate() {
            let (Some(side), Some(session)) = (side, sessions[index]) else { continue };
            left[index].sort_unstable();
            let ids = left[index].iter().map(|wave| Ok(session.wave(*wave)?.id));
            let waves = ids.collect::<Result<Vec<u32>, DiffError>>()?;
            if !waves.is_empty() {
                matched.alone[index].push(Alone { waves, stack: side.stack, is_shared });
            }
        }
    }
    matched.pairs.sort_unstable();
    Ok(matched)
}

/// The place of a wave in its grid, where that is known.
type Position = ([u32; 3], u32);

fn position(info: &WaveInfo) -> Option<Position> {
    Some((info.workgroup?, info.wave_in_group?))
}

/// Pairs waves of one stack; what is left of either.
fn pairs(
    sides: [(&Session, &Vec<WaveId>); 2],
    found: &mut Vec<(WaveId, WaveId)>,
) -> Result<[Vec<WaveId>; 2], DiffError> {
    let infos = |(session, waves): (&Session, &Vec<WaveId>)| {
        waves.iter().map(|wave| session.wave(*wave)).collect::<Result<Vec<WaveInfo>, _>>()
    };
    let (mut a, mut b) = (infos(sides[0])?, infos(sides[1])?);
    // Places that several waves have, of two dispatches say, tell none of them.
    take(&mut a, &mut b, found, |info| position(info).map(|at| (info.dispatch, at)));
    take(&mut a, &mut b, found, position);
    // A place may be known in one dump alone.
    take(&mut a, &mut b, found, |info| Some(info.id));
    // Of those that nothing tells apart the first one left is as good as any.
    let waves = |infos: Vec<WaveInfo>| infos.iter().map(|info| info.wave).collect::<Vec<WaveId>>();
    let (mut one, mut other) = (waves(a), waves(b));
    let both = one.len().min(other.len());
    found.extend(one.drain(..both).zip(other.drain(..both)));
    Ok([one, other])
}

/// Pairs what has the same key in both and once in each; those are taken out.
fn take<K: std::hash::Hash + Eq>(
    a: &mut Vec<WaveInfo>,
    b: &mut Vec<WaveInfo>,
    found: &mut Vec<(WaveId, WaveId)>,
    key: impl Fn(&WaveInfo) -> Option<K>,
) {
    let mut known: HashMap<K, [Vec<WaveId>; 2]> = HashMap::new();
    for (side, infos) in [&*a, &*b].into_iter().enumerate() {
        for info in infos {
            if let Some(key) = key(info) {
                known.entry(key).or_default()[side].push(info.wave);
            }
        }
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
