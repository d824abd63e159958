//! The things a capture is made of.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::backing::{Backing, BackingId, Bytes, Extent};
use super::memory::MemoryMap;
use super::source::SourceFile;
use crate::arch::{RegId, RegisterValue, Target, WaveArch};
use crate::mapping::Changes;
use crate::units::{Address, AddressSpace, LaneSet, WaveId};

/// Everything that a dump holds. Tables are in the dump's order; references between them are indexes.
#[derive(Debug, Default)]
pub struct Capture {
    /// The opened file or folder, as the user named it.
    pub name: String,
    /// Where the dump comes from, in its own words.
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
    /// Code objects.
    pub code_objects: Vec<CodeObject>,
    /// Source files of the program, each path once.
    pub sources: Vec<SourceFile>,
    /// Global memory.
    pub global: MemoryMap,
    /// The stores that extents name.
    pub backings: Vec<Arc<dyn Backing>>,
    /// Which of the stores' files has changed since it was opened.
    pub changes: Changes,
}

/// Free text about a dump's origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The format it was read from, with its version: `lanescope dump 1`.
    pub format: String,
    /// The program that wrote it.
    pub producer: Option<String>,
    /// When, RFC 3339.
    pub created: Option<String>,
    /// Where.
    pub host: Option<String>,
    /// Of which command.
    pub command: Option<String>,
    /// Anything else.
    pub note: Option<String>,
    /// Notes of its writer for a reader: data lost on the way. The importer bounds them.
    pub notes: Vec<String>,
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
    /// Bases of apertures in the generic space, where the dump gives them.
    pub apertures: HashMap<AddressSpace, Address>,
    /// The driver's facts.
    pub hardware: Option<Hardware>,
}

/// A GPU as its driver describes it.
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
    /// The most waves of a SIMD.
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
    /// Where its packets are.
    pub ring: Option<Ring>,
}

/// A queue's ring of AQL packets, 64 bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// First byte, in global memory.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Packets that were taken off it since the queue was made; `None`: not captured.
    pub read: Option<u64>,
    /// Packets that were put on it; `None`: not captured.
    pub write: Option<u64>,
}

impl Ring {
    /// Bytes of a packet.
    pub const PACKET: u64 = 64;

    /// Where the packets lie that were put on it and not taken off, by first and last address, in their order; none where
    /// their number is not known, more than the ring holds, or more than `most`.
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
    /// Its packet's header, as HSA's AQL packets have it: barrier bit and fence scopes.
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
    /// Private bytes asked for each work-item.
    pub private_segment_size: Option<u64>,
    /// LDS bytes asked for each work-group.
    pub group_segment_size: Option<u64>,
    /// Address of the kernel's first instruction.
    pub entry: Option<Address>,
    /// Dimensions of the grid, 1 to 3, by its packet.
    pub dimensions: Option<u8>,
    /// Address of the completion signal; 0: none.
    pub completion: Option<Address>,
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
    /// Its place in the grid, in work-groups.
    pub position: Option<[u32; 3]>,
    /// Bytes of LDS that it owns.
    pub lds_size: Option<u64>,
    /// LDS that was captured.
    pub lds: MemoryMap,
}

/// A wave.
#[derive(Clone, Debug)]
pub struct Wave {
    /// The dump's id.
    pub id: u32,
    /// The capture's name for it, if that has more than its number: its hardware slot.
    pub label: Option<Box<str>>,
    /// GPU and wave size.
    pub kind: Arc<WaveArch>,
    /// Index of its agent.
    pub agent: usize,
    /// Index of its work-group, if known.
    pub workgroup: Option<usize>,
    /// Its place in the work-group.
    pub wave_in_group: Option<u32>,
    /// Indexes into the target's stop reasons. Empty: it was running. `None`: not known.
    pub stop: Option<Vec<usize>>,
    /// Allocated SGPR slots, aliases among them, if known.
    pub sgpr_count: Option<u16>,
    /// Its captured registers.
    pub registers: Registers,
    /// Captured private memory, in its backing layout (space private_wave). A segment's name gives the source of an
    /// inferred place.
    pub private: MemoryMap,
    /// Bytes of private memory that it owns, if known.
    pub private_size: Option<u64>,
    /// Reasons to doubt its values: contradictions in the capture, or values without confirmation. `None`: no reason.
    pub unconfirmed: Option<Box<str>>,
    /// Which of its values have one source only, with the reasons, in words: nothing contradicts them, and nothing else in the
    /// capture confirms them. `None`: no such values are known.
    pub unchecked: Option<Arc<str>>,
}

