//! Every value of every generation, wave size and odd case, read back through the export.

use std::ops::RangeBounds;

use super::compare::{self, Differences};
use crate::core_writer::gpu::Family;
use lanescope::import::Options;

use crate::core_writer::core::{Bulk, build, build_ordered};
use crate::core_writer::plan::{AQL, Layout, Plan};
use crate::core_writer::{gpu, matrix, model};
use crate::support::{least, sample::sampled};

fn check(plans: impl Iterator<Item = Plan>) {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Differences::new();
    let mut checked = 0;
    for plan in plans {
        let (_, opened) = compare::written(folder.path(), &plan);
        let model = model::of(&plan);
        compare::all(&plan, &opened, &model, &mut wrong);
        if wrong.all.is_empty() {
            compare::lanes(&opened, &model, &mut wrong);
        }
        for wave in opened.export["waves"].as_array().unwrap() {
            // Captured PCs of the model are those of code; the handler's, where a wave may be parked, is not captured.
            let mark = wave["unconfirmed"].as_str().unwrap_or_default();
            let is_captured = opened.export["memory"].as_array().unwrap().iter().any(|segment| {
                let skip = wave["pc"].as_u64().and_then(|pc| pc.checked_sub(segment["address"].as_u64()?));
                skip.is_some_and(|skip| skip < segment["size"].as_u64().unwrap())
            });
            assert!(!is_captured || !mark.contains("its PC is not"), "{}: {wave}", plan.name);
        }
        checked += model.waves.len();
    }
    wrong.fail_if_any();
    assert!(checked > 0);
}

/// The ranges of the tests below leave no family out.
fn of(families: impl RangeBounds<Family>) -> impl Iterator<Item = Plan> {
    // Of three seeds of each GPU and wave size one or two.
    let alone = sampled(matrix::all(3), 2).filter(|plan| plan.agents.len() == 1);
    alone.filter(move |plan| families.contains(&plan.agents[0].gpu.family))
}

#[test]
fn every_value_of_gfx900_to_gfx908_is_read() {
    check(of(..Family::Aldebaran));
}

#[test]
fn every_value_of_gfx90a_is_read() {
    check(of(Family::Aldebaran..Family::Aqua));
}

#[test]
fn every_value_of_gfx940_to_gfx950_is_read() {
    check(of(Family::Aqua..Family::Navi1));
}

#[test]
fn every_value_of_gfx10_is_read() {
    check(of(Family::Navi1..Family::Navi3));
}

#[test]
fn every_value_of_gfx11_is_read() {
    check(of(Family::Navi3..Family::Navi4));
}

#[test]
fn every_value_of_gfx12_is_read() {
    check(of(Family::Navi4..));
}

#[test]
fn every_value_of_agents_of_several_generations_is_read() {
    check(matrix::all(0).into_iter());
}

/// A GPU core without the host's lacks the version of its runtime. If code is captured and the parking address of waves
/// is not, their stop positions are still known.
#[test]
fn true_pcs_are_found_without_the_runtime_s_version() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Differences::new();
    let (mut stopped, mut parked) = (0, 0);
    for mut plan in matrix::all(least(2, 1) as u32) {
        if !plan.process.ttmp_setup {
            continue;
        }
        plan.file.layout = Layout::Split;
        let path = folder.path().join("core");
        build(&plan, Bulk::Filled, Vec::new()).gpu.write(&path).unwrap();
        let opened = compare::open(&path, &Options::default()).unwrap();
        let model = model::of(&plan);
        let waves = opened.export["waves"].as_array().unwrap();
        assert_eq!(waves.len(), model.waves.len(), "{}", plan.name);
        let planned = plan.waves().filter(|(queue, ..)| plan.queues[*queue].kind == AQL);
        for ((found, expected), (.., wave)) in waves.iter().zip(&model.waves).zip(planned) {
            wrong.at(plan.name.clone());
            if found["pc"] != expected.pc {
                wrong.say(&format!("PC is {}, expected {:#x}", found["pc"], expected.pc));
            }
            stopped += usize::from(wave.stop.is_some());
            parked += usize::from(wave.stop.as_ref().is_some_and(|stop| stop.parked_at.is_some()));
        }
    }
    wrong.fail_if_any();
    assert!(parked > least(50, 20) && stopped > parked, "{stopped} waves stopped, {parked} of them parked");
}

