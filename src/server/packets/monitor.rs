//! `qRcmd`: the user's commands, `monitor ...` in gdb and `process plugin packet monitor ...` in LLDB.
//!
//! They act on the thread that the user looks at ([`State::selected`]). LLDB never says which thread is selected, so
//! `wave N` chooses one. All text goes out in `O` packets and the reply is `OK`: LLDB prints a reply that
//! carries text as bare hex digits.

use std::fmt::Write as _;

use super::super::say;
use super::super::state::State;
use super::super::threads::Thread;
use crate::report::{Style, evaluation, spaces, stack, text};
use crate::session::{Expression, LaneStack, NotEvaluated, Question, Want};
use crate::units::{LaneId, LaneSet, WaveId};

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
        run: |state, _| Ok(waves(state)),
    },
    Command {
        name: "wave",
        arguments: "[N]",
        does: "Show which wave these commands are about, or in lldb choose thread N. In gdb type `thread N`.",
        run: wave,
    },
    Command {
        name: "lanes",
        arguments: "",
        does: "List the wave's lanes: which work-item each is, whether it is active, and where it is.",
        run: lanes,
    },
    Command {
        name: "lane",
        arguments: "[N]",
        does: "Show the focused lane, or focus lane N: private memory and variables are that lane's.",
        run: lane,
    },
    Command {
        name: "backtrace",
        arguments: "[LANE|all|active] [frame N]",
        does: "Print the call stack of the wave, of lane LANE, or of several lanes; from frame N on.",
        run: backtrace,
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
        run: locals,
    },
    Command {
        name: "eval",
        arguments: "EXPRESSION",
        does: "Evaluate a DWARF expression for the focused lane; before it --value, or --size N to read N bytes.",
        run: eval,
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
        run: register,
    },
    Command {
        name: "memory",
        arguments: "SPACE ADDRESS LENGTH",
        does: "Print bytes of an address space: monitor memory private_lane 0x10 16.",
        run: memory,
    },
    Command {
        name: "arguments",
        arguments: "[DISPATCH|all]",
        does: "Print the kernel arguments of the wave's dispatch, of the dispatch with that id or of all.",
        run: arguments,
    },
    Command {
        name: "objects",
        arguments: "",
        does: "List the code objects that are loaded, and what keeps one from giving variables.",
        run: |state, _| Ok(objects(state)),
    },
    Command {
        name: "notices",
        arguments: "",
        does: "Repeat what is to be known of this dump: problems, waves of other kinds.",
        run: |state, _| Ok(notices(state)),
    },
    Command {
        name: "help",
        arguments: "[COMMAND]",
        does: "Describe the commands, or one of them.",
        run: help,
    },
];

/// The longest run of memory that one command prints.
const MOST_BYTES: u64 = 4096;

