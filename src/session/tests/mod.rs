//! Tests of the session over hand-made captures.

mod address;
mod budget;
mod casts;
mod compilers;
mod damage;
mod dynamic;
mod frames;
mod halves;
mod interrupts;
mod lanes;
mod members;
mod memory;
pub(super) mod mock;
mod nested;
mod overlaps;
mod paths;
mod pointers;
mod regions;
mod registers;
mod using;

use std::sync::Arc;

use super::{Dump, Session};
use crate::arch::{Targets, WaveArch};
use crate::capture::{
    Agent, Backing, BackingId, Capture, CodeObject, Dispatch, Extent, MemoryBacking, MemoryMap, Queue,
    RegisterBlock, Registers, Segment, Wave, WorkGroup,
};
use crate::units::{Address, LaneSet, WaveSize};

/// A capture built part by part; all bytes go into one backing.
pub(super) struct Maker {
    pub(super) capture: Capture,
    bytes: Vec<u8>,
    targets: Targets,
}

impl Maker {
    /// One agent of that target with a queue and a dispatch of 100 work-items in groups of 96.
    pub(super) fn new(target: &str) -> Self {
        let targets = Targets::builtin();
        let target = targets.target(target).unwrap();
        let mut capture = Capture { name: "made by hand".into(), ..Capture::default() };
        capture.agents.push(Agent {
            id: 1,
            target,
            name: None,
            apertures: Default::default(),
            hardware: None,
        });
        capture.queues.push(Queue { id: 2, agent: 0, name: None, ring: None });
        capture.dispatches.push(Dispatch {
            id: 3,
            queue: 0,
            packet: None,
            header: None,
            kernel: Some("kern".into()),
            grid: Some([100, 2, 1]),
            workgroup: Some([48, 2, 1]),
            kernarg: None,
            kernel_object: None,
            private_segment_size: None,
            group_segment_size: None,
            entry: None,
            dimensions: None,
            completion: None,
        });
        Self { capture, bytes: Vec::new(), targets }
    }

    pub(super) fn kind(&self, size: WaveSize) -> Arc<WaveArch> {
        let name = self.capture.agents[0].target.name.clone();
        self.targets.kind(&name, size).unwrap()
    }

    /// Adds captured bytes, without an address.
    pub(super) fn extent(&mut self, bytes: &[u8]) -> Extent {
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        Extent { backing: BackingId(0), offset, length: bytes.len() as u64 }
    }

    /// Adds a code object of those bytes, loaded at that address.
    pub(super) fn code_object(&mut self, bytes: &[u8], address: u64) {
        let extent = Some(self.extent(bytes));
        let (name, address) = ("object".to_owned(), Address(address));
        self.capture.code_objects.push(CodeObject { address, extent, name, ..CodeObject::default() });
    }

    pub(super) fn map(&mut self, pieces: &[(u64, &[u8])]) -> MemoryMap {
        let segments = pieces
            .iter()
            .map(|(address, bytes)| Segment { address: *address, extent: self.extent(bytes), name: None })
            .collect();
        let (map, refused) = MemoryMap::new(segments);
        assert!(refused.is_empty(), "{refused:?}");
        map
    }

    pub(super) fn group(&mut self, position: [u32; 3], lds: &[(u64, &[u8])]) -> usize {
        let lds = self.map(lds);
        let id = self.capture.workgroups.len() as u32 + 1;
        self.capture.workgroups.push(WorkGroup {
            id,
            queue: Some(0),
            dispatch: Some(0),
            position: Some(position),
            lds_size: Some(1024),
            has_all_waves: false,
            lds,
        });
        self.capture.workgroups.len() - 1
    }

    /// Adds a wave with those registers: name, bytes, known dwords.
    pub(super) fn wave(&mut self, size: WaveSize, group: Option<usize>, registers: &[(&str, &[u8], u64)]) {
        let kind = self.kind(size);
        let own = registers
            .iter()
            .map(|(name, bytes, known)| {
                let register = kind.named(name).unwrap();
                let extent = self.extent(bytes);
                let block = RegisterBlock {
                    first: register.id,
                    count: 1,
                    width: register.bytes() as u16,
                    offset: extent.offset,
                    known: LaneSet(*known),
                };
                (extent.backing, block)
            })
            .collect();
        let id = self.capture.waves.len() as u32 + 1;
        self.capture.waves.push(Wave {
            id,
            label: None,
            unconfirmed: None,
            unchecked: None,
            kind,
            agent: 0,
            workgroup: group,
            wave_in_group: Some(0),
            stop: Some(Vec::new()),
            sgpr_count: None,
            registers: Registers { own, ..Registers::default() },
            private: MemoryMap::default(),
            private_size: None,
        });
    }

    pub(super) fn private(&mut self, wave: usize, pieces: &[(u64, &[u8])]) {
        self.capture.waves[wave].private = self.map(pieces);
    }

    pub(super) fn finish(mut self) -> Arc<Dump> {
        let backing: Arc<dyn Backing> = Arc::new(MemoryBacking::new("bytes", self.bytes));
        self.capture.backings.push(backing);
        Arc::new(Dump::new(self.capture, Vec::new()))
    }
}

/// A session of a wave of 64 lanes with these pieces of private memory, and nothing else.
pub(super) fn with_private(pieces: &[(u64, &[u8])]) -> Session {
    let mut maker = Maker::new("gfx90a");
    maker.wave(WaveSize::W64, None, &[]);
    maker.private(0, pieces);
    Session::new(maker.finish(), None).unwrap()
}
