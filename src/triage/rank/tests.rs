//! Order and certainty of judged accesses, by the rules of docs/triage.md.

use super::{Ranked, Sighted, missing_code, rank};
use crate::arch::Generation;
use crate::triage::judge::{Fit, Sighting};
use crate::triage::walk::look::Look;
use crate::triage::walk::tests::{code, walk};
use crate::triage::walk::{MAX_DISTANCE, Way};
use crate::triage::{Confidence, Evidence, MissingData, UnknownAddressCause, UnknownLanes};
use crate::units::{LaneSet, WaveId};

use Fit::{Bad, Fine, NotCaptured, OnPage, SamePage, Unknown, UnknownPrivate};

type Change = fn(&mut Sighting);

/// Three loads, the farthest first: v1, v2, v3. The first two are complete by the waits of the text.
fn text(between: &str) -> String {
    format!(
        "global_load_dword v1, v[10:11], off
        global_load_dword v2, v[12:13], off
        s_waitcnt vmcnt(0)
        {between}
        global_load_dword v3, v[14:15], off
        PC
        s_endpgm"
    )
}

/// A sighting in lane 0 without evidence.
fn sighting(way: Way, fit: Fit) -> Sighting {
    Sighting {
        wave: WaveId(0),
        fit,
        lanes: LaneSet(1),
        addresses: Vec::new(),
        evidence: Vec::new(),
        look: Look {
            way,
            lanes: LaneSet(1),
            addresses: Vec::new(),
            unknown: None,
            certain: LaneSet(1),
            is_private: false,
            exec_changed: None,
            is_recovered: false,
            overwritten: None,
            is_detour: false,
            is_choice: false,
            is_doubtful: false,
        },
        is_contradicted: false,
        is_good: false,
    }
}

/// The registers that the ranked loads write, with the certainty of the first one. `fits`: of v1, v2, v3.
fn ranked(text: &str, fits: [Fit; 3], has_page: bool, change: Change) -> (Vec<String>, Confidence) {
    let walk = walk(&code(Generation::Gfx90a, text));
    let of = |candidate| {
        let register = &walk.instruction(candidate).unwrap().text()["global_load_dword v".len()..];
        let fit = fits[usize::from(register.as_bytes()[0] - b'1')];
        let mut sighting = sighting(candidate.ways[0], fit);
        if fit == OnPage {
            change(&mut sighting);
        }
        Sighted { walk: &walk, candidate, sightings: vec![sighting], waves: 1 }
    };
    let found = rank(walk.candidates.iter().map(of).collect(), has_page, true).suspects;
    let names = found.iter().map(|one| one.text["global_load_dword ".len()..][..2].to_owned());
    (names.collect(), found[0].confidence)
}

fn order(text: &str, fits: [Fit; 3]) -> String {
    ranked(text, fits, false, |_| {}).0.join(" ")
}

#[test]
fn better_fits_lead() {
    let text = text("s_nop 0");
    assert_eq!(order(&text, [OnPage, Bad, NotCaptured]), "v1 v2 v3");
    assert_eq!(order(&text, [Unknown, UnknownPrivate, Fine]), "v1 v2 v3");
    assert_eq!(order(&text, [Bad, SamePage, OnPage]), "v3 v2 v1");
    assert_eq!(order(&text, [Fine, NotCaptured, Unknown]), "v2 v3 v1");
    // The stack of the wave follows other unknown addresses.
    assert_eq!(order(&text, [Unknown, Unknown, UnknownPrivate]), "v2 v1 v3");
}

/// The first access to a bad address faults; of unknown ones the nearest counts.
#[test]
fn the_earliest_bad_or_the_nearest_unknown_access_leads() {
    let text = text("s_nop 0");
    assert_eq!(order(&text, [Bad, Bad, Bad]), "v1 v2 v3");
    assert_eq!(order(&text, [Unknown, Unknown, Unknown]), "v3 v2 v1");
}

