//! Lanes by resume address, in one physical frame of a wave's stack.

use std::collections::HashMap;

use crate::session::stack::backtrace::lane_stacks;
use crate::session::waves::lanes;
use crate::session::{ReadError, Reader};
use crate::units::{LaneSet, WaveId};

/// Lanes by resume address.
#[derive(Debug, Default)]
pub(super) struct Marks {
    at: HashMap<u64, LaneSet>,
    active: Option<LaneSet>,
}

impl Marks {
    /// The marks of a physical frame, which is frame number `frame` of the wave's stack.
    pub(super) fn of(
        reader: &Reader,
        wave: WaveId,
        physical: usize,
        frame: usize,
    ) -> Result<Self, ReadError> {
        let all = reader.wave(wave)?.kind.wave_size.all();
        let mut at: HashMap<u64, LaneSet> = HashMap::new();
        for of in lane_stacks(reader, wave, all)? {
            let frame = of.stack.frames.iter().find(|frame| frame.physical == physical);
            if let Some(pc) = frame.and_then(|frame| frame.pc) {
                let known = at.entry(pc.0).or_default();
                *known = LaneSet(known.0 | of.lanes.0);
            }
        }
        Ok(Self { at, active: lanes::active_in(reader, wave, frame).ok() })
    }

    /// The lanes with that resume address, and the active ones among them.
    pub(super) fn at(&self, address: u64) -> (LaneSet, Option<LaneSet>) {
        let lanes = self.at.get(&address).copied().unwrap_or_default();
        (lanes, self.active.map(|active| active.and(lanes)))
    }
}
