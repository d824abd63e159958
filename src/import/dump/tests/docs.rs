//! The examples of docs/dump-format.md are valid dumps.

use super::open_text;

const DOCS: &str = include_str!("../../../../docs/dump-format.md");

/// Fenced blocks of TOML, without their fences.
fn examples() -> impl Iterator<Item = &'static str> {
    DOCS.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next())
}

#[test]
fn whole_dumps_in_the_documentation_load_without_a_problem() {
    let mut waves = 0;
    for text in examples().filter(|text| text.starts_with("format = 1")) {
        let opened = open_text(text).unwrap_or_else(|error| panic!("{error} in:\n{text}"));
        let problems: Vec<_> = opened.problems.iter().map(ToString::to_string).collect();
        assert!(problems.is_empty(), "{problems:#?} in:\n{text}");
        waves += opened.capture.waves.len();
    }
    assert!(waves > 0, "no example has a wave");
}

#[test]
fn the_documentation_names_every_stop_reason_of_every_target() {
    let targets = crate::arch::Targets::builtin();
    for name in targets.names() {
        for reason in &targets.target(name).unwrap().stop_reasons {
            assert!(DOCS.contains(&format!("`{}`", reason.name)), "{} of {name}", reason.name);
        }
    }
}
