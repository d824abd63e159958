//! The data model of a capture.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use super::backing::{Backing, BackingId, Bytes, Extent};
use super::fault::Fault;
use super::listing::CodeText;
use super::memory::{MemoryMap, Segment};
use super::source::{SourceFile, normal_path};
use crate::arch::{RegId, RegisterValue, Target, WaveArch};
use crate::clean::clean;
use crate::mapping::Changes;
use crate::units::{Address, AddressSpace, LaneSet, WaveId};

/// The contents of a dump. Tables are in the dump's order; references between them are indexes.
#[derive(Debug, Default)]
pub struct Capture {
    /// The opened file or folder, in the user's notation.
    pub name: String,
    /// The dump's statements about its origin.
    pub provenance: Provenance,
    /// GPUs.
    pub agents: Vec<Agent>,
    /// Queues.
    pub queues: Vec<Queue>,
    /// Kernel launches.
    pub dispatches: Vec<Dispatch>,
    /// Work-groups.
    pub workgroups: Vec<WorkGroup>,
    /// Waves; a [`WaveId`] is an index.
    pub waves: Vec<Wave>,
    /// Waves of the dump's origin that it leaves out.
    pub left_out: LeftOut,
    /// Code objects.
    pub code_objects: Vec<CodeObject>,
    /// Whether `code_objects` lists all that were loaded. Code elsewhere is then a kernel of the runtime's own. A core
    /// with the runtime's whole list, or a dump that claims it; one known code object is no list.
    pub has_all_code_objects: bool,
    /// The reported faults, in the order of the reports.
    pub faults: Vec<Fault>,
    /// Disassembled code as text, where the capture has no bytes of it.
    pub code_texts: Vec<CodeText>,
    /// Source files of the program, each path once.
    pub sources: Vec<SourceFile>,
    /// Global memory.
    pub global: MemoryMap,
    /// Mapped memory, captured or not, if the capture lists more than `global`. Its extents have lengths alone.
    pub mapped: MemoryMap,
    /// Whether `global` and `mapped` list all memory that the driver mapped for the GPUs: an address outside of them is
    /// unmapped. A core with the host's memory has the whole list if nothing of it is damaged or cut: a core of the GPUs
    /// alone lacks host memory that the GPUs may access. Other formats hold the part that their writer chose; a dump
    /// claims it for its memory map.
    pub is_global_whole: bool,
    /// The stores of the extents.
    pub backings: Vec<Arc<dyn Backing>>,
    /// The first of the stores' files that changed since it was opened.
    pub changes: Changes,
}

/// Waves that a small dump leaves out of its origin, as far as others stand for them: an analysis counts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of waves by the wave that stands for them: of the same dispatch, stopped for the same reasons, and alike
    /// for an analysis.
    pub stands_for: BTreeMap<WaveId, u32>,
    /// Indexes of dispatches without other absent waves, as far as the origin shows.
    pub whole_dispatches: BTreeSet<usize>,
    /// Whether reports were added to those of the origin: these waves were never searched for their pages.
    pub has_new_reports: bool,
}

impl LeftOut {
    /// Number of waves that a wave stands for, beside itself.
    #[must_use]
    pub fn of(&self, wave: WaveId) -> u32 {
        self.stands_for.get(&wave).copied().unwrap_or(0)
    }
}

/// Free text about a dump's origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The source format with its version: `lanescope dump 1`.
    pub format: String,
    /// The writing program.
    pub producer: Option<String>,
    /// Time of the capture, RFC 3339.
    pub created: Option<String>,
    /// Host of the capture.
    pub host: Option<String>,
    /// The captured command.
    pub command: Option<String>,
    /// The captured process.
    pub process: Option<u32>,
    /// Anything else.
    pub note: Option<String>,
    /// Notes of the writer, such as data lost on the way. The importer bounds them.
    pub notes: Vec<String>,
    /// Reasons for waves of the process that this capture lacks, faulted or perhaps faulted. The importer bounds them.
    pub absent_waves: Vec<String>,
    /// Reasons for waves of the process that this capture lacks although they had not faulted. The importer bounds them.
    pub running_waves: Vec<String>,
    /// The file of the capture that ends too early, and where: `the core ends at offset 0x249f0, ...`.
    pub truncated: Option<String>,
}

/// A GPU.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The dump's id.
    pub id: u32,
    /// The processor.
    pub target: Arc<Target>,
    /// Marketing name.
    pub name: Option<String>,
    /// Bases of apertures in the generic space, if the dump gives them.
    pub apertures: HashMap<AddressSpace, Address>,
    /// The driver's facts.
    pub hardware: Option<Hardware>,
}

