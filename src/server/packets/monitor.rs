//! `qRcmd`: the user's commands, `monitor ...` in gdb and `process plugin packet monitor ...` in LLDB.
//!
//! A command about one wave acts on the thread of `monitor thread N COMMAND`, else on the selected thread as far as
//! the server knows it ([`State::selected`]), and its answer begins with the name of that wave. Neither debugger
//! reports its selected thread. If the server cannot know it, a command that changes a wave's values has to name one.
//! All text goes out in `O` packets and the reply is `OK`: LLDB prints a reply with text as bare hex digits.

mod show;
mod threads;

use std::fmt::Write as _;

use super::super::state::State;
use super::super::threads::Thread;
use crate::clean::clean_lines;
use crate::report::Style;
pub(super) use threads::{lane_of, lanes_asked};

/// One command: its name, its arguments, its description and its handler.
struct Command {
    name: &'static str,
    arguments: &'static str,
    does: &'static str,
    about: About,
    /// Maximum number of further words; [`ANY`]: the command judges each of them.
    most: usize,
    run: fn(&mut State, Thread, &[&str]) -> Result<String, String>,
}

/// Any number of words.
const ANY: usize = usize::MAX;

/// The subject of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// The whole dump: the thread makes no difference.
    Dump,
    /// The dump or a wave: the command itself names the wave of its answer.
    Own,
    /// One wave: the answer begins with its name.
    Wave,
    /// One wave, whose values the command changes.
    Change,
    /// The command names the wave of the command after it.
    Choice,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "waves",
        arguments: "",
        does: "List every wave: where it is, how many lanes are active, why it stopped.",
        about: About::Dump,
        most: 0,
        run: |state, _, _| Ok(threads::waves(state)),
    },
    Command {
        name: "thread",
        arguments: "[N [COMMAND]]",
        does: "Run COMMAND about thread N, or about the wave of work-item (X,Y,Z) of the grid, or wave (X,Y,Z)/W of a work-group. In lldb without COMMAND: all commands from now on.",
        about: About::Choice,
        most: ANY,
        run: threads::choose,
    },
    Command {
        name: "wave",
        arguments: "[N [COMMAND]]",
        does: "The same as `thread`. Without arguments: print which wave commands are about.",
        about: About::Choice,
        most: ANY,
        run: threads::choose,
    },
    Command {
        name: "lanes",
        arguments: "",
        does: "List the wave's lanes: which work-item each is, whether it is active, and where it is.",
        about: About::Wave,
        most: 0,
        run: threads::lanes,
    },
    Command {
        name: "lane",
        arguments: "[N]",
        does: "Show the lane of commands, or choose lane N, the lane of work-item (X,Y,Z) of the grid or (X,Y,Z)[X,Y,Z] of a work-group: private memory and variables are that lane's.",
        about: About::Own,
        most: 1,
        run: threads::lane,
    },
    Command {
        name: "backtrace",
        arguments: "[LANE|all|active] [frame N]",
        does: "Print the call stack of the wave, of lane LANE, or of several lanes; from frame N on.",
        about: About::Wave,
        most: ANY,
        run: show::backtrace,
    },
    Command {
        name: "groups",
        arguments: "[lanes] [function|line|pc]",
        does: "Group all waves, or their lanes, by call stack; those with a fault first, then the most common.",
        about: About::Dump,
        most: ANY,
        run: super::groups::monitor,
    },
    Command {
        name: "disassemble",
        arguments: "[ADDRESS] [count N] [around N] [lane N] [frame N]",
        does: "List the instructions of the function, marking the PC and the lanes; ADDRESS: of that one, with count from there.",
        about: About::Wave,
        most: ANY,
        run: super::disassembly::monitor,
    },
    Command {
        name: "dispatches",
        arguments: "",
        does: "List the kernel launches: grid, work-group size, fences, address spaces and how many waves there are of each.",
        about: About::Own,
        most: 0,
        run: super::dispatches::monitor,
    },
    Command {
        name: "locals",
        arguments: "[LANE|all|active] [frame N]",
        does: "Print the variables of the focused lane, of lane LANE or of several lanes; frame N is that of `backtrace`.",
        about: About::Wave,
        most: ANY,
        run: show::locals,
    },
    Command {
        name: "eval",
        arguments: "EXPRESSION",
        does: "Evaluate a DWARF expression for the focused lane; before it --value, or --size N to read N bytes.",
        about: About::Wave,
        most: ANY,
        run: show::eval,
    },
    Command {
        name: "print",
        arguments: "[/LETTER] [lane N|all|active] [frame N] PATH",
        does: "Print what a path names: body.at.x, *p@4, (local int *) 0x10, $v3[17]; print/x in hexadecimal.",
        about: About::Wave,
        most: ANY,
        run: super::print::monitor,
    },
    Command {
        name: "explain",
        arguments: "[lane N|all|active] [frame N] PATH",
        does: "Say where the variables of a path are and why, operation by operation.",
        about: About::Wave,
        most: ANY,
        run: super::print::monitor_explain,
    },
    Command {
        name: "set",
        arguments: "[lane N|all|active] [frame N] PATH = VALUE",
        does: "Change a number for you alone, never the capture: x = 5, $v3[5] = 77, lane all $v0 = 0.",
        about: About::Change,
        most: ANY,
        run: super::changes::set,
    },
    Command {
        name: "changes",
        arguments: "",
        does: "List what you have changed, with what was captured.",
        about: About::Dump,
        most: 0,
        run: super::changes::list,
    },
    Command {
        name: "reset",
        arguments: "[all|registers|memory]",
        does: "Drop your changes: everything reads as it was captured again.",
        about: About::Dump,
        most: 1,
        run: super::changes::reset,
    },
    Command {
        name: "register",
        arguments: "NAME|GROUP...",
        does: "Print registers by AMD's names, in ranges (s0-s7) or groups (scalar), vectors lane by lane; xxxxxxxx was not captured.",
        about: About::Wave,
        most: ANY,
        run: show::register,
    },
    Command {
        name: "memory",
        arguments: "SPACE ADDRESS LENGTH",
        does: "Print bytes of an address space: monitor memory private_lane 0x10 16.",
        about: About::Wave,
        most: 3,
        run: show::memory,
    },
    Command {
        name: "arguments",
        arguments: "[DISPATCH|all]",
        does: "Print the kernel arguments of the wave's dispatch, of the dispatch with that id or of all.",
        about: About::Own,
        most: 1,
        run: show::arguments,
    },
    Command {
        name: "objects",
        arguments: "",
        does: "List the code objects that are loaded, and what keeps one from giving variables.",
        about: About::Dump,
        most: 0,
        run: |state, _, _| Ok(show::objects(state)),
    },
    Command {
        name: "notices",
        arguments: "",
        does: "Repeat what is to be known of this dump: problems, waves of other kinds.",
        about: About::Dump,
        most: 0,
        run: |state, _, _| Ok(show::notices(state)),
    },
    Command {
        name: "help",
        arguments: "[COMMAND]",
        does: "Describe the commands, or one of them.",
        about: About::Dump,
        most: 1,
        run: help,
    },
];

