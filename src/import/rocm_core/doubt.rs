//! Reasons for doubt about a wave's values, and the comparisons of waves that find them.
//!
//! A save area has no checksum. Facts that a wave shares with others confirm it: its work-group, its kernel, its slot
//! of scratch memory. A wave that a check contradicts keeps its values and gets the reason. Without a possible check,
//! in sound and damaged captures alike, the wave lists its values with a single source.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::block::Counts;
use super::build::QueueBuilder;
use super::code::{Code, Ranges};
use super::memory::CoreMemory;
use super::queues::XccWaves;
use super::skip_summary::{OutsideGrid, count};
use super::wave::Launch;
use crate::arch::{DescriptorFacts, Processor, Target};
use crate::capture::{Capture, Dispatch, WorkGroup};
use crate::codeobject::KernelDescriptor;

/// The reason that values of a wave may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    /// Its block is next to a damaged record.
    Block,
    /// Its control stack was not captured to the end.
    Cut,
    /// Its control stack fits the layout of another processor instead of its own.
    Layout,
    /// Its area's header was restored, and its PC does not confirm its block.
    Header,
    /// Its record was restored from the neighbouring records.
    Record,
    /// The flags of its work-group's records contradict each other.
    Flags,
    /// Its work-group begins with a wave whose block is unconfirmed.
    WorkGroup,
    /// Its PC is misaligned, outside of captured memory, or in memory that holds no code.
    Pc,
    /// The trap handler's words and the wave's status contradict each other.
    Stopped,
    /// Its trap temporaries have another work-group or packet than the other waves of its work-group.
    Launch,
    /// Its packet is not one of its queue.
    Packet,
    /// Its place is outside of its work-group.
    Outside,
    /// Another wave of its work-group has the same place.
    SamePlace,
    /// Another work-group of its dispatch has the same position.
    SamePosition,
    /// Another wave has the same slot of scratch memory.
    SameSlot,
    /// The register with the base of private memory has that of another slot.
    OtherSlot,
    /// It has no scratch memory, and no register confirms its private memory.
    Unallotted,
    /// Its kernel's descriptor has another wave size.
    WaveSize,
    /// Its kernel's descriptor has another offset of the accumulation VGPRs.
    AccumOffset,
}

impl Doubt {
    /// The reason as text.
    fn words(self) -> &'static str {
        match self {
            Self::Block => "its control stack is damaged beside its record: nothing confirms its registers",
            Self::Cut => "its control stack was not captured to the end: nothing confirms its registers",
            Self::Layout => {
                "its control stack fits the layout of another processor only: nothing confirms its registers"
            }
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
            Self::SamePosition => "another work-group of its dispatch has its position",
            Self::SameSlot => "another wave has its slot of scratch memory",
            Self::OtherSlot => {
                "a register holds the address of another slot of scratch memory than its record names"
            }
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

/// A value of a wave with only one source: no sign of damage, but other parts of the capture could not reveal damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unchecked {
    /// Its kernel's descriptor has another number of VGPRs.
    Allotment,
    /// Its kernel's descriptor was not captured.
    Descriptor,
    /// No register has the address of its private memory.
    Private,
    /// Its work-group is outside of the grid.
    Grid,
    /// No other wave has its work-group and packet.
    Launch,
    /// Other places of its work-group are free.
    Place,
}

impl Unchecked {
    /// All of them, in the order of their texts and bits.
    const ALL: [(Self, &'static str); 6] = [
        (
            Self::Allotment,
            "wave size and register counts (its record and its kernel's descriptor allot different VGPRs)",
        ),
        (Self::Descriptor, "wave size and register counts (its kernel's descriptor was not captured)"),
        (Self::Private, "private memory (no register holds its address)"),
        (Self::Grid, "work-group (it lies outside of its dispatch's grid)"),
        (Self::Launch, "work-group and dispatch (no other wave holds them)"),
        (Self::Place, "place in the work-group (not all waves of the work-group were captured)"),
    ];

    /// Its bit in a mask.
    fn bit(self) -> u8 {
        Self::ALL.iter().zip(0..).find(|((value, _), _)| *value == self).map_or(0, |(_, bit)| 1 << bit)
    }
}

/// The compared facts of a wave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Index in the capture.
    pub(super) wave: usize,
    /// Index of its work-group.
    pub(super) group: Option<usize>,
    pub(super) launch: Option<Launch>,
    pub(super) counts: Counts,
    /// Shader engine and slot of its scratch memory; `None`: it has none.
    pub(super) slot: Option<(u32, u32)>,
}

/// The doubts of a capture's waves.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    found: Vec<(usize, Doubt)>,
    /// Aligned PCs, by wave.
    pcs: Vec<(usize, u64)>,
    /// Ranges that hold no code, first to last address.
    data: Vec<(u64, u64)>,
    /// Bits of [`Unchecked`], by wave.
    unchecked: Vec<u8>,
}

