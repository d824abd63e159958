//! Overwritten registers, computed again.

use super::*;

/// The sum of a base and an index of each lane, 64 bits with carry.
#[test]
fn overwritten_addresses_are_computed_again() {
    let text = "v_lshlrev_b64 v[2:3], 2, v[8:9]
        v_mov_b32_e32 v4, s5
        v_add_co_u32_e32 v2, vcc, s4, v2
        v_addc_co_u32_e32 v3, vcc, v4, v3, vcc
        global_load_dword v60, v[2:3], off
        v_mov_b32_e32 v2, 0
        v_mov_b32_e32 v3, 0
        s_mov_b64 vcc, 0
        PC
        s_endpgm";
    let values =
        [("s4", 0xffff_fff0), ("s5", 0x7f00), ("v8", 0x10_0000), ("v9", 0), ("exec", 3), ("v4", 0x7f00)];
    let look = recovered(text, &values, &[]);
    assert!(look.is_recovered && look.unknown.is_none(), "{look:?}");
    let found: Vec<u64> = look.addresses.iter().map(|at| at.global.unwrap()).collect();
    // 4 * (0x100000 + lane * 0x100) + 0x7f00fffffff0.
    assert_eq!(found, [0x7f01_003f_fff0, 0x7f01_0040_03f0]);
}

/// Compilers keep a register in another one around a call, and write it back.
#[test]
fn copies_of_overwritten_registers_have_their_values() {
    let text = |after: &str| format!("global_load_dword v60, v1, s[2:3]\n{after}\nPC\ns_endpgm");
    let values =
        [("s2", 0x10_0000), ("s3", 0x7f00), ("s20", 0x20_0000), ("s21", 0x7f00), ("v1", 0x10), ("exec", 1)];
    let found = |after: &str| {
        let addresses = recovered(&text(after), &values, &[]).addresses;
        addresses.first().map(|at| at.global.unwrap())
    };
    let copy = "s_mov_b64 s[20:21], s[2:3]\n";
    assert_eq!(
        found(&format!("{copy}s_mov_b64 s[2:3], s[20:21]\ns_mov_b64 s[20:21], 0")),
        Some(0x7f00_0010_0010)
    );
    assert_eq!(found(&format!("{copy}s_mov_b64 s[2:3], 0")), Some(0x7f00_0020_0010));
    assert_eq!(found(&format!("s_mov_b64 s[2:3], 0\n{copy}")), None);
    assert_eq!(found(&format!("{copy}s_mov_b64 s[2:3], 0\ns_mov_b64 s[20:21], 0")), None);
    // The copy of a lane that may have been inactive.
    let vector = |between: &str| {
        let text = format!("global_load_dword v60, v[2:3], off\n{between}v_mov_b32_e32 v2, 0\nPC\ns_endpgm");
        recovered(&text, &[("v3", 0x7f00), ("v9", 0x40), ("exec", 1)], &[])
            .addresses
            .first()
            .map(|at| at.address)
    };
    assert_eq!(vector("v_mov_b32_e32 v9, v2\n"), Some(0x7f00_0000_0040));
    assert_eq!(vector("s_mov_b64 exec, s[8:9]\nv_mov_b32_e32 v9, v2\n"), None);
}

/// A pointer in memory is loaded again, unless a store on the path changed it.
#[test]
fn loaded_addresses_are_loaded_again() {
    let text = |store: &str| {
        format!(
            "global_load_dwordx2 v[2:3], v[6:7], off offset:8
            s_waitcnt vmcnt(0)
            global_load_dword v60, v[2:3], off
            v_mov_b32_e32 v2, 0
            {store}
            PC
            s_endpgm"
        )
    };
    let values = [("v6", 0x1000), ("v7", 0), ("exec", 1), ("v3", 0x7f00)];
    let memory = &[(0x1008, 0xabc0), (0x100c, 0x7f00)];
    let look = recovered(&text("s_nop 0"), &values, memory);
    assert_eq!(look.addresses[0].global, Some(0x7f00_0000_abc0));
    let near = recovered(&text("global_store_dword v[6:7], v9, off offset:8"), &values, memory);
    assert!(near.addresses.is_empty() && !near.is_recovered && near.unknown.is_some());
    let far = recovered(&text("global_store_dword v[6:7], v9, off offset:16"), &values, memory);
    assert_eq!(far.addresses[0].global, Some(0x7f00_0000_abc0));
    // Memory that is not captured has no value.
    assert!(recovered(&text("s_nop 0"), &values, &[]).addresses.is_empty());
}

