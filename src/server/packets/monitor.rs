//! `qRcmd`: the user's commands, `monitor ...` in gdb and `process plugin packet monitor ...` in LLDB.
//!
//! A command about one wave acts on the thread of `monitor thread N COMMAND`, else on the selected thread if known
//! ([`State::selected`]). Its answer begins with the wave's name. Neither debugger reports its selected thread; if it
//! is unknown, a command that changes a wave's values must name one. A row of the table of questions is a command;
//! [`COMMANDS`] has the others. All text is in `O` packets with the reply `OK`: LLDB prints a reply with text as bare
//! hex digits.

mod error;
mod notices;
mod threads;
pub(super) mod words;

use super::super::state::State;
use super::super::threads::Thread;
use super::questions;
use crate::clean::clean_lines;
use crate::questions::{Body, Form, QUESTIONS, Question, Subject};
use crate::report::Style;
use crate::report::disassembly::is_instruction;
use crate::report::fold::beside;
pub(super) use error::CommandError;

/// One command: its name, its arguments, its description and its handler.
struct Command {
    name: &'static str,
    arguments: &'static str,
    does: &'static str,
    about: About,
    /// Maximum number of further words; [`ANY`]: the command checks each of them.
    most: usize,
    run: fn(&mut State, Thread, &[&str]) -> Result<String, CommandError>,
}

/// Any number of words.
const ANY: usize = usize::MAX;

/// The subject of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// The whole dump, for any thread.
    Dump,
    /// A wave: the command itself names the wave of its answer.
    Own,
    /// One wave, whose values the command changes.
    Change,
    /// The command names the wave of the command after it.
    Choice,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "thread",
        arguments: "[N [COMMAND]]",
        does: "Run COMMAND about a wave: of thread N, of work-item (X,Y,Z) of the grid, or wave W of a work-group, (X,Y,Z)/W. Without COMMAND, in lldb: choose the wave of all later commands.",
        about: About::Choice,
        most: ANY,
        run: threads::choose,
    },
    Command {
        name: "wave",
        arguments: "[N [COMMAND]]",
        does: "The same as `thread`: N is a thread's number. Without arguments: print the wave of commands.",
        about: About::Choice,
        most: ANY,
        run: threads::choose,
    },
    Command {
        name: "lane",
        arguments: "[N]",
        does: "Print the lane of commands, or choose it: lane N, work-item (X,Y,Z) of the grid, or (X,Y,Z)[X,Y,Z] of a work-group. Private memory and variables are of that lane.",
        about: About::Own,
        most: 1,
        run: threads::lane,
    },
    Command {
        name: "set",
        arguments: "[lane LANES] [frame N] PATH = VALUE",
        does: "Change a number for this client; the capture stays: x = 5, $v3[5] = 77, lane all $v0 = 0.",
        about: About::Change,
        most: ANY,
        run: super::changes::set,
    },
    Command {
        name: "changes",
        arguments: "",
        does: "List your changes, with the captured values.",
        about: About::Dump,
        most: 0,
        run: super::changes::list,
    },
    Command {
        name: "reset",
        arguments: "[all|registers|memory]",
        does: "Drop your changes: reads return captured values again.",
        about: About::Dump,
        most: 1,
        run: super::changes::reset,
    },
    Command {
        name: "notices",
        arguments: "",
        does: "Print the notes about this dump: problems, waves of other kinds.",
        about: About::Dump,
        most: 0,
        run: |state, _, _| Ok(notices::notices(state)),
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
    let mut answer = answer(state, None, &words).unwrap_or_else(|error| error.to_string());
    if !answer.ends_with('\n') {
        answer.push('\n');
    }
    answer.push_str(&state.take_notes());
    // Messages quote the typed text.
    folded(&clean_lines(answer))
}

/// The answer in lines of a debugger's console, which breaks longer ones within words; instructions stay unchanged.
fn folded(answer: &str) -> String {
    let fold = |line: &str| match is_instruction(line) {
        true => line.to_owned(),
        false => Style::Plain.folded(line),
    };
    answer.lines().map(|line| fold(line) + "\n").collect()
}

/// Runs a command about the thread that the user named before it, or about the selected one.
fn answer(state: &mut State, named: Option<Thread>, words: &[&str]) -> Result<String, CommandError> {
    let (name, rest) = words.split_first().unwrap_or((&"help", &[]));
    // A letter may directly follow the name, as in gdb: print/x PATH.
    let (name, letter) = name.find('/').map_or((*name, None), |at| {
        let (name, letter) = name.split_at(at);
        (name, Some(letter))
    });
    let arguments: Vec<&str> = letter.into_iter().chain(rest.iter().copied()).collect();
    let command = match find(name)? {
        Row::Question(question) => return ask(state, named, question, &arguments),
        Row::Command(command) => command,
    };
    // Spaces in `(1, 0, 0)` separate no words.
    let count = threads::place_and_command(&arguments).map_or(0, |(_, rest)| rest.len() + 1);
    if count > command.most {
        return Err(match command.most {
            0 => CommandError::NoArgument(command.name),
            _ => CommandError::TooMany(format!("{} {}", command.name, command.arguments)),
        });
    }
    let thread = named.unwrap_or(state.selected());
    match (command.about, named) {
        (About::Choice, Some(_)) if arguments.is_empty() => return threads::heading(state, thread),
        (About::Choice, Some(_)) => return Err(CommandError::SecondWave(command.name)),
        (About::Choice, None) => {
            return match threads::place_and_command(&arguments) {
                Some((place, command)) if !command.is_empty() => {
                    let thread = threads::thread_at(state, thread, &place)?;
                    answer(state, Some(thread), command)
                }
                _ => (command.run)(state, thread, &arguments),
            };
        }
        (About::Dump, Some(_)) => return Err(CommandError::WholeDump(command.name)),
        (About::Own, _) | (About::Dump, None) => return (command.run)(state, thread, &arguments),
        (About::Change, None) if !state.knows_selected() => {
            return Err(threads::which_wave(state, command.name));
        }
        (About::Change, _) => {}
    }
    let heading = threads::heading(state, thread)?;
    let answer = (command.run)(state, thread, &arguments).unwrap_or_else(|error| error.to_string());
    Ok(heading + &answer)
}

