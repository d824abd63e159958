//! Every value of every generation, wave size and odd case, read back through the export.

use super::compare::{self, Differences};
use crate::core_writer::gpu::Family;
use lanescope::import::Options;

use crate::core_writer::core::{Bulk, build};
use crate::core_writer::plan::{AQL, Layout, Plan};
use crate::core_writer::{gpu, matrix, model};

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
        checked += model.waves.len();
    }
    wrong.fail_if_any();
    assert!(checked > 0);
}

fn of(families: &'static [Family]) -> impl Iterator<Item = Plan> {
    let alone = matrix::all(3).into_iter().filter(|plan| plan.agents.len() == 1);
    alone.filter(|plan| families.contains(&plan.agents[0].gpu.family))
}

#[test]
fn every_value_of_gfx900_to_gfx908_is_read() {
    check(of(&[Family::Vega, Family::Arcturus]));
}

#[test]
fn every_value_of_gfx90a_is_read() {
    check(of(&[Family::Aldebaran]));
}

#[test]
fn every_value_of_gfx940_to_gfx950_is_read() {
    check(of(&[Family::Aqua, Family::Gfx950]));
}

#[test]
fn every_value_of_gfx10_is_read() {
    check(of(&[Family::Navi1, Family::Navi2]));
}

#[test]
fn every_value_of_gfx11_is_read() {
    check(of(&[Family::Navi3]));
}

#[test]
fn every_value_of_gfx12_is_read() {
    check(of(&[Family::Navi4]));
}

#[test]
fn every_value_of_agents_of_several_generations_is_read() {
    check(matrix::all(0).into_iter());
}

/// A GPU core alone does not say which runtime wrote it. Where code is captured and the place where waves are parked is
/// not, it is known all the same where they stopped.
#[test]
fn true_pcs_are_found_without_the_runtime_s_version() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Differences::new();
    let (mut stopped, mut parked) = (0, 0);
    for mut plan in matrix::all(2) {
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
    assert!(parked > 50 && stopped > parked, "{stopped} waves stopped, {parked} of them parked");
}

/// A note of a later version may mean anything.
#[test]
fn a_note_of_another_version_is_refused_by_name() {
    let mut plan = matrix::plan(gpu::named("gfx90a"), 64, 5);
    plan.file.layout = Layout::Split;
    plan.process.note_version = Some(2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    build(&plan, Bulk::Filled, Vec::new()).gpu.write(&path).unwrap();
    let said = said(compare::open(&path, &Options::default()));
    assert!(said.contains("version 2") || said.contains("version is 2"), "{said}");
}

/// Sizes of entries come in eights; a reader that takes the next entry from elsewhere reads nonsense.
#[test]
fn entries_of_an_odd_size_are_refused_by_name() {
    let mut plan = matrix::plan(gpu::named("gfx90a"), 64, 5);
    plan.file.layout = Layout::Split;
    plan.process.agent_entry = 116;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core");
    build(&plan, Bulk::Filled, Vec::new()).gpu.write(&path).unwrap();
    let said = said(compare::open(&path, &Options::default()));
    assert!(said.contains("116"), "{said}");
}

/// The reason why nothing is opened, or what is wrong with what is; then there are no waves.
fn said(opened: Result<compare::Opened, String>) -> String {
    opened.map_or_else(
        |error| error,
        |opened| {
            assert_eq!(opened.export["waves"], serde_json::json!([]));
            opened.problems.join("; ")
        },
    )
}
