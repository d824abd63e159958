//! Selection of wave and lane: the lists, the thread of commands, and the focus.

use std::fmt::Write as _;

use super::super::super::facade::Facade;
use super::super::super::messages;
use super::super::super::state::State;
use super::super::super::threads::Thread;
use super::CommandError;
use crate::questions::QuestionError;
use crate::report::{spaces, text};
use crate::session::work_item;
use crate::units::{LaneId, WaveId};

/// `monitor thread [N]`, `monitor wave [N]`: the thread of commands; in LLDB another one.
pub(super) fn choose(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, CommandError> {
    let Some((place, _)) = place_and_command(arguments) else { return heading(state, thread) };
    let thread = thread_at(state, thread, &place)?;
    if state.is_gdb() {
        // LLDB keeps the registers and frames of its own selected thread.
        return Err(CommandError::ChosenByGdb(state.shown(thread)));
    }
    state.select(thread)?;
    state.is_chosen = true;
    heading(state, thread)
}

/// The words of a place, `3` or `(1, 0, 0)/2`, as one, and those of the command after it; `None`: no word.
pub(super) fn place_and_command<'a, 'b>(words: &'a [&'b str]) -> Option<(String, &'a [&'b str])> {
    let first = words.first()?;
    // Parentheses may contain spaces.
    let open = |text: &str| text.matches(['(', '[']).count() > text.matches([')', ']']).count();
    let mut place = (*first).to_owned();
    let mut rest = words.get(1..).unwrap_or_default();
    while let Some((next, after)) = rest.split_first().filter(|_| open(&place)) {
        place.push_str(next);
        rest = after;
    }
    Some((place, rest))
}

/// The thread of a place: by the client's number, or by a work-item's or a wave's position in the grid.
pub(super) fn thread_at(state: &State, near: Thread, place: &str) -> Result<Thread, CommandError> {
    if !work_item::is_place(place) {
        return Ok(state.of_shown(spaces::number(place).map_err(QuestionError::from)?)?);
    }
    let (wave, lane) = work_item::find(&*state.session, near.wave, &place.parse()?)?;
    thread_of(state, wave, lane)
}

/// The thread that is a wave, or the lane if lanes are threads.
fn thread_of(state: &State, wave: WaveId, lane: Option<LaneId>) -> Result<Thread, CommandError> {
    let lane = lane.unwrap_or_else(|| state.session.focus(wave));
    state.threads.at(wave, lane).ok_or(CommandError::NotAThread(lane))
}

/// The error for a command that changes values and names no wave.
pub(super) fn which_wave(state: &State, command: &'static str) -> CommandError {
    let (client, list, more) = match state.is_gdb() {
        true => ("gdb", "info threads", ""),
        false => ("lldb", "thread list", ", or choose one for all commands by `monitor thread N`"),
    };
    CommandError::NoWave { client, command, list, more }
}

/// The line with the thread of an answer, and with the lane if the client prints another one.
pub(super) fn heading(state: &State, thread: Thread) -> Result<String, CommandError> {
    let info = state.session.wave(thread.wave)?;
    let name = messages::name(&info, thread, state.threads.item(thread));
    let (lane, shown) = (state.lane(thread), state.shown_lane(thread));
    let mark = if lane == shown {
        String::new()
    } else {
        format!(" {} still shows lane {shown}; this answer is about lane {lane}.", state.client())
    };
    let unchecked =
        info.unchecked.map_or_else(String::new, |values| format!("Unchecked values: {values}.\n"));
    Ok(format!("Thread {}: {name}, {}.{mark}\n{unchecked}", state.shown(thread), info.cause))
}

/// `monitor lane [N]`: the lane of the thread, or of a work-item in any wave.
pub(super) fn lane(state: &mut State, thread: Thread, arguments: &[&str]) -> Result<String, CommandError> {
    let (there, answer) = match choose_lane(state, thread, arguments) {
        Ok((there, hint)) => (there, lane_in_focus(state, there)? + &hint),
        Err(error) => (thread, error.to_string()),
    };
    Ok(heading(state, there)? + &answer)
}

/// Chooses the user's lane; returns its thread and the command that shows it in the client.
fn choose_lane(
    state: &mut State,
    thread: Thread,
    arguments: &[&str],
) -> Result<(Thread, String), CommandError> {
    let Some((asked, _)) = place_and_command(arguments) else { return Ok((thread, String::new())) };
    let (there, lane) = if work_item::is_place(&asked) {
        let (wave, lane) = work_item::find(&*state.session, thread.wave, &asked.parse()?)?;
        let lane = lane.ok_or(CommandError::NotAWorkItem)?;
        (thread_of(state, wave, Some(lane))?, lane)
    } else {
        (thread, lane_of(state, thread.wave, &asked)?)
    };
    let has_register = state.facade() != Facade::AmdgcnGdb;
    state.choose_lane(there, lane, !has_register)?;
    if there != thread && state.facade().is_lldb() {
        state.select(there)?;
        state.is_chosen = true;
    }
    Ok((there, how_to_see(state, thread, there)))
}

/// The command that shows the lane of `monitor` in the client, whose last known thread is `from`.
fn how_to_see(state: &State, from: Thread, there: Thread) -> String {
    let (client, number, lane) = (state.client(), state.shown(there), state.lane(there));
    let is_lldb = state.facade().is_lldb();
    // The client writes the register of its selected thread, which lldb never reports.
    let is_selected = match state.threads.all() {
        [_] => true,
        _ => !is_lldb && from == there && state.selected() == there && state.knows_selected(),
    };
    let (select, write) = match is_lldb {
        true => (format!("thread select {number}"), format!("register write lane {lane}")),
        false => (format!("thread {number}"), format!("set var $lane = {lane}")),
    };
    match (is_selected, state.shown_lane(there) == lane) {
        (true, false) => format!("Type `{write}` to see lane {lane} in {client}.\n"),
        (false, false) => format!("Type `{select}`, then `{write}` to see lane {lane} in {client}.\n"),
        (_, true) if from != there => format!("`{select}` selects this wave in {client}.\n"),
        (_, true) => String::new(),
    }
}

fn lane_in_focus(state: &State, thread: Thread) -> Result<String, CommandError> {
    let focus = state.lane(thread);
    let lanes = state.session.lanes(thread.wave)?;
    let mut answer = format!("Lane {focus} of thread {}", state.shown(thread));
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
    Ok(answer)
}

fn lane_of(state: &State, wave: WaveId, asked: &str) -> Result<LaneId, CommandError> {
    let number = spaces::number(asked).map_err(QuestionError::from)?;
    let size = state.session.wave(wave)?.kind.wave_size;
    let lane = u8::try_from(number).ok().map(LaneId).filter(|lane| size.has(*lane));
    Ok(lane.ok_or(QuestionError::NoLane { lane: number, lanes: size.lanes() })?)
}
