//! What makes values of a wave doubtful, and the checks of waves against each other that find it.
//!
//! A save area has no checksum. What confirms a wave is what it shares with others: its work-group, its kernel, its slot of
//! scratch memory. A wave that is not confirmed keeps its values and carries the reason.

use std::collections::{BTreeMap, HashMap};

use super::block::Counts;
use super::dispatch::Dispatches;
use super::memory::CoreMemory;
use super::missing::{Missing, count};
use super::queues::Waves;
use super::wave::Launch;
use crate::arch::{DescriptorFacts, DescriptorWords, Processor, Target};
use crate::capture::{Capture, Dispatch};
use crate::codeobject::KernelDescriptor;

/// Why values of a wave may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// Its block lies beside a damaged record.
    Block,
    /// Its control stack was not captured to the end.
    Cut,
    /// Its area's header was restored, and its PC does not confirm its place.
    Header,
    /// Its record was restored from the records beside it.
    Record,
    /// The flags of its work-group's records contradict each other.
    Flags,
    /// Its work-group was opened by a wave whose block is not confirmed.
    WorkGroup,
    /// Its PC is not aligned, or outside of captured memory.
    Pc,
    /// The trap handler's words and the wave's status contradict each other.
    Stopped,
    /// Its trap temporaries name another work-group or packet than those of the other waves of its work-group.
    Launch,
    /// Its packet is not one of its queue's.
    Packet,
    /// Its place is beyond its work-group.
    Outside,
    /// Another wave of its work-group has the same place.
    SamePlace,
    /// Another wave has the same slot of scratch memory.
    SameSlot,
    /// The register with the base of private memory names another slot.
    OtherSlot,
    /// No scratch memory was allotted, and no register confirms its private memory.
    Unallotted,
    /// Its kernel's descriptor has another wave size.
    WaveSize,
    /// Its kernel's descriptor has another offset of the accumulation VGPRs.
    AccumOffset,
}

impl Doubt {
    /// In words.
    fn words(self) -> &'static str {
        match self {
            Self::Block => "its control stack is damaged beside its record: nothing confirms its registers",
            Self::Cut => "its control stack was not captured to the end: nothing confirms its registers",
            Self::Header => "a header restored from other words places it, and its PC does not confirm that",
            Self::Record => "its record in the control stack was damaged and is restored from its neighbours",
            Self::Flags => {
                "first and last flags in the control stack contradict each other: nothing confirms its work-group"
            }
            Self::WorkGroup => "its work-group's first wave is unconfirmed, and so is the LDS",
            Self::Pc => "its PC is not the address of an instruction in captured memory",
            Self::Stopped => {
                "its trap temporaries and its status contradict each other on whether it was stopped"
            }
            Self::Launch => {
                "its trap temporaries and those of its work-group's other waves contradict each other"
            }
            Self::Packet => "its packet index is not between the queue's read and write indexes",
            Self::Outside => "its place lies outside of its work-group",
            Self::SamePlace => "another wave of its work-group has its place",
            Self::SameSlot => "another wave has its slot of scratch memory",
            Self::OtherSlot => "FLAT_SCRATCH names another slot of scratch memory than its record",
            Self::Unallotted => {
                "its record has SCRATCH_EN clear, and no register confirms its private memory"
            }
            Self::WaveSize => "its record and its kernel's descriptor have different wave sizes",
            Self::AccumOffset => {
                "its record and its kernel's descriptor have different offsets of the accumulation VGPRs"
            }
        }
    }
}

/// A wave as the checks compare it with others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Index in the capture.
    pub(super) wave: usize,
    /// Index of its work-group.
    pub(super) group: Option<usize>,
    pub(super) launch: Option<Launch>,
    pub(super) counts: Counts,
    /// Shader engine and slot of its scratch memory, where it was allotted some.
    pub(super) slot: Option<(u32, u32)>,
}

/// The doubts of a capture's waves.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    found: Vec<(usize, Doubt)>,
    /// PCs outside of captured memory, by wave.
    astray: Vec<(usize, u64)>,
}

impl Doubts {
    /// Adds one.
    pub(super) fn add(&mut self, wave: usize, doubt: Doubt) {
        self.found.push((wave, doubt));
    }

    /// Adds a PC outside of captured memory: doubtful where code was captured, unless a code object is there.
    pub(super) fn astray(&mut self, wave: usize, pc: u64) {
        self.astray.push((wave, pc));
    }

    /// Marks the waves of a capture. `is_code`: whether the code object for an address is known.
    pub(super) fn mark(mut self, capture: &mut Capture, is_code: impl Fn(u64) -> bool) {
        // Where no code was captured every PC is outside, and tells nothing.
        let has_code = capture.dispatches.iter().any(|dispatch| dispatch.entry.is_some());
        if has_code || self.astray.len() < capture.waves.len() {
            let astray = self.astray.iter().filter(|(_, pc)| !is_code(*pc));
            self.found.extend(astray.map(|(wave, _)| (*wave, Doubt::Pc)));
        }
        self.found.sort_unstable();
        self.found.dedup();
        for of in self.found.chunk_by(|(one, _), (other, _)| one == other) {
            let Some(wave) = of.first().and_then(|(wave, _)| capture.waves.get_mut(*wave)) else { continue };
            let words: Vec<&str> = of.iter().map(|(_, doubt)| doubt.words()).collect();
            wave.unconfirmed = Some(words.join("; ").into());
        }
    }
}

