//! Hangs of whole dumps: the fixture with work-groups before, at and behind a barrier.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arch::Targets;
use crate::import::{self, Options};
use crate::session::{Dump, Inspect, Session};
use crate::triage::hang::WaveState::{self, AtBarrier, Faulted, Halted, Running};
use crate::triage::{Cause, Question, Triage, triage};

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
    for gpu in ["gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"] {
        for level in ["O0", "O2"] {
            for kernel in ["lds", "saxpy", "diverge", "call"] {
                let folder = tempfile::tempdir().unwrap();
                let name = format!("{kernel}-{gpu}-{level}");
                let found = asked(&running(&name, folder.path()));
                let hang = found.hang.as_ref().unwrap();
                assert!(!hang.is_hang && !hang.is_deadlock && hang.proof.is_empty(), "{name}: {hang:?}");
                assert_ne!(found.cause, Some(Cause::Hang), "{name}");
                assert!(!states(&found).contains(&WaveState::Unknown), "{name}: {hang:?}");
            }
        }
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
