//! `qRcmd`: the user's commands, `monitor ...` in gdb and `process plugin packet monitor ...` in LLDB.
//!
//! They act on the thread that the user looks at ([`State::selected`]). LLDB never says which thread is selected, so
//! `wave N` chooses one. All text goes out in `O` packets and the reply is `OK`: LLDB prints a reply that
//! carries text as bare hex digits.

mod show;
mod threads;

use std::fmt::Write as _;

use super::super::state::State;
use crate::clean::clean_lines;
pub(super) use threads::{heading, lane_of, lanes_asked};

/// One command: its name, its arguments, what it does, and who does it.
struct Command {
    name: &'static str,
    arguments: &'static str,
    does: &'static str,
    run: fn(&mut State, &[&str]) -> Result<String, String>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "waves",
        arguments: "",
        does: "List every wave: where it is, how many lanes are active, why it stopped.",
        run: |state, _| Ok(threads::waves(state)),
    },
    Command {
        name: "wave",
        arguments: "[N]",
        does: "Show which wave these commands are about, or in lldb choose thread N. In gdb type `thread N`.",
        run: threads::wave,
    },
    Command {
        name: "lanes",
        arguments: "",
        does: "List the wave's lanes: which work-item each is, whether it is active, and where it is.",
        run: threads::lanes,
    },
    Command {
        name: "lane",
        arguments: "[N]",
        does: "Show the focused lane, or focus lane N: private memory and variables are that lane's.",
        run: threads::lane,
    },
    Command {
        name: "backtrace",
        arguments: "[LANE|all|active] [frame N]",
        does: "Print the call stack of the wave, of lane LANE, or of several lanes; from frame N on.",
        run: show::backtrace,
    },
    Command {
        name: "groups",
        arguments: "[lanes] [function|line|pc]",
        does: "Group all waves, or their lanes, by call stack; those with a fault first, then the most common.",
        run: super::groups::monitor,
    },
    Command {
        name: "disassemble",
        arguments: "[ADDRESS] [count N] [around N] [lane N] [frame N]",
        does: "List the instructions of the function, marking the PC and the lanes; ADDRESS: of that one, with count from there.",
        run: super::disassembly::monitor,
    },
    Command {
        name: "dispatches",
        arguments: "",
        does: "List the kernel launches: grid, work-group size, fences, address spaces and how many waves there are of each.",
        run: super::dispatches::monitor,
    },
    Command {
        name: "locals",
        arguments: "[LANE|all|active] [frame N]",
        does: "Print the variables of the focused lane, of lane LANE or of several lanes; frame N is that of `backtrace`.",
        run: show::locals,
    },
    Command {
        name: "eval",
        arguments: "EXPRESSION",
        does: "Evaluate a DWARF expression for the focused lane; before it --value, or --size N to read N bytes.",
        run: show::eval,
    },
    Command {
        name: "print",
        arguments: "[/LETTER] [lane N|all|active] [frame N] PATH",
        does: "Print what a path names: body.at.x, *p@4, (local int *) 0x10, $v3[17]; print/x in hexadecimal.",
        run: super::print::monitor,
    },
    Command {
        name: "explain",
        arguments: "[lane N|all|active] [frame N] PATH",
        does: "Say where the variables of a path are and why, operation by operation.",
        run: super::print::monitor_explain,
    },
    Command {
        name: "set",
        arguments: "[lane N|all|active] [frame N] PATH = VALUE",
        does: "Change a number for you alone, never the capture: x = 5, $v3[5] = 77, lane all $v0 = 0.",
        run: super::changes::set,
    },
    Command {
        name: "changes",
        arguments: "",
        does: "List what you have changed, with what was captured.",
        run: super::changes::list,
    },
    Command {
        name: "reset",
        arguments: "[all|registers|memory]",
        does: "Drop your changes: everything reads as it was captured again.",
        run: super::changes::reset,
    },
    Command {
        name: "register",
        arguments: "NAME...",
        does: "Print registers by AMD's names, vectors lane by lane; xxxxxxxx was not captured.",
        run: show::register,
    },
    Command {
        name: "memory",
        arguments: "SPACE ADDRESS LENGTH",
        does: "Print bytes of an address space: monitor memory private_lane 0x10 16.",
        run: show::memory,
    },
    Command {
        name: "arguments",
        arguments: "[DISPATCH|all]",
        does: "Print the kernel arguments of the wave's dispatch, of the dispatch with that id or of all.",
        run: show::arguments,
    },
    Command {
        name: "objects",
        arguments: "",
        does: "List the code objects that are loaded, and what keeps one from giving variables.",
        run: |state, _| Ok(show::objects(state)),
    },
    Command {
        name: "notices",
        arguments: "",
        does: "Repeat what is to be known of this dump: problems, waves of other kinds.",
        run: |state, _| Ok(show::notices(state)),
    },
    Command {
        name: "help",
        arguments: "[COMMAND]",
        does: "Describe the commands, or one of them.",
        run: help,
    },
];

/// Runs a line that the user typed.
pub(crate) fn run(state: &mut State, line: &[u8]) -> String {
    state.selection.used();
    let line = String::from_utf8_lossy(line).into_owned();
    log::debug!("monitor {}", crate::clean::clean(&*line));
    // A letter may follow the name at once, as gdb's users write it: print/x PATH.
    let line = line.replacen(
        '/',
        " /",
        usize::from(line.split_whitespace().next().is_some_and(|name| name.contains('/'))),
    );
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or("help");
    let arguments: Vec<&str> = words.collect();
    let mut answer = match find(name) {
        Ok(command) => (command.run)(state, &arguments).unwrap_or_else(|words| format!("{words}\n")),
        Err(words) => words,
    };
    if !answer.ends_with('\n') {
        answer.push('\n');
    }
    // What the user typed comes back in messages.
    clean_lines(answer).into_owned()
}

/// The command of that name, or of the one name that begins so.
fn find(name: &str) -> Result<&'static Command, String> {
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        return Ok(command);
    }
    let mut begins = COMMANDS.iter().filter(|command| command.name.starts_with(name));
    match (begins.next(), begins.next()) {
        (Some(command), None) => Ok(command),
        _ => {
            let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
            Err(format!("No command \"{name}\". There are: {}. Try `monitor help`.\n", names.join(", ")))
        }
    }
}

pub(super) fn said<T, E: std::fmt::Display>(answer: Result<T, E>) -> Result<T, String> {
    answer.map_err(|error| sentence(&error.to_string()))
}

/// Words with a capital and a full stop; a name at their beginning stays as it is.
pub(super) fn sentence(words: &str) -> String {
    let name = words.split(' ').next().is_some_and(|first| first.contains(['_', '`', '#']));
    if name {
        return format!("{}.", words.trim_end_matches('.'));
    }
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str().trim_end_matches('.'))
}

fn help(_: &mut State, arguments: &[&str]) -> Result<String, String> {
    let mut answer = String::new();
    match arguments.first() {
        Some(name) => describe(&mut answer, find(name)?),
        None => COMMANDS.iter().for_each(|command| describe(&mut answer, command)),
    }
    Ok(answer)
}

fn describe(answer: &mut String, command: &Command) {
    let usage = format!("{} {}", command.name, command.arguments);
    let _ = writeln!(answer, "{:<27} {}", usage.trim_end(), command.does);
}

#[cfg(test)]
#[path = "monitor_tests.rs"]
mod tests;
