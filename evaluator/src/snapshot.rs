//! A context with its own registers and memory.

use std::collections::BTreeMap;

use super::context::{Answer, CallFrame, LaneNeed, Machine, MemoryAt, RegisterBytes, SpaceInfo, Unit};
use super::error::ContextError;
use super::location::Frame;
use crate::units::{Address, AddressSpace, BitSize, DwarfReg, LaneId, Pc, WaveSize};

/// The state of one wave in memory: a [`Context`](crate::Context) for examples, tests and small tools.
///
/// It has global memory ([`AddressSpace`] 0, addresses of 64 bits) and the caller's address spaces. Registers, lanes of
/// a vector register and bytes that the caller does not add are not captured. It has no debugging information entries
/// and no caller. A byte of memory takes one entry of a map: a tool with a whole capture implements
/// [`Context`](crate::Context) itself.
#[derive(Clone, Debug)]
pub struct Snapshot {
    wave_size: WaveSize,
    pc: Option<Pc>,
    spaces: BTreeMap<AddressSpace, SpaceInfo>,
    registers: BTreeMap<DwarfReg, Register>,
    memory: BTreeMap<(AddressSpace, Option<LaneId>, Address), u8>,
}

#[derive(Clone, Debug)]
struct Register {
    size: BitSize,
    contents: RegisterBytes,
}

impl Snapshot {
    /// Creates a wave without a PC, registers or memory.
    #[must_use]
    pub fn new(wave_size: WaveSize) -> Self {
        let global = SpaceInfo { address_bits: 64, lane: LaneNeed::None };
        let spaces = BTreeMap::from([(AddressSpace(0), global)]);
        Self { wave_size, pc: None, spaces, registers: BTreeMap::new(), memory: BTreeMap::new() }
    }

    /// Sets the program location, which selects the code ranges of object maps.
    #[must_use]
    pub fn with_pc(mut self, pc: Pc) -> Self {
        self.pc = Some(pc);
        self
    }

    /// Adds an address space.
    #[must_use]
    pub fn with_space(mut self, space: AddressSpace, info: SpaceInfo) -> Self {
        self.spaces.insert(space, info);
        self
    }

    /// Adds a register of the size of `bytes`, least significant first, at most [`RegisterBytes::MAX`] bytes.
    #[must_use]
    pub fn with_register(mut self, register: DwarfReg, bytes: impl AsRef<[u8]>) -> Self {
        let mut contents = RegisterBytes::unknown();
        let length = contents.fill(bytes.as_ref());
        self.registers.insert(register, Register { size: BitSize(length as u64 * 8), contents });
        self
    }

    /// Adds a vector register with a dword for each lane of the wave, lane 0 first. Lanes past the last dword are not
    /// captured; dwords past the last lane are ignored.
    #[must_use]
    pub fn with_vector(mut self, register: DwarfReg, dwords: impl IntoIterator<Item = u32>) -> Self {
        let lanes = self.wave_size.lanes();
        let bytes: Vec<u8> = dwords.into_iter().take(lanes.into()).flat_map(u32::to_le_bytes).collect();
        let mut contents = RegisterBytes::unknown();
        contents.fill(&bytes);
        self.registers.insert(register, Register { size: BitSize(u64::from(lanes) * 32), contents });
        self
    }

    /// Adds bytes of memory, replacing earlier ones. [`MemoryAt::lane`] is `None` in lane-independent spaces.
    #[must_use]
    pub fn with_memory(mut self, at: MemoryAt, bytes: impl AsRef<[u8]>) -> Self {
        let places = (0..).map(|offset| (at.space, at.lane, Address(at.address.0.wrapping_add(offset))));
        self.memory.extend(places.zip(bytes.as_ref().iter().copied()));
        self
    }
}

impl Machine for Snapshot {
    fn wave_size(&self) -> WaveSize {
        self.wave_size
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        self.spaces.get(&space).copied()
    }

    fn register_size(&self, register: DwarfReg) -> Answer<BitSize> {
        let known = self.registers.get(&register).map(|known| known.size);
        known.ok_or_else(|| ContextError::not_captured("not in the snapshot"))
    }

    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes) {
        if let (Frame::Current, Some(known)) = (frame, self.registers.get(&register)) {
            into.clone_from(&known.contents);
        }
    }

    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize {
        for (offset, slot) in into.iter_mut().enumerate() {
            let address = Address(at.address.0.wrapping_add(offset as u64));
            match self.memory.get(&(at.space, at.lane, address)) {
                Some(byte) => *slot = *byte,
                None => return offset,
            }
        }
        into.len()
    }
}

impl CallFrame for Snapshot {
    fn pc(&self) -> Option<Pc> {
        self.pc
    }
}

impl Unit for Snapshot {}
