//! Drafts about hangs, and about several faults. The states are those of the models of tests/fixtures/polls.zip.

use std::fs;
use std::sync::Arc;

use lanescope::check::{Content, HangLine, Head, Subject, Verdict, draft, evaluate, format, parse};
use lanescope::session::{Inspect, Session};
use lanescope::signature::Rules;

use super::check;
use crate::fixtures::{copy_dump, one_line};
use crate::slim::{Scratch, words};
use crate::support::{least, sample::sampled};
use crate::triage::cases::{Case, Moment, load_hangs};

const MOMENT: Moment = Moment { distance: 0, has_report: false, lacks_memory: false };

/// A name without signs between its words.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The states that the model has for waves of a case.
fn states(case: &Case) -> Vec<String> {
    let of_waves = case.waves.iter().filter_map(|wave| wave.expected.as_ref());
    of_waves.flat_map(|expected| &expected.state).map(|state| folded(state)).collect()
}

/// A loop without an exit, whose dispatch is unknown, may be a hang.
#[test]
fn a_draft_of_a_wave_that_may_hang_has_no_hang_none() {
    let folder = Scratch::new("draft-may-hang");
    let log = crate::fixtures::fixtures().join("logs/umr-hardware.txt");
    let mut command = crate::support::lanescope();
    let output = command.current_dir(folder.path("")).args(["check", "--new"]).arg(&log).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\nwaves ") && !text.contains("\nhang"), "{text}");
}

#[test]
fn drafts_of_hangs_hold_and_have_the_states_of_the_model() {
    let cases = load_hangs();
    let (mut hangs, mut healthy) = (0, 0);
    // Each fifth: all kernels, and both levels of all GPUs.
    for case in sampled(&cases.hangs, 5) {
        let dump = cases.open(case, MOMENT);
        let session = Session::new(Arc::clone(&dump), None).unwrap();
        let sessions: Vec<&dyn Inspect> = vec![&session];
        let rules = Rules::default();
        let subject = Subject { name: "dump".to_owned(), sessions, dump: Arc::clone(&dump), rules };
        let head = Head { dump: "hang.zip".to_owned(), ..Head::default() };
        let (name, text) = (&case.name, draft(&head, &subject).unwrap());
        let file = parse(&text).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{text}"));
        assert_eq!(format(&file), text, "{name}");
        let outcomes = evaluate(&file, &subject);
        for outcome in &outcomes {
            assert_eq!(outcome.verdict, Verdict::Holds, "{name}, line {}\n{text}", outcome.line);
        }
        assert!(
            !text.contains("0x") && !text.contains("wave id") && !text.contains("/tmp"),
            "{name}\n{text}"
        );
        let contents = || file.lines.iter().map(|line| &line.content);
        let hang = contents().find_map(|content| match content {
            Content::Hang(hang) => Some(hang),
            _ => None,
        });
        let found: Vec<&String> = contents()
            .filter_map(|content| match content {
                Content::State(state) => Some(state),
                _ => None,
            })
            .collect();
        match case.hangs {
            Some(true) => {
                assert!(matches!(hang, Some(HangLine::Hang | HangLine::Deadlock)), "{name}\n{text}");
                assert!(!found.is_empty(), "{name}\n{text}");
                hangs += 1;
            }
            Some(false) => {
                assert_eq!(hang, Some(&HangLine::None), "{name}\n{text}");
                healthy += 1;
            }
            None => {}
        }
        let states = states(case);
        for state in found {
            assert!(states.contains(&folded(state)), "{name}: {state}, expected some of {states:?}\n{text}");
        }
    }
    assert!(hangs > 12 && healthy > least(5, 3), "{hangs} hangs, {healthy} others");
}

/// llvm-symbolizer has the lines of the PCs: saxpy.hip:54 of wave 1, saxpy.hip:63 of wave 2, saxpy.hip:57 of wave 3.
#[test]
fn faults_at_several_places_have_a_block_each() {
    let scratch = Scratch::new("draft-places");
    copy_dump("saxpy-gfx90a-O0", &scratch.path("dump"));
    let manifest = scratch.path("dump/manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let parts: Vec<&str> = text.splitn(3, "stop = []").collect();
    let text =
        format!("{}stop = [\"int_divide_by_0\"]{}stop = [\"assert_trap\"]{}", parts[0], parts[1], parts[2]);
    fs::write(manifest, text).unwrap();
    let file = scratch.path("a.scope");
    let drafted = check(&["--new", words(&scratch.path("dump")), "-o", words(&file)]);
    assert!(drafted.status.success(), "{drafted:?}");
    let draft = fs::read_to_string(&file).unwrap();
    for (place, stop) in [
        ("saxpy.hip:54", "memory violation"),
        ("saxpy.hip:63", "integer division by zero"),
        ("saxpy.hip:57", "abort or failed assertion"),
    ] {
        let block = format!("wave at saxpy {place}\n  stop  {stop}\n");
        assert!(one_line(&draft).contains(&one_line(&block)), "{block}\n{draft}");
    }
    assert!(one_line(&draft).contains("waves 8, faulted 3"), "{draft}");
    let checked = check(&[words(&file)]);
    assert!(checked.status.success(), "{checked:?}");
}
