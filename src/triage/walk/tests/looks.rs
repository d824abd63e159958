//! Registers that survive from an access to the PC.

use super::*;

#[test]
fn surviving_registers_give_the_addresses() {
    let text = "global_load_dword v1, v[2:3], off offset:16\nv_mov_b32_e32 v5, 0\nPC\ns_endpgm";
    let look = look(text, "global_load", &ADDRESS).unwrap();
    assert_eq!((look.lanes, look.exec_changed), (LaneSet(0xf), None));
    let found: Vec<(u8, u64)> =
        look.addresses.iter().map(|at| (at.lane.unwrap().0, at.global.unwrap())).collect();
    let base = 0x7f00_0010_0010;
    assert_eq!(found, [(0, base), (1, base + 0x100), (2, base + 0x200), (3, base + 0x300)]);
    assert!(look.unknown.is_none());
}

#[test]
fn written_address_registers_make_lanes_unknown() {
    for write in ["v_mov_b32_e32 v3, 0", "global_load_dword v2, v[8:9], off", "v_swap_b32 v7, v2"] {
        let text = format!("global_load_dword v1, v[2:3], off\n{write}\nPC\ns_endpgm");
        let look = look(&text, "global_load_dword v1", &ADDRESS).unwrap();
        let unknown = look.unknown.unwrap();
        assert_eq!((unknown.lanes, look.addresses.len()), (LaneSet(0xf), 0), "{write}");
        assert!(matches!(unknown.reason, UnknownAddressCause::Overwritten { at: 0x1008, .. }), "{write}");
    }
    // A load that may have replaced its own address.
    let text = "global_load_dwordx2 v[2:3], v[2:3], off\nPC\ns_endpgm";
    let unknown = look(text, "global_load", &ADDRESS).unwrap().unknown.unwrap();
    assert_eq!(unknown.reason, UnknownAddressCause::Overwritten { register: "v2".to_owned(), at: 0x1000 });
}

/// A write under a narrower EXEC keeps the other lanes.
#[test]
fn writes_change_active_lanes_only() {
    let text = "global_load_dword v1, v[2:3], off
        s_and_saveexec_b64 s[6:7], vcc
        v_mov_b32_e32 v2, 0
        PC
        s_endpgm";
    let values = [("v2", 0x10_0000), ("v3", 0x7f00), ("exec", 0x3), ("s6", 0xf), ("s7", 0)];
    let look = look(text, "global_load", &values).unwrap();
    assert_eq!((look.lanes, look.exec_changed), (LaneSet(0xf), None));
    assert_eq!(look.unknown.unwrap().lanes, LaneSet(0x3));
    let found: Vec<u8> = look.addresses.iter().map(|at| at.lane.unwrap().0).collect();
    assert_eq!(found, [2, 3]);
}

#[test]
fn exec_before_the_access_is_recovered_or_a_bound() {
    let certain_at = |write: &str| {
        let text = format!("global_load_dword v1, v[2:3], off\n{write}\nPC\ns_endpgm");
        let values: Vec<_> = ADDRESS.iter().chain(&[("s6", 0xff), ("s7", 0)]).copied().collect();
        look(&text, "global_load", &values).unwrap().certain
    };
    // The lower bound.
    assert_eq!(certain_at("s_nop 0"), LaneSet(0xf));
    assert_eq!(certain_at("s_and_saveexec_b64 s[6:7], vcc"), LaneSet(0xff));
    assert_eq!(certain_at("s_or_b64 exec, exec, s[6:7]"), LaneSet(0));
    assert_eq!(certain_at("s_andn2_b64 exec, exec, s[6:7]"), LaneSet(0xf));
    assert_eq!(certain_at("s_mov_b64 exec, s[6:7]"), LaneSet(0));
    let look_at = |write: &str, more: &[(&str, u64)]| {
        let text = format!("global_load_dword v1, v[2:3], off\n{write}\nPC\ns_endpgm");
        let values: Vec<_> = ADDRESS.iter().chain(more).copied().collect();
        let look = look(&text, "global_load", &values).unwrap();
        (look.lanes, look.exec_changed)
    };
    let saved = [("s6", 0xff), ("s7", 0)];
    assert_eq!(look_at("s_and_saveexec_b64 s[6:7], vcc", &saved), (LaneSet(0xff), None));
    // The saved value is lost.
    let lost = "s_and_saveexec_b64 s[6:7], vcc\ns_mov_b32 s6, 0";
    assert_eq!(look_at(lost, &saved), (LaneSet(u64::MAX), Some(0x1008)));
    assert_eq!(look_at("s_or_b64 exec, exec, s[6:7]", &saved), (LaneSet(0xf), Some(0x1008)));
    assert_eq!(look_at("s_andn2_b64 exec, exec, s[6:7]", &saved), (LaneSet(0xff), Some(0x1008)));
    assert_eq!(look_at("s_xor_b64 exec, exec, s[6:7]", &saved), (LaneSet(0xf0), None));
    assert_eq!(look_at("s_mov_b64 exec, s[6:7]", &saved), (LaneSet(u64::MAX), Some(0x1008)));
    // EXEC is not captured.
    let text = "global_load_dword v1, v[2:3], off\nPC\ns_endpgm";
    let look = look(text, "global_load", &ADDRESS[..2]).unwrap();
    assert_eq!((look.lanes, look.exec_changed), (LaneSet(u64::MAX), Some(0x1008)));
}

