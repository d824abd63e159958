//! Builds a capture from a log's waves: processors, work-groups, registers.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::groups::{GroupPosition, Groups, Launches};
use super::infer::SAY_WHICH;
use super::objects::Objects;
use super::processes::Processes;
use super::read::Log;
use super::wave::{Kernel, RawWave, Stop};
use crate::arch::{Target, Targets};
use crate::capture::{
    Agent, BackingId, Capture, Dispatch, MemoryBacking, MemoryMap, Provenance, Queue, Wave, WorkGroup,
};
use crate::codeobject::ElfAddress;
use crate::import::problem::Problems;
use crate::import::text::{Placer, Sizes};
use crate::units::{Address, Pc, WaveSize};

/// Backing of the arena.
const ARENA: BackingId = BackingId(0);

/// Maximum number of processes whose lines a note lists.
const MAX_LINES: usize = 16;

/// Builds the capture; `chosen` is the processor that the user names.
pub(super) fn build(
    name: &str,
    log: Log,
    processes: &Processes,
    objects: Objects,
    targets: &Targets,
    chosen: Option<&Arc<Target>>,
    problems: &mut Problems,
) -> Capture {
    let mut builder = Builder {
        log: &log,
        processes,
        objects: &objects,
        targets,
        problems,
        chosen,
        inferred: None,
        capture: Capture { name: name.to_owned(), ..Capture::default() },
        agents: Vec::new(),
        groups: Groups::default(),
        ids: HashMap::new(),
        next_id: next_id(&log.waves),
        placer: Placer::new(ARENA),
    };
    builder.provenance();
    builder.waves();
    builder.queues_and_dispatches();
    builder.workgroups();
    builder.global();
    let (mut capture, agents) = (builder.capture, builder.agents);
    capture.backings.push(Arc::new(MemoryBacking::new(name, log.kept.into_bytes())));
    let own: Vec<Option<usize>> = (0..objects.each.len())
        .map(|index| {
            let process = processes.of_object(index)?;
            let of = |target: &Arc<Target>| {
                agents.iter().position(|(other, own)| Arc::ptr_eq(other, target) && *own == process)
            };
            let same = objects.each.get(index).and_then(|object| of(object.target.as_ref()?));
            same.or_else(|| agents.iter().position(|(_, own)| *own == process))
        })
        .collect();
    capture.code_texts = log.listings.into_capture(&own);
    capture.code_objects = objects.found.into_capture(ARENA, &mut capture.backings);
    for (object, agent) in capture.code_objects.iter_mut().zip(own) {
        object.agent = agent;
    }
    capture
}

struct Builder<'b> {
    log: &'b Log,
    processes: &'b Processes,
    objects: &'b Objects,
    targets: &'b Targets,
    problems: &'b mut Problems,
    chosen: Option<&'b Arc<Target>>,
    /// Target of the log as a whole, inferred when a wave first needs it.
    inferred: Option<Option<Arc<Target>>>,
    capture: Capture,
    /// Target and process of each agent: code addresses are per process.
    agents: Vec<(Arc<Target>, usize)>,
    groups: Groups,
    /// Used wave numbers, each with the line of its wave.
    ids: HashMap<u32, usize>,
    next_id: u32,
    placer: Placer,
}

/// The next number that no wave of the log has.
fn next_id(waves: &[RawWave]) -> u32 {
    let ids = waves.iter().filter_map(|wave| u32::try_from(wave.id?).ok());
    ids.max().unwrap_or(0).saturating_add(1)
}

