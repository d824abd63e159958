//! Forms of GFX12.5, as llvm-mc 22 prints them and llc 22 uses them.

use super::{Wave, access, decoded, effects};
use crate::isa::{
    AddressError, DecodeError, Direction, Family, LaneAddress, NotComputableCause, RegisterFile,
    RegisterRange,
};
use crate::units::LaneSet;

const GPU: &str = "gfx1250";
const GLOBAL: &str = "global";
const LOCAL: &str = "local";
const PRIVATE: &str = "private";

fn vector(first: u16, count: u16) -> RegisterRange {
    RegisterRange::new(RegisterFile::Vector, first, count)
}

/// s[2:3] is 0x7f0000001000; v2 is 3 and 5; v[4:5] is 0x7f0000002000 and 0x7f0000002010.
fn wave() -> Wave {
    Wave::new(GPU)
        .set("s[2:3]", &[0x1000, 0x7f00])
        .lanes(2, &[3, 5])
        .lanes(4, &[0x2000, 0x2010])
        .lanes(5, &[0x7f00, 0x7f00])
}

/// Text, addresses of two lanes, direction, registers of the data, written registers.
#[test]
fn flat_accesses_have_a_scalar_base() {
    let (load, store) = (Direction::Load, Direction::Store);
    let (atomic, returning) = (Direction::Atomic { returns: false }, Direction::Atomic { returns: true });
    let base_of = |offset: i64| 0x7f00_0000_1000u64.wrapping_add_signed(offset);
    let cases = [
        ("flat_load_b32 v9, v2, s[2:3]", [3, 5], load, vector(9, 1), Some(vector(9, 1))),
        ("flat_load_b64 v[8:9], v2, s[2:3] offset:-8", [-5, -3], load, vector(8, 2), Some(vector(8, 2))),
        ("flat_load_b32 v9, v2, s[2:3] scale_offset", [12, 20], load, vector(9, 1), Some(vector(9, 1))),
        (
            "flat_load_b32 v9, v2, s[2:3] offset:16 scale_offset nv",
            [28, 36],
            load,
            vector(9, 1),
            Some(vector(9, 1)),
        ),
        ("flat_store_b32 v2, v4, s[2:3]", [3, 5], store, vector(4, 1), None),
        ("flat_store_b64 v2, v[4:5], s[2:3] scale_offset", [24, 40], store, vector(4, 2), None),
        ("flat_atomic_add_u64 v2, v[4:5], s[2:3]", [3, 5], atomic, vector(4, 2), None),
        ("flat_atomic_add_f32 v2, v4, s[2:3] offset:4", [7, 9], atomic, vector(4, 1), None),
        ("flat_atomic_cmpswap_b32 v2, v[4:5], s[2:3]", [3, 5], atomic, vector(4, 2), None),
        (
            "flat_atomic_add_u64 v[8:9], v2, v[4:5], s[2:3] th:TH_ATOMIC_RETURN",
            [3, 5],
            returning,
            vector(4, 2),
            Some(vector(8, 2)),
        ),
        (
            "flat_atomic_cmpswap_b64 v[8:9], v2, v[4:7], s[2:3] scale_offset th:TH_ATOMIC_RETURN",
            [24, 40],
            returning,
            vector(4, 4),
            Some(vector(8, 2)),
        ),
    ];
    for (text, offsets, direction, data, written) in cases {
        let found = wave().global(text);
        assert_eq!(found, offsets.map(|offset| Some(base_of(offset))), "{text}");
        let effects = effects(GPU, text);
        let writes: Vec<_> = effects.writes.iter().map(|write| write.range).collect();
        assert_eq!(writes, written.into_iter().collect::<Vec<_>>(), "{text}");
        let access = effects.access.unwrap();
        assert_eq!((access.family, access.direction), (Family::Flat, direction), "{text}");
        assert_eq!(access.data, [data], "{text}");
    }
    // Without one the pair of VGPRs has the address.
    for text in
        ["flat_load_b32 v9, v[4:5]", "flat_store_b32 v[4:5], v9", "flat_atomic_add_u64 v[4:5], v[8:9]"]
    {
        assert_eq!(wave().global(text), [Some(0x7f00_0000_2000), Some(0x7f00_0000_2010)], "{text}");
    }
    let returning = "flat_atomic_add_u64 v[8:9], v[4:5], v[2:3] th:TH_ATOMIC_RETURN";
    assert_eq!(wave().global(returning), [Some(0x7f00_0000_2000), Some(0x7f00_0000_2010)]);
    assert_eq!(access(GPU, returning).direction, Direction::Atomic { returns: true });
    // llc uses the form for signed and for unsigned indexes.
    let high = Wave::new(GPU).set("s[2:3]", &[0x1000, 0x7f00]).lanes(2, &[0x8000_0000, 1]);
    let results = high.results("flat_load_b32 v9, v2, s[2:3] scale_offset");
    let sign = LaneAddress::Unknown(AddressError::NotComputable(NotComputableCause::IndexSign));
    assert_eq!(results[0].1, sign);
    assert!(matches!(results[1].1, LaneAddress::Memory { .. }));
}

