use super::words::usage;
use super::{COMMANDS, QUESTIONS, Row, find, sentence};

/// Name of the command for a word.
fn named(word: &str) -> Option<&'static str> {
    find(word).ok().map(|row| match row {
        Row::Question(question) => question.name,
        Row::Command(command) => command.name,
    })
}

#[test]
fn a_beginning_that_only_one_command_has_is_enough() {
    assert_eq!(named("help"), Some("help"));
    assert_eq!(named("mem"), Some("memory"));
    assert_eq!(named("lane"), Some("lane"), "a whole name comes before a longer one");
    assert_eq!(named("register"), Some("registers"));
    assert_eq!(named("wav"), None, "wave and waves");
    assert_eq!(named(""), None);
}

#[test]
fn help_describes_every_command() {
    for command in COMMANDS {
        assert!(command.does.ends_with('.'), "{}", command.name);
    }
    for question in QUESTIONS {
        assert!(question.summary.ends_with('.'), "{}", question.name);
        // A command without parameters needs no example.
        assert_eq!(usage(question) == question.name, question.example.is_empty(), "{}", question.name);
    }
}

#[test]
fn names_keep_their_spelling() {
    assert_eq!(sentence("no lane 7 in a wave"), "No lane 7 in a wave.");
    assert_eq!(sentence("private_lane 0x40 was not captured"), "private_lane 0x40 was not captured.");
}

#[test]
fn a_command_takes_as_many_words_as_its_usage_names() {
    for command in COMMANDS {
        let is_without = command.arguments.is_empty();
        assert_eq!(is_without, command.most == 0, "{}", command.name);
    }
}
