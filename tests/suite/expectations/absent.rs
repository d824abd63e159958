//! Dumps that lack waves: no line about all waves holds, and known waves decide the others.

use std::fs;
use std::path::Path;

use lanescope::check::{Head, Outcome, Subject, Verdict, draft};
use lanescope::session::Inspect;
use lanescope::signature::{Rules, unknown_waves};

use super::{evaluate, outcomes, path, sessions};
use crate::fixtures::open;
use crate::slim::Scratch;

/// A wave of an agent that no table has: the reader leaves it out.
const ABSENT: &str = "\n[[wave]]\nid = 900\nagent = 900\n";

/// A copy of a dump, a folder, with a further wave that is left out.
fn with_absent_wave(name: &str, scratch: &Scratch) -> std::path::PathBuf {
    let folder = scratch.path(name);
    fs::create_dir(&folder).unwrap();
    for entry in fs::read_dir(path(name)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
    let manifest = folder.join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap() + ABSENT;
    fs::write(&manifest, text).unwrap();
    folder
}

/// `+`, `-` and `?` of each line: it holds, differs, or cannot be checked.
fn signs(outcomes: &[Outcome]) -> String {
    let sign = |outcome: &Outcome| match &outcome.verdict {
        Verdict::Holds => '+',
        Verdict::Differs(_) => '-',
        Verdict::NotChecked(_) => '?',
    };
    outcomes.iter().map(sign).collect()
}

/// Checks lines with the expected signs over a whole dump, and over one that lacks a wave.
fn check(name: &str, lacking: &Path, lines: &[(&str, char, char)]) {
    let text: String = lines.iter().map(|(line, ..)| format!("{line}\n")).collect();
    let (whole, lacking) = (outcomes(&path(name), &text), outcomes(lacking, &text));
    let mut wrong = Vec::new();
    for ((line, whole_sign, sign), (one, other)) in lines.iter().zip(whole.iter().zip(&lacking)) {
        for (expected, outcome) in [(whole_sign, one), (sign, other)] {
            if signs(std::slice::from_ref(outcome)) != expected.to_string() {
                wrong.push(format!("{line}: expected {expected}, found {:?}", outcome.verdict));
            }
        }
    }
    assert_eq!((whole.len(), lacking.len()), (lines.len(), lines.len()));
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    for outcome in &lacking {
        if let Verdict::NotChecked(obstacle) = &outcome.verdict {
            assert!(obstacle.problem.contains("no agent has the id 900"), "{obstacle:?}");
        }
    }
}

/// chain-gfx90a-O0 has no fault and no hang: wave 1 of its work-group is at a breakpoint, two waves were running.
#[test]
fn a_dump_without_a_fault() {
    let scratch = Scratch::new("absent-none");
    let lacking = with_absent_wave("chain-gfx90a-O0", &scratch);
    let lines = [
        ("fault none", '+', '?'),
        ("fault memory violation", '-', '?'),
        ("hang none", '+', '?'),
        ("hang", '-', '?'),
        ("hang deadlock", '-', '?'),
        ("waves 3", '+', '?'),
        ("waves >= 3", '+', '+'),
        ("waves <= 2", '-', '-'),
        ("waves 2", '-', '-'),
        ("waves != 2", '+', '+'),
        ("waves != 4", '+', '?'),
        ("waves 4", '-', '?'),
        ("faulted 0", '+', '?'),
        ("faulted >= 0", '+', '+'),
        ("work-groups 1", '+', '?'),
        ("signature ls1:000000000000", '-', '?'),
        ("wave faulted", '-', '?'),
        ("wave id 900", '-', '?'),
        ("wave every", '+', '?'),
        ("lane 0 $lane == 0", '+', '?'),
        ("stop running", '-', '-'),
        ("wave some", '+', '+'),
        ("stop breakpoint", '+', '+'),
        ("wave some", '+', '+'),
        ("stop illegal instruction", '-', '?'),
    ];
    check("chain-gfx90a-O0", &lacking, &lines);
}

/// calls-gfx90a: wave 2 has an illegal instruction, wave 4 an address error. Wave 3 was running, the others are at
/// breakpoints.
#[test]
fn known_waves_that_faulted_decide() {
    let scratch = Scratch::new("absent-calls");
    let lacking = with_absent_wave("calls-gfx90a", &scratch);
    let lines = [
        ("fault none", '-', '-'),
        ("fault address error, illegal instruction", '+', '+'),
        ("fault illegal instruction", '-', '-'),
        ("fault address error, illegal instruction, trap", '-', '?'),
        ("faulted 2", '+', '?'),
        ("faulted 1", '-', '-'),
        ("faulted > 1", '+', '+'),
        ("wave id 2", '+', '+'),
        ("stop illegal instruction", '+', '+'),
    ];
    check("calls-gfx90a", &lacking, &lines);
}

/// A wave of `wave some` with an unknown fact may satisfy the line. absent-gfx90a: wave 6 has no stop reason.
#[test]
fn a_wave_with_an_unknown_fact_may_be_the_one() {
    let found = outcomes(&path("absent-gfx90a"), "wave some\n  stop breakpoint\n");
    assert_eq!(signs(&found), "+?", "{found:?}");
}

/// All lines of a draft hold, and the draft names what it leaves out.
#[test]
fn drafts_have_no_line_about_unknown_waves() {
    let scratch = Scratch::new("absent-draft");
    for name in ["chain-gfx90a-O0", "calls-gfx90a"] {
        let dump = open(&with_absent_wave(name, &scratch));
        let sessions = sessions(&dump);
        let subject = Subject {
            name: name.to_owned(),
            sessions: sessions.iter().map(|session| -> &dyn Inspect { session }).collect(),
            dump: dump.clone(),
            rules: Rules::default(),
        };
        let reasons = unknown_waves(&dump, &subject.sessions);
        assert!(matches!(&reasons[..], [one] if one.contains("no agent has the id 900")), "{reasons:?}");
        let head = Head { dump: name.to_owned(), ..Head::default() };
        let text = draft(&head, &subject).unwrap();
        assert!(text.contains("# Waves are absent from the dump"), "{text}");
        assert!(!text.contains("fault none") && !text.contains("hang none"), "{text}");
        let outcomes = evaluate(&dump, &text);
        assert!(signs(&outcomes).chars().all(|sign| sign == '+'), "{text}{outcomes:#?}");
    }
}

/// A pattern that needs the memory map cannot be checked without it; the address alone decides on others. A small dump
/// has the map without the memory.
#[test]
fn patterns_of_memory_need_its_map() {
    let scratch = Scratch::new("expectations-no-global");
    let small = scratch.path("small");
    let status = crate::support::lanescope()
        .arg("slim")
        .arg(path("demo"))
        .args(["--no-global", "-o"])
        .arg(&small)
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    let lines =
        "access past end\naccess negative index\naccess before start\naccess null\naccess not captured\n";
    assert_eq!(signs(&outcomes(&small, lines)), "+---+");
    let manifest = small.join("manifest.json");
    let mut parts: serde_json::Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    parts.as_object_mut().unwrap().remove("memory_map").unwrap();
    fs::write(&manifest, parts.to_string()).unwrap();
    assert_eq!(signs(&outcomes(&small, lines)), "???-+");
    let named = outcomes(&small, "access nul\naccess frieed\n");
    let hints: Vec<_> = named
        .iter()
        .map(|outcome| match &outcome.verdict {
            Verdict::NotChecked(why) => why.hint.clone().unwrap_or_default(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(hints, ["did you mean `null`?", "did you mean `freed`?"]);
}
