//! Loops whose exits the registers of the wave keep shut.

use super::{at, listing, place};
use crate::arch::{Processor, Targets};
use crate::triage::survey::tests::info;
use crate::triage::walk::tests::registers;
use crate::units::WaveId;

/// Whether a wave at `top` never leaves its loop.
fn endless(gpu: &str, text: &str, values: &[(&str, u64)]) -> bool {
    let targets = Targets::builtin();
    let arch = targets.kind(gpu, targets.target(gpu).unwrap().wave_sizes[0]).unwrap();
    let text = format!("top:\n{text}\ns_endpgm");
    let position = place(&listing(Processor::named(gpu).unwrap().generation, &text), at(&text, "top"));
    position.unwrap().is_endless(&registers(&arch, values), &info(WaveId(0), 0x1000, None, 0))
}

#[test]
fn registers_that_the_loop_leaves_unchanged_decide() {
    let scc = "s_nop 0\ns_cbranch_scc1 -> top";
    for (gpu, name, bit) in [("gfx90a", "status", 0), ("gfx1100", "status", 0), ("gfx1201", "state_priv", 9)]
    {
        assert!(endless(gpu, scc, &[(name, 1 << bit)]), "{gpu}");
        assert!(!endless(gpu, scc, &[(name, 0)]) && !endless(gpu, scc, &[]), "{gpu}");
        let zero = scc.replace("scc1", "scc0");
        assert!(endless(gpu, &zero, &[(name, 0)]) && !endless(gpu, &zero, &[(name, 1 << bit)]), "{gpu}");
    }
    let vcc = "s_nop 0\ns_cbranch_vccnz -> top";
    assert!(endless("gfx90a", vcc, &[("vcc", 1 << 40)]) && !endless("gfx90a", vcc, &[("vcc", 0)]));
}

#[test]
fn comparisons_of_unchanged_registers_decide() {
    let scalar = "s_cmp_eq_u32 s21, 0\ns_cbranch_scc1 -> top";
    assert!(endless("gfx90a", scalar, &[("s21", 0)]));
    assert!(!endless("gfx90a", scalar, &[("s21", 1)]) && !endless("gfx90a", scalar, &[]));
    // SCC at the PC is not the result of the next comparison.
    assert!(!endless("gfx90a", scalar, &[("s21", 1), ("status", 1)]));
    let sleeps = "s_cmp_lg_u32 s21, s22\ns_sleep 1\ns_cbranch_scc1 -> top";
    assert!(endless("gfx1201", sleeps, &[("s21", 3), ("s22", 4)]));
    let vector = |condition: &str| format!("v_cmp_eq_u32_e32 vcc, 0, v9\ns_cbranch_{condition} -> top");
    let at =
        |condition: &str, value| endless("gfx90a", &vector(condition), &[("v9", value), ("exec", 0b110)]);
    assert!(at("vccnz", 0) && !at("vccnz", 1) && at("vccz", 1) && !at("vccz", 0));
    assert!(!endless("gfx90a", &vector("vccnz"), &[("v9", 0)]), "EXEC is unknown");
    assert!(!endless("gfx90a", &vector("vccnz"), &[("v9", 0), ("exec", 0)]), "no lane compares");
    // Each way out counts.
    let two = "s_cmp_eq_u32 s21, 0\ns_cbranch_scc0 -> out\ns_cmp_eq_u32 s22, 0\ns_cbranch_scc1 -> top\nout:";
    assert!(endless("gfx90a", two, &[("s21", 0), ("s22", 0)]));
    assert!(!endless("gfx90a", two, &[("s21", 0), ("s22", 1)]));
    assert!(!endless("gfx90a", two, &[("s21", 1), ("s22", 0)]));
}

#[test]
fn comparisons_that_may_change_decide_nothing() {
    let values = &[("s21", 0), ("s22", 0), ("v9", 0), ("exec", 1), ("status", 1), ("vcc", 1)];
    for text in [
        "s_add_u32 s21, s21, 0\ns_cmp_eq_u32 s21, 0\ns_cbranch_scc1 -> top",
        "s_cmp_eq_u32 s21, 0\ns_mov_b32 s21, s22\ns_cbranch_scc1 -> top",
        // The value of a load before the loop may arrive.
        "s_waitcnt lgkmcnt(0)\ns_cmp_eq_u32 s21, 0\ns_cbranch_scc1 -> top",
        "v_cmp_eq_u32_e32 vcc, 0, v9\ns_mov_b64 exec, s[22:23]\ns_cbranch_vccnz -> top",
        // Another path leads to the branch.
        "s_cmp_eq_u32 s21, 0\nbetween:\ns_nop 0\ns_cbranch_scc1 -> top\ns_cmp_lg_u32 s22, 0\ns_cbranch_scc1 -> between",
        // The last write is no comparison.
        "s_cmp_eq_u32 s21, 0\ns_and_b32 s24, s21, s22\ns_cbranch_scc1 -> top",
        "s_bitcmp0_b32 s21, 0\ns_cbranch_scc1 -> top",
    ] {
        assert!(!endless("gfx90a", text, values), "{text}");
    }
}

/// SIMM16 has a sign in `s_cmpk_*_i32`, and none in `s_cmpk_*_u32` (ISA documents, "SOPK Instructions"). LLVM prints
/// its bits.
#[test]
fn constants_of_16_bits_have_the_sign_of_the_comparison() {
    let at = |comparison: &str, value| {
        let text = format!("s_cmpk_{comparison}, 0xffff\ns_cbranch_scc1 -> top");
        endless("gfx90a", &text, &[("s0", value)])
    };
    assert!(!at("lg_i32 s0", 0xffff_ffff) && at("lg_i32 s0", 0xffff));
    assert!(at("gt_i32 s0", 0) && !at("gt_i32 s0", 0xffff_fffe));
    assert!(at("lg_u32 s0", 0xffff_ffff) && !at("lg_u32 s0", 0xffff));
    assert!(at("lt_u32 s0", 0xfffe) && !at("lt_u32 s0", 0xffff_ffff));
}

/// A load before the loop may still write VCC: at the wait it arrives.
#[test]
fn a_pending_load_of_vcc_decides_nothing() {
    let inside = |before: &str, text: &str| {
        let targets = Targets::builtin();
        let arch = targets.kind("gfx90a", targets.target("gfx90a").unwrap().wave_sizes[0]).unwrap();
        let text = format!("{before}\ntop:\n{text}\ns_cbranch_vccnz -> top\ns_endpgm");
        let position =
            place(&listing(Processor::named("gfx90a").unwrap().generation, &text), at(&text, "top"));
        position.unwrap().is_endless(&registers(&arch, &[("vcc", 1)]), &info(WaveId(0), 0x1000, None, 0))
    };
    let load = "s_load_dwordx2 vcc, s[0:1], 0x0";
    assert!(!inside(load, "s_waitcnt lgkmcnt(0)") && !inside(load, "s_nop 0"));
    // The start of the function is unknown.
    assert!(!inside("s_nop 0", "s_waitcnt lgkmcnt(0)"));
    assert!(inside("s_nop 0", "s_waitcnt vmcnt(0)") && inside("s_nop 0", "s_nop 1"));
}
