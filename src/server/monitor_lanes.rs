//! The lanes of `monitor` commands and our own packets, for waves of which the client prints another lane.
//!
//! gdb and LLDB keep registers and frames until the next stop or a write of theirs; `monitor lane` makes neither drop
//! any. The lane in focus is therefore the client's: its registers and memory are of that lane. A different lane that
//! the user chose is the lane of `monitor` alone, until the client drops its cached values:
//!
//! * gdb writes `$lane`, and then drops its frames. It sends no write of an unchanged value.
//! * LLDB reads the PC first after `register write` (`Thread::Flush` in lldb's `CommandObjectRegister.cpp`). After a
//!   write by `SBValue`, which Python and an editor's pane of registers use, lldb 22 drops that register alone, and
//!   those that it invalidates.
//! * Either client handles a stop.

use std::collections::BTreeMap;

use crate::units::{LaneId, WaveId};

/// One wave.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    lane: LaneId,
    /// Whether LLDB wrote the PC after the lane: only this write makes it read the PC again.
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

    /// Records a lane chosen by the user that the client does not print.
    pub(super) fn choose(&mut self, wave: WaveId, lane: LaneId) {
        self.0.entry(wave).or_insert(Chosen { lane, pc_is_written: false }).lane = lane;
    }

    /// Makes the lane in focus the lane of `monitor`.
    pub(super) fn follow(&mut self, wave: WaveId) {
        self.0.remove(&wave);
    }

    /// Records LLDB's write of the PC, or of the lane after it. The next read of the PC has no meaning after a write of
    /// the PC. After a write of the lane, it means that LLDB has dropped the rest.
    pub(super) fn was_written(&mut self, wave: WaveId, is_pc: bool) {
        if let Some(chosen) = self.0.get_mut(&wave) {
            chosen.pc_is_written = is_pc;
        }
    }

    /// Handles LLDB's read of the PC. Returns the lane that it prints next, if it has dropped its cached values.
    pub(super) fn pc_is_read(&mut self, wave: WaveId) -> Option<LaneId> {
        if std::mem::take(&mut self.0.get_mut(&wave)?.pc_is_written) {
            return None;
        }
        self.0.remove(&wave).map(|chosen| chosen.lane)
    }

    /// Handles a stop, at which the client drops all cached values. Returns the lanes that it prints from here on.
    pub(super) fn stop(&mut self) -> impl Iterator<Item = (WaveId, LaneId)> + use<> {
        std::mem::take(&mut self.0).into_iter().map(|(wave, chosen)| (wave, chosen.lane))
    }
}
