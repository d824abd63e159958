//! Sentences about accesses that nothing proves to be the cause.

use super::{overrun, page, suspect};
use crate::triage::{Confidence, Evidence, MissingData, OtherFault, Pattern, PatternOf, Suspect};
use crate::units::{LaneId, LaneSet, WaveId};

/// The first sentence of a page, on one line.
fn sentence(page: &str) -> String {
    page.split("\n\n").next().unwrap().split("\n    ").next().unwrap().replace('\n', " ")
}

/// The nearest access before the PC is no cause by its distance alone.
#[test]
fn accesses_without_a_bad_address_are_not_blamed() {
    let mut triage = overrun();
    let first = &mut triage.suspects[0];
    (first.confidence, first.evidence) = (Confidence::Possible, vec![Evidence::NothingBad]);
    triage.further = 2;
    let page = page(&triage);
    let sentence = "saxpy: memory violation (page fault) in wave 1 at saxpy.hip:54; candidates: 3 accesses, none of \
                    whose addresses is known to be bad";
    assert_eq!(page.split("\n\n").next().unwrap().replace('\n', " "), sentence);
    assert!(!page.contains('X') && page.contains("+ active: 0-24"), "{page}");
}

/// The report names a page, and no lane is on it: a bad address elsewhere is no cause.
#[test]
fn accesses_off_the_reported_page_are_not_blamed() {
    let mut triage = overrun();
    let first = &mut triage.suspects[0];
    (first.confidence, first.evidence) =
        (Confidence::Possible, vec![Evidence::OffPage { page: Some(0x0dea_d000) }]);
    first.patterns = vec![PatternOf { pattern: Pattern::NonCanonical, lanes: LaneSet::one(LaneId(24)) }];
    for (page_of, words) in [(Some(0x0dea_d000), "the reported page 0xdead000"), (None, "a reported page")] {
        triage.suspects[0].evidence = vec![Evidence::OffPage { page: page_of }];
        let page = page(&triage);
        let fault = "saxpy: memory violation (page fault) in wave 1 at saxpy.hip:54";
        let sentence = format!("{fault}: no examined access leads to {words}");
        assert_eq!(page.split("\n\n").next().unwrap().replace('\n', " "), sentence);
        assert!(page.contains("\nAccess    load of 4 bytes"), "{page}");
        assert!(!page.contains('X') && page.contains("+ active: 0-24"), "{page}");
    }
}

/// Accesses at the PC may have bad addresses, and the one before it is good: the sentence blames none of them.
#[test]
fn a_good_access_is_not_blamed_beside_others() {
    let mut triage = overrun();
    let first = &mut triage.suspects[0];
    (first.confidence, first.evidence) = (Confidence::Possible, vec![Evidence::NothingBad]);
    let at_pc = Suspect { distance: 0, ..suspect("flat_store_dword v[4:5], v2", &[]) };
    triage.suspects.push(at_pc);
    let text = "candidates: 2 accesses, none of whose addresses is known to be bad";
    assert!(sentence(&page(&triage)).ends_with(text));
}

/// The wave stopped before the instruction at its PC.
#[test]
fn the_instruction_at_the_pc_is_not_executed() {
    for (text, verb) in [
        ("flat_load_dword v2, v[0:1]", "would read"),
        ("flat_store_dword v[0:1], v2", "would write"),
        ("flat_atomic_add v[0:1], v2", "would update"),
    ] {
        let mut triage = overrun();
        let at_pc = Suspect { distance: 0, ..suspect(text, &[(24, 0x7f00_0020_1000)]) };
        triage.suspects = vec![Suspect { confidence: Confidence::Possible, ..at_pc }];
        let expected = format!(
            "saxpy {verb} 4 bytes at 0x7f0000201000: lane 24 of wave 1, saxpy.hip:54 (possible, the only examined \
             access)"
        );
        assert_eq!(sentence(&page(&triage)), expected);
    }
}

/// Two pages are reported, and the access explains one of them.
#[test]
fn a_page_without_an_access_is_named() {
    let mut triage = overrun();
    triage.suspects[0].evidence = vec![Evidence::OnPage { page: 0x7f00_0020_1000, bytes: 4096 }];
    triage.missing = vec![MissingData::Access { page: 0 }];
    let text = page(&triage);
    let end = "saxpy.hip:54 (likely); no examined access explains the reported page 0x0";
    assert!(sentence(&text).ends_with(end), "{text}");
    assert!(
        text.contains("\nMissing   the access to the reported page 0x0: its wave may have ended"),
        "{text}"
    );
    triage.missing.push(MissingData::Access { page: 0x1000 });
    let end = "explains the reported pages 0x0 and 1 more";
    assert!(sentence(&page(&triage)).ends_with(end));
}

/// Wave 1 has a page fault; waves 3 and 4 were running in the demo, but stopped for another reason here.
#[test]
fn faults_of_other_waves_have_a_row_and_a_command() {
    let mut triage = overrun();
    triage.waves.others = vec![OtherFault { waves: vec![WaveId(2), WaveId(3)] }];
    let text = page(&triage);
    assert!(text.contains("\nFurther   waves 3-4: running, saxpy.hip:"), "{text}");
    assert!(text.contains("Wave { wave: WaveId(2), id: 3 }\n"), "{text}");
    triage.waves.others = (1..6).map(|wave| OtherFault { waves: vec![WaveId(wave)] }).collect();
    let text = page(&triage);
    assert!(
        text.contains("\n          wave 4: running") && text.contains("\n          and 2 more\n"),
        "{text}"
    );
}
