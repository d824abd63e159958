//! Which wave and lane: lists of them, the one that commands are about, and the focus.

use std::fmt::Write as _;

use super::super::super::say;
use super::super::super::state::State;
use super::super::super::threads::Thread;
use super::{said, sentence};
use crate::report::{Style, spaces, text};
use crate::units::{LaneId, LaneSet, WaveId};

pub(super) fn waves(state: &State) -> String {
    let threads = |wave: WaveId| match state.threads.of_wave(wave) {
        Some((first, last)) if first < last => format!("{first}-{last}"),
        Some((first, _)) => first.to_string(),
        None => "-".to_owned(),
    };
    text::waves_with(state.session.as_ref(), &threads, Style::Plain)
}

pub(super) fn wave(state: &mut State, arguments: &[&str]) -> Result<String, String> {
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

/// The line that says which thread an answer is about.
pub(in super::super) fn heading(state: &State) -> Result<String, String> {
    let thread = state.selected();
    let info = said(state.session.wave(thread.wave))?;
    let name = say::name(&info, thread, state.threads.item(thread));
    Ok(format!("Thread {}: {name}, {}.\n", state.number(thread), info.cause))
}

pub(super) fn lanes(state: &mut State, _: &[&str]) -> Result<String, String> {
    let thread = state.selected();
    let lanes = text::lanes_of(state.session.as_ref(), thread.wave, state.lane(thread), Style::Plain);
    let lanes = said(lanes)?;
    Ok(heading(state)? + &lanes)
}

pub(super) fn lane(state: &mut State, arguments: &[&str]) -> Result<String, String> {
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

pub(in super::super) fn lane_of(state: &State, wave: WaveId, asked: &str) -> Result<LaneId, String> {
    let number = said(spaces::number(asked))?;
    let size = said(state.session.wave(wave))?.kind.wave_size;
    let lane = u8::try_from(number).ok().map(LaneId).filter(|lane| size.has(*lane));
    lane.ok_or_else(|| format!("There is no lane {number}: the wave has lanes 0 to {}.", size.lanes() - 1))
}

/// The lanes that a user names: a number, `all`, or those that are active in a frame; else the thread's.
pub(in super::super) fn lanes_asked(
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
