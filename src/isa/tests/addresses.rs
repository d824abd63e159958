//! Addresses of lanes, with values computed by hand from the formulas of AMD's ISA documents.

use super::{Wave, access};
use crate::arch::Targets;
use crate::isa::{
    AddressError, Direction, LaneAddress, NotComputableCause, RegisterFile, UnknownRegisterCause, WaveContext,
};
use crate::units::{LaneSet, WaveSize};

const GLOBAL: &str = "global";
const LOCAL: &str = "local";
const PRIVATE: &str = "private";

#[test]
fn global_addresses_add_registers_and_offset() {
    let wave = Wave::new("gfx90a")
        .set("s[4:5]", &[0x1000, 0x7f00])
        .lanes(0, &[0x10, 0xffff_fff0])
        .lanes(2, &[0x2000, 0xffff_ffff])
        .lanes(3, &[0x7f01, 0x7f01]);
    let pair = wave.memory("global_load_dwordx2 v[8:9], v[2:3], off offset:16");
    assert_eq!(pair, [(Some(0), GLOBAL, 0x7f01_0000_2010, 8), (Some(1), GLOBAL, 0x7f02_0000_000f, 8)]);
    // The VGPR is unsigned.
    let based = wave.memory("global_store_dword v0, v8, s[4:5] offset:-16");
    assert_eq!(based, [(Some(0), GLOBAL, 0x7f00_0000_1000, 4), (Some(1), GLOBAL, 0x7f01_0000_0fe0, 4)]);
    let lanes = Wave::new("gfx1030").set("s[4:5]", &[0x1000, 0x7f00]);
    let lanes = lanes.memory("global_load_dword_addtid v1, s[4:5] offset:8");
    assert_eq!(lanes, [(Some(0), GLOBAL, 0x7f00_0000_1008, 4), (Some(1), GLOBAL, 0x7f00_0000_100c, 4)]);
    let wraps = Wave::new("gfx1100").lanes(2, &[8, 8]).lanes(3, &[0, 0]);
    assert_eq!(wraps.memory("global_load_b32 v1, v[2:3], off offset:-16")[0].2, 0xffff_ffff_ffff_fff8);
}

#[test]
fn inactive_lanes_have_no_address() {
    let mut wave = Wave::new("gfx90a").set("s[4:5]", &[0, 0]).lanes(0, &[0; 64]);
    let lanes = |wave: &Wave| -> Vec<u8> {
        wave.memory("global_load_dword v1, v0, s[4:5]").iter().map(|access| access.0.unwrap()).collect()
    };
    wave.exec = LaneSet(1 << 63 | 1 << 5);
    assert_eq!(lanes(&wave), [5, 63]);
    wave.exec = LaneSet(0);
    assert!(lanes(&wave).is_empty());
    // A wave of 32 lanes has no upper half.
    let mut half = Wave::new("gfx1100").set("s[4:5]", &[0, 0]).lanes(0, &[0; 64]);
    half.exec = LaneSet(u64::MAX);
    let context =
        WaveContext { arch: &half.arch, exec: half.exec, apertures: &std::collections::HashMap::new() };
    let found = access("gfx1100", "global_load_b32 v1, v0, s[4:5]").addresses(&context, &half);
    assert_eq!(found.len(), 32);
}

/// The test of apertures sees the address without the offset.
#[test]
fn flat_addresses_are_in_three_spaces() {
    let wave = |high: u32| Wave::new("gfx1100").lanes(2, &[0x40, 0xffff_fffc]).lanes(3, &[high, high]);
    let text = "flat_load_b32 v1, v[2:3] offset:8";
    let found = wave(0x7f00).memory(text);
    assert_eq!(found, [(Some(0), GLOBAL, 0x7f00_0000_0048, 4), (Some(1), GLOBAL, 0x7f01_0000_0004, 4)]);
    for (high, space) in [(0x0001_0000, LOCAL), (0x0002_0000, PRIVATE)] {
        let mut wave = wave(high);
        assert_eq!(wave.results(text)[1].1, LaneAddress::Unknown(AddressError::BeyondSpace(0x1_0000_0004)));
        wave.exec = LaneSet(1);
        assert_eq!(wave.memory(text), [(Some(0), space, 0x48, 4)]);
    }
    // A global instruction makes no such test.
    let global = wave(0x0001_0000).memory("global_load_b32 v1, v[2:3], off");
    assert_eq!(global[0], (Some(0), GLOBAL, 0x0001_0000_0000_0040, 4));
}

