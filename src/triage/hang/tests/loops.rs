//! Loops of compiled kernels: which ones poll, which ones have no exit, and which ones work.

use std::sync::Arc;

use super::{at, listing, place, work};
use crate::arch::{Generation, Processor};
use crate::isa::tests::of_generation;
use crate::isa::{RegisterFile, RegisterRange};
use crate::sample::{least, sampled};
use crate::triage::hang::flow::Flow;
use crate::triage::hang::spin::{Compared, SteadyExit};
use crate::triage::hang::state::CodePosition;
use crate::triage::listings::{Decoded, Listing};

/// The last part of a name: the kernel.
fn kernel(name: &str) -> &str {
    name.rsplit(' ').next().unwrap()
}

/// Kernels of these names with their listings, each so many names one.
fn kernels(wanted: impl Fn(&str) -> bool, each: usize) -> impl Iterator<Item = (&'static str, Arc<Listing>)> {
    let sections = include_str!("loops.txt").split("== ").skip(1);
    let sections = sections.map(|section| section.split_once('\n').unwrap());
    let sections: Vec<_> = sections.filter(|(name, _)| wanted(name)).collect();
    sampled(sections, each).map(|(name, lines)| {
        let generation = Processor::named(name.split(' ').next().unwrap()).unwrap().generation;
        let lines: Vec<(u64, &str)> = lines
            .lines()
            .map(|line| line.split_once(' ').unwrap())
            .map(|(address, text)| (u64::from_str_radix(address, 16).unwrap(), text))
            .collect();
        let each = lines.iter().enumerate().map(|(index, (address, text))| {
            let (text, target) = text.split_once(" -> ").map_or((*text, None), |(text, target)| {
                (text, Some(u64::from_str_radix(target, 16).unwrap()))
            });
            let end = lines.get(index + 1).map_or(address + 4, |(next, _)| *next);
            let size = u8::try_from(end - address).unwrap();
            let code = of_generation(generation, text).moved(*address, size, target);
            Decoded { code, file: None, line: Some(*address) }
        });
        let instructions = each.collect();
        let listing = Listing { function: None, generation: Some(generation), instructions };
        (name, Arc::new(listing))
    })
}

