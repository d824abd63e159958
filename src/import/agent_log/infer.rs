//! Which GPU a log is from. The agent does not say; its registers and instructions tell the family, its code objects the
//! processor.

use std::sync::Arc;

use super::read::{Hints, Log};
use crate::arch::{Generation, Processor, Target, Targets};
use crate::import::ImportError;
use crate::import::nearest::nearest;
use crate::import::problem::Problems;
use crate::import::text::{Kept, Value, processors_in};

/// What the registers of a log show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shown {
    accumulation: bool,
    gfx12: bool,
    /// Execution masks of 32 lanes.
    wave32: bool,
    /// s102 to s105, which gfx9 keeps for itself.
    high_sgprs: bool,
}

impl Shown {
    fn of(log: &Log) -> Self {
        let mut shown = Self::default();
        for wave in &log.waves {
            for value in &wave.values {
                shown.one(&log.kept, value);
            }
        }
        shown
    }

    fn one(&mut self, kept: &Kept, value: &Value) {
        let name = kept.text(value.name);
        match name {
            "exec" => self.wave32 |= value.dwords == 1,
            "state_priv" | "excp_flag_priv" | "excp_flag_user" | "trap_ctrl" | "scratch_base" => {
                self.gfx12 = true;
            }
            "s102" | "s103" | "s104" | "s105" => self.high_sgprs = true,
            _ => self.accumulation |= value.vector && name.starts_with('a'),
        }
    }
}

/// The processor that the user names.
///
/// # Errors
/// There is no such target.
pub(super) fn chosen(targets: &Targets, name: Option<&str>) -> Result<Option<Arc<Target>>, ImportError> {
    let target = name.map(|name| targets.target(name));
    target.transpose().map_err(|error| ImportError::Processor { what: error.to_string() })
}

/// The target of waves whose code object is not at hand: told by the log as far as it goes, and a problem says how far.
pub(super) fn target(log: &Log, targets: &Targets, problems: &mut Problems) -> Option<Arc<Target>> {
    let named =
        log.hints.named.and_then(|processor| Some((nearest(targets, processor)?, "the runtime's words")));
    let in_uris = || {
        let mut named = log.objects.iter().flat_map(|object| processors_in(object.uri.as_bytes()));
        let first = named.next()?;
        // A library may carry code objects of several GPUs and name them all.
        named.all(|other| other == first).then_some(())?;
        Some((nearest(targets, first)?, "the names of its code objects"))
    };
    let (target, by) = named.or_else(in_uris).or_else(|| {
        let name = family(Shown::of(log), log);
        Some((targets.target(name).ok()?, "its registers and instructions"))
    })?;
    let what =
        format_args!("the log does not say which GPU it is from; by {by} it is read as {}'s", target.name);
    problems.whole(what, "its code objects beside it, or --processor NAME");
    Some(target)
}

/// Which processors a log may be from.
#[derive(Debug)]
pub(super) struct Likely<'l> {
    /// The user's word, else the runtime's.
    named: Option<&'l str>,
    shown: Shown,
    hints: Hints,
}

impl<'l> Likely<'l> {
    /// As far as a log says; `chosen` is what the user says.
    pub(super) fn of(log: &'l Log, chosen: Option<&'l str>) -> Self {
        let named = chosen.or(log.hints.named.map(|named| named.name));
        Self { named, shown: Shown::of(log), hints: log.hints }
    }

    /// Whether it may be from that processor.
    pub(super) fn may_be(&self, processor: Processor) -> bool {
        if let Some(name) = self.named {
            return processor.runs_on(name);
        }
        let (shown, generation) = (self.shown, processor.generation);
        if shown.gfx12 || self.hints.gfx12 {
            generation >= Generation::Gfx12
        } else if shown.accumulation {
            matches!(generation, Generation::Gfx9 | Generation::Gfx90a | Generation::Gfx940)
        } else if shown.wave32 || shown.high_sgprs || self.hints.gfx11 {
            matches!(generation, Generation::Gfx10 | Generation::Gfx11)
        } else {
            // gfx10 and gfx11 have waves of 64 lanes, too.
            generation < Generation::Gfx12
        }
    }
}

/// A member of the family that shows such registers.
fn family(shown: Shown, log: &Log) -> &'static str {
    let hints = log.hints;
    if shown.gfx12 || hints.gfx12 {
        "gfx1200"
    } else if shown.accumulation || !(shown.wave32 || shown.high_sgprs || hints.gfx11) {
        // gfx90a has every register that another gfx9 has.
        if hints.gfx940 { "gfx942" } else { "gfx90a" }
    } else if hints.before_gfx11 {
        "gfx1030"
    } else {
        "gfx1100"
    }
}