#[test]
fn scratch_addresses_are_private_and_swizzled() {
    let wave = Wave::new("gfx942")
        .set("s32", &[0x100])
        .set("flat_scratch", &[0x1_0000, 0x7f00])
        .lanes(2, &[0x10, 0x12]);
    for (text, addresses) in [
        ("scratch_load_dword v1, v2, off offset:4", [0x14, 0x16]),
        ("scratch_load_dword v1, off, s32 offset:4", [0x104, 0x104]),
        ("scratch_load_dword v1, off, off offset:8", [8, 8]),
        ("scratch_load_dword v1, v2, s32 offset:-16", [0x100, 0x102]),
    ] {
        let found = wave.memory(text);
        let expected = [(Some(0), PRIVATE, addresses[0], 4), (Some(1), PRIVATE, addresses[1], 4)];
        assert_eq!(found, expected, "{text}");
        // A row has a dword for each of 64 lanes.
        let global = |lane: u64, address: u64| 0x7f00_0001_0000 + address / 4 * 256 + lane * 4 + address % 4;
        let expected = [Some(global(0, addresses[0])), Some(global(1, addresses[1]))];
        assert_eq!(wave.global(text), expected, "{text}");
    }
    let half = Wave::of_size("gfx1100", WaveSize::W32).set("flat_scratch", &[0, 1]).lanes(2, &[8, 8]);
    let global = half.global("scratch_load_b32 v1, v2, off");
    assert_eq!(global, [Some(0x1_0000_0100), Some(0x1_0000_0104)]);
    // Without the base the private address is known.
    let bare = Wave::new("gfx942").lanes(2, &[0x10, 0x10]);
    assert_eq!(bare.global("scratch_load_dword v1, v2, off"), [None, None]);
    assert_eq!(bare.memory("scratch_load_dword v1, v2, off")[0], (Some(0), PRIVATE, 0x10, 4));
}

/// RDNA 3 ISA 11.2: unsigned; RDNA 4 ISA 11.2: signed, and the sum is not negative.
#[test]
fn scratch_offsets_are_signed_from_gfx12_on() {
    let registers = |name: &str| Wave::new(name).set("s32", &[0x100]).lanes(2, &[0xffff_fff0, 0xffff_0000]);
    let signed = registers("gfx1200").results("scratch_load_b32 v1, v2, s32");
    assert!(matches!(signed[0].1, LaneAddress::Memory { address, .. } if address.0 == 0xf0), "{signed:?}");
    assert_eq!(signed[1].1, LaneAddress::Unknown(AddressError::BeyondSpace(-0xff00)));
    let unsigned = registers("gfx1100").results("scratch_load_b32 v1, v2, s32");
    assert_eq!(unsigned[0].1, LaneAddress::Unknown(AddressError::BeyondSpace(0x1_0000_00f0)));
}

/// LLVM 22: `scale_offset` multiplies the vector offset by the bytes of the access, and MODE extends its register's
/// number.
#[test]
fn gfx125_scales_offsets_and_extends_numbers() {
    let wave = || Wave::new("gfx1250").set("s[2:3]", &[0x1000, 0x7f00]);
    let low = wave().lanes(0, &[3, 5]).lanes(300, &[0x10, 0x20]);
    for (text, expected) in [
        ("global_load_b32 v2, v0, s[2:3] offset:8 scale_offset", [0x7f00_0000_1014, 0x7f00_0000_101c]),
        ("global_load_b128 v[4:7], v0, s[2:3] scale_offset", [0x7f00_0000_1030, 0x7f00_0000_1050]),
        ("global_load_b32 v2, v44 /*v300*/, s[2:3]", [0x7f00_0000_1010, 0x7f00_0000_1020]),
        ("global_load_b32 v44 /*v300*/, v0, s[2:3] scale_offset", [0x7f00_0000_100c, 0x7f00_0000_1014]),
    ] {
        assert_eq!(low.global(text), expected.map(Some), "{text}");
    }
    // Compilers use it for signed and for unsigned indexes.
    let high = wave().lanes(0, &[0x8000_0000, 1]);
    let results = high.results("global_load_b32 v2, v0, s[2:3] scale_offset");
    assert_eq!(
        results[0].1,
        LaneAddress::Unknown(AddressError::NotComputable(NotComputableCause::IndexSign))
    );
}

