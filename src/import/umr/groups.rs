//! Work-groups of waves: by their trap temporaries, where these say for sure where a wave was launched.
//!
//! GPUs since gfx12 give every compute wave its work-group's position there. Before, they do so where a runtime asked for it,
//! and umr does not show whether one did. Waves of graphics have something else there.

use std::collections::HashMap;

use super::wave::UmrWave;
use crate::arch::Target;
use crate::arch::save_area::Launch;
use crate::capture::{MemoryMap, WorkGroup};
use crate::import::text::Kept;

/// Waves that have no work-group, by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Without {
    /// Their trap temporaries are not in the text, or not all.
    unprinted: usize,
    /// Whether they were set up is not known.
    unpromised: usize,
    /// They may be of graphics: HW_ID2 names the graphics engine, or is not there.
    graphics: usize,
}

impl Without {
    /// For people; nothing where all waves have one.
    pub(super) fn words(self, waves: usize) -> String {
        let reasons = [
            (self.unprinted, "their trap temporaries are not in the text"),
            (
                self.unpromised,
                "trap temporaries of this GPU hold them only where a runtime asked for it, which umr does not show",
            ),
            (self.graphics, "they may be of graphics, whose trap temporaries hold something else"),
        ];
        let reasons: Vec<String> = reasons
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, why)| format!("; no work-groups of {count} of {waves} waves: {why}"))
            .collect();
        reasons.concat()
    }
}

/// What tells work-groups apart: the VMID and queue that HW_ID2 names, where it was launched, and a number for those that claim
/// the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    queue: u32,
    packet: Option<u32>,
    group: [u32; 3],
    nth: u32,
}

/// Work-groups as waves are met.
#[derive(Debug, Default)]
pub(super) struct Groups {
    known: HashMap<Key, usize>,
    claims: HashMap<(Key, u32), u32>,
    pub(super) without: Without,
}

/// HW_ID2: QUEUE_ID, PIPE_ID, ME_ID and VM_ID, without the wave's own state and group.
const QUEUE: u32 = 0x0f00_033f;

/// HW_ID2.ME_ID: 0 is the graphics engine.
const ME_SHIFT: u32 = 8;

impl Groups {
    /// The work-group of a wave, which is added to `all` if it is new, and the wave's place in it.
    pub(super) fn place(
        &mut self,
        wave: &UmrWave,
        kept: &Kept,
        target: &Target,
        all: &mut Vec<WorkGroup>,
    ) -> Option<(usize, u32)> {
        let ttmps = target.save_area.as_ref().map(|area| &area.ttmps);
        let read = |number: u8| {
            let named =
                |name: &str| name.strip_prefix("ttmp").is_some_and(|digits| digits.parse() == Ok(number));
            kept.dword(wave.values.iter().find(|value| named(kept.text(value.name)))?, 0)
        };
        let Some(launch) = ttmps.and_then(|ttmps| ttmps.launch(read)) else {
            self.without.unprinted += 1;
            return None;
        };
        if !ttmps.is_some_and(|ttmps| ttmps.always) {
            self.without.unpromised += 1;
            return None;
        }
        let Some(id) = wave.word("hw_id2").filter(|id| id >> ME_SHIFT & 3 != 0) else {
            self.without.graphics += 1;
            return None;
        };
        let Launch { group, wave_in_group, packet } = launch;
        let mut key = Key { queue: id & QUEUE, packet, group, nth: 0 };
        let claims = self.claims.entry((key, wave_in_group)).or_insert(0);
        key.nth = *claims;
        *claims = claims.saturating_add(1);
        let workgroup = *self.known.entry(key).or_insert_with(|| {
            all.push(WorkGroup {
                id: all.len() as u32 + 1,
                queue: None,
                dispatch: None,
                position: Some(group),
                lds_size: None,
                lds: MemoryMap::default(),
            });
            all.len() - 1
        });
        Some((workgroup, wave_in_group))
    }
}