impl Doubts {
    /// Adds a doubt.
    pub(super) fn add(&mut self, wave: usize, doubt: Doubt) {
        self.found.push((wave, doubt));
    }

    /// Adds unconfirmed values.
    pub(super) fn unchecked(&mut self, wave: usize, values: Unchecked) {
        if self.unchecked.len() <= wave {
            self.unchecked.resize(wave + 1, 0);
        }
        if let Some(bits) = self.unchecked.get_mut(wave) {
            *bits |= values.bit();
        }
    }

    /// Adds an aligned PC.
    pub(super) fn pc(&mut self, wave: usize, pc: u64) {
        self.pcs.push((wave, pc));
    }

    /// Adds ranges that hold no code, first to last address.
    pub(super) fn data(&mut self, ranges: impl Iterator<Item = (u64, u64)>) {
        self.data.extend(ranges);
    }

    /// Marks the waves of a capture. `objects`: the places of its code objects.
    pub(super) fn mark(mut self, capture: &mut Capture, memory: &CoreMemory, objects: Ranges) {
        let entries = capture.dispatches.iter().filter_map(|dispatch| Some(dispatch.entry?.0)).collect();
        let code = Code::new(memory, &entries, &self.data, objects);
        // Without captured code every PC is outside, which proves nothing.
        let outside = self.pcs.iter().filter(|(_, pc)| memory.segment(*pc).is_none()).count();
        let has_code = !entries.is_empty() || outside < capture.waves.len();
        let is_astray = |pc| match memory.segment(pc) {
            None => has_code,
            Some(_) => code.is_data(pc),
        };
        let astray = self.pcs.iter().filter(|(_, pc)| is_astray(*pc) && !code.is_known(*pc));
        self.found.extend(astray.map(|(wave, _)| (*wave, Doubt::Pc)));
        self.found.sort_unstable();
        self.found.dedup();
        for of in self.found.chunk_by(|(one, _), (other, _)| one == other) {
            let Some(wave) = of.first().and_then(|(wave, _)| capture.waves.get_mut(*wave)) else { continue };
            let words: Vec<&str> = of.iter().map(|(_, doubt)| doubt.words()).collect();
            wave.unconfirmed = Some(words.join("; ").into());
        }
        // Many waves share few texts.
        let mut texts: HashMap<u8, Arc<str>> = HashMap::new();
        for (wave, bits) in capture.waves.iter_mut().zip(self.unchecked).filter(|(_, bits)| *bits != 0) {
            let text = texts.entry(bits).or_insert_with(|| {
                let values = Unchecked::ALL.iter().filter(|(value, _)| value.bit() & bits != 0);
                values.map(|(_, words)| *words).collect::<Vec<_>>().join("; ").into()
            });
            wave.unchecked = Some(Arc::clone(text));
        }
    }
}

