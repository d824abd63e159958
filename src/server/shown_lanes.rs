//! The lane that LLDB shows of a wave, if it is not the lane in focus.
//!
//! LLDB keeps registers, frames and values of variables until the next stop. `register write` is the one gesture that
//! makes it drop them earlier: lldb 22 then reads the PC before anything else (`Thread::Flush` in lldb's
//! `CommandObjectRegister.cpp`). After a write by `SBValue`, which Python and an editor's pane of registers use, lldb
//! drops that register and those that it invalidates; after `monitor lane` nothing. The registers that name a lane
//! therefore stay those of the lane that LLDB shows until it reads the PC, or until the next stop.

use std::collections::BTreeMap;

use crate::units::{LaneId, WaveId};

/// One wave.
#[derive(Clone, Copy, Debug)]
struct Shown {
    /// The lane of LLDB's cached values.
    lane: LaneId,
    /// Whether LLDB wrote the PC after the lane: this write alone makes it read the PC again.
    pc_is_written: bool,
}

/// The waves for which LLDB may show another lane than the one in focus: at most one entry for each wave.
#[derive(Debug, Default)]
pub(super) struct ShownLanes(BTreeMap<WaveId, Shown>);

impl ShownLanes {
    /// The lane that LLDB shows of a wave with that focus.
    pub(super) fn lane(&self, wave: WaveId, focus: LaneId) -> LaneId {
        self.0.get(&wave).map_or(focus, |shown| shown.lane)
    }

    /// LLDB goes on to show the lane that was in focus until now, or an earlier one.
    pub(super) fn keep(&mut self, wave: WaveId, focus: LaneId) {
        self.0.entry(wave).or_insert(Shown { lane: focus, pc_is_written: false });
    }

    /// LLDB has written the PC, or the lane after it. After a write of the PC the next read of the PC has no meaning;
    /// after a write of the lane it shows that LLDB has dropped the rest.
    pub(super) fn was_written(&mut self, wave: WaveId, is_pc: bool) {
        if let Some(shown) = self.0.get_mut(&wave) {
            shown.pc_is_written = is_pc;
        }
    }

    /// LLDB reads the PC: it has dropped its cached values of the wave.
    pub(super) fn pc_is_read(&mut self, wave: WaveId) {
        if let Some(shown) = self.0.get_mut(&wave)
            && !std::mem::take(&mut shown.pc_is_written)
        {
            self.0.remove(&wave);
        }
    }

    /// LLDB drops all cached values. Returns the lanes that it showed.
    pub(super) fn stop(&mut self) -> impl Iterator<Item = (WaveId, LaneId)> + use<> {
        std::mem::take(&mut self.0).into_iter().map(|(wave, shown)| (wave, shown.lane))
    }
}
