//! The writer's layouts, compared with worked examples: computed by hand from AMD's field tables.

use crate::core_writer::area::block_layout;
use crate::core_writer::gpu::{ALL, Counts, Family, Slot, named};
use crate::core_writer::plan::Scratch;
use crate::core_writer::{matrix, queue};
use lanescope::arch::Targets;

/// gfx90a: 16 VGPRs, 32 of both kinds, 96 SGPRs, 1 KiB of LDS, first wave, the area ends at 0x7f0000100000.
#[test]
fn a_gfx90a_block_is_at_the_place_of_the_worked_example() {
    let counts = Counts { lanes: 64, vgprs: 16, accs: 16, sgprs: 96, shared: 0 };
    let layout = block_layout(Family::Aldebaran, counts, 1024);
    let top = 0x7f00_0010_0000 - Family::Aldebaran.gap();
    let bottom = top - layout.size;
    assert_eq!(top, 0x7f00_000f_ffc0);
    assert_eq!(bottom + layout.lds, 0x7f00_000f_fbc0);
    assert_eq!(bottom + layout.traps, 0x7f00_000f_fb80);
    assert_eq!(bottom + layout.hardware, 0x7f00_000f_fb40);
    assert_eq!(bottom + layout.scalars, 0x7f00_000f_f9c0);
    assert_eq!(bottom + layout.accs, 0x7f00_000f_e9c0);
    assert_eq!(bottom, 0x7f00_000f_d9c0);
}

/// Its state word: VGPR field 3, accumulation offset 3, SGPR field 6, LDS field 2.
#[test]
fn a_gfx90a_state_has_the_fields_of_the_worked_example() {
    let counts = Counts { lanes: 64, vgprs: 16, accs: 16, sgprs: 96, shared: 0 };
    let bits = Family::Aldebaran.state(counts, 1024, false);
    assert_eq!(bits.value, 1 << 31 | 3 << 24 | 2 << 9 | 6 << 6 | 3);
    assert_eq!(bits.mask, 0xff01_ffff);
}

/// gfx1100, 32 lanes, not first, VGPR field 2: 24 VGPRs, 128 slots, no gap.
#[test]
fn a_gfx1100_block_is_at_the_place_of_the_worked_example() {
    let counts = Counts { lanes: 32, vgprs: 24, accs: 0, sgprs: 128, shared: 0 };
    let layout = block_layout(Family::Navi3, counts, 0);
    assert_eq!(Family::Navi3.gap(), 0);
    assert_eq!(layout.size, 0xe80);
    assert_eq!(layout.size - layout.traps, 0x40);
    assert_eq!(layout.size - layout.hardware, 0x80);
    assert_eq!(layout.size - layout.scalars, 0x280);
    assert_eq!(Family::Navi3.state(counts, 0, false).value, 1 << 31 | 1 << 24 | 2);
}

/// gfx1250, first wave, 528 VGPRs, 3 KiB of LDS: the trap temporaries are the last 16 of the 128 SGPR slots, and 128
/// slots of hardware registers are above.
#[test]
fn a_gfx1250_block_is_at_the_place_of_the_worked_example() {
    let counts = Counts { lanes: 32, vgprs: 528, accs: 0, sgprs: 128, shared: 0 };
    let layout = block_layout(Family::Gfx125, counts, 3072);
    assert_eq!(layout.scalars, 528 * 128);
    assert_eq!((layout.traps, layout.hardware), (layout.scalars + 0x1c0, layout.scalars + 0x200));
    assert_eq!((layout.lds, layout.size), (layout.scalars + 0x400, layout.scalars + 0x1000));
    assert_eq!(Family::Gfx125.state(counts, 3072, false).value, 1 << 31 | 1 << 24 | 3 << 10 | 32);
    let slot = Slot { engine: 3, scoreboard: 5, scratch_enabled: true };
    assert_eq!(Family::Gfx125.wave(slot, true, true).value, 3 << 24 | 1 << 13 | 1 << 12 | 1 << 11 | 5);
}

/// gfx90a, 8 engines, 256 waves of 4096 bytes: engine 3, scoreboard 7.
#[test]
fn a_wave_s_scratch_is_at_the_place_of_the_worked_example() {
    let scratch = Scratch { waves: 256, wave_bytes: 4096, slack: 0 };
    assert_eq!(queue::place(Family::Aldebaran, 8, &scratch, 3, 7), Some(0x67000));
    let odd = Scratch { waves: 257, ..scratch };
    assert_eq!(queue::place(Family::Aldebaran, 8, &odd, 3, 7), None);
    // From gfx11 on the count is of one engine, and always divides.
    assert_eq!(queue::place(Family::Navi3, 6, &odd, 3, 7), Some((257 * 3 + 7) * 4096));
}

