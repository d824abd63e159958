//! Blessed right sides hold: over every variable of every wave of every fixture.

use lanescope::check::{Outcome, Verdict};
use serde_json::Value;

use super::evaluate;
use crate::fixtures::{few_expected, open};
use crate::support::least;

/// The names of a wave's variables in frame 0, each once.
fn names(wave: &Value) -> Vec<&str> {
    let all = wave["locals"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut names: Vec<&str> = all.iter().filter_map(|variable| variable["name"].as_str()).collect();
    // A name that a file reads as a keyword needs brackets, which is not the subject here.
    names.retain(|name| !name.starts_with('<') && !["in", "is"].contains(name));
    names.dedup();
    names
}

/// The lines with their blessed right sides, of those that differ and have one.
pub(super) fn blessed(text: &str, outcomes: &[Outcome]) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let blessed = outcomes.iter().filter_map(|outcome| match &outcome.verdict {
        Verdict::Differs(difference) => {
            let line = lines[outcome.line - 1];
            let kept = &line[..outcome.columns.0];
            Some((outcome.line, format!("{kept}{}", difference.got.as_deref()?)))
        }
        _ => None,
    });
    blessed.collect()
}

#[test]
fn blessed_values_hold_in_every_fixture() {
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, path, expected) in few_expected() {
        let dump = open(&path);
        for wave in expected["waves"].as_array().unwrap() {
            let head = format!("wave id {}\n", wave["id"]);
            let mut text = head.clone();
            for variable in names(wave) {
                // One of the forms is of the type of the value. A missing one is not available.
                for line in [
                    format!("  lane active ({variable}) == -77\n"),
                    format!("  lane active ({variable}) == \"-77\"\n"),
                    format!("  lane 17 ({variable}) == {{}}\n"),
                    format!("  lane 17 ({variable}) == {{-77, ...}}\n"),
                    format!("  lane 1 ({variable}) < -77\n"),
                    format!("  lane 1 ({variable}) >= 1 << 40\n"),
                    format!("  lane 1 ({variable}) is available\n"),
                    format!("  lane 1 ({variable}) is unavailable\n"),
                    format!("  lane active ({variable}) in {{}}\n").replace("{}", "{-77}"),
                    format!("  lane 0 ({variable}) in -77..-76\n"),
                    format!("  lane 3 ({variable}) ~= -77\n"),
                ] {
                    text += &line;
                }
            }
            let lines = blessed(&text, &evaluate(&dump, &text));
            for (number, line) in &lines {
                // docs/check.md, "Blessing": a state has no other operator, and `==` a state if there is no value.
                let sign =
                    |line: &str| line.split(") ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
                let (old, new) = (sign(text.lines().nth(number - 1).unwrap()), sign(line));
                assert!(old == new || new == "is" && ["==", "~="].contains(&&*old), "{line}, was {old}");
            }
            let again: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
            let outcomes = evaluate(&dump, &format!("{head}{again}"));
            assert_eq!(outcomes.len(), lines.len() + 1);
            for (outcome, (_, line)) in outcomes.iter().skip(1).zip(&lines) {
                count += 1;
                if outcome.verdict != Verdict::Holds {
                    wrong.push(format!("{name} wave {}: {line}: {:?}", wave["id"], outcome.verdict));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(20)].join("\n"));
    assert!(count > least(5000, 1200), "only {count} lines were blessed");
}

/// Statements about the dump, too.
#[test]
fn blessed_statements_hold_in_every_fixture() {
    let mut count = 0;
    for (name, path, _) in few_expected() {
        let dump = open(&path);
        let text = "fault ecc\nwaves 1000, faulted 1000, stacks 1000, dispatches 1000, work-groups 1000\n\
                    hang deadlock\nat nothing nothing.hip:1\nstack nothing\n\
                    wave faulted\n  at nothing nothing.hip:1\n  stack nothing\n  exec 0x123\n  stop watchpoint\n  state ended\n";
        let mut again = String::new();
        for (line, new) in blessed(text, &evaluate(&dump, text)) {
            let keyword = text.lines().nth(line - 1).unwrap().trim().split(' ').next().unwrap();
            let head = if line > 6 { "wave faulted\n" } else { "" };
            again += &format!("{head}{keyword} {}\n", new.trim());
            count += 1;
        }
        for outcome in evaluate(&dump, &again) {
            assert_eq!(outcome.verdict, Verdict::Holds, "{name}: line {} of {again}", outcome.line);
        }
    }
    assert!(count > least(150, 40), "only {count} lines were blessed");
}
