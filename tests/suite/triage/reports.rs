//! Reports beside captured stop reasons: a report that cannot be of a wave's stop changes no answer. The truth is that of
//! the cases.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use lanescope::arch::Targets;
use lanescope::capture::{Fault, Foreign};
use lanescope::check::{Head, Subject, draft};
use lanescope::import::{self, Options};
use lanescope::report::Style;
use lanescope::report::fault;
use lanescope::session::{Dump, Inspect, Session};
use lanescope::signature::{Crashes, Rules, SignatureLevel};
use lanescope::triage::{Cause, MissingData, Question, Scene, Triage, page, sentence, triage};
use serde_json::{Value, json};

use super::cases::{Case, Moment, load_some};
use crate::fixtures::one_line;
use crate::slim::Scratch;

const HUNG: Moment = Moment { distance: 0, has_report: false, lacks_memory: false };
/// A page that no access of the cases leads to.
const ELSEWHERE: u64 = 0x8001_0404_1000;

fn at_page(page: u64) -> Value {
    json!({"kind": "page", "address": page, "bytes": 4096, "access": "read", "client": "TCP", "source": "kernel_log"})
}

/// Reports that are not of a page: another crash, or another program.
fn others() -> [Value; 4] {
    [
        json!({"kind": "hang", "ring": "kiq_0.2.1.0", "source": "kernel_log"}),
        json!({"kind": "ecc", "source": "kernel_log"}),
        json!({"kind": "exception", "status": "HSA_STATUS_ERROR_EXCEPTION", "source": "hip"}),
        json!({"kind": "assertion", "assertion": {"condition": "p", "file": "other.hip", "line": 3}, "source": "hip"}),
    ]
}

/// The analysis, its sentence and its page in one line.
fn analysed(dump: Arc<Dump>) -> (Triage, String, String) {
    let session = Session::new(dump, None).unwrap();
    let sessions: [&dyn Inspect; 1] = [&session];
    let found = triage(&sessions, &Question::default());
    let scene = Scene::new(&sessions);
    let text = one_line(&page::text(&found, &scene, &|_| None, Style::Plain));
    let sentence = sentence(&found, &scene);
    (found, sentence, text)
}

fn signatures(dump: Arc<Dump>) -> Vec<(String, usize)> {
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let crashes = Crashes::of(&dump, &[&session], &Rules::default());
    crashes.signatures(SignatureLevel::Default).into_iter().map(|of| (of.text, of.waves)).collect()
}

/// Stop reasons of all waves are captured, and none is a fault: the hang stays the answer, and no line is blamed.
#[test]
fn no_report_replaces_a_hang_of_waves_that_did_not_fault() {
    let names = ["barrier_split-gfx90a-O2", "endless-gfx1100-O2", "healthy-gfx90a-O2", "lost_flag-gfx90a-O2"];
    let cases = load_some(|name| names.contains(&name), 1);
    let (mut hangs, mut healthy) = (0, 0);
    for case in &cases.hangs {
        let (own, without, _) = analysed(cases.open(case, HUNG));
        for report in std::iter::once(at_page(ELSEWHERE)).chain(others()) {
            let open = || cases.open_reported(case, HUNG, std::slice::from_ref(&report));
            let (found, text, page) = analysed(open());
            let place = format!("{} {report}: {page}", case.name);
            assert!(found.suspects.is_empty() && found.waves.faulted == 0, "{place}");
            let is_hang_report = report["kind"] == "hang";
            assert_eq!(
                page.contains("faulted: the reported fault is of none of them")
                    || page.contains("did not fault: the reported fault is not its own"),
                !is_hang_report,
                "{place}"
            );
            match own.cause {
                Some(Cause::Hang) => {
                    hangs += 1;
                    assert_eq!((&found.cause, text), (&Some(Cause::Hang), without.clone()), "{place}");
                    assert_eq!(signatures(open()), signatures(cases.open(case, HUNG)), "{place}");
                }
                _ if !is_hang_report => {
                    healthy += 1;
                    assert!(text.starts_with("no wave faulted; reported: "), "{place}");
                    assert!(signatures(open()).iter().all(|(text, _)| !text.contains('|')), "{place}");
                }
                _ => {}
            }
            assert_eq!(
                found.missing.contains(&MissingData::Access { page: ELSEWHERE }),
                report["kind"] == "page",
                "{place}"
            );
        }
    }
    assert_eq!((hangs, healthy), (15, 4));
}