/// Another lane may have written what a lane loaded. A store at an unknown address makes the value doubtful, if it can
/// reach that memory.
#[test]
fn stores_of_other_lanes_change_loaded_addresses() {
    let look = |store: &str| {
        let text = format!(
            "global_load_dwordx2 v[2:3], v6, s[6:7] offset:8
            s_waitcnt vmcnt(0)
            global_load_dword v60, v[2:3], off
            v_mov_b32_e32 v2, 0
            {store}
            PC
            s_endpgm"
        );
        let values = [("v6", 0x1_0000), ("s6", 0), ("s7", 0), ("exec", 3), ("v3", 0x7f00)];
        let memory = &[(0x1_0008, 0xabc0), (0x1_000c, 0x7f00), (0x1_0108, 0xdef0), (0x1_010c, 0x7f00)];
        let look = recovered(&text, &values, memory);
        let lanes: Vec<u8> = look.addresses.iter().map(|at| at.lane.unwrap().0).collect();
        (lanes, look.is_doubtful)
    };
    assert_eq!(look("s_nop 0"), (vec![0, 1], false));
    // Lane 1 writes at 0x10100 - 248, where lane 0 has loaded.
    assert_eq!(look("global_store_dword v6, v9, s[6:7] offset:-248"), (vec![1], false));
    assert_eq!(look("global_store_dword v6, v9, s[6:7] offset:-4096"), (vec![0, 1], false));
    for unknown in ["global_store_dword v[20:21], v9, off", "flat_atomic_add v[20:21], v9"] {
        assert_eq!(look(unknown), (vec![0, 1], true), "{unknown}");
    }
    for elsewhere in ["ds_write_b32 v20, v9", "scratch_store_dword v20, v9, off"] {
        assert_eq!(look(elsewhere), (vec![0, 1], false), "{elsewhere}");
    }
}

/// A path on which an instruction gave a register another value than it has is impossible; of possible ones that differ
/// one is chosen.
#[test]
fn registers_refute_paths() {
    let look = |values: &[(&str, u64)]| {
        let text = "v_mov_b32_e32 v2, v6
            global_load_dword v60, v[2:3], off
            s_cbranch_scc1 END
            v_mov_b32_e32 v2, v7
            END:
            PC
            s_endpgm";
        let all = [&[("v2", 9), ("v3", 0x7f00), ("exec", 1)], values].concat();
        let look = recovered(text, &all, &[]);
        (look.addresses.first().and_then(|at| at.global), look.is_choice, look.is_detour)
    };
    assert_eq!(look(&[("v6", 5), ("v7", 9)]), (Some(0x7f00_0000_0005), false, true));
    assert_eq!(look(&[("v6", 9), ("v7", 5)]), (Some(0x7f00_0000_0009), false, false));
    assert_eq!(look(&[]), (Some(0x7f00_0000_0009), true, false));
}

/// Spilled scalars are lanes of a VGPR: a write of another lane keeps them.
#[test]
fn lanes_of_spilled_scalars_survive_writes_of_other_lanes() {
    let text = |lane: u8| {
        format!(
            "v_readlane_b32 s4, v40, 1
            v_readlane_b32 s5, v40, 2
            v_mov_b32_e32 v2, s4
            v_mov_b32_e32 v3, s5
            global_load_dword v60, v[2:3], off
            v_mov_b32_e32 v2, 0
            s_mov_b64 s[4:5], 0
            v_writelane_b32 v40, s9, {lane}
            PC
            s_endpgm"
        )
    };
    let values = [("v40", 0x10_0000), ("exec", 1), ("v3", 0x10_0200)];
    let look = recovered(&text(3), &values, &[]);
    assert_eq!(look.addresses[0].global, Some(0x10_0200_0010_0100), "{look:?}");
    assert!(recovered(&text(1), &values, &[]).addresses.is_empty());
}

/// A pointer in private memory. The descriptor of private memory adds the lane and swizzles; its base is FLAT_SCRATCH.
/// CDNA ISA, "Buffer Addressing": lane 1 has its dword 6 (byte 24) at 24 / 4 * 64 * 4 + 4.
#[test]
fn pointers_in_private_memory_are_loaded_again() {
    let text = |buffer: &str| {
        format!(
            "{buffer} v2, off, s[0:3], s33 offset:24
            {buffer} v3, off, s[0:3], s33 offset:28
            s_waitcnt vmcnt(0)
            flat_load_dword v60, v[2:3]
            v_mov_b32_e32 v2, 0
            v_mov_b32_e32 v3, 0
            PC
            s_endpgm"
        )
    };
    let flat = |value: u64| {
        [
            ("s0", 0x82_0000),
            ("s1", 0x8000_7f00),
            ("s2", 0x80_0000),
            ("s3", 0xe8_0fac),
            ("s33", 0),
            ("exec", 2),
        ]
        .into_iter()
        .chain([("flat_scratch", value)])
        .collect::<Vec<_>>()
    };
    let load = text("buffer_load_dword");
    let look = recovered(&load, &flat(0x7f00_0082_0000), &[(24, 0x40), (28, 0x7f01)]);
    assert_eq!(look.addresses.len(), 1, "{look:?}");
    assert_eq!((look.addresses[0].lane.unwrap().0, look.addresses[0].global), (1, Some(0x7f01_0000_0040)));
    // Another buffer: its memory is global.
    let memory: &[_] = &[(24, 0x40), (28, 0x7f01)];
    assert!(recovered(&load, &flat(0x7f00_0083_0000), memory).addresses.is_empty());
}