/// The instructions of loops by LLVM's branches: from the target of a branch backwards to the branch.
fn in_loops(listing: &Listing) -> Vec<usize> {
    let each = listing.instructions.iter().enumerate().filter_map(|(end, one)| {
        let start = listing.index(one.target?)?;
        (start <= end).then_some(start..=end)
    });
    let mut found: Vec<usize> = each.flatten().collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Kernels of the source that poll, and the mnemonics of their polling access.
const POLLING: [(&str, &[&str]); 7] = [
    ("flag_spin", &["flat_load"]),
    ("sleep_spin", &["global_load", "flat_load"]),
    ("lock_spin", &["global_atomic_swap", "flat_atomic_swap"]),
    ("cas_spin", &["global_atomic_cmpswap", "flat_atomic_cmpswap"]),
    ("lds_spin", &["ds_load", "ds_read", "flat_load"]),
    ("lane_spin", &["flat_load"]),
    ("test_spin", &["global_load", "flat_load", "global_atomic_swap", "flat_atomic_swap"]),
];
const ENDLESS: [&str; 1] = ["endless"];
const WORKING: [&str; 23] = [
    "sum",
    "vsum",
    "chase",
    "search",
    "newton",
    "casadd",
    "drain",
    "tries",
    "queue",
    "probe",
    "halves",
    "states",
    "tries2",
    "collatz",
    "bits",
    "casreload",
    "push",
    "pop",
    "take",
    "swap",
    "more_bits",
    "unused",
    "unused_lds",
];
/// Kernels whose loops have several exits or turns of their own, with the number of polled loads.
const SEVERAL: [(&str, usize); 4] = [("two_flags", 2), ("two_limits", 2), ("back_off", 1), ("look_back", 1)];

/// Optimised code: a wave anywhere in the loop polls, by the access of the source.
#[test]
fn loops_that_poll() {
    let mut count = 0;
    let polling = |name: &str| POLLING.iter().find(|(known, _)| *known == kernel(name));
    for (name, listing) in kernels(|name| name.contains(" O2 ") && polling(name).is_some(), 1) {
        let (_, accesses) = polling(name).unwrap();
        let inside = in_loops(&listing);
        assert!(!inside.is_empty(), "{name}");
        for index in inside {
            let one = &listing.instructions[index];
            let position = place(&listing, one.address).unwrap();
            let CodePosition::Polling(loads) = &position.place else {
                panic!("{name}: {:?} at {:#x} {}", position.place, one.address, one.text())
            };
            for load in loads {
                let text = listing.instructions[load.load].text();
                assert!(accesses.iter().any(|access| text.starts_with(access)), "{name}: {text}");
            }
        }
        count += 1;
    }
    assert_eq!(count, 6 * POLLING.len());
}

/// The exits of optimised loops may depend on several loads, and on branches within them; other loops are around or in
/// them. A wave behind each load polls all of them.
#[test]
fn loops_of_several_exits_that_poll() {
    let mut count = 0;
    let several = |name: &str| SEVERAL.iter().find(|(known, _)| *known == kernel(name));
    for (name, listing) in kernels(|name| several(name).is_some(), 1) {
        let (_, polled) = several(name).unwrap();
        let is_load =
            |one: &&Decoded| one.text().starts_with("global_load") || one.text().starts_with("flat_load");
        let mut loads: Vec<u64> =
            listing.instructions.iter().filter(is_load).map(|one| one.address).collect();
        // The compiler may repeat a load in front of the loop.
        let loads = loads.split_off(loads.len() - polled);
        for load in &loads {
            let behind = &listing.instructions[listing.index(*load).unwrap() + 1];
            let position = place(&listing, behind.address).unwrap();
            let CodePosition::Polling(polls) = position.place else { panic!("{name}: {:?}", position.place) };
            let found: Vec<u64> = polls.iter().map(|poll| listing.instructions[poll.load].address).collect();
            assert_eq!(found, loads, "{name}");
        }
        count += 1;
    }
    assert_eq!(count, 6 * SEVERAL.len());
}

/// No place of code that makes progress counts as polling.
#[test]
fn loops_that_work_do_not_poll() {
    let mut count = 0;
    let all = 6 * WORKING.len() + 3 * 4 + 5;
    // No multiple of the kernels of a processor: each kernel is there for some.
    for (name, listing) in kernels(|name| WORKING.contains(&kernel(name)), 3) {
        for one in sampled(listing.instructions.iter().filter(|one| one.effects().is_ok()), 11) {
            let position = place(&listing, one.address).unwrap();
            let is_polling = matches!(
                position.place,
                CodePosition::Polling(_) | CodePosition::Endless | CodePosition::Steady(_)
            );
            assert!(!is_polling, "{name}: {:?} at {:#x} {}", position.place, one.address, one.text());
        }
        count += 1;
    }
    assert_eq!(count, least(all, all.div_ceil(3)));
}

/// Unoptimised code: no access but the source's counts, and all loops without stores poll.
#[test]
fn unoptimised_loops() {
    let polls = |name: &str| POLLING.iter().any(|(known, _)| *known == kernel(name));
    // Another kernel of each processor.
    for (name, listing) in kernels(|name| name.contains(" O0 ") && polls(name), 6) {
        let inside = in_loops(&listing);
        let polling = inside.iter().filter(|index| {
            let position = place(&listing, listing.instructions[**index].address).unwrap();
            matches!(position.place, CodePosition::Polling(_))
        });
        let (found, all) = (polling.count(), inside.len());
        assert!(found > 0, "{name}: no instruction of {all}");
    }
}

/// Loops without an exit: from the loop's first instruction on, and before it too, if only it follows.
#[test]
fn loops_without_an_exit() {
    let mut count = 0;
    for (name, listing) in kernels(|name| ENDLESS.contains(&kernel(name)), 1) {
        for index in in_loops(&listing) {
            let position = place(&listing, listing.instructions[index].address).unwrap();
            // LLVM writes a branch on a register that the loop leaves unchanged: taken as long as VCC is not 0.
            let CodePosition::Steady(exits) = &position.place else { panic!("{name}: {:?}", position.place) };
            assert!(
                matches!(
                    exits[..],
                    [SteadyExit { file: RegisterFile::Vcc, comparison: None, stays_if_taken: true, .. }]
                ),
                "{name}: {exits:?}"
            );
        }
        count += 1;
    }
    assert_eq!(count, 6);
}

/// An exit, a call, a barrier, a trap or unknown code: the loop may end.
#[test]
fn a_way_out_disproves_an_endless_loop() {
    let endless = |inside: &str| {
        let text = format!("top:\ns_nop 0\n{inside}\ns_branch -> top\nout:\ns_endpgm");
        let listing = listing(Generation::Gfx12, &text);
        Flow::new(&listing, &work()).endless(listing.index(at(&text, "top")).unwrap()).is_some()
    };
    assert!(endless("s_sleep 1"));
    assert!(endless("s_cbranch_scc1 -> top"));
    for inside in [
        "s_cbranch_scc1 -> out",
        "s_swappc_b64 s[30:31], s[0:1]",
        "s_setpc_b64 s[30:31]",
        "s_barrier_signal -1",
        "s_barrier_wait 0xffff",
        "s_trap 2",
        "s_sethalt 1",
        "s_endpgm",
        "unknown v0",
    ] {
        assert!(!endless(inside), "{inside}");
    }
}

/// The inner loop of two counts, and its instructions are those of the cycle.
#[test]
fn loops_around_an_instruction() {
    let text = "
        outer:
        s_nop 0
        inner:
        s_nop 1
        s_cbranch_scc1 -> side
        s_cbranch_vccnz -> inner
        s_cbranch_scc0 -> outer
        s_endpgm
        side:
        s_endpgm";
    let listing = listing(Generation::Gfx9, text);
    let work = work();
    let flow = Flow::new(&listing, &work);
    let loops = |of| flow.loops(of).map(|one| one.body.clone()).collect::<Vec<_>>();
    assert_eq!(loops(1), [vec![1, 2, 3], vec![0, 1, 2, 3, 4]]);
    assert_eq!(loops(0), [[0, 1, 2, 3, 4]]);
    assert_eq!(loops(5), Vec::<Vec<usize>>::new());
    assert_eq!(flow.exits(&[1, 2, 3]), [2, 3]);
}

/// A loop of 500 dependent additions, and 300 loops around it: the analysis of values has a limit for all loops.
#[test]
fn large_loops_cost_bounded_work() {
    let mut text = String::from("start:\n");
    for _ in 0..480 {
        text.push_str("v_mac_f32_e32 v0, v0, v0\n");
    }
    text.push_str("global_load_dword v0, v[2:3], off\n");
    for index in 0..16 {
        text.push_str(&format!("last{index}:\ns_cbranch_vccnz -> start\n"));
    }
    text.push_str("s_endpgm\n");
    let listing = listing(Generation::Gfx90a, &text);
    let work = work();
    let flow = Flow::new(&listing, &work);
    for index in 0..100 {
        assert!(super::Position::of(&listing, &flow, super::START + index * 4).is_some());
    }
    assert!(work.get() > 0, "the work of an analysis is spent");
}

/// A clock and a hardware register are no memory: the loop polls none, and may end.
#[test]
fn waits_for_clocks_and_hardware_registers_poll_no_memory() {
    for wait in [
        "s_memtime s[4:5]\ns_waitcnt lgkmcnt(0)\ns_sub_u32 s6, s4, s2\ns_cmp_lt_u32 s6, s8",
        "s_memrealtime s[4:5]\ns_waitcnt lgkmcnt(0)\ns_sub_u32 s6, s4, s2\ns_cmp_lt_u32 s6, s8",
        "s_getreg_b32 s4, hwreg(HW_REG_TRAPSTS)\ns_bitcmp0_b32 s4, 3",
        "s_getreg_b32 s4, hwreg(HW_REG_IB_STS, 0, 4)\ns_sleep 1\ns_cmp_lg_u32 s4, 0",
    ] {
        let text = format!("top:\n{wait}\nend:\ns_cbranch_scc1 -> top\ns_endpgm");
        let listing = listing(Generation::Gfx90a, &text);
        for label in ["top", "end"] {
            let position = place(&listing, at(&text, label)).unwrap();
            assert_eq!((&position.place, position.body.is_empty()), (&CodePosition::Other, false), "{wait}");
        }
    }
}

/// The number that a loop compares the loaded value with, and none of a value computed from it.
#[test]
fn polled_values_have_their_comparison() {
    let compared = |loop_text: &str| {
        let text = format!("top:\n{loop_text}\ns_cbranch_vccnz -> top\ns_endpgm");
        let listing = listing(Generation::Gfx90a, &text);
        let position = place(&listing, at(&text, "top")).unwrap();
        let CodePosition::Polling(polls) = &position.place else { panic!("{:?}", position.place) };
        polls.iter().map(|poll| poll.compared).collect::<Vec<_>>()
    };
    let vector = |number| RegisterRange::new(RegisterFile::Vector, number, 1);
    let load = "global_load_dword v0, v1, s[0:1] glc\ns_waitcnt vmcnt(0)";
    let swap = "global_atomic_cmpswap v0, v1, v[2:3], s[0:1] glc\ns_waitcnt vmcnt(0)";
    for (text, expected) in [
        (format!("{load}\nv_cmp_eq_u32_e32 vcc, 7, v0"), Some((Compared::Constant(7), Some("==")))),
        (format!("{load}\nv_cmp_ne_u32_e64 vcc, v0, -1"), Some((Compared::Constant(-1), Some("!=")))),
        (
            format!("{load}\nv_mov_b32_e32 v4, v0\nv_cmp_eq_u32_e32 vcc, 0, v4"),
            Some((Compared::Constant(0), Some("=="))),
        ),
        (
            format!("{load}\nv_mov_b32_e32 v4, 3\nv_cmp_lt_i32_e32 vcc, v0, v4"),
            Some((Compared::Constant(3), Some("<"))),
        ),
        (format!("{load}\nv_cmp_lt_i32_e32 vcc, 5, v0"), Some((Compared::Constant(5), Some(">")))),
        (format!("{load}\nv_cmp_nlt_f32_e32 vcc, 0, v0"), Some((Compared::Constant(0), None))),
        (format!("{swap}\nv_cmp_ne_u32_e32 vcc, v0, v3"), Some((Compared::Register(vector(3)), Some("!=")))),
        (format!("{load}\nv_and_b32_e32 v4, 1, v0\nv_cmp_eq_u32_e32 vcc, 0, v4"), None),
        (format!("{load}\nv_mov_b32_e32 v4, v0\nv_cmp_eq_u32_e32 vcc, v0, v4"), None),
    ] {
        assert_eq!(compared(&text), [expected], "{text}");
    }
}

/// Whether a wave at the label `top` polls.
fn is_polling(generation: Generation, text: &str) -> bool {
    let listing = listing(generation, text);
    matches!(place(&listing, at(text, "top")).unwrap().place, CodePosition::Polling(_))
}

/// A value that each turn computes from the last one ends the loop as a counter does: roots, quotients, exclusive ors.
#[test]
fn values_that_depend_on_themselves_are_counters() {
    let polls = |generation, inside: &str| {
        let text = format!(
            "top:\nglobal_load_dword v0, v1, s[0:1] glc\ns_waitcnt vmcnt(0)\n{inside}\ns_cbranch_vccnz -> top\ns_endpgm"
        );
        let text = if generation == Generation::Gfx11 { text.replace("_dword ", "_b32 ") } else { text };
        is_polling(generation, &text)
    };
    for step in [
        "v_sqrt_f32_e32 v4, v4",
        "v_rcp_f32_e32 v4, v4",
        "v_exp_f32_e32 v4, v4",
        "v_log_f32_e32 v4, v4",
        "v_xor_b32_e32 v4, s7, v4",
        "v_alignbit_b32 v4, v4, v4, 3",
        "v_min_u32_e32 v4, v5, v4",
        "v_bfe_u32 v4, v4, 1, 31",
        "v_cvt_f32_u32_e32 v4, v4",
    ] {
        assert!(!polls(Generation::Gfx90a, &format!("{step}\nv_cmp_gt_f32_e32 vcc, v4, v0")), "{step}");
    }
    let dual = "v_dual_mul_f32 v4, v4, v4 :: v_dual_mov_b32 v5, v6\nv_cmp_gt_f32_e32 vcc_lo, v4, v0";
    assert!(!polls(Generation::Gfx11, dual));
    // Masks of lanes, and copies.
    for step in [
        "s_xor_b64 s[4:5], exec, s[4:5]",
        "s_xor_b64 s[4:5], s[4:5], -1",
        "s_or_b64 s[4:5], vcc, s[4:5]",
        "v_mov_b32_e32 v4, v4",
        "v_max_f32_e32 v4, v5, v5",
    ] {
        assert!(polls(Generation::Gfx90a, &format!("{step}\nv_cmp_gt_f32_e32 vcc, v4, v0")), "{step}");
    }
}

/// A clock that decides an exit ends the loop.
#[test]
fn a_poll_with_a_limit_of_time_ends() {
    for clock in
        ["s_memrealtime s[6:7]", "s_memtime s[6:7]", "s_getreg_b32 s6, hwreg(HW_REG_SHADER_CYCLES, 0, 20)"]
    {
        let text = format!(
            "top:\nglobal_load_dword v5, v[0:1], off glc\n{clock}\ns_waitcnt vmcnt(0) lgkmcnt(0)\n\
             v_cmp_ne_u32_e32 vcc, v5, v4\ns_cbranch_vccz -> out\ns_sub_u32 s6, s6, s8\ns_cmp_lt_u32 s6, 0x10000\n\
             s_cbranch_scc1 -> top\nout:\ns_endpgm"
        );
        let generation = if clock.contains("hwreg") { Generation::Gfx10 } else { Generation::Gfx90a };
        assert!(!is_polling(generation, &text), "{clock}");
    }
}

/// Each turn of an atomic addition takes another number; that of zero is a load.
#[test]
fn atomics_that_change_memory_do_not_poll() {
    let polls = |atomic: &str| {
        let text = format!(
            "top:\nv_mov_b32_e32 v3, 0\n{atomic}\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_cmp_lt_u32_e32 vcc, v1, v4\n\
             s_cbranch_vccnz -> top\ns_endpgm"
        );
        is_polling(Generation::Gfx90a, &text)
    };
    for changing in [
        "global_atomic_add v1, v0, v2, s[0:1] glc",
        "global_atomic_sub v1, v0, v2, s[0:1] glc",
        "global_atomic_inc v1, v0, v2, s[0:1] glc",
        "flat_atomic_xor v1, v[6:7], v2 glc",
        "ds_add_rtn_u32 v1, v0, v2",
    ] {
        assert!(!polls(changing), "{changing}");
    }
    for same in [
        "global_atomic_add v1, v0, v3, s[0:1] glc",
        "global_atomic_or v1, v0, v2, s[0:1] glc",
        "global_atomic_swap v1, v0, v2, s[0:1] glc",
        "ds_max_rtn_u32 v1, v0, v2",
    ] {
        assert!(polls(same), "{same}");
    }
}

/// LLVM's code for `while (*flag == 0 && *abort == 0)` of one lane: the loop is entered behind its head, and the first
/// value decides by a branch that leaves a constant in the mask of the exit.
#[test]
fn loops_of_several_exits_poll_all_of_their_values() {
    let text = |limit: &str| {
        format!(
            "s_branch -> body
            head:
            s_andn2_b64 vcc, exec, s[8:9]
            s_cbranch_vccz -> out
            body:
            global_load_dword v2, v1, s[0:1] glc
            s_mov_b64 s[8:9], -1
            {limit}
            first:
            s_waitcnt vmcnt(0)
            v_cmp_ne_u32_e32 vcc, 0, v2
            s_cbranch_vccnz -> head
            global_load_dword v2, v1, s[2:3] glc
            second:
            s_waitcnt vmcnt(0)
            v_cmp_ne_u32_e64 s[8:9], 0, v2
            s_branch -> head
            out:
            s_endpgm"
        )
    };
    let place_at = |text: &str, label: &str| {
        let listing = listing(Generation::Gfx90a, text);
        (place(&listing, at(text, label)).unwrap().place, listing)
    };
    for label in ["first", "second"] {
        let text = text("");
        let (place, listing) = place_at(&text, label);
        let CodePosition::Polling(polls) = place else { panic!("{label}: {place:?}") };
        let loads = polls.iter().map(|poll| listing.instructions[poll.load].text().into_owned());
        let expected = ["global_load_dword v2, v1, s[0:1] glc", "global_load_dword v2, v1, s[2:3] glc"];
        assert_eq!(loads.collect::<Vec<_>>(), expected, "{label}");
    }
    // A counter decides in the same way: the loop ends.
    let counted = text("s_add_u32 s20, s20, 1\ns_cmp_gt_u32 s20, s21\ns_cbranch_scc1 -> head");
    for label in ["first", "second"] {
        let (place, _) = place_at(&counted, label);
        assert!(!matches!(place, CodePosition::Polling(_)), "{label}: {place:?}");
    }
    // A counted delay inside the loop decides on nothing.
    let delayed = text(
        "s_mov_b32 s20, 0\ndelay:\ns_sleep 1\ns_add_u32 s20, s20, 1\ns_cmp_lt_u32 s20, s21\ns_cbranch_scc1 -> delay",
    );
    assert!(matches!(place_at(&delayed, "second").0, CodePosition::Polling(_)));
}
