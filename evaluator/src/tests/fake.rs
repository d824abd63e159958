//! A machine for tests: registers and memory with contents derived from number and address, with gaps.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::*;
use crate::units::{AddressSpace, BitSize, DieOffset, DwarfReg, LaneId, Pc, WaveSize};

/// Registers 0 to 9 have 32 bits, 10 to 19 have 64, 20 to 29 have a dword for each of 64 lanes; lane N of register N is
/// not captured in the last group. Registers 8, 9 and 19 are not captured.
#[derive(Debug, Default)]
pub(super) struct Fake {
    pub(super) dies: BTreeMap<u64, Die>,
    pub(super) frame_base: Option<Arc<Program>>,
    pub(super) lanes: Option<u64>,
    /// The object map at 9.
    pub(super) map: Option<Arc<ObjectMap>>,
}

impl Fake {
    /// A procedure and a variable with these expressions, at offsets 1 and 2; a constant at 3; nothing at 4.
    pub(super) fn with(procedure: Program, variable: Program, frame_base: Program) -> Self {
        let die = |is_procedure, location| Die { is_procedure, location };
        let dies = [
            (1, die(true, DieLocation::Expression(Arc::new(procedure)))),
            (2, die(false, DieLocation::Expression(Arc::new(variable)))),
            (3, die(false, DieLocation::ConstValue([1, 2, 3, 4, 5, 6, 7, 8].into()))),
            (4, die(false, DieLocation::None)),
        ];
        Self { dies: dies.into(), frame_base: Some(Arc::new(frame_base)), ..Self::default() }
    }
}

/// The dword of a register for a lane, or half of a scalar.
pub(super) fn dword(register: u64, lane: u32) -> u32 {
    (register as u32).wrapping_mul(1000) + lane
}

/// The byte at an address of a space; every 29th is not captured.
pub(super) fn byte(space: u64, lane: Option<LaneId>, address: u64) -> Option<u8> {
    let lane = lane.map_or(0, |lane| u64::from(lane.0) + 1);
    let mixed = address ^ space.wrapping_mul(0x51) ^ lane.wrapping_mul(0x35);
    (!address.wrapping_add(lane).is_multiple_of(29)).then_some(mixed as u8)
}

impl Machine for Fake {
    fn wave_size(&self) -> WaveSize {
        WaveSize::W64
    }

    fn space(&self, space: AddressSpace) -> Option<SpaceInfo> {
        let info = |address_bits, lane| Some(SpaceInfo { address_bits, lane });
        match space.0 {
            0 => info(64, LaneNeed::None),
            1 => info(64, LaneNeed::WhenRead),
            3 | 6 => info(32, LaneNeed::None),
            5 => info(32, LaneNeed::Now),
            0x20..=0x5f => info(32, LaneNeed::Fixed(LaneId((space.0 - 0x20) as u8))),
            _ => None,
        }
    }

    fn register_size(&self, register: DwarfReg) -> Answer<BitSize> {
        match register.0 {
            0..=9 => Ok(BitSize(32)),
            10..=19 => Ok(BitSize(64)),
            20..=29 => Ok(BitSize(2048)),
            _ => Err(ContextError::absent("none of the fake's")),
        }
    }

    fn read_register(&self, register: DwarfReg, frame: Frame, into: &mut RegisterBytes) {
        let number = register.0 + if frame == Frame::Caller { 100 } else { 0 };
        let count = match register.0 {
            8 | 9 | 19 => return,
            0..=9 => 1,
            10..=19 => 2,
            _ => 64,
        };
        for lane in 0..count {
            let at = lane as usize * 4;
            into.bytes[at..at + 4].copy_from_slice(&dword(number, lane).to_le_bytes());
        }
        into.known = if count == 64 { !(1 << register.0) } else { (1 << count) - 1 };
    }

    fn read_memory(&self, at: MemoryAt, into: &mut [u8]) -> usize {
        for (offset, slot) in into.iter_mut().enumerate() {
            match byte(at.space.0, at.lane, at.address.0.wrapping_add(offset as u64)) {
                Some(byte) => *slot = byte,
                None => return offset,
            }
        }
        into.len()
    }
}

impl CallFrame for Fake {
    fn pc(&self) -> Option<Pc> {
        Some(Pc(0x1000))
    }

    fn object(&self) -> Answer<Location> {
        Ok(Location::lane_memory(AddressSpace(5), 32, LaneId(7), crate::units::Address(0x40)))
    }

    fn frame_base(&self) -> Answer<Arc<Program>> {
        self.frame_base.clone().ok_or_else(|| ContextError::absent("no frame base"))
    }

    fn lanes(&self) -> Answer<Option<Attribute>> {
        Ok(self.lanes.map(Attribute::Constant))
    }
}

impl Unit for Fake {
    fn die(&self, die: DieRef) -> Answer<Die> {
        self.dies.get(&die.offset().0).cloned().ok_or_else(|| ContextError::absent("no such DIE"))
    }

    fn base_type(&self, die: DieOffset) -> Answer<BaseType> {
        let scalar = |encoding, bits| Ok(BaseType::scalar(encoding, bits));
        match die.0 {
            1 => scalar(TypeEncoding::UNSIGNED, 32),
            2 => scalar(TypeEncoding::SIGNED, 32),
            3 => scalar(TypeEncoding::FLOAT, 32),
            4 => scalar(TypeEncoding::UNSIGNED, 128),
            5 => scalar(TypeEncoding::SIGNED, 2048),
            6 => Ok(BaseType { encoding: TypeEncoding::SIGNED, element_bits: 16, elements: Some(4) }),
            7 => scalar(TypeEncoding::SIGNED, 8),
            8 => scalar(TypeEncoding::FLOAT, 64),
            9 => scalar(TypeEncoding(1), 64),
            10 => scalar(TypeEncoding::UNSIGNED, 4096),
            11 => scalar(TypeEncoding::UNSIGNED, 0),
            12 => scalar(TypeEncoding::UNSIGNED, 8),
            13 => scalar(TypeEncoding::SIGNED, 8),
            _ => Err(ContextError::absent("no such type")),
        }
    }

    /// LLVM's types of one bit, and one whose name claims more than its size.
    fn converted_bits(&self, die: DieOffset) -> Option<u32> {
        match die.0 {
            12 | 13 => Some(1),
            7 => Some(64),
            _ => None,
        }
    }

    fn debug_addr(&self, index: u64) -> Answer<u64> {
        if index < 2 { Ok(0x3000 + index) } else { Err(ContextError::absent("no such address")) }
    }

    /// Three array maps in register 20: a lane-dependent chunk, a lane-dependent element size, other code.
    fn object_map(&self, die: DieOffset) -> Answer<Arc<ObjectMap>> {
        let by_lane =
            |mask: &str| Attribute::Expression(Arc::new(super::program(&format!("e9 03 {mask} 1a"))));
        let constant = Attribute::Constant;
        let (cntl_ordinal, element_size, high) = match die.0 {
            1 => (by_lane("33"), constant(4), 0x2000),
            2 => (constant(1), by_lane("34"), 0x2000),
            3 => (constant(1), constant(4), 0x1000),
            9 => return self.map.clone().ok_or_else(|| ContextError::absent("no such map")),
            _ => return Err(ContextError::absent("no such map")),
        };
        let vec_location = Attribute::Expression(Arc::new(super::program("64")));
        let (mem_location, element_count) = (constant(0x2000), constant(2));
        let ranges = vec![(Pc(0), Pc(high))];
        let map = ObjectMap { mem_location, cntl_ordinal, vec_location, element_size, element_count, ranges };
        Ok(Arc::new(map))
    }
}