/// Runs a line that the user typed.
pub(crate) fn run(state: &mut State, line: &[u8]) -> String {
    state.selection.used();
    let line = String::from_utf8_lossy(line).into_owned();
    log::debug!("monitor {line}");
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
    answer
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

fn waves(state: &State) -> String {
    let threads = |wave: WaveId| match state.threads.of_wave(wave) {
        Some((first, last)) if first < last => format!("{first}-{last}"),
        Some((first, _)) => first.to_string(),
        None => "-".to_owned(),
    };
    text::waves_with(state.session.as_ref(), &threads, Style::Plain)
}

fn wave(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    if let Some(asked) = arguments.first() {
        if state.is_gdb() {
            // Its registers and frames are those of the thread that it has selected, and it keeps them.
            return Err(format!("gdb chooses the wave itself: type `thread {asked}`."));
        }
        let number = said(spaces::number(asked))?;
        let thread = state.thread_of(number).map_err(|fault| sentence(&fault.words))?;
        said(state.select(thread))?;
    }
    heading(state)
}

fn arguments(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    let all = state.session.arguments();
    let asked = match arguments.first() {
        Some(&"all") => None,
        Some(id) => Some(said(spaces::number(id))?),
        None => {
            let info = said(state.session.wave(state.selected().wave))?;
            let id = info
                .dispatch
                .ok_or("The dispatch of this wave is not known; try `monitor arguments all`.")?;
            Some(u64::from(id))
        }
    };
    let mut shown = all.iter().filter(|one| asked.is_none_or(|id| u64::from(one.dispatch) == id)).peekable();
    if shown.peek().is_none() {
        let id = asked.map_or_else(String::new, |id| format!(" {id}"));
        return Err(format!("The dump has no dispatch{id}."));
    }
    Ok(shown.map(|one| text::arguments(one, Style::Plain)).collect())
}

/// The line that says which thread an answer is about.
pub(super) fn heading(state: &State) -> Result<String, String> {
    let thread = state.selected();
    let info = said(state.session.wave(thread.wave))?;
    let name = say::name(&info, thread, state.threads.item(thread));
    Ok(format!("Thread {}: {name}, {}.\n", state.number(thread), info.cause))
}

fn lanes(state: &mut State, _: &[&str]) -> Result<String, String> {
    let thread = state.selected();
    let lanes = text::lanes_of(state.session.as_ref(), thread.wave, state.lane(thread), Style::Plain);
    let lanes = said(lanes)?;
    Ok(heading(state)? + &lanes)
}

fn lane(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    let thread = state.selected();
    let wave = thread.wave;
    let hint = match arguments.first() {
        Some(asked) => {
            let lane = lane_of(state, wave, asked)?;
            move_focus(state, thread, lane)?
        }
        None => String::new(),
    };
    let focus = state.lane(thread);
    let lanes = said(state.session.lanes(wave))?;
    let mut answer = format!("Lane {focus} of thread {}", state.number(thread));
    if let Some(info) = lanes.iter().find(|info| info.lane == focus) {
        let id = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
        if let Some(local) = info.local_id {
            let _ = write!(answer, ", work-item {} of its group", id(local));
        }
        if let Some(global) = info.global_id {
            let _ = write!(answer, ", {} of the grid", id(global));
        }
        answer.push_str(", ");
        answer.push_str(info.state.map_or("EXEC was not captured", crate::session::LaneState::words));
        if let Some(pc) = info.at.pc {
            let _ = write!(answer, ", at {pc}, {}", text::place(&info.at));
        }
    }
    answer.push_str(".\n");
    Ok(answer + &hint)
}

/// Moves the focus, and says what the client will not notice: it keeps what it has read.
fn move_focus(state: &mut State, thread: Thread, lane: LaneId) -> Result<String, String> {
    let before = state.lane(thread);
    state.set_focus(thread, lane).map_err(|fault| sentence(&fault.words))?;
    if before == lane || state.facade().is_amdgcn() {
        return Ok(String::new());
    }
    if state.facade().is_lldb() {
        return Ok(format!(
            "lldb keeps what it has read of lane {before}: there, `register write lane {lane}` moves the focus.\n"
        ));
    }
    // gdb reads variables anew, by a token that names no lane. What it keeps are registers.
    let has_own = |lane| state.view().is_some() && state.session.has_own_stack(thread.wave, lane) == Ok(true);
    if has_own(before) || has_own(lane) {
        return Ok(format!(
            "The stack is another one, and gdb keeps the one that it has read: type `set var $lane = {lane}` or `maint flush \
             register-cache`.\n"
        ));
    }
    let shown = state.lane_was_read.replace(false);
    Ok(if shown {
        "`p $lane` shows it after `maint flush register-cache`.\n".to_owned()
    } else {
        String::new()
    })
}

pub(super) fn lane_of(state: &State, wave: WaveId, asked: &str) -> Result<LaneId, String> {
    let number = said(spaces::number(asked))?;
    let size = said(state.session.wave(wave))?.kind.wave_size;
    let lane = u8::try_from(number).ok().map(LaneId).filter(|lane| size.has(*lane));
    lane.ok_or_else(|| format!("There is no lane {number}: the wave has lanes 0 to {}.", size.lanes() - 1))
}

/// The lanes that a user names: a number, `all`, or those that are active in a frame; else the thread's.
pub(super) fn lanes_asked(
    state: &State,
    thread: Thread,
    asked: Option<&str>,
    frame: usize,
) -> Result<LaneSet, String> {
    let wave = thread.wave;
    match asked {
        None => Ok(LaneSet::one(state.lane(thread))),
        Some("all") => Ok(said(state.session.wave(wave))?.kind.wave_size.all()),
        Some("active") => said(state.session.active_lanes(wave, frame)),
        Some(asked) => lane_of(state, wave, asked).map(LaneSet::one),
    }
}

/// `[LANE|all|active] [frame N]`
fn lane_and_frame<'a>(name: &str, arguments: &[&'a str]) -> Result<(Option<&'a str>, usize), String> {
    let (lane, frame) = match arguments {
        [] => (None, None),
        ["frame", frame] => (None, Some(*frame)),
        [lane] => (Some(*lane), None),
        [lane, "frame", frame] => (Some(*lane), Some(*frame)),
        _ => return Err(format!("Say a lane and a frame: monitor {name} 3 frame 1.")),
    };
    let frame = frame.map_or(Ok(0), |frame| said(spaces::number(frame)))?;
    Ok((lane, usize::try_from(frame).unwrap_or(usize::MAX)))
}

fn locals(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    let thread = state.selected();
    let (lane, frame) = lane_and_frame("locals", arguments)?;
    let lanes = lanes_asked(state, thread, lane, frame)?;
    let locals = said(state.session.locals(thread.wave, lanes, frame))?;
    Ok(heading(state)? + &text::locals(&locals, Style::Plain))
}

