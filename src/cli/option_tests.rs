//! docs/commands.md agrees with the program: a command without a row, or with other options, fails.

use clap::Command;
use clap::error::ErrorKind;

use super::command;

/// The rows of the table: a command, and the cells of [`OPTIONS`].
fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let page = include_str!("../../docs/commands.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let rows = rows.filter(|(name, _)| !name.starts_with('-'));
    rows.map(|(name, cells)| (name, cells.trim_end_matches(" |").split(" | ").collect())).collect()
}

const OPTIONS: [&str; 4] = ["wave", "lane", "frame", "json"];

/// The cell of an option: the name of its value, `yes` for a flag, `-` without the option.
fn cell(command: &Command, option: &str) -> String {
    let Some(argument) = command.get_arguments().find(|argument| argument.get_long() == Some(option)) else {
        return "-".to_owned();
    };
    match argument.get_action().takes_values() {
        true => argument.get_value_names().unwrap()[0].to_string(),
        false => "yes".to_owned(),
    }
}

#[test]
fn the_page_of_commands_has_the_options_of_each() {
    let (rows, mut cli) = (rows(), command());
    cli.build();
    let commands: Vec<&Command> = cli.get_subcommands().filter(|one| one.get_name() != "help").collect();
    for command in &commands {
        let name = command.get_name();
        let row = rows.iter().find(|(of, _)| *of == name).map(|(_, cells)| cells.clone());
        let cells: Vec<String> = OPTIONS.iter().map(|option| cell(command, option)).collect();
        assert_eq!(row.unwrap_or_default(), cells, "the row of `{name}` in docs/commands.md");
        // A choice of waves has each of its options, with one help.
        let ids = cells[0] == "IDS";
        for place in ["work-item", "workgroup"] {
            assert_eq!(cell(command, place) != "-", ids, "{name} --{place}");
        }
        if ids {
            let wave = command.get_arguments().find(|argument| argument.get_long() == Some("wave")).unwrap();
            let help = wave.get_help().unwrap().to_string();
            assert!(
                help.starts_with("Waves by their ids, the last number of") && help.contains("[default: "),
                "{help}"
            );
        }
    }
    assert_eq!(commands.len(), rows.len(), "{rows:?}");
}

