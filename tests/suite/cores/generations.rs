//! Every value of every generation, wave size and odd case, read back through the export.

use super::compare::{self, Differences};
use crate::core_writer::gpu::Family;
use crate::core_writer::plan::Plan;
use crate::core_writer::{matrix, model};

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