#[test]
fn every_index_of_a_full_ring_leads_to_its_dispatch() {
    check(matrix::full_rings(1).into_iter());
}

/// Sizes of save areas and counts of shader arrays with the meanings XCC 0 and all XCCs (rocm-systems #6811 to #9166).
#[test]
fn all_xccs_are_read_where_the_note_has_the_size_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Differences::new();
    let (mut strides, mut engines, mut further) = (0, 0, 0);
    for plan in matrix::xcc0_sizes(least(6, 3) as u32) {
        let (_, opened) = compare::written(folder.path(), &plan);
        let model = model::of(&plan);
        further += model.waves.iter().filter(|wave| wave.xcc > 0).count();
        compare::all(&plan, &opened, &model, &mut wrong);
        let said = |text: &str| opened.problems.iter().filter(|problem| problem.contains(text)).count();
        strides += said("the headers of its save areas place them");
        engines += said("array_count gives");
    }
    wrong.fail_if_any();
    assert!(
        strides > least(10, 3) && engines > least(5, 1) && further > least(100, 30),
        "{strides} sizes, {engines} counts, {further} waves"
    );
}

/// Without rings and `amd_queue_t` (rocm-systems #3338 to #7408) registers locate private memory, and that is marked.
#[test]
fn private_memory_of_lightweight_cores_is_inferred_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Differences::new();
    let (mut exact, mut bounded, mut absent) = (0, 0, 0);
    for plan in matrix::lightweight(least(6, 2) as u32) {
        let (_, opened) = compare::written(folder.path(), &plan);
        let model = model::of(&plan);
        let waves = opened.export["waves"].as_array().unwrap();
        assert_eq!(waves.len(), model.waves.len(), "{}: {:#?}", plan.name, opened.problems);
        let planned = plan.waves().filter(|(queue, ..)| plan.queues[*queue].kind == AQL);
        for ((found, expected), (.., wave)) in waves.iter().zip(&model.waves).zip(planned) {
            wrong.at(format!("{} queue {} XCC {}", plan.name, expected.queue, expected.xcc));
            compare::wave(found, expected, false, &mut wrong);
            let Some(private) = expected.private.as_ref().filter(|_| wave.slot.scratch_enabled) else {
                absent += 1;
                if !found["private_wave"].is_null() {
                    wrong.say("private memory that the wave does not have");
                }
                continue;
            };
            let Some(bytes) = found["private_wave"].as_str() else {
                wrong.say("no private memory");
                continue;
            };
            let expected = compare::hex(private);
            // One wave does not determine the end of its memory.
            let is_exact = bytes.len() == expected.len();
            if !bytes.starts_with(&expected) {
                wrong.say("private memory of another place");
            }
            let note = found["private_note"].as_str().unwrap_or_default();
            if !note.starts_with("inferred from ") || (!is_exact && !note.ends_with("with at most this size"))
            {
                wrong.say(&format!("its private memory is noted as `{note}`"));
            }
            (exact, bounded) = (exact + usize::from(is_exact), bounded + usize::from(!is_exact));
        }
        let said = opened.problems.iter().any(|problem| problem.contains("amd_queue_t was not captured"));
        assert!(said || model.waves.is_empty(), "{:#?}", opened.problems);
    }
    wrong.fail_if_any();
    assert!(
        exact > least(100, 25) && absent > least(20, 4),
        "{exact} exact, {bounded} bounded, {absent} absent"
    );
}

/// The thunk may keep save areas in host memory: then the host's core has them.
#[test]
fn a_save_area_in_host_memory_is_looked_for_in_the_host_s_core() {
    let mut plan = matrix::plan(gpu::named("gfx1100"), 32, 5);
    (plan.file.layout, plan.file.cut_every) = (Layout::Split, None);
    let folder = tempfile::tempdir().unwrap();
    let (alone, whole) = (folder.path().join("alone"), folder.path().join("whole"));
    let without = |segments: &mut Vec<crate::core_writer::elf::Segment>| {
        segments.retain(|segment| !segment.name.starts_with("cwsr"));
    };
    build_ordered(&plan, Bulk::Filled, Vec::new(), &without).gpu.write(&alone).unwrap();
    build(&plan, Bulk::Filled, Vec::new()).gpu.write(&whole).unwrap();
    let opened = compare::open(&alone, &compare::options(&plan)).unwrap();
    assert_eq!(opened.export["waves"], serde_json::json!([]));
    let wanted = |problem: &&String| problem.contains("was not captured") && problem.contains("--host-core");
    assert!(opened.problems.iter().find(wanted).is_some(), "{:#?}", opened.problems);
    let options = Options { host_core: Some(whole), ..compare::options(&plan) };
    let opened = compare::open(&alone, &options).unwrap();
    let mut wrong = Differences::new();
    compare::all(&plan, &opened, &model::of(&plan), &mut wrong);
    wrong.fail_if_any();
}

