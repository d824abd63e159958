//! Deadlocks in written cores: the save area has the status of each wave at a barrier, and the stops of others.

use std::sync::Arc;

use lanescope::capture::Capture;
use lanescope::session::Session;
use lanescope::triage::{Hang, Question, WaveState, triage};
use lanescope::units::WaveId;

use super::compare;
use crate::core_writer::core::{Bulk, build};
use crate::core_writer::elf::Segment;
use crate::core_writer::model;
use crate::core_writer::plan::{Cause, FilePlan, Group, Layout, Plan, Wave};
use crate::core_writer::{gpu, matrix};
use crate::fixtures::fixtures;
use crate::support::sample::is_long;

const CODE: u64 = 0x7f60_0000_0000;
/// STATUS.IN_BARRIER of GFX9 to GFX11.
const IN_BARRIER: u32 = 1 << 12;

/// The loaded segments of an ELF file, and the address directly behind its first `s_barrier`.
fn loaded(file: &[u8], barrier: u32) -> (Vec<u8>, u64) {
    let number = |at: usize, bytes: usize| {
        file[at..at + bytes].iter().rev().fold(0usize, |all, byte| all << 8 | usize::from(*byte))
    };
    let mut image = Vec::new();
    let mut behind = Vec::new();
    for header in (0..number(56, 2)).map(|index| number(32, 8) + index * number(54, 2)) {
        let (offset, address, size) = (number(header + 8, 8), number(header + 16, 8), number(header + 32, 8));
        if number(header, 4) != 1 {
            continue;
        }
        image.resize(image.len().max(address + size), 0);
        image[address..address + size].copy_from_slice(&file[offset..offset + size]);
        let is_code = number(header + 4, 4) & 1 != 0;
        let words = file[offset..offset + size].chunks_exact(4).enumerate().filter(|_| is_code);
        let found = words.filter(|(_, word)| *word == barrier.to_le_bytes());
        behind.extend(found.map(|(index, _)| CODE + address as u64 + 4 * index as u64 + 4));
    }
    (image, *behind.first().unwrap())
}

fn has_faulted(wave: &Wave) -> bool {
    let is_fault = |cause| matches!(cause, Cause::Page | Cause::Address | Cause::Illegal);
    wave.stop.as_ref().is_some_and(|stop| stop.causes.iter().any(|raised| is_fault(raised.cause)))
}

fn runs(wave: &Wave) -> bool {
    wave.stop.is_none() && !wave.halted && !wave.no_vgprs
}

fn is_split(group: &Group) -> bool {
    group.waves.iter().any(has_faulted) && group.waves.iter().any(runs)
}

/// A plan with a work-group of a faulted wave and one that runs, which is then directly behind the barrier.
fn plan(name: &str, lanes: u32, behind: u64, status: u32) -> Plan {
    let plans = (0..2000).map(|seed| matrix::plan(gpu::named(name), lanes, seed));
    let groups = |plan: &mut Plan| -> Option<()> {
        let mut groups = plan.queues.iter_mut().flat_map(|queue| queue.xccs.iter_mut().flatten());
        let group = groups.find(|group| is_split(group))?;
        let wave = group.waves.iter_mut().find(|wave| runs(wave))?;
        wave.pc = behind;
        wave.status = wave.status & !IN_BARRIER | status;
        Some(())
    };
    let mut plans = plans.filter(|plan| plan.process.r_version >= 10);
    let mut plan = plans.find_map(|mut plan| groups(&mut plan).map(|()| plan)).unwrap();
    plan.file = FilePlan::plain(Layout::Split);
    plan
}

/// The hang, and the facts of the model about the wave behind the barrier.
struct Asked {
    hang: Hang,
    /// The id of the wave.
    waiting: u32,
    /// The ids of the faulted waves of its work-group.
    faulted: Vec<u32>,
    /// The position of its work-group; the id if the file has no position.
    place: String,
}

fn asked(name: &str, lanes: u32, code: &[u8], behind: u64, status: u32) -> Asked {
    let plan = plan(name, lanes, behind, status);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("core.gpu");
    let segment = Segment::of("code object", CODE, code.to_vec());
    build(&plan, Bulk::Filled, vec![segment]).gpu.write(&path).unwrap();
    let opened = compare::open(&path, &compare::options(&plan)).unwrap();
    let session = Session::new(Arc::clone(&opened.dump), None).unwrap();
    let found = triage(&[&session], &Question { wants_hang: true, ..Question::default() });
    let hang = found.hang.unwrap();
    let capture: &Capture = opened.dump.capture();
    let id = |wave: WaveId| capture.waves[wave.0 as usize].id;
    let waiting = hang.waves.iter().find(|wave| wave.at.pc.is_some_and(|pc| pc.0 == behind)).unwrap();
    assert_eq!(waiting.state, WaveState::AtBarrier, "{name}");
    let group = hang.groups.iter().find(|group| group.waiting.contains(&waiting.wave)).unwrap();
    let is_missing = |wave: &WaveId| group.missing.contains(wave);
    let faulted = hang.waves.iter().filter(|wave| wave.state == WaveState::Faulted && is_missing(&wave.wave));
    let faulted = faulted.map(|wave| id(wave.wave)).collect();
    let truth = model::of(&plan);
    let of = &truth.waves[waiting.wave.0 as usize];
    let place = match of.position {
        Some([x, y, z]) => format!("({x},{y},{z})"),
        None => capture.workgroups[of.group].id.to_string(),
    };
    let waiting = id(waiting.wave);
    Asked { hang, waiting, faulted, place }
}

/// A wave waits at a barrier for one that stopped for a fault. IN_BARRIER of its saved status proves that it waits.
#[test]
fn a_saved_status_proves_a_deadlock() {
    // `s_barrier` by the ISA documents: GFX9 and GFX10, GFX11.
    let gpus = [
        ("gfx90a", 64, 0xbf8a_0000),
        ("gfx942", 64, 0xbf8a_0000),
        ("gfx1030", 32, 0xbf8a_0000),
        ("gfx1100", 32, 0xbfbd_0000),
    ];
    for (name, lanes, barrier) in gpus.into_iter().filter(|(name, ..)| is_long() || *name != "gfx942") {
        let file = std::fs::read(fixtures().join(format!("code/lds-{name}-O2.hsaco"))).unwrap();
        let (code, behind) = loaded(&file, barrier);
        let Asked { hang, waiting, faulted, place } = asked(name, lanes, &code, behind, IN_BARRIER);
        assert!(hang.is_deadlock && hang.is_hang, "{name}: {hang:?}");
        let [stopped, waits] = &hang.proof[..] else { panic!("{name}: {:?}", hang.proof) };
        let absent = faulted
            .iter()
            .find(|id| *stopped == format!("wave {id} stopped for a fault and does not continue"))
            .unwrap_or_else(|| panic!("{name}: {stopped}, of {faulted:?}"));
        let expected = "waits at a barrier of work-group";
        assert_eq!(*waits, format!("wave {waiting} {expected} {place}, which needs wave {absent}"), "{name}");
        let Asked { hang, .. } = asked(name, lanes, &code, behind, 0);
        assert!(!hang.is_deadlock && hang.proof.is_empty(), "{name}: {:?}", hang.proof);
    }
}