/// llc 22: `scratch_store_b64 v4, v[0:1], off scale_offset`, `s_load_b64 s[8:9], s[0:1], s2 offset:0x0 scale_offset`.
#[test]
fn scaled_offsets_of_scratch_and_scalar_loads() {
    let mut wave = wave().set("s4", &[0x100]).set("s6", &[6]).lanes(6, &[0xffff_ffff, 2]);
    let scratch = wave.memory("scratch_load_b64 v[8:9], v2, off offset:8 scale_offset");
    assert_eq!(scratch, [(Some(0), PRIVATE, 32, 8), (Some(1), PRIVATE, 48, 8)]);
    let both = wave.memory("scratch_store_b32 v6, v9, s4 scale_offset");
    assert_eq!(both, [(Some(0), PRIVATE, 0xfc, 4), (Some(1), PRIVATE, 0x108, 4)]);
    let scalar = wave.memory("s_load_b64 s[8:9], s[2:3], s6 offset:0x10 scale_offset");
    assert_eq!(scalar, [(None, GLOBAL, 0x7f00_0000_1040, 8)]);
    wave.exec = LaneSet(0);
    assert_eq!(wave.memory("s_load_b32 s8, s[2:3], s6 offset:0x0 scale_offset").len(), 1);
    assert_eq!(wave.memory("s_load_b512 s[8:23], s[2:3], s6 offset:0x0 scale_offset")[0].2, 0x7f00_0000_1180);
}

/// llc 22 with `block-vgpr-csr`: `s_mov_b32 m0, 0x30005`, `scratch_store_block off, v[40:71], s32`, "transferring at most
/// v40 v42 v56 v57". Pull request 130013 of llvm-project: "the memory is not compacted".
#[test]
fn blocks_move_the_dwords_of_m0() {
    let wave = || wave().set("m0", &[0x3_0005]).set("s32", &[0x100]).lanes(6, &[0xffff_fffc, 4]);
    for gpu in ["gfx1201", GPU] {
        let stored = wave().memory("scratch_store_block off, v[40:71], s32");
        let runs = [(0x100, 4), (0x108, 4), (0x140, 8)];
        let of = |lane| runs.map(|(at, bytes)| (Some(lane), PRIVATE, at, bytes));
        assert_eq!(stored, [of(0), of(1)].concat(), "{gpu}");
        let effects = effects(gpu, "scratch_store_block off, v[40:71], s32");
        assert!(effects.writes.is_empty(), "{gpu}: {effects:?}");
        let access = effects.access.unwrap();
        assert_eq!((access.direction, access.bytes), (Direction::Store, None), "{gpu}");
        assert_eq!(access.data, [vector(40, 32)], "{gpu}");
        let m0 = RegisterRange::new(RegisterFile::M0, 0, 1);
        assert!(access.address_registers().contains(&m0), "{gpu}: a later M0 has other dwords");
    }
    let sum = wave().memory("scratch_load_block v[40:71], v6, s32 offset:16");
    assert_eq!((sum[0], sum[3]), ((Some(0), PRIVATE, 0x10c, 4), (Some(1), PRIVATE, 0x114, 4)));
    let load = "global_load_block v[8:39], v[4:5], off offset:-8";
    assert_eq!(
        wave().memory(load)[..3],
        [0x1ff8, 0x2000, 0x2038].map(|at| (
            Some(0),
            GLOBAL,
            0x7f00_0000_0000 + at,
            if at == 0x2038 { 8 } else { 4 }
        ))
    );
    let by_scalar = wave().memory("global_store_block v2, v[8:39], s[2:3]");
    assert_eq!(by_scalar[0], (Some(0), GLOBAL, 0x7f00_0000_1003, 4));
    // The registers that M0 leaves out keep their values.
    let writes = effects(GPU, load).writes;
    assert_eq!(
        writes.iter().map(|write| (write.range, write.keeps_old)).collect::<Vec<_>>(),
        [(vector(8, 32), true)]
    );
    // All registers, and none.
    let all = wave().set("m0", &[u32::MAX]).memory(load);
    assert_eq!(all[0], (Some(0), GLOBAL, 0x7f00_0000_1ff8, 128));
    assert_eq!(wave().set("m0", &[0]).accesses(load), []);
    // Without M0 the dwords are unknown; no source gives the unit of a scaled offset.
    let unknown = super::Wave::new(GPU).lanes(4, &[0, 0]).lanes(5, &[0, 0]).results(load);
    assert!(matches!(unknown[0].1, LaneAddress::Unknown(AddressError::Register(_))), "{unknown:?}");
    let scaled = wave().results("global_load_block v[8:39], v2, s[2:3] scale_offset");
    let cause = LaneAddress::Unknown(AddressError::NotComputable(NotComputableCause::ScaledOffset));
    assert_eq!(scaled[0].1, cause);
    for text in [load, "scratch_load_block v[8:39], v6, off"] {
        assert_eq!(decoded("gfx1100", text), Err(DecodeError::Mnemonic), "{text}");
    }
}