#[test]
fn scalar_addresses_ignore_low_bits() {
    let wave = Wave::new("gfx90a").set("s[2:3]", &[0x1003, 0x7f00]).set("s8", &[0x13]);
    for (text, address) in [
        ("s_load_dword s0, s[2:3], 0x16", 0x7f00_0000_1014),
        ("s_load_dword s0, s[2:3], s8", 0x7f00_0000_1010),
        ("s_load_dword s0, s[2:3], s8 offset:0x7", 0x7f00_0000_1014),
        // The register of scratch instructions counts 64 bytes.
        ("s_scratch_load_dword s0, s[2:3], s8", 0x7f00_0000_14c0),
        ("s_scratch_load_dword s0, s[2:3], s8 offset:0x7", 0x7f00_0000_14c4),
        ("s_scratch_load_dword s0, s[2:3], 0x16", 0x7f00_0000_1014),
    ] {
        assert_eq!(wave.memory(text), [(None, GLOBAL, address, 4)], "{text}");
    }
    let pair = wave.memory("s_load_dwordx2 s[0:1], s[2:3], 0x0");
    assert_eq!(pair, [(None, GLOBAL, 0x7f00_0000_1000, 8)]);
    let negative = wave.results("s_load_dword s0, s[2:3], s8 offset:-0x20");
    assert_eq!(negative[0].1, LaneAddress::Unknown(AddressError::BeyondSpace(-0x10)));
    // Loads of less than a dword have all bits; `null` is 0.
    let wave = Wave::new("gfx1200").set("s[2:3]", &[0x1003, 0x7f00]).set("s8", &[0x12]);
    let byte = wave.memory("s_load_u8 s0, s[2:3], s8 offset:0x0");
    assert_eq!(byte, [(None, GLOBAL, 0x7f00_0000_1015, 1)]);
    let dword = wave.memory("s_load_b32 s0, s[2:3], 0x4");
    assert_eq!(dword, [(None, GLOBAL, 0x7f00_0000_1004, 4)]);
    let scalar = "s_load_dword s0, s[2:3], 0x0";
    let mut off = Wave::new("gfx90a").set("s[2:3]", &[0x1000, 0]);
    off.exec = LaneSet(0);
    assert_eq!(off.memory(scalar).len(), 1, "scalar loads ignore EXEC");
}

#[test]
fn lds_addresses_have_one_or_two_offsets() {
    let wave = Wave::new("gfx90a").set("m0", &[0xabc_0040]).lanes(2, &[0x100, 0xffff_fff8]);
    let both = |first: u64, second: u64, bytes: u16| {
        [(Some(0), LOCAL, first, bytes), (Some(1), LOCAL, second, bytes)].to_vec()
    };
    assert_eq!(wave.memory("ds_read_b32 v1, v2 offset:16"), both(0x110, 8, 4));
    assert_eq!(wave.memory("ds_read_addtid_b32 v1 offset:8"), both(0x48, 0x4c, 4));
    assert_eq!(wave.memory("ds_append v1 offset:8"), [(None, LOCAL, 0x48, 4)]);
    let mut one = wave;
    one.exec = LaneSet(1);
    for (text, first, second, bytes) in [
        ("ds_read2_b32 v[4:5], v2 offset0:1 offset1:3", 0x104, 0x10c, 4),
        ("ds_write2_b64 v2, v[4:5], v[6:7] offset1:2", 0x100, 0x110, 8),
        ("ds_read2st64_b32 v[4:5], v2 offset0:1 offset1:2", 0x200, 0x300, 4),
        ("ds_wrxchg2st64_rtn_b64 v[0:3], v2, v[4:5], v[6:7] offset0:1", 0x300, 0x100, 8),
    ] {
        let expected = [(Some(0), LOCAL, first, bytes), (Some(0), LOCAL, second, bytes)];
        assert_eq!(one.memory(text), expected, "{text}");
    }
}

