//! Buffers of GFX12.5: the descriptors that llc 22 builds for `make.buffer.rsrc`.

use super::Wave;
use crate::isa::{AddressError, LaneAddress};
use crate::units::{Address, AddressSpace, LaneSet};

const GPU: &str = "gfx1250";
const BASE: u64 = 0x7f00_0000_1000;

/// Words of a descriptor as llc 22 builds them for `make.buffer.rsrc`: base | records << 57, records >> 7, stride.
fn buffer(base: u64, records: u64, stride: u32) -> [u32; 4] {
    let (low, high) = (base & ((1 << 57) - 1) | records << 57, records >> 7);
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32 | stride << 12]
}

/// The first lane: v2 is 0x10, v3 is 5, s1 is 0x100.
fn first(words: [u32; 4], text: &str) -> Vec<(Option<u16>, LaneAddress)> {
    let mut wave = Wave::new(GPU).set("s[4:7]", &words).set("s1", &[0x100]).lanes(2, &[0x10]).lanes(3, &[5]);
    wave.exec = LaneSet(1);
    wave.results(text)
}

fn at(address: u64) -> LaneAddress {
    let address = Address(address);
    LaneAddress::Memory { space: AddressSpace(0), address, global: Some(address) }
}

#[test]
fn descriptors_have_wide_bases_and_records() {
    let offset = "buffer_load_b32 v9, v2, s[4:7], null offen offset:4";
    for records in [0x18, 0x7f, 0x80, 0x1234_5678_9abc, (1 << 45) - 1] {
        assert_eq!(first(buffer(BASE, records, 0), offset), [(Some(4), at(BASE + 0x14))], "{records:#x}");
    }
    // 57 bits, and a sign.
    let far = 0x00ab_cdef_0123_4560;
    assert_eq!(first(buffer(far, 0x100, 0), offset)[0].1, at(far + 0x14));
    assert_eq!(first(buffer(u64::MAX - 0xfff, 0x100, 0), offset)[0].1, at(u64::MAX - 0xfff + 0x14));
    let scalar = first(buffer(BASE, 0x1000, 0), "buffer_load_b32 v9, v2, s[4:7], s1 offen");
    assert_eq!(scalar, [(Some(4), at(BASE + 0x110))]);
    let index = first(buffer(BASE, 0x1000, 0x20), "buffer_load_b32 v9, v3, s[4:7], null idxen offset:4");
    assert_eq!(index, [(Some(4), at(BASE + 5 * 0x20 + 4))]);
}

/// No source states the check of the range: an access is known only where all readings agree.
#[test]
fn unclear_fields_of_descriptors_give_no_address() {
    let offset = "buffer_load_b32 v9, v2, s[4:7], null offen offset:4";
    let open = |address| LaneAddress::Unknown(AddressError::RangeCheck(address));
    assert_eq!(first(buffer(BASE, 0, 0), offset), [(Some(4), LaneAddress::OutOfRange)]);
    // Past the bytes, within the records.
    assert_eq!(first(buffer(BASE, 0x17, 0), offset)[0].1, open(BASE + 0x14));
    let index = "buffer_load_b32 v9, v3, s[4:7], null idxen offset:4";
    assert_eq!(first(buffer(BASE, 6, 0x20), index)[0].1, open(BASE + 5 * 0x20 + 4));
    assert_eq!(first(buffer(BASE, 5, 0x20), index)[0].1, LaneAddress::OutOfRange);
    let unclear = LaneAddress::Unknown(AddressError::DescriptorFields);
    for bit in [6, 11, 26, 27, 28, 29, 30, 31] {
        let mut words = buffer(BASE, 0x1000, 0);
        words[3] |= 1 << bit;
        assert_eq!(first(words, offset)[0].1, unclear, "bit {bit}");
    }
}