impl Waves<'_> {
    /// Compares the waves of one XCC, in the order of its control stack.
    pub(super) fn compare(
        &mut self,
        seen: &[Seen],
        target: &Target,
        dispatches: &mut Dispatches,
        missing: &mut Missing,
        capture: &mut Capture,
    ) {
        let mut slots: HashMap<(u32, u32), usize> = HashMap::new();
        for Seen { wave, slot, .. } in seen {
            let Some(slot) = slot else { continue };
            if let Some(other) = slots.insert(*slot, *wave) {
                self.doubts.add(other, Doubt::SameSlot);
                self.doubts.add(*wave, Doubt::SameSlot);
                count(&mut missing.same_slot, (*wave + 1, other + 1));
            }
        }
        let mut kernels: HashMap<usize, Option<DescriptorFacts>> = HashMap::new();
        for group in seen.chunk_by(|one, other| one.group == other.group) {
            let Some(index) = group.first().and_then(|seen| seen.group) else { continue };
            self.compare_launches(index, group, dispatches, missing, capture);
            let dispatch = capture.workgroups.get(index).and_then(|group| group.dispatch);
            let Some(dispatch) = dispatch else { continue };
            let kernel = kernels.entry(dispatch).or_insert_with(|| {
                capture.dispatches.get(dispatch).and_then(|dispatch| kernel(self.memory, dispatch, target))
            });
            let Some(kernel) = kernel else { continue };
            for Seen { wave, counts, .. } in group {
                if let Some(doubt) = contradiction(kernel, counts) {
                    self.doubts.add(*wave, doubt);
                }
            }
        }
    }

    /// Compares what the waves of a work-group hold of their launch: most of them decide on its place and dispatch.
    fn compare_launches(
        &mut self,
        index: usize,
        group: &[Seen],
        dispatches: &mut Dispatches,
        missing: &mut Missing,
        capture: &mut Capture,
    ) {
        let mut votes: BTreeMap<([u32; 3], u32), usize> = BTreeMap::new();
        let mut places: HashMap<u32, usize> = HashMap::new();
        for Seen { wave, launch, .. } in group {
            let Some(launch) = launch else { continue };
            *votes.entry((launch.group, launch.packet)).or_default() += 1;
            if let Some(other) = places.insert(launch.wave_in_group, *wave) {
                self.doubts.add(other, Doubt::SamePlace);
                self.doubts.add(*wave, Doubt::SamePlace);
                count(&mut missing.same_place, (*wave + 1, other + 1));
            }
        }
        if votes.len() < 2 {
            return;
        }
        let most = votes.values().copied().max().unwrap_or(0);
        let mut winners = votes.iter().filter(|(_, count)| **count == most);
        let winner = winners.next().filter(|_| winners.next().is_none()).map(|(launch, _)| *launch);
        for Seen { wave, launch, .. } in group {
            if launch.is_some_and(|launch| winner != Some((launch.group, launch.packet))) {
                self.doubts.add(*wave, Doubt::Launch);
                count(&mut missing.contradicting, *wave + 1);
            }
        }
        let Some((position, packet)) = winner else { return };
        let found = dispatches.find(self.memory, packet, &mut capture.dispatches).ok();
        if let Some(group) = capture.workgroups.get_mut(index) {
            group.position = Some(position);
            group.dispatch = found.or(group.dispatch);
        }
    }
}

/// What the descriptor of a dispatch's kernel asks for; `None` where it was not captured or is no descriptor.
fn kernel(memory: &CoreMemory, dispatch: &Dispatch, target: &Target) -> Option<DescriptorFacts> {
    // LLVM has no number for gfx940 and gfx941 any more; their descriptors are those of gfx942.
    let replaced = || target.name.starts_with("gfx94").then(|| Processor::named("gfx942")).flatten();
    let generation = Processor::named(&target.name).or_else(replaced)?.generation;
    let mut bytes = [0; 64];
    if memory.read(dispatch.kernel_object?.0, &mut bytes) < bytes.len() {
        return None;
    }
    // AMDGPUUsage, "Kernel Descriptor": reserved bytes are 0 and kernels begin at multiples of 256.
    let reserved = [12..16, 24..44, 60..64].into_iter().filter_map(|range| bytes.get(range)).flatten();
    let is_placed = dispatch.entry?.0 % 256 == 0 && memory.segment(dispatch.entry?.0).is_some();
    if !is_placed || reserved.copied().any(|byte| byte != 0) {
        return None;
    }
    let words = KernelDescriptor::read(&bytes);
    let words = DescriptorWords {
        rsrc1: words.compute_pgm_rsrc1,
        rsrc2: words.compute_pgm_rsrc2,
        rsrc3: words.compute_pgm_rsrc3,
        properties: words.kernel_code_properties,
        preload: words.kernarg_preload,
    };
    Some(DescriptorFacts::read(generation, &words)).filter(|facts| facts.reserved.is_empty())
}

/// What a record and its kernel's descriptor contradict each other in, where both allot the same room for VGPRs.
///
/// The walk confirms the sum of all registers, but not the wave size, nor where accumulation VGPRs begin.
fn contradiction(kernel: &DescriptorFacts, counts: &Counts) -> Option<Doubt> {
    let lanes = u32::from(counts.size.lanes());
    let accums = if kernel.accum_offset.is_some() { counts.accums } else { 0 };
    let room = |registers: u32, lanes: u32| u64::from(registers) * u64::from(lanes);
    if room(kernel.vgprs, kernel.wave_size.into()) != room(counts.vgprs + accums, lanes) {
        return None;
    }
    if u32::from(kernel.wave_size) != lanes {
        return Some(Doubt::WaveSize);
    }
    (kernel.accum_offset.is_some_and(|offset| offset != counts.vgprs)).then_some(Doubt::AccumOffset)
}