/// Accesses through the descriptor of private memory are private, also with an unknown offset.
#[test]
fn the_buffer_of_private_memory_is_private() {
    let text = "buffer_store_dword v60, off, s[0:3], s33 offset:24\ns_mov_b32 s33, s32\nPC\ns_endpgm";
    let is_private = |control: u64| {
        let values =
            [("s0", 0x82_0000), ("s1", 0x8000_7f00), ("s2", 0x80_0000), ("s3", control), ("exec", 2)];
        let look = recovered(text, &values, &[]);
        assert!(look.unknown.is_some());
        look.is_private
    };
    // ADD_TID_ENABLE is bit 23 of the last dword.
    assert!(is_private(0xe8_0fac) && !is_private(0x68_0fac));
}

/// The kernel's arguments: the hardware sets their address before the first instruction.
#[test]
fn the_address_of_arguments_is_that_of_the_launch() {
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let text = "s_load_dwordx2 s[4:5], s[4:5], 0x10
        s_waitcnt lgkmcnt(0)
        v_mov_b32_e32 v2, s4
        v_mov_b32_e32 v3, s5
        global_load_dword v60, v[2:3], off
        v_mov_b32_e32 v2, 0
        s_mov_b64 s[4:5], 0
        PC
        s_endpgm";
    let known = |dispatch: Option<u32>| {
        let mut session = registers(&arch, &[("exec", 1), ("v3", 0x7f00)]);
        session.expect_read().returning(|place, buffer| {
            let value: &[u8] = match place.address.0 {
                // Only the pointer to the arguments, behind a descriptor of four SGPRs.
                0x9038 => &[0b1001, 0],
                0x5010 => &[0xc0, 0xab, 0, 0],
                0x5014 => &[0, 0x7f, 0, 0],
                _ => return Err(ReadError::NotCaptured { what: "memory".to_owned() }),
            };
            buffer.copy_from_slice(value);
            Ok(value.len())
        });
        session.expect_dispatches().returning(|| {
            let address = |at| Some(crate::units::Address(at));
            vec![DispatchInfo {
                id: 3,
                kernel_object: address(0x9000),
                kernarg: address(0x5000),
                ..dispatch_info()
            }]
        });
        session.expect_wave().returning(move |wave| Ok(WaveInfo { dispatch, ..info(wave, 0x1000, None, 0) }));
        let (apertures, launches) = (HashMap::new(), Launches::of(&session));
        again(text, &Registers::new(&session, WaveId(0), &apertures, &launches, &Work::default()))
            .addresses
            .first()
            .copied()
    };
    assert_eq!(known(Some(3)).unwrap().global, Some(0x7f00_0000_abc0));
    assert_eq!(known(None), None);
}

/// The instruction at the PC of a loop was executed in the turn before, with other values.
#[test]
fn an_access_at_the_pc_of_a_loop_has_its_turn_before() {
    let text = "LOOP:
        PC
        global_load_dword v60, v[2:3], off
        v_add_u32_e32 v2, 4, v2
        s_cbranch_scc1 LOOP
        s_endpgm";
    let arch = Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap();
    let session = registers(&arch, &ADDRESS);
    let (apertures, launches) = (HashMap::new(), Launches::default());
    let work = Work::default();
    let registers = Registers::new(&session, WaveId(0), &apertures, &launches, &work);
    let walk = walk(&code(Gfx90a, text));
    let looks = walk.looks(&walk.candidates[0], &registers, false);
    let found: Vec<_> = looks.iter().map(|look| (look.way.distance, look.unknown.is_some())).collect();
    assert_eq!(found, [(0, false), (3, true)]);
}

