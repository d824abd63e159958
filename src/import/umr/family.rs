//! The GPU of a wave. Some versions of umr name it for some waves; a wave's words determine its generation.

use std::collections::HashMap;
use std::sync::Arc;

use super::wave::UmrWave;
use crate::arch::{Generation, Processor, Target, Targets};
use crate::import::fallback_target::{chosen, is_read_as, nearest};
use crate::import::problem::{Do, Problems};
use crate::import::{ImportError, Options};

/// Facts about a dump's GPUs, apart from the words of its waves.
#[derive(Debug)]
pub(super) struct Families<'t> {
    pub(super) targets: &'t Targets,
    /// The user's target.
    pub(super) chosen: Option<Arc<Target>>,
    /// The processor according to files beside the text.
    pub(super) beside: Option<Processor>,
    /// The name of the GPU beside the text, if no known processor has it.
    pub(super) unknown: Option<String>,
    /// Generation of the last wave whose words determine one.
    last: Option<Generation>,
    members: HashMap<&'static str, Option<Arc<Target>>>,
    /// Generation of the first wave's words that contradict the user's processor, and the wave's line.
    contradicted: Option<(Generation, usize)>,
}

impl<'t> Families<'t> {
    /// The facts of the user's processor and of files beside the text.
    ///
    /// # Errors
    /// The processor that the user names is not known.
    pub(super) fn new(
        targets: &'t Targets,
        options: &Options,
        beside: Option<Processor>,
    ) -> Result<Self, ImportError> {
        Ok(Self {
            targets,
            chosen: chosen(targets, options)?,
            beside,
            unknown: None,
            last: None,
            members: HashMap::new(),
            contradicted: None,
        })
    }

    /// A target with the facts of a wave's generation, even if the wave's own target is not yet known.
    pub(super) fn like(&mut self, wave: &mut UmrWave) -> Option<Arc<Target>> {
        let told = generation_of(wave).or(self.last.filter(|last| wave.has_wgp == has_wgp(*last)));
        self.last = told.or(self.last);
        let generation = told.unwrap_or(if wave.has_wgp { Generation::Gfx11 } else { Generation::Gfx9 });
        wave.generation = Some(generation);
        if let Some(chosen) = &self.chosen {
            if Processor::named(&chosen.name).is_some_and(|named| !fits(named, wave)) {
                self.contradicted.get_or_insert((generation, wave.line));
            }
            return Some(Arc::clone(chosen));
        }
        let named = wave.named.or(self.beside).filter(|named| fits(*named, wave));
        let named = named.map(|named| named.name);
        let targets = self.targets;
        let member = |name: &str| nearest(targets, Processor::named(name)?);
        let name = named.unwrap_or(member_of(generation));
        self.members.entry(name).or_insert_with(|| member(name)).clone()
    }

    /// The target of each wave; reports an inferred one.
    pub(super) fn targets_of(
        &mut self,
        waves: &[UmrWave],
        problems: &mut Problems,
    ) -> Vec<Option<Arc<Target>>> {
        if let Some(chosen) = &self.chosen {
            self.contradictions(chosen, waves, problems);
            return waves.iter().map(|_| Some(Arc::clone(chosen))).collect();
        }
        let processors = self.processors(waves);
        let too_old = waves.iter().any(|wave| wave.before_gfx9);
        let mut said = Said::default();
        let mut targets = Vec::with_capacity(waves.len());
        for (wave, processor) in waves.iter().zip(processors) {
            let target = match processor {
                Some(processor) => {
                    let targets = self.targets;
                    let found = self.members.entry(processor.name);
                    let found = found.or_insert_with(|| nearest(targets, processor)).clone();
                    said.nearest(problems, processor, found.as_deref());
                    found
                }
                None if too_old && !wave.has_wgp => {
                    said.once(
                        problems,
                        "the waves are of a GPU before gfx9; they are left out",
                        "gfx9 to gfx12",
                    );
                    problems.hides_waves();
                    None
                }
                None => {
                    let name = member_of(wave.generation.unwrap_or(Generation::Gfx9));
                    let subject = match &self.unknown {
                        Some(unknown) => format!(
                            "{unknown}, a GPU that lanescope does not know; by their registers the waves"
                        ),
                        None => "the GPU of the waves is unknown; by their registers they".to_owned(),
                    };
                    said.once(
                        problems,
                        &format!("{subject} are read as {name}'s"),
                        "--processor NAME with the GPU's name (`lanescope targets` lists them)",
                    );
                    self.targets.target(name).ok()
                }
            };
            targets.push(target);
        }
        targets
    }

