//! docs/protocol.md agrees with the code.

use std::collections::BTreeSet;

use lanescope::questions::QUESTIONS;
use lanescope::server::packet_table;

#[test]
fn the_packet_table_is_the_routers() {
    let text = include_str!("../../../docs/protocol.md");
    let section = text.split("## Packet table").nth(1).expect("the section is there");
    let section = section.split("\n## ").next().unwrap();
    let written: Vec<(String, String)> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .flat_map(|line| {
            let mut cells = line.split('|');
            let names = format!("`{}", cells.next().unwrap());
            let who = cells.next().unwrap().trim().to_owned();
            let names: Vec<String> = names.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            names.into_iter().map(move |name| (name, who.clone()))
        })
        .collect();
    let routed: Vec<(String, String)> =
        packet_table().map(|(name, who)| (name.to_owned(), who.to_owned())).collect();
    for row in &routed {
        assert!(written.contains(row), "docs/protocol.md lacks or contradicts {row:?}");
    }
    for row in &written {
        assert!(routed.contains(row), "the router lacks or contradicts {row:?}");
    }
    assert_eq!(written.len(), routed.len(), "a packet stands twice in docs/protocol.md");
}

#[test]
fn each_packet_of_a_question_has_a_section() {
    let text = include_str!("../../../docs/protocol.md");
    for packet in QUESTIONS.iter().filter_map(|question| question.packet) {
        let heading = format!("### `{packet}`");
        assert!(text.lines().any(|line| line == heading), "docs/protocol.md lacks the section {heading}");
    }
}

#[test]
fn the_table_of_long_answers_is_that_of_the_questions() {
    let text = include_str!("../../../docs/protocol.md");
    let section = text.split("### Long answers").nth(1).expect("the section is there");
    let section = section.split("\n### ").next().unwrap();
    let written: BTreeSet<(String, String)> = section
        .lines()
        .filter(|line| line.starts_with("| `lanescope-"))
        .map(|line| {
            let names: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
            (names[0].to_owned(), names.last().unwrap().to_string())
        })
        .collect();
    let objects = QUESTIONS.iter().filter_map(|question| {
        let object = question.document?.packet.strip_prefix("qXfer:")?.strip_suffix(":read")?;
        Some((object.to_owned(), question.packet?.to_owned()))
    });
    assert_eq!(written, objects.collect(), "docs/protocol.md, Long answers");
}