/// Captured registers: blocks shared by many waves over an image of this one, then blocks of its own.
///
/// Where two blocks hold one register the later one counts.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// Blocks whose offsets count from `image`.
    pub layout: Option<Arc<[RegisterBlock]>>,
    /// The image that `layout` describes.
    pub image: Option<Extent>,
    /// Blocks with extents of their own: offsets count from the backing's start.
    pub own: Vec<(BackingId, RegisterBlock)>,
}

/// Consecutive registers stored one after the other.
///
/// A block may be narrower than its registers: of VGPRs that the halves of a wave share 32 lanes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterBlock {
    /// The first register; those that follow have the next ids.
    pub first: RegId,
    /// How many.
    pub count: u16,
    /// Bytes of each that are stored.
    pub width: u16,
    /// Offset of the first.
    pub offset: u64,
    /// Dwords of each that were captured (lanes, for vectors).
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
    /// Where its bytes lie, if they are at hand.
    pub extent: Option<Extent>,
    /// Where the loader had it from.
    pub uri: Option<String>,
    /// Which entry of a bundle or host program it is: index, bundle entry ID or target ID; `None`: see `uri`, else the
    /// one for the agent's processor.
    pub entry: Option<String>,
    /// Build id as the dump gives it.
    pub build_id: Option<Vec<u8>>,
    /// Index of its agent; `None`: all agents.
    pub agent: Option<usize>,
    /// The name for a person: file name or URI.
    pub name: String,
    /// The bytes are its image as it was loaded, byte 0 its ELF header, and not its file: no debug information, symbols from
    /// the dynamic section.
    pub image: bool,
    /// Where a file of its separate debug information lies, if the capture has one.
    pub debug: Option<Extent>,
    /// Where an importer had the bytes from, in words, where that is not plain.
    pub origin: Option<String>,
    /// The user wants it as it is, also where it is for another processor than the agent's.
    pub forced: bool,
}

impl Capture {
    /// The wave of that ordinal.
    #[must_use]
    pub fn wave(&self, id: WaveId) -> Option<&Wave> {
        self.waves.get(id.0 as usize)
    }

    /// The store of that index.
    #[must_use]
    pub fn backing(&self, id: BackingId) -> Option<&Arc<dyn Backing>> {
        self.backings.get(id.0 as usize)
    }

    /// The work-group of a wave, if known.
    #[must_use]
    pub fn workgroup_of(&self, wave: &Wave) -> Option<&WorkGroup> {
        self.workgroups.get(wave.workgroup?)
    }

    /// The dispatch of a wave, if known.
    #[must_use]
    pub fn dispatch_of(&self, wave: &Wave) -> Option<&Dispatch> {
        self.dispatches.get(self.workgroup_of(wave)?.dispatch?)
    }

    /// The queue of a wave, if known.
    #[must_use]
    pub fn queue_of(&self, wave: &Wave) -> Option<&Queue> {
        let group = self.workgroup_of(wave)?;
        let of_dispatch = || Some(self.dispatches.get(group.dispatch?)?.queue);
        self.queues.get(group.queue.or_else(of_dispatch)?)
    }

    /// The agent of a wave.
    #[must_use]
    pub fn agent_of(&self, wave: &Wave) -> Option<&Agent> {
        self.agents.get(wave.agent)
    }

    /// A wave's register as it was captured, aliases not followed.
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

    /// Reads captured bytes from `address` on, as far as they reach without a gap; 0 where the first was not captured.
    ///
    /// # Errors
    /// The operating system's error for the file.
    pub fn read(&self, map: &MemoryMap, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
        map.read(&self.backings, address, buffer)
    }

    /// A lasting view of an extent.
    ///
    /// # Errors
    /// `UnexpectedEof` if it leaves its store, or the operating system's error for the file.
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
        // A gap costs the dwords that it touches, and not those behind it.
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