    /// Reports contradictions of the user's processor, which applies, with the text, files beside it, or waves' words.
    fn contradictions(&self, chosen: &Target, waves: &[UmrWave], problems: &mut Problems) {
        let name = &chosen.name;
        let end = format!("the waves are read as {name}'s, as the option requires");
        let is_other = |named: &Processor| !is_read_as(self.targets, *named, chosen);
        let mut named = waves.iter().filter_map(|wave| Some((wave.named.filter(is_other)?, wave.line)));
        if let Some((other, line)) = named.next() {
            let other = other.name;
            let what = format_args!(
                "--processor {name} contradicts this wave, whose registers are named as {other}'s; {end}"
            );
            problems.line(line, what, Do(format_args!("give no --processor, or --processor {other}")));
        } else if let Some(other) = self.beside.filter(is_other) {
            let other = other.name;
            let what = format_args!(
                "--processor {name} contradicts the file beside the text that names the GPU, {other}; {end}"
            );
            problems.whole(what, Do(format_args!("give no --processor, or --processor {other}")));
        }
        if let Some((generation, line)) = self.contradicted {
            let like = member_of(generation);
            let what = format_args!(
                "--processor {name} contradicts this wave, which has words as {like} has them; {end}"
            );
            problems.line(line, what, "the processor that the waves ran on after --processor");
        }
    }

    /// The named processor of each wave: its own, else that of the nearest wave before or after it that may share its
    /// GPU, else that of files beside the text.
    fn processors(&self, waves: &[UmrWave]) -> Vec<Option<Processor>> {
        let mut found: Vec<Option<Processor>> = waves.iter().map(|wave| wave.named).collect();
        let spread = |found: &mut Vec<Option<Processor>>, order: &mut dyn Iterator<Item = usize>| {
            let mut last: Vec<Processor> = Vec::new();
            for index in order {
                let (Some(wave), Some(place)) = (waves.get(index), found.get_mut(index)) else { continue };
                match *place {
                    Some(named) => {
                        last.retain(|other| *other != named);
                        last.push(named);
                    }
                    None => *place = last.iter().rev().copied().find(|named| fits(*named, wave)),
                }
            }
        };
        spread(&mut found, &mut (0..waves.len()));
        spread(&mut found, &mut (0..waves.len()).rev());
        found.into_iter().map(|found| found.or(self.beside)).collect()
    }
}

/// Problems that are reported only once.
#[derive(Debug, Default)]
struct Said(Vec<String>);

impl Said {
    fn once(&mut self, problems: &mut Problems, what: &str, expected: &str) {
        if !self.0.iter().any(|said| said == what) {
            problems.whole(what, expected);
            self.0.push(what.to_owned());
        }
    }

    fn nearest(&mut self, problems: &mut Problems, processor: Processor, found: Option<&Target>) {
        match found {
            Some(target) if target.name == processor.name => {}
            Some(target) => self.once(
                problems,
                &format!("no target describes {}: it is read as {}", processor.name, target.name),
                "--processor NAME, or a target file in the folder of --targets",
            ),
            None => {
                let what =
                    format!("no target is of the generation of {}; its waves are left out", processor.name);
                self.once(problems, &what, "gfx9 to gfx12");
                problems.hides_waves();
            }
        }
    }
}

/// The only generation with such words.
fn generation_of(wave: &UmrWave) -> Option<Generation> {
    let has = |name: &str| wave.words.contains_key(name);
    match wave.has_wgp {
        false => Some(Generation::Gfx9),
        true if has("state_priv") => Some(Generation::Gfx12),
        // gfx10 shows the present instruction, gfx11 does not.
        true if has("inst_dw0") => Some(Generation::Gfx10),
        true => has("trapsts").then_some(Generation::Gfx11),
    }
}

/// A member of a generation, for waves without a name.
fn member_of(generation: Generation) -> &'static str {
    match generation {
        Generation::Gfx12 | Generation::Gfx125 => "gfx1200",
        Generation::Gfx11 => "gfx1100",
        Generation::Gfx10 => "gfx1030",
        _ => "gfx900",
    }
}

/// Whether a processor's slots have a WGP in their names.
fn has_wgp(generation: Generation) -> bool {
    matches!(generation, Generation::Gfx10 | Generation::Gfx11 | Generation::Gfx12 | Generation::Gfx125)
}

/// Whether a wave with such words may be of that processor.
fn fits(processor: Processor, wave: &UmrWave) -> bool {
    match generation_of(wave) {
        Some(Generation::Gfx9) => !has_wgp(processor.generation),
        Some(Generation::Gfx12) => matches!(processor.generation, Generation::Gfx12 | Generation::Gfx125),
        Some(told) => told == processor.generation,
        None => has_wgp(processor.generation),
    }
}