/// Compared work-groups of a queue: the waves of the first one at each position of each packet; empty after marking.
pub(super) type Launched = HashMap<([u32; 3], u32), Vec<usize>>;

impl QueueBuilder<'_, '_> {
    /// Compares the waves of one XCC, in the order of its control stack.
    pub(super) fn compare(&mut self, seen: &[Seen], xcc: &XccWaves) {
        let mut slots: HashMap<(u32, u32), usize> = HashMap::with_capacity(seen.len());
        for Seen { wave, slot, .. } in seen {
            let Some(slot) = slot else { continue };
            if let Some(other) = slots.insert(*slot, *wave) {
                self.reader.doubts.add(other, Doubt::SameSlot);
                self.reader.doubts.add(*wave, Doubt::SameSlot);
                count(&mut self.skipped.same_slot, (*wave + 1, other + 1));
            }
        }
        let area = xcc.row64.or(xcc.row32).and_then(|row| self.reader.rows.get(row)?.area());
        // Records that differ only in these have blocks of equal size.
        let is_ambiguous =
            area.is_some_and(|area| area.state.accum_offset.is_some() || area.state.wave32.is_some());
        let mut kernels: HashMap<usize, Option<DescriptorFacts>> = HashMap::new();
        for group in seen.chunk_by(|one, other| one.group == other.group) {
            let index = group.first().and_then(|seen| seen.group);
            if let Some(index) = index {
                self.compare_launches(index, group);
                self.compare_places(index, group);
            }
            let dispatch = index.and_then(|index| self.capture.workgroups.get(index)?.dispatch);
            let kernel = dispatch.and_then(|dispatch| {
                let kernel = kernels.entry(dispatch).or_insert_with(|| {
                    let dispatch = self.capture.dispatches.get(dispatch)?;
                    kernel(self.reader.memory, dispatch, &xcc.target)
                });
                kernel.as_ref()
            });
            for Seen { wave, counts, .. } in group {
                match kernel {
                    Some(kernel) if !has_capacity(kernel, counts) => {
                        self.reader.doubts.unchecked(*wave, Unchecked::Allotment);
                    }
                    Some(kernel) => {
                        if let Some(doubt) = contradiction(kernel, counts) {
                            self.reader.doubts.add(*wave, doubt);
                        }
                    }
                    None if is_ambiguous => self.reader.doubts.unchecked(*wave, Unchecked::Descriptor),
                    None => {}
                }
            }
        }
    }

    /// Compares the launch facts of a work-group's waves: the majority determines its position and dispatch.
    fn compare_launches(&mut self, index: usize, group: &[Seen]) {
        let mut votes: BTreeMap<([u32; 3], u32), usize> = BTreeMap::new();
        for launch in group.iter().filter_map(|seen| seen.launch) {
            *votes.entry((launch.group, launch.packet)).or_default() += 1;
        }
        if votes.len() < 2 {
            if votes.into_values().next() == Some(1) {
                group.iter().for_each(|seen| self.reader.doubts.unchecked(seen.wave, Unchecked::Launch));
            }
            return;
        }
        let most = votes.values().copied().max().unwrap_or(0);
        let mut winners = votes.iter().filter(|(_, count)| **count == most);
        let winner = winners.next().filter(|_| winners.next().is_none()).map(|(launch, _)| *launch);
        for Seen { wave, launch, .. } in group {
            if launch.is_some_and(|launch| winner != Some((launch.group, launch.packet))) {
                self.reader.doubts.add(*wave, Doubt::Launch);
                count(&mut self.skipped.contradicting, *wave + 1);
            }
        }
        let Some((position, packet)) = winner else { return };
        let found = self.dispatches.find(self.reader.memory, packet, &mut self.capture.dispatches).ok();
        if let Some(group) = self.capture.workgroups.get_mut(index) {
            group.position = Some(position);
            group.dispatch = found.or(group.dispatch);
        }
    }

