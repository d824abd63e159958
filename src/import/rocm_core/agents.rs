//! GPUs of a core and their processors.

use std::sync::Arc;

use super::note::{AgentEntry, State};
use crate::arch::{Processor, Target, Targets};
use crate::capture::{Agent, Capture, Hardware};
use crate::import::Options;
use crate::import::fallback_target::{is_read_as, near, parse, version};
use crate::import::problem::{Do, Problems};
use crate::units::Address;

/// debug_prop: trap temporaries always hold dispatch facts, without a request to the runtime.
const DISPATCH_INFO_ALWAYS_VALID: u32 = 1 << 10;

/// Maximum number of XCCs of a GPU.
pub(super) const MAX_XCCS: u32 = 64;

/// A GPU with readable waves.
#[derive(Debug)]
pub(super) struct Known {
    /// Its id.
    pub(super) gpu_id: u32,
    /// Index in the capture.
    pub(super) index: usize,
    /// Its processor, or the replacement.
    pub(super) target: Arc<Target>,
    /// Number of shader engines of an XCC.
    pub(super) engines: u32,
    /// Number of XCCs.
    pub(super) xccs: u32,
    /// Whether trap temporaries always hold dispatch facts.
    pub(super) always: bool,
    /// Possible processors with other layouts, nearest first; computed on demand.
    siblings: Option<Vec<Arc<Target>>>,
}

/// The GPUs of a core.
#[derive(Debug)]
pub(super) struct Agents {
    known: Vec<Known>,
    /// Ids of unknown GPUs.
    unknown: Vec<u32>,
    /// The user's processor for a note without agents.
    named: Option<Arc<Target>>,
}

impl Agents {
    /// Adds the GPUs to a capture.
    pub(super) fn new(
        state: &State,
        targets: &Targets,
        options: &Options,
        capture: &mut Capture,
        problems: &mut Problems,
    ) -> Self {
        let named = options.target.as_ref().filter(|_| state.agents.is_empty());
        let named = named.and_then(|name| targets.target(name).ok());
        let mut agents = Self { known: Vec::new(), unknown: Vec::new(), named };
        for (number, entry) in state.agents.iter().enumerate() {
            let key = format!("agent {}", entry.gpu_id);
            if agents.known.iter().any(|known| known.gpu_id == entry.gpu_id) {
                problems.report(
                    key,
                    format!("entry {number} has the id of an earlier one, ignored"),
                    "another id",
                );
                continue;
            }
            let Some(target) = target(entry, targets, options, &key, problems) else {
                problems.hides_waves();
                agents.unknown.push(entry.gpu_id);
                continue;
            };
            let per_engine = entry.arrays_per_engine;
            let engines = entry.arrays.checked_div(per_engine).unwrap_or(0);
            if engines == 0 {
                let what = format!("{} shader arrays, {per_engine} in an engine", entry.arrays);
                problems.report(&key, what, "engines: private memory is not to be found without");
            }
            if entry.xccs > MAX_XCCS {
                problems.report(&key, format!("{} XCCs", entry.xccs), format!("at most {MAX_XCCS}"));
                problems.hides_waves();
            }
            agents.known.push(Known {
                gpu_id: entry.gpu_id,
                index: capture.agents.len(),
                target: Arc::clone(&target),
                engines,
                // Drivers of GPUs without XCCs write 0.
                xccs: entry.xccs.clamp(1, MAX_XCCS),
                always: entry.debug_prop & DISPATCH_INFO_ALWAYS_VALID != 0,
                siblings: None,
            });
            capture.agents.push(agent(entry, target));
        }
        agents
    }

    /// The GPU of a queue: that of the queue's id, else the only one of the note, else the user's for a note without
    /// agents. Reports the second and third case, and a queue without a GPU.
    pub(super) fn of_queue(
        &mut self,
        gpu_id: u32,
        key: &str,
        capture: &mut Capture,
        problems: &mut Problems,
    ) -> Option<&mut Known> {
        let expected = "an agent of the note";
        let found = self.known.iter().position(|known| known.gpu_id == gpu_id);
        let index = match (found, &*self.known, &self.named) {
            (Some(index), ..) => index,
            // Already reported as an agent.
            _ if self.unknown.contains(&gpu_id) => return None,
            (None, [only], _) if self.unknown.is_empty() => {
                let what = format!(
                    "it is of agent {gpu_id}, which the note does not have; read as one of agent {}, the only one",
                    only.gpu_id
                );
                problems.report(key, what, expected);
                0
            }
            (None, [], Some(target)) => {
                let what = format!(
                    "it is of agent {gpu_id}, and the note has no agents; read as one of {}, as --processor names it",
                    target.name
                );
                problems.report(key, what, expected);
                let agent = Agent {
                    id: gpu_id,
                    target: Arc::clone(target),
                    name: None,
                    apertures: std::collections::HashMap::new(),
                    hardware: None,
                };
                self.known.push(Known {
                    gpu_id,
                    index: capture.agents.len(),
                    target: Arc::clone(target),
                    engines: 0,
                    xccs: 1,
                    always: false,
                    siblings: None,
                });
                capture.agents.push(agent);
                self.known.len() - 1
            }
            _ => {
                let what = format!("it is of agent {gpu_id}, which the note does not have; left out");
                problems.report(key, what, expected);
                problems.hides_waves();
                return None;
            }
        };
        self.known.get_mut(index)
    }
}