/// A GPU in the terms of its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// PCI vendor id.
    pub vendor: u32,
    /// PCI device id.
    pub device: u32,
    /// PCI bus, device and function: bits 15-8, 7-3, 2-0.
    pub location: u32,
    /// SIMDs.
    pub simds: u32,
    /// Maximum waves per SIMD.
    pub waves_per_simd: u32,
    /// XCCs.
    pub xccs: u32,
}

/// A queue.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The dump's id.
    pub id: u32,
    /// Index of its agent.
    pub agent: usize,
    /// Its name.
    pub name: Option<String>,
    /// Its ring of packets.
    pub ring: Option<Ring>,
}

/// A queue's ring of AQL packets, 64 bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// First byte, in global memory.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Number of packets consumed since the queue's creation; `None`: not captured.
    pub read: Option<u64>,
    /// Number of packets submitted; `None`: not captured.
    pub write: Option<u64>,
}

impl Ring {
    /// Size of a packet in bytes.
    pub const PACKET: u64 = 64;

    /// Returns first and last address of each unprocessed packet in order. Returns none if their number is unknown,
    /// exceeds the ring, or exceeds `most`.
    #[must_use]
    pub fn packets(&self, most: u64) -> Vec<(u64, u64)> {
        let count = self.size / Self::PACKET;
        let (Some(read), Some(write)) = (self.read, self.write) else { return Vec::new() };
        let Some(active) = write.checked_sub(read).filter(|active| (1..=count.min(most)).contains(active))
        else {
            return Vec::new();
        };
        let first = read % count;
        let before_end = active.min(count - first);
        let run = |index: u64, packets: u64| {
            let last = (packets * Self::PACKET).checked_sub(1)?;
            let start = self.address.checked_add(index * Self::PACKET)?;
            Some((start, start.checked_add(last)?))
        };
        [run(first, before_end), run(0, active - before_end)].into_iter().flatten().collect()
    }
}

/// A kernel launch.
#[derive(Clone, Debug, Default)]
pub struct Dispatch {
    /// The dump's id.
    pub id: u32,
    /// Index of its queue.
    pub queue: usize,
    /// Its packet's id in the queue.
    pub packet: Option<u64>,
    /// AQL packet header: barrier bit and fence scopes.
    pub header: Option<u16>,
    /// Symbol of the kernel.
    pub kernel: Option<String>,
    /// Work-items in the grid.
    pub grid: Option<[u32; 3]>,
    /// Work-items in a full work-group.
    pub workgroup: Option<[u32; 3]>,
    /// Address of the kernel arguments, in global memory.
    pub kernarg: Option<Address>,
    /// Address of the kernel descriptor, in global memory.
    pub kernel_object: Option<Address>,
    /// Private bytes requested for each work-item.
    pub private_segment_size: Option<u64>,
    /// LDS bytes requested for each work-group.
    pub group_segment_size: Option<u64>,
    /// Address of the kernel's first instruction.
    pub entry: Option<Address>,
    /// Dimensions of the grid, 1 to 3, from its packet.
    pub dimensions: Option<u8>,
    /// Address of the completion signal; 0: none.
    pub completion: Option<Address>,
}

impl Dispatch {
    /// Number of waves that the launch starts in the work-group at a position; groups at the grid's edge may be
    /// smaller. `None`: the sizes are unknown.
    #[must_use]
    pub fn waves_of_group(&self, position: [u32; 3], lanes: u8) -> Option<u64> {
        let axes = self.grid?.into_iter().zip(self.workgroup?).zip(position);
        let items = axes.map(|((grid, size), at)| {
            let rest = u64::from(grid).checked_sub(u64::from(at) * u64::from(size));
            u64::from(size).min(rest.filter(|rest| *rest > 0).unwrap_or(u64::from(size)))
        });
        Some(items.fold(1, u64::saturating_mul).div_ceil(u64::from(lanes)))
    }
}

/// A work-group.
#[derive(Clone, Debug)]
pub struct WorkGroup {
    /// The dump's id.
    pub id: u32,
    /// Index of its queue, if known.
    pub queue: Option<usize>,
    /// Index of its dispatch, if known.
    pub dispatch: Option<usize>,
    /// Its position in the grid, in work-groups.
    pub position: Option<[u32; 3]>,
    /// Bytes of LDS allocated to it.
    pub lds_size: Option<u64>,
    /// Whether the capture has all its waves that had not ended. `false`: unknown, or waves are missing.
    pub has_all_waves: bool,
    /// Captured LDS.
    pub lds: MemoryMap,
}