    /// Compares the places of a work-group's waves, and its position with the queue's other work-groups.
    fn compare_places(&mut self, index: usize, group: &[Seen]) {
        let mut places: BTreeMap<u32, usize> = BTreeMap::new();
        for Seen { wave, launch, .. } in group {
            let Some(launch) = launch else { continue };
            if let Some(other) = places.insert(launch.wave_in_group, *wave) {
                self.reader.doubts.add(other, Doubt::SamePlace);
                self.reader.doubts.add(*wave, Doubt::SamePlace);
                count(&mut self.skipped.same_place, (*wave + 1, other + 1));
            }
        }
        let Some(WorkGroup { position: Some(position), dispatch, lds_size, .. }) =
            self.capture.workgroups.get(index)
        else {
            return;
        };
        let dispatch = dispatch.and_then(|dispatch| self.capture.dispatches.get(dispatch));
        let lanes = group.first().map_or(0, |seen| seen.counts.size.lanes());
        let most = dispatch.and_then(|dispatch| dispatch.waves_of_group(*position, lanes));
        let is_whole = most == Some(places.len() as u64);
        for seen in group.iter().filter(|seen| seen.launch.is_some() && !is_whole) {
            self.reader.doubts.unchecked(seen.wave, Unchecked::Place);
        }
        if let Some(outside) = dispatch.and_then(|dispatch| OutsideGrid::of(dispatch, *position)) {
            count(&mut self.skipped.grid, outside);
            group.iter().for_each(|seen| self.reader.doubts.unchecked(seen.wave, Unchecked::Grid));
        }
        // A work-group without its first wave may be the rest of another one.
        let packet = group.iter().find_map(|seen| Some(seen.launch?.packet));
        let Some(packet) = packet.filter(|_| lds_size.is_some()) else { return };
        let waves = group.iter().map(|seen| seen.wave);
        match self.launched.entry((*position, packet)) {
            Entry::Vacant(entry) => {
                entry.insert(waves.collect());
            }
            Entry::Occupied(mut first) => {
                let first = std::mem::take(first.get_mut());
                if let (Some(one), Some(other)) = (waves.clone().next(), first.first()) {
                    self.skipped.same_position.get_or_insert((0, (one + 1, other + 1)));
                }
                if let Some((pairs, _)) = &mut self.skipped.same_position {
                    *pairs += 1;
                }
                first
                    .into_iter()
                    .chain(waves)
                    .for_each(|wave| self.reader.doubts.add(wave, Doubt::SamePosition));
            }
        }
    }
}

/// The facts in the descriptor of a dispatch's kernel; `None`: not captured, or no descriptor.
fn kernel(memory: &CoreMemory, dispatch: &Dispatch, target: &Target) -> Option<DescriptorFacts> {
    let generation = Processor::named(&target.name)?.generation;
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
    Some(KernelDescriptor::read(&bytes).facts(generation)).filter(|facts| facts.reserved.is_empty())
}

/// Whether a record and its kernel's descriptor allocate equal bytes of VGPRs.
fn has_capacity(kernel: &DescriptorFacts, counts: &Counts) -> bool {
    let accums = if kernel.accum_offset.is_some() { counts.accums } else { 0 };
    let capacity = |registers: u32, lanes: u8| u64::from(registers) * u64::from(lanes);
    capacity(kernel.vgprs, kernel.wave_size) == capacity(counts.vgprs + accums, counts.size.lanes())
}

/// The contradiction between a record and its kernel's descriptor, if both allocate equal bytes of VGPRs.
///
/// The blocks confirm the sum of all registers, but neither the wave size nor the start of accumulation VGPRs.
fn contradiction(kernel: &DescriptorFacts, counts: &Counts) -> Option<Doubt> {
    if kernel.wave_size != counts.size.lanes() {
        return Some(Doubt::WaveSize);
    }
    (kernel.accum_offset.is_some_and(|offset| offset != counts.vgprs)).then_some(Doubt::AccumOffset)
}
