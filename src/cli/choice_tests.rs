use std::collections::BTreeMap;

use clap::error::ErrorKind;
use clap::{Arg, Command};

use super::super::command as cli;
use crate::debuginfo::format::Letter;

/// The values of each option with fixed values, from docs and README.
const FIXED: [(&str, &[&str]); 12] = [
    ("serve --client", &["auto", "gdb", "lldb", "amdgcn-gdb", "amdgcn-lldb"]),
    ("serve --view", &["stack", "unit", "all", "off"]),
    ("view --view", &["stack", "unit", "all"]),
    ("serve --threads", &["waves", "lanes", "focus"]),
    ("groups --by", &["function", "line", "pc"]),
    ("--local-files", &["auto", "yes", "no"]),
    ("--dialect", &["llvm-user", "llvm-direct", "amdgpu-usage-2020", "draft"]),
    ("print --format", &["x", "z", "d", "u", "o", "t", "c", "f", "a", "s"]),
    ("check --bless", &["write", "review"]),
    ("report --format", &["html", "markdown", "text", "json"]),
    ("--level", &["coarse", "default", "line", "exact"]),
    ("--rules-version", &["ls1"]),
];

/// Value names of the other options: their values have no list.
const FREE: [&str; 36] = [
    "I/N",
    "NAME[=FILE]",
    "ADDRESS",
    "ADDRESS[+N]",
    "A:B",
    "BYTES",
    "DEBUGGER",
    "DIR",
    "DUMP",
    "ENTRY",
    "EXPRESSION",
    "FILE",
    "FILE[@ADDRESS]",
    "HEX",
    "ID",
    "IDS",
    "KIND",
    "LANE",
    "LANES",
    "LENGTH",
    "N",
    "NAME",
    "NAMES",
    "OLD=NEW",
    "PATH",
    "PLACE",
    "PORT",
    "RANGE",
    "SECONDS",
    "SIZE",
    "X,Y,Z",
    "X,Y,Z[/N]",
    "A",
    "B",
    "CASES",
    "COMMAND",
];

/// Every option with a value, by command.
fn options() -> Vec<(String, Arg)> {
    let mut cli = cli();
    cli.build();
    let of = |command: &Command| -> Vec<(String, Arg)> {
        let takes = command.get_arguments().filter(|argument| argument.get_action().takes_values());
        takes.map(|argument| (command.get_name().to_owned(), argument.clone())).collect()
    };
    let each = std::iter::once(&cli).chain(cli.get_subcommands());
    let all: Vec<(String, Arg)> =
        each.flat_map(of).filter(|(_, argument)| argument.get_long().is_some()).collect();
    assert!(all.len() > 100, "{}", all.len());
    all
}

/// The row of an option: with its command, or for all commands.
fn row(command: &str, argument: &Arg) -> Option<&'static [&'static str]> {
    let long = argument.get_long()?;
    let rows: BTreeMap<&str, &[&str]> = FIXED.into_iter().collect();
    let row = rows.get(&*format!("{command} --{long}")).or_else(|| rows.get(&*format!("--{long}")));
    row.copied()
}

/// An error names exactly the accepted values, and the parser accepts each of them.
#[test]
fn every_option_with_fixed_values_lists_all_of_them() {
    let mut seen = 0;
    for (command, argument) in options() {
        let Some(values) = row(&command, &argument) else {
            let name = argument.get_value_names().and_then(|names| names.first()).map(|name| name.as_str());
            assert!(name.is_some_and(|name| FREE.contains(&name)), "{command}: {argument:?}");
            continue;
        };
        seen += 1;
        let option = format!("--{}", argument.get_long().unwrap());
        let asked = |value: &str| {
            let words = ["lanescope", &*command, &*format!("{option}={value}")];
            let refused = cli().try_get_matches_from(words).err();
            // The parse may still fail: other arguments may be missing.
            refused
                .filter(|error| matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation))
        };
        for value in values {
            assert!(asked(value).is_none(), "{command} {option} {value}: {:?}", asked(value));
        }
        let error = asked("no-such-value").unwrap().to_string();
        let letters = values.iter().all(|value| value.len() == 1);
        let listed = match letters {
            true => values.concat(),
            false => format!("[possible values: {}]", values.join(", ")),
        };
        assert!(error.contains(&listed), "{command} {option}: {error}");
    }
    assert!(seen > 20, "{seen}");
    assert_eq!(Letter::ALL.map(|letter| letter.letter().to_string()).to_vec(), FIXED[7].1);
}