/// A wave.
#[derive(Clone, Debug)]
pub struct Wave {
    /// The dump's id.
    pub id: u32,
    /// The capture's name if it is more than the ID: the hardware slot.
    pub label: Option<Box<str>>,
    /// GPU and wave size.
    pub kind: Arc<WaveArch>,
    /// Index of its agent.
    pub agent: usize,
    /// Index of its work-group, if known.
    pub workgroup: Option<usize>,
    /// Its number in the work-group.
    pub wave_in_group: Option<u32>,
    /// Indexes into the target's stop reasons. Empty: it was running. `None`: unknown.
    pub stop: Option<Vec<usize>>,
    /// Allocated SGPR slots, aliases among them, if known.
    pub sgpr_count: Option<u16>,
    /// Its captured registers.
    pub registers: Registers,
    /// Captured private memory, in its backing layout (space private_wave). Segment names give the source of an
    /// inference.
    pub private: MemoryMap,
    /// Bytes of private memory allocated to it, if known.
    pub private_size: Option<u64>,
    /// Reasons to doubt its values: contradictions in the capture, or values without confirmation. `None`: no reason.
    pub unconfirmed: Option<Box<str>>,
    /// Values with a single source, with the reasons: nothing contradicts them, and nothing else in the capture
    /// confirms them. `None`: no such values are known.
    pub unchecked: Option<Arc<str>>,
}

/// Captured registers: blocks shared by many waves over an image of this wave, then its own blocks.
///
/// The last block with a register counts.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// Blocks whose offsets are relative to `image`.
    pub layout: Option<Arc<[RegisterBlock]>>,
    /// The image with the registers of `layout`.
    pub image: Option<Extent>,
    /// Own blocks: offsets are relative to the backing's start.
    pub own: Vec<(BackingId, RegisterBlock)>,
}

/// A run of consecutive registers in a store.
///
/// A block may be narrower than its registers: VGPRs shared by the halves of a wave are stored with 32 lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterBlock {
    /// The first register; the following ones have consecutive IDs.
    pub first: RegId,
    /// Number of registers.
    pub count: u16,
    /// Stored bytes of each register.
    pub width: u16,
    /// Offset of the first register.
    pub offset: u64,
    /// Captured dwords of each register (lanes, for vectors).
    pub known: LaneSet,
}

impl RegisterBlock {
    fn offset_of(&self, register: RegId) -> Option<u64> {
        let index = register.0.checked_sub(self.first.0).filter(|index| *index < self.count)?;
        self.offset.checked_add(u64::from(index) * u64::from(self.width))
    }
}

/// A code object: an ELF file loaded on the GPU.
#[derive(Clone, Debug, Default)]
pub struct CodeObject {
    /// Load address: run-time address = this + ELF address.
    pub address: Address,
    /// Its bytes, if the capture has them.
    pub extent: Option<Extent>,
    /// The loader's URI of its file.
    pub uri: Option<String>,
    /// Its entry in a bundle or host program: index, bundle entry ID or target ID. `None`: the entry in `uri`, else the
    /// one for the agent's processor.
    pub entry: Option<String>,
    /// Build ID according to the dump.
    pub build_id: Option<Vec<u8>>,
    /// Index of its agent; `None`: all agents.
    pub agent: Option<usize>,
    /// The name for messages: file name or URI.
    pub name: String,
    /// Whether the bytes are the loaded image, with the ELF header at byte 0, instead of the file: no debug
    /// information, symbols from the dynamic section.
    pub image: bool,
    /// The file of its separate debug information, if the capture has one.
    pub debug: Option<Extent>,
    /// The importer's description of the source of the bytes, if that is not obvious.
    pub origin: Option<String>,
    /// Whether the user requires it as it is, even if it is for another processor than the agent's.
    pub forced: bool,
    /// Its loaded segments, if the capture lists them beside absent bytes.
    pub segments: Vec<LoadedSegment>,
}

/// A loaded segment of a code object whose bytes the capture lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadedSegment {
    /// First ELF address.
    pub start: u64,
    /// The ELF address after its last byte in memory.
    pub end: u64,
    /// Whether it is executable.
    pub is_code: bool,
}

impl Capture {
    /// The known map of global memory, captured or not.
    #[must_use]
    pub fn listed(&self) -> MemoryMap {
        let all = self.mapped.segments().iter().chain(self.global.segments());
        let all = all.map(|of| Segment::uncaptured(of.address, of.extent.length, of.name.clone()));
        // Captured parts of a mapped range are in it.
        MemoryMap::new(all.collect()).0
    }

    /// Returns the wave of that ordinal.
    #[must_use]
    pub fn wave(&self, id: WaveId) -> Option<&Wave> {
        self.waves.get(id.0 as usize)
    }

    /// Returns the store of that index.
    #[must_use]
    pub fn backing(&self, id: BackingId) -> Option<&Arc<dyn Backing>> {
        self.backings.get(id.0 as usize)
    }

    /// Returns the work-group of a wave, if known.
    #[must_use]
    pub fn workgroup_of(&self, wave: &Wave) -> Option<&WorkGroup> {
        self.workgroups.get(wave.workgroup?)
    }