#[test]
fn words_of_waves_differ_between_generations() {
    let slot = Slot { engine: 3, scoreboard: 5, scratch_enabled: true };
    let word = |name: &str| named(name).family.wave(slot, true, false).value;
    assert_eq!(word("gfx906"), 1 << 17 | 1 << 15 | 3 << 11 | 5);
    assert_eq!(word("gfx908"), 1 << 17 | 1 << 15 | 3 << 11 | 5);
    assert_eq!(word("gfx90a"), 1 << 17 | 1 << 15 | 3 << 9 | 5);
    assert_eq!(word("gfx942"), 1 << 17 | 1 << 15 | 3 << 9 | 5);
    assert_eq!(word("gfx1030"), 3 << 24 | 1 << 12 | 1 << 11 | 5);
    assert_eq!(word("gfx1201"), 3 << 24 | 1 << 12 | 1 << 11 | 5);
    // Six engines need three bits.
    let far = Slot { engine: 5, ..slot };
    assert_eq!(named("gfx1100").family.wave(far, false, true).value, 1 << 29 | 5 << 24 | 1 << 11 | 5);
}

#[test]
fn the_matrix_has_every_listed_gpu() {
    let targets = Targets::builtin();
    let lacking: Vec<&str> = targets.names().filter(|name| ALL.iter().all(|gpu| gpu.name != *name)).collect();
    assert!(lacking.is_empty(), "ALL of tests/cores/gpu.rs lacks {lacking:?}");
}

#[test]
fn plans_have_every_odd_case() {
    let plans = matrix::all(4);
    let waves = || plans.iter().flat_map(|plan| plan.waves().map(move |(.., wave)| (plan, wave)));
    let some = |name: &str, found: bool| assert!(found, "no plan has {name}");
    some("a wave without VGPRs", waves().any(|(_, wave)| wave.no_vgprs));
    some(
        "shared VGPRs of 64 lanes",
        waves().any(|(_, wave)| wave.counts.shared > 0 && wave.counts.lanes == 64),
    );
    some(
        "shared VGPRs of 32 lanes",
        waves().any(|(_, wave)| wave.counts.shared > 0 && wave.counts.lanes == 32),
    );
    some("no dispatch information", waves().any(|(_, wave)| wave.no_dispatch_info));
    some("a wave without marks", waves().any(|(_, wave)| wave.unmarked));
    some("a halted wave that ran", waves().any(|(_, wave)| wave.halted));
    some(
        "a stop that nobody marks",
        waves().any(|(plan, wave)| {
            wave.stop.is_some() && !plan.process.ttmp_setup && plan.process.r_version < 10
        }),
    );
    some("no scratch enable", waves().any(|(_, wave)| !wave.slot.scratch_enabled));
    some("no active lane", waves().any(|(_, wave)| wave.exec == 0));
    let groups = || plans.iter().flat_map(|plan| plan.waves().map(|(_, _, group, _)| group));
    some("LDS of a WGP", groups().any(|group| group.takeover));
    some("no LDS", groups().any(|group| group.lds == 0));
    let queues = || plans.iter().flat_map(|plan| &plan.queues);
    some(
        "a ring gone round",
        queues().any(|queue| queue.read % u64::from(queue.packets) + 3 > u64::from(queue.packets)),
    );
    some(
        "scratch that does not divide",
        plans.iter().any(|plan| {
            plan.queues.iter().any(|queue| {
                queue.scratch.is_some_and(|scratch| scratch.waves % plan.agents[queue.agent].engines != 0)
            })
        }),
    );
    some(
        "an empty XCC among others",
        queues().any(|queue| {
            queue.xccs.iter().any(Vec::is_empty) && queue.xccs.iter().any(|groups| !groups.is_empty())
        }),
    );
    for r_version in 8..=12 {
        some("every runtime", plans.iter().any(|plan| plan.process.r_version == r_version));
    }
    for size in [56, 64, 72] {
        some("queue entries", plans.iter().any(|plan| plan.process.queue_entry == size));
    }
    some(
        "segments without padding",
        plans.iter().any(|plan| plan.file.quirks.unpadded && plan.file.rocr_headers),
    );
    some("a note without a version", plans.iter().any(|plan| plan.process.note_version.is_none()));
    for size in [112, 120, 128, 136] {
        some("agent entries", plans.iter().any(|plan| plan.process.agent_entry == size));
    }
}
