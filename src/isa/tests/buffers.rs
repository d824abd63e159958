//! Buffers: addresses and range checks, with values computed by hand from AMD's ISA documents.

use super::Wave;
use crate::isa::{AddressError, LaneAddress};
use crate::units::{Address, AddressSpace};

const BASE: u64 = 0x7f00_0000_1000;

fn at(address: u64) -> LaneAddress {
    let address = Address(address);
    LaneAddress::Memory { space: AddressSpace(0), address, global: Some(address) }
}

/// Words of a descriptor: stride, bits 63:62, records, word 3.
fn buffer(stride: u32, swizzle: u32, records: u32, control: u32) -> [u32; 4] {
    [BASE as u32, (BASE >> 32) as u32 | stride << 16 | swizzle << 30, records, control]
}

/// The first lane's accesses: v2 is 0x10, v3 is 5, s1 is 0x100.
fn first(processor: &str, words: [u32; 4], text: &str) -> Vec<(Option<u16>, LaneAddress)> {
    let mut wave =
        Wave::new(processor).set("s[4:7]", &words).set("s1", &[0x100]).lanes(2, &[0x10]).lanes(3, &[5]);
    wave.exec = crate::units::LaneSet(1);
    wave.results(text)
}

/// RDNA's OOB_SELECT in word 3.
fn select(mode: u32) -> u32 {
    mode << 28
}

#[test]
fn linear_buffers_add_all_parts() {
    let words = buffer(0x20, 0, 0x1000, 0);
    for (text, address) in [
        ("buffer_load_dword v0, off, s[4:7], 0 offset:8", BASE + 8),
        ("buffer_load_dword v0, off, s[4:7], s1 offset:8", BASE + 0x108),
        ("buffer_load_dword v0, v2, s[4:7], 64 offen", BASE + 0x10 + 64),
        ("buffer_load_dword v0, v3, s[4:7], 0 idxen offset:4", BASE + 5 * 0x20 + 4),
        // The index comes first.
        ("buffer_load_dword v0, v[2:3], s[4:7], s1 idxen offen", BASE + 0x10 * 0x20 + 5 + 0x100),
    ] {
        assert_eq!(first("gfx90a", words, text), [(Some(4), at(address))], "{text}");
    }
    let null =
        first("gfx1200", buffer(0, 0, 0x1000, select(3)), "buffer_load_b32 v0, v2, s[4:7], null offen");
    assert_eq!(null, [(Some(4), at(BASE + 0x10))]);
}

/// ((idx div is) * stride + (off div es) * es) * is + (idx mod is) * es + off mod es
#[test]
fn swizzled_buffers_interleave_indexes() {
    // Index stride 8 (word 3 bits 22:21 = 0), elements of 4 bytes; index 9, offset 6.
    let run = |processor: &str, swizzle, control, text: &str| {
        let words = buffer(0x20, swizzle, 0x1000, control);
        let mut wave = Wave::new(processor).set("s[4:7]", &words).lanes(2, &[9]).lanes(3, &[6]);
        wave.exec = crate::units::LaneSet(1);
        wave.results(text)
    };
    let four = at(BASE + (0x20 + 4) * 8 + 4 + 2);
    let text = "buffer_load_ubyte v0, v[2:3], s[4:7], 0 idxen offen";
    assert_eq!(run("gfx90a", 2, 0, text), [(Some(1), four.clone())]);
    // Bit 62 alone swizzles the cache.
    assert_eq!(run("gfx90a", 1, 0, text), [(Some(1), at(BASE + 9 * 0x20 + 6))]);
    assert_eq!(run("gfx1030", 2, select(1), text), [(Some(1), four.clone())]);
    let text = "buffer_load_u8 v0, v[2:3], s[4:7], 0 idxen offen";
    assert_eq!(run("gfx1100", 1, select(1), text), [(Some(1), four)]);
    let sixteen = at(BASE + 0x20 * 8 + 16 + 6);
    assert_eq!(run("gfx1100", 3, select(1), text), [(Some(1), sixteen)]);
    let reserved = run("gfx1100", 2, select(1), text);
    assert_eq!(reserved[0].1, LaneAddress::Unknown(AddressError::NoBuffer));
    // Index stride 64.
    assert_eq!(run("gfx1100", 1, select(1) | 3 << 21, text), [(Some(1), at(BASE + 4 * 64 + 9 * 4 + 2))]);
}

/// Private memory through buffers: swizzled, the lane in the index, 64 lanes in a row; the scalar offset is of the wave.
#[test]
fn private_memory_through_buffers() {
    let words = buffer(0, 2, 0, 1 << 23 | 3 << 21);
    let mut wave = Wave::new("gfx90a").set("s[4:7]", &words).set("s32", &[0x400]);
    wave.exec = crate::units::LaneSet(1 << 5);
    let found = wave.results("buffer_store_dwordx2 v[0:1], off, s[4:7], s32 offset:8");
    let row = |number: u64| BASE + 0x400 + number * 256 + 5 * 4;
    assert_eq!(found, [(Some(4), at(row(2))), (Some(4), at(row(3)))]);
    // The data format extends the stride: 1 << 14.
    let long = Wave::new("gfx90a").set("s[4:7]", &buffer(0, 0, 0x10_0000, 1 << 23 | 1 << 15));
    assert_eq!(long.results("buffer_load_dword v0, off, s[4:7], 0")[1].1, at(BASE + 0x4000));
    assert_eq!(long.results("buffer_load_format_x v0, off, s[4:7], 0")[1].1, at(BASE));
}

