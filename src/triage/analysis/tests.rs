//! Analyses of dumps with reports and stop reasons written by hand. tests/fixtures/models has the truth of the dumps:
//! lane 24 of wave 1 of saxpy reads x[1024] at 0x7f0000201000, and wave 2 of lds-gfx90a-O2 halted without a reason.

use std::path::Path;
use std::sync::Arc;

use super::{Question, triage};
use crate::arch::Targets;
use crate::capture::{Capture, Fault, FaultAddress, FaultKind, MAX_FAULTS, PAGE};
use crate::import::{self, Options};
use crate::session::{Dump, Inspect, Session};
use crate::triage::{Cause, Evidence, Limit, MissingData, Scene, Triage, sentence};
use crate::units::WaveId;

/// The page of x[1024].
const OWN: u64 = 0x7f00_0020_1000;
const OTHER: u64 = 0x7e00_0000_0000;

/// The analysis of a changed dump, with its sentence.
fn analysed(dump: &str, change: impl FnOnce(&mut Capture)) -> (Triage, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps").join(dump);
    let mut opened = import::open(&path, &Targets::builtin(), &Options::default()).unwrap();
    change(&mut opened.capture);
    let session = Session::new(Arc::new(Dump::new(opened.capture, opened.problems)), None).unwrap();
    let sessions: [&dyn Inspect; 1] = [&session];
    let found = triage(&sessions, &Question::default());
    let text = sentence(&found, &Scene::new(&sessions));
    (found, text)
}

fn report(kind: FaultKind, agent: Option<u32>) -> Fault {
    Fault { kind, agent, ..Fault::default() }
}

fn page(start: u64, agent: Option<u32>) -> Fault {
    let address = Some(FaultAddress { start, bytes: PAGE, is_inexact: false });
    Fault { address, ..report(FaultKind::Page, agent) }
}

/// A second GPU of the dump, and its reports.
fn with_reports(faults: Vec<Fault>) -> impl FnOnce(&mut Capture) {
    move |capture| {
        let mut other = capture.agents[0].clone();
        other.id = 2;
        capture.agents.push(other);
        capture.faults = faults;
    }
}

/// "Reports of another GPU are ignored."
#[test]
fn a_halt_has_no_cause_by_a_report_of_another_gpu() {
    for fault in [
        report(FaultKind::Ecc, Some(2)),
        report(FaultKind::IllegalInstruction, Some(2)),
        report(FaultKind::Aperture, Some(2)),
        page(OWN, Some(2)),
    ] {
        let kind = fault.kind;
        let (found, text) = analysed("lds-gfx90a-O2", with_reports(vec![fault]));
        assert_eq!((found.cause, found.suspects.len()), (None, 0), "{kind:?}");
        assert_eq!(found.waves.chosen, Some(WaveId(1)), "{kind:?}");
        assert!(found.missing.contains(&MissingData::StopReason), "{kind:?}: {:?}", found.missing);
        assert!(text.starts_with("lds: fatal halt") && text.contains("in wave 2"), "{text}");
        assert!(!text.contains("address") && !text.contains("memory error"), "{text}");
    }
}

/// The report of the wave's GPU, or one without a GPU, decides wherever it stands.
#[test]
fn a_halt_has_the_cause_of_the_report_of_its_gpu() {
    let cause = |faults| analysed("lds-gfx90a-O2", with_reports(faults)).0.cause;
    let foreign = || report(FaultKind::Ecc, Some(2));
    assert_eq!(cause(vec![foreign(), page(OWN, Some(1))]), Some(Cause::Memory));
    assert_eq!(cause(vec![page(OWN, Some(2)), report(FaultKind::Ecc, Some(1))]), Some(Cause::Ecc));
    assert_eq!(cause(vec![report(FaultKind::Ecc, None)]), Some(Cause::Ecc));
    let (_, text) = analysed("lds-gfx90a-O2", with_reports(vec![page(OTHER, Some(2)), page(OWN, Some(1))]));
    assert!(!text.contains("0x7e0000000000"), "{text}");
}