/// SCRATCH_EN is clear and FLAT_SCRATCH has the base of engine and slot: no contradiction.
#[test]
fn a_register_confirms_private_memory_without_scratch_en() {
    let folder = tempfile::tempdir().unwrap();
    let mut cleared = 0;
    for name in ["gfx942", "gfx950", "gfx1100", "gfx1201"] {
        let plans = (0..40).map(|seed| matrix::plan(gpu::named(name), 64, 8000 + seed));
        let mut plan =
            plans.into_iter().find(|plan| plan.queues.iter().all(|queue| queue.scratch.is_some())).unwrap();
        let groups = plan.queues.iter_mut().flat_map(|queue| queue.xccs.iter_mut().flatten());
        for wave in groups.flat_map(|group| &mut group.waves) {
            wave.slot.scratch_enabled = false;
            cleared += 1;
        }
        let (_, opened) = compare::written(folder.path(), &plan);
        let mut wrong = Differences::new();
        compare::all(&plan, &opened, &model::of(&plan), &mut wrong);
        wrong.fail_if_any();
        assert!(
            !opened.problems.iter().any(|problem| problem.contains("SCRATCH_EN")),
            "{:#?}",
            opened.problems
        );
    }
    assert!(cleared > 20);
}

/// A queue of a GPU missing in the note belongs to the only GPU.
#[test]
fn a_queue_of_an_unknown_agent_is_read_as_one_of_the_only_agent() {
    let mut plan = matrix::plan(gpu::named("gfx90a"), 64, 5);
    plan.file.layout = Layout::Split;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    let core = build(&plan, Bulk::Filled, Vec::new());
    let mut bytes = core.gpu.bytes();
    for mark in core.note.iter().filter(|mark| mark.name.starts_with("queue ")) {
        bytes[mark.offset as usize + 44] ^= 0x40;
    }
    std::fs::write(&path, bytes).unwrap();
    let opened = compare::open(&path, &compare::options(&plan)).unwrap();
    let mut wrong = Differences::new();
    compare::all(&plan, &opened, &model::of(&plan), &mut wrong);
    wrong.fail_if_any();
    assert!(opened.problems.iter().any(|problem| problem.contains("the only one")), "{:#?}", opened.problems);
}

/// A note of a later version may have any meaning.
#[test]
fn a_note_of_another_version_is_refused_by_name() {
    let mut plan = matrix::plan(gpu::named("gfx90a"), 64, 5);
    plan.file.layout = Layout::Split;
    plan.process.note_version = Some(2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    build(&plan, Bulk::Filled, Vec::new()).gpu.write(&path).unwrap();
    // The rest of the file may still be useful: it has memory, but no waves.
    let opened = compare::open(&path, &Options::default()).unwrap();
    assert_eq!(opened.export["waves"], serde_json::json!([]));
    assert!(opened.problems.iter().any(|problem| problem.contains("version 0x2")), "{:?}", opened.problems);
}

/// Sizes of entries are multiples of eight: another size is reported, and taken as in the file.
#[test]
fn entries_of_an_odd_size_are_named() {
    let mut plan = matrix::plan(gpu::named("gfx90a"), 64, 5);
    plan.process.agent_entry = 116;
    let folder = tempfile::tempdir().unwrap();
    let (_, opened) = compare::written(folder.path(), &plan);
    assert!(opened.problems.iter().any(|problem| problem.contains("116")), "{:?}", opened.problems);
    let mut wrong = Differences::new();
    compare::all(&plan, &opened, &model::of(&plan), &mut wrong);
    wrong.fail_if_any();
}