/// A copy between memory and LDS has both addresses, and no result.
#[test]
fn asynchronous_copies_have_two_sides() {
    let wave = wave().lanes(9, &[0x40, 0x80]);
    let sides = |text: &str| -> Vec<_> {
        wave.memory(text).into_iter().map(|(_, space, address, bytes)| (space, address, bytes)).collect()
    };
    for (text, first) in [
        ("global_load_async_to_lds_b32 v9, v[4:5], off", 0x7f00_0000_2000),
        ("cluster_load_async_to_lds_b32 v9, v[4:5], off", 0x7f00_0000_2000),
        ("global_load_async_to_lds_b32 v9, v2, s[2:3]", 0x7f00_0000_1003),
        ("global_load_async_to_lds_b32 v9, v2, s[2:3] scale_offset", 0x7f00_0000_100c),
        ("global_store_async_from_lds_b32 v[4:5], v9, off", 0x7f00_0000_2000),
        ("global_store_async_from_lds_b32 v2, v9, s[2:3]", 0x7f00_0000_1003),
    ] {
        assert_eq!(sides(text)[..2], [(GLOBAL, first, 4), (LOCAL, 0x40, 4)], "{text}");
        let effects = effects(GPU, text);
        assert!(effects.writes.is_empty() && effects.issues.is_empty(), "{text}: a wait proves nothing");
        let is_load = text.contains("_load_");
        let direction = if is_load { Direction::Load } else { Direction::Store };
        assert_eq!(effects.access.unwrap().direction, direction, "{text}");
    }
    // The offset is that of both sides.
    let offset = sides("global_load_async_to_lds_b128 v9, v2, s[2:3] offset:16");
    assert_eq!(offset[..2], [(GLOBAL, 0x7f00_0000_1013, 16), (LOCAL, 0x50, 16)]);
    // One access of the wave, with unknown addresses.
    for text in
        ["tensor_load_to_lds s[0:3], s[4:11]", "tensor_store_from_lds s[0:3], s[4:11], s[12:15], s[16:19]"]
    {
        let found = wave.accesses(text);
        let unknown = LaneAddress::Unknown(AddressError::NotComputable(NotComputableCause::Tensor));
        assert_eq!(found.iter().map(|one| (one.lane, &one.address)).collect::<Vec<_>>(), [(None, &unknown)]);
        assert!(effects(GPU, text).issues.is_empty(), "{text}");
    }
}

#[test]
fn further_loads_and_hints() {
    for text in [
        "cluster_load_b32 v9, v[4:5], off",
        "global_load_monitor_b32 v9, v[4:5], off",
        "flat_load_monitor_b32 v9, v[4:5]",
    ] {
        assert_eq!(wave().global(text), [Some(0x7f00_0000_2000), Some(0x7f00_0000_2010)], "{text}");
        assert_eq!(effects(GPU, text).writes[0].range, vector(9, 1), "{text}");
    }
    // A hint raises no fault.
    for text in [
        "global_prefetch_b8 v[4:5], off",
        "global_prefetch_b8 v2, s[2:3] offset:8",
        "flat_prefetch_b8 v2, s[2:3]",
        "s_prefetch_data s[0:1], 0x0, s4, 0",
    ] {
        assert_eq!(decoded(GPU, text), Ok(crate::isa::Effects::default()), "{text}");
    }
    let arrive = wave().memory("ds_atomic_barrier_arrive_rtn_b64 v[8:9], v2, v[4:5]");
    assert_eq!(arrive[0], (Some(0), LOCAL, 3, 8));
    let arrive = effects(GPU, "ds_atomic_async_barrier_arrive_b64 v2");
    assert!(arrive.issues.is_empty() && arrive.writes.is_empty());
    assert_eq!(arrive.access.unwrap().direction, Direction::Atomic { returns: false });
}
