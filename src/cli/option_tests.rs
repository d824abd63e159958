//! docs/commands.md agrees with the program: a command without a row, or with other options, fails.

use clap::Command;

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
            ["3", "1-3,7"].iter().for_each(|ids| taken("--wave", ids));
            ["70,0,0", "(70,0,0)", "(1,0,0)[6,0,0]"].iter().for_each(|place| taken("--work-item", place));
            ["2,0,0", "(2,0,0)/1"].iter().for_each(|place| taken("--workgroup", place));
        }
        if cells[1] != "-" {
            ["3", "0x3", "0,8-15", "active", "all"].iter().for_each(|lanes| taken("--lane", lanes));
        }
    }
}