    /// Returns the dispatch of a wave, if known.
    #[must_use]
    pub fn dispatch_of(&self, wave: &Wave) -> Option<&Dispatch> {
        self.dispatches.get(self.workgroup_of(wave)?.dispatch?)
    }

    /// Returns the queue of a wave, if known.
    #[must_use]
    pub fn queue_of(&self, wave: &Wave) -> Option<&Queue> {
        let group = self.workgroup_of(wave)?;
        let of_dispatch = || Some(self.dispatches.get(group.dispatch?)?.queue);
        self.queues.get(group.queue.or_else(of_dispatch)?)
    }

    /// Returns the agent of a wave.
    #[must_use]
    pub fn agent_of(&self, wave: &Wave) -> Option<&Agent> {
        self.agents.get(wave.agent)
    }

    /// Reads a wave's captured register without following aliases.
    ///
    /// # Errors
    /// The operating system's error for the file.
    pub fn register(&self, wave: &Wave, register: RegId) -> io::Result<RegisterValue> {
        let mut value =
            RegisterValue::unknown(wave.kind.register(register).map_or(0, |register| register.dwords));
        let own = wave.registers.own.iter().rev();
        if let Some((backing, block, offset)) =
            own.filter_map(|(backing, block)| Some((*backing, block, block.offset_of(register)?))).next()
        {
            self.fill(&mut value, backing, offset, block)?;
        } else if let (Some(layout), Some(image)) = (&wave.registers.layout, wave.registers.image) {
            let found =
                layout.iter().rev().filter_map(|block| Some((block, block.offset_of(register)?))).next();
            if let Some((block, offset)) = found {
                let end = offset.checked_add(u64::from(block.width));
                if end.is_some_and(|end| end <= image.length) {
                    let offset = image.offset.saturating_add(offset);
                    self.fill(&mut value, image.backing, offset, block)?;
                }
            }
        }
        Ok(value)
    }

    /// Reads captured bytes from `address` on, up to the first gap; 0 if the first byte is missing.
    ///
    /// # Errors
    /// The operating system's error for the file.
    pub fn read(&self, map: &MemoryMap, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
        map.read(&self.backings, address, buffer)
    }

    /// Returns a line of a captured source file without the space around it. Lines begin with 1. `None`: the file or
    /// the line is missing, or the file is unreadable.
    #[must_use]
    pub fn source_line(&self, file: &str, line: u64) -> Option<String> {
        self.source_lines(file, line, 1).first().map(|text| text.trim().to_owned())
    }

    /// Returns lines of a captured source file from a line on, at most `count`, without the space behind them and with
    /// blanks for tabs. Lines begin with 1. Empty: the file or the lines are missing, or the file is unreadable.
    #[must_use]
    pub fn source_lines(&self, file: &str, first: u64, count: usize) -> Vec<String> {
        let source =
            normal_path(file).and_then(|path| self.sources.iter().find(|source| source.path == path));
        let bytes = source.and_then(|source| self.view(source.extent).ok());
        let skipped = first.checked_sub(1).and_then(|first| usize::try_from(first).ok());
        let (Some(bytes), Some(skipped)) = (bytes, skipped) else { return Vec::new() };
        let lines = (*bytes).as_ref().split(|byte| *byte == b'\n').skip(skipped).take(count);
        let text = |line: &[u8]| {
            let text = String::from_utf8_lossy(line).replace('\t', "    ");
            clean(text.trim_end()).into_owned()
        };
        lines.map(text).collect()
    }

    /// Returns a lasting view of an extent.
    ///
    /// # Errors
    /// `UnexpectedEof` if the extent leaves its store, or the operating system's error for the file.
    pub fn view(&self, extent: Extent) -> io::Result<Bytes> {
        let backing = self.backing(extent.backing).ok_or(io::ErrorKind::NotFound)?;
        backing.view(extent.offset, extent.length)
    }

    fn fill(
        &self,
        value: &mut RegisterValue,
        id: BackingId,
        offset: u64,
        block: &RegisterBlock,
    ) -> io::Result<()> {
        let Some(backing) = self.backing(id) else { return Ok(()) };
        let all = value.bytes_mut();
        let width = usize::from(block.width).min(all.len());
        let bytes = all.get_mut(..width).unwrap_or_default();
        let whole = (backing.read_at(offset, bytes)? / 4).min(64);
        let mut known = LaneSet::lowest(whole as u32);
        // A gap makes only the dwords it touches unknown.
        for (index, dword) in bytes.chunks_exact_mut(4).enumerate().skip(whole).take(64) {
            let at = offset.saturating_add(index as u64 * 4);
            if at >= backing.len() {
                break;
            }
            if backing.read_at(at, dword)? == 4 {
                known.0 |= 1 << index;
            }
        }
        value.set_known(block.known.and(known).0);
        Ok(())
    }
}