fn backtrace(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    let thread = state.selected();
    let wave = thread.wave;
    let (lane, first) = lane_and_frame("backtrace", arguments)?;
    let lanes = lane.map(|_| lanes_asked(state, thread, lane, 0)).transpose()?;
    let answer = match (lane, lanes) {
        (Some("all" | "active"), Some(lanes)) => {
            let stacks = said(state.session.lane_stacks(wave, lanes))?;
            stack::lanes_text(&said(LaneStack::from_frame(stacks, first))?, Style::Plain)
        }
        (_, lanes) => {
            // A thread that is a lane has that lane's stack.
            let lane = lanes.and_then(LaneSet::first).or(thread.lane);
            let found = said(state.session.backtrace(wave, lane))?;
            stack::text(&said(found.from_frame(first))?, Style::Plain)
        }
    };
    Ok(heading(state)? + &answer)
}

fn eval(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    let thread = state.selected();
    let (mut value, mut size, mut rest) = (false, None, arguments);
    loop {
        rest = match rest {
            ["--value", rest @ ..] => {
                value = true;
                rest
            }
            ["--size"] => return Err("Say how many bytes: monitor eval --size 4 DW_OP_lit16.".to_owned()),
            ["--size", number, rest @ ..] => {
                size = Some(said(spaces::number(number))?);
                rest
            }
            _ => break,
        };
    }
    let text = rest.join(" ");
    if text.is_empty() {
        return Err("Say an expression: monitor eval DW_OP_regx VGPR3.".to_owned());
    }
    let want = if value { Want::Value } else { Want::Location { size, legacy: false } };
    let expression = Expression::Text(text.clone());
    let question = Question { expression, dialect: None, want, explain: false };
    let lanes = LaneSet::one(state.lane(thread));
    match state.session.evaluate(thread.wave, lanes, &question) {
        Ok(found) => Ok(heading(state)? + &evaluation::text(&found, Style::Plain)),
        Err(NotEvaluated::Text(error)) => Err(sentence_above(&evaluation::misread(&text, &error))),
        Err(error) => Err(sentence(&error.to_string())),
    }
}

/// The same as [`sentence`] for words that more lines follow.
fn sentence_above(words: &str) -> String {
    match words.split_once('\n') {
        Some((first, rest)) => format!("{}\n{rest}", sentence(first)),
        None => sentence(words),
    }
}

fn register(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    if arguments.is_empty() {
        return Err("Say which registers: monitor register v0 exec.".to_owned());
    }
    let kind = state.session.kind();
    let mut answer = String::new();
    for name in arguments {
        let name = name.trim_start_matches('$');
        let found = kind.named(name);
        let register = found.ok_or_else(|| format!("{} has no register {name}.", kind.target.name))?;
        let value = said(state.session.register(state.selected().wave, register.id))?;
        match text::register(&kind, register, &value) {
            Some(line) => answer.push_str(&line),
            None => {
                let _ = writeln!(answer, "{name:<14}not captured");
            }
        }
    }
    Ok(answer)
}

fn memory(state: &mut State, arguments: &[&str]) -> Result<String, String> {
    let &[space, address, length] = arguments else {
        return Err("Say a space, an address and a length: monitor memory private_lane 0x10 16.".to_owned());
    };
    let thread = state.selected();
    let lane = Some(state.lane(thread));
    let place = said(spaces::parse_place(state.session.as_ref(), thread.wave, lane, space, address))?;
    let asked = said(spaces::number(length))?;
    let length = asked.min(MOST_BYTES);
    let read = super::memory::read_place(state, place, length).map_err(|fault| sentence(&fault.words))?;
    let name = spaces::place_name(state.session.as_ref(), place);
    let prefix = name.split_once('#').map_or(String::new(), |(space, _)| format!("{space}#"));
    let mut answer = text::memory(&prefix, place.address.0, state.buffer.get(..read).unwrap_or_default());
    if (read as u64) < length {
        let _ = writeln!(answer, "Captured up to here: {read} of {asked} bytes.");
    } else if length < asked {
        let _ = writeln!(answer, "The first {length} of {asked} bytes.");
    }
    Ok(answer)
}

fn objects(state: &State) -> String {
    let objects = state.session.code_objects();
    if objects.is_empty() {
        return "No code object was captured.\n".to_owned();
    }
    let mut answer = String::new();
    for object in objects {
        let end = object.size.map(|size| format!("-{:#x}", object.address.0.saturating_add(size)));
        let _ = write!(answer, "{}{}  {}", object.address, end.unwrap_or_default(), object.name);
        if let Some(problem) = object.problem {
            let _ = write!(answer, "  ({problem})");
        }
        answer.push('\n');
    }
    answer
}

fn notices(state: &State) -> String {
    let notices = state.session.notices();
    if notices.is_empty() { "Nothing to note.\n".to_owned() } else { notices.join("\n") }
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