/// The addresses of the lanes, and the lanes without one.
fn by_lane(text: &str, more: &[(&str, u64)]) -> (Vec<(u8, u64)>, LaneSet) {
    let values = [("s4", 0x40), ("s5", 0x50), ("s6", 0xf), ("s7", 0), ("v3", 0x7f00), ("exec", 0xf)];
    let values: Vec<_> = values.iter().chain(more).copied().collect();
    let look = recovered(text, &values, &[]);
    let found = look.addresses.iter().map(|at| (at.lane.unwrap().0, at.global.unwrap() & 0xff)).collect();
    (found, look.unknown.map_or(LaneSet::EMPTY, |unknown| unknown.lanes))
}

/// A vector instruction writes active lanes alone: the others keep their values.
#[test]
fn inactive_lanes_keep_their_values() {
    let text = "v_mov_b32_e32 v2, s4
        s_and_saveexec_b64 s[6:7], vcc
        v_mov_b32_e32 v2, s5
        s_mov_b64 exec, s[6:7]
        global_load_dword v60, v[2:3], off
        v_mov_b32_e32 v2, 0
        PC
        s_endpgm";
    let expected = vec![(0, 0x50), (1, 0x50), (2, 0x40), (3, 0x40)];
    assert_eq!(by_lane(text, &[("vcc", 3)]), (expected, LaneSet::EMPTY));
    // The mask is unknown.
    assert_eq!(by_lane(text, &[]), (vec![], LaneSet(0xf)));
}

/// The access was executed in its lanes: a write under the same EXEC, or a wider one, was, too.
#[test]
fn lanes_of_the_access_were_active_at_its_other_instructions() {
    let text = |before: &str| {
        format!(
            "{before}
            v_mov_b32_e32 v2, s5
            global_load_dword v60, v[2:3], off
            v_mov_b32_e32 v2, 0
            s_or_b64 exec, exec, s[8:9]
            PC
            s_endpgm"
        )
    };
    let all: Vec<_> = (0..4).map(|lane| (lane, 0x50)).collect();
    assert_eq!(by_lane(&text("s_and_saveexec_b64 s[8:9], vcc"), &[]), (all, LaneSet::EMPTY));
    // EXEC at the write may have been narrower than at the access.
    let text = text("").replace("global", "s_mov_b64 exec, s[10:11]\nglobal");
    assert_eq!(by_lane(&text, &[]), (vec![], LaneSet(0xf)));
}

/// "V_CMP": the bits of inactive lanes are 0.
#[test]
fn comparisons_clear_the_bits_of_inactive_lanes() {
    let text = "s_and_saveexec_b64 s[6:7], s[8:9]
        v_cmp_eq_u32_e64 s[10:11], s4, s4
        s_mov_b64 exec, s[6:7]
        v_cndmask_b32_e64 v2, v8, v9, s[10:11]
        global_load_dword v60, v[2:3], off
        v_mov_b32_e32 v2, 0
        s_mov_b64 s[10:11], 0
        PC
        s_endpgm";
    let values = [("s8", 3), ("s9", 0), ("v8", 0x10), ("v9", 0x20)];
    let expected = vec![(0, 0x20), (1, 0x20), (2, 0x10), (3, 0x10)];
    assert_eq!(by_lane(text, &values), (expected, LaneSet::EMPTY));
}

/// A copy is one in the lanes that were active at it.
#[test]
fn copies_in_inactive_lanes_are_none() {
    let text = "v_mov_b32_e32 v2, v11
        global_load_dword v60, v[2:3], off
        s_and_saveexec_b64 s[6:7], vcc
        v_mov_b32_e32 v9, v8
        s_mov_b64 exec, s[6:7]
        v_mov_b32_e32 v2, 0
        v_mov_b32_e32 v11, 0
        PC
        s_endpgm";
    let copied = text.replace("v9, v8", "v9, v2");
    assert_eq!(by_lane(&copied, &[("v9", 0x70), ("vcc", 3)]).0, []);
    assert_eq!(by_lane(text, &[("v9", 0x70), ("vcc", 3)]).0, []);
}

/// Behind a barrier another wave of the work-group may have written the LDS.
#[test]
fn lds_is_not_read_again_behind_a_barrier() {
    let text = |load: &str, between: &str| {
        format!(
            "{load}
            s_waitcnt vmcnt(0) lgkmcnt(0)
            {between}
            global_load_dword v60, v[2:3], off
            v_mov_b32_e32 v2, 0
            PC
            s_endpgm"
        )
    };
    let values = [("v8", 0x40), ("v9", 0), ("v3", 0x7f00), ("exec", 1)];
    let is_known =
        |load, between| !recovered(&text(load, between), &values, &[(0x40, 0xabc0)]).addresses.is_empty();
    assert!(is_known("ds_read_b32 v2, v8", "s_nop 0") && !is_known("ds_read_b32 v2, v8", "s_barrier"));
    assert!(is_known("global_load_dword v2, v[8:9], off", "s_barrier"));
}