/// A wait within 8 instructions before the PC excludes nothing; a farther one does not exclude either, but ranks lower.
#[test]
fn waits_count_beyond_the_slack() {
    let path = |nops: usize| {
        let nops = "s_nop 0\n".repeat(nops);
        format!(
            "global_store_dword v[4:5], v6, off
            global_load_dword v1, v[10:11], off
            s_waitcnt vmcnt(0)
            {nops}
            PC
            s_endpgm"
        )
    };
    let first = |generation, text: &str| {
        let walk = walk(&code(generation, text));
        let all = walk.candidates.iter().map(|candidate| {
            let sightings = vec![sighting(candidate.ways[0], Unknown)];
            Sighted { walk: &walk, candidate, sightings, waves: 1 }
        });
        let found = rank(all.collect(), false, true).suspects;
        found[0].text.split_whitespace().next().unwrap().to_owned()
    };
    // GFX10: the store has a counter of its own, and no wait for it.
    assert_eq!(first(Generation::Gfx10, &path(7)), "global_load_dword");
    assert_eq!(first(Generation::Gfx10, &path(8)), "global_store_dword");
    assert_eq!(first(Generation::Gfx90a, &path(8)), "global_load_dword");
}

/// Accesses that the search did not reach are missing data, unless the reported page has an access.
#[test]
fn unreached_accesses_are_missing_unless_the_page_is_explained() {
    let jump = "s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 64\ns_addc_u32 s5, s5, 0\ns_setpc_b64 s[4:5]";
    let nops = "s_nop 0\n".repeat(MAX_DISTANCE);
    let text = format!(
        "{nops}s_swappc_b64 s[30:31], s[4:5]\nglobal_load_dword v1, v[10:11], off\nPC\ns_nop 0\n{jump}"
    );
    let walk = walk(&code(Generation::Gfx90a, &text));
    let missing = |fit, evidence: &[Evidence]| {
        let candidate = walk.candidates.first().unwrap();
        let mut sighting = sighting(candidate.ways[0], fit);
        sighting.evidence.extend_from_slice(evidence);
        let one = Sighted { walk: &walk, candidate, sightings: vec![sighting], waves: 1 };
        let suspects = rank(vec![one], true, true).suspects;
        missing_code([&walk], &suspects).iter().map(MissingData::name).collect::<Vec<_>>()
    };
    assert_eq!(missing(Unknown, &[]), ["callee", "jump", "limit"]);
    assert_eq!(missing(SamePage, &[Evidence::SamePage { address: 0x1008 }]), ["callee", "jump", "limit"]);
    assert_eq!(missing(OnPage, &[Evidence::OnPage { page: 0x1000, bytes: 4096 }]), [""; 0]);
}

/// The facts of a bounded number of accesses are collected, the best ones; the others count.
#[test]
fn further_accesses_are_counted() {
    let text = "global_load_dword v1, v[10:11], off\n".repeat(20) + "PC\ns_endpgm";
    let walk = walk(&code(Generation::Gfx90a, &text));
    let all = walk.candidates.iter().map(|candidate| {
        let sightings = vec![sighting(candidate.ways[0], Unknown)];
        Sighted { walk: &walk, candidate, sightings, waves: 1 }
    });
    let Ranked { suspects, further, further_unknown } = rank(all.collect(), false, true);
    let distances: Vec<usize> = suspects.iter().map(|one| one.distance).collect();
    assert_eq!((distances, further, further_unknown), ((1..=16).collect(), 4, 4));
}