/// Runs a typed line.
pub(crate) fn run(state: &mut State, line: &[u8]) -> String {
    state.selection.used();
    let line = String::from_utf8_lossy(line).into_owned();
    log::debug!("monitor {}", crate::clean::clean(&*line));
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut answer = answer(state, None, &words).unwrap_or_else(|words| words);
    if !answer.ends_with('\n') {
        answer.push('\n');
    }
    answer.push_str(&state.take_notes());
    // Messages quote the typed text.
    clean_lines(answer).into_owned()
}

/// Runs a command about the thread that the user named before it, or about the selected one.
fn answer(state: &mut State, named: Option<Thread>, words: &[&str]) -> Result<String, String> {
    let (name, rest) = words.split_first().unwrap_or((&"help", &[]));
    // A letter may follow the name at once, as in gdb: print/x PATH.
    let (name, letter) = name.find('/').map_or((*name, None), |at| {
        let (name, letter) = name.split_at(at);
        (name, Some(letter))
    });
    let command = find(name)?;
    let arguments: Vec<&str> = letter.into_iter().chain(rest.iter().copied()).collect();
    // Spaces in `(1, 0, 0)` separate no words.
    let count = threads::place_and_command(&arguments).map_or(0, |(_, rest)| rest.len() + 1);
    if count > command.most {
        return Err(too_many(command));
    }
    let thread = named.unwrap_or(state.selected());
    match (command.about, named) {
        (About::Choice, Some(_)) if arguments.is_empty() => return threads::heading(state, thread),
        (About::Choice, Some(_)) => {
            let words =
                format!("`{}` names a second wave. Name one: `monitor thread N COMMAND`.", command.name);
            return Err(words);
        }
        (About::Choice, None) => {
            return match threads::place_and_command(&arguments) {
                Some((place, command)) if !command.is_empty() => {
                    let thread = threads::thread_at(state, thread, &place)?;
                    answer(state, Some(thread), command)
                }
                _ => (command.run)(state, thread, &arguments),
            };
        }
        (About::Dump, Some(_)) => {
            return Err(format!("`monitor {}` is about the whole dump and takes no thread.", command.name));
        }
        (About::Own, _) | (About::Dump, None) => return (command.run)(state, thread, &arguments),
        (About::Change, None) if !state.knows_selected() => {
            return Err(threads::which_wave(state, command.name));
        }
        (About::Wave | About::Change, _) => {}
    }
    let heading = threads::heading(state, thread)?;
    let answer = (command.run)(state, thread, &arguments).unwrap_or_else(|words| words);
    Ok(heading + &answer)
}

/// The error for a command with too many words.
fn too_many(command: &Command) -> String {
    match command.most {
        0 => format!("`monitor {}` takes no argument.", command.name),
        _ => format!("Too many arguments: monitor {} {}.", command.name, command.arguments),
    }
}

/// The command of that name, or of the one name with that prefix.
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

/// Words with a capital and a full stop; a name at their beginning is unchanged.
pub(super) fn sentence(words: &str) -> String {
    let name = words.split(' ').next().is_some_and(|first| first.contains(['_', '`', '#']));
    if name {
        return format!("{}.", words.trim_end_matches('.'));
    }
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str().trim_end_matches('.'))
}

fn help(_: &mut State, _: Thread, arguments: &[&str]) -> Result<String, String> {
    let mut answer = String::new();
    match arguments.first() {
        Some(name) => describe(&mut answer, find(name)?),
        None => COMMANDS.iter().for_each(|command| describe(&mut answer, command)),
    }
    Ok(answer)
}

fn describe(answer: &mut String, command: &Command) {
    let usage = format!("{} {}", command.name, command.arguments);
    let text = format!("{:<27} {}", usage.trim_end(), command.does);
    let _ = writeln!(answer, "{}", Style::Plain.folded(&text));
}

#[cfg(test)]
#[path = "monitor_tests.rs"]
mod tests;
