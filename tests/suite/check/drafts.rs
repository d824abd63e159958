//! Drafts about hangs. The states are those of the models of tests/fixtures/polls.zip.

use std::sync::Arc;

use lanescope::check::{Content, HangLine, Head, Subject, Verdict, draft, evaluate, format, parse};
use lanescope::session::{Inspect, Session};
use lanescope::signature::Rules;

use crate::triage::cases::{Case, Moment, load};

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

#[test]
fn drafts_of_hangs_hold_and_have_the_states_of_the_model() {
    let cases = load();
    let (mut hangs, mut healthy) = (0, 0);
    // Each third hang, and all that do not hang.
    let chosen =
        cases.hangs.iter().enumerate().filter(|(index, case)| index % 3 == 0 || case.hangs == Some(false));
    for (_, case) in chosen {
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
    assert!(hangs > 12 && healthy > 5, "{hangs} hangs, {healthy} others");
}
