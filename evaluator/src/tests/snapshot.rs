//! The snapshot: data that was not added is not captured.

use super::super::*;
use super::program;
use crate::units::{Address, AddressSpace, BitSize, DwarfReg, LaneId, Pc, WaveSize};

fn at(space: u64, lane: Option<u8>, address: u64) -> MemoryAt {
    MemoryAt { space: AddressSpace(space), lane: lane.map(LaneId), address: Address(address) }
}

fn read(wave: &Snapshot, hex: &str, lane: u8, bits: u64) -> Bits {
    let location = Evaluator::new(wave).location_for(&program(hex), Some(LaneId(lane))).unwrap();
    fetch(wave, &location, Some(LaneId(lane)), BitSize(bits)).unwrap()
}

#[test]
fn lanes_past_the_last_dword_are_not_captured() {
    let wave = Snapshot::new(WaveSize::W32).with_vector(DwarfReg(20), [10, 11, 12]);
    assert_eq!(wave.register_size(DwarfReg(20)), Ok(BitSize(32 * 32)));
    // reg20; push_lane; lit4; mul; offset
    let of_lane = |lane| read(&wave, "64 e9 03 34 1e e9 04", lane, 32);
    assert_eq!(of_lane(2).number(), Some(12));
    assert_eq!((of_lane(3).number(), of_lane(3).bit(0)), (None, Known::NotCaptured));
    // A wave of 32 lanes ignores the dword of lane 32.
    let whole = Snapshot::new(WaveSize::W32).with_vector(DwarfReg(20), 0..64);
    let mut contents = RegisterBytes::unknown();
    whole.read_register(DwarfReg(20), Frame::Current, &mut contents);
    assert_eq!(contents.known, 0xffff_ffff);
}

#[test]
fn registers_that_were_not_added_are_unavailable() {
    let wave = Snapshot::new(WaveSize::W64).with_register(DwarfReg(1), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(read(&wave, "51", 0, 64).number(), Some(0x0807_0605_0403_0201));
    let error = Evaluator::new(&wave).location_for(&program("52"), None).unwrap_err();
    assert_eq!((error.class(), error.op), (Class::Unavailable, "DW_OP_reg2"));
    let mut contents = RegisterBytes::unknown();
    wave.read_register(DwarfReg(1), Frame::Caller, &mut contents);
    assert_eq!(contents.known, 0, "it has no caller");
    let wide = Snapshot::new(WaveSize::W64).with_register(DwarfReg(1), [0; RegisterBytes::MAX + 1]);
    assert_eq!(wide.register_size(DwarfReg(1)), Ok(BitSize(RegisterBytes::MAX as u64 * 8)));
}

#[test]
fn memory_belongs_to_its_space_and_lane() {
    let private = SpaceInfo { address_bits: 32, lane: LaneNeed::Now };
    let wave = Snapshot::new(WaveSize::W64)
        .with_space(AddressSpace(5), private)
        .with_memory(at(0, None, 0x40), [1, 1, 1, 1])
        .with_memory(at(0, None, 0x41), [2])
        .with_memory(at(5, Some(3), 0x40), [3])
        .with_memory(at(0, None, u64::MAX), [4, 5]);
    // const1u 0x40, and the same in space 5
    assert_eq!(read(&wave, "08 40", 3, 32).number(), Some(0x0101_0201));
    assert_eq!(read(&wave, "08 40 35 e9 02", 3, 8).number(), Some(3));
    assert_eq!(read(&wave, "08 40 35 e9 02", 4, 8).bit(0), Known::NotCaptured);
    assert_eq!(read(&wave, "08 44", 3, 8).bit(0), Known::NotCaptured);
    assert_eq!(read(&wave, "30", 3, 8).number(), Some(5), "addresses wrap");
    let reserved = Evaluator::new(&wave).location_for(&program("08 40 36 e9 02"), Some(LaneId(3)));
    assert_eq!(reserved.unwrap_err().cause, Cause::ReservedSpace(AddressSpace(6)));
}

#[test]
fn the_pc_selects_an_object_map() {
    assert_eq!(Snapshot::new(WaveSize::W64).pc(), None);
    assert_eq!(Snapshot::new(WaveSize::W64).with_pc(Pc(0x1000)).pc(), Some(Pc(0x1000)));
}