#[test]
fn cdna_checks_offset_or_index() {
    let load = |words, text: &str| first("gfx90a", words, text);
    let raw = |records| load(buffer(0, 0, records, 0), "buffer_load_dwordx2 v[0:1], v2, s[4:7], 0 offen");
    assert_eq!(raw(0x18), [(Some(8), at(BASE + 0x10))]);
    assert_eq!(raw(0x14), [(Some(4), at(BASE + 0x10)), (Some(4), LaneAddress::OutOfRange)], "by dword");
    assert_eq!(raw(0x10), [(Some(8), LaneAddress::OutOfRange)]);
    let structured = |records| load(buffer(8, 0, records, 0), "buffer_store_dword v0, v3, s[4:7], 0 idxen");
    assert_eq!(structured(6), [(Some(4), at(BASE + 5 * 8))]);
    assert_eq!(structured(5), [(Some(4), LaneAddress::OutOfRange)]);
    // AMD's documents disagree whether the scalar offset counts.
    let scalar = |records| load(buffer(0, 0, records, 0), "buffer_load_dword v0, v2, s[4:7], s1 offen");
    let open = LaneAddress::Unknown(AddressError::RangeCheck(BASE + 0x110));
    assert_eq!(scalar(0x111), [(Some(4), at(BASE + 0x110))]);
    assert_eq!(scalar(0x110), [(Some(4), open)]);
    assert_eq!(scalar(0x10), [(Some(4), LaneAddress::OutOfRange)]);
    // An unbound buffer.
    assert_eq!(load([0; 4], "buffer_load_dword v0, off, s[4:7], 0"), [(Some(4), LaneAddress::OutOfRange)]);
    let image = load(buffer(0, 0, 1, 1 << 31), "buffer_load_dword v0, off, s[4:7], 0");
    assert_eq!(image[0].1, LaneAddress::Unknown(AddressError::NoBuffer));
}

#[test]
fn rdna_descriptors_select_the_check() {
    let out = LaneAddress::OutOfRange;
    let index = "buffer_load_b64 v[0:1], v[3:4], s[4:7], 0 idxen offen";
    let run = |stride, records, mode, offset| {
        let words = buffer(stride, 0, records, select(mode));
        let mut wave = Wave::new("gfx1100").set("s[4:7]", &words).lanes(3, &[5]).lanes(4, &[offset]);
        wave.exec = crate::units::LaneSet(1);
        wave.results(index)
    };
    let whole = |offset: u64| vec![(Some(8), at(BASE + 5 * 16 + offset))];
    // 0: the index, and the record.
    assert_eq!(run(16, 6, 0, 8), whole(8));
    assert_eq!(run(16, 6, 0, 12), [(Some(4), at(BASE + 5 * 16 + 12)), (Some(4), out.clone())]);
    assert_eq!(run(16, 5, 0, 8), [(Some(8), out.clone())]);
    // 1: the index.
    assert_eq!(run(16, 6, 1, 12), whole(12));
    assert_eq!(run(16, 5, 1, 0), [(Some(8), out.clone())]);
    // 2: no record.
    assert_eq!(run(16, 1, 2, 12), whole(12));
    assert_eq!(run(16, 0, 2, 0), [(Some(8), out.clone())]);
    // 3: the bytes, without the scalar offset.
    let raw = |records, text: &str| first("gfx1100", buffer(0, 0, records, select(3)), text);
    let text = "buffer_load_b64 v[0:1], v2, s[4:7], s1 offen";
    assert_eq!(raw(0x118, text), [(Some(8), at(BASE + 0x110))]);
    assert_eq!(raw(0x114, text), [(Some(4), at(BASE + 0x110)), (Some(4), out.clone())]);
    // Formats and atomics are in range as a whole.
    let atomic = "buffer_atomic_add_u64 v[0:1], v2, s[4:7], 0 offen";
    assert_eq!(raw(0x18, atomic), [(Some(8), at(BASE + 0x10))]);
    assert_eq!(raw(0x14, atomic), [(Some(8), out.clone())]);
    let format = "buffer_load_format_x v0, v2, s[4:7], 0 offen";
    assert_eq!(raw(0x20, format), [(None, at(BASE + 0x10))]);
    assert_eq!(raw(0x10, format), [(None, out)]);
    // The size of the format is unknown.
    assert_eq!(raw(0x18, format)[0].1, LaneAddress::Unknown(AddressError::RangeCheck(BASE + 0x10)));
}

#[test]
fn scalar_buffers_check_bytes() {
    let wave = |stride, records| {
        Wave::new("gfx90a").set("s[4:7]", &buffer(stride, 0, records, 0)).set("s1", &[0x13])
    };
    let text = "s_buffer_load_dwordx4 s[8:11], s[4:7], s1";
    assert_eq!(wave(0, 0x100).results(text), [(Some(16), at(BASE + 0x10))]);
    let half = wave(0, 0x18).results(text);
    assert_eq!(half, [(Some(8), at(BASE + 0x10)), (Some(8), LaneAddress::OutOfRange)]);
    // Records of 16 bytes.
    assert_eq!(wave(16, 1).results(text), [(Some(16), LaneAddress::OutOfRange)]);
    assert_eq!(wave(16, 2).results(text), [(Some(16), at(BASE + 0x10))]);
}
