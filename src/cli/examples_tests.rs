//! Each example is a command line that the parser takes.

use super::super::command;
use super::EXAMPLES;

#[test]
fn examples_are_commands() {
    for (name, lines) in EXAMPLES {
        let command = command();
        assert!(*name == "lanescope" || command.find_subcommand(name).is_some(), "{name} is no command");
        for line in *lines {
            // Every second part is in quotes.
            let parts = line.split('\'').enumerate();
            let words = parts.flat_map(|(index, part)| match index % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            });
            // The short form of triage takes a file that exists.
            let words = match *line {
                "lanescope DUMP" => vec!["lanescope", "triage", "DUMP"],
                _ => words.collect(),
            };
            if let Err(error) = command.clone().try_get_matches_from(words) {
                panic!("{line}: {error}");
            }
        }
    }
}
