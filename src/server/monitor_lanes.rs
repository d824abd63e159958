//! The lanes of `monitor` commands, and of our own packets, for waves of which the client shows another lane.
//!
//! gdb and LLDB keep registers and frames until the next stop or a write of theirs; `monitor lane` makes neither drop
//! any. The lane in focus is therefore the one that the client shows: its registers and its memory are of that lane.
//! Another lane that the user chose is the lane of `monitor` alone, until the client drops what it keeps:
//!
//! * gdb writes `$lane`, and drops its frames then. It sends no write of the value that it has.
//! * LLDB reads the PC before anything else after `register write` (`Thread::Flush` in lldb's
//!   `CommandObjectRegister.cpp`). After a write by `SBValue`, which Python and an editor's pane of registers use, lldb
//!   22 drops that register alone, and those that it invalidates.
//! * Either shows a stop.

use std::collections::BTreeMap;

use crate::units::{LaneId, WaveId};

/// One wave.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    lane: LaneId,
    /// Whether LLDB wrote the PC after the lane: this write alone makes it read the PC again.
    pc_is_written: bool,
}

/// The waves whose lane of `monitor` is not the lane in focus: at most one entry for each wave.
#[derive(Debug, Default)]
pub(super) struct MonitorLanes(BTreeMap<WaveId, Chosen>);

impl MonitorLanes {
    /// The lane of `monitor`; `None`: the lane in focus.
    pub(super) fn lane(&self, wave: WaveId) -> Option<LaneId> {
        self.0.get(&wave).map(|chosen| chosen.lane)
    }

    /// The user chose a lane that the client does not show.
    pub(super) fn choose(&mut self, wave: WaveId, lane: LaneId) {
        self.0.entry(wave).or_insert(Chosen { lane, pc_is_written: false }).lane = lane;
    }

    /// `monitor` is about the lane in focus.
    pub(super) fn follow(&mut self, wave: WaveId) {
        self.0.remove(&wave);
    }

    /// LLDB has written the PC, or the lane after it. After a write of the PC the next read of the PC has no meaning;
    /// after a write of the lane it shows that LLDB has dropped the rest.
    pub(super) fn was_written(&mut self, wave: WaveId, is_pc: bool) {
        if let Some(chosen) = self.0.get_mut(&wave) {
            chosen.pc_is_written = is_pc;
        }
    }

    /// LLDB reads the PC. Returns the lane that it shows from here on, if it has dropped its cached values of the wave.
    pub(super) fn pc_is_read(&mut self, wave: WaveId) -> Option<LaneId> {
        if std::mem::take(&mut self.0.get_mut(&wave)?.pc_is_written) {
            return None;
        }
        self.0.remove(&wave).map(|chosen| chosen.lane)
    }

    /// The client drops all cached values. Returns the lanes that it shows from here on.
    pub(super) fn stop(&mut self) -> impl Iterator<Item = (WaveId, LaneId)> + use<> {
        std::mem::take(&mut self.0).into_iter().map(|(wave, chosen)| (wave, chosen.lane))
    }
}