#[test]
fn copies_to_lds_have_two_sides() {
    let wave = Wave::new("gfx950")
        .set("m0", &[0x200])
        .set("s[4:5]", &[0x1000, 0])
        .set("s[8:11]", &[0x4000, 0, 0x1000, 0])
        .lanes(0, &[0, 0x40]);
    let found = wave.accesses("global_load_lds_dword v0, s[4:5] offset:8");
    let directions: Vec<_> = found.iter().map(|access| access.direction).collect();
    let (load, store) = (Direction::Load, Direction::Store);
    assert_eq!(directions, [load, store, load, store]);
    let addresses =
        |text: &str| -> Vec<_> { wave.memory(text).into_iter().map(|found| (found.1, found.2)).collect() };
    let dwords = addresses("global_load_lds_dword v0, s[4:5] offset:8");
    assert_eq!(dwords, [(GLOBAL, 0x1008), (LOCAL, 0x208), (GLOBAL, 0x1048), (LOCAL, 0x20c)]);
    let wide = addresses("global_load_lds_dwordx4 v0, s[4:5]");
    assert_eq!(wide, [(GLOBAL, 0x1000), (LOCAL, 0x200), (GLOBAL, 0x1040), (LOCAL, 0x210)]);
    let buffer = addresses("buffer_load_dword v0, s[8:11], 0 offen offset:4 lds");
    assert_eq!(buffer, [(GLOBAL, 0x4004), (LOCAL, 0x204), (GLOBAL, 0x4044), (LOCAL, 0x208)]);
}

#[test]
fn missing_registers_have_a_name() {
    let wave = Wave::new("gfx90a").set("s4", &[0]).lanes(0, &[0]);
    let missing =
        |file, index| LaneAddress::Unknown(AddressError::Register(UnknownRegisterCause { file, index }));
    let based = wave.results("global_load_dword v1, v0, s[4:5]");
    assert_eq!(based[0].1, missing(RegisterFile::Scalar, 5));
    let wave = wave.set("s5", &[0]);
    let lanes = wave.results("global_load_dword v1, v0, s[4:5]");
    assert!(matches!(lanes[0].1, LaneAddress::Memory { .. }));
    assert_eq!(lanes[1].1, missing(RegisterFile::Vector, 0));
    assert_eq!(wave.results("ds_read_addtid_b32 v1")[0].1, missing(RegisterFile::M0, 0));
    let LaneAddress::Unknown(error) = &lanes[1].1 else { panic!("{lanes:?}") };
    assert_eq!(error.to_string(), "v0 was not captured");
    for (file, index, name) in [
        (RegisterFile::Scalar, 5, "s5"),
        (RegisterFile::FlatScratch, 1, "flat_scratch_hi"),
        (RegisterFile::Vcc, 0, "vcc_lo"),
        (RegisterFile::Accumulator, 255, "a255"),
    ] {
        assert_eq!(UnknownRegisterCause { file, index }.to_string(), format!("{name} was not captured"));
    }
}

#[test]
fn some_addresses_are_not_computable() {
    for (processor, text, why) in [
        ("gfx1030", "image_load v0, v1, s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_1D", NotComputableCause::Image),
        ("gfx900", "ds_add_u32 v1, v2 gds", NotComputableCause::Gds),
        ("gfx1100", "ds_bvh_stack_rtn_b32 v1, v0, v2, v[3:6]", NotComputableCause::LdsData),
        ("gfx900", "ds_add_src2_u32 v1", NotComputableCause::LdsData),
        ("gfx1200", "s_load_b32 s1, s[2:3], s4 offset:0x0 scale_offset", NotComputableCause::ScaledOffset),
        ("gfx1250", "scratch_load_b32 v1, off, s3 scale_offset", NotComputableCause::ScaledOffset),
    ] {
        let mut wave = Wave::new(processor);
        wave.exec = LaneSet(1);
        let results = wave.results(text);
        assert_eq!(results.len(), 1, "{text}");
        assert_eq!(results[0].1, LaneAddress::Unknown(AddressError::NotComputable(why)), "{text}");
    }
}

/// Each target has the spaces that addresses name.
#[test]
fn every_target_has_addresses() {
    let targets = Targets::builtin();
    for name in targets.names() {
        let is_new = name.starts_with("gfx11") || name.starts_with("gfx12");
        let (load, lds) =
            if is_new { ("flat_load_b32", "ds_load_b32") } else { ("flat_load_dword", "ds_read_b32") };
        // gfx12.5 has no bases of apertures without a capture's.
        let is_large = name.starts_with("gfx125");
        let spaces = [(0x7f00, GLOBAL), (0x1_0000, LOCAL), (0x2_0000, PRIVATE)];
        for (high, space) in spaces.into_iter().take(if is_large { 1 } else { 3 }) {
            let wave = Wave::new(name).lanes(2, &[0x40, 0x40]).lanes(3, &[high, high]);
            let found = wave.memory(&format!("{load} v1, v[2:3]"));
            assert_eq!((found[0].1, found[0].2 as u32), (space, 0x40), "{name}");
            assert_eq!(wave.memory(&format!("{lds} v1, v2"))[1], (Some(1), LOCAL, 0x40, 4), "{name}");
        }
    }
}
