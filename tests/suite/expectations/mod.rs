//! Evaluation of expectations, compared with the models of the fixtures.

mod absent;
mod bless;
mod mutation;
mod statements;
mod values;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lanescope::check::{self, Difference, Outcome, Subject, Verdict};
use lanescope::session::{Dump, Inspect, Session};
use lanescope::signature::Rules;

use crate::fixtures::{fixtures, open};

/// The path of a fixture: `demo`, or a folder of dumps.
pub(crate) fn path(name: &str) -> PathBuf {
    match name {
        "demo" => fixtures().join("demo.zip"),
        name => fixtures().join("dumps").join(name),
    }
}

/// The sessions of a dump, one for each kind of waves.
pub(crate) fn sessions(dump: &Arc<Dump>) -> Vec<Session> {
    let kinds = dump.kinds().map(|(kind, _)| format!("{}:{}", kind.target.name, kind.wave_size));
    kinds.map(|kind| Session::new(Arc::clone(dump), Some(&kind)).unwrap()).collect()
}

/// The outcomes of a file over an opened dump.
pub(crate) fn evaluate(dump: &Arc<Dump>, text: &str) -> Vec<Outcome> {
    let file = check::parse(text).unwrap_or_else(|errors| panic!("{text}: {errors:#?}"));
    let sessions = sessions(dump);
    let subject = Subject {
        name: dump.capture().name.clone(),
        sessions: sessions.iter().map(|session| -> &dyn Inspect { session }).collect(),
        dump: Arc::clone(dump),
        rules: Rules::default(),
    };
    check::evaluate(&file, &subject)
}

/// The outcomes of a file over a dump.
pub(crate) fn outcomes(dump: &Path, text: &str) -> Vec<Outcome> {
    evaluate(&open(dump), text)
}

/// The difference of a line.
pub(crate) fn difference(outcomes: &[Outcome], line: usize) -> &Difference {
    let outcome = outcomes.iter().find(|outcome| outcome.line == line).unwrap();
    match &outcome.verdict {
        Verdict::Differs(difference) => difference,
        other => panic!("line {line}: {other:?}"),
    }
}

/// Evaluates a table over a dump. A line begins with `+` (it holds), `-` (it differs) or `?` (it cannot be checked);
/// after `=>` follows the blessed text of a difference (`none`: there is none), or a part of an obstacle.
///
/// Returns the number of lines.
fn table(name: &str, table: &str) -> usize {
    let mut wrong = Vec::new();
    let mut wanted = Vec::new();
    let mut text = String::new();
    for row in table.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (sign, rest) = row.split_at(1);
        let (line, more) = match rest.split_once(" => ") {
            Some((line, more)) => (line.trim(), Some(more.trim())),
            None => (rest.trim(), None),
        };
        text += &format!("{line}\n");
        wanted.push((sign, line, more));
    }
    let outcomes = outcomes(&path(name), &text);
    assert_eq!(outcomes.len(), wanted.len(), "{name}: one outcome for each line");
    for (index, (outcome, (sign, line, more))) in outcomes.iter().zip(&wanted).enumerate() {
        assert_eq!(outcome.line, index + 1);
        let (own, detail) = match &outcome.verdict {
            Verdict::Holds => ("+", String::new()),
            Verdict::Differs(difference) => {
                ("-", difference.got.clone().unwrap_or_else(|| "none".to_owned()))
            }
            Verdict::NotChecked(obstacle) => {
                ("?", format!("{} [{}]", obstacle.problem, obstacle.hint.clone().unwrap_or_default()))
            }
        };
        let fits = match (*sign, more) {
            ("?", Some(part)) => detail.contains(part),
            (_, Some(text)) => detail == *text,
            (_, None) => true,
        };
        if own != *sign || !fits {
            wrong.push(format!("{sign} {line} => {more:?}: {:?}", outcome.verdict));
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    wanted.len()
}