/// `s_cbranch_execz` is taken without active lanes only. The other way to the PC writes an address register.
#[test]
fn branches_that_exec_and_vcc_contradict_are_not_taken() {
    let is_taken = |branch: &str, exec: u64, vcc: u64| {
        let text = format!(
            "s_load_dword s1, s[2:3], 0x0
            s_cbranch_{branch} END
            s_mov_b32 s2, 0
            END:
            PC
            s_endpgm"
        );
        let values = [("s2", 0x10_0000), ("s3", 0x7f00), ("exec", exec), ("vcc", vcc)];
        let look = look(&text, "s_load", &values).unwrap();
        assert_eq!(look.is_detour, look.unknown.is_some());
        look.unknown.is_none()
    };
    assert!(is_taken("execz", 0, 0) && !is_taken("execz", 0xf, 0));
    assert!(is_taken("execnz", 1, 0) && !is_taken("execnz", 0, 0));
    assert!(is_taken("vccz", 1, 0) && !is_taken("vccz", 1, 1));
    assert!(is_taken("vccnz", 1, 1) && !is_taken("vccnz", 1, 0));
    assert!(is_taken("scc0", 1, 0));
}

/// A comparison whose registers have their values still decides a branch on the way, and one that skips the access.
#[test]
fn comparisons_decide_branches() {
    let looks = |branch: &str, compared: u64, more: &str| {
        let text = format!(
            "s_cmp_eq_u64 s[4:5], 0
            v_mov_b32_e32 v9, 0
            s_cbranch_{branch} END
            s_load_dword s1, s[2:3], 0x0
            END:
            {more}
            PC
            s_endpgm"
        );
        let values = [("s2", 0), ("s3", 0), ("s4", compared), ("s5", 0), ("exec", 1)];
        look(&text, "s_load", &values).is_some()
    };
    assert!(looks("scc1", 7, "s_nop 0") && !looks("scc1", 0, "s_nop 0"));
    assert!(looks("scc0", 0, "s_nop 0") && !looks("scc0", 7, "s_nop 0"));
    assert!(looks("scc1", 0, "s_mov_b32 s4, 0"), "the compared value is lost");
}

#[test]
fn a_call_loses_the_registers_of_the_convention() {
    let at = |first: u32| {
        let second = first + 1;
        let text = format!(
            "global_load_dword v1, v[{first}:{second}], off\ns_swappc_b64 s[30:31], s[4:5]\nPC\ns_endpgm"
        );
        let (low, high) = (format!("v{first}"), format!("v{second}"));
        let values = [(low.as_str(), 0x10_0000), (high.as_str(), 0x7f00), ("exec", 1)];
        look(&text, "global_load", &values).unwrap().unknown.is_none()
    };
    assert!(!at(2) && at(40) && !at(48) && at(56));
}

/// In the index mode of GFX9 the text of an instruction does not show its destination.
#[test]
fn the_index_mode_hides_destinations() {
    let text = "global_load_dword v1, v[2:3], off
        v_mov_b32_e32 v8, 0
        PC
        s_set_gpr_idx_off
        s_endpgm";
    let is_known = |mode: u64| {
        let values: Vec<_> = ADDRESS.iter().chain(&[("mode", mode)]).copied().collect();
        look(text, "global_load", &values).unwrap().unknown.is_none()
    };
    assert!(is_known(0x2f0) && !is_known(0x2f0 | 1 << 27));
}