#[test]
fn exact_needs_certainty() {
    let plain = text("s_nop 0");
    let certainty = |text: &str, fits, change| ranked(text, fits, true, change).1;
    assert_eq!(certainty(&plain, [Fine, OnPage, Fine], |_| {}), Confidence::Exact);
    // Another access may have reached the page.
    for other in [OnPage, Unknown, UnknownPrivate] {
        assert_eq!(certainty(&plain, [other, OnPage, Fine], |_| {}), Confidence::Likely, "{other:?}");
    }
    let changes: [Change; 3] = [
        |one| one.look.exec_changed = Some(0x1000),
        |one| one.look.is_recovered = true,
        |one| one.look.is_detour = true,
    ];
    for change in changes {
        assert_eq!(certainty(&plain, [Fine, OnPage, Fine], change), Confidence::Likely);
    }
    assert_eq!(
        certainty(&plain, [Fine, OnPage, Fine], |one| one.is_contradicted = true),
        Confidence::Possible
    );
    // A call hides the accesses of the callee.
    let gap = text("s_swappc_b64 s[30:31], s[4:5]");
    assert_eq!(certainty(&gap, [Fine, OnPage, Fine], |_| {}), Confidence::Likely);
    // Completed far before the PC.
    let late = text(&"s_nop 0\n".repeat(9));
    assert_eq!(certainty(&late, [Fine, OnPage, Fine], |_| {}), Confidence::Likely);
}

/// A contradicted access follows all others, whatever its addresses.
#[test]
fn contradicted_accesses_are_last() {
    let found = ranked(&text("s_nop 0"), [OnPage, Unknown, Fine], true, |one| one.is_contradicted = true);
    assert_eq!(found.0.join(" "), "v2 v3 v1");
}

/// An address off the reported page explains nothing: even the instruction at the PC leads.
#[test]
fn accesses_off_the_page_are_last() {
    let walk = walk(&code(
        Generation::Gfx90a,
        "global_load_dword v1, v[10:11], off
        PC
        global_load_dword v2, v[12:13], off
        s_endpgm",
    ));
    let all = walk.candidates.iter().map(|candidate| {
        let is_at_pc = candidate.ways[0].distance == 0;
        let mut sighting = sighting(candidate.ways[0], if is_at_pc { OnPage } else { Fine });
        if !is_at_pc {
            sighting.evidence.push(Evidence::OffPage { page: Some(0x0dea_d000) });
        }
        Sighted { walk: &walk, candidate, sightings: vec![sighting], waves: 1 }
    });
    let found = rank(all.collect(), true, true).suspects;
    let names: Vec<&str> = found.iter().map(|one| &one.text["global_load_dword ".len()..][..2]).collect();
    assert_eq!(names, ["v2", "v1"]);
}

/// The instruction at the PC is not executed: it follows others with a known address, and leads unknown ones if its own
/// is known to be bad.
#[test]
fn a_bad_address_at_the_pc_precedes_unknown_ones() {
    let text = "global_load_dword v1, v[10:11], off
        PC
        global_load_dword v2, v[12:13], off
        s_endpgm";
    let order = |before, at_pc| order(text, [before, at_pc, Fine]);
    for before in [Unknown, UnknownPrivate, Fit::Unsure, Fine] {
        for at_pc in [OnPage, SamePage, Bad] {
            assert_eq!(order(before, at_pc), "v2 v1", "{before:?} {at_pc:?}");
        }
        for at_pc in [NotCaptured, Unknown, Fine] {
            assert_eq!(order(before, at_pc), "v1 v2", "{before:?} {at_pc:?}");
        }
    }
    for before in [OnPage, SamePage, Bad, NotCaptured] {
        assert_eq!(order(before, OnPage), "v1 v2", "{before:?}");
    }
}

/// A known address on the page of the reported one leads unknown ones, and is no more than possible.
#[test]
fn an_address_beside_the_reported_one_is_possible() {
    let of = |fits| ranked(&text("s_nop 0"), fits, true, |_| {});
    let (names, certainty) = of([Unknown, SamePage, Unknown]);
    assert_eq!((names.join(" "), certainty), ("v2 v3 v1".to_owned(), Confidence::Possible));
    assert_eq!(of([Fine, SamePage, Fine]).1, Confidence::Possible);
}