/// The draft of a hang with a foreign page has no fault of memory.
#[test]
fn a_draft_of_a_hang_has_no_fault_of_memory() {
    let cases = load_some(|name| name == "barrier_split-gfx90a-O2", 1);
    let dump = cases.open_reported(&cases.hangs[0], HUNG, &[at_page(ELSEWHERE)]);
    let session = Session::new(Arc::clone(&dump), None).unwrap();
    let subject =
        Subject { name: "hang.zip".to_owned(), sessions: vec![&session], dump, rules: Rules::default() };
    let text = draft(&Head { dump: "hang.zip".to_owned(), ..Head::default() }, &subject).unwrap();
    assert!(text.contains("\nhang") && !text.contains("memory"), "{text}");
}

/// Waves that stopped for address errors had no page fault: a page that none of their known addresses is on changes
/// neither access nor certainty.
#[test]
fn an_unreachable_page_changes_no_address_error() {
    let of_address = |case: &Case| {
        case.waves.iter().all(|wave| {
            wave.truth.as_ref().is_none_or(|truth| matches!(&*truth.kind, "aperture" | "misaligned" | "lds"))
        })
    };
    let patterns = ["misaligned-", "poison_pointer-", "chain_walk-", "other_aperture-"];
    let is_of = |name: &str, gpu: &str| patterns.iter().any(|of| name == format!("{of}{gpu}-O2"));
    let cases = load_some(|name| is_of(name, "gfx90a") || is_of(name, "gfx1100"), 1);
    let mut compared = 0;
    for case in cases.faults.iter().filter(|case| of_address(case)) {
        for (has_report, distance) in [(true, 3), (false, 13)] {
            let moment = Moment { distance, has_report, lacks_memory: false };
            let (own, without, _) = analysed(cases.open(case, moment));
            let mut execution = at_page(ELSEWHERE);
            (execution["access"], execution["client"]) = (json!("execute"), json!("SQC (inst)"));
            for report in [at_page(ELSEWHERE), execution] {
                let (found, text, page) = analysed(cases.open_reported(case, moment, &[report]));
                assert_eq!(text, without, "{} at {distance}: {page}", case.name);
                let facts = |of: &Triage| -> Vec<_> {
                    of.suspects.iter().map(|one| (one.instruction, one.lanes, one.confidence)).collect()
                };
                assert_eq!(facts(&found), facts(&own), "{} at {distance}", case.name);
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 8 * 2 * 2);
}

/// A second report of another kind leaves the reported page in the sentence.
#[test]
fn a_report_of_another_kind_leaves_the_page_in_the_sentence() {
    let patterns = ["host_pointer-", "flipped_bit-", "past_end-", "before_start-"];
    let cases = load_some(|name| patterns.iter().any(|of| name == format!("{of}gfx90a-O2")), 1);
    let mut named = 0;
    for case in &cases.faults {
        let moment = Moment { distance: 3, has_report: true, lacks_memory: false };
        let (_, without, page) = analysed(cases.open(case, moment));
        let has_no_other = page.contains("no other access before the PC can reach that page");
        assert!(!has_no_other || !page.contains("addresses are unknown"), "{page}");
        named +=
            usize::from(page.contains("the other accesses that may reach that page fit the report less"));
        for report in others() {
            let (_, text, page) = analysed(cases.open_reported(case, moment, std::slice::from_ref(&report)));
            assert_eq!(text, without, "{} {report}: {page}", case.name);
        }
        assert!(without.contains("reported page") || !page.contains("unknown in lanes"), "{page}");
    }
    assert!(named > 0, "no page has others with unknown addresses");
    // Of three the newest are listed.
    let case = &cases.faults[0];
    let reports: Vec<Value> = (0..3).map(|index| at_page(ELSEWHERE + index * 4096)).collect();
    let moment = Moment { distance: 3, has_report: false, lacks_memory: false };
    let (.., page) = analysed(cases.open_reported(case, moment, &reports));
    let listed = page.split_once("Report ").unwrap().1.split_once("and 1 more").unwrap().0;
    let is_listed = |index: u64| listed.contains(&format!("page {:#x}", ELSEWHERE + index * 4096));
    assert_eq!([0, 1, 2].map(is_listed), [false, true, true], "{page}");
}

/// The reports of a log beside the capture of process 4242, whose waves are of its own queue.
fn reported(name: &str, log: &str, process: Option<u32>) -> Vec<Fault> {
    let scratch = Scratch::new(name);
    let path = scratch.path("log");
    fs::write(&path, log).unwrap();
    let dump = Path::new("tests/fixtures/dumps/saxpy-gfx90a-O0");
    let dump = crate::support::root().join(dump);
    let mut opened = import::open(&dump, &Targets::builtin(), &Options::default()).unwrap();
    opened.capture.provenance.process = process;
    import::add_faults(&mut opened, &Options { logs: vec![path], ..Options::default() }).unwrap();
    opened.capture.faults
}

/// The driver's report, as the kernel log has it (drivers/gpu/drm/amd/amdgpu/gmc_v9_0.c).
fn driver(time: u32, process: u32, client: &str) -> String {
    let rows = [
        "[gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)".to_owned(),
        format!(" Process hipdemo pid {process} thread hipdemo pid {process}"),
        "  in page starting at address 0x00007f0000201000 from client 10".to_owned(),
        "GCVM_L2_PROTECTION_FAULT_STATUS:0x00801031".to_owned(),
        format!("\t Faulty UTCL2 client ID: {client}"),
    ];
    rows.iter().map(|row| format!("[{time}.0] amdgpu 0000:03:00.0: amdgpu: {row}\n")).collect()
}

/// In a container the kernel log has another number of the process: the runtime's report of the page joins the two.
#[test]
fn a_process_in_a_container_has_another_number_outside() {
    const RUNTIME: &str =
        "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Unknown.\n";
    let outer = driver(10, 91762, "TCP (0x8)");
    for (at, log) in [format!("{RUNTIME}{outer}"), format!("{outer}{RUNTIME}")].iter().enumerate() {
        let found = reported(&format!("container-{at}"), log, Some(4242));
        let [one] = &*found else { panic!("{found:#?}") };
        assert_eq!(
            (one.foreign(), one.client.as_deref(), one.outer_process),
            (None, Some("TCP"), Some(91762))
        );
        let text = fault::sentence(one);
        assert!(text.contains("process 91762 outside of its container (inferred)"), "{text}");
    }
    let elsewhere = RUNTIME.replace("201000", "301000");
    for (name, log) in [
        ("container-alone", outer.clone()),
        ("container-page", format!("{elsewhere}{outer}")),
        ("container-client", format!("{RUNTIME}{}", driver(10, 91762, "CPC (0x5)"))),
        ("container-two", format!("{RUNTIME}{outer}{}", driver(90, 91763, "TCP (0x8)"))),
        ("container-own", format!("{RUNTIME}{}{outer}", driver(90, 4242, "TCP (0x8)"))),
    ] {
        let found = reported(name, &log, Some(4242));
        assert!(found.iter().all(|one| one.outer_process.is_none()), "{name}: {found:#?}");
        let foreign = found.iter().filter(|one| one.foreign() == Some(Foreign::Process)).count();
        assert_eq!(foreign, 1 + usize::from(name == "container-two"), "{name}: {found:#?}");
    }
}

/// ROCm's queues are the process's own: a time-out of the kernel's rings is that of a graphics API.
#[test]
fn time_outs_of_the_kernels_rings_are_not_of_rocms_waves() {
    for (ring, process, foreign) in [
        ("gfx_0.1.0", 2914, Some(Foreign::Ring)),
        ("comp_1.0.0", 2914, Some(Foreign::Process)),
        ("comp_1.0.0", 4242, None),
        ("kiq_0.2.1.0", 4242, None),
    ] {
        let log = format!(
            "[1.0] amdgpu 0000:06:00.0: amdgpu: ring {ring} timeout, signaled seq=1, emitted seq=3\n\
             [1.0] amdgpu 0000:06:00.0: amdgpu:  Process app pid {process} thread app:cs0 pid {process}\n"
        );
        let own = if foreign == Some(Foreign::Ring) { None } else { Some(4242) };
        let found = reported(&format!("ring-{ring}-{process}"), &log, own);
        let facts: Vec<_> =
            found.iter().map(|one| (one.ring.as_deref(), one.process, one.foreign())).collect();
        assert_eq!(facts, [(Some(ring), Some(process), foreign)]);
    }
}