impl Known {
    /// Processors of the same family with another layout, the nearest first.
    pub(super) fn siblings(&mut self, targets: &Targets) -> &[Arc<Target>] {
        let own = &self.target;
        self.siblings.get_or_insert_with(|| {
            let version = parse(&own.name);
            let near = near(version.unwrap_or((0, 0, 0)), targets);
            let mut found: Vec<Arc<Target>> = Vec::new();
            for target in near.into_iter().filter_map(|name| targets.target(&name).ok()) {
                let is_known = |other: &Arc<Target>| other.save_area == target.save_area;
                if target.save_area.is_some() && !is_known(own) && !found.iter().any(is_known) {
                    found.push(target);
                }
            }
            found
        })
    }
}

/// The processor of an entry: by name, else the user's, else the nearest.
fn target(
    entry: &AgentEntry,
    targets: &Targets,
    options: &Options,
    key: &str,
    problems: &mut Problems,
) -> Option<Arc<Target>> {
    let version = version(entry.gfx_version);
    let name = format!("gfx{}{:x}{:x}", version.0, version.1, version.2);
    if let Ok(target) = targets.target(&name) {
        if let Some(named) = options.target.as_deref().filter(|named| *named != name) {
            let what = format!("--processor {named} contradicts the core's {name}, which is used");
            problems.report(key, what, Do("give no --processor: it is for GPUs that are not known"));
        }
        return Some(target);
    }
    if let Some(named) = &options.target {
        match targets.target(named) {
            Ok(target) => {
                if parse(&target.name).is_some_and(|own| own.0 != version.0) {
                    let what = format!(
                        "--processor {named} contradicts the core's {name}, which is unknown; it is read as {named}, as the option requires"
                    );
                    problems.report(key, what, "a processor of the same generation");
                }
                return Some(target);
            }
            Err(error) => problems.report(key, error, "--processor to name a target"),
        }
    }
    let nearest = near(version, targets)
        .into_iter()
        .filter(|near| parse(near).is_some_and(|near| (near.0, near.1) == (version.0, version.1)));
    let Some(target) = nearest.filter_map(|name| targets.target(&name).ok()).next() else {
        let what = format!("{name} is not known, and no processor near it: its queues are left out");
        problems.report(key, what, "one that `lanescope targets` lists, or --processor");
        return None;
    };
    let what = format!("{name} is not known and taken for {}", target.name);
    problems.report(key, what, "one that `lanescope targets` lists");
    Some(target)
}

/// Reports code objects of a core for other processors than the user's.
///
/// `flags`: load address and ELF header flags of each code object.
pub(super) fn contradictions(
    flags: impl Iterator<Item = (u64, u32)>,
    targets: &Targets,
    options: &Options,
    capture: &Capture,
    problems: &mut Problems,
) {
    let Some(named) = options
        .target
        .as_deref()
        .filter(|named| capture.agents.iter().any(|agent| agent.target.name == **named))
    else {
        return;
    };
    let mut said: Vec<Processor> = Vec::new();
    for (address, flags) in flags {
        let Some(processor) = Processor::of_mach((flags & 0xff) as u8) else { continue };
        let fits = capture.agents.iter().any(|agent| is_read_as(targets, processor, &agent.target));
        if fits || said.contains(&processor) {
            continue;
        }
        said.push(processor);
        let other = processor.name;
        let what = format!(
            "--processor {named} contradicts the code object at {address:#x}, which by its header is for {other}; waves are read as \
             {named}'s, as the option requires"
        );
        problems.report("--processor", what, Do(format_args!("give no --processor, or --processor {other}")));
    }
}

fn agent(entry: &AgentEntry, target: Arc<Target>) -> Agent {
    let mut apertures = std::collections::HashMap::new();
    // A driver without an aperture writes base and limit 0.
    let bases = [
        ("local", entry.lds_base, entry.lds_limit),
        ("private_lane", entry.scratch_base, entry.scratch_limit),
    ];
    for (name, base, limit) in bases {
        if let Some(space) = target.space_named(name).filter(|_| limit > base) {
            apertures.insert(space.id, Address(base));
        }
    }
    let hardware = Hardware {
        vendor: entry.vendor,
        device: entry.device,
        location: entry.location,
        simds: entry.simds,
        waves_per_simd: entry.waves_per_simd,
        xccs: entry.xccs,
    };
    Agent { id: entry.gpu_id, target, name: None, apertures, hardware: Some(hardware) }
}
