//! Reports beside captured stop reasons: a report that cannot be of a wave's stop changes no answer. The truth is that of
//! the cases.

use std::sync::Arc;

use lanescope::check::{Head, Subject, draft};
use lanescope::report::Style;
use lanescope::session::{Dump, Inspect, Session};
use lanescope::signature::{Crashes, Rules, SignatureLevel};
use lanescope::triage::{Cause, MissingData, Question, Scene, Triage, page, sentence, triage};
use serde_json::{Value, json};

use super::cases::{Case, Moment, load_some};
use crate::fixtures::one_line;

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
        let (_, without, _) = analysed(cases.open(case, moment));
        for report in others() {
            let (_, text, page) = analysed(cases.open_reported(case, moment, std::slice::from_ref(&report)));
            assert_eq!(text, without, "{} {report}: {page}", case.name);
        }
        named += usize::from(without.contains("reported page"));
    }
    assert!(named > 0, "no sentence has a page");
}