/// Values that are no number and none of an option's form get the form in words, not those of Rust's parsers.
#[test]
fn wrong_values_get_the_form_of_the_option() {
    let (mut cli, mut count) = (command(), 0);
    cli.build();
    for command in cli.get_subcommands() {
        for option in command.get_arguments().filter_map(|argument| argument.get_long()) {
            for value in ["?x", "-1", "99999999999999999999999"] {
                let words =
                    ["lanescope", command.get_name(), &format!("--{option}={value}")].map(str::to_owned);
                let Err(error) = cli.clone().try_get_matches_from(&words) else { continue };
                if error.kind() != ErrorKind::ValueValidation {
                    continue;
                }
                let error = error.to_string();
                let of_rust =
                    ["invalid digit", "parse integer", "too large to fit", "IP address syntax", "is not in"];
                assert!(!of_rust.iter().any(|part| error.contains(part)), "{words:?}: {error}");
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

/// Help fits a console. Words in brackets, `--fault-address <ADDRESS[+N]>`, are never broken.
#[test]
fn help_has_no_wide_lines() {
    let mut cli = command();
    cli.build();
    for command in cli.get_subcommands().chain([&cli]) {
        let mut command = command.clone();
        for text in [command.render_help(), command.render_long_help()] {
            let text = text.to_string();
            let wide = text.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{}", command.get_name());
        }
    }
}

/// Each command takes the notations of the page.
#[test]
fn options_have_one_notation() {
    let parsed = |words: &[&str]| command().try_get_matches_from([&["lanescope"], words].concat());
    for (name, cells) in rows() {
        let needed: &[&str] = match name {
            "memory" => &["--at", "0"],
            "view" => &["--output", "to"],
            _ => &[],
        };
        let taken = |option: &str, value: &str| {
            let words = [&[name, option, value], needed].concat();
            assert!(parsed(&words).is_ok(), "{words:?}: {:?}", parsed(&words).err());
        };
        if cells[0] == "IDS" {
            ["3", "1-3,7", "all", "faulted", "3,faulted"].iter().for_each(|ids| taken("--wave", ids));
            ["70,0,0", "(70,0,0)", "(1,0,0)[6,0,0]"].iter().for_each(|place| taken("--work-item", place));
            ["2,0,0", "(2,0,0)/1"].iter().for_each(|place| taken("--workgroup", place));
        }
        if cells[0] == "A:B" {
            ["all", "faulted"].iter().for_each(|word| {
                assert!(parsed(&[name, "a", "b", "--wave", word]).is_ok(), "{name} --wave {word}");
            });
        }
        if cells[1] != "-" {
            ["3", "0x3", "0,8-15", "active", "all"].iter().for_each(|lanes| taken("--lane", lanes));
        }
    }
}

/// The parsed command line: the subcommand with its DUMP, or the error.
fn parsed(words: &[&str]) -> Result<(String, Option<String>), String> {
    let words = std::iter::once("lanescope").chain(words.iter().copied()).map(Into::into).collect();
    let matches = super::parse(words).map_err(|error| error.to_string())?;
    let (name, matches) = matches.subcommand().unwrap();
    let dump = matches.get_one::<std::path::PathBuf>("dump").map(|path| path.display().to_string());
    Ok((name.to_owned(), dump))
}

/// `lanescope DUMP` takes triage's options, also before DUMP.
#[test]
fn a_dump_alone_is_a_question_for_its_cause() {
    let triage = |dump: &str| Ok(("triage".to_owned(), Some(dump.to_owned())));
    for words in
        [&["./core.1"][..], &["./core.1", "--json"], &["--json", "./core.1"], &["--hang", "./core.1"]]
    {
        assert_eq!(parsed(words), triage("./core.1"), "{words:?}");
    }
    assert_eq!(parsed(&["info", "./core.1"]), Ok(("info".to_owned(), Some("./core.1".to_owned()))));
    // Without a dump, and before a command.
    for words in
        [&["--json"][..], &["--hang", "waves"], &["--json", "info", "./core.1"], &["--log", "./run.log"]]
    {
        let error = parsed(words).unwrap_err();
        assert!(error.contains("tip: options of a command follow its name"), "{words:?}: {error}");
    }
    let error = parsed(&["infos"]).unwrap_err();
    assert!(error.contains("`infos`") && !error.contains("follow its name"), "{error}");
    assert!(error.contains("Usage: lanescope [OPTIONS] DUMP\n"), "{error}");
}

/// One transposed, missing or further letter names the command; the name of a missing file is similar to none.
#[test]
fn a_misspelled_command_differs_from_a_missing_file() {
    for (typed, name) in [("tirage", "triage"), ("triag", "triage"), ("inf", "info"), ("wavs", "waves")] {
        for (words, what) in [(&[typed][..], "no command and no file"), (&["help", typed], "no command")] {
            let error = parsed(words).unwrap_err();
            let expected =
                format!("error: {what} has the name `{typed}`\n\n  tip: a similar command is `{name}`\n");
            assert!(error.starts_with(&expected), "{words:?}: {error}");
        }
    }
    for typed in ["crash", "nonexist", "core", "x"] {
        let error = parsed(&[typed]).unwrap_err();
        let expected = format!("error: no command and no file has the name `{typed}`\n");
        assert!(error.starts_with(&expected) && !error.contains("tip: "), "{typed}: {error}");
    }
    let error = parsed(&["\u{1b}[31m"]).unwrap_err();
    assert!(error.contains("`\\u{1b}[31m`"), "{error}");
}

/// A shell's unset variable in quotes is an empty word.
#[test]
fn an_empty_name_is_reported_as_one() {
    for words in [&[""][..], &["triage", ""], &["triage", "--log", "", "./core.1"]] {
        let error = parsed(words).unwrap_err();
        assert!(error.starts_with("error: a file or a value has an empty name"), "{words:?}: {error}");
    }
    // Values that have a notation or a list keep their message.
    let address = parsed(&["info", "--fault-address", ""]).unwrap_err();
    assert!(address.contains("0xADDRESS"), "{address}");
    let kind = parsed(&["print", "--format", "", "x"]).unwrap_err();
    assert!(!kind.contains("empty name"), "{kind}");
    // An option at the end has no word for its value.
    for words in [&["slim", "-o", "a.zip", "--sources"][..], &["triage", "--log"], &["report", "-o"]] {
        let error = parsed(words).unwrap_err();
        assert!(error.contains("a value is required for '-"), "{words:?}: {error}");
    }
    let given = parsed(&["slim", "-o", "a.zip", "--sources="]).unwrap_err();
    assert!(given.contains("empty name"), "{given}");
}

/// The evaluator's bounds of the values of variables.
#[test]
fn the_bound_of_values_is_that_of_the_evaluator() {
    use crate::dwarf::limits::{MAX_QUESTION_VALUES, WAVE_VALUES};
    let mut cli = command();
    cli.build();
    for name in ["slim", "diff"] {
        let command = cli.find_subcommand(name).unwrap();
        let option = command.get_arguments().find(|option| option.get_long() == Some("most-values")).unwrap();
        let help = option.get_help().unwrap().to_string();
        let bounds = format!("beyond {WAVE_VALUES} for each wave [default: {MAX_QUESTION_VALUES}]");
        assert!(help.ends_with(&bounds), "{name}: {help}");
    }
    let page = include_str!("../../docs/slim.md");
    for text in ["1,048,576 values (one for each lane), and 8,192 more", "1,048,576, and 8,192 more"] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!((MAX_QUESTION_VALUES, WAVE_VALUES), (1_048_576, 8_192));
}
