//! Inference of a log's GPU. Registers and instructions determine the family, code objects the processor.

use std::sync::Arc;

use super::objects::Objects;
use super::read::{Hints, Log};
use crate::arch::{Generation, Processor, Target, Targets};
use crate::codeobject::CodeObject;
use crate::import::fallback_target::{is_read_as, nearest};
use crate::import::problem::{Do, Problems};
use crate::import::text::{Kept, Value, processors_in};

/// The GPU family by the registers of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shown {
    accumulation: bool,
    gfx12: bool,
    /// Execution masks of 32 lanes.
    wave32: bool,
    /// s102 to s105, which gfx9 reserves.
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

/// The target of waves whose code object is not available, inferred from the log; a problem reports the inference.
pub(super) fn target(log: &Log, targets: &Targets, problems: &mut Problems) -> Option<Arc<Target>> {
    let named = log.hints.named.and_then(|(processor, line)| {
        Some((nearest(targets, processor)?, line, "the runtime's words in this line name it"))
    });
    let in_uris = || {
        let (processor, line) = in_uris(log)?;
        Some((nearest(targets, processor)?, line, "the name of this code object has it"))
    };
    let (target, line, why) = named.or_else(in_uris).or_else(|| {
        let name = family(Shown::of(log), log);
        let line = log.waves.first().map_or(1, |wave| wave.line);
        Some((
            targets.target(name).ok()?,
            line,
            "of the GPUs with such registers and instructions it has the most",
        ))
    })?;
    let what = format_args!("the waves do not name their GPU; they are read as {}'s: {why}", target.name);
    problems.line(line, what, Do(format_args!("if they are another's: {SAY_WHICH}")));
    Some(target)
}

/// Hint for logs of an unknown GPU.
pub(super) const SAY_WHICH: &str = "--processor NAME with the GPU's name (`lanescope targets` lists them), or the log's code objects beside it";

/// The only processor in the names of code objects, with the line of the first.
fn in_uris(log: &Log) -> Option<(Processor, usize)> {
    let mut named = log
        .objects
        .iter()
        .flat_map(|object| processors_in(object.uri.as_bytes()).map(|named| (named, object.line)));
    let (first, line) = named.next()?;
    // A library may carry code objects for several GPUs and name them all.
    named.all(|(other, _)| other == first).then_some((first, line))
}

/// Reports a user's processor that contradicts the log or its code objects. The user's choice applies.
pub(super) fn contradictions(
    log: &Log,
    objects: &Objects,
    targets: &Targets,
    chosen: &Arc<Target>,
    problems: &mut Problems,
) {
    let name = &chosen.name;
    let mut said: Vec<Processor> = Vec::new();
    let mut say = |processor: Processor, line: Option<usize>, who: std::fmt::Arguments<'_>| {
        if is_read_as(targets, processor, chosen) || said.contains(&processor) {
            return;
        }
        said.push(processor);
        let what = format_args!(
            "--processor {name} contradicts {who} {}; the waves are read as {name}'s, as the option requires",
            processor.name
        );
        let hint = Do(format_args!("give no --processor, or --processor {}", processor.name));
        match line {
            Some(line) => problems.line(line, what, hint),
            None => problems.whole(what, hint),
        }
    };
    for (index, object) in objects.each.iter().enumerate() {
        let Some(processor) = object.parsed.as_ref().and_then(CodeObject::processor) else { continue };
        let from = objects.found.code_objects.get(index).and_then(|found| found.origin.as_deref());
        let (from, address) = (from.unwrap_or("its file"), object.address);
        let line = log.objects.get(index).map(|object| object.line);
        say(
            processor,
            line,
            format_args!("the code object at {address:#x}, which by its header ({from}) is for"),
        );
    }
    if let Some((processor, line)) = log.hints.named {
        say(processor, Some(line), format_args!("the runtime's words in this line, which name"));
    }
    if let Some((processor, line)) = in_uris(log) {
        say(processor, Some(line), format_args!("the name of the code object in this line, which has"));
    }
}

/// Processors that fit a log.
#[derive(Debug)]
pub(super) struct Likely<'l> {
    /// The user's processor, else the runtime's.
    named: Option<&'l str>,
    shown: Shown,
    hints: Hints,
}

impl<'l> Likely<'l> {
    /// The processor by the log; `chosen` is the user's.
    pub(super) fn of(log: &'l Log, chosen: Option<&'l str>) -> Self {
        let named = chosen.or(log.hints.named.map(|(named, _)| named.name));
        Self { named, shown: Shown::of(log), hints: log.hints }
    }

    /// Whether the log may be from that processor.
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
                && self.has_instructions_of(generation)
        } else {
            // gfx10 and gfx11 also have waves of 64 lanes.
            generation < Generation::Gfx12 && self.has_instructions_of(generation)
        }
    }

    /// Whether the log's memory instructions have that generation's names. A log of several GPUs has both forms.
    fn has_instructions_of(&self, generation: Generation) -> bool {
        match (self.hints.before_gfx11, self.hints.gfx11) {
            (true, false) => generation < Generation::Gfx11,
            (false, true) => generation >= Generation::Gfx11,
            _ => true,
        }
    }
}

/// A member of the family with those registers.
fn family(shown: Shown, log: &Log) -> &'static str {
    let hints = log.hints;
    if shown.gfx12 || hints.gfx12 {
        "gfx1200"
    } else if shown.accumulation || !(shown.wave32 || shown.high_sgprs || hints.gfx11) {
        // gfx90a has every register of the other gfx9 processors.
        if hints.gfx940 { "gfx942" } else { "gfx90a" }
    } else if hints.before_gfx11 {
        "gfx1030"
    } else {
        "gfx1100"
    }
}
