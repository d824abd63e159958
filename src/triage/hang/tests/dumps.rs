//! Hangs of whole dumps: the fixture with work-groups before, at and behind a barrier.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arch::Targets;
use crate::import::{self, Options};
use crate::sample::sampled;
use crate::session::{Dump, Inspect, Session};
use crate::triage::hang::WaveState::{self, AtBarrier, Faulted, Halted, Running};
use crate::triage::{Cause, MissingData, Question, Triage, triage};
use crate::units::WaveId;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps").join(name)
}

fn open(path: &Path) -> Arc<Dump> {
    let opened = import::open(path, &Targets::builtin(), &Options::default()).unwrap();
    Arc::new(Dump::new(opened.capture, opened.problems))
}

fn asked(dump: &Arc<Dump>) -> Triage {
    let session = Session::new(Arc::clone(dump), None).unwrap();
    triage(&[&session as &dyn Inspect], &Question { wave: None, wants_hang: true })
}

fn states(found: &Triage) -> Vec<WaveState> {
    found.hang.iter().flat_map(|hang| &hang.waves).map(|wave| wave.state).collect()
}

/// A copy of a fixture whose waves ran when it was captured.
fn running(name: &str, to: &Path) -> Arc<Dump> {
    for file in std::fs::read_dir(fixture(name)).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
    let path = to.join("manifest.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(|line| if line.starts_with("stop = ") { "stop = []" } else { line });
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
    open(to)
}

/// The captured stops: a breakpoint behind the barrier, and a fatal halt before it.
#[test]
fn stops_precede_places() {
    let found = asked(&open(&fixture("lds-gfx90a-O0")));
    assert_eq!(states(&found), [Halted, Faulted]);
    assert!(!found.hang.unwrap().is_hang);
}

/// A healthy dispatch whose waves are captured anywhere is no hang.
#[test]
fn waves_that_run_are_no_hang() {
    let gpus = ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"];
    let builds = gpus.into_iter().flat_map(|gpu| ["O0", "O2"].map(|level| format!("{gpu}-{level}")));
    let kernels = ["lds", "saxpy", "diverge", "call"];
    let names = builds.flat_map(|build| kernels.map(|kernel| format!("{kernel}-{build}")));
    for name in sampled(names, 3) {
        let folder = tempfile::tempdir().unwrap();
        let found = asked(&running(&name, folder.path()));
        let hang = found.hang.as_ref().unwrap();
        assert!(!hang.is_hang && !hang.is_deadlock && hang.proof.is_empty(), "{name}: {hang:?}");
        assert_ne!(found.cause, Some(Cause::Hang), "{name}");
        assert!(!states(&found).contains(&WaveState::Unknown), "{name}: {hang:?}");
    }
}

/// Two waves of 32 lanes: the fixture's places are before, at or behind the barrier by the lines of the source.
#[test]
fn waves_of_a_group_at_the_barrier() {
    let folder = tempfile::tempdir().unwrap();
    let found = asked(&running("lds-gfx1100-O2", folder.path()));
    let hang = found.hang.unwrap();
    for wave in &hang.waves {
        assert!(matches!(wave.state, AtBarrier | Running | WaveState::WaitingMemory), "{wave:?}");
    }
    assert_eq!(hang.counts.iter().map(|(_, _, count)| count).sum::<usize>(), hang.waves.len());
}

/// By the source, wave 3 of lds-gfx1200-O2 signalled the barrier before it halted: nobody is missing, and the work-group
/// names it.
#[test]
fn a_halted_wave_that_signalled_the_barrier_is_named() {
    let dump = open(&fixture("lds-gfx1200-O2"));
    let found = asked(&dump);
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let session: &dyn Inspect = &session;
    let ids = |waves: &[WaveId]| waves.iter().map(|wave| session.wave(*wave).unwrap().id).collect::<Vec<_>>();
    let [group] = &found.hang.unwrap().groups[..] else { panic!("one work-group waits") };
    assert_eq!((ids(&group.waiting), ids(&group.missing), ids(&group.signalled)), (vec![4], vec![], vec![3]));
}

/// A question about one wave has its state and its work-group.
#[test]
fn a_wave_of_its_own_has_its_state_alone() {
    let dump = open(&fixture("lds-gfx1200-O2"));
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let session: &dyn Inspect = &session;
    let of = |id: u32| {
        let wave =
            session.waves().iter().copied().find(|wave| session.wave(*wave).unwrap().id == id).unwrap();
        let question = Question { wave: Some(wave), wants_hang: true };
        triage(&[session], &question).hang.unwrap()
    };
    let first = of(4);
    assert_eq!((first.waves.len(), first.groups.len()), (1, 1));
    assert_eq!(
        first.counts.iter().map(|(_, state, count)| (*state, *count)).collect::<Vec<_>>(),
        [(AtBarrier, 1)]
    );
    let other = of(1);
    assert_eq!((other.waves.len(), other.groups.len(), other.counts.len()), (1, 0, 1));
}

/// umr prints one wave in a loop without an exit; its dispatch is unknown.
#[test]
fn a_loop_of_one_wave_of_an_unknown_dispatch_is_no_hang() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs/umr-hardware.txt");
    let found = asked(&open(&path));
    assert_eq!((found.cause.clone(), states(&found)), (None, vec![WaveState::Spinning]));
    let hang = found.hang.unwrap();
    assert!(!hang.is_hang && !hang.is_deadlock, "{hang:?}");
    assert!(found.missing.contains(&MissingData::Dispatch { waves: 1 }), "{:?}", found.missing);
}