/// No wave faulted, and the GPU of the report has no waves: the report is the only known cause.
#[test]
fn a_report_of_a_gpu_without_waves_has_no_access() {
    for (stop, subject) in [(Some(Vec::new()), "no wave faulted; reported"), (None, "an unknown kernel")] {
        let (found, text) = analysed("saxpy-gfx90a-O0", |capture| {
            with_reports(vec![page(OWN, Some(2))])(capture);
            capture.waves.iter_mut().for_each(|wave| wave.stop.clone_from(&stop));
        });
        assert_eq!((found.cause, found.suspects.len()), (Some(Cause::Memory), 0), "{stop:?}");
        assert_eq!(found.missing[0], MissingData::Access { page: OWN }, "{stop:?}");
        assert!(text.starts_with(&format!("{subject}: access to page 0x7f0000201000")), "{text}");
    }
}

/// A wave whose stop reason is not captured may have faulted.
#[test]
fn unknown_stop_reasons_are_missing_data() {
    let (found, text) = analysed("saxpy-gfx90a-O0", |capture| {
        capture.waves.iter_mut().for_each(|wave| wave.stop = None);
    });
    assert_eq!((found.cause, found.waves.unknown), (None, 8));
    assert!(found.missing.contains(&MissingData::StopReasons { waves: 8 }), "{:?}", found.missing);
    assert_eq!(
        text,
        "whether a wave faulted is unknown, no fault is reported; the stop reasons of 8 waves were not captured"
    );
}

/// The list of reports is cut, and the page of the fault is not on it: an address off the listed pages fits.
#[test]
fn a_cut_list_of_reports_excludes_no_access() {
    let others = |count: u64| (0..count).map(|index| page(OTHER + index * PAGE, None));
    let (found, _) = analysed("saxpy-gfx90a-O2", with_reports(others(MAX_FAULTS as u64).collect()));
    let all = || found.suspects.iter().flat_map(|suspect| &suspect.evidence);
    assert!(!all().any(|one| matches!(one, Evidence::OffPage { .. })), "{:?}", found.suspects);
    assert_eq!(found.suspects[0].addresses[0].address, OWN);
    assert!(found.missing.contains(&MissingData::Limit(Limit::Reports)), "{:?}", found.missing);
    let (found, _) = analysed("saxpy-gfx90a-O2", with_reports(others(3).collect()));
    assert!(found.suspects.iter().any(|suspect| {
        suspect.evidence.iter().any(|one| matches!(one, Evidence::OffPage { page: None }))
    }));
}

/// All pages without an access count.
#[test]
fn pages_without_an_access_are_counted() {
    let others = (0..255).map(|index| page(OTHER + index * PAGE, None));
    let faults = std::iter::once(page(OWN, None)).chain(others).collect();
    let (_, text) = analysed("saxpy-gfx90a-O0", with_reports(faults));
    let end = "; no examined access explains the reported pages 0x7e0000000000 and 254 more";
    assert!(text.ends_with(end), "{text}");
}

/// A report of a byte names no page.
#[test]
fn a_reported_address_is_no_page() {
    let reasons = |bytes| {
        let at = FaultAddress { start: OWN - 4, bytes, is_inexact: false };
        let fault = Fault { address: Some(at), ..report(FaultKind::Memory, None) };
        let (found, _) = analysed("saxpy-gfx90a-O0", with_reports(vec![fault]));
        found.suspects.iter().flat_map(|one| one.evidence.iter().map(|of| of.of(one))).collect::<Vec<_>>()
    };
    let one = reasons(1);
    assert!(one.contains(&"the reported address 0x7f0000200ffc is accessed".to_owned()), "{one:?}");
    let four = reasons(4);
    assert!(
        four.contains(&"one of the reported 4 bytes at 0x7f0000200ffc is accessed".to_owned()),
        "{four:?}"
    );
}