impl Builder<'_> {
    fn provenance(&mut self) {
        let mut what =
            "a debug agent's log: registers, LDS and kernel arguments; private and global memory are not in it".to_owned();
        if self.processes.are_several() {
            let lines: Vec<String> =
                self.processes.lines.iter().take(MAX_LINES).map(usize::to_string).collect();
            let _ = write!(
                what,
                ". It holds reports of {} processes, which begin in lines {}: their code objects have the same addresses, so each process has an agent of its own",
                self.processes.lines.len(),
                lines.join(", ")
            );
        }
        self.capture.provenance = Provenance {
            format: self.log.version.words().to_owned(),
            producer: Some("ROCm debug agent".to_owned()),
            note: Some(what),
            ..Provenance::default()
        };
    }

    fn waves(&mut self) {
        let waves = self.log.waves.iter().enumerate();
        let targets: Vec<_> = waves.map(|(index, raw)| self.target(index, raw)).collect();
        let launches = Launches::of(self.log, &targets);
        if let Some((count, line)) = launches.unset {
            let whose = match count {
                1 => "the wave".to_owned(),
                _ => format!("{count} waves, this one first,"),
            };
            let what = format_args!(
                "the work-group of {whose} is unknown: trap temporaries would hold it, and are all 0 (not set up)"
            );
            let expected = "a run with HSA_ENABLE_DEBUG=1, which has the runtime set them up";
            self.problems.line(line, what, expected);
        }
        for ((index, raw), target) in self.log.waves.iter().enumerate().zip(targets) {
            let Some(wave) = self.wave(index, raw, target, &launches) else { continue };
            self.capture.waves.push(wave);
        }
        if self.groups.clashes > 0 {
            let what = format_args!(
                "{} waves share their places with other waves: the log does not distinguish their dispatches",
                self.groups.clashes
            );
            self.problems.whole(what, "one report of one process in a log");
        }
    }

    fn wave(
        &mut self,
        index: usize,
        raw: &RawWave,
        target: Option<Arc<Target>>,
        launches: &Launches,
    ) -> Option<Wave> {
        let kept = &self.log.kept;
        let Some(target) = target else {
            let what = "no known GPU has such waves; this one is left out";
            self.problems.line(raw.line, what, SAY_WHICH);
            self.problems.hides_waves();
            return None;
        };
        let size = self.wave_size(raw, &target)?;
        let kind = match self.targets.kind(&target.name, size) {
            Ok(kind) => kind,
            Err(error) => {
                let what = format_args!("{error}; the wave is left out");
                self.problems.line(raw.line, what, "a target with such waves (--processor)");
                self.problems.hides_waves();
                return None;
            }
        };
        let agent = self.agent(&target, self.processes.of_wave(index));
        let place = self.groups.place(raw, index, agent, launches.get(index));
        let (id, label) = self.id(raw);
        let stop = self.stop(raw, &target);
        let registers = self.placer.place(self.problems, kept, &kind, &raw.values);
        Some(Wave {
            id,
            label,
            kind,
            agent,
            workgroup: place.map(|place: GroupPosition| place.workgroup),
            wave_in_group: place.and_then(|place| place.wave_in_group),
            stop,
            sgpr_count: None,
            registers,
            private: MemoryMap::default(),
            private_size: None,
            unconfirmed: None,
            unchecked: None,
        })
    }

    /// The wave's number: the agent's, or a free one if the log repeats it.
    fn id(&mut self, raw: &RawWave) -> (u32, Option<Box<str>>) {
        let small = raw.id.and_then(|id| u32::try_from(id).ok());
        let earlier = small.and_then(|id| self.ids.get(&id).copied());
        if let (Some(id), None) = (small, earlier) {
            self.ids.insert(id, raw.line);
            return (id, None);
        }
        let id = self.next_id;
        self.next_id = self.next_id.saturating_add(1);
        self.ids.insert(id, raw.line);
        let Some(given) = raw.id else { return (id, None) };
        match earlier {
            Some(line) => {
                let what = format_args!(
                    "wave_{given} was reported before, in line {line}; this report is shown as wave {id}"
                );
                self.problems.line(raw.line, what, "one report of each wave in a log");
            }
            None => {
                let what = format_args!("wave_{given} is shown as wave {id}: its number is too large");
                self.problems.line(raw.line, what, "numbers below 2^32");
            }
        }
        (id, Some(format!("wave_{given} of line {}", raw.line).into()))
    }

    /// Target of a wave: the user's, else that of the code object at its PC, else the inferred one.
    fn target(&mut self, index: usize, raw: &RawWave) -> Option<Arc<Target>> {
        if let Some(chosen) = self.chosen {
            return Some(Arc::clone(chosen));
        }
        let kept = &self.log.kept;
        let pc = raw.values.iter().find(|value| kept.text(value.name) == "pc");
        let pc = pc.map(|pc| {
            u64::from(kept.dword(pc, 0).unwrap_or(0)) | u64::from(kept.dword(pc, 1).unwrap_or(0)) << 32
        });
        let entry = match raw.entry {
            Kernel::At(entry, _) => Some(entry),
            _ => None,
        };
        let process = self.processes.of_wave(index);
        let of = |address: Option<u64>| self.objects.at(address?, process)?.target.clone();
        if let Some(target) = of(pc).or_else(|| of(entry)) {
            return Some(target);
        }
        // All known targets agree: the log is from one GPU.
        let mut known = self.objects.each.iter().filter_map(|object| object.target.as_ref());
        if let Some(first) = known.next()
            && known.all(|other| Arc::ptr_eq(first, other))
        {
            return Some(Arc::clone(first));
        }
        let Self { log, targets, problems, inferred, .. } = self;
        inferred.get_or_insert_with(|| super::infer::target(log, targets, problems)).clone()
    }

    fn wave_size(&mut self, raw: &RawWave, target: &Target) -> Option<WaveSize> {
        let (size, contradicts) = Sizes::of(&self.log.kept, &raw.values).wave_size();
        if contradicts {
            let what = "vectors have more than 32 lanes and exec has 32 bits: read as wave64";
            self.problems.line(raw.line, what, "both of one wave size");
        }
        if let Some(size) = size {
            return Some(size);
        }
        let first = target.wave_sizes.first().copied();
        if target.wave_sizes.len() > 1
            && let Some(first) = first
        {
            let what =
                format_args!("neither exec nor a whole vector is in the log: the wave is read as {first}");
            self.problems.line(raw.line, what, "exec, which gives the wave size");
        }
        first
    }

    fn agent(&mut self, target: &Arc<Target>, process: usize) -> usize {
        let agents = &mut self.capture.agents;
        let known = |(other, own): &(Arc<Target>, usize)| Arc::ptr_eq(other, target) && *own == process;
        if let Some(known) = self.agents.iter().position(known) {
            return known;
        }
        self.agents.push((Arc::clone(target), process));
        let line = self.processes.lines.get(process).filter(|_| self.processes.are_several());
        let id = agents.len() as u32 + 1;
        agents.push(Agent {
            id,
            target: Arc::clone(target),
            name: line.map(|line| format!("of the process whose report begins in line {line}")),
            apertures: HashMap::new(),
            hardware: None,
        });
        agents.len() - 1
    }

    fn stop(&mut self, raw: &RawWave, target: &Target) -> Option<Vec<usize>> {
        let kept = &self.log.kept;
        let words = match &raw.stop {
            Stop::Running => return Some(Vec::new()),
            Stop::Unsaid => {
                let read = |name: &str| {
                    let value = raw.values.iter().find(|value| kept.text(value.name) == name)?;
                    kept.dword(value, 0).map(u64::from)
                };
                return Some(target.faults(true, read)).filter(|reasons| !reasons.is_empty());
            }
            Stop::Reasons(words) => words,
        };
        let mut reasons = Vec::new();
        for word in words {
            if word == "NONE" {
                continue;
            }
            match target.reason_index(&word.to_ascii_lowercase()) {
                Some(reason) if !reasons.contains(&reason) => reasons.push(reason),
                Some(_) => {}
                None => {
                    let what = format_args!("{word:?} is no stop reason of {}", target.name);
                    self.problems.line(raw.line, what, "reasons of AMD's debugger library");
                }
            }
        }
        (!reasons.is_empty() || words.iter().any(|word| word == "NONE")).then_some(reasons)
    }

    fn queues_and_dispatches(&mut self) {
        let mut queue_of = HashMap::new();
        for (index, dispatch) in self.groups.dispatches.iter().enumerate() {
            let Capture { queues, .. } = &mut self.capture;
            let queue = *queue_of.entry(dispatch.agent).or_insert_with(|| {
                let id = queues.len() as u32 + 1;
                // A dispatch has a queue, and the log does not name it.
                let name = Some("queues are not in the log".to_owned());
                queues.push(Queue { id, agent: dispatch.agent, name, ring: None });
                queues.len() - 1
            });
            let raw = self.log.waves.get(dispatch.first);
            let entry = match raw.map(|raw| &raw.entry) {
                Some(Kernel::At(address, name)) => Some((*address, name.clone())),
                _ => None,
            };
            let process = self.processes.of_wave(dispatch.first);
            let found = entry.as_ref().and_then(|(address, _)| self.kernel(*address, process));
            let (symbol, descriptor) = found.unzip();
            self.capture.dispatches.push(Dispatch {
                id: index as u32 + 1,
                queue,
                entry: entry.as_ref().map(|(address, _)| Address(*address)),
                kernel: symbol.or_else(|| entry?.1),
                kernarg: raw.and_then(|raw| raw.kernargs).map(Address),
                kernel_object: descriptor.map(Address),
                group_segment_size: raw.and_then(|raw| raw.local_asked),
                ..Dispatch::default()
            });
        }
    }

    /// Symbol and descriptor address of the kernel with that entry.
    fn kernel(&self, entry: u64, process: usize) -> Option<(String, u64)> {
        let object = self.objects.at(entry, process)?;
        let load = object.address;
        let at = ElfAddress::of(Pc(entry), load);
        let mut kernels = object.parsed.as_ref()?.kernels();
        let kernel = kernels.find(|kernel| kernel.entry == Some(at))?;
        Some((kernel.name, load.wrapping_add(kernel.descriptor.0)))
    }

    fn workgroups(&mut self) {
        let kept = &self.log.kept;
        // For each group: the wave that prints the most LDS, and the others.
        let mut waves_of: Vec<Vec<usize>> = vec![Vec::new(); self.groups.groups.len()];
        for (group, wave) in &self.groups.members {
            if let Some(waves) = waves_of.get_mut(*group) {
                waves.push(*wave);
            }
        }
        for (index, (group, waves)) in self.groups.groups.iter().zip(waves_of).enumerate() {
            let raws = waves.iter().filter_map(|wave| self.log.waves.get(*wave));
            let with: Vec<&RawWave> = raws.filter(|raw| !raw.local.is_empty()).collect();
            let best = with.iter().max_by_key(|raw| (raw.local_ended, raw.local.length())).copied();
            let mut work = WorkGroup {
                id: index as u32 + 1,
                queue: self.capture.dispatches.get(group.dispatch).map(|dispatch| dispatch.queue),
                dispatch: Some(group.dispatch),
                position: group.position,
                lds_size: None,
                has_all_waves: false,
                lds: MemoryMap::default(),
            };
            if let Some(best) = best {
                if let Some(raw) = with.iter().find(|raw| raw.local.contradicts(&best.local, kept)) {
                    let what = "LDS differs from that of another wave of the work-group, which counts";
                    self.problems.line(raw.line, what, "the same LDS for all waves of a work-group");
                }
                let (map, overlaps) = best.local.map(ARENA);
                if overlaps > 0 {
                    let what = format_args!("{overlaps} runs of LDS repeat addresses and are left out");
                    self.problems.line(best.line, what, "each address once");
                }
                work.lds_size = best.local.whole().filter(|_| best.local_ended);
                work.lds = map;
            }
            self.capture.workgroups.push(work);
        }
    }

    /// Adds kernel arguments, the only global memory that a log may hold.
    fn global(&mut self) {
        let kept = &self.log.kept;
        let mut taken: HashMap<u64, usize> = HashMap::new();
        let mut segments = Vec::new();
        for (index, raw) in self.log.waves.iter().enumerate().filter(|(_, raw)| !raw.kernarg.is_empty()) {
            let new = raw.kernarg.segments(ARENA, Some("kernel arguments"));
            let Some(first) = new.first().map(|segment| segment.address) else { continue };
            let known = *taken.entry(first).or_insert(index);
            if known == index {
                segments.extend(new);
            } else if self.log.waves.get(known).is_some_and(|other| !other.kernarg.same(&raw.kernarg, kept)) {
                let what = "kernel arguments differ from an earlier wave's at the same place; the earlier ones are used";
                self.problems.line(raw.line, what, "the same memory for all waves");
            }
        }
        let (map, refused) = MemoryMap::new(segments);
        if !refused.is_empty() {
            let what =
                format_args!("{} runs of kernel arguments overlap others and are left out", refused.len());
            self.problems.whole(what, "each address once");
        }
        self.capture.global = map;
    }
}
