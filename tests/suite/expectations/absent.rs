//! Dumps that lack waves: no line about all waves holds, and known waves decide the others.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use lanescope::check::{Head, Outcome, Subject, Verdict, draft};
use lanescope::session::{Dump, Inspect};
use lanescope::signature::{Rules, unknown_waves};

use super::{evaluate, outcomes, path, sessions};
use crate::fixtures::open;
use crate::slim::{Scratch, slim};
use crate::support::sample::is_long;

/// A wave of an agent that no table has: the reader leaves it out.
const ABSENT: &str = "\n[[wave]]\nid = 900\nagent = 900\n";
/// The reader's reason.
const REJECTED: &str = "no agent has the id 900";

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

/// Checks lines with the expected signs over a whole dump, and over one that lacks waves, for that reason.
fn check(name: &str, lacking: &Path, why: &str, lines: &[(&str, char, char)]) {
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
            assert!(obstacle.problem.contains(why), "{obstacle:?}");
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
    check("chain-gfx90a-O0", &lacking, REJECTED, &lines);
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
    check("calls-gfx90a", &lacking, REJECTED, &lines);
}

/// The small dump of a dump, a folder or a zip.
fn small(dump: &Path, scratch: &Scratch, more: &[&str]) -> std::path::PathBuf {
    let name = dump.file_stem().unwrap().to_str().unwrap();
    let to = scratch.path(&format!("{name}{}.zip", more.join("-")));
    slim(dump, &to, more);
    to
}

/// saxpy-gfx90a-O2: wave 1 faulted, the other 7 of one dispatch were running, each in a work-group with another one.
/// The small dump has wave 1, and one of the others at each of 3 places: 4 waves, in 3 work-groups. Of those left out the
/// number, the stop reason and the kernel are known.
#[test]
fn waves_that_others_stand_for_are_counted() {
    let scratch = Scratch::new("absent-small");
    let name = "saxpy-gfx90a-O2";
    let lines = [
        ("fault none", '-', '-'),
        ("fault memory violation", '+', '+'),
        ("fault memory violation, trap", '-', '-'),
        ("waves 8", '+', '+'),
        ("waves 4", '-', '-'),
        ("faulted 1", '+', '+'),
        ("faulted > 1", '-', '-'),
        ("stacks 4", '+', '?'),
        ("stacks >= 4", '+', '+'),
        ("work-groups 4", '+', '?'),
        ("work-groups 2", '-', '-'),
        ("dispatches 1", '+', '?'),
        // Nothing compared the states of waves beside a fault.
        ("hang none", '+', '?'),
        ("hang spinning 0", '+', '?'),
        ("hang faulted 1", '+', '+'),
        ("hang faulted 2", '-', '-'),
        ("wave kernel other", '-', '-'),
        ("wave id 99", '-', '?'),
        ("wave (9,0,0)", '-', '?'),
        ("wave every", '+', '+'),
        ("stop running", '-', '-'),
        ("$exec != 0", '+', '?'),
        ("wave some", '+', '+'),
        ("stop trap", '-', '-'),
        ("wave some", '+', '+'),
        ("exec 0x1", '-', '?'),
        ("wave some", '+', '+'),
        ("stop trap", '-', '-'),
        ("exec 0x1ffffff", '+', '+'),
    ];
    check(name, &small(&path(name), &scratch, &[]), "the dump leaves out 4 waves", &lines);
}

