use super::{COMMANDS, find, sentence};

#[test]
fn a_beginning_that_only_one_command_has_is_enough() {
    assert_eq!(find("help").unwrap().name, "help");
    assert_eq!(find("mem").unwrap().name, "memory");
    assert_eq!(find("lane").unwrap().name, "lane", "a whole name comes before a longer one");
    assert!(find("wav").is_err(), "wave and waves");
    assert!(find("").is_err());
}

#[test]
fn help_tells_of_every_command() {
    for command in COMMANDS {
        assert!(command.does.ends_with('.'), "{}", command.name);
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