/// Asks a question about the named thread, or about the selected one.
fn ask(
    state: &mut State,
    named: Option<Thread>,
    question: &Question,
    words: &[&str],
) -> Result<String, CommandError> {
    let is_about_dump = matches!(question.subject, Subject::Dump | Subject::Waves);
    if named.is_some() && is_about_dump {
        return Err(CommandError::WholeDump(question.name));
    }
    if !words.is_empty() && words::parameters(question).next().is_none() {
        return Err(CommandError::NoArgument(question.name));
    }
    let thread = named.unwrap_or(state.selected());
    let arguments = words::arguments(question, words);
    let is_about_wave = match (question.subject, &arguments) {
        (Subject::NamedWave, _) => named.is_some(),
        (_, Ok(arguments)) => question.is_about_wave(arguments),
        (subject, Err(_)) => subject == Subject::Wave,
    };
    if named.is_some()
        && !is_about_wave
        && matches!(question.subject, Subject::WaveUnless(_))
        && arguments.is_ok()
    {
        return Err(CommandError::NoThread { name: question.name, arguments: words.join(" ") });
    }
    let heading = if is_about_wave { threads::heading(state, thread)? } else { String::new() };
    let answer = arguments.and_then(|arguments| {
        let subject = questions::subject(state, question, named);
        let asked = questions::asked(state, subject, arguments, Form::Text(Style::Plain), MAX_BYTES);
        (question.answer)(&asked).map_err(|error| words::wrong(question, error))
    });
    Ok(heading
        + &match answer.map(|answer| answer.body) {
            Ok(Body::Text(text)) => text,
            Ok(json) => serde_json::to_string(&json)?,
            Err(error) => error.to_string(),
        })
}

/// Maximum bytes of memory that one command prints.
const MAX_BYTES: u64 = 4096;

/// A command of the user.
enum Row {
    /// A row of the table of questions.
    Question(&'static Question),
    /// Another command.
    Command(&'static Command),
}

/// Every command with its name.
fn rows() -> impl Iterator<Item = (&'static str, Row)> {
    let questions = QUESTIONS.iter().map(|question| (question.name, Row::Question(question)));
    questions.chain(COMMANDS.iter().map(|command| (command.name, Row::Command(command))))
}

/// The command with a name, or with the one name that has the prefix.
fn find(name: &str) -> Result<Row, CommandError> {
    // gdb's short name.
    let name = if name == "bt" { "backtrace" } else { name };
    if let Some((_, row)) = rows().find(|(known, _)| *known == name) {
        return Ok(row);
    }
    let mut begins: Vec<_> = rows().filter(|(known, _)| known.starts_with(name)).collect();
    let names = |rows: Vec<(&'static str, Row)>| rows.into_iter().map(|(name, _)| name).collect();
    match (begins.pop(), begins.is_empty()) {
        (Some((_, row)), true) => Ok(row),
        (Some(last), false) => {
            begins.push(last);
            Err(CommandError::Ambiguous { name: name.to_owned(), names: names(begins) })
        }
        (None, _) => Err(CommandError::Unknown { name: name.to_owned(), names: names(rows().collect()) }),
    }
}

/// Words with an initial capital and a full stop; an initial name is unchanged.
fn sentence(words: &str) -> String {
    let name = words
        .split(' ')
        .next()
        .is_some_and(|first| first.contains(|c: char| c.is_ascii_digit() || "_`#".contains(c)));
    if name {
        return format!("{}.", words.trim_end_matches('.'));
    }
    let mut characters = words.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", characters.as_str().trim_end_matches('.'))
}

fn help(_: &mut State, _: Thread, arguments: &[&str]) -> Result<String, CommandError> {
    Ok(match arguments.first() {
        Some(name) => {
            let row = find(name)?;
            let example = if let Row::Question(question) = row {
                words::attempt(question.example)
            } else {
                String::new()
            };
            format!("{}{example}\n", describe(&row))
        }
        None => rows().map(|(_, row)| describe(&row) + "\n").chain([NOTATION.to_owned()]).collect(),
    })
}

/// The notation of the arguments in `monitor help`.
const NOTATION: &str = "
Words in capitals are values, [...] is optional, A|B is a choice.
LANES: 3, 0,8-15, active or all. NAMES: v0,exec s0-s7 scalar.
Thread 3 is the client's thread 3; wave 3 has the id 3, the last number of its
name.
";

fn describe(row: &Row) -> String {
    let (usage, does) = match row {
        Row::Question(question) => (words::usage(question), question.summary),
        Row::Command(command) => (format!("{} {}", command.name, command.arguments), command.does),
    };
    format!("{}\n{}", usage.trim_end(), beside("    ", does, Style::Plain.columns()))
}

#[cfg(test)]
#[path = "monitor_tests.rs"]
mod tests;