#[test]
fn the_only_known_candidate_of_a_page_is_named() {
    let text = text("s_nop 0");
    let walk = walk(&code(Generation::Gfx90a, &text));
    assert_eq!(walk.candidates.len(), 3);
    let (names, certainty) = ranked(&text, [Fine, Unknown, Fine], true, |_| {});
    assert_eq!((names[0].as_str(), certainty), ("v2", Confidence::Likely));
    assert_eq!(ranked(&text, [Fine, Unknown, Fine], false, |_| {}).1, Confidence::Possible);
}

/// The reasons of an access on the page, the farthest of a code.
fn reasons(text: &str, change: Change) -> Vec<Evidence> {
    let walk = walk(&code(Generation::Gfx90a, text));
    let candidate = walk.candidates.last().unwrap();
    let mut sighting = sighting(candidate.ways[0], OnPage);
    change(&mut sighting);
    let one = Sighted { walk: &walk, candidate, sightings: vec![sighting], waves: 1 };
    rank(vec![one], true, true).suspects.remove(0).evidence
}

/// What keeps an access on the page from `exact` is among its reasons.
#[test]
fn doubts_of_paths_are_reasons() {
    let diamond = "global_load_dword v1, v[10:11], off
        s_cbranch_scc1 ELSE
        v_mov_b32_e32 v10, 0
        s_branch END
        ELSE:
        s_nop 0
        END:
        PC
        s_endpgm";
    let turn = "LOOP:
        global_load_dword v1, v[10:11], off
        PC
        s_cbranch_scc1 LOOP
        s_endpgm";
    let path = [Evidence::DependsOnPath, Evidence::InLoop];
    let of = |text: &str, change: Change| -> Vec<Evidence> {
        reasons(text, change).into_iter().filter(|one| path.contains(one)).collect()
    };
    assert_eq!(of(diamond, |_| {}), [Evidence::DependsOnPath]);
    assert_eq!(of(turn, |_| {}), [Evidence::InLoop]);
    assert_eq!(of(&text("s_nop 0"), |one| one.look.is_detour = true), [Evidence::DependsOnPath]);
    assert_eq!(of(&text("s_nop 0"), |_| {}), []);
    // No path changes both arms' addresses: the branch alone says nothing about them.
    assert_eq!(of(&diamond.replace("v_mov_b32_e32 v10, 0", "s_nop 0"), |_| {}), []);
}

/// An instruction that lanescope does not know has no known effects: nothing is known of what it wrote.
#[test]
fn an_unknown_instruction_is_named() {
    let text = "global_load_dword v1, v[10:11], off\n.unknown v3, v4\nPC\ns_endpgm";
    let walk = walk(&code(Generation::Gfx90a, text));
    let at = 0x1008;
    let reason = UnknownAddressCause::Overwritten { register: "v10".to_owned(), at };
    let sighted = |at| {
        let mut sighting = sighting(walk.candidates[0].ways[0], Unknown);
        sighting.look.exec_changed = Some(at);
        sighting.look.unknown = Some(UnknownLanes { lanes: LaneSet(1), reason: reason.clone() });
        Sighted { walk: &walk, candidate: &walk.candidates[0], sightings: vec![sighting], waves: 1 }
    };
    let suspects = rank(vec![sighted(at)], true, true).suspects;
    let suspect = &suspects[0];
    let (text, words) = (".unknown v3, v4".to_owned(), |one: &Evidence| one.of(suspect));
    let unknown = UnknownAddressCause::Undecoded { at, text: text.clone() };
    assert_eq!(suspect.unknown.as_ref().unwrap().reason, unknown);
    assert!(suspect.evidence.contains(&Evidence::Unknown(unknown)));
    assert!(suspect.evidence.contains(&Evidence::ExecUnknown { at, text: text.clone() }));
    assert!(
        !suspect
            .evidence
            .iter()
            .map(words)
            .any(|of| of.contains("overwritten") || of.contains("EXEC changed"))
    );
    let missing = missing_code([&walk], &suspects);
    assert_eq!(missing, [MissingData::Instruction { at, text }]);
    assert!(missing[0].to_string().contains("`.unknown v3, v4` at 0x1008"), "{}", missing[0]);
}