/// masks-gfx90a: no fault and no hang; all 12 waves are at breakpoints of one dispatch, two of them at places of others.
#[test]
fn waves_without_a_fault_are_counted() {
    let scratch = Scratch::new("absent-small-masks");
    let lines = [
        ("fault none", '+', '+'),
        ("waves 12", '+', '+'),
        ("faulted 0", '+', '+'),
        ("hang none", '+', '+'),
        ("hang", '-', '-'),
        ("hang spinning 0", '+', '+'),
        ("hang spinning 1", '-', '-'),
        ("signature ls1:000000000000", '-', '-'),
        ("wave faulted", '-', '-'),
        ("wave every", '+', '+'),
        ("stop breakpoint", '+', '+'),
        ("$exec != 0", '+', '?'),
        ("wave some", '+', '+'),
        ("stop running", '-', '-'),
        ("wave at nowhere", '-', '?'),
    ];
    let lacking = small(&path("masks-gfx90a"), &scratch, &[]);
    check("masks-gfx90a", &lacking, "the dump leaves out 2 waves", &lines);
    // Of waves that the user left out, the report of the dump knows that none had faulted.
    let lines = [
        ("faulted 0", '+', '+'),
        ("waves 12", '+', '?'),
        ("hang none", '+', '?'),
        ("wave faulted", '-', '-'),
    ];
    let lacking = small(&path("masks-gfx90a"), &scratch, &["--wave", "1"]);
    check("masks-gfx90a", &lacking, "lanescope slim left out 11 waves", &lines);
}

/// A draft of a dump differs nowhere on its small dump, and has lines there that need the waves that are left out; that of
/// the small dump holds on the whole one.
#[test]
fn drafts_of_whole_and_small_dumps_agree() {
    const STACKS: &[&str] = &["stacks"];
    let scratch = Scratch::new("absent-both");
    // Faults at places where other waves run; no fault.
    let mut dumps: Vec<(&str, &[&str], &[&str])> = vec![
        ("diverge-gfx1030-O2", &[], STACKS),
        ("masks-gfx90a", &[], STACKS),
        ("diverge-gfx1030-O2", &["--wave", "faulted"], &["waves", "stacks"]),
    ];
    // Several kinds of waves, unknown stop reasons, chosen waves without a fault.
    if is_long() {
        dumps.extend([
            ("mixed-kinds", &[] as &[&str], STACKS),
            ("absent-gfx1100", &[], STACKS),
            ("masks-gfx90a", &["--wave", "1"], &["waves", "stacks", "hang", "wave", "stack"]),
        ]);
    }
    for (name, more, unchecked) in dumps {
        let both = [path(name), small(&path(name), &scratch, more)].map(|dump| open(&dump));
        let [of_whole, of_small] = both.each_ref().map(|dump| drafted(name, dump));
        for outcome in evaluate(&both[1], &of_whole) {
            let line = of_whole.lines().nth(outcome.line - 1).unwrap();
            let may_lack = unchecked.contains(&line.split_whitespace().next().unwrap());
            let is_right = match &outcome.verdict {
                Verdict::Holds => true,
                Verdict::Differs(_) => false,
                Verdict::NotChecked(_) => may_lack,
            };
            assert!(is_right, "{name} {more:?}: {line}: {:?}\n{of_whole}", outcome.verdict);
        }
        let outcomes = evaluate(&both[0], &of_small);
        assert_eq!(signs(&outcomes).replace('+', ""), "", "{name} {more:?}:\n{of_small}\n{outcomes:#?}");
        let counts = of_small.lines().any(|line| line.starts_with("waves"));
        assert_eq!(counts, more.is_empty(), "{name} {more:?}:\n{of_small}");
    }
}

/// The draft of a dump.
fn drafted(name: &str, dump: &Arc<Dump>) -> String {
    let sessions = sessions(dump);
    let subject = Subject {
        name: name.to_owned(),
        sessions: sessions.iter().map(|session| -> &dyn Inspect { session }).collect(),
        dump: Arc::clone(dump),
        rules: Rules::default(),
    };
    let head = Head { dump: name.to_owned(), ..Head::default() };
    draft(&head, &subject).unwrap()
}

/// All lines of a draft hold, and the draft names what it leaves out.
#[test]
fn drafts_have_no_line_about_unknown_waves() {
    let scratch = Scratch::new("absent-draft");
    for name in ["chain-gfx90a-O0", "calls-gfx90a"] {
        let dump = open(&with_absent_wave(name, &scratch));
        let sessions = sessions(&dump);
        let asked: Vec<&dyn Inspect> = sessions.iter().map(|session| -> &dyn Inspect { session }).collect();
        let reasons = unknown_waves(&dump, &asked);
        assert!(matches!(&reasons[..], [one] if one.contains(REJECTED)), "{reasons:?}");
        let text = drafted(name, &dump);
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
