//! The choice of waves: by the user, or representative ones.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::Serialize;

use super::{Options, Progress, SlimError};
use crate::notation;
use crate::session::{Dump, Grouping, IdRanges, Session, SessionError, has_faulted, is_kind, range_without};
use crate::units::WaveId;

/// The default maximum of faulting waves of one stack and stop reason: a page fault may stop thousands of equal waves.
pub const MAX_FAULTED: usize = 64;

/// The maximum of waves of the dispatches of a hang that are all kept: of more, those that its verdict rests on.
pub const MAX_HUNG: usize = 256;

/// The waves to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The faulted waves, and one of each distinct stack.
    #[default]
    Representative,
    /// Waves with these ids.
    Ids(Vec<RangeInclusive<u32>>),
    /// All waves.
    All,
}

/// The reason for choosing a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It faulted.
    Faulted,
    /// It represents the waves with the same stack.
    Stack,
    /// Its dispatch hangs.
    Hung,
    /// The analysis names or examines it, or it stands for waves that the analysis only counts.
    Answer,
    /// The user named it.
    Named,
}

/// The chosen waves in the capture's order.
pub(super) fn choose(
    dump: &Arc<Dump>,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<(WaveId, Why)>, SlimError> {
    let capture = dump.capture();
    let asked = options.kind.as_deref();
    if !dump.kinds().any(|(kind, _)| asked.is_none_or(|asked| is_kind(kind, asked))) {
        // The session reports an unknown kind and a dump without waves.
        return match Session::new(Arc::clone(dump), asked) {
            Err(error) => Err(error.into()),
            Ok(_) => Err(SessionError::NoWaves(capture.name.clone()).into()),
        };
    }
    let fits = |wave: &crate::capture::Wave| asked.is_none_or(|asked| is_kind(&wave.kind, asked));
    let all = (0u32..).map(WaveId).zip(&capture.waves).filter(|(_, wave)| fits(wave));
    match &options.choice {
        Choice::Representative => {
            let mut chosen = representative(dump, asked, progress)?;
            let firsts = options.basis.classes.iter().filter_map(|class| class.first());
            let named = options.basis.named.iter().chain(firsts).map(|wave| (*wave, Why::Answer));
            for (wave, why) in options.basis.hung.iter().map(|wave| (*wave, Why::Hung)).chain(named) {
                let is_fault = capture.wave(wave).is_some_and(has_faulted);
                chosen.entry(wave).or_insert(if is_fault { Why::Faulted } else { why });
            }
            for group in &options.basis.together {
                if group.iter().any(|wave| chosen.contains_key(wave)) {
                    for wave in group {
                        chosen.entry(*wave).or_insert(Why::Hung);
                    }
                }
            }
            Ok(chosen.into_iter().collect())
        }
        Choice::All => Ok(all.map(|(id, _)| (id, Why::Named)).collect()),
        Choice::Ids(ranges) => {
            let own = capture.waves.iter().filter(|wave| fits(wave)).map(|wave| wave.id);
            if let Some(range) = range_without(ranges, own) {
                let ids = notation::range(&(range.start(), range.end()));
                return Err(SlimError::NoSuchWaves { dump: capture.name.clone(), ids });
            }
            let ids = IdRanges::new(ranges);
            let named = all.filter(|(_, wave)| ids.contains(wave.id));
            Ok(named.map(|(id, _)| (id, Why::Named)).collect())
        }
    }
}

fn representative(
    dump: &Arc<Dump>,
    asked: Option<&str>,
    progress: &mut dyn FnMut(Progress),
) -> Result<BTreeMap<WaveId, Why>, SlimError> {
    let kinds = || dump.kinds().filter(|(kind, _)| asked.is_none_or(|asked| is_kind(kind, asked)));
    let all = kinds().map(|(_, count)| count as u64).sum();
    let kinds: Vec<(String, u64)> = kinds()
        .map(|(kind, count)| (format!("{}:{}", kind.target.name, kind.wave_size), count as u64))
        .collect();
    let mut before = 0;
    let mut chosen = BTreeMap::new();
    for (kind, count) in kinds {
        let session = Session::new(Arc::clone(dump), Some(&kind))?;
        let mut grouping = |done| progress(Progress::Grouping(before + done, all));
        let groups = session.groups_with(Grouping::default(), &mut grouping)?.groups;
        before += count;
        progress(Progress::Grouping(before, all));
        for group in groups {
            // A rare reason must not hide behind a common one.
            let mut by_reason: BTreeMap<_, usize> = BTreeMap::new();
            let mut is_kept = |wave: &WaveId| {
                let faulted = dump.capture().wave(*wave).filter(|wave| has_faulted(wave));
                faulted.is_some_and(|wave| {
                    let known = by_reason.entry(&wave.stop).or_default();
                    *known += 1;
                    *known <= MAX_FAULTED
                })
            };
            let waves = group.members.iter().map(|member| member.wave);
            let worst: Vec<WaveId> = waves.filter(&mut is_kept).collect();
            if let (true, Some(first)) = (worst.is_empty(), group.members.first()) {
                chosen.insert(first.wave, Why::Stack);
            }
            chosen.extend(worst.into_iter().map(|wave| (wave, Why::Faulted)));
        }
    }
    Ok(chosen)
}
